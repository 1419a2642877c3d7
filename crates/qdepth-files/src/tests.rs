//! Tests with hostile names. Those that need files of another user require root.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, Uid, chownat, mkfifoat, mknodat};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, socket};
use tempfile::TempDir;

use crate::destination::Destination;
use crate::input::{Input, limit};
use crate::kept::{Kept, Trust};
use crate::{FileError, Folder, How, Lines, Output, Privacy, Socket, must_be_trusted, visible};

const NOBODY: u32 = 65534;
/// The umask is the whole process's.
static UMASK: Mutex<()> = Mutex::new(());

/// Private directory.
fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        println!("SKIPPED: another user's files can only be made as root");
    }
    root
}

fn give_to_nobody(path: &Path) {
    let (user, group) = (Some(Uid::from_raw(NOBODY)), Some(Gid::from_raw(NOBODY)));
    chownat(CWD, path, user, group, AtFlags::SYMLINK_NOFOLLOW).unwrap();
}

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Contents of a directory: name, type, data or target.
fn contents(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut all: Vec<(PathBuf, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let found = fs::symlink_metadata(&path).unwrap();
            let description = if found.is_symlink() {
                format!("link to {}", fs::read_link(&path).unwrap().display())
            } else if found.is_file() {
                format!("file of {:?}", fs::read(&path).unwrap())
            } else {
                format!("{:?} {}", found.file_type(), found.rdev())
            };
            (path, description)
        })
        .collect();
    all.sort();
    all
}

/// Asserts that a result is not written to `path` and that `folder` is unchanged.
fn refused(folder: &Path, path: &Path) -> FileError {
    let before = contents(folder);
    let answer = Output::at(path, Privacy::Private).and_then(|output| output.write(b"a result"));
    let error = answer.unwrap_err();
    assert!(matches!(error.how, How::Refused | How::Wrong), "{error:?}");
    assert_eq!(before, contents(folder), "{error}");
    let name = path.file_name().unwrap().to_string_lossy();
    assert!(error.to_string().contains(&*name), "the file is not named: {error}");
    error
}

/// Result of an earlier command.
fn result(path: &Path, text: &str) {
    Output::at(path, Privacy::Private).unwrap().write(text.as_bytes()).unwrap();
}

#[test]
fn foreign_or_changed_file_is_not_replaced() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    for name in ["notes.md", "report.pdf", "photo.jpg", "passwd", "house.typ"] {
        let text = if name == "report.pdf" { "%PDF-1.7" } else { "somebody's" };
        fs::write(at(name), text).unwrap();
        let error = refused(dir.path(), &at(name));
        assert!(error.to_string().contains("--replace"), "{error}");
    }
    // Edited in place, rewritten, and exchanged by an editor.
    type Change = fn(&Path);
    let changes: [Change; 3] = [
        |path| {
            let file = fs::File::options().write(true).open(path).unwrap();
            std::os::unix::fs::FileExt::write_all_at(&file, b"E", 0).unwrap();
        },
        |path| fs::write(path, "mine now").unwrap(),
        |path| {
            fs::write(path.with_extension("swp"), "earlier, edited").unwrap();
            fs::rename(path.with_extension("swp"), path).unwrap();
        },
    ];
    for (number, change) in changes.iter().enumerate() {
        let path = at(&format!("report-{number}.html"));
        result(&path, "earlier");
        result(&path, "later");
        change(&path);
        refused(dir.path(), &path);
    }
    // An empty file has nothing to lose.
    fs::write(at("empty"), "").unwrap();
    result(&at("empty"), "text");
}

#[test]
fn new_result_is_private_or_follows_the_umask() {
    let dir = folder();
    let _alone = UMASK.lock().unwrap();
    let umask = rustix::process::umask(Mode::from_raw_mode(0o022));
    for (privacy, mode) in
        [(Privacy::Private, 0o600), (Privacy::Public, 0o644), (Privacy::Program, 0o755)]
    {
        let path = dir.path().join(format!("{mode:o}"));
        assert_eq!(Output::at(&path, privacy).unwrap().write(b"text").unwrap(), None);
        assert_eq!((mode_of(&path), fs::read(&path).unwrap()), (mode, b"text".to_vec()));
    }
    rustix::process::umask(umask);
    assert_eq!(contents(dir.path()).len(), 3, "something was left behind");
}

