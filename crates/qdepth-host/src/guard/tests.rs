#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

mod model;

use std::path::Path;

use proptest::prelude::*;

use super::{in_use, signature, system_disk};
use crate::loop_device::LoopHolds;
use crate::mounts;
use crate::refusal::{Guard, Refusal};
use crate::stack::Stack;
use crate::tests::machine::FakeMachine;

fn machine() -> FakeMachine {
    FakeMachine::new()
        .disk("sda", "8:0")
        .partition("sda", "sda1", "8:1")
        .partition("sda", "sda2", "8:2")
        .disk("sdb", "8:16")
        .disk("dm-0", "253:0")
}

fn check(
    machine: &FakeMachine,
    guard: fn(&crate::system::System, &Stack) -> Result<(), Refusal>,
    name: &str,
) -> Option<Guard> {
    let subject = Stack::of_device(&machine.system, name);
    guard(&machine.system, &subject).err().map(|refusal| refusal.guard)
}

#[test]
fn unused_disk_passes_every_guard() {
    let machine = machine();
    for guard in [in_use::holders, in_use::mounted, in_use::swap, in_use::backing] {
        assert_eq!(check(&machine, guard, "sdb"), None);
    }
    assert_eq!(in_use::shared(&machine.system, &Stack::of_device(&machine.system, "sdb")), Ok(()));
}

#[test]
fn holder_blocks_its_partition_and_disk() {
    let machine = machine().attribute("sda1", "holders/dm-0", "");
    assert_eq!(check(&machine, in_use::holders, "sda1"), Some(Guard::G3Holders));
    assert_eq!(check(&machine, in_use::holders, "sda"), Some(Guard::G3Holders));
    assert_eq!(check(&machine, in_use::holders, "sda2"), None);
    let machine = machine.attribute("sdb", "holders/dm-0", "").attribute("sda", "holders/x", "");
    assert_eq!(check(&machine, in_use::holders, "sda2"), Some(Guard::G3Holders));
}

#[test]
fn mounts_are_found_by_number_source_and_namespace() {
    let by_number = "30 1 8:1 / /data rw - ext4 /dev/whatever rw\n";
    let by_source = "30 1 0:50 / /data rw - btrfs /dev/sda1 rw\n";
    for text in [by_number, by_source] {
        for file in ["/proc/self/mountinfo", "/proc/77/mountinfo"] {
            let machine = machine().with_file(file, text);
            assert_eq!(check(&machine, in_use::mounted, "sda1"), Some(Guard::G4Mounts));
            assert_eq!(check(&machine, in_use::mounted, "sda"), Some(Guard::G4Mounts));
            assert_eq!(check(&machine, in_use::mounted, "sda2"), None);
            assert_eq!(check(&machine, in_use::mounted, "sdb"), None);
        }
    }
}

#[test]
fn members_of_mounted_btrfs_are_refused() {
    let machine = machine().with_file("/sys/fs/btrfs/some-uuid/devices/sdb", "");
    assert_eq!(check(&machine, in_use::mounted, "sdb"), Some(Guard::G4Mounts));
    assert_eq!(check(&machine, in_use::mounted, "sda"), None);
}

#[test]
fn no_device_passes_without_mountinfo() {
    let machine = machine();
    std::fs::remove_file(machine.root().join("proc/self/mountinfo")).unwrap();
    assert_eq!(check(&machine, in_use::mounted, "sdb"), Some(Guard::G4Mounts));
}

#[test]
fn swap_and_hibernation_devices_are_refused() {
    let heading = "Filename\tType\tSize\tUsed\tPriority\n";
    let swaps = format!("{heading}/dev/sda2 partition 1 0 -2\n");
    let machine = machine().with_file("/proc/swaps", &swaps);
    assert_eq!(check(&machine, in_use::swap, "sda2"), Some(Guard::G5Swap));
    assert_eq!(check(&machine, in_use::swap, "sda"), Some(Guard::G5Swap));
    assert_eq!(check(&machine, in_use::swap, "sda1"), None);
    // A node that is not visible is identified by its name.
    let machine =
        machine.with_file("/proc/swaps", &format!("{heading}/dev/sdc partition 1 0 -2\n"));
    assert_eq!(check(&machine, in_use::swap, "sdc"), Some(Guard::G5Swap));
    let machine = machine.with_file("/proc/cmdline", "quiet resume=/dev/sdb rw");
    assert_eq!(check(&machine, in_use::swap, "sdb"), Some(Guard::G5Swap));
}

