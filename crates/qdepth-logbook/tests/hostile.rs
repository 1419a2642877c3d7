//! Logbooks in a directory that others prepared: no write follows their links.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use crate::common::{point, run};
use qdepth_logbook::{Logbook, LogbookError, RESERVE_BYTES};
use qdepth_record::{Observation, RunRecord, RunState};
use rustix::fs::{AtFlags, CWD, Mode, Uid, chownat, mkfifoat};

const ID: &str = "01890000-0000-7000-8000-000000000001";
const END: &str = "2025-03-01T11:00:00Z";

fn measure(file: &Path) -> Result<(), LogbookError> {
    let mut logbook = Logbook::open(file)?;
    logbook.reserve(RESERVE_BYTES)?;
    logbook.hold(ID)?;
    logbook.begin_run(&run(ID))?;
    logbook.add_point(ID, &point(0))?;
    logbook.end_run(ID, RunState::Complete, END, &[])
}

fn refused(file: &Path) -> String {
    let error = measure(file).expect_err("it must be refused");
    assert!(
        matches!(error, LogbookError::File { .. } | LogbookError::NotALogbook { .. }),
        "{error}"
    );
    error.to_string()
}

/// Unreleased versions used the same schema version for other tables.
#[test]
fn logbook_with_different_tables_is_refused_unchanged() {
    let directory = tempfile::tempdir().unwrap();
    let first = include_str!("../migrations/0001_first.sql");
    for left_out in ["'trim', ", "    engine_choice       TEXT NOT NULL,\n"] {
        assert!(first.contains(left_out));
        let path = directory.path().join("q.db");
        let made = rusqlite::Connection::open(&path).unwrap();
        made.execute_batch(&first.replace(left_out, "")).unwrap();
        made.pragma_update(None, "application_id", i32::from_be_bytes(*b"qdep")).unwrap();
        made.pragma_update(None, "user_version", 1).unwrap();
        drop(made);
        let before = std::fs::read(&path).unwrap();
        for opened in [Logbook::open(&path), Logbook::open_read_only(&path)] {
            let error = opened.unwrap_err();
            assert!(matches!(error, LogbookError::OtherTables { .. }), "{error}");
        }
        assert!(std::fs::read(&path).unwrap() == before, "changed");
        std::fs::remove_file(&path).unwrap();
    }
}

/// The command of a run is printed for people to paste into a shell.
#[test]
fn stored_command_that_is_not_qdepths_is_dropped() {
    for (line, is_kept) in [
        ("qdepth run quick '/mnt/my disk' --seed 7", true),
        ("qdepth run quick; rm -rf ~ --seed 7", false),
        ("qdepth run 'a --seed b'", false),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let mut logbook = Logbook::open(directory.path().join("q.db")).unwrap();
        let mut run = run(ID);
        run.environment.retain(|seen| (&*seen.subject, &*seen.key) != RunRecord::COMMAND);
        run.environment.push(Observation::new(RunRecord::COMMAND, Ok(line.to_owned()), "test"));
        logbook.begin_run(&run).unwrap();
        let read = logbook.measured(ID).unwrap().0;
        assert_eq!(read.rerun_command(), is_kept.then_some(line));
        assert_eq!(logbook.run(ID).unwrap().rerun_command(), is_kept.then_some(line));
    }
}

#[test]
fn infinite_view_instead_of_table_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("q.db");
    measure(&file).unwrap();
    let hostile = rusqlite::Connection::open(&file).unwrap();
    hostile
        .execute_batch(
            "ALTER TABLE sample RENAME TO old;
             CREATE VIEW sample AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
             SELECT old.* FROM old, n",
        )
        .unwrap();
    drop(hostile);
    let error = Logbook::open_read_only(&file).unwrap_err().to_string();
    assert!(error.contains("its view, trigger or virtual table"), "{error}");
    assert!(refused(&file).contains("view, trigger or virtual table"));
}

#[test]
fn foreign_triggers_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    for (name, body) in [
        ("deletes", "DELETE FROM finding"),
        (
            "never_ends",
            "SELECT * FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 \
                        FROM n) SELECT x FROM n)",
        ),
    ] {
        let file = directory.path().join(format!("{name}.db"));
        measure(&file).unwrap();
        let hostile = rusqlite::Connection::open(&file).unwrap();
        let trigger = format!("CREATE TRIGGER {name} AFTER INSERT ON finding BEGIN {body}; END");
        hostile.execute_batch(&trigger).unwrap();
        drop(hostile);
        assert!(refused(&file).contains(name));
    }
}

