//! Measurement files on the file system of the temporary directory; needs no root.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

#[cfg(test)]
#[expect(dead_code, reason = "no test file uses all of it")]
mod common;

use common::claim_for_writing;
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt, symlink};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use qdepth_host::extents::unwritten_share;
use qdepth_host::guard::claim_read_only;
use qdepth_host::measurement_file::{self, MeasurementFile, NAME, Wanted};
use qdepth_host::system::System;
use qdepth_host::target::inspect;
use qdepth_host::{Guard, Problem, guard};

const SIZE: u64 = 9 << 20;

/// Serialises these tests: a program started by another test's guard inherits this test's files
/// between fork and exec, and looks like a writer.
#[cfg(test)]
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wanted(keep: bool) -> Wanted<'static> {
    Wanted { size_bytes: SIZE, run_id: "test", now: Timestamp::now(), keep, direct: true }
}

fn create(directory: &Path, wanted: &Wanted<'_>) -> Result<MeasurementFile, Problem> {
    let system = System::real();
    let target = inspect(&system, directory)?;
    measurement_file::clear(&system, &target, wanted, 0)?
        .make(wanted, &mut |_| ControlFlow::Continue(()))
}

#[track_caller]
fn guard_of<T>(result: Result<T, Problem>) -> Guard {
    let refusal = match result {
        Err(Problem::Refused(refusal)) => Some(refusal),
        Ok(_) | Err(Problem::Failed(_)) => None,
    };
    refusal.expect("a refusal").guard
}

#[test]
fn measurement_file_is_filled_and_removed() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let made = create(dir.path(), &wanted(false)).unwrap();
    assert_eq!((made.claim.usable.offset, made.claim.usable.length), (0, SIZE));
    assert!(!made.reused && made.path.ends_with(NAME));
    assert_eq!(unwritten_share(&made.claim.file, 0, SIZE), Some(0.0));
    let bytes = fs::read(&made.path).unwrap();
    assert_eq!(bytes.len() as u64, SIZE + 4096);
    let zeros = bytes.iter().filter(|byte| **byte == 0).count();
    assert!(zeros < bytes.len() / 100, "{zeros} zeros are no incompressible data");
    made.claim.check_identity(&System::real()).unwrap();
    made.remove().unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    drop(create(dir.path(), &wanted(false)).unwrap());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn kept_measurement_file_is_reused() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    drop(create(dir.path(), &wanted(true)).unwrap());
    let before = fs::read(dir.path().join(NAME)).unwrap();
    let again = create(dir.path(), &wanted(false)).unwrap();
    assert!(again.reused);
    drop(again);
    assert_eq!(fs::read(dir.path().join(NAME)).unwrap(), before);
    let other = create(dir.path(), &Wanted { size_bytes: 1 << 20, ..wanted(true) }).unwrap();
    assert!(!other.reused);
    assert_eq!(other.claim.usable.length, 1 << 20);
}

#[test]
fn kept_file_with_hole_is_filled_again() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    drop(create(dir.path(), &wanted(true)).unwrap());
    let punched = System::real().run(
        "fallocate",
        &["--punch-hole", "-o", "0", "-l", "1048576", &dir.path().join(NAME).display().to_string()],
    );
    if !punched.is_ok_and(|output| output.status == Some(0)) {
        println!("SKIPPED: hole in a kept file: no holes can be punched here");
        return;
    }
    let again = create(dir.path(), &wanted(true)).unwrap();
    assert!(!again.reused);
    assert_eq!(unwritten_share(&again.claim.file, 0, SIZE), Some(0.0));
}

/// Hole 6: a kept file that somebody has written to, copied or renamed no longer counts as
/// qdepth's.
#[test]
fn kept_file_with_foreign_content_is_unchanged() {
    let _one = one_at_a_time();
    let system = System::real();
    let mut tries = 0;
    for way in ["write", "write and set the time", "rename", "copy", "replace"] {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join(NAME);
        drop(create(dir.path(), &wanted(true)).unwrap());
        drop(create(dir.path(), &wanted(true)).unwrap());
        let other = dir.path().join("disk.img");
        let file = File::options().write(true).open(&place).unwrap();
        let then = file.metadata().unwrap().modified().unwrap();
        match way {
            "write" => file.write_all_at(b"thesis", 4096).unwrap(),
            "write and set the time" => {
                file.write_all_at(b"thesis", 4096).unwrap();
                file.set_modified(then + std::time::Duration::from_secs(1)).unwrap();
            }
            "rename" => fs::rename(&place, &other).unwrap(),
            "copy" => {
                fs::copy(&place, &other).unwrap();
                File::options().write(true).open(&other).unwrap().set_modified(then).unwrap();
            }
            _ => {
                fs::rename(&place, &other).unwrap();
                fs::copy(&other, &place).unwrap();
                File::options().write(true).open(&place).unwrap().set_modified(then).unwrap();
            }
        }
        drop(file);
        let path = if other.exists() && way != "replace" { other } else { place };
        let before = fs::read(&path).unwrap();
        let target = inspect(&system, &path).unwrap();
        let results = tempfile::tempdir().unwrap();
        let writing = guard::Writing {
            run_id: "test",
            now: Timestamp::now(),
            results_dir: results.path(),
            direct: false,
        };
        let refused = claim_for_writing(&system, &target, None, &writing);
        assert_eq!(guard_of(refused), Guard::G8Ownership, "{way}");
        if path.ends_with(NAME) {
            assert_eq!(guard_of(create(dir.path(), &wanted(true))), Guard::G8Ownership, "{way}");
        }
        assert_eq!(fs::read(&path).unwrap(), before, "{way}");
        tries += 1;
    }
    println!("TRIES kept-files-taken {tries} changed=0");
}

