//! Conversion of rows to records.

use std::collections::BTreeMap;

use qdepth_measure::{Code, Finding, Severity};
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, OptionalExtension, Params, Result, Row, params};
use serde_json::Value;

use crate::digest::{Parts, Rows, is_damage};
use qdepth_record::{
    DirectionRecord, ErrorCount, Observation, PointRecord, Reason, Record, RunRecord, RunState,
    Stored, Stores, TargetRecord,
};

pub(crate) fn unreadable(
    why: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, why.into())
}

/// All rows of a query.
fn all<T>(
    connection: &Connection,
    query: &str,
    params: impl Params,
    row: impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    connection.prepare_cached(query)?.query_map(params, row)?.collect()
}

/// Sequence and ID of a run.
fn number_and_id(row: &Row<'_>) -> Result<(i64, String)> {
    Ok((row.get(0)?, row.get(1)?))
}

/// Schema version: `user_version`.
pub(crate) fn version(connection: &Connection) -> Result<i64> {
    connection.query_row("SELECT user_version FROM pragma_user_version", [], |row| row.get(0))
}

/// Number and ID of the run that is `number` runs before the one started last.
pub(crate) fn before_the_latest(
    connection: &Connection,
    number: u32,
) -> Result<Option<(i64, String)>> {
    let query = "SELECT sequence, id FROM run ORDER BY id DESC LIMIT 1 OFFSET ?1";
    connection.query_row(query, [number], number_and_id).optional()
}

/// Numbers and IDs of matching runs. `asked` is an ID, the beginning of one, or `latest`.
pub(crate) fn ids_like(connection: &Connection, asked: &str) -> Result<Vec<(i64, String)>> {
    if asked == "latest" {
        return Ok(before_the_latest(connection, 0)?.into_iter().collect());
    }
    let asked = asked.to_lowercase();
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let query = "SELECT sequence, id FROM run WHERE id = ?1";
    let exact = all(connection, query, [&asked], number_and_id)?;
    if !exact.is_empty() {
        return Ok(exact);
    }
    let query = "SELECT sequence, id FROM run WHERE substr(lower(id), 1, length(?1)) = ?1
                 ORDER BY sequence";
    all(connection, query, [&asked], number_and_id)
}

pub(crate) fn state(connection: &Connection, id: &str) -> Result<Option<(i64, RunState)>> {
    connection
        .prepare_cached("SELECT sequence, state FROM run WHERE id = ?1")?
        .query_row([id], |row| {
            let state = RunState::restored(stored(row.get_ref(1)?)?);
            Ok((row.get(0)?, state.map_err(unreadable)?))
        })
        .optional()
}

pub(crate) fn number(connection: &Connection, id: &str) -> Result<Option<i64>> {
    let mut query = connection.prepare_cached("SELECT sequence FROM run WHERE id = ?1")?;
    query.query_row([id], |row| row.get(0)).optional()
}

/// Reads a run; `parts` collects its damaged parts.
pub(crate) fn run(parts: &mut Parts<'_>) -> Result<RunRecord> {
    let sequence = parts.run;
    let rows = parts.read("run", |rows| {
        rows.query("SELECT * FROM run WHERE sequence = ?1", [sequence], record)
    })?;
    let unreadable_row = || unreadable("the row of the run cannot be read");
    let mut run: RunRecord = rows.into_iter().next().ok_or_else(unreadable_row)?;
    run.environment = parts.read("environment", |rows| observations(rows, sequence, None))?;
    run.targets = parts.read("targets", |rows| targets(rows, sequence))?;
    run.expected = parts.read("expected", |rows| records(rows, "run", sequence))?;
    run.findings = parts.read("findings", |rows| findings(rows, sequence, None))?;
    Ok(run)
}

/// The records of a run or point, whichever this column names.
fn records<R: Record>(rows: &mut Rows<'_>, column: &str, value: i64) -> Result<Vec<R>> {
    let query = format!("SELECT * FROM {} WHERE {column} = ?1 ORDER BY place", R::TABLE);
    rows.query(&query, [value], record)
}

