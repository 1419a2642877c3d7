//! Consent to the loss of the contents of one device or file. Only this module creates a consent,
//! and only from the name of that device or file, typed in full.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::{SignedDuration, Timestamp};
use qdepth_files::shell_word;
use qdepth_linux::file_handle;

use crate::identity::{DeviceIdentity, Identity, created, short_digest};
use crate::refusal::{Guard, Refusal, not_ours};
use crate::same_storage::file_system_id;
use crate::served::is_served_kind;
use crate::sysfs::{self, SECTOR_BYTES};
use crate::system::System;
use crate::target::{BlockDevice, Inspected, Kind};

/// Longest validity of a consent file, in hours.
pub const LONGEST_HOURS: i64 = 24;

/// Data that a write would destroy.
#[derive(Clone, Copy, Debug)]
pub enum DataAtRisk<'a> {
    /// Everything on a device.
    Device(&'a BlockDevice),
    /// Data of an existing file.
    File(&'a Inspected),
}

impl<'a> From<&'a BlockDevice> for DataAtRisk<'a> {
    fn from(device: &'a BlockDevice) -> Self {
        Self::Device(device)
    }
}

impl<'a> From<&'a Inspected> for DataAtRisk<'a> {
    fn from(target: &'a Inspected) -> Self {
        target.block_device().map_or(Self::File(target), Self::Device)
    }
}

impl DataAtRisk<'_> {
    fn identity(self) -> Identity {
        match self {
            Self::Device(device) => Identity::Device(device.identity.clone()),
            Self::File(file) => file.identity(),
        }
    }

    /// Path of the device or file.
    pub fn name(self) -> String {
        match self {
            Self::Device(device) => format!("/dev/{}", device.identity.kernel_name),
            Self::File(file) => file.path.display().to_string(),
        }
    }

    /// Length of the device or file in bytes.
    pub fn size_bytes(self) -> u64 {
        self.identity().size_bytes()
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Device(_) => "device",
            Self::File(_) => "file",
        }
    }
}

/// The user's consent to the loss of everything on one device, or in one file.
#[derive(Clone, Debug)]
pub struct Consent {
    identity: Identity,
    overwrite: Vec<String>,
    expires: Option<Timestamp>,
    /// True if a run has written by this consent. The data is lost then, and the runs of one
    /// command continue after the consent expires. Clones share this flag.
    used: Arc<AtomicBool>,
}

