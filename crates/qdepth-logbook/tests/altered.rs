//! Alterations of a logbook: a read returns the written data or reports damage.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::common::{certificate, point, run, trimming};
use qdepth_logbook::{Logbook, LogbookError};
use qdepth_measure::{Code, Finding};
use qdepth_record::{PointRecord, RunRecord, RunState, export_csv, export_json};
use rusqlite::Connection;

const ID: &str = "01890000-0000-7000-8000-000000000001";
const OTHER: &str = "01890000-0000-7000-8000-000000000002";
const END: &str = "2025-03-01T11:00:00Z";

/// Logbook with two runs, one of them with a point that was measured twice.
fn good(directory: &Path) -> PathBuf {
    good_with(directory, &trimming(0))
}

fn good_with(directory: &Path, first: &PointRecord) -> PathBuf {
    let file = directory.join("qdepth.db");
    let mut logbook = Logbook::open(&file).unwrap();
    for id in [ID, OTHER] {
        logbook.begin_run(&run(id)).unwrap();
        logbook.add_point(id, first).unwrap();
        let cut = PointRecord { findings: vec![Finding::invalid(Code::Interrupted)], ..point(1) };
        logbook.add_point(id, &cut).unwrap();
        logbook.add_point(id, &point(1)).unwrap();
        logbook.add_point(id, &point(2)).unwrap();
    }
    logbook.end_run(ID, RunState::Complete, END, &[Finding::remark(Code::Buffered)]).unwrap();
    logbook.keep_certificate(&certificate("c", END, "host")).unwrap();
    drop(logbook);
    file
}

/// Connection of a foreign tool, without triggers and constraints.
fn by_hand(file: &Path) -> Connection {
    let connection = Connection::open(file).unwrap();
    let triggers: Vec<String> = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for trigger in triggers {
        connection.execute_batch(&format!("DROP TRIGGER {trigger}")).unwrap();
    }
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    connection.pragma_update(None, "ignore_check_constraints", true).unwrap();
    connection
}

/// All data of exports and reports, as text.
fn exported_text((run, points): &(RunRecord, Vec<PointRecord>)) -> String {
    format!("{}{}{run:?}{points:?}", export_json(run, points), export_csv(run, points))
}

fn read(file: &Path, id: &str) -> Result<(RunRecord, Vec<PointRecord>), LogbookError> {
    Logbook::open_read_only(file)?.measured(id)
}

fn says_so((run, _): &(RunRecord, Vec<PointRecord>)) -> bool {
    run.findings.iter().any(|finding| finding.code == Code::RecordDamaged)
}

/// True if a run was altered silently: the read succeeds with other data and reports no damage.
fn silent(file: &Path, id: &str, before: &str) -> bool {
    read(file, id).is_ok_and(|found| !says_so(&found) && exported_text(&found) != before)
}

