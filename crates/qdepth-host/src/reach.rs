//! Requirements of an engine besides reads and writes: poll queues, and access to NVMe commands.
//! This module only inspects, except [`Commands::open`], which needs a claim.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{FileType, Mode, OFlags};

use crate::guard::Claim;
use crate::sysfs::{self, DeviceNumber};
use crate::system::System;
use crate::target::Inspected;

/// Reason why an engine cannot use a target. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found}. {remedy}.")]
pub struct Unreachable {
    /// Problem, naming the device; no full stop at the end.
    pub found: String,
    /// Remedy; no full stop at the end.
    pub remedy: &'static str,
}

/// Checks that the target has poll queues. Without them the kernel silently waits for interrupts
/// (Linux 6.1 and before) or refuses each request.
///
/// # Errors
/// The device without poll queues.
pub fn poll_queues(system: &System, target: &Inspected) -> Result<(), Unreachable> {
    let devices = target.devices();
    let polled = |name: &String| sysfs::number_attribute(system, name, "queue/io_poll") == Some(1);
    let found = match devices.iter().find(|name| !polled(name)) {
        Some(name) => format!("{name} has no poll queues (/sys/block/{name}/queue/io_poll)"),
        None if devices.is_empty() => {
            format!(
                "{} is not on a block device, so completions cannot be polled",
                target.expression.display()
            )
        }
        None => return Ok(()),
    };
    let remedy = "Use an NVMe drive whose driver was loaded with poll queues (kernel parameter \
                  nvme.poll_queues=N), or choose another engine";
    Err(Unreachable { found, remedy })
}

/// Maximum number of bytes that a device can discard at once; 0 if it cannot discard. `None` if the
/// target is not a whole device, or the limit is unknown.
pub fn discard_max_bytes(system: &System, target: &Inspected) -> Option<u64> {
    let name = &target.block_device()?.identity.kernel_name;
    sysfs::number_attribute(system, name, "queue/discard_max_bytes")
}

/// Command interface of an NVMe namespace: the character device that belongs to its block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commands {
    /// Number of the namespace, as used in commands.
    pub namespace: u32,
    /// Bytes of a logical block.
    pub block_bytes: u32,
    /// Maximum number of bytes that one command can move, according to drive and driver (MDTS);
    /// `None` if unknown.
    pub max_transfer_bytes: Option<u64>,
    path: PathBuf,
    number: DeviceNumber,
}

impl Commands {
    /// Finds the command interface of a target that is given as its block device.
    ///
    /// # Errors
    /// Why the target does not support commands.
    pub fn find(system: &System, target: &Inspected) -> Result<Self, Unreachable> {
        let expression = target.expression.display();
        let no = |found: String, remedy| Err(Unreachable { found, remedy });
        let whole = "Use the block device of a whole namespace (for example /dev/nvme0n1), or \
                     choose another engine";
        let device = target.block_device();
        let name = device.map_or("", |device| device.identity.kernel_name.as_str());
        let (Some(device), Some(suffix)) = (device, name.strip_prefix("nvme")) else {
            return no(
                format!(
                    "{expression} is not an NVMe namespace, so it does not accept NVMe commands"
                ),
                whole,
            );
        };
        if device.partition.is_some() {
            return no(
                format!("{expression} is a partition, and NVMe commands address a whole namespace"),
                whole,
            );
        }
        let number = |key: &str| sysfs::number_attribute(system, name, key);
        if number("metadata_bytes").is_some_and(|bytes| bytes > 0) {
            return no(
                format!(
                    "{expression} stores metadata with each block, which passthrough does not \
                     support"
                ),
                "Choose another engine, or format the namespace without metadata",
            );
        }
        let generic = format!("ng{suffix}");
        let path = format!("/sys/class/block/{name}/device/{generic}/dev");
        let beside = system.read_trimmed(path).and_then(|text| text.parse().ok());
        let namespace = number("nsid").and_then(|number| u32::try_from(number).ok());
        let (Some(beside), Some(namespace)) = (beside, namespace) else {
            return no(
                format!("the kernel has no character device /dev/{generic} for {expression}"),
                "Passthrough needs Linux 5.19; choose another engine",
            );
        };
        Ok(Self {
            namespace,
            block_bytes: device.logical_block_bytes as u32,
            max_transfer_bytes: number("queue/max_hw_sectors_kb")
                .map(|kib| kib.saturating_mul(1024)),
            path: PathBuf::from(format!("/dev/{generic}")),
            number: beside,
        })
    }