impl Consent {
    /// Consent given at a terminal: `typed` after `--destroy`, and `last_four` in answer to the
    /// question. `overwrite` names the signatures (`ext4`, `gpt`, `data`) whose loss is accepted.
    ///
    /// # Errors
    /// [`Guard::G9Consent`] with the correct words.
    pub fn on_terminal<'a>(
        system: &System,
        at_risk: impl Into<DataAtRisk<'a>>,
        typed: &str,
        last_four: &str,
        overwrite: &[String],
    ) -> Result<Self, Refusal> {
        let at_risk = at_risk.into();
        check_typed(system, at_risk, typed)?;
        if !last_four_match(typed, last_four) {
            return Err(Refusal::new(
                Guard::G9Consent,
                format!("`{typed}` does not end in `{last_four}`"),
                "Type the last four characters of the value of --destroy",
            ));
        }
        let overwrite = overwrite.to_vec();
        Ok(Self::new(at_risk, overwrite, None))
    }

    /// Consent given without a terminal: `typed` after `--destroy`, and the text of a consent file
    /// ([`template`]), which names the same device, its size and the end of the consent. The file
    /// may hold several such sections, one per device. The same applies to files.
    ///
    /// # Errors
    /// [`Guard::G9Consent`] if either does not name this device, or if the consent has expired or
    /// ends more than [`LONGEST_HOURS`] in the future.
    pub fn from_file<'a>(
        system: &System,
        at_risk: impl Into<DataAtRisk<'a>>,
        typed: &str,
        text: &str,
        now: Timestamp,
        overwrite: &[String],
    ) -> Result<Self, Refusal> {
        let at_risk = at_risk.into();
        check_typed(system, at_risk, typed)?;
        let remedy =
            || format!("Write this to the consent file:\n{}", template(system, at_risk, now));
        let refuse = |found: String| Err(Refusal::new(Guard::G9Consent, found, remedy()));
        let file = match FileText::parse(section_of(text, typed)) {
            Ok(file) => file,
            Err(found) => return refuse(found),
        };
        if file.destroy != typed {
            return refuse(format!("the consent file names {}, not {typed}", file.destroy));
        }
        if file.size_bytes != at_risk.size_bytes() {
            let (theirs, ours, kind) = (file.size_bytes, at_risk.size_bytes(), at_risk.kind());
            return refuse(format!(
                "the consent file names a size of {theirs} B, but the {kind} has {ours} B"
            ));
        }
        let longest = SignedDuration::from_hours(LONGEST_HOURS);
        if file.expires <= now || file.expires.duration_since(now) > longest {
            let found = format!("the consent expires at {}, and it is now {now}", file.expires);
            return refuse(format!("{found}; it must expire within the next {LONGEST_HOURS} h"));
        }
        Ok(Self::new(at_risk, overwrite.to_vec(), Some(file.expires)))
    }

    fn new(at_risk: DataAtRisk<'_>, overwrite: Vec<String>, expires: Option<Timestamp>) -> Self {
        Self { identity: at_risk.identity(), overwrite, expires, used: Arc::default() }
    }

    /// True if the consent was given for this device or file.
    pub fn is_for<'a>(&self, at_risk: impl Into<DataAtRisk<'a>>) -> bool {
        self.identity == at_risk.into().identity()
    }

    pub(crate) fn note_use(&self) {
        self.used.store(true, Ordering::Relaxed);
    }

    /// True if a run of this command has written by this consent.
    pub(crate) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    /// True if the loss of data with this signature was accepted.
    pub(crate) fn overwrites(&self, signature: &str) -> bool {
        self.overwrite.iter().any(|named| named == signature)
    }

    /// Checks that the consent is for this device, that the device is unchanged, and that the
    /// consent is still valid.
    pub(crate) fn check(
        &self,
        system: &System,
        device: &BlockDevice,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let name = &device.identity.kernel_name;
        let then = match &self.identity {
            Identity::Device(then) if then.number == device.identity.number => then,
            other => {
                let found = format!("the consent is for {other}, not /dev/{name}");
                let remedy = remedy(system, device.into());
                return Err(Refusal::new(Guard::G9Consent, found, remedy));
            }
        };
        if let Some(changed) = then.difference(&device.identity) {
            let found = format!("/dev/{name} is not the device that you consented to: {changed}");
            return Err(Refusal::new(
                Guard::G10Identity,
                found,
                "Check the device again, then consent",
            ));
        }
        self.is_still_good(&format!("/dev/{name}"), now)
    }

    /// Checks that the consent is for the file with this identity, and still valid.
    pub(crate) fn check_file(
        &self,
        file: &Inspected,
        is: &Identity,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let name = file.path.display().to_string();
        if self.identity != *is {
            let found = format!("the consent is for {}, but {name} is {is}", self.identity);
            return Err(Refusal::new(
                Guard::G9Consent,
                found,
                "Check the device again, then consent",
            ));
        }
        self.is_still_good(&name, now)
    }

    fn is_still_good(&self, name: &str, now: Timestamp) -> Result<(), Refusal> {
        if !self.is_used() && self.expires.is_some_and(|end| end <= now) {
            let found = format!("the consent for {name} has expired");
            return Err(Refusal::new(Guard::G9Consent, found, "Write a new consent file"));
        }
        Ok(())
    }
}

/// Refusal for a missing consent, with the words to type. `signatures` are those on the device,
/// which must be named, too.
pub(crate) fn missing(
    system: &System,
    device: &BlockDevice,
    signatures: &[String],
    now: Timestamp,
) -> Refusal {
    let mut words = destroy(system, device.into());
    let mut and_signatures = String::new();
    if !signatures.is_empty() {
        let named = signatures.join(",");
        and_signatures = format!(" and --overwrite-signature {named}");
        words.extend(["--overwrite-signature".to_owned(), named]);
    }
    let name = &device.identity.kernel_name;
    let mut found =
        format!("writing to /dev/{name} destroys all data on it, and you did not consent");
    if some_are_hidden(system) {
        found += ". qdepth runs in a container: check that no program outside it writes to the \
                  device, which no guard can see";
    }
    if memory_is_pinned(system) {
        found += ". A program keeps memory pinned: if that is an io_uring without descriptor and \
                  mapping, it could write to the device unseen";
    }
    Refusal::new(
        Guard::G9Consent,
        found,
        format!(
            "{}{and_signatures}. Without a terminal, also add --consent FILE with a file that \
             contains\n{}",
            remedy(system, device.into()),
            template(system, device, now)
        ),
    )
    .lacking(words)
}

/// True if other processes may exist that `/proc` does not list, because the current one is in a
/// PID namespace below the first, whose inode is fixed (`PROC_PID_INIT_INO` of the kernel).
fn some_are_hidden(system: &System) -> bool {
    let namespace = system.read_link("/proc/self/ns/pid");
    namespace.is_ok_and(|name| name.as_os_str() != "pid:[4026531836]")
}

