//! Kills at any moment, and concurrent processes.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::common::{point, run};
use qdepth_logbook::Logbook;
use qdepth_record::RunState;

const FILE: &str = "QDEPTH_TEST_LOGBOOK";
const RUN: &str = "QDEPTH_TEST_RUN";
const LIMIT: &str = "QDEPTH_TEST_POINTS";

/// Number of kills: `QDEPTH_TRIES`, or a few by default.
fn kills() -> u64 {
    std::env::var("QDEPTH_TRIES").ok().and_then(|text| text.parse().ok()).unwrap_or(30)
}

/// Entry point of the child processes; does nothing without their environment variables.
#[test]
fn child_adds_points() {
    let (Ok(file), Ok(id)) = (std::env::var(FILE), std::env::var(RUN)) else { return };
    let limit: u32 = std::env::var(LIMIT).unwrap().parse().unwrap();
    let mut logbook = Logbook::open(file).unwrap();
    logbook.reserve(256 << 10).unwrap();
    logbook.begin_run(&run(&id)).unwrap();
    for index in 0..limit {
        logbook.add_point(&id, &point(index)).unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "stored {index}").unwrap();
        out.flush().unwrap();
    }
    logbook.end_run(&id, RunState::Complete, "2025-03-01T11:00:00Z", &[]).unwrap();
}

fn child(file: &Path, id: &str, limit: u32) -> Child {
    #[expect(clippy::disallowed_methods, reason = "the test kills a process of its own")]
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "crash::child_adds_points", "--nocapture", "--test-threads=1"])
        .env(FILE, file)
        .env(RUN, id)
        .env(LIMIT, limit.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Number of points that the child reported as stored, until its output ends.
fn acknowledged(child: &mut Child) -> u32 {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The test harness prefixes the first line with its own text.
    lines.map_while(Result::ok).filter(|line| line.contains("stored ")).count() as u32
}

#[test]
fn killed_writer_loses_no_stored_points() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("qdepth.db");
    let (_never, silence) = mpsc::channel::<()>();
    let mut total = 0;
    let kills = kills();
    for kill in 0..kills {
        let id = format!("01890000-0000-7000-8000-{kill:012}");
        // A new file every fifth time, so that creating it is hit as well.
        if kill % 5 == 0 {
            let _ = std::fs::remove_file(&file);
            let _ = std::fs::remove_file(file.with_extension("db-wal"));
            let _ = std::fs::remove_file(file.with_extension("db-shm"));
        }
        let mut child = child(&file, &id, u32::MAX);
        let moment = Duration::from_micros(3_000 + (kill * 7_919_317) % 180_000);
        let _ = silence.recv_timeout(moment);
        child.kill().unwrap();
        let stored = acknowledged(&mut child);
        child.wait().unwrap();

        let mut logbook = Logbook::open(&file).unwrap();
        if stored > 0 {
            let points = logbook.points(&id).unwrap();
            assert!(points.len() as u32 >= stored, "{stored} acknowledged");
            assert!((0..).map(point).zip(&points).all(|(expected, found)| expected == *found));
            let found = logbook.hold_unfinished().unwrap().unwrap();
            assert_eq!((found.id, found.state), (id, RunState::Running));
        }
        total += stored;
        assert!(logbook.check().unwrap().is_whole());
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "TRIES kills-of-the-logbook {kills} lost=0 stored={total}").unwrap();
    assert!(total > 0, "no child ever stored a point before it was killed");
}

#[test]
fn several_processes_write_to_one_logbook() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("qdepth.db");
    let ids = [1, 2, 3].map(|n| format!("01890000-0000-7000-8000-{n:012}"));
    let mut children: Vec<Child> = ids.iter().map(|id| child(&file, id, 40)).collect();
    for child in &mut children {
        assert_eq!(acknowledged(child), 40);
        assert!(child.wait().unwrap().success());
    }
    let logbook = Logbook::open_read_only(&file).unwrap();
    for id in &ids {
        assert_eq!(logbook.points(id).unwrap(), (0..40).map(point).collect::<Vec<_>>());
        assert_eq!(logbook.run(id).unwrap().state, RunState::Complete);
    }
    assert!(logbook.check().unwrap().is_whole());
    // Only SQLite's own files may be left.
    for entry in std::fs::read_dir(&directory).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(["qdepth.db", "qdepth.db-shm", "qdepth.db-wal"].iter().any(|known| name == *known));
    }
}
