//! Logbooks that are moved, replaced, removed or copied while a run writes to them.

use std::fs;
use std::path::{Path, PathBuf};

use qdepth_logbook::{Logbook, LogbookError};
use qdepth_record::RunState;

use crate::common::{point, run};

const ID: &str = "01890000-0000-7000-8000-000000000036";

#[cfg(test)]
fn points(file: &Path) -> usize {
    Logbook::open_read_only(file).unwrap().points(ID).unwrap().len()
}

#[cfg(test)]
fn copy_of(result: Result<(), LogbookError>) -> PathBuf {
    match result {
        Err(LogbookError::Displaced { copy, .. }) => copy,
        other => panic!("{other:?}"),
    }
}

/// New logbook without the points that were stored before.
#[cfg(test)]
fn begun_in(result: Result<(), LogbookError>) -> PathBuf {
    match result {
        Err(LogbookError::NotCopied { copy, .. }) => copy,
        other => panic!("{other:?}"),
    }
}

#[test]
fn displaced_logbook_is_copied_with_every_point() {
    for way in ["move", "remove", "replace", "remove all", "move the directory"] {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("results");
        fs::create_dir(&folder).unwrap();
        let file = folder.join("qdepth.db");
        let mut logbook = Logbook::open(&file).unwrap();
        logbook.begin_run(&run(ID)).unwrap();
        logbook.add_point(ID, &point(0)).unwrap();
        match way {
            "move" => fs::rename(&file, folder.join("old.db")).unwrap(),
            "remove" => fs::remove_file(&file).unwrap(),
            "replace" => {
                fs::write(folder.join("other"), "theirs").unwrap();
                fs::rename(folder.join("other"), &file).unwrap();
            }
            "remove all" => {
                for entry in fs::read_dir(&folder).unwrap() {
                    fs::remove_file(entry.unwrap().path()).unwrap();
                }
            }
            _ => fs::rename(&folder, parent.path().join("moved")).unwrap(),
        }
        let copy = copy_of(logbook.add_point(ID, &point(1)));
        assert_eq!(
            copy_of(logbook.end_run(ID, RunState::Failed, "2026-11-26T00:00:00Z", &[])),
            copy
        );
        drop(logbook);
        assert_eq!(points(&copy), 2, "{way}");
        let kept = Logbook::open_read_only(&copy).unwrap();
        assert!(kept.check().unwrap().is_whole(), "{way}");
        assert_eq!(kept.run(ID).unwrap().state, RunState::Failed, "{way}");
        drop(kept);
        if way == "replace" {
            assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
        }
        for ending in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(PathBuf::from(format!("{}{ending}", copy.display())));
        }
    }
}

/// The name still leads to the same inode.
#[test]
fn a_logbook_overwritten_in_place_is_reported() {
    for way in ["older copy", "emptied"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("qdepth.db");
        drop(Logbook::open(&file).unwrap());
        let older = fs::read(&file).unwrap();
        let mut logbook = Logbook::open(&file).unwrap();
        logbook.begin_run(&run(ID)).unwrap();
        logbook.add_point(ID, &point(0)).unwrap();
        fs::write(&file, if way == "emptied" { &[] } else { &*older }).unwrap();
        let copy = begun_in(logbook.add_point(ID, &point(1)));
        let ended = logbook.end_run(ID, RunState::Complete, "2026-11-26T00:00:00Z", &[]);
        assert_eq!(begun_in(ended), copy);
        assert_eq!(points(&copy), 1, "{way}");
        fs::remove_file(&copy).unwrap();
    }
}

#[test]
fn copy_without_wal_contains_every_finished_point() {
    let folder = tempfile::tempdir().unwrap();
    let (file, copy) = (folder.path().join("qdepth.db"), folder.path().join("copy.db"));
    let mut logbook = Logbook::open(&file).unwrap();
    fs::copy(&file, &copy).unwrap();
    assert!(Logbook::open_read_only(&copy).unwrap().runs().unwrap().is_empty());
    logbook.begin_run(&run(ID)).unwrap();
    for index in 0..4 {
        logbook.add_point(ID, &point(index)).unwrap();
        fs::copy(&file, &copy).unwrap();
        assert_eq!(points(&copy), index as usize + 1);
        for ending in ["-wal", "-shm"] {
            let _ = fs::remove_file(folder.path().join(format!("copy.db{ending}")));
        }
    }
}