/// True if pages of programs are pinned. An io_uring that is registered only with itself appears
/// nowhere but in these counters of the kernel, together with other users of pinned memory.
fn memory_is_pinned(system: &System) -> bool {
    let vmstat = system.read_file("/proc/vmstat").unwrap_or_default();
    let count = |name: &str| {
        vmstat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok())
    };
    count("nr_foll_pin_acquired") != count("nr_foll_pin_released")
}

/// Refusal of a file with foreign contents, to whose loss the user did not consent.
pub(crate) fn missing_for_file(system: &System, file: &Inspected, now: Timestamp) -> Refusal {
    Refusal::new(
        Guard::G8Ownership,
        not_ours(&file.expression).found,
        format!(
            "Use a directory, a new or empty file, or a plan that only reads. {}. Without a \
             terminal, also add --consent FILE with a file that contains\n{}",
            remedy(system, file.into()),
            template(system, file, now)
        ),
    )
    .lacking(destroy(system, file.into()))
}

fn remedy(system: &System, at_risk: DataAtRisk<'_>) -> String {
    let words: Vec<String> = tokens(system, at_risk).iter().map(|t| shell_word(t)).collect();
    let tokens = words.join(" or ");
    match at_risk {
        DataAtRisk::Device(_) => format!("If that is what you want, add --destroy {tokens}"),
        DataAtRisk::File(_) => format!("If its contents may be lost, add --destroy {tokens}"),
    }
}

/// Options that give the consent on the command line.
fn destroy(system: &System, at_risk: DataAtRisk<'_>) -> Vec<String> {
    let token = tokens(system, at_risk).into_iter().next().unwrap_or_default();
    vec!["--destroy".to_owned(), token]
}

/// Words of consent for a device, best first: its serial number if no other disk has it, then its
/// WWID, each with `-partN@SECTOR` for a partition, which names its start. Without either,
/// `PATH:SIZE_IN_BYTES:DISKSEQ:DIGEST`; before Linux 5.15 without the disk sequence number. The
/// digest is that of the boot and of the place of the device on what it is built on. For a file:
/// `PATH:SIZE_IN_BYTES:INODE:DIGEST`, with control characters of the path escaped as `\n`, and the
/// digest of its file system and time of creation, or without one, of the kernel's file handle.
pub fn tokens<'a>(system: &System, at_risk: impl Into<DataAtRisk<'a>>) -> Vec<String> {
    let device = match at_risk.into() {
        DataAtRisk::Device(device) => device,
        DataAtRisk::File(file) => return vec![file_token(system, file)],
    };
    let identity = &device.identity;
    let part = device.partition.as_ref().map_or_else(String::new, |part| {
        let start = sysfs::own_bytes(system, &identity.kernel_name, "start").unwrap_or(0);
        format!("-part{}@{}", part.number, start / SECTOR_BYTES)
    });
    let serial = identity
        .serial
        .as_ref()
        .filter(|serial| serial.chars().count() >= 4 && !is_shared(system, identity, serial));
    let named = serial.into_iter().chain(&identity.wwid);
    let mut tokens: Vec<String> = named.map(|name| format!("{name}{part}")).collect();
    if tokens.is_empty() {
        // The sequence number distinguishes the device from a later one with the same name.
        let count = identity.diskseq.map_or_else(String::new, |count| format!(":{count}"));
        let digest = short_digest(&format!("{:?} {:?}", system.boot(), identity.place));
        let (name, size) = (&identity.kernel_name, identity.size_bytes);
        tokens.push(format!("/dev/{name}:{size}{count}:{}", &digest[..DIGEST]));
    }
    tokens
}

/// Characters of the digests in tokens.
const DIGEST: usize = 8;

fn file_token(system: &System, file: &Inspected) -> String {
    let (file_system, is_served) = match &file.kind {
        Kind::RegularFile { file_system, .. } => {
            (file_system_id(system, file, file_system), is_served_kind(&file_system.kind))
        }
        Kind::Directory(_) | Kind::BlockDevice(_) => (String::new(), false),
    };
    // The handles of a server may change while it runs.
    let handle = || {
        let handle = file_handle(file.handle()).filter(|_| !is_served)?;
        Some(format!("{handle:?}"))
    };
    let digest =
        short_digest(&format!("{file_system} {:?}", created(file.handle()).or_else(handle)));
    let (path, inode) = (on_one_line(&file.path), file.inode().1);
    format!("{path}:{}:{inode}:{}", file.identity().size_bytes(), &digest[..DIGEST])
}

/// Namespaces of one NVMe controller share a serial, and so do disks of careless makers.
fn is_shared(system: &System, identity: &DeviceIdentity, serial: &str) -> bool {
    let name = &identity.kernel_name;
    let whole = sysfs::whole_of(system, name).unwrap_or_else(|| name.clone());
    sysfs::whole_devices(system).iter().filter(|other| **other != whole).any(|other| {
        let number = sysfs::number_of(system, other);
        let other = number.and_then(|number| DeviceIdentity::read_names(system, number));
        other.is_some_and(|other| other.serial.as_deref() == Some(serial))
    })
}