#[test]
fn replaced_result_keeps_its_mode_and_is_reported() {
    let dir = folder();
    let path = dir.path().join("report.html");
    result(&path, "earlier");
    set_mode(&path, 0o640);
    let (old, held) = (fs::metadata(&path).unwrap(), fs::File::open(&path).unwrap());
    let replaced = Output::at(&path, Privacy::Private).unwrap().write(b"later").unwrap().unwrap();
    assert_eq!((replaced.bytes, replaced.written_at), (7, old.mtime()));
    assert_eq!((fs::read(&path).unwrap(), mode_of(&path)), (b"later".to_vec(), 0o640));
    assert_eq!(std::io::read_to_string(held).unwrap(), "earlier", "it was written into");
    assert_eq!(contents(dir.path()).len(), 1, "something was left behind");
}

#[test]
fn special_and_foreign_files_are_refused_as_output() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("victim"), "dear").unwrap();
    symlink(at("victim"), at("link")).unwrap();
    symlink(at("nothing"), at("dangling")).unwrap();
    fs::hard_link(at("victim"), at("second")).unwrap();
    fs::create_dir(at("directory")).unwrap();
    mkfifoat(CWD, at("fifo"), Mode::from_raw_mode(0o600)).unwrap();
    let _listener = UnixListener::bind(at("socket")).unwrap();
    fs::write(at("q.db"), b"SQLite format 3\0 and so on").unwrap();
    fs::write(at("program"), b"\x7fELF\x02\x01\x01\0").unwrap();
    fs::write(at("disk.img"), vec![0; 8192]).unwrap();
    fs::write(at("archive"), [0x1f, 0x8b, 8, 0xff]).unwrap();
    let names = [
        ("link", "symbolic link"),
        ("dangling", "symbolic link"),
        ("second", "2 names"),
        ("directory", "a directory"),
        ("fifo", "a FIFO"),
        ("socket", "a socket"),
        ("q.db", "SQLite"),
        ("program", "a program"),
        ("disk.img", "not a report or export"),
        ("archive", "not a report or export"),
    ];
    for (name, why) in names {
        let error = refused(dir.path(), &at(name));
        assert!(error.to_string().contains(why), "{error}");
        let instead = error.instead.unwrap();
        Output::at(&instead, Privacy::Private).unwrap();
    }
    for name in ["directory/", "directory/.", "directory/..", ""] {
        let error = Output::at(&at(name), Privacy::Private).unwrap_err();
        assert_eq!(error.how, How::Wrong, "{error}");
    }
    Output::at(Path::new(""), Privacy::Private).unwrap_err();
    let error = refused(dir.path(), &at("missing/report.html"));
    assert!(error.to_string().contains("mkdir -p -- "), "{error}");
    let error = Output::at(&at("victim/report.html"), Privacy::Private).unwrap_err();
    assert!(error.to_string().contains("not a directory"), "{error}");
}

#[test]
fn devices_and_kernel_files_are_unchanged() {
    if is_root() {
        let dir = folder();
        let node = dir.path().join("disk");
        let number = rustix::fs::makedev(7, 255);
        mknodat(CWD, &node, FileType::BlockDevice, Mode::from_raw_mode(0o600), number).unwrap();
        assert!(refused(dir.path(), &node).to_string().contains("a block device"));
    }
    for (name, why) in [
        ("/dev/full", "character device"),
        ("/dev/zero", "character device"),
        ("/dev/qdepth-is-no-device", "device nodes"),
        ("/proc/self/cwd/../dev/full", "link of the kernel (proc)"),
        ("/proc/self/cwd/report.html", "link of the kernel (proc)"),
        ("/proc/report.html", "a file system of the kernel (proc)"),
        ("/sys/power/state", "a file system of the kernel (sysfs)"),
        ("/dev/fd/2", "link of the kernel (proc)"),
    ] {
        let error = Output::at(Path::new(name), Privacy::Private).unwrap_err();
        assert_eq!(error.how, How::Refused, "{error}");
        assert!(error.to_string().contains(why), "{name}: {error}");
    }
}

