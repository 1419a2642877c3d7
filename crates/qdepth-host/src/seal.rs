//! How a labelled device or file was left by us, so that what somebody else did to it since is
//! seen: written to the label when it is let go, compared before the label counts again.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use qdepth_measure::SplitMix;
use rustix::fs::{Stat, Timespec, Timestamps, UTIME_OMIT, XattrFlags};
use sha2::{Digest, Sha256};

use crate::aligned::AlignedBuffer;
use crate::identity::DeviceIdentity;
use crate::label::{LABEL_BYTES, Label, Left, RESERVED_BYTES, end_offset};
use crate::sysfs;
use crate::system::System;

/// Blocks of 4 KiB whose contents are kept in mind.
const SAMPLE: usize = 64;
const BLOCK: u64 = 4096;
/// Two labels, in the kernel's sectors.
const LABELS_SECTORS: u64 = 2 * LABEL_BYTES / sysfs::SECTOR_BYTES;

/// Which device a label is written to: its serial or world-wide name, or else its attachment.
fn whose(system: &System, device: &DeviceIdentity) -> Left {
    let name = &device.kernel_name;
    let start = system.read_trimmed(format!("/sys/class/block/{name}/start"));
    let mut left = Left::new();
    let mut put = |key: &str, value: Option<String>| {
        left.extend(value.map(|value| (key.to_owned(), value.replace(char::is_whitespace, "_"))));
    };
    put("serial", device.serial.clone());
    put("wwid", device.wwid.clone());
    put("start", start);
    if device.serial.is_none() && device.wwid.is_none() {
        put("diskseq", device.diskseq.map(|count| count.to_string()));
        put("boot", system.boot());
    }
    left
}

/// Sectors that were written to a device since it came up, and to its disk beside all partitions:
/// with these a number that changes with each write to it, by whatever way.
fn written(system: &System, name: &str) -> Option<(u64, u64)> {
    let sectors = |name: &str| -> Option<u64> {
        let text = system.read_trimmed(format!("/sys/class/block/{name}/stat"))?;
        let field = |at: usize| text.split_whitespace().nth(at).map_or(Some(0), |n| n.parse().ok());
        u64::checked_add(field(6)?, field(13)?)
    };
    let own = sectors(name)?;
    let Some(whole) = sysfs::whole_of(system, name) else { return Some((own, 0)) };
    let parts: u64 =
        sysfs::partitions_of(system, &whole).iter().filter_map(|part| sectors(part)).sum();
    Some((own, sectors(&whole)?.wrapping_sub(parts)))
}

/// Where the counters began: they are of one attachment.
fn attachment(system: &System, device: &DeviceIdentity) -> Option<String> {
    Some(format!("{}/{}", system.boot()?, device.diskseq?))
}

