//! Records out of rows.

use std::collections::{BTreeMap, BTreeSet};

use qdepth_measure::{Code, EncodedHistogram, Finding, LatencyHistogram, Severity};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Result, Row, params};
use serde_json::Value;

use crate::logbook::RunHeadline;
use crate::record::{
    ComparisonRecord, DirectionRecord, EndedBy, ErrorCount, ExpectedRecord, IntervalRecord,
    KernelCounts, Observation, PointRecord, RunRecord, RunState, TargetKind, TargetRecord,
    WitnessRecord,
};

/// Of each point the attempt that counts.
const LAST_ATTEMPTS: &str = "SELECT * FROM point AS p WHERE run = ?1 AND attempt =
    (SELECT max(attempt) FROM point AS q WHERE q.run = p.run AND q.place = p.place)";
/// A point that was cut short, by the user or because its target was lost, is not measured yet.
const WHOLE: &str = "NOT EXISTS (SELECT 1 FROM finding WHERE finding.point = last.id
    AND finding.code IN ('interrupted', 'device-gone', 'device-changed', 'target-failed'))";

pub(crate) fn unreadable(
    why: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, why.into())
}

/// The other half of `write::bits`.
fn count(row: &Row<'_>, column: &str) -> Result<u64> {
    Ok(row.get::<_, i64>(column)?.cast_unsigned())
}

/// SQLite stores no NaN: it becomes NULL.
fn real(row: &Row<'_>, column: &str) -> Result<f64> {
    Ok(row.get::<_, Option<f64>>(column)?.unwrap_or(f64::NAN))
}

fn histogram(bytes: &[u8], column: &str) -> Result<LatencyHistogram> {
    LatencyHistogram::decode(bytes).map_err(|error| unreadable(format!("column {column}: {error}")))
}

fn histogram_of(row: &Row<'_>, column: &str) -> Result<LatencyHistogram> {
    histogram(row.get_ref(column)?.as_blob().map_err(unreadable)?, column)
}

fn state_from(text: &str) -> Result<RunState> {
    match text {
        "running" => Ok(RunState::Running),
        "sealed" => Ok(RunState::Sealed),
        "interrupted" => Ok(RunState::Interrupted),
        "failed" => Ok(RunState::Failed),
        other => Err(unreadable(format!("`{other}` is no state of a run"))),
    }
}

fn kind_from(text: &str) -> Result<TargetKind> {
    match text {
        "directory" => Ok(TargetKind::Directory),
        "file" => Ok(TargetKind::File),
        "block-device" => Ok(TargetKind::BlockDevice),
        "emulated" => Ok(TargetKind::Emulated),
        other => Err(unreadable(format!("`{other}` is no kind of target"))),
    }
}

/// `asked` may be an id, the beginning of one, or `latest`.
pub(crate) fn ids_like(connection: &Connection, asked: &str) -> Result<Vec<String>> {
    if asked == "latest" {
        let query = "SELECT id FROM run ORDER BY sequence DESC LIMIT 1";
        let id: Option<String> = connection.query_row(query, [], |row| row.get(0)).optional()?;
        return Ok(id.into_iter().collect());
    }
    let asked = asked.to_lowercase();
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let mut exact = connection.prepare_cached("SELECT id FROM run WHERE id = ?1")?;
    let exact: Vec<String> = exact.query_map([&asked], |row| row.get(0))?.collect::<Result<_>>()?;
    if !exact.is_empty() {
        return Ok(exact);
    }
    let query = "SELECT id FROM run WHERE substr(lower(id), 1, length(?1)) = ?1 ORDER BY sequence";
    connection.prepare_cached(query)?.query_map([&asked], |row| row.get(0))?.collect()
}

pub(crate) fn state(connection: &Connection, id: &str) -> Result<Option<(i64, RunState)>> {
    connection
        .prepare_cached("SELECT sequence, state FROM run WHERE id = ?1")?
        .query_row([id], |row| Ok((row.get(0)?, state_from(&row.get::<_, String>(1)?)?)))
        .optional()
}

