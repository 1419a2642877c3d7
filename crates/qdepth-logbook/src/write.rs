//! Rows out of records.

use std::borrow::Cow;
use std::collections::BTreeMap;

use qdepth_measure::{Finding, LatencyHistogram};
use rusqlite::types::{ToSqlOutput, Value as SqlValue, ValueRef};
use rusqlite::{Connection, Result, named_params, params, params_from_iter};
use serde::Serialize;
use serde_json::Value;

use crate::digest::{Chain, Parts, Purpose};
use crate::headlines;
use crate::read;
use qdepth_record::{
    DirectionRecord, ExpectedRecord, IntervalRecord, MonitorRecord, Observation, PointRecord,
    Reason, RunRecord, Stored, TargetRecord,
};

/// SQLite's integers have a sign: the same 64 bits are stored, so that no count is refused.
fn bits(number: u64) -> i64 {
    number.cast_signed()
}

pub(crate) fn run(connection: &Connection, run: &RunRecord) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO run (id, started_at, ended_at, state, qdepth_version, measurement_version,
                plan_name, plan_hash, plan_text, seed, emulated, points_planned, engine_choice,
                comparison)
             VALUES (:id, :started_at, :ended_at, :state, :qdepth_version, :measurement_version,
                :plan_name, :plan_hash, :plan_text, :seed, :emulated, :points_planned,
                :engine_choice, :comparison)",
        )?
        .execute(named_params! {
            ":id": run.id, ":started_at": run.started_at, ":ended_at": run.ended_at,
            ":state": run.state.as_str(), ":qdepth_version": run.qdepth_version,
            ":measurement_version": run.measurement_version, ":plan_name": run.plan_name,
            ":plan_hash": run.plan_hash, ":plan_text": run.plan_text,
            ":seed": run.seed.to_string(), ":emulated": run.emulated,
            ":points_planned": run.points_planned, ":engine_choice": run.engine_choice,
            ":comparison": run.comparison.as_ref().map(json).transpose()?,
        })?;
    let sequence = connection.last_insert_rowid();
    for fact in &run.environment {
        observation(connection, sequence, None, fact)?;
    }
    for each in &run.targets {
        target(connection, sequence, each)?;
    }
    for each in &run.expected {
        expected(connection, sequence, each)?;
    }
    for each in &run.findings {
        finding(connection, sequence, None, each)?;
    }
    Chain::Runs.add(connection, sequence)?;
    Chain::Points(sequence).begin(connection)?;
    let stored = read::run(&mut Parts::of_run(connection, sequence, Purpose::Store))?;
    headlines::keep(connection, sequence, &stored)
}

fn expected(connection: &Connection, run: i64, expected: &ExpectedRecord) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO expected
             (run, place, medium, io_per_s, bytes_per_s, mean_ns, below_io_per_s)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            run,
            expected.point,
            expected.medium,
            expected.io_per_s,
            expected.bytes_per_s,
            expected.mean_ns,
            expected.below_io_per_s
        ])?;
    Ok(())
}

fn target(connection: &Connection, run: i64, target: &TargetRecord) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO target (run, place, expression, name, kind, area_bytes, engine)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            run,
            target.index,
            target.expression,
            target.name,
            target.kind.as_str(),
            bits(target.area_bytes),
            target.engine
        ])?;
    for (place, (outstanding, rate)) in (0i64..).zip(&target.ceiling) {
        connection
            .prepare_cached(
                "INSERT INTO ceiling (run, target, place, outstanding, io_per_s)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![run, target.index, place, outstanding, rate])?;
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

/// JSON has no infinity; a ratio by zero is kept as the text `inf`, not lost.
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
    point_row(connection, run, attempt, point)?;
    let id = connection.last_insert_rowid();
    let directions = [("read", &point.reads), ("write", &point.writes), ("sync", &point.syncs)];
    for (name, record) in directions {
        direction(connection, id, name, record)?;
    }
    if point.trim_share > 0.0 {
        trims(connection, id, &point.trims)?;
    }
    for (place, record) in (0i64..).zip(&point.intervals) {
        interval(connection, id, place, record, point.trim_share > 0.0)?;
    }
    for (place, record) in (0i64..).zip(&point.monitors) {
        monitor(connection, id, place, record)?;
    }
    for each in &point.findings {
        finding(connection, run, Some(id), each)?;
    }
    Chain::Points(run).add(connection, id)?;
    read::point(&mut Parts::of_point(connection, run, id, Purpose::Store))?;
    Ok(())
}

fn monitor(connection: &Connection, point: i64, place: i64, record: &MonitorRecord) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO monitor (point, place, at_ns, name, value) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![point, place, bits(record.at_ns), record.name, record.value])?;
    Ok(())
}

/// A value as SQL takes it.
fn sql(value: Stored<'_>) -> ToSqlOutput<'_> {
    match value {
        Stored::Null => ToSqlOutput::Owned(SqlValue::Null),
        Stored::Whole(number) => ToSqlOutput::Owned(SqlValue::Integer(number)),
        Stored::Real(number) => ToSqlOutput::Owned(SqlValue::Real(number)),
        Stored::Text(Cow::Borrowed(text)) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        Stored::Text(Cow::Owned(text)) => ToSqlOutput::Owned(SqlValue::Text(text)),
    }
}

/// The columns are those of the table of fields.
fn point_row(connection: &Connection, run: i64, attempt: u32, point: &PointRecord) -> Result<()> {
    let names: Vec<&str> = PointRecord::columns().map(|column| column.name).collect();
    let places = ", ?".repeat(names.len());
    let insert =
        format!("INSERT INTO point (run, attempt, {}) VALUES (?, ?{places})", names.join(", "));
    let own = [SqlValue::from(run), SqlValue::from(attempt)].map(ToSqlOutput::Owned);
    let values = PointRecord::columns().map(|column| sql((column.get)(point)));
    connection.prepare_cached(&insert)?.execute(params_from_iter(own.into_iter().chain(values)))?;
    Ok(())
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
    for (place, error) in (0i64..).zip(&record.errors) {
        connection
            .prepare_cached(
                "INSERT INTO io_error (point, direction, place, errno, count)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![point, name, place, error.errno, bits(error.count)])?;
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
    for (place, error) in (0i64..).zip(&record.errors) {
        connection
            .prepare_cached(
                "INSERT INTO trim_error (point, place, errno, count) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![point, place, error.errno, bits(error.count)])?;
    }
    Ok(())
}

fn interval(
    connection: &Connection,
    point: i64,
    place: i64,
    record: &IntervalRecord,
    trims: bool,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO interval (point, place, start_ns, length_ns, reads, writes, read_bytes,
                written_bytes, read_service_time, write_service_time, trims, trimmed_bytes,
                trim_service_time)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .execute(params![
            point,
            place,
            bits(record.start_ns),
            bits(record.length_ns),
            bits(record.reads),
            bits(record.writes),
            bits(record.read_bytes),
            bits(record.written_bytes),
            record.read_service_time.0,
            record.write_service_time.0,
            trims.then(|| bits(record.trims)),
            trims.then(|| bits(record.trimmed_bytes)),
            trims.then_some(&record.trim_service_time.0)
        ])?;
    Ok(())
}