fn targets(rows: &mut Rows<'_>, run: i64) -> Result<Vec<TargetRecord>> {
    let mut targets: Vec<TargetRecord> = records(rows, "run", run)?;
    let ceiling = "SELECT * FROM ceiling WHERE run = ?1 AND target = ?2 ORDER BY place";
    for target in &mut targets {
        target.ceiling = rows.query(ceiling, params![run, target.index], |row| {
            // NULL is NaN, which SQLite cannot store.
            let rate: Option<f64> = row.get("io_per_s")?;
            Ok((row.get("queue_depth")?, rate.unwrap_or(f64::NAN)))
        })?;
        target.facts = observations(rows, run, Some(target.index))?;
    }
    Ok(targets)
}

fn observations(rows: &mut Rows<'_>, run: i64, target: Option<u32>) -> Result<Vec<Observation>> {
    let query = "SELECT * FROM observation WHERE run = ?1 AND target IS ?2 ORDER BY id";
    rows.query(query, params![run, target], |row| {
        Ok(Observation {
            subject: row.get("subject")?,
            key: row.get("key")?,
            value: match row.get::<_, Option<String>>("value")? {
                Some(value) => Ok(value),
                None => Err(Reason::read(&row.get::<_, String>("unknown_because")?)),
            },
            source: row.get("source")?,
        })
    })
}

/// Findings of a point, or of the whole run if `None`.
fn findings(rows: &mut Rows<'_>, run: i64, point: Option<i64>) -> Result<Vec<Finding>> {
    let query = "SELECT * FROM finding WHERE run = ?1 AND point IS ?2 ORDER BY id";
    rows.query(query, params![run, point], finding)
}

fn finding(row: &Row<'_>) -> Result<Finding> {
    let code: String = row.get("code")?;
    let severity = match row.get::<_, String>("severity")?.as_str() {
        "remark" => Severity::Remark,
        "invalid" => Severity::Invalid,
        other => return Err(unreadable(format!("`{other}` is not a severity"))),
    };
    let figures: BTreeMap<String, Value> =
        serde_json::from_str(&row.get::<_, String>("figures")?).map_err(unreadable)?;
    let labels: BTreeMap<String, String> =
        serde_json::from_str(&row.get::<_, String>("labels")?).map_err(unreadable)?;
    let values = figures
        .into_iter()
        .map(|(name, value)| Ok((name, figure(&value)?)))
        .collect::<Result<_>>()?;
    // A finding of a newer version is kept with its code, instead of failing.
    let mut found = match code.parse::<Code>() {
        Ok(code) => Finding { severity, ..Finding::remark(code) },
        Err(_) => Finding::unknown(&code, severity),
    };
    found.values = values;
    found.labels.extend(labels);
    Ok(found)
}

fn figure(value: &Value) -> Result<f64> {
    let number = match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_f64(),
    };
    number.ok_or_else(|| unreadable(format!("`{value}` is not a number")))
}

/// Attempt at a point.
pub(crate) struct Attempt {
    /// Number of the attempt.
    pub(crate) attempt: u32,
    /// Measured point.
    pub(crate) point: PointRecord,
}

/// IDs of the runs that are not complete, the one started last first.
pub(crate) fn incomplete(connection: &Connection) -> Result<Vec<String>> {
    let query = "SELECT id FROM run WHERE state <> 'complete' ORDER BY id DESC";
    all(connection, query, [], |row| row.get(0))
}

/// Numbers and IDs of all runs, the one started last first. An ID starts with the time of its
/// creation (UUID version 7). A merge may have added an older run later, and a comparison starts
/// with the first of its runs.
pub(crate) fn newest_first(connection: &Connection) -> Result<Vec<(i64, String)>> {
    all(connection, "SELECT sequence, id FROM run ORDER BY id DESC", [], number_and_id)
}

/// Numbers and IDs of all runs, in the order in which they were stored. Uses the index of IDs,
/// which has a hundredth of the size of the table (the `+` prevents SQLite from using the order of
/// the table).
pub(crate) fn run_numbers(connection: &Connection) -> Result<Vec<(i64, String)>> {
    all(connection, "SELECT sequence, id FROM run ORDER BY +sequence", [], number_and_id)
}

/// Row numbers of a run's points, as far as they can be read.
pub(crate) fn point_numbers(connection: &Connection, run: i64) -> Result<Vec<i64>> {
    let mut query = connection.prepare_cached("SELECT id FROM point WHERE run = ?1 ORDER BY id")?;
    let all = query.query_map([run], |row| row.get(0))?;
    let readable = |number: &Result<i64>| !number.as_ref().is_err_and(is_damage);
    all.take_while(readable).collect()
}