pub(crate) fn run(connection: &Connection, id: &str) -> Result<RunRecord> {
    let (sequence, mut run) =
        connection.prepare_cached("SELECT * FROM run WHERE id = ?1")?.query_row([id], |row| {
            let seed: String = row.get("seed")?;
            let run = RunRecord {
                id: row.get("id")?,
                started_at: row.get("started_at")?,
                ended_at: row.get("ended_at")?,
                state: state_from(&row.get::<_, String>("state")?)?,
                qdepth_version: row.get("qdepth_version")?,
                measurement_version: row.get("measurement_version")?,
                plan_name: row.get("plan_name")?,
                plan_hash: row.get("plan_hash")?,
                plan_text: row.get("plan_text")?,
                seed: seed.parse().map_err(|_| unreadable(format!("`{seed}` is no seed")))?,
                emulated: row.get("emulated")?,
                points_planned: row.get("points_planned")?,
                engine_choice: engine_choice(row)?,
                comparison: comparison(row)?,
                environment: Vec::new(),
                targets: Vec::new(),
                expected: Vec::new(),
                findings: Vec::new(),
            };
            Ok((row.get::<_, i64>("sequence")?, run))
        })?;
    run.environment = observations(connection, sequence, None)?;
    run.targets = targets(connection, sequence)?;
    run.expected = expected(connection, sequence)?;
    run.findings = findings(connection, sequence, None)?;
    Ok(run)
}

fn comparison(row: &Row<'_>) -> Result<Option<ComparisonRecord>> {
    let text: Option<String> = since_later_version(row.get("comparison"))?;
    text.map(|text| serde_json::from_str(&text).map_err(unreadable)).transpose()
}

/// Logbooks of schema version 1, opened for reading only, do not have it.
fn engine_choice(row: &Row<'_>) -> Result<String> {
    match row.get("engine_choice") {
        Err(rusqlite::Error::InvalidColumnName(_)) => Ok("auto".to_owned()),
        choice => choice,
    }
}

/// Logbooks of an older schema, opened for reading only, do not have the table.
fn expected(connection: &Connection, run: i64) -> Result<Vec<ExpectedRecord>> {
    if !connection.table_exists(None, "expected")? {
        return Ok(Vec::new());
    }
    connection
        .prepare_cached("SELECT * FROM expected WHERE run = ?1 ORDER BY place")?
        .query_map([run], |row| {
            Ok(ExpectedRecord {
                point: row.get("place")?,
                medium: row.get("medium")?,
                io_per_s: row.get("io_per_s")?,
                bytes_per_s: row.get("bytes_per_s")?,
                mean_ns: row.get("mean_ns")?,
            })
        })?
        .collect()
}

fn targets(connection: &Connection, run: i64) -> Result<Vec<TargetRecord>> {
    let mut targets: Vec<TargetRecord> = connection
        .prepare_cached("SELECT * FROM target WHERE run = ?1 ORDER BY place")?
        .query_map([run], |row| {
            Ok(TargetRecord {
                index: row.get("place")?,
                spelling: row.get("spelling")?,
                name: row.get("name")?,
                kind: kind_from(&row.get::<_, String>("kind")?)?,
                area_bytes: count(row, "area_bytes")?,
                engine: row.get("engine")?,
                ceiling: Vec::new(),
                facts: Vec::new(),
            })
        })?
        .collect::<Result<_>>()?;
    let mut ceiling = connection.prepare_cached(
        "SELECT outstanding, io_per_s FROM ceiling WHERE run = ?1 AND target = ?2 ORDER BY place",
    )?;
    for target in &mut targets {
        target.ceiling = ceiling
            .query_map(params![run, target.index], |row| Ok((row.get(0)?, real(row, "io_per_s")?)))?
            .collect::<Result<_>>()?;
        target.facts = observations(connection, run, Some(target.index))?;
    }
    Ok(targets)
}