#[test]
fn no_directory_is_created_under_dev_or_proc() {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let mut places =
        vec![("/dev", "device nodes"), ("/proc", "a file system of the kernel (proc)")];
    for mount in mounts.lines() {
        let words: Vec<&str> = mount.split(' ').collect();
        // A directory in these is a kernel object.
        if ["cgroup", "cgroup2", "configfs"].contains(&words[2]) {
            places.push((words[1], "a file system of the kernel ("));
        }
    }
    for (parent, why) in places {
        let made = Path::new(parent).join(format!("qdepth-{}", std::process::id()));
        let error = Folder::make(&made.join("below"), 0o700).unwrap_err();
        assert_eq!(error.how, How::Refused, "{error}");
        assert!(error.to_string().contains(why), "{error}");
        assert!(!made.exists(), "{}", made.display());
    }
}

#[test]
fn kept_files_and_sockets_are_refused_in_dev() {
    let path = Path::new("/dev/qdepth-is-no-device");
    let refused = [
        Kept::open_or_make(path, Trust::Data, false).unwrap_err(),
        Socket::listen(path).map(drop).unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.how, How::Refused, "{error}");
        assert!(error.to_string().contains("device nodes"), "{error}");
    }
    assert!(!path.exists());
}

#[test]
fn standard_output_and_null_device_are_valid_outputs() {
    for name in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        assert!(Output::at(Path::new(name), Privacy::Public).unwrap().is_standard(), "{name}");
        assert!(Output::file(Path::new(name), Privacy::Public).is_err(), "{name}");
    }
    let nowhere = Output::at(Path::new("/dev/null"), Privacy::Public).unwrap();
    assert_eq!(nowhere.write(b"lost").unwrap(), None);
    assert!(fs::metadata("/dev/null").unwrap().rdev() == rustix::fs::makedev(1, 3));
}

#[test]
fn links_and_files_of_other_users_are_unchanged() {
    if !is_root() {
        return;
    }
    let dir = folder();
    set_mode(dir.path(), 0o1777);
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("real")).unwrap();
    fs::write(at("theirs.html"), "theirs").unwrap();
    symlink(at("real"), at("their-link")).unwrap();
    symlink(at("real"), at("our-link")).unwrap();
    symlink("their-link", at("link-to-their-link")).unwrap();
    for name in ["theirs.html", "their-link"] {
        give_to_nobody(&at(name));
    }
    assert!(refused(dir.path(), &at("theirs.html")).to_string().contains("user 65534"));
    for name in ["their-link/report.html", "link-to-their-link/report.html"] {
        let error = refused(dir.path(), &at(name));
        assert!(error.to_string().contains("which user 65534 owns"), "{error}");
        Kept::open_or_make(&at(name), Trust::Data, false).unwrap_err();
    }
    Output::at(&at("our-link/report.html"), Privacy::Private).unwrap().write(b"ours").unwrap();
    assert_eq!(fs::read(at("real/report.html")).unwrap(), b"ours");
    set_mode(dir.path(), 0o755);
    result(&at("ours.html"), "an unchanged result of theirs");
    give_to_nobody(&at("ours.html"));
    for name in ["theirs.html", "ours.html"] {
        assert!(refused(dir.path(), &at(name)).to_string().contains("user 65534"));
    }
}

