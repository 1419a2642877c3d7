//! Foreign writes to qdepth's files, at any offset and by any method, are never overwritten.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use qdepth_host::label::Label;
use qdepth_host::measurement_file::{self, NAME, Wanted};
use qdepth_host::own_files::{self, Naming, OwnFiles};
use qdepth_host::system::System;
use qdepth_host::target::inspect;
use qdepth_host::{Guard, Problem};
use qdepth_measure::SplitMix;

const SIZE: u64 = 1 << 20;
const OWN: &str = "testfile.00000003";

/// Kind of qdepth's file that receives foreign bytes.
#[derive(Clone, Copy, Debug)]
enum Ours {
    /// A measurement file that is kept.
    Kept,
    /// A measurement file whose run was killed while filling it.
    Killed,
    /// A file of a bandwidth run that was killed.
    OwnFile,
}

const WAYS: [&str; 8] = [
    "write",
    "write and set the time",
    "map",
    "append",
    "truncate",
    "copy over",
    "zeros",
    "rename",
];

#[cfg(test)]
fn create(directory: &Path, size_bytes: u64) -> Result<(), Problem> {
    let system = System::real();
    let target = inspect(&system, directory)?;
    let (run_id, now) = ("test", Timestamp::now());
    let wanted = Wanted { size_bytes, run_id, now, keep: true, direct: false };
    let cleared = measurement_file::clear(&system, &target, &wanted, 0)?;
    cleared.make(&wanted, &mut |_| ControlFlow::Continue(())).map(drop)
}

#[cfg(test)]
fn own_files(directory: &Path, run_id: &str) -> Result<OwnFiles, Problem> {
    let system = System::real();
    let target = inspect(&system, directory)?;
    let naming = Naming { stem: "testfile".into(), first: 0, stride: 1, suffix: String::new() };
    let wanted = own_files::Wanted { size_bytes: SIZE, run_id, naming, writes: true, keep: true };
    own_files::clear(&system, &target, &wanted, 0)
}

/// Creates a file of this kind, and returns its path.
#[cfg(test)]
fn make(directory: &Path, ours: Ours) -> PathBuf {
    if let Ours::OwnFile = ours {
        let mut files = own_files(directory, "first").unwrap();
        let file = files.create(OWN, false).unwrap();
        files.fill(&file, OWN, SIZE).unwrap();
        return directory.join(OWN);
    }
    create(directory, SIZE).unwrap();
    let path = directory.join(NAME);
    if let Ours::Killed = ours {
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let mut label = Label::read_at(&file, SIZE).unwrap().unwrap();
        label.complete = false;
        file.write_all_at(&label.encode(), SIZE).unwrap();
    }
    path
}

/// Writes foreign bytes to a file, with or without a label at its end.
#[cfg(test)]
fn dirty(path: &Path, way: &str, draws: &mut SplitMix) {
    let file = File::options().read(true).write(true).open(path).unwrap();
    let then = file.metadata().unwrap().modified().unwrap();
    let length = file.metadata().unwrap().len();
    let wanted = 1 << (draws.draw() % 18);
    let at = draws.draw() % SIZE;
    let count = wanted.min(SIZE - at);
    let mut bytes = vec![0; count as usize];
    let text = draws.draw().is_multiple_of(2);
    for byte in &mut bytes {
        *byte = if text { b'a' + (draws.draw() % 26) as u8 } else { draws.draw() as u8 };
    }
    // The new byte must differ from the present one.
    let mut is_there = [0];
    file.read_exact_at(&mut is_there, at).unwrap();
    bytes[0] = !is_there[0];
    match way {
        "write" => file.write_all_at(&bytes, at).unwrap(),
        "write and set the time" => {
            file.write_all_at(&bytes, at).unwrap();
            file.set_modified(then).unwrap();
        }
        "map" => map(path, at, &bytes),
        "append" => file.write_all_at(&bytes, length).unwrap(),
        "truncate" => {
            file.set_len(0).unwrap();
            file.write_all_at(&bytes, 0).unwrap();
        }
        "copy over" => fs::write(path, &bytes).unwrap(),
        "zeros" => {
            let zeros = vec![0; (count as usize).max(512)];
            let at = at.min(SIZE - zeros.len() as u64);
            file.write_all_at(&zeros, at).unwrap();
        }
        _ => {
            let other = path.with_file_name("disk.img");
            fs::copy(path, &other).unwrap();
            fs::remove_file(path).unwrap();
            fs::rename(&other, path).unwrap();
        }
    }
}