    /// Opens the command interface, for writing if the claim on the block device permits it. The
    /// claim is held during the opening and checked again afterwards, which proves that both belong
    /// to the same device.
    ///
    /// # Errors
    /// If it cannot be opened, or does not belong to the claimed device according to sysfs.
    pub fn open(&self, system: &System, claim: &Claim) -> Result<OwnedFd, Unreachable> {
        let path = self.path.display();
        let access = if claim.writable { OFlags::RDWR } else { OFlags::RDONLY };
        let opened = rustix::fs::open(&self.path, access | OFlags::CLOEXEC, Mode::empty());
        let file = opened.map_err(|why| Unreachable {
            found: format!("{path} could not be opened: {why}"),
            remedy: "Run qdepth as root; in a container, also pass this device (`docker run \
                     --device`)",
        })?;
        let same = rustix::fs::fstat(&file).is_ok_and(|stat| {
            FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice
                && DeviceNumber::from_raw(stat.st_rdev) == self.number
        });
        if !same || claim.check_identity(system).is_err() {
            return Err(Unreachable {
                found: format!("{path} is not device {} of the target", self.number),
                remedy: "Recreate the node (`udevadm trigger`), or choose another engine",
            });
        }
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::target::inspect;
    use crate::tests::machine::FakeMachine;

    /// An inspected temporary directory, with the kind of a device of the machine.
    fn target(machine: &FakeMachine, name: &str) -> Inspected {
        let mut target = inspect(&System::real(), Path::new("/")).expect("a root");
        target.expression = PathBuf::from(format!("/dev/{name}"));
        let device = crate::tests::device(machine, name);
        target.kind = crate::target::Kind::BlockDevice(device);
        target
    }

    fn drive() -> FakeMachine {
        FakeMachine::new()
            .disk("nvme0n1", "259:0")
            .attribute("nvme0n1", "nsid", "1")
            .attribute("nvme0n1", "queue/max_hw_sectors_kb", "512")
            .attribute("nvme0n1", "device/ng0n1/dev", "237:3")
    }

    #[test]
    fn namespace_has_its_character_device() {
        let machine = drive();
        let commands =
            Commands::find(&machine.system, &target(&machine, "nvme0n1")).expect("found");
        assert_eq!((commands.namespace, commands.block_bytes), (1, 512));
        assert_eq!(commands.max_transfer_bytes, Some(512 << 10));
        assert_eq!(commands.path, Path::new("/dev/ng0n1"));
        assert_eq!(commands.number.to_string(), "237:3");
    }

    #[test]
    fn unsupported_device_for_nvme_commands_has_reason() {
        let refused = |machine: &FakeMachine, name: &str| {
            Commands::find(&machine.system, &target(machine, name)).expect_err("refused").found
        };
        let other = FakeMachine::new().disk("sda", "8:0");
        assert!(refused(&other, "sda").contains("/dev/sda is not an NVMe namespace"));
        let old = FakeMachine::new().disk("nvme0n1", "259:0").attribute("nvme0n1", "nsid", "1");
        assert!(refused(&old, "nvme0n1").contains("no character device /dev/ng0n1"));
        let metadata = drive().attribute("nvme0n1", "metadata_bytes", "8");
        assert!(refused(&metadata, "nvme0n1").contains("metadata"));
        let part = drive().partition("nvme0n1", "nvme0n1p1", "259:1");
        assert!(refused(&part, "nvme0n1p1").contains("is a partition"));
    }

    #[test]
    fn only_devices_with_poll_queues_are_polled() {
        for (text, polled) in [("1", true), ("0", false), ("", false)] {
            let machine = drive().attribute("nvme0n1", "queue/io_poll", text);
            let answer = poll_queues(&machine.system, &target(&machine, "nvme0n1"));
            assert_eq!(answer.is_ok(), polled, "{answer:?}");
        }
        let old = drive();
        let answer = poll_queues(&old.system, &target(&old, "nvme0n1")).expect_err("refused");
        assert!(answer.to_string().contains("nvme0n1 has no poll queues"), "{answer}");
    }
}
