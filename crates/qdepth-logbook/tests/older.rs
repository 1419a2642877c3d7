//! Logbooks of every schema that there was open, say all that they hold, and are brought up to
//! date.
//!
//! `logbooks/NNNN.sql` is the text of a logbook of schema NNNN: a sealed run of two points of an
//! emulated drive, and an interrupted one whose only point had seven reads that failed. One is
//! added with each migration (`QDEPTH_WRITE_REFERENCE=1 cargo test -p qdepth-logbook --test all
//! older` makes it of the one before), and none is ever changed.

use std::fs;
use std::path::{Path, PathBuf};

use qdepth_logbook::{Logbook, SCHEMA_VERSION};
use qdepth_record::{EndedBy, RunState, export_csv, export_json};

const SEALED: &str = "019aa5ca-cb1b-7000-8000-000000000001";
const INTERRUPTED: &str = "019aa5ca-cb1b-7000-8000-000000000002";

/// The logbook of this schema, as a file. The newest is made of the one before where it is not
/// there yet and references are written.
#[cfg(test)]
fn older(folder: &Path, version: i64) -> PathBuf {
    let name = format!("{version:04}");
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/logbooks/{name}.sql"));
    let writes = std::env::var_os("QDEPTH_WRITE_REFERENCE").is_some();
    if version == SCHEMA_VERSION && writes && !kept.exists() {
        let before = older(folder, version - 1);
        drop(Logbook::open(&before).unwrap());
        fs::write(&kept, text_of(&before)).unwrap();
        fs::remove_file(before).unwrap();
    }
    let text = fs::read_to_string(&kept).unwrap_or_else(|why| panic!("{}: {why}", kept.display()));
    made_of(&text, &folder.join(format!("{name}.db")))
}

#[cfg(test)]
fn made_of(text: &str, path: &Path) -> PathBuf {
    let connection = rusqlite::Connection::open(path).unwrap();
    // Its tables stand in the order of their names.
    connection.execute_batch(&format!("PRAGMA foreign_keys = OFF; {text}")).unwrap();
    path.to_owned()
}

