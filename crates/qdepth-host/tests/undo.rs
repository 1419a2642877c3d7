//! Undoing a preparation on a real machine reverts its own changes and nothing else.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

#[cfg(test)]
#[expect(dead_code, reason = "no test file uses all of it")]
mod common;

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use common::{Bench, MIB, checksum, has, is_root, sh};
use qdepth_host::measurement_file::{Wanted, clear};
use qdepth_host::prepare::journal::Journal;
use qdepth_host::prepare::{Devices, UndoResult, Watch, apply, base_devices, read, undo_all};
use qdepth_host::target::inspect;

#[cfg(test)]
fn bench(test: &str) -> Option<Bench> {
    if is_root() && sh("losetup -f && command -v mkfs.ext4").is_ok() {
        return Some(Bench::new());
    }
    println!("SKIPPED: {test}: not root, or no loop devices and mkfs.ext4");
    None
}

#[cfg(test)]
/// Makes a file system on a device and mounts it, as a preparation.
fn prepared(bench: &Bench, device: &Path, at: &Path, journal: &Path) {
    let (device, at) = (device.display(), at.display());
    let steps = read(&format!(
        "[[prepare]]\nstep = \"file-system\"\nkind = \"ext4\"\ndevice = \"{device}\"\n\
         [[prepare]]\nstep = \"mount\"\nat = \"{at}\"\ndevice = \"{device}\"\n"
    ))
    .unwrap();
    let mut devices = Devices::find(&bench.system, &base_devices(&steps)).unwrap();
    devices.keep(&bench.system).unwrap();
    let mut journal = Journal::open(journal).unwrap();
    for step in &steps {
        apply(&bench.system, step, &mut devices, &mut journal, Watch::SILENT).unwrap();
    }
    bench.later(format!("! mountpoint -q {at} || umount -l {at}"));
}

#[test]
fn undo_waits_for_a_busy_mount() {
    let Some(bench) = bench("busy mount") else { return };
    let (device, place) = (bench.device(64 * MIB), bench.fresh("mount"));
    let path = bench.fresh("undo.jsonl");
    prepared(&bench, &device, &place, &path);
    let held = File::create(place.join("held")).unwrap();
    fs::remove_file(place.join("held")).unwrap();
    let (sender, told) = std::sync::mpsc::channel();
    let (system, mut journal) = (bench.system.clone(), Journal::open(&path).unwrap());
    let undoing = std::thread::spawn(move || {
        let _ = sender.send(undo_all(&system, &mut journal).unwrap());
    });
    // While the device is busy, the undo keeps retrying.
    assert!(told.recv_timeout(Duration::from_millis(700)).is_err(), "given up while it is held");
    drop(held);
    let told = told.recv_timeout(Duration::from_secs(30)).unwrap();
    undoing.join().unwrap();
    assert!(told.iter().all(|undone| matches!(undone, UndoResult::Done(_))), "{told:?}");
    assert_eq!(told.len(), 3, "unmounted, its directory removed, its signature wiped");
    assert!(!path.exists(), "the journal goes with its last entry");
    assert!(!place.exists());
}

/// Hole 8: only the preparation's own mounts are unmounted.
#[test]
fn undo_leaves_foreign_mounts() {
    let Some(bench) = bench("mounts of others") else { return };
    let anothers = bench.device(64 * MIB);
    sh(&format!("mkfs.ext4 -q {}", anothers.display())).unwrap();
    for how in ["over it", "in its place", "the same again"] {
        let (device, place) = (bench.device(64 * MIB), bench.fresh("mount"));
        let path = bench.fresh("undo.jsonl");
        prepared(&bench, &device, &place, &path);
        let (other, own, at) = (anothers.display(), device.display(), place.display());
        sh(&match how {
            "over it" => format!("mount -o ro {other} {at}"),
            "in its place" => format!("umount {at} && mount -o ro {other} {at}"),
            _ => format!("umount {at} && mount {own} {at}"),
        })
        .unwrap();
        let before = sh(&format!("findmnt -n -o SOURCE,TARGET {at}")).unwrap();
        let told = undo_all(&bench.system, &mut Journal::open(&path).unwrap()).unwrap();
        let Some(UndoResult::Left(text, why)) = told.first() else { panic!("{how}: {told:?}") };
        assert!(text.starts_with("umount") && why.contains("by something else"), "{how}: {why}");
        assert_eq!(sh(&format!("findmnt -n -o SOURCE,TARGET {at}")).unwrap(), before, "{how}");
        sh(&format!("umount {at}; ! mountpoint -q {at} || umount {at}")).unwrap();
    }
}

