//! Targets on storage in use, or with hidden writers: refused even with consent, without a byte
//! changed. Needs root and loop devices.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

#[cfg(test)]
#[expect(dead_code, reason = "no test file uses all of it")]
mod common;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::{Bench, MIB, checksum, claim_for_writing, has, is_root, sh};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use qdepth_host::guard::Claim;
use qdepth_host::target::inspect;
use qdepth_host::{Guard, Problem};
use rustix::fs::{Mode, OFlags};

#[cfg(test)]
const SIZE: u64 = 64 * MIB;

#[cfg(test)]
fn bench(test: &str) -> Option<Bench> {
    if is_root() && sh("losetup -f && command -v mkfs.ext4 sgdisk python3").is_ok() {
        return Some(Bench::new());
    }
    println!("SKIPPED: {test}: not root, or no loop devices, ext4 or Python");
    None
}

/// Claims a device with every consent that a refusal could request.
#[cfg(test)]
fn claim(bench: &Bench, target: &Path) -> Result<Claim, Problem> {
    let found = inspect(&bench.system, target)?;
    let consent = bench.consent(&found, &["ext4", "gpt", "PMBR", "unknown-data"]);
    claim_for_writing(&bench.system, &found, consent.as_ref(), &bench.writing())
}

/// Guard that refuses a target, or `None`; asserts that the bytes of `watched` do not change.
#[cfg(test)]
fn refusing_guard(bench: &Bench, target: &Path, watched: &[&Path]) -> Option<Guard> {
    let sums = |_: &()| watched.iter().map(|path| checksum(path)).collect::<Vec<_>>();
    let before = sums(&());
    let guard = match claim(bench, target) {
        Err(Problem::Refused(refusal)) => Some(refusal.guard),
        Err(Problem::Failed(_)) | Ok(_) => None,
    };
    assert_eq!(sums(&()), before, "{}", target.display());
    guard
}

#[cfg(test)]
fn attach_range(bench: &Bench, below: &Path, offset: u64, length: u64) -> PathBuf {
    let below = below.display();
    let node = sh(&format!("losetup -f --show -o {offset} --sizelimit {length} {below}")).unwrap();
    bench.later(format!("losetup -d {node}"));
    PathBuf::from(node)
}

/// Calls `check` with a loop device that is detached at once.
#[cfg(test)]
fn detached_after<T>(below: &Path, offset: u64, length: u64, check: impl Fn(&Path) -> T) -> T {
    let bench = Bench::new();
    check(&attach_range(&bench, below, offset, length))
}

#[test]
fn target_over_mounted_bytes_is_refused() {
    let Some(bench) = bench("mounted below") else { return };
    let image = bench.image(SIZE);
    let mounted = bench.attach(&image);
    sh(&format!("mkfs.ext4 -q {}", mounted.display())).unwrap();
    bench.mount(&mounted);
    let watched: &[&Path] = &[&image];
    let guard = |target: &Path| refusing_guard(&bench, target, watched);
    // The file through another loop device: the whole, and an unwritten part.
    assert_eq!(guard(&bench.attach(&image)), Some(Guard::G4Mounts));
    let free = attach_range(&bench, &image, SIZE / 2, 8 * MIB);
    assert_eq!(guard(&free), Some(Guard::G4Mounts));
    // The mounted device itself, and a third layer on top of that.
    let above = attach_range(&bench, &mounted, SIZE / 2, 8 * MIB);
    assert_eq!(guard(&above), Some(Guard::G4Mounts));
    assert_eq!(guard(&bench.attach(&above)), Some(Guard::G4Mounts));
}

#[test]
fn target_over_mounted_partition_is_refused() {
    let Some(bench) = bench("mounted partitions") else { return };
    let image = bench.image(SIZE);
    let disk = bench.attach(&image);
    let (first, second) = bench.partition(&disk);
    sh(&format!("mkfs.ext4 -q {}", first.display())).unwrap();
    bench.mount(&first);
    let watched: &[&Path] = &[&image];
    let free = bench.attach(&second);
    let before = checksum(&first);
    drop(claim(&bench, &free).unwrap());
    assert_eq!(checksum(&first), before);
    for below in [&disk, &first] {
        let above = bench.attach(below);
        assert_eq!(refusing_guard(&bench, &above, watched), Some(Guard::G4Mounts));
    }
}