fn observations(
    connection: &Connection,
    run: i64,
    target: Option<u32>,
) -> Result<Vec<Observation>> {
    connection
        .prepare_cached("SELECT * FROM observation WHERE run = ?1 AND target IS ?2 ORDER BY id")?
        .query_map(params![run, target], |row| {
            Ok(Observation {
                subject: row.get("subject")?,
                key: row.get("key")?,
                value: match row.get::<_, Option<String>>("value")? {
                    Some(value) => Ok(value),
                    None => Err(row.get("unknown_because")?),
                },
                source: row.get("source")?,
            })
        })?
        .collect()
}

/// Of a point, or with `None` of the run as a whole.
pub(crate) fn findings(
    connection: &Connection,
    run: i64,
    point: Option<i64>,
) -> Result<Vec<Finding>> {
    connection
        .prepare_cached("SELECT * FROM finding WHERE run = ?1 AND point IS ?2 ORDER BY id")?
        .query_map(params![run, point], finding)?
        .collect()
}

fn finding(row: &Row<'_>) -> Result<Finding> {
    let code: String = row.get("code")?;
    let severity = match row.get::<_, String>("severity")?.as_str() {
        "remark" => Severity::Remark,
        "invalid" => Severity::Invalid,
        other => return Err(unreadable(format!("`{other}` is no severity"))),
    };
    let figures: BTreeMap<String, Value> =
        serde_json::from_str(&row.get::<_, String>("figures")?).map_err(unreadable)?;
    let labels = serde_json::from_str(&row.get::<_, String>("labels")?).map_err(unreadable)?;
    let values = figures
        .into_iter()
        .map(|(name, value)| Ok((name, figure(&value)?)))
        .collect::<Result<_>>()?;
    // What a newer version found is kept under its own code, not a reason to read nothing.
    let mut found = match code.parse::<Code>() {
        Ok(code) => Finding { severity, ..Finding::remark(code) },
        Err(_) => Finding::unknown(&code, severity),
    };
    found.values = values;
    found.labels.extend::<BTreeMap<String, String>>(labels);
    Ok(found)
}

fn figure(value: &Value) -> Result<f64> {
    let number = match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_f64(),
    };
    number.ok_or_else(|| unreadable(format!("`{value}` is no figure")))
}

pub(crate) fn headlines(connection: &Connection) -> Result<Vec<RunHeadline>> {
    let done = format!(
        "SELECT r.*, (SELECT count(*) FROM ({last}) AS last WHERE {WHOLE}) AS done
         FROM run AS r ORDER BY r.sequence",
        last = LAST_ATTEMPTS.replace("?1", "r.sequence")
    );
    let mut names =
        connection.prepare_cached("SELECT name FROM target WHERE run = ?1 ORDER BY place")?;
    connection
        .prepare_cached(&done)?
        .query_map([], |row| {
            let run: i64 = row.get("sequence")?;
            Ok(RunHeadline {
                id: row.get("id")?,
                started_at: row.get("started_at")?,
                state: state_from(&row.get::<_, String>("state")?)?,
                plan: row.get("plan_name")?,
                targets: names.query_map([run], |row| row.get(0))?.collect::<Result<_>>()?,
                points_done: row.get("done")?,
                points_planned: row.get("points_planned")?,
                emulated: row.get("emulated")?,
            })
        })?
        .collect()
}

/// The attempt at a point that counts.
pub(crate) struct Attempt {
    pub(crate) attempt: u32,
    /// Whether it is to be measured again.
    pub(crate) cut_short: bool,
}

