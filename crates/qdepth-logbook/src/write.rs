//! Conversion of records to rows.

use std::borrow::Cow;
use std::collections::BTreeMap;

use qdepth_measure::Finding;
use rusqlite::types::{ToSqlOutput, Value as SqlValue, ValueRef};
use rusqlite::{Connection, Result, ToSql, params_from_iter};
use serde::Serialize;
use serde_json::Value;

use crate::digest::{Chain, Parts, Purpose};
use crate::headlines;
use crate::read;
use qdepth_record::{
    Column, DirectionRecord, Observation, PointRecord, Reason, Record, RunRecord, Stored,
    TargetRecord,
};

/// Name and value of a column.
type Cell<'a> = (&'a str, &'a dyn ToSql);

pub(crate) fn run(connection: &Connection, run: &RunRecord) -> Result<()> {
    let sequence = insert(connection, &[], run)?;
    for fact in &run.environment {
        observation(connection, sequence, None, fact)?;
    }
    for each in &run.targets {
        target(connection, sequence, each)?;
    }
    for each in &run.expected {
        insert(connection, &[("run", &sequence)], each)?;
    }
    for each in &run.findings {
        finding(connection, sequence, None, each)?;
    }
    Chain::Runs.add(connection, sequence)?;
    Chain::Points(sequence).begin(connection)?;
    let stored = read::run(&mut Parts::of_run(connection, sequence, Purpose::Store))?;
    headlines::keep(connection, sequence, &stored)
}

fn target(connection: &Connection, run: i64, target: &TargetRecord) -> Result<()> {
    insert(connection, &[("run", &run)], target)?;
    for (position, (queue_depth, rate)) in (0i64..).zip(&target.ceiling) {
        let cells: [Cell<'_>; 5] = [
            ("run", &run),
            ("target", &target.index),
            ("place", &position),
            ("queue_depth", queue_depth),
            ("io_per_s", rate),
        ];
        row(connection, "ceiling", &cells)?;
    }
    for fact in &target.facts {
        observation(connection, run, Some(target.index), fact)?;
    }
    Ok(())
}

pub(crate) fn observation(
    connection: &Connection,
    run: i64,
    target: Option<u32>,
    fact: &Observation,
) -> Result<()> {
    let cells: [Cell<'_>; 7] = [
        ("run", &run),
        ("target", &target),
        ("subject", &fact.subject),
        ("key", &fact.key),
        ("value", &fact.value.as_ref().ok()),
        ("unknown_because", &fact.value.as_ref().err().map(Reason::stored)),
        ("source", &fact.source),
    ];
    row(connection, "observation", &cells).map(drop)
}

pub(crate) fn finding(
    connection: &Connection,
    run: i64,
    point: Option<i64>,
    finding: &Finding,
) -> Result<()> {
    let figures: BTreeMap<&str, Value> =
        finding.values.iter().map(|(name, value)| (name.as_str(), number(*value))).collect();
    let cells: [Cell<'_>; 6] = [
        ("run", &run),
        ("point", &point),
        ("code", &finding.code_text()),
        ("severity", &finding.severity.as_str()),
        ("figures", &json(&figures)?),
        ("labels", &json(&finding.labels)?),
    ];
    row(connection, "finding", &cells).map(drop)
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// JSON has no infinity: a ratio with a denominator of zero is stored as the text `inf`.
fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value)
        .map_or_else(|| Value::String(value.to_string()), Value::Number)
}

pub(crate) fn point(
    connection: &Connection,
    run: i64,
    attempt: u32,
    point: &PointRecord,
) -> Result<()> {
    let id = insert(connection, &[("run", &run), ("attempt", &attempt)], point)?;
    for (name, record) in point.directions() {
        direction(connection, id, name, record)?;
    }
    for (position, record) in (0i64..).zip(&point.intervals) {
        insert(connection, &[("point", &id), ("place", &position)], record)?;
    }
    for (position, record) in (0i64..).zip(&point.monitors) {
        insert(connection, &[("point", &id), ("place", &position)], record)?;
    }
    for each in &point.findings {
        finding(connection, run, Some(id), each)?;
    }
    Chain::Points(run).add(connection, id)?;
    read::point(&mut Parts::of_point(connection, run, id, Purpose::Store))?;
    Ok(())
}

/// Converts a value to its SQL type.
fn sql(value: Stored<'_>) -> ToSqlOutput<'_> {
    match value {
        Stored::Null => ToSqlOutput::Owned(SqlValue::Null),
        Stored::Whole(number) => ToSqlOutput::Owned(SqlValue::Integer(number)),
        Stored::Real(number) => ToSqlOutput::Owned(SqlValue::Real(number)),
        Stored::Text(Cow::Borrowed(text)) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        Stored::Text(Cow::Owned(text)) => ToSqlOutput::Owned(SqlValue::Text(text)),
        Stored::Bytes(Cow::Borrowed(bytes)) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        Stored::Bytes(Cow::Owned(bytes)) => ToSqlOutput::Owned(SqlValue::Blob(bytes)),
    }
}

/// Inserts a row with its keys and the columns of a record. Returns the row number.
fn insert<R: Record>(connection: &Connection, keys: &[Cell<'_>], record: &R) -> Result<i64> {
    let value = |column: &Column<R>| (column.name, sql((column.get)(record)));
    let values: Vec<(&str, ToSqlOutput<'_>)> = R::columns().map(value).collect();
    let own = values.iter().map(|(name, value)| (*name, value as &dyn ToSql));
    row(connection, R::TABLE, &keys.iter().copied().chain(own).collect::<Vec<_>>())
}

/// Inserts a row. Returns its number.
fn row(connection: &Connection, table: &str, cells: &[Cell<'_>]) -> Result<i64> {
    let names: Vec<&str> = cells.iter().map(|(name, _)| *name).collect();
    let places = vec!["?"; names.len()].join(", ");
    let insert = format!("INSERT INTO {table} ({}) VALUES ({places})", names.join(", "));
    let values = cells.iter().map(|(_, value)| value);
    connection.prepare_cached(&insert)?.execute(params_from_iter(values))?;
    Ok(connection.last_insert_rowid())
}

fn direction(
    connection: &Connection,
    point: i64,
    name: &str,
    record: &DirectionRecord,
) -> Result<()> {
    insert(connection, &[("point", &point), ("direction", &name)], record)?;
    for (position, error) in (0i64..).zip(&record.errors) {
        let cells: [Cell<'_>; 5] = [
            ("point", &point),
            ("direction", &name),
            ("place", &position),
            ("errno", &error.errno),
            ("count", &error.count.cast_signed()),
        ];
        row(connection, "io_error", &cells)?;
    }
    Ok(())
}