#[test]
fn file_created_after_the_check_is_not_lost() {
    type Swap = fn(&Path);
    let swaps: [(&str, Swap); 4] = [
        ("another file", |path| fs::write(path, "somebody's").unwrap()),
        ("a link", |path| symlink("/dev/null", path).unwrap()),
        ("a directory", |path| fs::create_dir(path).unwrap()),
        ("a FIFO", |path| mkfifoat(CWD, path, Mode::from_raw_mode(0o600)).unwrap()),
    ];
    for (what, swap) in swaps {
        for was_there in [false, true] {
            let dir = folder();
            let path = dir.path().join("report.html");
            if was_there {
                result(&path, "earlier");
            }
            let destination = Destination::at(&path, Privacy::Private).unwrap().unwrap();
            let mut after = Vec::new();
            let answer = destination.write_between(b"later", Privacy::Private, || {
                if was_there {
                    fs::rename(&path, dir.path().join("moved")).unwrap();
                }
                swap(&path);
                after = contents(dir.path());
            });
            let error = answer.unwrap_err();
            assert!(error.to_string().contains("changed while"), "{what}: {error}");
            let hidden = |(path, _): &(PathBuf, String)| {
                path.file_name().unwrap().to_string_lossy().starts_with(".qdepth-")
            };
            after.retain(|entry| !hidden(entry));
            assert_eq!(contents(dir.path()), after, "{what}, before: {was_there}");
        }
    }
    // The file disappears between check and change.
    let dir = folder();
    let path = dir.path().join("report.html");
    result(&path, "earlier");
    let destination = Destination::at(&path, Privacy::Private).unwrap().unwrap();
    destination
        .write_between(b"later", Privacy::Private, || fs::remove_file(&path).unwrap())
        .unwrap_err();
    assert_eq!(contents(dir.path()), []);
}

#[test]
fn directory_swapped_after_check_gets_no_result() {
    let dir = folder();
    let (mine, other) = (dir.path().join("mine"), dir.path().join("other"));
    fs::create_dir(&mine).unwrap();
    fs::create_dir(&other).unwrap();
    let output = Output::at(&mine.join("report.html"), Privacy::Private).unwrap();
    fs::rename(&mine, dir.path().join("moved")).unwrap();
    symlink(&other, &mine).unwrap();
    output.write(b"text").unwrap();
    assert_eq!(contents(&other), []);
    assert_eq!(fs::read(dir.path().join("moved/report.html")).unwrap(), b"text");
}

#[test]
fn same_path_for_two_purposes_is_refused() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    let first = Output::at(&at("a.html"), Privacy::Private).unwrap();
    let error =
        Output::at(&dir.path().join("../").join(dir.path()).join("a.html"), Privacy::Public);
    assert!(error.unwrap_err().to_string().contains("two outputs"));
    drop(first);
    Output::at(&at("a.html"), Privacy::Private).unwrap();
    let logbook = Kept::open_or_make(&at("q.db"), Trust::Data, false).unwrap();
    let again = Kept::open_or_make(&at("q.db"), Trust::Data, false).unwrap();
    drop(logbook);
    Output::at(&at("q.db"), Privacy::Private).unwrap_err();
    Kept::open_or_make(&at("q.db"), Trust::Lines, false).unwrap_err();
    let named = again.into_name(&["-wal"]).unwrap();
    Output::at(&at("q.db"), Privacy::Private).unwrap_err();
    drop(named);
    Output::at(&at("q.db"), Privacy::Private).unwrap();
    // An input of the command must not be its output.
    fs::write(at("job.fio"), "[a]\n").unwrap();
    assert_eq!(Input::file(at("job.fio"), limit::JOB).text().unwrap(), "[a]\n");
    assert!(
        refused(dir.path(), &at("job.fio")).to_string().contains("also an input of this command")
    );
    // Its output must not be an input afterwards.
    result(&at("b.html"), "text");
    let _result = Output::at(&at("b.html"), Privacy::Private).unwrap();
    let error = Input::file(at("b.html"), limit::JOB).text().unwrap_err();
    assert!(error.to_string().contains("is also an output of this command"), "{error}");
}