/// The mount table shows none of these uses, but the kernel refuses a second claim.
#[test]
fn target_on_a_claimed_device_is_refused() {
    let Some(bench) = bench("claims below") else { return };
    let (image, journal) = (bench.image(SIZE), bench.image(SIZE));
    let (below, log) = (bench.attach(&image), bench.attach(&journal));
    let (node, at) = (below.display(), bench.mount_place());
    sh(&format!(
        "mke2fs -q -O journal_dev -b 4096 {0} && mkfs.ext4 -q -b 4096 -J device={0} {node} && \
         mount -o noatime,noinit_itable,commit=900 {node} {at} && echo data > {at}/kept && sync",
        log.display()
    ))
    .unwrap();
    let watched: &[&Path] = &[&image, &journal];
    let guard = |target: &Path| refusing_guard(&bench, target, watched);
    let above_log = bench.attach(&log);
    assert_eq!(guard(&above_log), Some(Guard::G2Exclusive), "external journal");
    let kept = fs::File::open(Path::new(&at).join("kept")).unwrap();
    sh(&format!("umount -l {at} && sync")).unwrap();
    let above = [(0, SIZE), (SIZE / 2, 8 * MIB)];
    for (offset, length) in above {
        let guard = detached_after(&below, offset, length, guard);
        assert_eq!(guard, Some(Guard::G2Exclusive), "unmounted lazily");
    }
    drop(kept);
    // Not e2fsck, which searches every device of the machine for the journal, also those that other
    // tests measure.
    let exclusive = || rustix::fs::open(&below, OFlags::EXCL, Mode::empty());
    let wait = |_: &_| std::thread::sleep(Duration::from_millis(100));
    let mut tries = (0..50).map(|_| exclusive().inspect_err(wait));
    drop(tries.find_map(Result::ok).expect("the kernel unmounts the file system"));
    drop(claim(&bench, &bench.attach(&below)).unwrap());
}

/// The claim of another partition does not concern a range of the disk beside it.
#[test]
fn target_beside_a_claimed_partition_is_not_refused() {
    let Some(bench) = bench("claimed partition") else { return };
    let image = bench.image(SIZE);
    let disk = bench.attach(&image);
    let (first, _) = bench.partition(&disk);
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
    let claimed = rustix::fs::open(&first, flags, Mode::empty()).unwrap();
    let beside = attach_range(&bench, &disk, 44 * MIB, 8 * MIB);
    drop(claim(&bench, &beside).unwrap());
    let guard = |target: &Path| refusing_guard(&bench, target, &[&image]);
    for (below, offset) in [(&disk, 30 * MIB), (&disk, 40 * MIB), (&first, 0)] {
        let guard = detached_after(below, offset, 4 * MIB, guard);
        assert_eq!(guard, Some(Guard::G2Exclusive), "{} at {offset}", below.display());
    }
    drop(claimed);
    drop(claim(&bench, &attach_range(&bench, &disk, 30 * MIB, 4 * MIB)).unwrap());
}

/// `LOOP_SET_STATUS64` moves a loop device without a new sequence number.
#[test]
fn loop_device_that_was_moved_is_another_device() {
    let Some(bench) = bench("moved loop devices") else { return };
    let device = attach_range(&bench, &bench.image(SIZE), 0, 16 * MIB);
    let move_to = |offset: u64| {
        let code = "import fcntl, struct, sys; f = open(sys.argv[1], 'rb'); b = bytearray(232); \
                    fcntl.ioctl(f, 0x4C05, b); struct.pack_into('Q', b, 24, int(sys.argv[2])); \
                    fcntl.ioctl(f, 0x4C04, b)";
        sh(&format!("python3 -c \"{code}\" {} {offset}", device.display())).unwrap();
    };
    let found = inspect(&bench.system, &device).unwrap();
    let consent = bench.consent(&found, &[]);
    let token = qdepth_host::consent::tokens(&bench.system, &found);
    let claimed =
        claim_for_writing(&bench.system, &found, consent.as_ref(), &bench.writing()).unwrap();
    assert_eq!(claimed.check_identity(&bench.system), Ok(()));
    move_to(32 * MIB);
    let moved = claimed.check_identity(&bench.system).unwrap_err();
    assert_eq!(moved.guard, Guard::G10Identity, "{moved}");
    drop(claimed);
    let now = inspect(&bench.system, &device).unwrap();
    assert_ne!(qdepth_host::consent::tokens(&bench.system, &now), token);
    let refused = claim_for_writing(&bench.system, &now, consent.as_ref(), &bench.writing());
    let Err(Problem::Refused(refusal)) = refused else { panic!("written by an old consent") };
    assert_eq!(refusal.guard, Guard::G10Identity, "{refusal}");
}