fn tables(connection: &Connection) -> Vec<(String, Vec<String>)> {
    let query = "SELECT name FROM sqlite_schema WHERE type = 'table'
                 AND name NOT LIKE 'sqlite_%' AND name <> 'digest'";
    let names: Vec<String> = connection
        .prepare(query)
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let columns = |table: &String| {
        let mut query = connection.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
        query.query_map([table], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    names.iter().map(|name| (name.clone(), columns(name))).collect()
}

#[test]
fn every_altered_column_is_detected() {
    let directory = tempfile::tempdir().unwrap();
    let file = good(directory.path());
    let whole = std::fs::read(&file).unwrap();
    let before = [ID, OTHER].map(|id| exported_text(&read(&file, id).unwrap()));
    let all = tables(&Connection::open(&file).unwrap());
    let mut altered = 0;
    for (table, columns) in &all {
        for column in columns {
            std::fs::write(&file, &whole).unwrap();
            let connection = by_hand(&file);
            let has_rowid: bool = connection
                .query_row("SELECT NOT wr FROM pragma_table_list(?1)", [table], |row| row.get(0))
                .unwrap();
            let row = if has_rowid {
                "rowid = 1".to_owned()
            } else {
                format!("place = 0 AND {} = 1", columns[0])
            };
            // Changes one row to another value of the same type.
            let query =
                format!("SELECT type = 'BLOB' FROM pragma_table_info('{table}') WHERE name = ?1");
            let is_blob: bool = connection.query_row(&query, [column], |row| row.get(0)).unwrap();
            let other = if is_blob { "x'01'" } else { "1" };
            let update = format!(
                "UPDATE {table} SET {column} = CASE typeof({column})
                    WHEN 'integer' THEN {column} + 1000 WHEN 'real' THEN {column} * 1.5
                    WHEN 'null' THEN {other} WHEN 'blob' THEN x'01' ELSE {column} || '1' END
                 WHERE {row}"
            );
            connection.execute(&update, []).unwrap_or_else(|error| panic!("{update}: {error}"));
            drop(connection);
            let found = [(ID, &before[0]), (OTHER, &before[1])];
            for (id, before) in found {
                assert!(!silent(&file, id, before), "{table}.{column} of {id} changed unnoticed");
            }
            assert!(!checks_whole(&file), "{table}.{column}");
            altered += 1;
        }
    }
    assert!(altered > 100, "{altered} columns");
}

fn checks_whole(file: &Path) -> bool {
    let checked = Logbook::open_read_only(file).and_then(|logbook| logbook.check());
    checked.is_ok_and(|checked| checked.is_whole())
}

#[test]
fn every_lost_or_added_row_is_detected() {
    let directory = tempfile::tempdir().unwrap();
    let file = good(directory.path());
    let whole = std::fs::read(&file).unwrap();
    assert!(checks_whole(&file));
    let all = tables(&Connection::open(&file).unwrap());
    for (table, columns) in &all {
        let rest = columns[1..].join(", ");
        let again = format!(
            "INSERT INTO {table} ({first}, {rest}) SELECT {first} + 1000, {rest} FROM {table} \
             LIMIT 1",
            first = columns[0],
        );
        // Ids of runs are unique.
        let again = if table == "run" {
            again.replace("SELECT sequence + 1000, id", "SELECT sequence + 1000, id || '1'")
        } else {
            again
        };
        for change in [format!("DELETE FROM {table} WHERE {} = 1", columns[0]), again] {
            std::fs::write(&file, &whole).unwrap();
            let connection = by_hand(&file);
            let changed = match connection.execute(&change, []) {
                Ok(rows) => rows > 0,
                // SQLite itself refuses a duplicate key.
                Err(error) => {
                    assert!(error.to_string().contains("UNIQUE"), "{change}: {error}");
                    false
                }
            };
            drop(connection);
            // Rows of a nonexistent run or point are never read.
            let read_by_none =
                change.starts_with("INSERT") && !["id", "sequence"].contains(&&*columns[0]);
            assert!(!changed || read_by_none || !checks_whole(&file), "{change}");
        }
    }
}

#[test]
fn damaged_point_is_omitted_and_the_rest_readable() {
    let directory = tempfile::tempdir().unwrap();
    let file = good(directory.path());
    by_hand(&file)
        .execute("UPDATE sample SET reads = reads + 1 WHERE point = 1 AND place = 7", [])
        .unwrap();
    let (run, points) = read(&file, ID).unwrap();
    assert!(points == [point(1), point(2)]);
    let said: Vec<&Finding> =
        run.findings.iter().filter(|finding| finding.code == Code::RecordDamaged).collect();
    assert_eq!(said.len(), 1);
    assert_eq!((&*said[0].labels["record"], said[0].values["point"]), ("point-record", 0.0));
    assert_eq!(said[0].labels["parts"], "series");
    assert!(!says_so(&read(&file, OTHER).unwrap()), "the other run is whole");
    let checked = Logbook::open_read_only(&file).unwrap().check().unwrap();
    assert_eq!((checked.runs, checked.points, checked.file.len()), (2, 7, 0));
    assert_eq!(checked.damaged.len(), 1, "{checked:?}");
    let listed = Logbook::open_read_only(&file).unwrap().runs().unwrap();
    assert_eq!(listed.len(), 2);
}

#[test]
fn damaged_point_is_measured_again() {
    let directory = tempfile::tempdir().unwrap();
    let file = good(directory.path());
    // The first of the second run.
    by_hand(&file).execute("UPDATE direction SET completed = 1 WHERE point = 5", []).unwrap();
    let mut logbook = Logbook::open(&file).unwrap();
    assert_eq!(logbook.points_done(OTHER).unwrap(), [1, 2].into());
    logbook.add_point(OTHER, &point(0)).unwrap();
    assert!(logbook.points(OTHER).unwrap() == [point(0), point(1), point(2)]);
    assert!(says_so(&logbook.measured(OTHER).unwrap()), "the damaged attempt is still there");
}

#[test]
fn altered_run_is_not_resumed() {
    for change in
        ["plan_text = plan_text || ' '", "plan_hash = 'aa'", "engine_choice = 'sync'", "seed = '7'"]
    {
        let directory = tempfile::tempdir().unwrap();
        let file = good(directory.path());
        by_hand(&file).execute(&format!("UPDATE run SET {change} WHERE sequence = 2"), []).unwrap();
        let mut logbook = Logbook::open(&file).unwrap();
        let refused = logbook.hold_unfinished().expect_err("refused");
        assert!(matches!(refused, LogbookError::Altered { .. }), "{change}: {refused}");
        assert!(refused.to_string().contains("qdepth logbook check"), "{refused}");
    }
}

#[test]
fn end_of_run_does_not_hide_its_damage() {
    let directory = tempfile::tempdir().unwrap();
    let file = good(directory.path());
    let by_hand = by_hand(&file);
    by_hand.execute("UPDATE run SET plan_name = 'other' WHERE sequence = 2", []).unwrap();
    by_hand
        .execute(
            "UPDATE observation SET value = '7' WHERE run = 2 AND id = (SELECT min(id) FROM \
             observation WHERE run = 2)",
            [],
        )
        .unwrap();
    drop(by_hand);
    let mut logbook = Logbook::open(&file).unwrap();
    logbook.end_run(OTHER, RunState::Complete, END, &[]).unwrap();
    let (run, _) = logbook.measured(OTHER).unwrap();
    let said = run.findings.iter().find(|finding| finding.code == Code::RecordDamaged).unwrap();
    assert_eq!(said.labels["parts"], "run, environment");
}

#[test]
fn removed_run_makes_latest_ambiguous() {
    let directory = tempfile::tempdir().unwrap();
    let file = good(directory.path());
    by_hand(&file).execute("DELETE FROM run WHERE sequence = 2", []).unwrap();
    let refused = read(&file, "latest").expect_err("refused");
    assert!(matches!(refused, LogbookError::Altered { .. }), "{refused}");
    assert!(!says_so(&read(&file, ID).unwrap()));
    assert!(!Logbook::open_read_only(&file).unwrap().lists_all_runs().unwrap());
}

#[test]
fn removed_digests_are_detected() {
    for change in ["DROP TABLE digest", "DELETE FROM digest"] {
        let directory = tempfile::tempdir().unwrap();
        let file = good(directory.path());
        let connection = by_hand(&file);
        connection.execute_batch(change).unwrap();
        connection.execute_batch("UPDATE direction SET completed = 1").unwrap();
        drop(connection);
        assert!(says_so(&read(&file, ID).unwrap()), "{change}");
    }
}

/// A name that is not text must not cause a panic.
#[test]
fn non_text_schema_name_is_damage() {
    let directory = tempfile::tempdir().unwrap();
    let file = good(directory.path());
    let whole = std::fs::read(&file).unwrap();
    let name = b"plan_hash           TEXT NOT NULL";
    let places = (0..whole.len()).filter(|at| whole[*at..].starts_with(name));
    let mut bytes = whole.clone();
    // Unused pages may contain an older table of contents.
    places.for_each(|at| bytes[at + 2] |= 0x80);
    assert_ne!(bytes, whole);
    std::fs::write(&file, bytes).unwrap();
    for opened in [Logbook::open_read_only(&file), Logbook::open(&file)] {
        assert!(matches!(opened, Err(LogbookError::Damaged { .. })), "{opened:?}");
    }
}

/// Number of rounds: `QDEPTH_TRIES`, or `few` by default.
fn tries(few: u64) -> u64 {
    std::env::var("QDEPTH_TRIES").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

#[test]
fn every_flipped_bit_is_detected_or_harmless() {
    let directory = tempfile::tempdir().unwrap();
    let file = good(directory.path());
    let whole = std::fs::read(&file).unwrap();
    let before = [ID, OTHER].map(|id| exported_text(&read(&file, id).unwrap()));
    let victim = directory.path().join("flipped.db");
    let (mut state, rounds) = (11_u64, tries(400));
    let (mut refused, mut said, mut same) = (0_u64, 0_u64, 0_u64);
    for _ in 0..rounds {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bit = (state >> 20) as usize % (whole.len() * 8);
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&victim, &bytes).unwrap();
        for ending in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(directory.path().join(format!("flipped.db{ending}")));
        }
        for (id, before) in [ID, OTHER].into_iter().zip(&before) {
            match read(&victim, id) {
                Err(_) => refused += 1,
                Ok(found) if says_so(&found) => said += 1,
                Ok(found) => {
                    assert!(&exported_text(&found) == before, "bit {bit} changed {id} unnoticed");
                    same += 1;
                }
            }
        }
    }
    assert!(said > 0 && same > 0, "{refused} refused, {said} said, {same} the same");
    writeln!(
        std::io::stdout(),
        "TRIES flipped-bits {rounds} silent=0 said={said} refused={refused} unchanged={same}"
    )
    .unwrap();
}