#[test]
fn swap_file_is_found_by_inode() {
    let machine = machine().with_file("/swap file", "x");
    let stat = rustix::fs::stat(machine.root().join("swap file")).unwrap();
    let swaps = "Filename Type\n/swap\\040file file 1 0 -2\n";
    let machine = machine.with_file("/proc/swaps", swaps);
    let device = crate::sysfs::DeviceNumber::from_raw(stat.st_dev);
    let subject = |inode| Stack::of_file(&machine.system, &[], Path::new("f"), device, inode);
    assert!(in_use::swap(&machine.system, &subject(stat.st_ino)).is_err());
    assert!(in_use::swap(&machine.system, &subject(stat.st_ino + 1)).is_ok());
}

#[test]
fn backing_of_loop_devices_and_exports_is_found() {
    let machine =
        machine().disk("loop0", "7:0").attribute("loop0", "loop/backing_file", "/dev/sda2\n");
    assert_eq!(check(&machine, in_use::backing, "sda"), Some(Guard::G6Backing));
    assert_eq!(check(&machine, in_use::backing, "sda1"), None);
    for attribute in [
        "/sys/kernel/config/nvmet/subsystems/s/namespaces/1/device_path",
        "/sys/kernel/config/target/core/iblock_0/disk/udev_path",
        "/sys/kernel/config/usb_gadget/g/functions/mass_storage.0/lun.0/file",
    ] {
        let fresh = self::machine().with_file(attribute, "/dev/sdb\n");
        assert_eq!(check(&fresh, in_use::backing, "sdb"), Some(Guard::G6Backing));
    }
}

/// The root of a container has many layers that are not visible in it.
#[test]
fn invisible_layers_of_overlay_end_the_search() {
    let layers: Vec<String> = (0..40).map(|layer| format!("/layers/{layer}")).collect();
    let options = format!("rw,lowerdir={}", layers.join(":"));
    let mounts = mounts::parse(&format!("1 0 0:9 / / rw - overlay overlay {options}"));
    let device = "0:9".parse().unwrap();
    let stack = Stack::of_file(&machine().system, &mounts, Path::new("/file"), device, 5);
    assert_eq!(stack.unexplained_file(&mounts), Some((device, 5)));
}

/// An overlay records the lower name of a file or directory that was renamed.
#[test]
fn renamed_file_of_overlay_meets_lower_file() {
    let options = "rw,lowerdir=/low,upperdir=/up,workdir=/work";
    let line = format!("1 0 0:9 / /over rw - overlay overlay {options}");
    let (mounts, device) = (mounts::parse(&line), "0:9".parse().unwrap());
    let set = |machine: &FakeMachine, path: &str, text: &str| {
        let path = machine.system.path(path);
        let (key, flags) = ("user.overlay.redirect", rustix::fs::XattrFlags::empty());
        rustix::fs::setxattr(path, key, text.as_bytes(), flags).unwrap();
    };
    let file = |path: &str| machine().with_file("/low/dir/old", "x").with_file(path, "");
    let by_name = file("/up/dir/new");
    set(&by_name, "/up/dir/new", "old");
    let by_path = file("/up/other/new");
    set(&by_path, "/up/other/new", "/dir/old");
    let by_folder = file("/up/moved/else");
    set(&by_folder, "/up/moved", "dir");
    for (machine, path) in
        [(by_name, "/over/dir/new"), (by_path, "/over/other/new"), (by_folder, "/over/moved/old")]
    {
        let stack = Stack::of_file(&machine.system, &mounts, Path::new(path), device, 5);
        let lower = Stack::of_path(&machine.system, "/low/dir/old").unwrap();
        assert!(stack.meets(&lower), "{path}");
    }
}

/// Bindfs shows a directory under another name. Its server holds the files open, so that only the
/// kernel's uses count.
#[test]
fn file_behind_fuse_server_meets_its_source() {
    let line = "1 0 0:9 / /bound rw - fuse /low rw";
    let (mounts, device) = (mounts::parse(line), "0:9".parse().unwrap());
    let machine = machine().with_file("/low/dir/file", "x");
    let stack = Stack::of_file(&machine.system, &mounts, Path::new("/bound/dir/file"), device, 5);
    let source = Stack::of_path(&machine.system, "/low/dir/file").unwrap();
    assert!(stack.meets(&source) && !stack.without_served().meets(&source));
}