/// A file on an overlay and the same file in the layer that stores it have different identities.
#[test]
fn file_used_through_its_overlay_layer_is_refused() {
    let Some(bench) = bench("overlays") else { return };
    let device = bench.device(3 * SIZE);
    sh(&format!("mkfs.ext4 -q {}", device.display())).unwrap();
    let (disk, merged) = (bench.mount_place(), bench.mount_place());
    sh(&format!(
        "mount {} {disk} && cd {disk} && mkdir lower upper work && truncate -s {SIZE} lower/low \
         upper/up && mkfs.ext4 -q lower/low && mkfs.ext4 -q upper/up && \
         mount -t overlay -o \
         lowerdir={disk}/lower,upperdir={disk}/upper,workdir={disk}/work overlay {merged}",
        device.display()
    ))
    .unwrap();
    bench.later(format!("umount {disk}"));
    bench.later(format!("umount {merged}"));
    for (layer, name) in [("lower", "low"), ("upper", "up")] {
        let stored = Path::new(&disk).join(layer).join(name);
        let seen = Path::new(&merged).join(name);
        for (used, target) in [(&stored, &seen), (&seen, &stored)] {
            assert_eq!(refusing_guard(&bench, target, &[]), Some(Guard::G8Ownership));
            let node = sh(&format!("losetup -r -f --show {}", used.display())).unwrap();
            let guard = refusing_guard(&bench, target, &[&stored]);
            sh(&format!("losetup -d {node}")).unwrap();
            assert_eq!(guard, Some(Guard::G6Backing), "{}", target.display());
        }
    }
}

/// The path of a loop device's file leads elsewhere, or its overlay's options need decoding.
#[test]
fn file_of_hidden_overlay_is_refused() {
    let Some(bench) = bench("hidden overlays") else { return };
    let device = bench.device(6 * SIZE);
    sh(&format!("mkfs.ext4 -q {}", device.display())).unwrap();
    let disk = bench.mount_place();
    sh(&format!("mount {} {disk}", device.display())).unwrap();
    bench.later(format!("umount {disk}"));
    // Folder of the layers, its spelling as an option, name of the image, way to hide the overlay.
    let cases = [
        ("covered", "covered", "img", "mount -t tmpfs none"),
        ("a,b", "a\\,b", "img", ":"),
        ("a:b", "a\\:b", "img", ":"),
        ("blank", "blank", "img ", ":"),
        ("named", "named", "img (deleted)", ":"),
        ("gone", "gone", "img", "umount -l"),
    ];
    for (case, (folder, option, name, hide)) in (0..).zip(cases) {
        let (merged, size) = (bench.mount_place(), SIZE + case * 65_536);
        sh(&format!(
            "cd {disk} && mkdir {folder} && cd {folder} && mkdir lower upper work && \
             truncate -s {size} 'upper/{name}' && cd {disk} && mount -t overlay -o \
             'lowerdir={disk}/{option}/lower,upperdir={disk}/{option}/upper,\
             workdir={disk}/{option}/work' overlay {merged}"
        ))
        .unwrap();
        bench.later(format!("while mountpoint -q {merged}; do umount {merged}; done"));
        let attach = |path: &str| {
            let node = sh(&format!("losetup -f --show '{path}'")).unwrap();
            bench.later(format!("losetup -d {node}"));
            PathBuf::from(node)
        };
        attach(&format!("{merged}/{name}"));
        sh(&format!("{hide} {merged}")).unwrap();
        let target = attach(&format!("{disk}/{folder}/upper/{name}"));
        let guard = refusing_guard(&bench, &target, &[&target]);
        assert_eq!(guard, Some(Guard::G6Backing), "{folder} {name}");
    }
}