#[test]
fn second_run_in_same_directory_is_refused() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let first = create(dir.path(), &wanted(false)).unwrap();
    assert_eq!(guard_of(create(dir.path(), &wanted(false))), Guard::G2Exclusive);
    let system = System::real();
    let target = inspect(&system, &first.path).unwrap();
    assert_eq!(claim_read_only(&system, &target, false).unwrap_err().guard, Guard::G2Exclusive);
}

#[test]
fn foreign_file_with_our_name_is_unchanged() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let (place, other) = (dir.path().join(NAME), dir.path().join("thesis"));
    fs::write(&other, "twenty years of work").unwrap();
    fs::write(&place, "twenty years of work").unwrap();
    assert_eq!(guard_of(create(dir.path(), &wanted(false))), Guard::G8Ownership);
    fs::remove_file(&place).unwrap();
    symlink(&other, &place).unwrap();
    guard_of(create(dir.path(), &wanted(false)));
    fs::remove_file(&place).unwrap();
    fs::hard_link(&other, &place).unwrap();
    assert_eq!(guard_of(create(dir.path(), &wanted(false))), Guard::G8Ownership);
    assert_eq!(fs::read_to_string(&other).unwrap(), "twenty years of work");
}

#[test]
fn only_the_created_file_is_removed() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let made = create(dir.path(), &wanted(false)).unwrap();
    fs::rename(&made.path, dir.path().join("moved")).unwrap();
    fs::write(&made.path, "somebody else's").unwrap();
    let path = made.path.clone();
    assert!(made.remove().is_err());
    assert_eq!(fs::read_to_string(path).unwrap(), "somebody else's");
}

#[test]
fn stopped_fill_is_removed_and_crashed_fill_replaced() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let system = System::real();
    let target = inspect(&system, dir.path()).unwrap();
    let cleared = measurement_file::clear(&system, &target, &wanted(true), 0).unwrap();
    let stopped = cleared.make(&wanted(true), &mut |_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(Problem::Failed(_))));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);

    drop(create(dir.path(), &wanted(true)).unwrap());
    let file = File::options().read(true).write(true).open(dir.path().join(NAME)).unwrap();
    let mut label = qdepth_host::label::Label::read_at(&file, SIZE).unwrap().unwrap();
    label.complete = false;
    file.write_all_at(&label.encode(), SIZE).unwrap();
    drop(file);
    let path = dir.path().join(NAME);
    let unfinished = inspect(&system, &path).unwrap();
    let writing = guard::Writing {
        run_id: "test",
        now: Timestamp::now(),
        results_dir: dir.path(),
        direct: false,
    };
    let result = claim_for_writing(&system, &unfinished, None, &writing);
    assert_eq!(guard_of(result), Guard::G8Ownership);
    assert!(!create(dir.path(), &wanted(false)).unwrap().reused);
}

#[test]
fn named_empty_file_is_filled_and_kept() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mine");
    fs::write(&path, "").unwrap();
    let system = System::real();
    let adopt = || {
        let target = inspect(&system, &path)?;
        let mut go_on = |_| ControlFlow::Continue(());
        measurement_file::clear(&system, &target, &wanted(false), 0)?
            .make(&wanted(false), &mut go_on)
    };
    drop(adopt().unwrap());
    assert_eq!(fs::metadata(&path).unwrap().len(), SIZE + 4096);
    assert!(adopt().unwrap().reused);
    let target = inspect(&system, &path).unwrap();
    let claim = claim_read_only(&system, &target, true).unwrap();
    assert_eq!(claim.usable.length, SIZE, "the label is not a part of the area");
}