/// Number of points whose last attempt is complete.
pub(crate) fn points_counted(connection: &Connection, run: i64) -> Result<u32> {
    let codes = PointRecord::CUT_SHORT.map(|code| format!("'{code}'")).join(", ");
    connection
        .prepare_cached(&format!(
            "SELECT count(*) FROM point AS p WHERE run = ?1
             AND attempt = (SELECT max(attempt) FROM point AS q
                            WHERE q.run = p.run AND q.place = p.place)
             AND NOT EXISTS (SELECT 1 FROM finding AS f
                             WHERE f.point = p.id AND f.code IN ({codes}))"
        ))?
        .query_row([run], |row| row.get(0))
}

/// Row numbers of the attempts at a point.
pub(crate) fn attempts(connection: &Connection, run: i64, index: u32) -> Result<Vec<i64>> {
    let query = "SELECT id FROM point WHERE run = ?1 AND place = ?2 ORDER BY attempt";
    all(connection, query, params![run, index], |row| row.get(0))
}

/// Largest stored attempt number of a point, whatever its state.
pub(crate) fn attempt_max(connection: &Connection, run: i64, index: u32) -> Result<u32> {
    connection
        .prepare_cached("SELECT max(attempt) FROM point WHERE run = ?1 AND place = ?2")?
        .query_row(params![run, index], |row| Ok(row.get::<_, Option<u32>>(0)?.unwrap_or(0)))
}

/// Reads an attempt at a point; `None` if its row cannot be read.
pub(crate) fn point(parts: &mut Parts<'_>) -> Result<Option<Attempt>> {
    let (run, id) = (parts.run, parts.point);
    let query = "SELECT * FROM point WHERE id = ?1";
    let rows = parts.read("point", |rows| rows.query(query, [id], point_row))?;
    let Some(mut attempt) = rows.into_iter().next() else { return Ok(None) };
    let point = &mut attempt.point;
    for (part, name, side) in [
        ("reads", "read", &mut point.reads),
        ("writes", "write", &mut point.writes),
        ("trims", "trim", &mut point.trims),
        ("syncs", "sync", &mut point.syncs),
    ] {
        *side = parts.read(part, |rows| direction(rows, id, name))?;
    }
    point.intervals = parts.read("series", |rows| records(rows, "point", id))?;
    point.monitors = parts.read("monitors", |rows| records(rows, "point", id))?;
    point.findings = parts.read("findings", |rows| findings(rows, run, Some(id)))?;
    Ok(Some(attempt))
}

fn stored<'a>(value: ValueRef<'a>) -> Result<Stored<'a>> {
    Ok(match value {
        ValueRef::Null => Stored::Null,
        ValueRef::Integer(number) => Stored::Whole(number),
        ValueRef::Real(number) => Stored::Real(number),
        ValueRef::Text(_) => Stored::Text(value.as_str().map_err(unreadable)?.into()),
        ValueRef::Blob(bytes) => Stored::Bytes(bytes.into()),
    })
}

/// Reads the fields of a record that have columns.
fn record<R: Record>(row: &Row<'_>) -> Result<R> {
    let mut record = R::default();
    for column in R::columns() {
        let value = match row.get_ref(column.name) {
            // Logbooks with an older schema, opened for reading only, lack the column.
            Err(rusqlite::Error::InvalidColumnName(_)) => continue,
            value => stored(value?)?,
        };
        let wrong = |why| unreadable(format!("column {}: {why}", column.name));
        (column.set)(&mut record, value).map_err(wrong)?;
    }
    Ok(record)
}

fn point_row(row: &Row<'_>) -> Result<Attempt> {
    Ok(Attempt { attempt: row.get("attempt")?, point: record(row)? })
}

fn direction(rows: &mut Rows<'_>, point: i64, name: &str) -> Result<DirectionRecord> {
    let query = "SELECT * FROM direction WHERE point = ?1 AND direction = ?2";
    let found = rows.query(query, params![point, name], record)?;
    let mut side: DirectionRecord =
        found.into_iter().next().ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let query = "SELECT * FROM io_error WHERE point = ?1 AND direction = ?2 ORDER BY place";
    side.errors = rows.query(query, params![point, name], |row| {
        let count = row.get::<_, i64>("count")?.cast_unsigned();
        Ok(ErrorCount { errno: row.get("errno")?, count })
    })?;
    Ok(side)
}
