//! Random scenarios on real loop devices: content, use, and name of a device. The guards must
//! decide like the model, and a refused device keeps every byte. A scenario with another decision
//! is shrunk to a minimal one. Needs root.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]
#![expect(clippy::unwrap_used, reason = "what fails in a helper fails the test")]

#[cfg(test)]
#[allow(dead_code, clippy::allow_attributes, reason = "no test file uses all of it")]
mod common;

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use common::{Bench, MIB, SWAP_KIB, SWAP_PAGES, checksum_without, is_root, sh};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Content of the device.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Contents {
    Zeros,
    Ext4,
    Swap,
    /// One byte, somewhere.
    Byte(u64),
    /// A GPT whose first partition has a file system.
    Parts,
    /// A device that an earlier run of ours wrote, with consent.
    Ours,
    /// Like `Ours`, with a foreign byte between the labels.
    OursAltered(u64),
}

/// Use of the device.
#[derive(Clone, Copy, Debug, PartialEq)]
enum User {
    Nobody,
    /// The file system, or that of the partition, is mounted.
    Mount,
    /// Another loop device uses the device from this sector on.
    Loop(u64),
    /// Another process has the device open for writing, exclusively or not.
    Writer {
        exclusive: bool,
    },
    /// Active swap space.
    Swapping,
    /// The backing file has another name, which is no use of the device.
    LinkOfBacking,
}

#[derive(Clone, Debug)]
struct World {
    contents: Contents,
    user: User,
    /// Index of the name by which the device is given.
    name: usize,
    consent: bool,
    /// True if a second, free device exists as well.
    beside: bool,
}

const SIZE: u64 = 24 * MIB;

fn worlds() -> impl Strategy<Value = World> {
    let place = || 1..(SIZE / 512 - 1);
    let contents = prop_oneof![
        3 => Just(Contents::Zeros),
        1 => Just(Contents::Ext4),
        1 => Just(Contents::Swap),
        1 => place().prop_map(Contents::Byte),
        1 => Just(Contents::Parts),
        2 => Just(Contents::Ours),
        2 => place().prop_map(Contents::OursAltered),
    ];
    let user = prop_oneof![
        4 => Just(User::Nobody),
        2 => Just(User::Mount),
        2 => (0..SIZE / 1024).prop_map(User::Loop),
        2 => any::<bool>().prop_map(|exclusive| User::Writer { exclusive }),
        1 => Just(User::Swapping),
        1 => Just(User::LinkOfBacking),
    ];
    let consent = proptest::bool::weighted(0.8);
    (contents, user, 0..9_usize, consent, any::<bool>()).prop_map(
        |(contents, user, name, consent, beside)| World { contents, user, name, consent, beside },
    )
}

/// Scenario on a real device.
struct BuiltWorld {
    device: PathBuf,
    /// Keeps the device in use while the scenario exists.
    _user: Option<Holder>,
}