/// A logbook as the statements that make it: marks, tables by name with their rows, then the rest.
#[cfg(test)]
fn text_of(path: &Path) -> String {
    let connection = rusqlite::Connection::open(path).unwrap();
    let all = |query: &str| -> Vec<String> {
        let mut statement = connection.prepare(query).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let mut text = String::new();
    for mark in ["application_id", "user_version"] {
        let value = &all(&format!("SELECT CAST({mark} AS TEXT) FROM pragma_{mark}"))[0];
        text.push_str(&format!("PRAGMA {mark} = {value};\n"));
    }
    text.push_str("BEGIN TRANSACTION;\n");
    let of_ours = "FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND type";
    for table in all(&format!("SELECT name {of_ours} = 'table' ORDER BY name")) {
        let made = all(&format!("SELECT sql {of_ours} = 'table' AND name = '{table}'"));
        text.push_str(&format!("{};\n", made[0]));
        let columns =
            all(&format!("SELECT 'quote(\"' || name || '\")' FROM pragma_table_info('{table}')"));
        let row = format!("SELECT {} FROM \"{table}\"", columns.join(" || ',' || "));
        for values in all(&row) {
            text.push_str(&format!("INSERT INTO \"{table}\" VALUES({values});\n"));
        }
    }
    for other in all(&format!("SELECT sql {of_ours} <> 'table' ORDER BY type, name")) {
        text.push_str(&format!("{other};\n"));
    }
    text + "COMMIT;\n"
}

/// So that the text of the next schema's is whole, too.
#[test]
fn a_logbook_as_text_makes_the_same_logbook() {
    let folder = tempfile::tempdir().unwrap();
    let path = older(folder.path(), SCHEMA_VERSION);
    let again = made_of(&text_of(&path), &folder.path().join("again.db"));
    let [kept, made] = [&path, &again].map(|path| {
        let logbook = Logbook::open_read_only(path).unwrap();
        assert!(logbook.check().unwrap().is_whole());
        (says_all(&logbook, SCHEMA_VERSION), text_of(path))
    });
    assert_eq!(kept, made);
}

#[cfg(test)]
fn version_of(path: &Path) -> i64 {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.query_row("SELECT user_version FROM pragma_user_version", [], |r| r.get(0)).unwrap()
}

/// Takes back what the schema of trims, and those after it, added.
pub(crate) fn before_trims() -> String {
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let mut all: Vec<_> = fs::read_dir(migrations).unwrap().map(|each| each.unwrap()).collect();
    all.sort_by_key(|each| each.file_name());
    let later = all[14..].iter().map(|each| fs::read_to_string(each.path()).unwrap());
    // A column more is all that a schema after these has.
    let added = later.flat_map(|text| text.split(';').map(str::to_owned).collect::<Vec<_>>());
    let dropped = added.filter_map(|each| {
        let (table, column) = each.split_once("ALTER TABLE ")?.1.split_once(" ADD COLUMN ")?;
        let column = column.split(' ').next()?;
        Some(format!("ALTER TABLE {table} DROP COLUMN {column};\n"))
    });
    dropped.chain([BEFORE_TRIMS.to_owned()]).collect()
}

const BEFORE_TRIMS: &str = "ALTER TABLE target RENAME COLUMN expression TO spelling;
    ALTER TABLE point RENAME COLUMN interim_checks TO looks;
    DROP TRIGGER monitor_is_final; ALTER TABLE monitor RENAME TO witness;
    DROP TABLE trim_error; DROP TABLE trim;
    ALTER TABLE interval DROP COLUMN trims; ALTER TABLE interval DROP COLUMN trimmed_bytes;
    ALTER TABLE interval DROP COLUMN trim_service_time; ALTER TABLE point DROP COLUMN trim_share;";

/// What every one of them holds.
#[cfg(test)]
fn says_all(logbook: &Logbook, version: i64) -> (String, String) {
    let runs = logbook.runs().unwrap();
    let states: Vec<RunState> = runs.iter().map(|headline| headline.state).collect();
    assert_eq!(states.len(), 2, "schema {version}");
    assert!(states.contains(&RunState::Sealed) && states.contains(&RunState::Interrupted));
    let (run, points) = logbook.measured(SEALED).unwrap();
    assert_eq!((points.len(), run.plan_name.as_str()), (2, "fixture"), "schema {version}");
    assert_eq!(run.targets.len(), 1);
    assert_eq!(points[0].ended_by, EndedBy::Duration);
    assert_eq!(points[1].outstanding, 4);
    let completed = points[0].reads.completed + points[0].writes.completed;
    assert!(completed > 1000, "schema {version}: {completed}");
    let monitors = points[0].monitors.len();
    assert_eq!(monitors, if version >= 6 { 3 } else { 0 }, "schema {version}");
    assert_eq!(run.expected.len(), if version >= 8 { 2 } else { 0 }, "schema {version}");
    let certificate = logbook.certificate("fixture", "").unwrap();
    assert_eq!(certificate.is_some(), version >= 11, "schema {version}");
    let (_, failed) = logbook.measured(INTERRUPTED).unwrap();
    assert_eq!(failed[0].reads.errors[0].count, 7, "schema {version}");
    (export_json(&run, &points), export_csv(&run, &points))
}

#[test]
fn logbooks_of_every_schema_are_read_and_left_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut rates = Vec::new();
    for version in 1..=SCHEMA_VERSION {
        let path = older(folder.path(), version);
        let before = fs::read(&path).unwrap();
        let (json, csv) = says_all(&Logbook::open_read_only(&path).unwrap(), version);
        let checked = Logbook::open_read_only(&path).unwrap().check().unwrap();
        assert!(checked.is_whole(), "schema {version}: {checked:?}");
        assert_eq!(checked.without_digests, version < 9, "schema {version}");
        assert_eq!(fs::read(&path).unwrap(), before, "schema {version}: reading changes nothing");
        let document: serde_json::Value = serde_json::from_str(&json).unwrap();
        rates.push(document["points"][1]["io_per_s"].clone());
        assert_eq!(csv.lines().count(), 3, "schema {version}: {csv}");
    }
    // The same points give the same figures, whatever kept them.
    assert!(rates[0].as_f64().is_some_and(|rate| rate > 1000.0), "{rates:?}");
    assert!(rates.iter().all(|rate| *rate == rates[0]), "{rates:?}");
}

#[test]
fn logbooks_of_every_schema_are_brought_up_to_date_when_they_are_written_to() {
    let folder = tempfile::tempdir().unwrap();
    for version in 1..=SCHEMA_VERSION {
        let path = older(folder.path(), version);
        let read = says_all(&Logbook::open_read_only(&path).unwrap(), version);
        let mut logbook = Logbook::open(&path).unwrap();
        assert_eq!(says_all(&logbook, version), read, "schema {version}");
        logbook.note(SEALED, "an old one", "2026-11-23T00:00:00Z").unwrap();
        drop(logbook);
        assert_eq!(version_of(&path), SCHEMA_VERSION);
        let again = Logbook::open_read_only(&path).unwrap();
        let checked = again.check().unwrap();
        assert!(checked.is_whole() && !checked.without_digests, "schema {version}: {checked:?}");
        assert!(Logbook::open(&path).unwrap().hold_unfinished().unwrap().is_some());
    }
}

#[test]
fn a_logbook_of_a_newer_schema_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = older(folder.path(), SCHEMA_VERSION);
    let raise = format!("PRAGMA user_version = {}", SCHEMA_VERSION + 1);
    rusqlite::Connection::open(&path).unwrap().execute_batch(&raise).unwrap();
    let before = fs::read(&path).unwrap();
    let told = Logbook::open(&path).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(told.contains("newer"), "{told}");
    Logbook::open_read_only(&path).unwrap_err();
    assert_eq!(fs::read(&path).unwrap(), before);
}