#[test]
fn loop_device_beside_unknown_erofs_files_is_refused() {
    let file = LoopHolds::File { device: "8:1".parse().unwrap(), inode: 7 };
    let image = |further: u8| {
        let mut bytes = vec![0; 4096];
        bytes.splice(1024..1028, 0xE0F5_E1E2_u32.to_le_bytes());
        bytes[1024 + 86] = further;
        bytes
    };
    let machine =
        || hidden("4096").with_loop("loop0", file).with_file("/sys/fs/erofs/features/x", "");
    assert_eq!(check(&machine(), in_use::mounted, "loop0"), None);
    let nowhere = machine().with_file("/sys/fs/erofs/erofs-1/x", "");
    assert_eq!(check(&nowhere, in_use::mounted, "loop0"), Some(Guard::G4Mounts));
    assert_eq!(check(&nowhere, in_use::mounted, "sdb"), None);
    for (further, expected) in [(0, None), (1, Some(Guard::G4Mounts))] {
        let line = "43 1 0:39 / /m ro - erofs /image ro\n";
        let shown = machine().with_file("/proc/self/mountinfo", line);
        let shown = shown.with_file("/sys/fs/erofs/erofs-1/x", "").with_file("/image", "");
        std::fs::write(shown.system.path("/image"), image(further)).unwrap();
        assert_eq!(check(&shown, in_use::mounted, "loop0"), expected);
    }
}

/// A loop device whose backing is not visible and that is as long as each disk.
fn hidden(size: &str) -> FakeMachine {
    machine()
        .disk("loop0", "7:0")
        .attribute("loop0", "loop/backing_file", "/gone (deleted)\n")
        .attribute("loop0", "size", size)
}

#[test]
fn loop_backing_is_found_without_path_or_length() {
    let sdb = "8:16".parse().unwrap();
    let file = LoopHolds::File { device: sdb, inode: 7 };
    for (holds, of_sda, of_sdb) in [
        (LoopHolds::Device(sdb), None, Some(Guard::G6Backing)),
        (LoopHolds::Device("8:2".parse().unwrap()), Some(Guard::G6Backing), None),
        (LoopHolds::Device("99:2".parse().unwrap()), None, None),
        (file, None, None),
        (LoopHolds::Nothing, None, None),
        (LoopHolds::Unanswered, None, None),
        (LoopHolds::Unknown, Some(Guard::G6Backing), Some(Guard::G6Backing)),
    ] {
        let machine = hidden("2097152").with_loop("loop0", holds);
        assert_eq!(check(&machine, in_use::backing, "sda"), of_sda, "{holds:?}");
        assert_eq!(check(&machine, in_use::backing, "sdb"), of_sdb, "{holds:?}");
        let subject = |inode| Stack::of_file(&machine.system, &[], Path::new("f"), sdb, inode);
        let found = in_use::backing(&machine.system, &subject(7)).is_err();
        assert_eq!(found, holds == file, "{holds:?}");
        assert!(in_use::backing(&machine.system, &subject(8)).is_ok(), "{holds:?}");
    }
}

#[test]
fn hidden_loop_backing_of_equal_length_is_suspected() {
    assert_eq!(check(&hidden("2097152"), in_use::backing, "sdb"), Some(Guard::G6Backing));
    assert_eq!(check(&hidden("4096"), in_use::backing, "sdb"), None);
    let limited = hidden("4096").attribute("loop0", "loop/sizelimit", "2097152");
    assert_eq!(check(&limited, in_use::backing, "sdb"), Some(Guard::G6Backing));
}

#[test]
fn second_path_to_disk_is_refused_unless_hidden() {
    let twins = machine().attribute("sda", "wwid", "eui.1").attribute("sdb", "wwid", "eui.1");
    let refusal =
        in_use::shared(&twins.system, &Stack::of_device(&twins.system, "sda1")).unwrap_err();
    assert_eq!(refusal.guard, Guard::G12Shared);
    let hidden = twins.attribute("sdb", "hidden", "1");
    assert_eq!(in_use::shared(&hidden.system, &Stack::of_device(&hidden.system, "sda")), Ok(()));
}

