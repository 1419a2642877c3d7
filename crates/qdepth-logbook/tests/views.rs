//! The views `runs`, `points` and `samples` have the same values as the JSON.

use std::collections::BTreeMap;

use proptest::prelude::*;
use qdepth_logbook::Logbook;
use qdepth_measure::{Code, Finding};
use qdepth_record::{IntervalRecord, PointRecord, RunRecord, export_json};
use rusqlite::Connection;
use rusqlite::types::Value as Sql;
use serde_json::{Value, json};

use crate::common::{any_point, point, run};

const ID: &str = "01890000-0000-7000-8000-000000000001";

type Row = BTreeMap<String, Sql>;

fn rows(file: &std::path::Path, query: &str) -> Vec<Row> {
    let connection = Connection::open(file).unwrap();
    let mut query = connection.prepare(query).unwrap();
    let names: Vec<String> = query.column_names().into_iter().map(str::to_owned).collect();
    let row = |row: &rusqlite::Row<'_>| {
        names.iter().enumerate().map(|(at, name)| Ok((name.clone(), row.get(at)?))).collect()
    };
    query.query_map([], row).unwrap().map(Result::unwrap).collect()
}

/// True if SQL and JSON agree: a flag is 0 or 1, and a sum beyond 2^53 is a real number.
fn is_same(sql: &Sql, json: &Value) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(b.abs());
    match (sql, json) {
        (Sql::Null, Value::Null) => true,
        (Sql::Integer(number), Value::Bool(flag)) => *number == i64::from(*flag),
        (Sql::Integer(number), Value::Number(other)) => match other.as_u64() {
            Some(other) => other.cast_signed() == *number || near(*number as f64, other as f64),
            None => false,
        },
        (Sql::Real(number), Value::Number(other)) => near(*number, other.as_f64().unwrap()),
        (Sql::Text(text), Value::String(other)) => text == other,
        _ => false,
    }
}

/// Asserts that the columns shared with the JSON are equal; returns the names of the others.
fn compare(row: &Row, entry: &Value) -> Vec<String> {
    let mut others = Vec::new();
    for (name, sql) in row {
        match entry.get(name) {
            Some(value) if !value.is_array() => {
                assert!(is_same(sql, value), "{name}: {sql:?} in SQL, {value} in JSON");
            }
            _ => others.push(name.clone()),
        }
    }
    others
}

fn kept(run: &RunRecord, points: &[&PointRecord]) -> (tempfile::TempDir, std::path::PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("qdepth.db");
    let mut logbook = Logbook::open(&file).unwrap();
    logbook.begin_run(run).unwrap();
    points.iter().for_each(|point| logbook.add_point(&run.id, point).unwrap());
    (directory, file)
}

fn check(run: &RunRecord, points: &[&PointRecord]) {
    let (_directory, file) = kept(run, points);
    let logbook = Logbook::open_read_only(&file).unwrap();
    let (run, points) = logbook.measured(&run.id).unwrap();
    let document: Value = serde_json::from_str(&export_json(&run, &points)).unwrap();
    let found = rows(&file, "SELECT * FROM points ORDER BY \"index\"");
    assert_eq!(found.len(), points.len());
    for ((row, entry), point) in
        found.iter().zip(document["points"].as_array().unwrap()).zip(&points)
    {
        let others = compare(row, entry);
        assert_eq!(others, ["area_bytes", "engine", "failed", "findings", "run", "target_kind"]);
        let count = |error: &Value| error["count"].as_u64().unwrap();
        let failed: u64 = entry["errors"].as_array().unwrap().iter().map(count).sum();
        assert!(is_same(&row["failed"], &json!(failed)));
        let codes: Vec<&str> = point.findings.iter().map(|found| found.code_text()).collect();
        assert!(is_same(&row["findings"], &json!(codes.join(" "))));
        assert!(is_same(&row["run"], &document["run"]["id"]));
        let target = &document["targets"][point.target as usize];
        for (column, field) in
            [("area_bytes", "area_bytes"), ("engine", "engine"), ("target_kind", "kind")]
        {
            assert!(is_same(&row[column], &target[field]), "{column}");
        }
        let samples =
            format!("SELECT * FROM samples WHERE \"index\" = {} ORDER BY sample", point.index);
        let samples = rows(&file, &samples);
        assert_eq!(samples.len(), point.intervals.len());
        for (sample, slice) in samples.iter().zip(&point.intervals) {
            let IntervalRecord { start_ns, length_ns, reads, writes, trims, .. } = slice;
            let slice = json!({
                "start_ns": start_ns, "length_ns": length_ns, "reads": reads, "writes": writes,
                "trims": trims, "read_bytes": slice.read_bytes,
                "written_bytes": slice.written_bytes, "trimmed_bytes": slice.trimmed_bytes,
            });
            assert_eq!(compare(sample, &slice), ["index", "run", "sample"]);
        }
    }
    let row = &rows(&file, "SELECT * FROM runs")[0];
    assert_eq!(compare(row, &document["run"]), ["host", "retracted", "run"]);
}

#[test]
fn last_attempt_of_a_point_counts_in_sql() {
    let interrupted = vec![Finding::invalid(Code::Interrupted)];
    let first = PointRecord { findings: interrupted, ..point(0) };
    let later = PointRecord { duration_ns: 7_000_000_000, findings: Vec::new(), ..point(0) };
    check(&run(ID), &[&first, &point(3), &later]);
}

#[test]
fn empty_point_has_same_values_in_sql() {
    let empty = PointRecord { profile: "x".into(), ..PointRecord::default() };
    check(&run(ID), &[&empty]);
}

#[test]
fn retraction_and_host_are_columns() {
    let (_directory, file) = kept(&run(ID), &[]);
    let mut logbook = Logbook::open(&file).unwrap();
    for why in ["a backup was running", "the wrong drive"] {
        logbook.retract(ID, why, "2025-03-02T00:00:00Z").unwrap();
    }
    let row = &rows(&file, "SELECT * FROM runs")[0];
    assert_eq!(row["retracted"], Sql::Text("the wrong drive".into()));
    assert_eq!(row["host"], Sql::Null);
}

/// Reduces counts to numbers that SQL can add: beyond 2^63 they are negative there
/// (docs/schema.md).
fn with_sane_numbers(mut point: PointRecord) -> PointRecord {
    let sane = |number: &mut u64| *number %= 1 << 50;
    for each in [&mut point.reads, &mut point.writes, &mut point.trims, &mut point.syncs] {
        sane(&mut each.completed);
        sane(&mut each.bytes);
        each.errors.iter_mut().for_each(|error| sane(&mut error.count));
    }
    point.intervals.iter_mut().for_each(|slice| {
        let counts = [&mut slice.start_ns, &mut slice.length_ns, &mut slice.reads];
        counts.into_iter().for_each(sane);
        let counts = [&mut slice.writes, &mut slice.trims, &mut slice.read_bytes];
        counts.into_iter().for_each(sane);
        [&mut slice.written_bytes, &mut slice.trimmed_bytes].into_iter().for_each(sane);
    });
    let counts = [&mut point.duration_ns, &mut point.warm_up_ns, &mut point.longest_gap_ns];
    counts.into_iter().for_each(sane);
    sane(&mut point.abandoned);
    let shares = [&mut point.random_share, &mut point.read_share, &mut point.trim_share];
    shares.into_iter().for_each(|share| *share = 0.25);
    point.in_flight_integral_ns = 1e12;
    point.block_size_mean_bytes = 4096.5;
    point
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn sql_views_match_the_summary_of_any_point(point in any_point()) {
        check(&run(ID), &[&with_sane_numbers(point)]);
    }
}
