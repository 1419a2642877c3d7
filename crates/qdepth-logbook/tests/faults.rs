//! Faults of every call with which SQLite changes the logbook's files: the n-th call fails, fails
//! permanently, writes half, or is preceded by a kill or a power failure. Afterwards no point that
//! was reported as stored is lost, and none is wrong.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{point, run};
use qdepth_logbook::Logbook;
use qdepth_record::{PointRecord, RunState};

const FILE: &str = "QDEPTH_TEST_FAULTY_LOGBOOK";
const ID: &str = "01890000-0000-7000-8000-000000000001";
const END: &str = "2025-03-01T11:00:00Z";
const POINTS: u32 = 3;

/// Point with few rows, so that every call can be tested.
fn short(index: u32) -> PointRecord {
    let whole = point(index);
    PointRecord { intervals: whole.intervals[..2].to_vec(), ..whole }
}

fn print_line(what: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{what}").unwrap();
    out.flush().unwrap();
}

/// Entry point of the child process under faults. It prints the stored points and its end.
#[test]
fn child_measures() {
    let Ok(file) = std::env::var(FILE) else { return };
    let measure = || -> Result<(), qdepth_logbook::LogbookError> {
        let mut logbook = Logbook::open(&file)?;
        logbook.begin_run(&run(ID))?;
        for index in 0..POINTS {
            logbook.add_point(ID, &short(index))?;
            print_line(&format!("stored {index}"));
        }
        logbook.end_run(ID, RunState::Complete, END, &[])?;
        print_line("sealed");
        Ok(())
    };
    if let Err(error) = measure() {
        print_line(&format!("refused {error}"));
    }
}

/// Library that injects the faults; `None` if there is no compiler.
#[cfg(test)]
fn library(directory: &Path) -> Option<PathBuf> {
    let made = directory.join("faults.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults.c");
    let words = ["-shared", "-fPIC", "-O1", "-w", "-o"];
    let built = Command::new("cc").args(words).arg(&made).arg(source).arg("-ldl").output();
    match built {
        Ok(output) if output.status.success() => Some(made),
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(why) => {
            println!("SKIPPED: faults of the logbook: cc: {why}");
            None
        }
    }
}

struct Lab {
    directory: tempfile::TempDir,
    library: PathBuf,
}

/// Result of the child process, from its output.
struct ChildReport {
    stored: u32,
    sealed: bool,
    refused: bool,
}

impl Lab {
    fn file(&self) -> PathBuf {
        self.directory.path().join("faulty.db")
    }

    /// Runs the child with this fault on new files.
    fn child(&self, fault: &str) -> ChildReport {
        for ending in ["", "-wal", "-shm", "-journal"] {
            let _ = std::fs::remove_file(self.directory.path().join(format!("faulty.db{ending}")));
        }
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "faults::child_measures", "--nocapture", "--test-threads=1"])
            .env(FILE, self.file())
            .env("LD_PRELOAD", &self.library)
            .env("QDEPTH_FAULT", fault)
            .env("QDEPTH_FAULT_FILE", "faulty.db")
            .env("QDEPTH_FAULT_COUNT", self.directory.path().join("count"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!errors.contains("panicked"), "{fault}: {errors}");
        let is_stored = |line: &&str| line.contains("stored ") && !line.contains("refused ");
        let stored = text.lines().filter(is_stored).count() as u32;
        ChildReport { stored, sealed: text.contains("sealed"), refused: text.contains("refused ") }
    }

    /// Number of calls without a fault.
    fn calls(&self) -> u64 {
        let report = self.child("count");
        assert!(report.sealed && report.stored == POINTS);
        let count = std::fs::read_to_string(self.directory.path().join("count")).unwrap();
        count.trim().parse().unwrap()
    }

    /// Asserts that no reported point is lost and none is wrong.
    fn holds(&self, fault: &str, report: &ChildReport) {
        let mut logbook = match Logbook::open(self.file()) {
            Ok(logbook) => logbook,
            Err(error) => {
                assert_eq!(report.stored, 0, "{fault}: {} points are lost: {error}", report.stored);
                return;
            }
        };
        let checked = logbook.check().unwrap();
        assert!(checked.is_whole(), "{fault}: {checked:?}");
        let found = match logbook.runs().unwrap().len() {
            0 => Vec::new(),
            _ => logbook.points(ID).unwrap(),
        };
        assert!(
            found.len() as u32 >= report.stored,
            "{fault}: {} of {}",
            found.len(),
            report.stored
        );
        assert!((0..).map(short).zip(&found).all(|(right, found)| right == *found), "{fault}");
        if report.sealed {
            assert_eq!(logbook.run(ID).unwrap().state, RunState::Complete, "{fault}");
        } else if logbook.hold_unfinished().unwrap().is_some() {
            // The run can be resumed to its end.
            logbook.reopen(ID).unwrap();
            for index in logbook.points_done(ID).unwrap().len() as u32..POINTS {
                logbook.add_point(ID, &short(index)).unwrap();
            }
            logbook.end_run(ID, RunState::Complete, END, &[]).unwrap();
            assert!(logbook.check().unwrap().is_whole(), "{fault}");
        }
    }
}

/// Distance between tested calls, from the number of tests that `QDEPTH_TRIES` requests; 1 tests
/// every call.
fn stride(calls: u64, ways: u64) -> u64 {
    let wanted: u64 =
        std::env::var("QDEPTH_TRIES").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    (calls * ways).div_ceil(wanted).max(1)
}

#[test]
fn no_system_call_failure_loses_a_point() {
    let directory = tempfile::tempdir().unwrap();
    let Some(library) = library(directory.path()) else { return };
    let lab = Lab { directory, library };
    let calls = lab.calls();
    assert!(calls > 20, "{calls} calls: the library is not loaded");
    let (eio, enospc) = (5, 28);
    let ways: [&dyn Fn(u64) -> String; 6] = [
        &|n| format!("once:{n}:{eio}"),
        &|n| format!("forever:{n}:{eio}"),
        &|n| format!("once:{n}:{enospc}"),
        &|n| format!("short:{n}"),
        &|n| format!("kill:{n}"),
        &|n| format!("power:{n}"),
    ];
    let stride = stride(calls, ways.len() as u64);
    let (mut tried, mut refused, mut ended) = (0_u64, 0_u64, 0_u64);
    for (way, fault) in ways.iter().enumerate() {
        for call in (1 + way as u64 % stride..=calls).step_by(stride as usize) {
            let fault = fault(call);
            let report = lab.child(&fault);
            tried += 1;
            refused += u64::from(report.refused);
            ended += u64::from(!report.refused && !report.sealed);
            lab.holds(&fault, &report);
        }
    }
    assert!(refused > 0 && ended > 0, "{refused} refused, {ended} ended");
    print_line(&format!(
        "TRIES logbook-faults {tried} lost=0 wrong=0 calls={calls} ways={} refused={refused} \
         ended={ended}",
        ways.len()
    ));
}
