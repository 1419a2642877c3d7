//! Devices of a preparation are held open, so no byte of another device changes between inspection
//! and action. Each race window is forced, not left to chance.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

#[cfg(test)]
#[expect(dead_code, reason = "no test file uses all of it")]
mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use common::{Bench, MIB, checksum, is_root, sh};
use qdepth_host::Failure;
use qdepth_host::prepare::journal::Journal;
use qdepth_host::prepare::{Devices, Node, Watch, apply, base_devices, read};
use qdepth_host::system::System;

#[cfg(test)]
fn bench(test: &str) -> Option<Bench> {
    if is_root() && sh("losetup -f && command -v mkfs.ext4 blkdiscard").is_ok() {
        return Some(Bench::new());
    }
    println!("SKIPPED: {test}: not root, or no loop devices");
    None
}

#[cfg(test)]
/// Link below `/dev`, removed with the bench.
fn link(bench: &Bench, to: &Path) -> PathBuf {
    let name = bench.fresh("link").display().to_string().replace('/', "-");
    let link = PathBuf::from(format!("/dev/qdepth-test{name}"));
    symlink(to, &link).unwrap();
    bench.later(format!("rm -f {}", link.display()));
    link
}

#[cfg(test)]
/// Runs a step on a device, calling `window` in every race window; `DEVICE` in `step` is replaced.
fn act(
    bench: &Bench,
    step: &str,
    device: &Path,
    window: impl Fn(&str) + Send + Sync + 'static,
) -> Result<(), Failure> {
    let steps = step.replace("DEVICE", &device.display().to_string());
    let steps = read(&format!("[[prepare]]\n{steps}")).unwrap();
    let mut devices = Devices::find(&bench.system, &base_devices(&steps)).unwrap();
    devices.keep(&bench.system).unwrap();
    let mut journal = Journal::open(&bench.fresh("undo.jsonl")).unwrap();
    let system = System::real().with_before_action(window);
    apply(&system, &steps[0], &mut devices, &mut journal, Watch::SILENT)
}

#[cfg(test)]
const STEPS: [&str; 5] = [
    "step = \"file-system\"\nkind = \"ext4\"\ndevice = \"DEVICE\"",
    "step = \"file-system\"\nkind = \"xfs\"\ndevice = \"DEVICE\"",
    "step = \"file-system\"\nkind = \"btrfs\"\ndevice = \"DEVICE\"",
    "step = \"purge\"\nmethod = \"discard\"\ndevice = \"DEVICE\"",
    "step = \"purge\"\nmethod = \"overwrite\"\ndevice = \"DEVICE\"",
];

#[cfg(test)]
fn rounds() -> usize {
    std::env::var("QDEPTH_TRIES").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// Hole 5: the named link leads to another device in the meantime.
#[test]
fn swapped_link_never_redirects_a_program() {
    let Some(bench) = bench("swapped link") else { return };
    let (ours, anothers) = (bench.device(300 * MIB), bench.device(300 * MIB));
    sh(&format!("mkfs.ext4 -q {}", anothers.display())).unwrap();
    let before = checksum(&anothers);
    let mut tries = 0;
    for step in STEPS.repeat(rounds()) {
        let name = link(&bench, &ours);
        let (swapped, target) = (name.clone(), anothers.clone());
        act(&bench, step, &name, move |_| {
            fs::remove_file(&swapped).unwrap();
            symlink(&target, &swapped).unwrap();
        })
        .unwrap();
        assert_eq!(checksum(&anothers), before, "{step}");
        tries += 1;
    }
    println!("TRIES swapped-links {tries} changed=0");
}

/// Hole 5: the backing file of a held loop device cannot be exchanged.
#[test]
fn loop_device_keeps_its_backing_during_a_step() {
    let Some(bench) = bench("another backing") else { return };
    let other = bench.image(300 * MIB);
    sh(&format!("mkfs.ext4 -q {}", other.display())).unwrap();
    let before = checksum(&other);
    let mut tries = 0;
    for step in STEPS.repeat(rounds()) {
        // Detached when the last holder closes it, or by `losetup -d` in the window.
        let device = bench.attach_apart(&bench.image(300 * MIB));
        let (node, image) = (device.display().to_string(), other.display().to_string());
        let _ = act(&bench, step, &device, move |_| {
            let _ = sh(&format!("losetup -d {node}; losetup {node} {image}"));
        });
        bench.undo_all();
        assert_eq!(checksum(&other), before, "{step}");
        tries += 1;
    }
    println!("TRIES exchanged-backings {tries} changed=0");
}

/// Hole 5: a device that comes into use is left alone, by tools and by qdepth.
#[test]
fn device_mounted_during_a_step_is_unchanged() {
    let Some(bench) = bench("mount in the window") else { return };
    let mut tries = 0;
    for step in STEPS.repeat(rounds()) {
        let device = bench.device(300 * MIB);
        sh(&format!("mkfs.ext4 -q {}", device.display())).unwrap();
        let before = checksum(&device);
        let place = bench.fresh("mount");
        fs::create_dir(&place).unwrap();
        let (node, at) = (device.display().to_string(), place.display().to_string());
        let result = act(&bench, step, &device, move |_| {
            let _ = sh(&format!("mount -o ro,noload {node} {at}"));
        });
        let mounted = sh(&format!("mountpoint -q {}", place.display())).is_ok();
        // Either the mount succeeded and the step left the device alone, or qdepth's hold prevented
        // the mount.
        assert_eq!(mounted, result.is_err(), "{step}: {result:?}");
        if mounted {
            sh(&format!("umount {}", place.display())).unwrap();
            assert_eq!(checksum(&device), before, "{step}");
        }
        tries += 1;
    }
    println!("TRIES mounts-in-the-window {tries} changed=0");
}

/// Only names below `/dev` count as devices, and magic links of the kernel do not.
#[test]
fn magic_links_are_not_devices() {
    let Some(bench) = bench("magic links") else { return };
    let device = bench.device(8 * MIB);
    let open = fs::File::open(&device).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&open);
    for path in [format!("/dev/fd/{number}"), "/dev/null".to_owned(), "/dev/none".to_owned()] {
        let node = Node::try_from(path).unwrap();
        assert!(Devices::find(&bench.system, std::slice::from_ref(&node)).is_err(), "{node:?}");
    }
}