#[test]
fn failed_write_leaves_no_file() {
    let dir = folder();
    // Nobody may write to it. Root may, and gets an error only on a read-only file system.
    if !rustix::process::geteuid().is_root() {
        set_mode(dir.path(), 0o500);
        let error = Output::at(&dir.path().join("report.html"), Privacy::Private).unwrap_err();
        assert_eq!(error.how, How::Refused, "{error}");
        set_mode(dir.path(), 0o700);
    }
    let path = dir.path().join("report.html");
    let output = Output::at(&path, Privacy::Private).unwrap();
    // A size limit of this process would affect all tests, but a deleted directory has no room
    // either.
    fs::remove_dir(dir.path()).unwrap();
    let error = output.write(b"text").unwrap_err();
    assert_eq!((error.how, &error.path), (How::Failed, &path), "{error}");
}

#[test]
fn only_regular_files_within_size_limit_are_read() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    mkfifoat(CWD, at("fifo"), Mode::from_raw_mode(0o600)).unwrap();
    let _listener = UnixListener::bind(at("socket")).unwrap();
    fs::File::create(at("large")).unwrap().set_len(limit::PAPER.bytes + 1).unwrap();
    fs::write(at("latin1"), b"a\nb\xe9c\n").unwrap();
    symlink(at("fifo"), at("link")).unwrap();
    let cases = [
        (at("fifo"), "it is a FIFO"),
        (at("link"), "it is a FIFO"),
        (at("socket"), "it is a socket"),
        (dir.path().to_owned(), "it is a directory"),
        (at("missing"), "No such file"),
        (at("large"), "at most 1 MiB; this one has 1048577 bytes"),
        (at("latin1"), "not UTF-8 text (line 2)"),
        (PathBuf::from("/dev/zero"), "it is a character device"),
        (PathBuf::from("/proc/kmsg"), "a file of the kernel (proc)"),
        (PathBuf::from("/proc/self/mounts"), "a file of the kernel (proc)"),
    ];
    for (path, why) in cases {
        let error = Input::at(&path, limit::PAPER).text().unwrap_err();
        assert_eq!(error.how, How::Wrong, "{error}");
        assert!(error.to_string().contains(why), "{error}");
        assert!(error.to_string().contains("publisher file"), "{error}");
    }
    fs::write(at("paper"), "text").unwrap();
    symlink(at("paper"), at("to-paper")).unwrap();
    assert_eq!(Input::file(at("to-paper"), limit::PAPER).text().unwrap(), "text");
}

#[test]
fn inherited_file_descriptor_is_read() {
    use std::io::Write;
    use std::os::fd::AsRawFd;
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(b"[job]").unwrap();
    drop(writer);
    let name = format!("/dev/fd/{}", reader.as_raw_fd());
    assert_eq!(Input::at(&name, limit::JOB).text().unwrap(), "[job]");
    // Inputs that must be files refuse it.
    assert!(Input::file(&name, limit::JOB).text().is_err());
}

#[test]
fn consent_file_must_be_writable_only_by_owner() {
    let dir = folder();
    let path = dir.path().join("consent");
    fs::write(&path, "destroy = \"X\"").unwrap();
    for (mode, good) in [(0o600, true), (0o644, true), (0o664, false), (0o646, false)] {
        set_mode(&path, mode);
        let answer = Input::file(&path, limit::CONSENT).text_of_authority();
        assert_eq!(answer.is_ok(), good, "{mode:o}: {answer:?}");
        let journal = Kept::open(&path, Trust::Orders, true);
        assert_eq!(journal.is_ok(), good, "{mode:o}");
    }
    if is_root() {
        set_mode(&path, 0o600);
        give_to_nobody(&path);
        let error = Kept::open(&path, Trust::Orders, true).unwrap_err();
        assert!(error.to_string().contains("user 65534"), "{error}");
        let error = Input::file(&path, limit::CONSENT).text_of_authority().unwrap_err();
        assert!(error.to_string().contains("belongs to user 65534, not to you"), "{error}");
    }
}