/// SQLite deletes the files next to a new database, whatever they hold.
#[test]
fn files_next_to_a_new_logbook_are_kept() {
    for ending in ["-wal", "-shm", "-journal"] {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("q.db");
        let sibling = directory.path().join(format!("q.db{ending}"));
        std::fs::write(&sibling, "dear").unwrap();
        for is_empty in [false, true] {
            if is_empty {
                std::fs::write(&file, "").unwrap();
            }
            let error = measure(&file).expect_err("the file would be lost").to_string();
            assert!(error.contains(&*sibling.to_string_lossy()), "{error}");
            assert_eq!(std::fs::read(&sibling).unwrap(), b"dear", "{ending}");
        }
        std::fs::remove_file(&sibling).unwrap();
        measure(&file).unwrap();
    }
}

/// A rollback journal with the name of a super-journal makes SQLite delete the file of that name.
#[test]
fn a_journal_that_names_a_victim_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::write(at("victim"), "dear").unwrap();
    measure(&at("q.db")).unwrap();
    let magic = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let (victim, number) = (at("victim"), |value: u32| value.to_be_bytes());
    let name = victim.as_os_str().as_encoded_bytes();
    let pages = std::fs::metadata(at("q.db")).unwrap().len() / 4096;
    let mut journal = magic.to_vec();
    for word in [0, 1, pages as u32, 512, 4096] {
        journal.extend(number(word));
    }
    journal.resize(512, 0);
    journal.extend(number(0x4000_0000 / 4096 + 1));
    journal.extend(name);
    journal.extend(number(name.len() as u32));
    journal.extend(number(name.iter().map(|byte| u32::from(*byte)).sum()));
    journal.extend(magic);
    for writes in [false, true] {
        std::fs::write(at("q.db-journal"), &journal).unwrap();
        let open = if writes { Logbook::open } else { Logbook::open_read_only };
        let error = open(at("q.db")).expect_err("the victim would be deleted");
        assert!(matches!(error, LogbookError::ForeignSibling { .. }), "{writes}: {error}");
        assert_eq!(std::fs::read(at("victim")).unwrap(), b"dear", "{writes}");
    }
    std::fs::remove_file(at("q.db-journal")).unwrap();
    measure(&at("other.db")).unwrap();
    assert_eq!(Logbook::open_read_only(at("q.db")).unwrap().points(ID).unwrap().len(), 1);
}

/// To close a file releases the locks of the whole process on it, also those of SQLite.
#[test]
fn reading_keeps_the_locks_of_an_open_logbook() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("q.db");
    let mut logbook = Logbook::open(&file).unwrap();
    logbook.begin_run(&run(ID)).unwrap();
    let index = std::fs::metadata(directory.path().join("q.db-shm")).unwrap().ino();
    let is_locked = || {
        let own = std::process::id().to_string();
        let locks = std::fs::read_to_string("/proc/locks").unwrap();
        let fields = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        locks.lines().map(fields).any(|fields| {
            fields.contains(&own) && fields.iter().any(|f| f.ends_with(&format!(":{index}")))
        })
    };
    assert!(is_locked());
    drop(Logbook::open_read_only(&file).unwrap());
    assert!(is_locked());
}

#[test]
fn another_users_journal_is_refused_for_reading() {
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED: another user's files can only be made as root");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    measure(&at("q.db")).unwrap();
    std::fs::write(at("q.db-journal"), "theirs").unwrap();
    let nobody = Some(Uid::from_raw(65534));
    chownat(CWD, at("q.db-journal"), nobody, None, AtFlags::SYMLINK_NOFOLLOW).unwrap();
    let error = Logbook::open_read_only(at("q.db")).expect_err("another user's").to_string();
    assert!(error.contains("user 65534"), "{error}");
    assert_eq!(std::fs::metadata(at("q.db-journal")).unwrap().uid(), 65534);
}

#[test]
fn links_next_to_logbook_are_never_written_through() {
    for name in ["q.db.reserve", "q.db.partial", "q.db.running-1", "q.db-wal", "q.db-shm"] {
        let directory = tempfile::tempdir().unwrap();
        let (file, victim) = (directory.path().join("q.db"), directory.path().join("victim"));
        std::fs::write(&victim, "dear").unwrap();
        symlink(&victim, directory.path().join(name)).unwrap();
        let answer = measure(&file);
        assert_eq!(std::fs::read(&victim).unwrap(), b"dear", "{name}");
        assert_eq!(answer.is_err(), name.contains('-') && !name.contains("running"), "{name}");
        if answer.is_err() {
            assert!(refused(&file).contains(name));
        }
    }
    // The mark of a live run cannot be a link.
    let directory = tempfile::tempdir().unwrap();
    let victim = directory.path().join("victim");
    std::fs::write(&victim, "dear").unwrap();
    symlink(&victim, directory.path().join(format!("q.db.running-{ID}"))).unwrap();
    assert!(refused(&directory.path().join("q.db")).contains("symbolic link"));
    assert_eq!(std::fs::read(&victim).unwrap(), b"dear");
}

