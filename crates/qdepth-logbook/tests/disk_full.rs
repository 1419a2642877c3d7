//! A full disk ends the run without losing stored points.

use std::path::Path;

use crate::common::{point, run};
use qdepth_logbook::{Logbook, LogbookError};
use qdepth_record::RunState;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

const ID: &str = "01890000-0000-7000-8000-000000000001";
const END: &str = "2025-03-01T11:00:00Z";

/// A tmpfs of 2 MiB, unmounted at the end of the test.
struct Small(tempfile::TempDir);

impl Small {
    fn new() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        match mount("qdepth-test", directory.path(), "tmpfs", MountFlags::empty(), Some(c"size=2m"))
        {
            Ok(()) => Some(Self(directory)),
            Err(error) => {
                println!("SKIPPED: no tmpfs can be mounted here: {error}");
                None
            }
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Free bytes.
    fn free(&self) -> u64 {
        let found = rustix::fs::statvfs(self.path()).unwrap();
        found.f_bfree * found.f_frsize
    }

    /// Fills the file system completely.
    fn fill(&self, name: &str) {
        use std::io::Write;
        let mut file = std::fs::File::create(self.path().join(name)).unwrap();
        while file.write(&[1; 4096]).is_ok_and(|written| written > 0) {}
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = unmount(self.path(), UnmountFlags::DETACH);
    }
}

/// Adds points until the disk is full; returns the number of stored points, and true if the last
/// one needed the reserve.
fn until_full(logbook: &mut Logbook) -> (u32, bool) {
    for index in 0..10_000 {
        match logbook.add_point(ID, &point(index)) {
            Ok(()) => {}
            Err(LogbookError::Full { kept, .. }) => return (index + u32::from(kept), kept),
            Err(other) => panic!("{other}"),
        }
    }
    panic!("never full");
}

fn check(file: &Path, stored: u32) {
    let logbook = Logbook::open_read_only(file).unwrap();
    assert_eq!(logbook.points(ID).unwrap(), (0..stored).map(point).collect::<Vec<_>>());
    assert!(logbook.check().unwrap().is_whole());
}

#[test]
fn full_disk_releases_reserve_and_keeps_every_point() {
    let Some(small) = Small::new() else { return };
    let file = small.path().join("qdepth.db");
    let mut logbook = Logbook::open(&file).unwrap();
    let before = small.free();
    logbook.reserve(512 << 10).unwrap();
    assert_eq!(before - small.free(), 512 << 10, "the space is taken, by a file without a name");
    logbook.begin_run(&run(ID)).unwrap();
    let (stored, kept) = until_full(&mut logbook);
    assert!(kept && stored > 5, "{stored} {kept}");
    assert!(small.free() > 0, "the reserve was not given up");
    logbook.end_run(ID, RunState::Failed, END, &[]).unwrap();

    // While the writer is still open, the rest of the disk fills up.
    small.fill("others");
    assert_eq!(Logbook::open_read_only(&file).unwrap().points(ID).unwrap().len() as u32, stored);
    drop(logbook);
    small.fill("more");
    check(&file, stored);
    assert_eq!(Logbook::open_read_only(&file).unwrap().run(ID).unwrap().state, RunState::Failed);
}

#[test]
fn full_disk_without_reserve_keeps_earlier_points() {
    let Some(small) = Small::new() else { return };
    let file = small.path().join("qdepth.db");
    let mut logbook = Logbook::open(&file).unwrap();
    logbook.begin_run(&run(ID)).unwrap();
    let (stored, kept) = until_full(&mut logbook);
    assert!(!kept && stored > 5, "{stored} {kept}");
    small.fill("others");
    assert_eq!(Logbook::open_read_only(&file).unwrap().points(ID).unwrap().len() as u32, stored);
    drop(logbook);
    small.fill("more");
    check(&file, stored);
}

#[test]
fn killed_writer_on_full_disk_leaves_readable_logbook() {
    let Some(small) = Small::new() else { return };
    let file = small.path().join("qdepth.db");
    let mut logbook = Logbook::open(&file).unwrap();
    logbook.begin_run(&run(ID)).unwrap();
    let (stored, _) = until_full(&mut logbook);
    small.fill("others");
    // State after SIGKILL and a restart: file and log exist, the shared memory is gone. The copy is
    // on another small disk that is full as well.
    let Some(other) = Small::new() else { return };
    let copy = other.path().join("qdepth.db");
    for ending in ["", "-wal"] {
        let from = small.path().join(format!("qdepth.db{ending}"));
        std::fs::copy(from, other.path().join(format!("qdepth.db{ending}"))).unwrap();
    }
    other.fill("others");
    check(&copy, stored);
}

#[test]
fn missing_space_for_reserve_is_reported_before_measurement() {
    let Some(small) = Small::new() else { return };
    let mut logbook = Logbook::open(small.path().join("qdepth.db")).unwrap();
    let error = logbook.reserve(4 << 20).expect_err("2 MiB hold no 4 MiB");
    assert!(matches!(error, LogbookError::Full { .. }), "{error}");
    assert!(small.free() > 1 << 20, "half a reserve fills the disk that it is to protect");
    logbook.begin_run(&run(ID)).unwrap();
}

#[test]
fn open_on_full_disk_reports_missing_space() {
    let Some(small) = Small::new() else { return };
    small.fill("others");
    let error = Logbook::open(small.path().join("qdepth.db")).expect_err("no room");
    assert!(matches!(error, LogbookError::Full { .. }), "{error}");
}