#[test]
fn program_writable_by_other_users_is_not_trusted() {
    let dir = folder();
    let library = dir.path().join("opt/lib");
    fs::create_dir_all(&library).unwrap();
    let program = library.join("program");
    fs::write(&program, "#!/bin/sh").unwrap();
    set_mode(&program, 0o755);
    symlink(&library, dir.path().join("link")).unwrap();
    let ways = [program.clone(), dir.path().join("link/program"), library.join("../lib/program")];
    ways.iter().for_each(|way| must_be_trusted(way).unwrap());
    for spoilt in [&program, &library, library.parent().unwrap(), dir.path()] {
        let mode = mode_of(spoilt);
        // A private group may write.
        let group = if rustix::process::geteuid().is_root() { 0o020 } else { 0o002 };
        for bad in [group, 0o002] {
            set_mode(spoilt, mode | bad);
            for way in &ways {
                let error = must_be_trusted(way).unwrap_err();
                assert_eq!(error.how, How::Refused, "{error}");
                assert!(error.to_string().contains("chmod go-w"), "{error}");
            }
        }
        set_mode(spoilt, mode);
    }
    // Files that others may put next to it are not in its library.
    set_mode(dir.path(), 0o1777);
    must_be_trusted(&program).unwrap();
    if is_root() {
        for theirs in [&program, &library, &dir.path().join("link")] {
            give_to_nobody(theirs);
            let error = must_be_trusted(&ways[1]).unwrap_err();
            assert!(error.to_string().contains("user 65534"), "{error}");
            chownat(CWD, theirs, Some(Uid::ROOT), Some(Gid::ROOT), AtFlags::SYMLINK_NOFOLLOW)
                .unwrap();
        }
    }
}

#[test]
fn kept_file_is_private_appendable_and_removable() {
    use std::io::Write;
    let dir = folder();
    let path = dir.path().join("var/lib/undo.jsonl");
    assert!(Kept::open(&path, Trust::Orders, true).unwrap().is_none());
    let kept = Kept::open_or_make(&path, Trust::Orders, true).unwrap();
    assert_eq!((mode_of(&path), mode_of(path.parent().unwrap())), (0o600, 0o700));
    kept.add_line("one").unwrap();
    let again = Kept::open_or_make(&path, Trust::Orders, true).unwrap();
    again.file().write_all(b"two\n").unwrap();
    assert_eq!(kept.text(limit::JOURNAL).unwrap(), "one\ntwo\n");
    // Its name is removed only while it refers to this file.
    let aside = dir.path().join("aside");
    fs::rename(&path, &aside).unwrap();
    fs::write(&path, "another's").unwrap();
    assert!(!kept.is_in_place() && !kept.remove().unwrap());
    fs::rename(&aside, &path).unwrap();
    assert!(kept.is_in_place() && kept.remove().unwrap());
    assert!(!path.exists());
}

/// A child of another thread has all descriptors from its fork to its exec; this test simulates
/// that.
#[test]
fn lock_ends_with_file_despite_inherited_descriptor() {
    let dir = folder();
    let path = dir.path().join("undo.jsonl");
    let kept = Kept::open_or_make(&path, Trust::Orders, false).unwrap();
    kept.file().try_lock().unwrap();
    let of_child = kept.file().try_clone().unwrap();
    let next = Kept::open_or_make(&path, Trust::Orders, false).unwrap();
    assert!(matches!(next.file().try_lock(), Err(fs::TryLockError::WouldBlock)));
    drop(kept);
    next.file().try_lock().unwrap();
    drop(of_child);
}

