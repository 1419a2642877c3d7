//! Model test of the guards. It generates random machines, with uses of devices and changes between
//! check and use, and compares the verdicts of the real guards with those of a model. A machine
//! with a different verdict is shrunk to a minimal example.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

use std::path::Path;

use jiff::Timestamp;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::device_handle::{DeviceHandle, DevicePresence};
use crate::guard::Writing;
use crate::guard::device::{CHECKS, CheckContext};
use crate::refusal::Guard;
use crate::tests::machine::FakeMachine;

/// Two disks with two partitions each, numbered like sd devices, and a stack of loop devices, each
/// on the one before it.
const NAMES: [&str; 8] = ["sda", "sda1", "sda2", "sdb", "sdb1", "sdb2", "loop8", "loop9"];
const NUMBERS: [&str; 8] = ["8:0", "8:1", "8:2", "8:16", "8:17", "8:18", "7:8", "7:9"];
/// Index of the first loop device.
const LOOPS: usize = 6;

/// Use of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Use {
    Mounted { by_number: bool, elsewhere: bool },
    MemberOfBtrfs,
    Swap,
    Resumes,
    Held,
    Backs,
    Exported { scsi: bool },
    Root,
}

/// Change between check and use.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    Nothing,
    Attachment,
    Size,
    Serial,
    Gone,
    NodeMoved,
    Booted,
}

#[derive(Clone, Debug)]
struct World {
    uses: Vec<(usize, Use)>,
    twins: bool,
    serials: bool,
    read_only: bool,
    base: usize,
    /// Loop devices above the base, lowest first. Each starts at a share of the device below it,
    /// and its size is a share of the rest, which may be more than there is.
    stack: Vec<(f64, f64)>,
    change: (usize, Change),
}

/// First sector of a device on its disk, and the sector after its last.
const SECTORS: [(u64, u64); 3] = [(0, 2_097_152), (2048, 1_002_048), (1_002_048, 2_002_048)];

fn worlds() -> impl Strategy<Value = World> {
    let any_use = prop_oneof![
        (any::<bool>(), any::<bool>())
            .prop_map(|(by_number, elsewhere)| Use::Mounted { by_number, elsewhere }),
        Just(Use::MemberOfBtrfs),
        Just(Use::Swap),
        Just(Use::Resumes),
        Just(Use::Held),
        Just(Use::Backs),
        any::<bool>().prop_map(|scsi| Use::Exported { scsi }),
        Just(Use::Root),
    ];
    let change = prop_oneof![
        Just(Change::Nothing),
        Just(Change::Attachment),
        Just(Change::Size),
        Just(Change::Serial),
        Just(Change::Gone),
        Just(Change::NodeMoved),
        Just(Change::Booted),
    ];
    let uses = proptest::collection::vec((0..NAMES.len(), any_use), 0..3);
    let rare = || proptest::bool::weighted(0.1);
    let stack = proptest::collection::vec((0.0..0.9, 0.01..1.3), 0..=NAMES.len() - LOOPS);
    (uses, rare(), any::<bool>(), rare(), (0..LOOPS, stack), (0..LOOPS, change)).prop_map(
        |(mut uses, twins, serials, read_only, (base, stack), change)| {
            uses.retain(|(device, _)| *device < LOOPS + stack.len());
            World { uses, twins, serials, read_only, base, stack, change }
        },
    )
}

fn disk_of(device: usize) -> usize {
    device / 3 * 3
}