/// Holder of a device: this process, or a child that is killed with the value.
enum Holder {
    Own(#[expect(dead_code, reason = "is held open")] File),
    Other(Child),
}

impl Drop for Holder {
    fn drop(&mut self) {
        if let Self::Other(child) = self {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

impl World {
    /// Effective use. Impossible combinations count as unused: only a file system can be mounted,
    /// and only swap space can swap.
    fn user(&self) -> User {
        match (self.user, self.contents) {
            (User::Mount, Contents::Ext4 | Contents::Parts)
            | (User::Swapping, Contents::Swap)
            | (User::Loop(_) | User::Writer { .. } | User::LinkOfBacking, _) => self.user,
            _ => User::Nobody,
        }
    }

    /// True if the model permits writing.
    fn is_free(&self) -> bool {
        let unused = matches!(self.user(), User::Nobody | User::LinkOfBacking);
        let losable = match self.contents {
            // Earlier data of qdepth need not be named, but consent is still required.
            Contents::Zeros | Contents::Ours => self.consent,
            Contents::Ext4
            | Contents::Swap
            | Contents::Byte(_)
            | Contents::Parts
            | Contents::OursAltered(_) => false,
        };
        unused && losable
    }

    fn make(&self, bench: &Bench) -> BuiltWorld {
        let image = bench.image(SIZE);
        let device = bench.attach(&image);
        let node = device.display();
        let byte = |file: &Path, sector: u64| {
            File::options()
                .write(true)
                .open(file)
                .unwrap()
                .write_all_at(b"x", sector * 512)
                .unwrap();
        };
        match self.contents {
            Contents::Zeros => {}
            Contents::Ext4 => drop(sh(&format!("mkfs.ext4 -q {node}")).unwrap()),
            Contents::Swap => drop(sh(&format!("mkswap {node} {SWAP_KIB}")).unwrap()),
            Contents::Byte(sector) => byte(&device, sector),
            Contents::Parts => {
                sh(&format!("sgdisk -n 1:1M:+12M {node} && partx -u {node}")).unwrap();
                bench.later(format!("partx -d {node}"));
                sh(&format!("mkfs.ext4 -q {node}p1")).unwrap();
            }
            Contents::Ours => drop(bench.claim(&device, true).unwrap()),
            Contents::OursAltered(sector) => {
                drop(bench.claim(&device, true).unwrap());
                byte(&device, sector);
            }
        }
        sh(&format!("sync {node}; blockdev --flushbufs {node}")).unwrap();
        let user = self.be_used(bench, &image, &device);
        if self.beside {
            drop(bench.device(8 * MIB));
        }
        BuiltWorld { device, _user: user }
    }

    fn be_used(&self, bench: &Bench, image: &Path, device: &Path) -> Option<Holder> {
        let node = device.display();
        match self.user() {
            User::Nobody => {}
            User::Mount if self.contents == Contents::Parts => {
                drop(bench.mount(&PathBuf::from(format!("{node}p1"))));
            }
            User::Mount => drop(bench.mount(device)),
            User::Loop(sector) => {
                let line = format!("losetup -f --show -o {} {node}", sector * 512);
                let over = sh(&line).unwrap();
                bench.later(format!("losetup -d {over}"));
            }
            User::Writer { exclusive } => {
                return Some(if exclusive { exclusive_holder(device) } else { written(device) });
            }
            User::Swapping => {
                sh(&format!("swapon {node}")).unwrap();
                bench.later(format!("swapoff {node}"));
            }
            User::LinkOfBacking => {
                fs::hard_link(image, bench.fresh("second-name")).unwrap();
            }
        }
        None
    }
}

/// Opens a device exclusively (`O_EXCL`).
fn exclusive_holder(device: &Path) -> Holder {
    let flags = rustix::fs::OFlags::EXCL.bits() as i32;
    let mut options = File::options();
    Holder::Own(options.read(true).write(true).custom_flags(flags).open(device).unwrap())
}

/// Opens a device for writing in another process.
fn written(device: &Path) -> Holder {
    let line = format!("exec 7<>{} && echo open && exec sleep 600", device.display());
    let mut child = Command::new("sh").args(["-c", &line]).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = [0; 5];
    child.stdout.take().unwrap().read_exact(&mut said).unwrap();
    Holder::Other(child)
}

fn judged(world: &World) -> Result<(), TestCaseError> {
    let bench = Bench::new();
    let built = world.make(&bench);
    let changing = if world.user() == User::Swapping { SWAP_PAGES } else { 0..0 };
    let before = checksum_without(&built.device, &changing);
    let names = bench.spellings(&built.device);
    let (spelling, path, _fd) = &names[world.name % names.len()];
    let claim = bench.claim(path, world.consent);
    let free = world.is_free();
    prop_assert_eq!(claim.is_ok(), free, "{:?} by its {}: {:?}", world, spelling, claim.err());
    drop(claim);
    if !free {
        let after = checksum_without(&built.device, &changing);
        prop_assert_eq!(after, before, "{:?} by its {}", world, spelling);
    }
    Ok(())
}

#[test]
fn guards_agree_with_model_on_loop_devices() {
    let tools = "losetup -f && command -v sgdisk mkfs.ext4 mkswap partx";
    if !is_root() || sh(tools).is_err() {
        println!("SKIPPED: worlds on loop devices: not root, or no loop devices or tools");
        return;
    }
    let tries = std::env::var("QDEPTH_TRIES").ok().and_then(|text| text.parse().ok());
    let tries: u32 = tries.unwrap_or(25);
    let config = Config { cases: tries, failure_persistence: None, ..Config::default() };
    TestRunner::new(config).run(&worlds(), |world| judged(&world)).unwrap();
    println!("TRIES worlds-on-loop-devices {tries} judged-wrong=0 changed=0");
}
