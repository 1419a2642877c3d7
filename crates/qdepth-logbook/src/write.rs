//! Conversion of records to rows.

use std::borrow::Cow;
use std::collections::BTreeMap;

use qdepth_measure::{Finding, LatencyHistogram};
use rusqlite::types::{ToSqlOutput, Value as SqlValue, ValueRef};
use rusqlite::{Connection, Result, params, params_from_iter};
use serde::Serialize;
use serde_json::Value;

use crate::digest::{Chain, Parts, Purpose};
use crate::headlines;
use crate::read;
use qdepth_record::{
    DirectionRecord, Observation, PointRecord, Reason, Record, RunRecord, Stored, TargetRecord,
};

/// Same 64 bits as a signed integer: SQLite has no unsigned ones, and no count may be refused.
fn bits(number: u64) -> i64 {
    number.cast_signed()
}

pub(crate) fn run(connection: &Connection, run: &RunRecord) -> Result<()> {
    let sequence = insert(connection, &[], run, |_| true)?;
    for fact in &run.environment {
        observation(connection, sequence, None, fact)?;
    }
    for each in &run.targets {
        target(connection, sequence, each)?;
    }
    for each in &run.expected {
        insert(connection, &[("run", sequence)], each, |_| true)?;
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
    insert(connection, &[("run", run)], target, |_| true)?;
    for (position, (outstanding, rate)) in (0i64..).zip(&target.ceiling) {
        connection
            .prepare_cached(
                "INSERT INTO ceiling (run, target, place, outstanding, io_per_s)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![run, target.index, position, outstanding, rate])?;
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
    connection
        .prepare_cached(
            "INSERT INTO observation (run, target, subject, key, value, unknown_because, source)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            run,
            target,
            fact.subject,
            fact.key,
            fact.value.as_ref().ok(),
            fact.value.as_ref().err().map(Reason::stored),
            fact.source
        ])?;
    Ok(())
}

pub(crate) fn finding(
    connection: &Connection,
    run: i64,
    point: Option<i64>,
    finding: &Finding,
) -> Result<()> {
    let figures: BTreeMap<&str, Value> =
        finding.values.iter().map(|(name, value)| (name.as_str(), number(*value))).collect();
    connection
        .prepare_cached(
            "INSERT INTO finding (run, point, code, severity, figures, labels)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            run,
            point,
            finding.code_text(),
            finding.severity.as_str(),
            json(&figures)?,
            json(&finding.labels)?
        ])?;
    Ok(())
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
    let keys = [("run", run), ("attempt", attempt.into())];
    let id = insert(connection, &keys, point, |_| true)?;
    let directions = [("read", &point.reads), ("write", &point.writes), ("sync", &point.syncs)];
    for (name, record) in directions {
        direction(connection, id, name, record)?;
    }
    if point.trim_share > 0.0 {
        trims(connection, id, &point.trims)?;
    }
    for (position, record) in (0i64..).zip(&point.intervals) {
        let keys = [("point", id), ("place", position)];
        let trims = point.trim_share > 0.0;
        // NULL if the point has no discards.
        insert(connection, &keys, record, |column| trims || !column.starts_with("trim"))?;
    }
    for (position, record) in (0i64..).zip(&point.monitors) {
        insert(connection, &[("point", id), ("place", position)], record, |_| true)?;
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

/// Inserts a row with its keys and the wanted columns of a record. Returns the row number.
fn insert<R: Record>(
    connection: &Connection,
    keys: &[(&str, i64)],
    record: &R,
    wanted: impl Fn(&str) -> bool,
) -> Result<i64> {
    let columns = || R::columns().filter(|column| wanted(column.name));
    let names = keys.iter().map(|(name, _)| *name).chain(columns().map(|column| column.name));
    let names = names.collect::<Vec<_>>();
    let places = vec!["?"; names.len()].join(", ");
    let insert = format!("INSERT INTO {} ({}) VALUES ({places})", R::TABLE, names.join(", "));
    let own = keys.iter().map(|(_, key)| ToSqlOutput::Owned(SqlValue::from(*key)));
    let values = own.chain(columns().map(|column| sql((column.get)(record))));
    connection.prepare_cached(&insert)?.execute(params_from_iter(values))?;
    Ok(connection.last_insert_rowid())
}

fn encoded(histogram: &LatencyHistogram) -> Vec<u8> {
    let mut bytes = Vec::new();
    histogram.encode(&mut bytes);
    bytes
}

fn direction(
    connection: &Connection,
    point: i64,
    name: &str,
    record: &DirectionRecord,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO direction (point, direction, completed, bytes, short, service_time,
                response_time, stated)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            point,
            name,
            bits(record.completed),
            bits(record.bytes),
            bits(record.short),
            encoded(&record.service_time),
            record.response_time.as_ref().map(encoded),
            record.stated.as_ref().and_then(|stated| serde_json::to_string(stated).ok())
        ])?;
    for (position, error) in (0i64..).zip(&record.errors) {
        connection
            .prepare_cached(
                "INSERT INTO io_error (point, direction, place, errno, count)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![point, name, position, error.errno, bits(error.count)])?;
    }
    Ok(())
}

fn trims(connection: &Connection, point: i64, record: &DirectionRecord) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO trim (point, completed, bytes, short, service_time, response_time, stated)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            point,
            bits(record.completed),
            bits(record.bytes),
            bits(record.short),
            encoded(&record.service_time),
            record.response_time.as_ref().map(encoded),
            record.stated.as_ref().and_then(|stated| serde_json::to_string(stated).ok())
        ])?;
    for (position, error) in (0i64..).zip(&record.errors) {
        connection
            .prepare_cached(
                "INSERT INTO trim_error (point, place, errno, count) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![point, position, error.errno, bits(error.count)])?;
    }
    Ok(())
}