/// State after a kill while the logbook was being created.
#[test]
fn logbook_with_missing_wal_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("qdepth.db");
    let made = rusqlite::Connection::open(&file).unwrap();
    made.pragma_update(None, "application_id", i32::from_be_bytes(*b"qdep")).unwrap();
    drop(made);
    let error = Logbook::open_read_only(&file).unwrap_err();
    assert!(error.is_absent() && error.to_string().contains("-wal file next to it"), "{error}");
}

/// File system on a loop device of its own; unmounted at the end.
#[cfg(test)]
struct Mounted {
    folder: tempfile::TempDir,
    device: String,
}

#[cfg(test)]
impl Mounted {
    /// `None`, with a line, if this user or machine cannot mount it.
    fn new() -> Option<Self> {
        Self::with("mkfs.ext4 -q", "-o errors=remount-ro")
    }

    /// File system made with this command, mounted with these options.
    fn with(make: &str, options: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().display();
        let made = shell(&format!(
            "cd {name} && mkdir at && truncate -s 400M image && {make} image && \
             node=$(losetup -f --show image) && echo $node && \
             {{ mount {options} $node at || {{ losetup -d $node; false; }}; }}"
        ));
        if made.is_none() {
            println!("SKIPPED: no file system can be mounted");
        }
        made.map(|device| Self { folder, device })
    }

    fn logbook(&self) -> PathBuf {
        self.folder.path().join("at/qdepth.db")
    }

    /// The kernel finds an error and allows no more writes.
    fn fail(&self) {
        let name = self.device.trim_start_matches("/dev/");
        fs::write(format!("/sys/fs/ext4/{name}/trigger_fs_error"), "1").unwrap();
    }

    /// Nothing can be read or written any more (`EXT4_IOC_SHUTDOWN`), as when XFS cannot write its
    /// log.
    fn shut_down(&self) {
        shell(&format!(
            "python3 -c 'import fcntl, os; \
             fcntl.ioctl(os.open(\"{}/at\", os.O_RDONLY), 0x8004587d, bytes([1, 0, 0, 0]))'",
            self.folder.path().display()
        ))
        .unwrap();
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        shell(&format!("umount {}/at; losetup -d {}", self.folder.path().display(), self.device));
    }
}

/// Output of a line of the shell, if it succeeded.
#[cfg(test)]
fn shell(line: &str) -> Option<String> {
    let output = std::process::Command::new("sh").args(["-c", line]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

#[test]
fn logbook_on_failed_storage_is_copied() {
    let Some(mounted) = Mounted::new() else { return };
    let mut logbook = Logbook::open(mounted.logbook()).unwrap();
    logbook.begin_run(&run(ID)).unwrap();
    logbook.add_point(ID, &point(0)).unwrap();
    mounted.fail();
    let copy = copy_of(logbook.add_point(ID, &point(1)));
    drop(logbook);
    assert_eq!(points(&copy), 2);
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(PathBuf::from(format!("{}{ending}", copy.display())));
    }
}

#[test]
fn logbook_on_unreadable_storage_continues_in_another_file() {
    let Some(mounted) = Mounted::new() else { return };
    let mut logbook = Logbook::open(mounted.logbook()).unwrap();
    logbook.begin_run(&run(ID)).unwrap();
    logbook.add_point(ID, &point(0)).unwrap();
    mounted.shut_down();
    let copy = begun_in(logbook.add_point(ID, &point(1)));
    assert_eq!(begun_in(logbook.end_run(ID, RunState::Failed, "2026-11-26T00:00:00Z", &[])), copy);
    drop(logbook);
    let kept = Logbook::open_read_only(&copy).unwrap();
    assert!(kept.check().unwrap().is_whole());
    assert_eq!(kept.run(ID).unwrap().state, RunState::Failed);
    let indices: Vec<u32> = kept.points(ID).unwrap().iter().map(|point| point.index).collect();
    assert_eq!(indices, [1]);
    drop(kept);
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(PathBuf::from(format!("{}{ending}", copy.display())));
    }
}

/// The kernel takes no page of a mapped file on XFS then, where ext4 takes those that were written.
#[test]
fn index_on_failed_xfs_does_not_kill_runs() {
    let Some(mounted) = Mounted::with("mkfs.xfs -q", "") else { return };
    let mut logbook = Logbook::open(mounted.logbook()).unwrap();
    logbook.begin_run(&run(ID)).unwrap();
    logbook.add_point(ID, &point(0)).unwrap();
    // After a sync, the next write to a page of the index is a fault.
    shell(&format!("sync -f {}", mounted.logbook().display())).unwrap();
    mounted.shut_down();
    let copy = begun_in(logbook.add_point(ID, &point(1)));
    assert_eq!(begun_in(logbook.add_point(ID, &point(2))), copy);
    drop(logbook);
    let kept = Logbook::open_read_only(&copy).unwrap();
    assert!(kept.check().unwrap().is_whole());
    let indices: Vec<u32> = kept.points(ID).unwrap().iter().map(|point| point.index).collect();
    assert_eq!(indices, [1, 2]);
    drop(kept);
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(PathBuf::from(format!("{}{ending}", copy.display())));
    }
}