#[test]
fn kept_file_is_never_device_fifo_or_hardlink() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    mkfifoat(CWD, at("fifo"), Mode::from_raw_mode(0o600)).unwrap();
    fs::write(at("victim"), "dear").unwrap();
    fs::hard_link(at("victim"), at("second")).unwrap();
    symlink("/dev/full", at("to-device")).unwrap();
    symlink(at("real.db"), at("q.db")).unwrap();
    symlink("loop", at("loop")).unwrap();
    fs::write(at("real.db"), "").unwrap();
    for name in ["fifo", "second", "to-device", "loop", "."] {
        let before = contents(dir.path());
        Kept::open_or_make(&at(name), Trust::Data, false).unwrap_err();
        Kept::open(&at(name), Trust::Data, false).unwrap_err();
        assert_eq!(contents(dir.path()), before);
    }
    // Our own link is followed, and files that belong to the target are next to the target.
    let named =
        Kept::open_or_make(&at("q.db"), Trust::Data, false).unwrap().into_name(&[]).unwrap();
    assert_eq!(named.path(), at("real.db").canonicalize().unwrap());
    let lock = named.beside(".running-1").unwrap();
    assert!(lock.is_in_place());
    mkfifoat(CWD, at("real.db.running-2"), Mode::from_raw_mode(0o600)).unwrap();
    assert_eq!(named.all_beside(".running-").unwrap().len(), 1);
    symlink("/dev/full", at("real.db-wal")).unwrap();
    let kept = Kept::open_or_make(&at("q.db"), Trust::Data, false).unwrap();
    assert!(kept.into_name(&["-wal"]).unwrap_err().to_string().contains("real.db-wal"));
}

#[test]
fn nameless_file_has_no_directory_entry() {
    let dir = folder();
    let file = Folder::open(dir.path()).unwrap().nameless().unwrap();
    file.set_len(4096).unwrap();
    assert_eq!((file.metadata().unwrap().nlink(), contents(dir.path())), (0, vec![]));
}

#[test]
fn socket_replaces_only_an_unused_socket() {
    let dir = folder();
    let path = dir.path().join("nbd.sock");
    let alone = UMASK.lock().unwrap();
    let umask = rustix::process::umask(Mode::from_raw_mode(0));
    let bound = Socket::listen(&path);
    rustix::process::umask(umask);
    drop(alone);
    let (served, listener) = bound.unwrap();
    assert_eq!(mode_of(&path), 0o600);
    UnixStream::connect(&path).unwrap();
    let error = Socket::listen(&path).unwrap_err();
    assert!(error.to_string().contains("a process is using it"), "{error}");
    // After a kill, the listener is gone, but its name is not.
    drop(listener);
    std::mem::forget(served);
    let (served, _listener) = Socket::listen(&path).unwrap();
    UnixStream::connect(&path).unwrap();
    served.remove().unwrap();
    assert_eq!(contents(dir.path()), []);
    // Bound by a live process, of any kind, listening or not, by an absolute path or another.
    for kind in [SocketType::STREAM, SocketType::DGRAM, SocketType::SEQPACKET] {
        let other = socket(AddressFamily::UNIX, kind, None).unwrap();
        bind(&other, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        assert_eq!(Socket::listen(&path).unwrap_err().how, How::Refused, "{kind:?}");
        assert!(path.exists());
        fs::remove_file(&path).unwrap();
    }
    // If serving does not start, the name is removed, too.
    drop(Socket::listen(&path).unwrap());
    assert_eq!(contents(dir.path()), []);
    for name in ["file", "link"] {
        let path = dir.path().join(name);
        if name == "file" {
            fs::write(&path, "dear").unwrap();
        } else {
            symlink("file", &path).unwrap();
        }
        let before = contents(dir.path());
        assert_eq!(Socket::listen(&path).unwrap_err().how, How::Refused);
        assert_eq!(contents(dir.path()), before);
    }
}

#[test]
fn control_characters_are_escaped_for_the_terminal() {
    let evil = "disk\x1b[2J\x07\u{9b}31m\r\n\t\u{202e}gnp.exe\u{200b}\u{7f}é日本";
    assert_eq!(
        visible(evil, Lines::One),
        "disk\\x1b[2J\\x07\\u{9b}31m\\r\\n\\t\\u{202e}gnp.exe\\u{200b}\\x7fé日本"
    );
    assert_eq!(visible("a\n\tb\r", Lines::Many), "a\n\tb\\r");
    assert!(matches!(visible("plain µs\n", Lines::Many), std::borrow::Cow::Borrowed(_)));
}