#[test]
fn system_disk_is_found_through_all_layers() {
    let refuses = |machine: &FakeMachine, names: &[&str], results: &str| {
        let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
        system_disk::check(&machine.system, &names, Path::new(results)).is_err()
    };
    let root = |line: &str| machine().with_file("/proc/self/mountinfo", line);

    let plain = root("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n");
    assert!(refuses(&plain, &["sda1", "sda"], "/"));
    assert!(refuses(&plain, &["sda2", "sda"], "/"), "a free partition of the system's disk");
    assert!(!refuses(&plain, &["sdb"], "/"));

    let volume =
        root("1 0 253:0 / / rw - xfs /dev/mapper/root rw\n").attribute("dm-0", "slaves/sda1", "");
    assert!(refuses(&volume, &["sda"], "/"));

    let overlay = root(
        "1 0 8:16 / /lower rw - ext4 /dev/sdb rw\n\
                        2 0 0:9 / / rw - overlay overlay rw,lowerdir=/lower/a:/lower/b\n",
    );
    assert!(refuses(&overlay, &["sdb"], "/"));

    let on_file = root("1 0 7:0 / / rw - ext4 /dev/loop0 rw\n2 1 8:16 / /host rw - ext4 x rw\n")
        .disk("loop0", "7:0")
        .attribute("loop0", "loop/backing_file", "/host/root.img");
    assert!(refuses(&on_file, &["sdb"], "/"));

    let many = root("1 0 0:30 / / rw - btrfs /dev/sda1 rw\n")
        .with_file("/sys/fs/btrfs/u/devices/sda1", "")
        .with_file("/sys/fs/btrfs/u/devices/sdb", "");
    assert!(refuses(&many, &["sdb"], "/"));
}

#[test]
fn circular_layers_do_not_loop_forever() {
    let machine = machine()
        .with_file("/proc/self/mountinfo", "1 0 253:0 / / rw - ext4 x rw\n")
        .attribute("dm-0", "slaves/sdb", "")
        .attribute("sdb", "slaves/dm-0", "");
    let names = ["sda".to_owned()];
    assert_eq!(system_disk::check(&machine.system, &names, Path::new("/")), Ok(()));
}

fn signatures(machine: &FakeMachine) -> Result<Vec<String>, Guard> {
    let file = std::fs::File::open("/dev/null").unwrap();
    signature::signatures(&machine.system, &file, "sda").map_err(|refusal| refusal.guard)
}

#[test]
fn signatures_from_wipefs_and_blkid_are_merged() {
    let json = r#"{"signatures":[{"type":"gpt"},{"type":"PMBR"}]}"#;
    let both = machine().with_output("wipefs", 0, json).with_output("blkid", 0, "A=1\nTYPE=ext4\n");
    assert_eq!(signatures(&both), Ok(["PMBR", "ext4", "gpt"].map(str::to_owned).to_vec()));
    let none = machine().with_output("wipefs", 0, "").with_output("blkid", 2, "");
    assert_eq!(signatures(&none), Ok(Vec::new()));
    let two = machine().with_output("wipefs", 0, "").with_output("blkid", 8, "");
    assert_eq!(signatures(&two), Ok(vec!["ambivalent".to_owned()]));
}

#[test]
fn failed_signature_check_is_a_refusal() {
    let none = machine();
    let half = machine().with_output("wipefs", 0, "");
    let failing = machine().with_output("wipefs", 1, "").with_output("blkid", 2, "");
    let strange = machine().with_output("wipefs", 0, "{").with_output("blkid", 2, "");
    let broken = machine().with_output("wipefs", 0, "").with_output("blkid", 4, "");
    for machine in [none, half, failing, strange, broken] {
        assert_eq!(signatures(&machine), Err(Guard::G7Contents));
    }
}

proptest! {
    #[test]
    fn probe_windows_cover_both_ends_of_device(size in 1_u64..1 << 45, seed: u64) {
        let windows = signature::windows(size, seed);
        prop_assert!(windows.iter().all(|start| *start < size));
        prop_assert_eq!(windows[0], 0);
        prop_assert!(windows.iter().any(|start| size - start <= 1 << 20));
    }

    #[test]
    fn any_swaps_text_parses_without_panic(text in "(?s).{0,200}") {
        let _ = in_use::parse_swaps(&text);
    }

    #[test]
    fn any_signature_output_parses_without_panic(text in "(?s).{0,200}", status in 0..9) {
        let machine = machine().with_output("wipefs", 0, &text).with_output("blkid", status, &text);
        let _ = signatures(&machine);
    }
}