/// Writes through a memory mapping.
#[cfg(test)]
fn map(path: &Path, at: u64, bytes: &[u8]) {
    let patch = path.with_file_name("patch");
    fs::write(&patch, bytes).unwrap();
    let (path, patch) = (path.display().to_string(), patch.display().to_string());
    let script = "import mmap, sys\nwith open(sys.argv[1], 'r+b') as f, open(sys.argv[2], 'rb') as \
                  p:\n m = mmap.mmap(f.fileno(), 0)\n b = p.read()\n a = int(sys.argv[3])\n m[a:a \
                  + len(b)] = b";
    let output = System::real().run("python3", &["-c", script, &path, &patch, &at.to_string()]);
    assert_eq!(output.unwrap().status, Some(0));
    fs::remove_file(&patch).unwrap();
}

#[cfg(test)]
fn use_again(directory: &Path, ours: Ours) -> Result<(), Problem> {
    match ours {
        Ours::Kept | Ours::Killed => create(directory, SIZE),
        Ours::OwnFile => own_files(directory, "second")?.create(OWN, false).map(drop),
    }
}

/// Runs `QDEPTH_TRIES` random cases, or a few by default.
#[test]
fn foreign_bytes_in_own_files_are_never_overwritten() {
    let tries: u64 =
        std::env::var("QDEPTH_TRIES").ok().and_then(|text| text.parse().ok()).unwrap_or(72);
    let mut draws = SplitMix(36);
    for round in 0..tries {
        let ours = [Ours::Kept, Ours::Killed, Ours::OwnFile][round as usize % 3];
        let way = WAYS[(round / 3) as usize % WAYS.len()];
        let dir = tempfile::tempdir().unwrap();
        let path = make(dir.path(), ours);
        if round.is_multiple_of(7) {
            use_again(dir.path(), ours).unwrap_or_else(|e| panic!("{ours:?} as it was: {e}"));
            fs::remove_file(&path).unwrap();
            make(dir.path(), ours);
        }
        dirty(&path, way, &mut draws);
        let before = fs::read(&path).unwrap();
        match use_again(dir.path(), ours) {
            Err(Problem::Refused(refusal)) => {
                assert_eq!(refusal.guard, Guard::G8Ownership, "{ours:?} {way}: {refusal}");
                assert!(refusal.to_string().contains(&path.display().to_string()), "{refusal}");
            }
            other => panic!("{ours:?} {way}, round {round}: {other:?}"),
        }
        assert!(fs::read(&path).unwrap() == before, "{ours:?} {way}, round {round}");
    }
    println!("TRIES foreign-writes {tries} overwritten=0");
}

/// Writes foreign bytes in an instant, without leaving the file open.
#[cfg(test)]
fn write_briefly(path: &Path) {
    let file = File::options().write(true).open(path).unwrap();
    file.write_all_at(b"PRECIOUS", 4096).unwrap();
}

#[cfg(test)]
fn is_precious(path: &Path) -> bool {
    fs::read(path).unwrap()[4096..].starts_with(b"PRECIOUS")
}

#[test]
fn left_file_written_after_its_check_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = make(dir.path(), Ours::OwnFile);
    let mut files = own_files(dir.path(), "second").unwrap();
    write_briefly(&path);
    let Err(Problem::Refused(refusal)) = files.create(OWN, false) else { panic!("replaced") };
    assert_eq!(refusal.guard, Guard::G8Ownership);
    assert!(is_precious(&path));
}

#[test]
fn kept_file_written_after_its_check_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = make(dir.path(), Ours::Kept);
    let system = System::real();
    let target = inspect(&system, dir.path()).unwrap();
    let (run_id, now) = ("test", Timestamp::now());
    let wanted = Wanted { size_bytes: SIZE, run_id, now, keep: true, direct: false };
    let cleared = measurement_file::clear(&system, &target, &wanted, 0).unwrap();
    write_briefly(&path);
    let made = cleared.make(&wanted, &mut |_| ControlFlow::Continue(()));
    let Err(Problem::Refused(refusal)) = made else { panic!("taken") };
    assert_eq!(refusal.guard, Guard::G10Identity);
    assert!(is_precious(&path));
}
