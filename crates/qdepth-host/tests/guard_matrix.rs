//! Guards on real devices: for every kind of use and every name of the target, the right guard
//! refuses and no byte changes; blank devices are accepted. Needs root; cases that cannot run here
//! print `SKIPPED: case: reason`.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

#[cfg(test)]
mod common;
#[cfg(test)]
mod matrix_cases;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use common::{Bench, MIB, checksum, claim_for_writing, has, is_root, refused, sh};
use matrix_cases::{CASES, Prepared};
use qdepth_host::Guard;
use qdepth_host::guard::{Direct, claim_read_only};
use qdepth_host::label::RESERVED_BYTES;
use qdepth_host::target::inspect;

/// The cases inspect the whole machine, so they must not run concurrently.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[cfg(test)]
fn bench(case: &str) -> Option<(MutexGuard<'static, ()>, Bench)> {
    if !is_root() {
        println!("SKIPPED: {case}: not root");
        return None;
    }
    if !has("losetup") || sh("losetup -f").is_err() {
        println!("SKIPPED: {case}: no loop devices here");
        return None;
    }
    let lock = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    Some((lock, Bench::new()))
}

#[test]
fn storage_in_use_is_refused_under_every_name() {
    if !is_root() {
        println!("SKIPPED: matrix: not root");
        return;
    }
    let (mut wrong, mut passed, mut skipped) = (Vec::new(), 0, 0);
    for case in CASES {
        let Some((_lock, bench)) = bench(case.name) else {
            skipped += 1;
            continue;
        };
        let missing: Vec<_> = case.tools.iter().filter(|tool| !has(tool)).collect();
        if !missing.is_empty() {
            println!("SKIPPED: {}: not installed: {missing:?}", case.name);
            skipped += 1;
            continue;
        }
        match (case.prepare)(&bench) {
            Ok(prepared) => match run_case(&bench, case.name, case.guard, &prepared) {
                Ok(spellings) => passed += spellings,
                Err(what) => wrong.push(what),
            },
            Err(reason) => {
                println!("SKIPPED: {}: {reason}", case.name);
                skipped += 1;
            }
        }
    }
    println!("matrix: {} cases, {skipped} skipped, {passed} refusals checked", CASES.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[cfg(test)]
fn run_case(bench: &Bench, name: &str, guard: Guard, case: &Prepared) -> Result<usize, String> {
    let before = case.checksum();
    let spellings = bench.spellings(&case.target);
    for (spelling, path, _fd) in &spellings {
        let (by, message) = refused(bench.claim(path, case.consent))
            .map_err(|error| format!("{name}, {spelling}: {error}"))?;
        if by != guard {
            return Err(format!("{name}, {spelling}: expected {guard}, {message}"));
        }
        if *spelling == "kernel name" {
            println!("REFUSED: {name}: {message}");
        }
    }
    if case.checksum() != before {
        return Err(format!("{name}: the bytes changed"));
    }
    Ok(spellings.len())
}

#[test]
fn labelled_device_needs_only_consent_per_run() {
    let Some((_lock, bench)) = bench("blank devices") else { return };
    for size in [4 * MIB, 5 * MIB + 512, 33 * MIB + 4096, 64 * MIB, 300 * MIB] {
        let image = bench.image(size);
        let device = bench.attach(&image);
        let size = fs::metadata(&image).unwrap().len();
        for (spelling, path, _fd) in bench.spellings(&device) {
            fs::write(&image, []).unwrap();
            File::options().write(true).open(&image).unwrap().set_len(size).unwrap();
            sh(&format!("blockdev --flushbufs {}", device.display())).unwrap();
            let claim =
                bench.claim(&path, true).unwrap_or_else(|e| panic!("{size} {spelling}: {e}"));
            assert!(claim.writable && claim.is_exclusive());
            assert_eq!(claim.direct, Direct::Yes);
            assert_eq!(claim.usable.offset, RESERVED_BYTES);
            assert!(claim.usable.offset + claim.usable.length + RESERVED_BYTES <= size);
            claim.check_identity(&bench.system).unwrap();
            write_everywhere(&claim);
            drop(claim);
            assert_eq!(refused(bench.claim(&path, false)).unwrap().0, Guard::G9Consent);
            bench.claim(&path, true).unwrap_or_else(|e| panic!("{spelling}: {e}"));
        }
    }
}

#[cfg(test)]
/// Fills the usable area's first and last 4 KiB, as a run would.
fn write_everywhere(claim: &qdepth_host::guard::Claim) {
    let file = File::from(claim.file.try_clone().unwrap());
    let mut bytes = vec![0; 8192];
    let start = bytes.as_ptr().align_offset(4096);
    let block = &mut bytes[start..start + 4096];
    qdepth_measure::pattern::Pattern::new(90).fill(block, 0.0);
    file.write_all_at(block, claim.usable.offset).unwrap();
    file.write_all_at(block, claim.usable.offset + claim.usable.length - 4096).unwrap();
}

#[test]
fn free_partition_next_to_mounted_is_accepted() {
    let Some((_lock, bench)) = bench("free partition") else { return };
    if !has("sgdisk") || !has("mkfs.ext4") {
        println!("SKIPPED: free partition: sgdisk or mkfs.ext4 not installed");
        return;
    }
    let device = bench.device(64 * MIB);
    let (first, second) = bench.partition(&device);
    sh(&format!("mkfs.ext4 -q {}", first.display())).unwrap();
    bench.mount(&first);
    let before = checksum(&first);
    let claim = bench.claim(&second, true).unwrap();
    assert_eq!(claim.usable.length, 8 * MIB);
    write_everywhere(&claim);
    drop(claim);
    assert_eq!(checksum(&first), before);
}

#[test]
fn consent_covers_only_the_identified_device() {
    let Some((_lock, bench)) = bench("consent") else { return };
    let (image, other) = (bench.image(64 * MIB), bench.image(64 * MIB));
    let device = bench.attach_apart(&image);
    let before = (checksum(&image), checksum(&other));
    assert_eq!(refused(bench.claim(&device, false)).unwrap().0, Guard::G9Consent);

    let old = inspect(&bench.system, &device).unwrap();
    let consent = bench.consent(&old, &[]);
    let node = device.display();
    sh(&format!("losetup -d {node} && losetup {node} {}", other.display())).unwrap();
    // Same node and size, but another device: inspected again, and with the earlier inspection.
    let new = inspect(&bench.system, &device).unwrap();
    for target in [&new, &old] {
        let result = claim_for_writing(&bench.system, target, consent.as_ref(), &bench.writing());
        assert_eq!(refused(result).unwrap().0, Guard::G10Identity);
    }
    assert_eq!((checksum(&image), checksum(&other)), before);
}

#[test]
fn shrunk_device_is_detected_before_and_during_run() {
    let Some((_lock, bench)) = bench("shrunk device") else { return };
    let image = bench.image(64 * MIB);
    let device = bench.attach(&image);
    let shrink = |size: u64| {
        File::options().write(true).open(&image).unwrap().set_len(size).unwrap();
        sh(&format!("losetup -c {}", device.display())).unwrap();
    };
    let old = inspect(&bench.system, &device).unwrap();
    let consent = bench.consent(&old, &[]);
    shrink(32 * MIB);
    let before = checksum(&image);
    let result = claim_for_writing(&bench.system, &old, consent.as_ref(), &bench.writing());
    assert_eq!(refused(result).unwrap().0, Guard::G10Identity);
    assert_eq!(checksum(&image), before);

    let claim = bench.claim(&device, true).unwrap();
    shrink(16 * MIB);
    assert_eq!(claim.check_identity(&bench.system).unwrap_err().guard, Guard::G10Identity);
    assert!(!claim.is_gone(&bench.system), "it is smaller, and there");
    shrink(0);
    assert!(claim.is_gone(&bench.system));
    shrink(16 * MIB);
    drop(claim);
    // The label at the end was cut off, so the device counts as unknown again.
    assert_eq!(refused(bench.claim(&device, false)).unwrap().0, Guard::G9Consent);
}

#[test]
fn claim_excludes_other_writers() {
    let Some((_lock, bench)) = bench("exclusive claim") else { return };
    let device = bench.device(64 * MIB);
    let claim = bench.claim(&device, true).unwrap();
    assert_eq!(refused(bench.claim(&device, true)).unwrap().0, Guard::G2Exclusive);
    let target = inspect(&bench.system, &device).unwrap();
    let reading = claim_read_only(&bench.system, &target, true);
    assert_eq!(reading.unwrap_err().guard, Guard::G2Exclusive);
    assert!(sh(&format!("mkfs.ext4 -q {}", device.display())).is_err());
    drop(claim);
    claim_read_only(&bench.system, &target, true).unwrap();
}

#[test]
fn file_system_over_label_needs_overwrite_consent() {
    let Some((_lock, bench)) = bench("file system over label") else { return };
    for (tool, size) in [("mkfs.ext4 -q", 64), ("mkfs.xfs -q", 300), ("mkswap", 64)] {
        if !has(tool.split(' ').next().unwrap()) {
            println!("SKIPPED: {tool} over label: not installed");
            continue;
        }
        let device = bench.device(size * MIB);
        drop(bench.claim(&device, true).unwrap());
        sh(&format!("{tool} {}", device.display())).unwrap();
        let before = checksum(&device);
        let (guard, message) = refused(bench.claim(&device, false)).unwrap();
        assert!([Guard::G7Contents, Guard::G9Consent].contains(&guard), "{tool}: {message}");
        let (guard, message) = refused(bench.claim(&device, true)).unwrap();
        assert_eq!(guard, Guard::G7Contents, "{tool}: {message}");
        assert_eq!(checksum(&device), before);
    }
}

/// Consent to a device does not cover foreign writes between the labels, by any method.
#[test]
fn foreign_writes_between_labels_must_be_named() {
    let Some((_lock, bench)) = bench("between the labels") else { return };
    let mut tries = 0;
    for way in [
        "mkfs.ext4 -q -E offset=8388608 NODE 32m",
        "dd if=/dev/urandom of=NODE bs=1M seek=1 count=4 conv=notrunc status=none",
        "dd if=/dev/urandom of=NODE bs=4k seek=5000 count=1 conv=notrunc status=none",
        "dd if=/dev/urandom of=NODE bs=512 seek=40000 count=1 oflag=direct status=none",
        "l=$(losetup -f --show -o 4194304 --sizelimit 33554432 NODE) && mkfs.ext4 -q $l && losetup \
         -d $l",
        "dd if=/dev/urandom of=IMAGE bs=1M seek=1 count=62 conv=notrunc status=none",
    ] {
        let image = bench.image(64 * MIB);
        let device = bench.attach(&image);
        let claim = bench.claim(&device, true).unwrap();
        write_everywhere(&claim);
        drop(claim);
        // Without foreign writes, nothing needs to be named.
        drop(bench.claim(&device, true).unwrap_or_else(|error| panic!("{way}: {error}")));
        let way = way.replace("NODE", &device.display().to_string());
        sh(&way.replace("IMAGE", &image.display().to_string())).unwrap();
        sh(&format!("blockdev --flushbufs {}", device.display())).unwrap();
        let before = checksum(&device);
        let (guard, message) = refused(bench.claim(&device, false)).unwrap();
        assert_eq!(guard, Guard::G9Consent, "{way}: {message}");
        let (guard, message) = refused(bench.claim(&device, true)).unwrap();
        assert_eq!(guard, Guard::G7Contents, "{way}: {message}");
        assert_eq!(checksum(&device), before, "{way}");
        tries += 1;
    }
    println!("TRIES written-between-labels {tries} changed=0");
}

/// The guards ask the kernel for a loop device's backing file: another device of the same length,
/// or a deleted file, is no reason to refuse this one.
#[test]
fn loop_devices_of_equal_length_do_not_conflict() {
    let Some((_lock, bench)) = bench("same length") else { return };
    let (below, free) = (bench.device(64 * MIB), bench.device(64 * MIB));
    let node = bench.fresh("node");
    sh(&format!("cp -a {} {}", below.display(), node.display())).unwrap();
    bench.attach(&node);
    fs::remove_file(&node).unwrap();
    let deleted = bench.image(64 * MIB);
    bench.attach(&deleted);
    fs::remove_file(&deleted).unwrap();
    let (guard, message) = refused(bench.claim(&below, true)).unwrap();
    assert_eq!(guard, Guard::G6Backing, "{message}");
    assert!(!message.contains("as far as its size tells"), "{message}");
    bench.claim(&free, true).unwrap();
}

#[test]
fn consent_must_name_the_lost_data() {
    let Some((_lock, bench)) = bench("override") else { return };
    let device = bench.device(64 * MIB);
    sh(&format!("mkfs.ext4 -q {}", device.display())).unwrap();
    let target = inspect(&bench.system, &device).unwrap();
    for names in [&["data"][..], &["xfs"], &["yes"], &[]] {
        let consent = bench.consent(&target, names);
        let result = claim_for_writing(&bench.system, &target, consent.as_ref(), &bench.writing());
        assert_eq!(refused(result).unwrap().0, Guard::G7Contents);
    }
    let consent = bench.consent(&target, &["ext4"]);
    claim_for_writing(&bench.system, &target, consent.as_ref(), &bench.writing()).unwrap();
    // A second run of the same command finds remains of the file system; a different run must name
    // them.
    claim_for_writing(&bench.system, &target, consent.as_ref(), &bench.writing()).unwrap();
    assert_eq!(refused(bench.claim(&device, true)).unwrap().0, Guard::G7Contents);
}

#[test]
fn mounted_device_can_be_claimed_for_reading() {
    let Some((_lock, bench)) = bench("read a mounted device") else { return };
    let device = bench.device(64 * MIB);
    sh(&format!("mkfs.ext4 -q {}", device.display())).unwrap();
    bench.mount(&device);
    let target = inspect(&bench.system, &device).unwrap();
    let claim = claim_read_only(&bench.system, &target, true).unwrap();
    assert_eq!(claim.usable.length, 64 * MIB);
    let file = File::from(claim.file);
    assert!(file.write_at(&[0; 4096], 0).is_err());
}

#[test]
fn special_and_absent_paths_are_refused() {
    let system = qdepth_host::system::System::real();
    for path in ["/dev/null", "/dev/zero", "/dev/mem", "/no/such/thing", "/dev/tty"] {
        let refusal = inspect(&system, Path::new(path)).unwrap_err();
        assert_eq!(refusal.guard, Guard::G1Resolve, "{path}");
    }
}