/// Hole 8: a node with another backing file is another device.
#[test]
fn undo_does_not_wipe_a_replaced_device() {
    let Some(bench) = bench("another backing") else { return };
    let (image, other) = (bench.image(64 * MIB), bench.image(64 * MIB));
    sh(&format!("mkfs.ext4 -q {}", other.display())).unwrap();
    let device = bench.attach_apart(&image);
    let (place, path) = (bench.fresh("mount"), bench.fresh("undo.jsonl"));
    prepared(&bench, &device, &place, &path);
    let node = device.display();
    sh(&format!(
        "umount {0} && losetup -d {node} && losetup {node} {1}",
        place.display(),
        other.display()
    ))
    .unwrap();
    let before = checksum(&other);
    let told = undo_all(&bench.system, &mut Journal::open(&path).unwrap()).unwrap();
    let wiped = told.last().unwrap();
    assert!(matches!(wiped, UndoResult::Left(text, _) if text.starts_with("wipefs")), "{told:?}");
    assert_eq!(checksum(&other), before);
    fs::remove_dir_all(&place).ok();
}

/// A file system that somebody made later, or that is in use below another device, stays.
#[test]
fn file_system_of_others_is_not_wiped() {
    let Some(bench) = bench("file systems of others") else { return };
    let undo = |path: &Path| undo_all(&bench.system, &mut Journal::open(path).unwrap()).unwrap();
    let image = bench.image(64 * MIB);
    let device = bench.attach(&image);
    let (place, path) = (bench.fresh("mount"), bench.fresh("undo.jsonl"));
    prepared(&bench, &device, &place, &path);
    let (node, at) = (device.display(), place.display());
    sh(&format!("umount {at} && mkfs.ext4 -q -F -L theirs {node}")).unwrap();
    let before = checksum(&image);
    let told = undo(&path);
    let Some(UndoResult::Left(_, why)) = told.last() else { panic!("{told:?}") };
    assert!(why.contains("qdepth did not make it") && why.contains("wipefs -a"), "{why}");
    assert_eq!(checksum(&image), before);

    fs::remove_dir_all(&place).ok();
    prepared(&bench, &device, &place, &path);
    sh(&format!("umount {at}")).unwrap();
    let above = bench.attach(&device);
    bench.mount(&above);
    let before = checksum(&image);
    let told = undo(&path);
    let Some(UndoResult::Failed(_, why)) = told.last() else { panic!("{told:?}") };
    assert!(why.to_string().contains("is mounted on"), "{why}");
    assert_eq!(checksum(&image), before);
    bench.undo_all();
}

#[test]
fn file_system_with_files_is_not_wiped() {
    let Some(bench) = bench("stored files") else { return };
    let undo = |path: &Path| undo_all(&bench.system, &mut Journal::open(path).unwrap()).unwrap();
    for by_hand in [false, true] {
        let device = bench.device(64 * MIB);
        let (place, path) = (bench.fresh("mount"), bench.fresh("undo.jsonl"));
        prepared(&bench, &device, &place, &path);
        fs::write(place.join("thesis.tex"), "the only copy").unwrap();
        let (node, at) = (device.display(), place.display());
        if by_hand {
            sh(&format!("umount {at}")).unwrap();
        }
        let told = undo(&path);
        let Some(UndoResult::Failed(_, why)) = told.last() else { panic!("{told:?}") };
        assert!(why.to_string().contains("`thesis.tex`"), "{why}");
        fs::create_dir_all(&place).unwrap();
        sh(&format!("mount {node} {at}")).unwrap();
        assert_eq!(fs::read_to_string(place.join("thesis.tex")).unwrap(), "the only copy");
        sh(&format!("rm {at}/thesis.tex && umount {at} && rmdir {at}")).unwrap();
        let told = undo(&path);
        assert!(matches!(told.last(), Some(UndoResult::Done(_))), "{told:?}");
        assert!(!path.exists());
    }
}

/// A killed run leaves its measurement file on the file system that was prepared for it.
#[test]
fn measurement_file_of_killed_run_is_undone() {
    let Some(bench) = bench("killed run") else { return };
    for (change, is_lost) in [
        ("true", true),
        ("truncate -s 0 $FILE", true),
        ("printf thesis | dd of=$FILE bs=1 seek=70000 conv=notrunc", false),
        ("mv $FILE $FILE.kept", false),
        ("cp $FILE $FILE.copy && mv $FILE.copy $FILE", false),
        ("echo thesis >$FILE", false),
        ("ln $FILE $FILE.2", false),
    ] {
        let device = bench.device(64 * MIB);
        let (place, path) = (bench.fresh("mount"), bench.fresh("undo.jsonl"));
        prepared(&bench, &device, &place, &path);
        let target = inspect(&bench.system, &place).unwrap();
        let wanted = Wanted {
            size_bytes: 4 * MIB,
            run_id: "killed",
            now: jiff::Timestamp::now(),
            keep: false,
            direct: true,
        };
        let cleared = clear(&bench.system, &target, &wanted, 0).unwrap();
        let mut file = cleared.make(&wanted, &mut |_| ControlFlow::Continue(())).unwrap();
        file.leave();
        sh(&format!("FILE={}; {change}", file.path.display())).unwrap();
        drop((file, target));
        let told = undo_all(&bench.system, &mut Journal::open(&path).unwrap()).unwrap();
        assert_eq!(matches!(told.last(), Some(UndoResult::Done(_))), is_lost, "{change}: {told:?}");
    }
}