impl World {
    fn machine(&self) -> FakeMachine {
        let mut machine = FakeMachine::new();
        for disk in [0, 3] {
            machine = machine
                .disk(NAMES[disk], NUMBERS[disk])
                .partition(NAMES[disk], NAMES[disk + 1], NUMBERS[disk + 1])
                .partition(NAMES[disk], NAMES[disk + 2], NUMBERS[disk + 2])
                .attribute(NAMES[disk + 2], "partition", "2\n")
                .attribute(NAMES[disk], "diskseq", &format!("{}\n", disk + 1));
            if self.serials {
                let serial = format!("SERIAL{disk}\n");
                machine = machine.attribute(NAMES[disk], "device/serial", &serial);
            }
            if self.twins {
                machine = machine.attribute(NAMES[disk], "wwid", "eui.1\n");
            }
        }
        machine = self.with_loops(machine);
        machine.file("/proc/sys/kernel/random/boot_id", "first\n");
        let (mut own, mut other) = (String::new(), String::new());
        let mut swaps = String::from("Filename Type Size Used Priority\n");
        let mut words = String::from("quiet");
        for (at, (device, using)) in self.uses.iter().enumerate() {
            let (name, number) = (NAMES[*device], NUMBERS[*device]);
            match using {
                Use::Mounted { by_number, elsewhere } => {
                    let number = if *by_number { number } else { "0:50" };
                    let source = if *by_number { "none" } else { &format!("/dev/{name}") };
                    let line = format!("{at}1 1 {number} / /m{at} rw - ext4 {source} rw\n");
                    if *elsewhere { other.push_str(&line) } else { own.push_str(&line) }
                }
                Use::Root => own.push_str(&format!("{at}2 1 {number} / / rw - ext4 x rw\n")),
                Use::MemberOfBtrfs => {
                    machine.file(&format!("/sys/fs/btrfs/u{at}/devices/{name}"), "");
                }
                Use::Swap => swaps.push_str(&format!("/dev/{name} partition 1 0 -2\n")),
                Use::Resumes => words.push_str(&format!(" resume=/dev/{name}")),
                Use::Held => machine.file(&format!("/sys/class/block/{name}/holders/dm-{at}"), ""),
                Use::Backs => {
                    machine = machine.disk(&format!("loop{at}"), &format!("7:{at}")).attribute(
                        &format!("loop{at}"),
                        "loop/backing_file",
                        &format!("/dev/{name}\n"),
                    );
                }
                Use::Exported { scsi } => {
                    let path = if *scsi {
                        format!("/sys/kernel/config/target/core/iblock_{at}/d/udev_path")
                    } else {
                        format!(
                            "/sys/kernel/config/nvmet/subsystems/s{at}/namespaces/1/device_path"
                        )
                    };
                    machine.file(&path, &format!("/dev/{name}\n"));
                }
            }
        }
        machine.file("/proc/self/mountinfo", &own);
        machine.file("/proc/77/mountinfo", &other);
        machine.file("/proc/swaps", &swaps);
        machine.file("/proc/cmdline", &words);
        machine
    }

    fn with_loops(&self, mut machine: FakeMachine) -> FakeMachine {
        let mut below = self.base;
        for device in LOOPS..LOOPS + self.stack.len() {
            let (offset, length) = self.placed(device);
            machine = machine
                .disk(NAMES[device], NUMBERS[device])
                .attribute(NAMES[device], "loop/backing_file", &format!("/dev/{}\n", NAMES[below]))
                .attribute(NAMES[device], "loop/offset", &format!("{}\n", offset * 512))
                .attribute(NAMES[device], "size", &format!("{length}\n"));
            below = device;
        }
        machine
    }

    /// The target is the top of the stack.
    fn target(&self) -> usize {
        match self.stack.len() {
            0 => self.base,
            loops => LOOPS + loops - 1,
        }
    }

    /// Disk below a device.
    fn disk(&self, device: usize) -> usize {
        disk_of(if device < LOOPS { device } else { self.base })
    }

    /// Offset and size of a loop device on the device below it, in sectors.
    fn placed(&self, device: usize) -> (u64, u64) {
        let below = if device == LOOPS { self.base } else { device - 1 };
        let (start, end) = self.sectors(below);
        let (offset, length) = self.stack[device - LOOPS];
        let offset = ((end - start) as f64 * offset) as u64;
        let rest = end - start - offset;
        (offset, ((rest as f64 * length) as u64).max(1))
    }

    /// First sector of a device on its disk, and the sector after its last.
    fn sectors(&self, device: usize) -> (u64, u64) {
        if device < LOOPS {
            return SECTORS[device % 3];
        }
        let (start, end) = self.sectors(if device == LOOPS { self.base } else { device - 1 });
        let (offset, length) = self.placed(device);
        (start + offset, end.min(start + offset + length))
    }