pub(crate) fn last_attempt(
    connection: &Connection,
    run: i64,
    place: u32,
) -> Result<Option<Attempt>> {
    let query = format!(
        "SELECT attempt, NOT ({WHOLE}) FROM point AS last
         WHERE run = ?1 AND place = ?2 ORDER BY attempt DESC LIMIT 1"
    );
    connection
        .prepare_cached(&query)?
        .query_row(params![run, place], |row| {
            Ok(Attempt { attempt: row.get(0)?, cut_short: row.get(1)? })
        })
        .optional()
}

/// Ids of the runs that are not sealed, the one begun last first.
pub(crate) fn unsealed(connection: &Connection) -> Result<Vec<String>> {
    connection
        .prepare_cached("SELECT id FROM run WHERE state <> 'sealed' ORDER BY sequence DESC")?
        .query_map([], |row| row.get(0))?
        .collect()
}

pub(crate) fn points_done(connection: &Connection, id: &str) -> Result<BTreeSet<u32>> {
    let Some((run, _)) = state(connection, id)? else { return Ok(BTreeSet::new()) };
    connection
        .prepare_cached(&format!("SELECT place FROM ({LAST_ATTEMPTS}) AS last WHERE {WHOLE}"))?
        .query_map([run], |row| row.get(0))?
        .collect()
}

pub(crate) fn points(connection: &Connection, id: &str) -> Result<Vec<PointRecord>> {
    // One snapshot for all the queries, while another process may be adding points.
    let connection = connection.unchecked_transaction()?;
    let Some((run, _)) = state(&connection, id)? else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(&format!("{LAST_ATTEMPTS} ORDER BY place"))?;
    let rows: Vec<(i64, PointRecord)> =
        statement.query_map([run], point_row)?.collect::<Result<_>>()?;
    rows.into_iter()
        .map(|(id, mut point)| {
            point.reads = direction(&connection, id, "read")?;
            point.writes = direction(&connection, id, "write")?;
            point.syncs = direction(&connection, id, "sync")?;
            point.intervals = intervals(&connection, id)?;
            point.witnesses = witnesses(&connection, id)?;
            point.findings = findings(&connection, run, Some(id))?;
            Ok(point)
        })
        .collect()
}

/// Logbooks of an older schema, opened for reading only, do not have it.
fn since_later_version<T: Default>(column: Result<T>) -> Result<T> {
    match column {
        Err(rusqlite::Error::InvalidColumnName(_)) => Ok(T::default()),
        value => value,
    }
}

fn ended_by(row: &Row<'_>) -> Result<EndedBy> {
    let text: Option<String> = since_later_version(row.get("ended_by").map(Some))?;
    let Some(text) = text else { return Ok(EndedBy::Duration) };
    let named = EndedBy::ALL.into_iter().find(|ended| ended.as_str() == text);
    named.ok_or_else(|| unreadable(format!("`{text}` ends no point")))
}

fn point_row(row: &Row<'_>) -> Result<(i64, PointRecord)> {
    let point = PointRecord {
        index: row.get("place")?,
        group: row.get("load_group")?,
        variant: since_later_version(row.get("variant"))?,
        step: row.get("step")?,
        target: row.get("target")?,
        profile: row.get("profile")?,
        profile_title: row.get("profile_title")?,
        random_share: real(row, "random_share")?,
        read_share: real(row, "read_share")?,
        request_size: row.get("request_size")?,
        request_size_mean_bytes: real(row, "request_size_mean_bytes")?,
        reported_as_throughput: row.get("reported_as_throughput")?,
        arrivals: row.get("arrivals")?,
        outstanding: row.get("outstanding")?,
        offered_io_per_s: row.get("offered_io_per_s")?,
        streams: row.get("streams")?,
        workers: row.get("workers")?,
        direct: row.get("direct")?,
        started_at: row.get("started_at")?,
        warm_up_ns: count(row, "warm_up_ns")?,
        duration_ns: count(row, "duration_ns")?,
        ended_by: ended_by(row)?,
        tolerance: since_later_version(row.get("tolerance"))?,
        looks: since_later_version(row.get("looks"))?,
        issued: count(row, "issued")?,
        completed_outside: count(row, "completed_outside")?,
        failed_outside: count(row, "failed_outside")?,
        abandoned: count(row, "abandoned")?,
        in_flight_integral_ns: real(row, "in_flight_integral_ns")?,
        latency_in_window_ns: real(row, "latency_in_window_ns")?,
        longest_gap_ns: count(row, "longest_gap_ns")?,
        gaps: [count(row, "gaps_100ms")?, count(row, "gaps_1s")?, count(row, "gaps_10s")?],
        backlog_max: count(row, "backlog_max")?,
        cpu_user_ns: count(row, "cpu_user_ns")?,
        cpu_system_ns: count(row, "cpu_system_ns")?,
        kernel: kernel(row)?,
        ..PointRecord::default()
    };
    Ok((row.get("id")?, point))
}