#[test]
fn file_with_mounted_file_system_is_refused() {
    let Some(bench) = bench("file-backed mounts") else { return };
    let (image, place) = (bench.fresh("erofs"), bench.fresh("mount"));
    fs::create_dir(&place).unwrap();
    let (file, at) = (image.display(), place.display());
    // `-o loop=` would make a loop device; without it the kernel reads the file itself.
    let mount = format!(
        "mkfs.erofs {file} /proc/self/fdinfo >/dev/null || mkfs.erofs {file} {at} >/dev/null; \
         python3 -c \"import ctypes,os,sys; l=ctypes.CDLL(None,use_errno=True); \
         sys.exit(l.mount(b'{file}',b'{at}',b'erofs',1,None) and ctypes.get_errno())\""
    );
    if !has("mkfs.erofs") || sh(&mount).is_err() {
        println!("SKIPPED: erofs cannot be mounted from a file");
        return;
    }
    bench.later(format!("umount {at}"));
    assert_eq!(refusing_guard(&bench, &image, &[&image]), Some(Guard::G4Mounts));
    // The kernel reports the name at the time of the mount.
    let renamed = image.with_extension("renamed");
    fs::rename(&image, &renamed).unwrap();
    fs::write(&image, [1; 4096]).unwrap();
    assert_eq!(refusing_guard(&bench, &renamed, &[&renamed]), Some(Guard::G2Exclusive));
    fs::rename(&renamed, &image).unwrap();
    let above = bench.attach(&image);
    assert_eq!(refusing_guard(&bench, &above, &[&image]), Some(Guard::G4Mounts));
}

/// Program that is killed with its test.
#[cfg(test)]
struct Writer(Child);

#[cfg(test)]
impl Writer {
    /// Runs Python code that opens `path` and then reports that it is ready.
    fn start(lines: &str, path: &Path) -> Self {
        let head = "import ctypes, mmap, os, socket, sys, threading, time\n\
                    libc = ctypes.CDLL(None)\npath = sys.argv[1]\n\
                    def ready():\n    os.write(1, b'ready')\n\
                    def register(removes):\n    node, number = path, os.stat(path).st_rdev\n    \
                    if number:\n        node = f'/tmp/a node {os.getpid()}'\n        \
                    os.mknod(node, 0o60600, number)\n    \
                    f = os.open(node, os.O_RDWR); p = ctypes.create_string_buffer(120)\n    \
                    ring = libc.syscall(425, 8, p)\n    \
                    libc.syscall(427, ring, 2, ctypes.byref(ctypes.c_int(f)), 1); os.close(f)\n    \
                    if number and removes: os.unlink(node)\n";
        let mut child = Command::new("python3")
            .args(["-c", &format!("{head}{lines}\ntime.sleep(600)\n")])
            .arg(path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdout.take().unwrap().read_exact(&mut [0; 5]).unwrap();
        Self(child)
    }
}

#[cfg(test)]
impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        let _ = fs::remove_file(format!("/tmp/a node {}", self.0.id()));
    }
}

#[cfg(test)]
const WRITERS: [(&str, &str); 9] = [
    ("descriptor", "f = os.open(path, os.O_RDWR); ready()"),
    (
        "thread whose process's first thread has ended",
        "def work():\n    f = os.open(path, os.O_RDWR); time.sleep(0.2); ready()\n    \
         time.sleep(600)\nthreading.Thread(target=work).start()\nlibc.syscall(60, 0)",
    ),
    (
        "thread with descriptors of its own",
        "def work():\n    libc.unshare(0x400)\n    f = os.open(path, os.O_RDWR); ready()\n    \
         time.sleep(600)\nthreading.Thread(target=work).start()",
    ),
    (
        "descriptor on its way",
        "a, b = socket.socketpair()\nf = os.open(path, os.O_RDWR)\n\
         socket.send_fds(a, [b'x'], [f]); os.close(f); ready()",
    ),
    (
        "mapping",
        "f = os.open(path, os.O_RDWR)\nlibc.mmap.restype = ctypes.c_void_p\n\
         libc.mmap(None, 4096, 3, 1, f, 0); os.close(f); ready()",
    ),
    (
        "mapping of a process whose first thread has ended",
        "libc.mmap.restype = ctypes.c_void_p\ndef work():\n    f = os.open(path, os.O_RDWR)\n    \
         libc.mmap(None, 4096, 3, 1, f, 0); os.close(f); time.sleep(0.2); ready()\n    \
         time.sleep(600)\nthreading.Thread(target=work).start()\nlibc.syscall(60, 0)",
    ),
    ("ring with a node whose name contains a blank", "register(False); ready()"),
    ("ring with a removed node", "register(True); ready()"),
    // `io_uring_setup`, and `io_uring_register` of the file.
    (
        "mapped ring without a descriptor",
        "f = os.open(path, os.O_RDWR)\nparameters = ctypes.create_string_buffer(120)\n\
         ring = libc.syscall(425, 8, parameters)\nfiles = ctypes.byref(ctypes.c_int(f))\n\
         libc.syscall(427, ring, 2, files, 1)\n\
         libc.mmap.restype = ctypes.c_void_p\nlibc.mmap(None, 4096, 3, 1, ring, 0)\n\
         os.close(f); os.close(ring); ready()",
    ),
];