    /// True if the model considers the target free.
    fn is_free(&self) -> bool {
        // The whole system disk belongs to the system. Of two mounts at one place only the upper
        // one is visible.
        let root = self.uses.iter().rfind(|(_, using)| *using == Use::Root);
        let disk = self.disk(self.base);
        let of_system = root.is_some_and(|(device, _)| self.disk(*device) == disk);
        let (start, end) = self.sectors(self.target());
        let meets = |device: usize| {
            let (other, other_end) = self.sectors(device);
            self.disk(device) == disk && start < other_end && other < end
        };
        let used = of_system || self.uses.iter().any(|(device, _)| meets(*device));
        !used && !self.twins && !self.read_only
    }

    fn happen(&self, machine: &FakeMachine) {
        let (device, change) = self.change;
        let (name, disk) = (NAMES[device], NAMES[disk_of(device)]);
        let at = |name: &str, key: &str| format!("/sys/class/block/{name}/{key}");
        match change {
            Change::Nothing => {}
            Change::Attachment => machine.file(&at(disk, "diskseq"), "99\n"),
            Change::Size => machine.file(&at(name, "size"), "4096\n"),
            Change::Serial => machine.file(&at(disk, "device/serial"), "OTHER99\n"),
            Change::Gone => {
                let link = format!("/sys/dev/block/{}", NUMBERS[device]);
                std::fs::remove_file(machine.system.path(link)).unwrap();
            }
            Change::NodeMoved => {}
            Change::Booted => {
                machine.file("/proc/sys/kernel/random/boot_id", "second\n");
                machine.file(&at("sda", "diskseq"), "71\n");
                machine.file(&at("sdb", "diskseq"), "72\n");
            }
        }
    }

    /// True if the target is still the same device.
    fn is_same(&self) -> bool {
        let (device, change) = self.change;
        match change {
            Change::Nothing => true,
            Change::Booted => false,
            Change::Attachment | Change::Serial => disk_of(device) != disk_of(self.base),
            Change::Size | Change::Gone | Change::NodeMoved => device != self.base,
        }
    }
}

fn judged(world: &World) -> Result<(), TestCaseError> {
    let machine = world.machine();
    let mut found = crate::tests::device(&machine, NAMES[world.target()]);
    found.read_only = world.read_only;
    let writing = Writing {
        run_id: "model",
        now: Timestamp::UNIX_EPOCH,
        results_dir: Path::new("/results"),
        direct: false,
    };
    let context = CheckContext::new(&machine.system, &found, &writing);
    let refusals: Vec<Guard> =
        CHECKS.iter().filter_map(|(_, check)| check(&context).err().map(|no| no.guard)).collect();
    prop_assert_eq!(refusals.is_empty(), world.is_free(), "{:?}: {:?}", world, refusals);

    let node = format!("/dev/{}", NAMES[world.base]);
    let handle = DeviceHandle::find(&machine.system, Path::new(&node)).unwrap();
    let bound = handle.bound(&machine.system);
    prop_assert_eq!(handle.node(&machine.system).unwrap(), node.clone());
    world.happen(&machine);
    let mut system = machine.system.clone();
    if world.change.1 == Change::NodeMoved {
        let number = "8:99".parse().unwrap();
        system = system.with_node(&format!("/dev/{}", NAMES[world.change.0]), number);
    }
    let given = handle.node(&system);
    prop_assert_eq!(given.is_ok(), world.is_same(), "{:?}: {:?}", world, given);
    let again = bound.find(&system);
    // A reboot changes sequence numbers; a serial number stays the same.
    let known = world.is_same() || (world.change.1 == Change::Booted && world.serials);
    prop_assert_eq!(
        matches!(again, DevicePresence::Here { .. }),
        known,
        "{:?}: {:?}",
        world,
        again
    );
    Ok(())
}

/// The guards agree with the model, whatever uses a device and whatever changes between check and
/// use.
#[test]
fn guards_agree_with_the_model() {
    let tries = std::env::var("QDEPTH_TRIES").ok().and_then(|text| text.parse().ok());
    let tries: u32 = tries.unwrap_or(100);
    let config = Config { cases: tries, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    runner.run(&worlds(), |world| judged(&world)).unwrap();
    println!("TRIES worlds-of-the-guards {tries} judged-wrong=0");
}