fn kernel(row: &Row<'_>) -> Result<Option<KernelCounts>> {
    if row.get::<_, Option<i64>>("kernel_reads")?.is_none() {
        return Ok(None);
    }
    Ok(Some(KernelCounts {
        reads: count(row, "kernel_reads")?,
        read_bytes: count(row, "kernel_read_bytes")?,
        writes: count(row, "kernel_writes")?,
        written_bytes: count(row, "kernel_written_bytes")?,
    }))
}

fn direction(connection: &Connection, point: i64, name: &str) -> Result<DirectionRecord> {
    let mut record = connection
        .prepare_cached("SELECT * FROM direction WHERE point = ?1 AND direction = ?2")?
        .query_row(params![point, name], |row| {
            let response = row.get_ref("response_time")?.as_blob_or_null().map_err(unreadable)?;
            Ok(DirectionRecord {
                completed: count(row, "completed")?,
                bytes: count(row, "bytes")?,
                errors: Vec::new(),
                short: count(row, "short")?,
                service_time: histogram_of(row, "service_time")?,
                response_time: response
                    .map(|bytes| histogram(bytes, "response_time"))
                    .transpose()?,
                stated: row
                    .get::<_, Option<String>>("stated")?
                    .map(|text| serde_json::from_str(&text).map_err(unreadable))
                    .transpose()?,
            })
        })?;
    record.errors = connection
        .prepare_cached(
            "SELECT errno, count FROM io_error WHERE point = ?1 AND direction = ?2 ORDER BY place",
        )?
        .query_map(params![point, name], |row| {
            Ok(ErrorCount { errno: row.get(0)?, count: count(row, "count")? })
        })?
        .collect::<Result<_>>()?;
    Ok(record)
}

fn intervals(connection: &Connection, point: i64) -> Result<Vec<IntervalRecord>> {
    connection
        .prepare_cached("SELECT * FROM interval WHERE point = ?1 ORDER BY place")?
        .query_map([point], |row| {
            Ok(IntervalRecord {
                start_ns: count(row, "start_ns")?,
                length_ns: count(row, "length_ns")?,
                reads: count(row, "reads")?,
                writes: count(row, "writes")?,
                read_bytes: count(row, "read_bytes")?,
                written_bytes: count(row, "written_bytes")?,
                read_service_time: EncodedHistogram(row.get("read_service_time")?),
                write_service_time: EncodedHistogram(row.get("write_service_time")?),
            })
        })?
        .collect()
}

fn witnesses(connection: &Connection, point: i64) -> Result<Vec<WitnessRecord>> {
    // Logbooks of an older schema, opened for reading only, have no such table.
    if !connection.table_exists(None, "witness")? {
        return Ok(Vec::new());
    }
    connection
        .prepare_cached("SELECT * FROM witness WHERE point = ?1 ORDER BY place")?
        .query_map([point], |row| {
            Ok(WitnessRecord {
                at_ns: count(row, "at_ns")?,
                name: row.get("name")?,
                value: real(row, "value")?,
            })
        })?
        .collect()
}