/// A digest of some blocks between the labels, by a seed.
fn sample(file: &File, size_bytes: u64, seed: u64) -> std::io::Result<String> {
    let blocks = size_bytes.saturating_sub(2 * RESERVED_BYTES) / BLOCK;
    let mut buffer = AlignedBuffer::new(BLOCK as usize);
    let (mut draws, mut hash) = (SplitMix(seed), Sha256::new());
    for _ in 0..SAMPLE.min(usize::try_from(blocks).unwrap_or(SAMPLE)) {
        let offset = RESERVED_BYTES + draws.draw() % blocks * BLOCK;
        file.read_exact_at(buffer.bytes_mut(), offset)?;
        hash.update(buffer.bytes());
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Why the label that was found on a device does not speak for what is on it now; none where it
/// does.
pub(crate) fn why_stale(
    system: &System,
    device: &DeviceIdentity,
    file: &File,
    label: &Label,
) -> Option<String> {
    let now = whose(system, device);
    if now.iter().any(|(key, value)| label.left.get(key) != Some(value)) {
        return Some("the label on it was written to another device".to_owned());
    }
    let named = now.contains_key("serial") || now.contains_key("wwid");
    let attached = now.contains_key("diskseq") && now.contains_key("boot");
    if !(named || attached) {
        return Some("it has no serial by which its label could be known as its own".to_owned());
    }
    // What others wrote may not have reached the device yet.
    let _ = rustix::fs::fsync(file);
    let same_attachment = attachment(system, device);
    if same_attachment.is_some() && label.left.get("since") == same_attachment.as_ref() {
        let now =
            written(system, &device.kernel_name).map(|(own, beside)| format!("{own}/{beside}"));
        if now.is_none() || label.left.get("written") != now.as_ref() {
            return Some("it was written to since the run that labelled it let it go".to_owned());
        }
    }
    let kept = label.left.get("sample").and_then(|text| text.split_once('/'));
    let same = kept.and_then(|(seed, digest)| {
        let now = sample(file, device.size_bytes, seed.parse().ok()?).ok()?;
        Some(now == digest)
    });
    match same {
        Some(true) => None,
        Some(false) => Some("what is on it is not what the run that labelled it left".to_owned()),
        None => Some("the run that labelled it did not come to its end".to_owned()),
    }
}

/// Writes to a label how its device or file was left, once: when it is let go, or else dropped.
#[derive(Debug)]
pub(crate) struct Seal(Option<Sealed>);

#[derive(Debug)]
enum Sealed {
    Device(Box<DeviceSeal>),
    File { file: OwnedFd, label: Label },
}

/// What a device is sealed with.
#[derive(Debug)]
pub(crate) struct DeviceSeal {
    pub(crate) system: System,
    pub(crate) device: DeviceIdentity,
    pub(crate) file: OwnedFd,
    pub(crate) label: Label,
}

impl Seal {
    pub(crate) fn of_device(device: DeviceSeal) -> Self {
        Self(Some(Sealed::Device(Box::new(device))))
    }

    pub(crate) fn of_file(file: OwnedFd, label: Label) -> Self {
        Self(Some(Sealed::File { file, label }))
    }

    /// # Errors
    /// What the storage answered: the label does not count then, and the user is asked again.
    pub(crate) fn write(&mut self) -> std::io::Result<()> {
        match &mut self.0.take() {
            Some(Sealed::Device(seal)) => seal_device(seal),
            Some(Sealed::File { file, label }) => seal_file(file, label),
            None => Ok(()),
        }
    }
}

impl Drop for Seal {
    fn drop(&mut self) {
        let _ = self.write();
    }
}

fn seal_device(seal: &mut DeviceSeal) -> std::io::Result<()> {
    let DeviceSeal { system, device, file, label } = seal;
    if DeviceIdentity::read(system, device.number).as_ref() != Some(&*device) {
        return Ok(());
    }
    let file = File::from(file.try_clone()?);
    file.sync_all()?;
    let seed = uuid::Uuid::new_v4().as_u64_pair().0;
    label.left = whose(system, device);
    label
        .left
        .insert("sample".into(), format!("{seed}/{}", sample(&file, device.size_bytes, seed)?));
    label.left.extend(attachment(system, device).map(|since| ("since".to_owned(), since)));
    for _ in 0..3 {
        // The labels are counted as well.
        let then = written(system, &device.kernel_name);
        let then = then.map(|(own, beside)| format!("{}/{beside}", own + LABELS_SECTORS));
        label.left.extend(then.clone().map(|then| ("written".to_owned(), then)));
        label.write_at(&file, 0)?;
        label.write_at(&file, end_offset(device.size_bytes))?;
        file.sync_all()?;
        let now =
            written(system, &device.kernel_name).map(|(own, beside)| format!("{own}/{beside}"));
        if now == then {
            break;
        }
    }
    Ok(())
}

/// Says that a run of ours is writing to the file: until it is sealed its times tell nothing. On a
/// file system without extended attributes a file of a run that was killed is nobody's.
const WRITING: &str = "user.qdepth-writing";

/// What identifies a file among its copies.
fn name_and_inode(stat: &Stat, path: &Path) -> Left {
    let name =
        path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let name = name.replace(char::is_whitespace, "_");
    let inode = stat.st_ino.to_string();
    [("name".to_owned(), name), ("inode".to_owned(), inode)].into()
}

fn time_of(stat: &Stat) -> String {
    format!("{}.{:09}", stat.st_mtime, stat.st_mtime_nsec)
}

/// Why the label that was found in a file does not speak for what is in it now; none where it does.
pub(crate) fn why_file_stale(file: impl AsFd, names: &[PathBuf], label: &Label) -> Option<String> {
    let Ok(stat) = rustix::fs::fstat(&file) else { return Some("it does not answer".to_owned()) };
    let is_here = |path: &PathBuf| {
        name_and_inode(&stat, path).iter().all(|(key, value)| label.left.get(key) == Some(value))
    };
    if !names.iter().any(is_here) {
        return Some("it was copied or renamed since".to_owned());
    }
    let mut id = [0_u8; 64];
    let killed = rustix::fs::fgetxattr(&file, WRITING, &mut id).is_ok();
    let same = label.left.get("mtime") == Some(&time_of(&stat));
    (!killed && !same).then(|| "somebody wrote to it since".to_owned())
}

/// Notes in a file that is about to be written by us which file it is.
pub(crate) fn begin(file: impl AsFd, path: &Path, label: &mut Label) {
    if let Ok(stat) = rustix::fs::fstat(&file) {
        label.left.extend(name_and_inode(&stat, path));
    }
    let _ = rustix::fs::fsetxattr(&file, WRITING, label.run_id.as_bytes(), XattrFlags::empty());
}

/// The time of a file's last change as every file system can keep it: in whole seconds, and even
/// ones.
fn kept_mtime(stat: &Stat) -> Timespec {
    Timespec { tv_sec: stat.st_mtime / 2 * 2, tv_nsec: 0 }
}

fn set_mtime(file: &OwnedFd, last_modification: Timespec) -> std::io::Result<()> {
    let last_access = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    Ok(rustix::fs::futimens(file, &Timestamps { last_access, last_modification })?)
}

/// How a file without a label was left: its inode, the time of its last change, its name.
const LEFT: &str = "user.qdepth-left";

/// Notes in a file that is kept how it is left.
///
/// # Errors
/// When its time cannot be set. A file system without extended attributes keeps no note, and the
/// file is nobody's then.
pub(crate) fn leave(file: &OwnedFd, name: &str) -> std::io::Result<()> {
    rustix::fs::fsync(file)?;
    set_mtime(file, kept_mtime(&rustix::fs::fstat(file)?))?;
    let note = note_of(&rustix::fs::fstat(file)?, name);
    let _ = rustix::fs::fsetxattr(file, LEFT, note.as_bytes(), XattrFlags::empty());
    Ok(())
}

/// A run of ours writes to it again: until it is left its times tell nothing.
pub(crate) fn take_back(file: &OwnedFd) {
    let _ = rustix::fs::fremovexattr(file, LEFT);
}

/// Why a file that we made is not as it was left; none where it is, or where its run was killed.
pub(crate) fn why_left_changed(file: &File, name: &str) -> Option<String> {
    let mut note = [0_u8; 512];
    let long = rustix::fs::fgetxattr(file, LEFT, &mut note).ok()?;
    let Ok(stat) = rustix::fs::fstat(file) else { return Some("it does not answer".to_owned()) };
    let same = note.get(..long) == Some(note_of(&stat, name).as_bytes());
    (!same).then(|| "somebody wrote to it, copied or renamed it since".to_owned())
}

fn note_of(stat: &Stat, name: &str) -> String {
    format!("{} {} {name}", stat.st_ino, time_of(stat))
}

fn seal_file(file: &OwnedFd, label: &mut Label) -> std::io::Result<()> {
    let stat = rustix::fs::fstat(file)?;
    // Its name is gone: nobody comes back to it.
    if stat.st_nlink == 0 {
        return Ok(());
    }
    if label.left.get("mtime") != Some(&time_of(&stat)) {
        let mtime = kept_mtime(&stat);
        label.left.insert("mtime".into(), format!("{}.{:09}", mtime.tv_sec, mtime.tv_nsec));
        let data = File::from(file.try_clone()?);
        data.sync_all()?;
        label.write_at(&data, label.size_bytes)?;
        data.sync_all()?;
        set_mtime(file, mtime)?;
    }
    rustix::fs::fremovexattr(file, WRITING)?;
    Ok(())
}