fn check_typed(system: &System, at_risk: DataAtRisk<'_>, typed: &str) -> Result<(), Refusal> {
    if tokens(system, at_risk).iter().any(|token| token == typed) {
        return Ok(());
    }
    let why = if typed.contains(['*', '?', '[']) {
        "a pattern is not accepted as consent"
    } else if typed.starts_with("/dev/") && !typed.contains(':') {
        "a device name is not accepted as consent, because it may be another device after the next \
         boot"
    } else if let DataAtRisk::File(_) = at_risk {
        "it must name exactly this file"
    } else {
        "it must name exactly this device"
    };
    let found = format!("`{typed}` is not consent for {}: {why}", at_risk.name());
    Err(Refusal::new(Guard::G9Consent, found, remedy(system, at_risk)))
}

/// The path with control characters escaped, for example line breaks, which would give a consent
/// file another meaning.
fn on_one_line(path: &Path) -> String {
    let plain = |letter: char| match letter {
        letter if letter.is_control() => letter.escape_default().to_string(),
        letter => letter.to_string(),
    };
    path.display().to_string().chars().map(plain).collect()
}

/// True if `again` is the last four characters of `typed`.
pub fn last_four_match(typed: &str, again: &str) -> bool {
    let again = again.trim();
    again.chars().count() == 4 && typed.ends_with(again)
}

/// Text of a consent file for a device or file, valid for one hour.
pub fn template<'a>(system: &System, at_risk: impl Into<DataAtRisk<'a>>, now: Timestamp) -> String {
    let at_risk = at_risk.into();
    let token = tokens(system, at_risk).into_iter().next().unwrap_or_default();
    let expires = now.checked_add(SignedDuration::from_hours(1)).unwrap_or(now);
    format!(
        "destroy = \"{token}\"\nsize_bytes = {}\nexpires = \"{expires:.0}\"\n",
        at_risk.size_bytes()
    )
}

/// Section for this device in a file with several consents; else the whole file.
fn section_of<'a>(text: &'a str, typed: &str) -> &'a str {
    let starts = || text.match_indices("destroy").map(|(at, _)| at);
    let begins = |at: &usize| *at == 0 || text[..*at].ends_with('\n');
    let ends = starts().filter(begins).skip(1).chain([text.len()]);
    let sections = starts().filter(begins).zip(ends).map(|(from, to)| &text[from..to]);
    let named = |section: &&str| {
        let value = section.lines().next().and_then(|line| line.split_once('='));
        value.is_some_and(|(_, value)| value.trim().trim_matches('"') == typed)
    };
    if starts().filter(begins).count() < 2 {
        return text;
    }
    sections.into_iter().find(named).unwrap_or(text)
}

struct FileText {
    destroy: String,
    size_bytes: u64,
    expires: Timestamp,
}

impl FileText {
    fn parse(text: &str) -> Result<Self, String> {
        let (mut destroy, mut size_bytes, mut expires) = (None, None, None);
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let bad = || format!("the line `{line}` of the consent file is not valid");
            let (key, value) = line.split_once('=').ok_or_else(bad)?;
            let value = value.trim().trim_matches('"').to_owned();
            let is_second = match key.trim() {
                "destroy" => destroy.replace(value).is_some(),
                "size_bytes" => {
                    size_bytes.replace(value.parse::<u64>().map_err(|_| bad())?).is_some()
                }
                "expires" => {
                    expires.replace(value.parse::<Timestamp>().map_err(|_| bad())?).is_some()
                }
                _ => return Err(bad()),
            };
            if is_second {
                return Err(format!("the consent file contains `{}` twice", key.trim()));
            }
        }
        let lacks = |key: &str| format!("the consent file has no `{key}`");
        Ok(Self {
            destroy: destroy.ok_or_else(|| lacks("destroy"))?,
            size_bytes: size_bytes.ok_or_else(|| lacks("size_bytes"))?,
            expires: expires.ok_or_else(|| lacks("expires"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::machine::FakeMachine;

    #[test]
    fn pinned_memory_is_detected_by_its_counters() {
        let is_pinned = |text: &str| {
            let machine = FakeMachine::new().with_file("proc/vmstat", text);
            memory_is_pinned(&machine.system)
        };
        assert!(is_pinned("nr_foll_pin_acquired 9\nnr_foll_pin_released 7\npswpin 0\n"));
        assert!(!is_pinned("nr_foll_pin_acquired 9\nnr_foll_pin_released 9\n"));
        assert!(!is_pinned("pswpin 0\n"));
    }
}