/// Only a point is worth a new logbook: the run is in none.
#[test]
fn failed_rescue_leaves_no_empty_file() {
    let Some(mounted) = Mounted::new() else { return };
    let mut logbook = Logbook::open(mounted.logbook()).unwrap();
    mounted.shut_down();
    let before = empty_rescues();
    let error = logbook.begin_run(&run(ID)).unwrap_err();
    assert!(
        matches!(error, LogbookError::Sqlite { .. } | LogbookError::Damaged { .. }),
        "{error:?}"
    );
    // Other tests fill theirs.
    let is_left = || empty_rescues().iter().any(|path| !before.contains(path));
    for _ in 0..100 {
        if !is_left() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("{:?}", empty_rescues());
}

/// Rescued logbooks without contents in the directories where this test makes them.
#[cfg(test)]
fn empty_rescues() -> Vec<PathBuf> {
    let folders = [PathBuf::from("."), std::env::temp_dir()];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let names = entries.map(|entry| entry.unwrap().path());
    let is_empty = |path: &PathBuf| fs::metadata(path).is_ok_and(|found| found.len() == 0);
    let ours = |path: &PathBuf| path.to_string_lossy().contains("qdepth-rescued-");
    names.filter(|path| ours(path) && is_empty(path)).collect()
}

#[cfg(test)]
fn lose_eight_together() {
    let folder = tempfile::tempdir().unwrap();
    let together = std::sync::Barrier::new(8);
    let lost = &|number: usize| {
        let file = folder.path().join(format!("{number}.db"));
        let mut logbook = Logbook::open(&file).unwrap();
        logbook.begin_run(&run(ID)).unwrap();
        fs::remove_file(&file).unwrap();
        together.wait();
        copy_of(logbook.add_point(ID, &point(0)))
    };
    let mut copies: Vec<PathBuf> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|number| scope.spawn(move || lost(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(copies.iter().all(|copy| points(copy) == 1));
    copies.sort();
    copies.dedup();
    assert_eq!(copies.len(), 8);
}

#[test]
fn logbooks_lost_together_get_their_own_copies() {
    (0..6).for_each(|_| lose_eight_together());
}

/// A reader keeps the log from being brought into the file.
#[test]
fn own_log_that_removes_runs_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("qdepth.db");
    let next = "01890000-0000-7000-8000-000000000037";
    Logbook::open(&file).unwrap().begin_run(&run(ID)).unwrap();
    let reader = rusqlite::Connection::open(&file).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM run").unwrap();
    let mut logbook = Logbook::open(&file).unwrap();
    logbook.end_run(ID, RunState::Complete, "2026-11-26T00:00:00Z", &[]).unwrap();
    logbook.begin_run(&run(next)).unwrap();
    logbook.prune(&[ID.to_owned()]).unwrap();
    drop(logbook);
    let runs = Logbook::open_read_only(&file).unwrap().listed(9, 0, |_| true).unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!(Logbook::open(&file).unwrap().run(next).unwrap().id, next);
}

#[test]
fn log_of_another_logbook_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = ["old.db", "new.db"].map(|name| folder.path().join(name));
    let [old_log, new_log] =
        [&old, &new].map(|file| PathBuf::from(format!("{}-wal", file.display())));
    let other = "01890000-0000-7000-8000-000000000037";
    let mut held = Logbook::open(&old).unwrap();
    held.begin_run(&run(other)).unwrap();
    let mut logbook = Logbook::open(&new).unwrap();
    logbook.begin_run(&run(ID)).unwrap();
    logbook.add_point(ID, &point(0)).unwrap();
    drop(logbook);
    let before = fs::read(&new).unwrap();
    fs::copy(&old_log, &new_log).unwrap();
    let refused = [Logbook::open(&new).err(), Logbook::open_read_only(&new).err()];
    for error in refused {
        assert!(matches!(error, Some(LogbookError::ForeignSibling { .. })), "{error:?}");
    }
    assert!(fs::read(&new).unwrap() == before);
    assert_eq!(fs::read(&new_log).unwrap(), fs::read(&old_log).unwrap());
    fs::remove_file(&new_log).unwrap();
    let _ = fs::remove_file(PathBuf::from(format!("{}-shm", new.display())));
    assert_eq!(points(&new), 1);
}
