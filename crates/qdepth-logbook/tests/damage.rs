//! Foreign and damaged files: refused with a reason, and left unchanged.

use std::path::{Path, PathBuf};

use crate::common::{point, run};
use qdepth_logbook::{Logbook, LogbookError};

const ID: &str = "01890000-0000-7000-8000-000000000001";

fn good(directory: &Path) -> PathBuf {
    let file = directory.join("qdepth.db");
    let mut logbook = Logbook::open(&file).unwrap();
    logbook.begin_run(&run(ID)).unwrap();
    for index in 0..3 {
        logbook.add_point(ID, &point(index)).unwrap();
    }
    file
}

/// Performs every read operation; any result but a panic is acceptable.
fn use_it(file: &Path) -> Result<(), LogbookError> {
    for mut logbook in [Logbook::open_read_only(file)?, Logbook::open(file)?] {
        logbook.runs()?;
        logbook.hold_unfinished()?;
        logbook.run("latest")?;
        logbook.points("latest")?;
    }
    let mut logbook = Logbook::open(file)?;
    logbook.add_point(ID, &point(3))
}

#[test]
fn foreign_files_are_refused_and_unchanged() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("letter.txt");
    let foreign = directory.path().join("foreign.db");
    let plain = directory.path().join("plain.db");
    std::fs::write(&file, "Dear Sir or Madam, this is not a database.").unwrap();
    rusqlite::Connection::open(&foreign)
        .unwrap()
        .execute_batch("PRAGMA application_id = 42; CREATE TABLE t (a)")
        .unwrap();
    rusqlite::Connection::open(&plain).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    for path in [file, foreign, plain] {
        let before = std::fs::read(&path).unwrap();
        let refused = |found: Result<Logbook, LogbookError>| {
            assert!(matches!(found, Err(LogbookError::NotALogbook { .. })), "{path:?}: {found:?}");
        };
        refused(Logbook::open(&path));
        refused(Logbook::open_read_only(&path));
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
    assert!(Logbook::open(directory.path()).is_err());
    assert!(Logbook::open(directory.path().join("no/such/directory.db")).is_err());
}

#[test]
fn empty_file_becomes_a_logbook() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("empty.db");
    std::fs::write(&file, "").unwrap();
    assert!(matches!(Logbook::open_read_only(&file), Err(LogbookError::NotALogbook { .. })));
    assert!(Logbook::open(&file).unwrap().runs().unwrap().is_empty());
}

#[test]
fn newer_schema_version_is_refused_by_number() {
    let directory = tempfile::tempdir().unwrap();
    let file = good(directory.path());
    rusqlite::Connection::open(&file).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = std::fs::read(&file).unwrap();
    for found in [Logbook::open(&file), Logbook::open_read_only(&file)] {
        let error = found.expect_err("refused");
        assert_eq!(std::fs::read(&file).unwrap(), before, "it is left alone");
        assert!(matches!(error, LogbookError::Newer { found: 99, .. }), "{error}");
        assert!(error.to_string().contains("version 99"), "{error}");
    }
}

#[test]
fn truncated_files_return_errors() {
    let directory = tempfile::tempdir().unwrap();
    let whole = std::fs::read(good(directory.path())).unwrap();
    let file = directory.path().join("cut.db");
    for tenth in 1..10 {
        std::fs::write(&file, &whole[..whole.len() * tenth / 10]).unwrap();
        let error = use_it(&file).expect_err("damaged");
        assert!(matches!(error, LogbookError::Damaged { .. }), "{tenth}/10: {error}");
    }
    std::fs::write(&file, &whole[..50]).unwrap();
    assert!(matches!(use_it(&file), Err(LogbookError::NotALogbook { .. })));
}

#[test]
fn random_bytes_return_errors_without_panic() {
    let directory = tempfile::tempdir().unwrap();
    let whole = std::fs::read(good(directory.path())).unwrap();
    let file = directory.path().join("noise.db");
    let mut state = 7_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut failed = 0;
    for _ in 0..150 {
        let mut bytes = whole.clone();
        let start = next() % bytes.len();
        let end = (start + 1 + next() % 4096).min(bytes.len());
        bytes[start..end].fill_with(|| next() as u8);
        std::fs::write(&file, &bytes).unwrap();
        for ending in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(directory.path().join(format!("noise.db{ending}")));
        }
        failed += usize::from(use_it(&file).is_err());
    }
    assert!(failed > 50, "only {failed} of 150 damaged files were noticed");
}

#[test]
fn triggers_reject_changes_by_other_tools() {
    let directory = tempfile::tempdir().unwrap();
    let connection = rusqlite::Connection::open(good(directory.path())).unwrap();
    for statement in [
        "UPDATE point SET issued = 0",
        "UPDATE direction SET completed = 0",
        "UPDATE sample SET reads = 0",
        "UPDATE finding SET severity = 'remark'",
        "UPDATE expected SET io_per_s = 0",
    ] {
        assert!(connection.execute(statement, []).is_err(), "{statement}");
    }
}