#[test]
fn file_with_old_reserve_name_is_unchanged() {
    let directory = tempfile::tempdir().unwrap();
    let dear = directory.path().join("q.db.reserve");
    std::fs::write(&dear, "dear").unwrap();
    measure(&directory.path().join("q.db")).unwrap();
    assert_eq!(std::fs::read(&dear).unwrap(), b"dear");
}

#[test]
fn logbook_must_be_regular_file_with_one_name() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    mkfifoat(CWD, at("fifo"), Mode::from_raw_mode(0o600)).unwrap();
    measure(&at("real.db")).unwrap();
    std::fs::hard_link(at("real.db"), at("second.db")).unwrap();
    symlink("/dev/full", at("device.db")).unwrap();
    for (name, why) in [("fifo", "FIFO"), ("second.db", "2 names"), ("device.db", "device")] {
        assert!(refused(&at(name)).contains(why), "{name}");
    }
    assert!(refused(&at("missing/q.db")).contains("mkdir -p -- "));
    for name in ["fifo", "device.db"] {
        let error = Logbook::open_read_only(at(name)).expect_err("no logbook");
        assert!(matches!(error, LogbookError::File { .. }), "{name}: {error}");
    }
    assert_eq!(Logbook::open_read_only(at("second.db")).unwrap().points(ID).unwrap().len(), 1);
    let error = Logbook::open_read_only(at("missing/q.db")).expect_err("no logbook");
    assert!(matches!(error, LogbookError::Missing { .. }), "{error}");
}

#[test]
fn own_symlink_leads_to_the_logbook() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::create_dir(at("place")).unwrap();
    symlink("place/real.db", at("q.db")).unwrap();
    measure(&at("q.db")).unwrap();
    assert_eq!(Logbook::open_read_only(at("place/real.db")).unwrap().points(ID).unwrap().len(), 1);
    assert!(std::fs::symlink_metadata(at("q.db")).unwrap().is_symlink());
}

#[test]
fn logbook_is_readable_only_by_its_owner() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("q.db");
    let logbook = Logbook::open(&file).unwrap();
    for name in ["q.db", "q.db-wal", "q.db-shm"] {
        let found = std::fs::metadata(directory.path().join(name)).unwrap();
        assert_eq!(found.permissions().mode() & 0o777, 0o600, "{name}");
    }
    // Permissions that the user has set stay.
    drop(logbook);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    measure(&file).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, 0o640);
}

/// A read-only user must not create SQLite's index file, which would lock the owner out of the
/// logbook.
#[test]
fn read_only_user_creates_no_files() {
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED: another user's reading can only be tried as root");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("q.db");
    measure(&file).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let read_by_nobody = || {
        let nobody = rustix::fs::Uid::from_raw(65_534);
        rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
        let logbook = Logbook::open_read_only(&file).unwrap();
        let points = logbook.points(ID).unwrap().len();
        let during = std::fs::read_dir(directory.path()).unwrap().count();
        (points, during)
    };
    // Changes the user of a single thread; other threads keep theirs.
    let found = std::thread::scope(|scope| scope.spawn(read_by_nobody).join().unwrap());
    assert_eq!(found, (1, 1));
}

#[test]
fn foreign_logbook_in_sticky_directory_is_refused_unchanged() {
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED: another user's files can only be made as root");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o1777)).unwrap();
    measure(&at("theirs.db")).unwrap();
    symlink(at("other.db"), at("link.db")).unwrap();
    for name in ["theirs.db", "link.db"] {
        let nobody = Some(Uid::from_raw(65534));
        chownat(CWD, at(name), nobody, None, AtFlags::SYMLINK_NOFOLLOW).unwrap();
    }
    let before = std::fs::read(at("theirs.db")).unwrap();
    for name in ["theirs.db", "link.db"] {
        assert!(refused(&at(name)).contains("user 65534"), "{name}");
    }
    assert_eq!(std::fs::read(at("theirs.db")).unwrap(), before);
    assert!(!at("other.db").exists());
    // Reading it is harmless.
    Logbook::open_read_only(at("theirs.db")).unwrap();
}