#[test]
fn writer_of_any_kind_is_detected() {
    let Some(bench) = bench("unseen writers") else { return };
    for (name, lines) in WRITERS {
        let image = bench.image(SIZE);
        let device = bench.attach(&image);
        let file = bench.image(8 * MIB);
        for (target, opened) in [(&device, &device), (&device, &image), (&file, &file)] {
            let _writer = Writer::start(lines, opened);
            let guard = refusing_guard(&bench, target, &[&image, &file]);
            assert_eq!(guard, Some(Guard::G2Exclusive), "{name}, {}", opened.display());
        }
    }
}

#[test]
fn guard_waits_for_a_brief_writer() {
    let Some(bench) = bench("brief writers") else { return };
    let device = bench.attach(&bench.image(SIZE));
    // Like another `losetup` that searches for a free device.
    let line = "f = os.open(path, os.O_RDWR); ready(); time.sleep(0.15); os.close(f)";
    let _writer = Writer::start(line, &device);
    drop(claim(&bench, &device).unwrap());
}

#[test]
fn guard_waits_for_descriptor_in_a_socket() {
    let Some(bench) = bench("descriptors on their way") else { return };
    let device = bench.device(SIZE);
    // Like a browser whose processes wait for CPU time.
    let lines = "a, b = socket.socketpair()\nsocket.send_fds(a, [b'x'], [1]); ready()\n\
                 time.sleep(1.5); socket.recv_fds(b, 1, 1)";
    let _writer = Writer::start(lines, &device);
    drop(claim(&bench, &device).unwrap());
}

/// Two stacks of loop devices on one file. Each layer is a part (offset, length in MiB) of the
/// layer below.
#[derive(Clone, Debug)]
struct World {
    own: Vec<(u64, u64)>,
    other: Vec<(u64, u64)>,
    /// True if both stacks share the lowest device.
    is_shared: bool,
}

#[cfg(test)]
fn worlds() -> impl Strategy<Value = World> {
    let part = (0..24_u64, 4..24_u64);
    let layers = || proptest::collection::vec(part.clone(), 1..4);
    (layers(), layers(), any::<bool>()).prop_map(|(own, other, is_shared)| World {
        own,
        other,
        is_shared,
    })
}

/// Ranges of the file, in MiB, that the layers of a stack cover, from the lowest layer up.
#[cfg(test)]
fn covered(layers: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let (mut start, mut end) = (0, SIZE / MIB);
    let mut all = Vec::new();
    for (offset, length) in layers {
        start += offset;
        end = end.min(start + length);
        if start + 4 > end {
            break;
        }
        all.push((start, end));
    }
    all
}

#[cfg(test)]
fn judged(world: &World) -> Result<(), TestCaseError> {
    let bench = Bench::new();
    let image = bench.image(SIZE);
    let (own, other) = (covered(&world.own), covered(&world.other));
    let build = |ranges: &[(u64, u64)], lowest: &Path, mut base: u64| {
        let mut below = lowest.to_owned();
        for (start, end) in ranges {
            below = attach_range(&bench, &below, (start - base) * MIB, (end - start) * MIB);
            base = *start;
        }
        below
    };
    let lowest = if world.is_shared { bench.attach(&image) } else { image.clone() };
    let (Some(top), Some(_)) = (own.last(), other.first()) else { return Ok(()) };
    let target = build(&own, &lowest, 0);
    build(&other, &lowest, 0);
    let meets = other.iter().any(|(start, end)| *start < top.1 && top.0 < *end);
    let before = checksum(&image);
    let answer = claim(&bench, &target);
    prop_assert_eq!(answer.is_ok(), !meets, "{:?}: {:?}", world, answer.err());
    drop(answer);
    if meets {
        prop_assert_eq!(checksum(&image), before, "{:?}", world);
    }
    Ok(())
}

#[test]
fn guards_judge_stack_pairs_by_their_bytes() {
    if bench("drawn stacks").is_none() {
        return;
    }
    let tries = std::env::var("QDEPTH_TRIES").ok().and_then(|text| text.parse().ok());
    let tries: u32 = tries.unwrap_or(12);
    let config = Config { cases: tries, failure_persistence: None, ..Config::default() };
    TestRunner::new(config).run(&worlds(), |world| judged(&world)).unwrap();
    println!("TRIES stacks-of-loop-devices {tries} judged-wrong=0");
}