#[test]
fn no_file_without_space_or_in_system_directories() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let huge = Wanted { size_bytes: 1 << 60, ..wanted(false) };
    assert_eq!(guard_of(create(dir.path(), &huge)), Guard::G13Bounds);
    let none = Wanted { size_bytes: 4095, ..wanted(false) };
    assert_eq!(guard_of(create(dir.path(), &none)), Guard::G13Bounds);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    for place in ["/", "/etc", "/proc", "/sys", "/dev", "/usr/bin", "/proc/self/fd", "/dev/shm"] {
        assert_eq!(guard_of(create(Path::new(place), &wanted(false))), Guard::G14Place, "{place}");
    }
}

#[test]
fn sparse_file_has_its_unwritten_share() {
    let _one = one_at_a_time();
    let mut file = tempfile::tempfile().unwrap();
    file.set_len(1 << 20).unwrap();
    assert_eq!(unwritten_share(&file, 0, 1 << 20), Some(1.0));
    file.write_all_at(&[1; 1 << 19], 0).unwrap();
    assert_eq!(unwritten_share(&file, 0, 1 << 20), Some(0.5));
    assert_eq!(unwritten_share(&file, 0, 0), None);
    std::io::Write::flush(&mut file).unwrap();
}

/// Hole 11: an empty file is left to another process that writes to it, at whatever moment.
#[test]
fn empty_file_with_foreign_writer_is_unchanged() {
    let _one = one_at_a_time();
    let mut tries = 0;
    for window in ["before", "fill"] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mine");
        fs::write(&path, "").unwrap();
        let (file, ready) = (path.display().to_string(), dir.path().join("ready"));
        let line = format!(
            "exec 7>>{file}; echo precious >&7; touch {0}; for i in $(seq 100); do [ -e {0} ] \
             || exit; sleep 0.05; done",
            ready.display()
        );
        let come = {
            let ready = ready.clone();
            move || {
                let line = line.clone();
                std::thread::spawn(move || System::real().run("sh", &["-c", &line]));
                let (_sender, wait) = std::sync::mpsc::channel::<()>();
                while !ready.exists() {
                    let _ = wait.recv_timeout(std::time::Duration::from_millis(10));
                }
            }
        };
        let system = System::real();
        let target = inspect(&system, &path).unwrap();
        let system = if window == "before" {
            come();
            system
        } else {
            system.with_before_action(move |act| {
                if act == "fill" {
                    come()
                }
            })
        };
        let mut go_on = |_| ControlFlow::Continue(());
        let result = measurement_file::clear(&system, &target, &wanted(false), 0)
            .and_then(|cleared| cleared.make(&wanted(false), &mut go_on));
        let guard = guard_of(result.map(drop));
        assert!([Guard::G2Exclusive, Guard::G8Ownership].contains(&guard), "{window}: {guard}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious\n", "{window}");
        fs::remove_file(&ready).unwrap();
        tries += 1;
    }
    println!("TRIES written-empty-files {tries} lost=0");
}

/// Prints which file systems are skipped, if root or their tools are missing.
#[test]
fn file_system_without_holes_is_measured_and_cleaned() {
    let _one = one_at_a_time();
    if !common::is_root() {
        println!("SKIPPED: file systems without holes: not root");
        return;
    }
    for (name, tool, mount) in [
        ("bindfs", "bindfs", "mkdir DIR/below && bindfs DIR/below DIR/m"),
        (
            "vfat",
            "mkfs.vfat",
            "truncate -s 64M DIR/i && mkfs.vfat DIR/i && mount -o loop DIR/i DIR/m",
        ),
        ("ntfs", "mkntfs", "truncate -s 64M DIR/i && mkntfs -F DIR/i && ntfs-3g DIR/i DIR/m"),
    ] {
        let bench = common::Bench::new();
        let dir = bench.dir.path();
        let place = dir.join("m");
        fs::create_dir(&place).unwrap();
        let mounted = common::sh(&mount.replace("DIR", &dir.display().to_string()));
        if !common::has(tool) || mounted.is_err() {
            println!("SKIPPED: {name}: {mounted:?}");
            continue;
        }
        bench.later(format!("umount {}", place.display()));
        let made = create(&place, &wanted(false)).expect(name);
        assert!(!made.reused, "{name}");
        let bytes = fs::read(&made.path).unwrap();
        assert_eq!(bytes.len() as u64, SIZE + 4096, "{name}");
        assert!(!bytes.chunks(4096).any(|block| block.iter().all(|byte| *byte == 0)), "{name}");
        made.remove().unwrap();
        assert_eq!(fs::read_dir(&place).unwrap().count(), 0, "{name}");
    }
}