#[test]
fn files_in_any_subvolume_are_found() {
    let Some(bench) = bench("subvolumes").filter(|_| has("mkfs.btrfs")) else { return };
    let device = bench.device(256 * MIB);
    let (at, path) = (bench.mount_place(), bench.fresh("undo.jsonl"));
    let node = device.display();
    let steps =
        format!("[[prepare]]\nstep = \"file-system\"\nkind = \"btrfs\"\ndevice = \"{node}\"\n");
    let steps = read(&steps).unwrap();
    let mut devices = Devices::find(&bench.system, &base_devices(&steps)).unwrap();
    devices.keep(&bench.system).unwrap();
    let mut journal = Journal::open(&path).unwrap();
    apply(&bench.system, &steps[0], &mut devices, &mut journal, Watch::SILENT).unwrap();
    drop((devices, journal));
    sh(&format!(
        "mount {node} {at} && cd {at} && btrfs subvolume create data && touch data/thesis.tex && \
         btrfs subvolume create empty && btrfs subvolume set-default empty && cd / && umount {at}"
    ))
    .unwrap();
    let told = undo_all(&bench.system, &mut Journal::open(&path).unwrap()).unwrap();
    let [UndoResult::Failed(_, why)] = &told[..] else { panic!("{told:?}") };
    assert!(why.to_string().contains("still contains files"), "{why}");
    sh(&format!("mount -o subvol=data {node} {at} && test -e {at}/thesis.tex && umount {at}"))
        .unwrap();
}

/// The devices below a file system with files are left, too.
#[test]
fn partition_with_files_is_not_removed() {
    let Some(bench) = bench("partitions").filter(|_| has("parted")) else { return };
    let image = bench.image(96 * MIB);
    let device = bench.attach_apart(&image);
    let node = device.display();
    bench.later(format!("partx -d {node} || true"));
    let (at, path) = (bench.mount_place(), bench.fresh("undo.jsonl"));
    let steps = read(&format!(
        "[[prepare]]\nstep = \"partition\"\ndevice = \"{node}\"\n\
         [[prepare]]\nstep = \"file-system\"\nkind = \"ext4\"\ndevice = \"{node}p1\"\n"
    ))
    .unwrap();
    let mut devices = Devices::find(&bench.system, &base_devices(&steps)).unwrap();
    devices.keep(&bench.system).unwrap();
    let mut journal = Journal::open(&path).unwrap();
    for step in &steps {
        apply(&bench.system, step, &mut devices, &mut journal, Watch::SILENT).unwrap();
    }
    drop((devices, journal));
    sh(&format!("mount {node}p1 {at} && touch {at}/thesis.tex && umount {at}")).unwrap();
    let before = checksum(&image);
    let undo = || undo_all(&bench.system, &mut Journal::open(&path).unwrap()).unwrap();
    // The kernel knows the partition, or no longer does.
    for (accident, first) in [
        ("true".to_owned(), "`thesis.tex`"),
        (format!("partx -d {node}"), "is inactive or was replaced"),
        (format!("partx -a {node}"), "`thesis.tex`"),
    ] {
        sh(&accident).unwrap();
        let told = undo();
        assert_eq!(told.len(), 2, "{told:?}");
        let why = told.iter().map(|undone| match undone {
            UndoResult::Failed(_, why) => why.to_string(),
            other => panic!("{other:?}"),
        });
        let why: Vec<String> = why.collect();
        assert!(why[0].contains(first) && why[1].contains("was left"), "{why:?}");
        assert_eq!(checksum(&image), before);
    }
    sh(&format!("mount {node}p1 {at} && rm {at}/thesis.tex && umount {at}")).unwrap();
    assert!(undo().iter().all(|undone| matches!(undone, UndoResult::Done(_))));
}

#[test]
fn mount_over_a_directory_with_files_is_refused() {
    let Some(bench) = bench("full mount points") else { return };
    let (device, place) = (bench.device(64 * MIB), bench.fresh("mount"));
    fs::create_dir(&place).unwrap();
    fs::write(place.join("precious"), "data").unwrap();
    let (node, at) = (device.display(), place.display());
    let steps = read(&format!(
        "[[prepare]]\nstep = \"file-system\"\nkind = \"ext4\"\ndevice = \"{node}\"\n\
         [[prepare]]\nstep = \"mount\"\nat = \"{at}\"\ndevice = \"{node}\"\n"
    ))
    .unwrap();
    let mut devices = Devices::find(&bench.system, &base_devices(&steps)).unwrap();
    let mut journal = Journal::open(&bench.fresh("undo.jsonl")).unwrap();
    let mut apply = |step| apply(&bench.system, step, &mut devices, &mut journal, Watch::SILENT);
    apply(&steps[0]).unwrap();
    let failed = apply(&steps[1]).unwrap_err().to_string();
    assert!(failed.contains("is not empty"), "{failed}");
    assert!(place.join("precious").exists());
}
