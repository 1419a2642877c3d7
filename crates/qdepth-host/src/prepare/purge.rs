//! Erase commands of a drive: their preconditions, checked before anything is changed, and the wait
//! for a sanitize.
//!
//! `nvme format` and `nvme sanitize` are commands to a controller: one namespace is named, but the
//! drive may erase others with it, and may know neither. Sections are those of the NVM Express Base
//! Specification 2.0.

use std::io;
use std::time::Duration;

use serde_json::Value;

use super::{PurgeMethod, Step};
use crate::environment::complaint;
use crate::refusal::{Guard, Refusal};
use crate::sysfs;
use crate::system::System;

/// OACS, bit 1: Format NVM is supported (5.17.2.1).
const CAN_FORMAT: u64 = 1 << 1;
/// OACS, bit 3: namespaces are managed, so that some may be there and attached to nobody
/// (5.17.2.1).
const MANAGES_NAMESPACES: u64 = 1 << 3;
/// FNA, bit 0: a format of one namespace is one of all. Bit 1: a secure erase is (5.17.2.1).
const ERASES_ALL: u64 = 0b11;
/// SANICAP, bits 0 to 2, with the names of section 5.24.
const SANITIZES_BY: [(u64, &str); 3] =
    [(1, "crypto erase"), (CAN_BLOCK_ERASE, "block erase"), (1 << 2, "overwrite")];
const CAN_BLOCK_ERASE: u64 = 1 << 1;

/// Asks the drive of each step that purges by `format` or `sanitize` whether it can, and whether it
/// would erase more than the namespace that is named. Nothing is changed.
///
/// # Errors
/// [`Guard::G16Purge`] for the first step that cannot be done, or would reach further; also where
/// the drive cannot be asked.
pub fn can_purge(system: &System, steps: &[Step]) -> Result<(), Refusal> {
    for step in steps {
        match step {
            Step::Purge { device, method: PurgeMethod::Format } => {
                can_format(system, device.as_str())?;
            }
            Step::Purge { device, method: PurgeMethod::Sanitize } => {
                can_sanitize(system, device.as_str())?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn refused(found: String, remedy: impl Into<String>) -> Refusal {
    Refusal::new(Guard::G16Purge, found, remedy)
}

/// Alternatives that are always available.
const INSTEAD: &str = "`method = \"discard\"` or `method = \"overwrite\"`";

fn can_format(system: &System, device: &str) -> Result<(), Refusal> {
    let name = namespace(system, device, "format")?;
    let abilities = Abilities::query(system, device)?;
    if abilities.oacs & CAN_FORMAT == 0 {
        return Err(refused(
            format!(
                "{device} says that it has no Format NVM command (OACS {:#x}, bit 1 is 0), which \
                 `method = \"format\"` needs",
                abilities.oacs
            ),
            format!("Give {INSTEAD} for it"),
        ));
    }
    if abilities.fna & ERASES_ALL != 0 {
        let why =
            format!("a format of one of its namespaces erases all (FNA {:#x})", abilities.fna);
        is_alone(system, device, &name, &abilities, &why)?;
    }
    Ok(())
}

fn can_sanitize(system: &System, device: &str) -> Result<(), Refusal> {
    let name = namespace(system, device, "sanitize")?;
    let abilities = Abilities::query(system, device)?;
    if abilities.sanicap & CAN_BLOCK_ERASE == 0 {
        let others: Vec<&str> = SANITIZES_BY
            .iter()
            .filter(|(bit, _)| abilities.sanicap & bit != 0)
            .map(|by| by.1)
            .collect();
        let others =
            if others.is_empty() { "no other way either".to_owned() } else { others.join(" and ") };
        let format = if abilities.oacs & CAN_FORMAT == 0 {
            ""
        } else {
            "`method = \"format\"`, which it has, or "
        };
        return Err(refused(
            format!(
                "{device} says that it cannot be sanitized by block erase (SANICAP {:#x}, bit 1 is \
                 0), which `method = \"sanitize\"` needs; it has {others}",
                abilities.sanicap
            ),
            format!("Give {format}{INSTEAD} for it"),
        ));
    }
    // Sanitize is a command to the whole NVM subsystem (5.24).
    is_alone(system, device, &name, &abilities, "a sanitize erases all of the drive")?;
    match Sanitized::read(system, device) {
        Ok(Sanitized::Working { .. }) => Err(refused(
            format!("{device} is being sanitized already"),
            format!("Wait until `nvme sanitize-log {device}` says that it completed"),
        )),
        Ok(_) => Ok(()),
        Err(why) => Err(refused(
            format!(
                "{device} does not report the progress of a sanitize, so qdepth could not \
                 wait for it: {why}"
            ),
            format!("Give {INSTEAD} for it"),
        )),
    }
}

/// The kernel's name of an NVMe namespace. A partition is none: the command would reach the whole
/// namespace, whose other partitions nobody gave up.
fn namespace(system: &System, device: &str, method: &str) -> Result<String, Refusal> {
    let name = system.block_node(device).and_then(|number| sysfs::kernel_name(system, number));
    let Some(name) = name else {
        return Err(refused(
            format!(
                "{device} is not a block device, and `method = \"{method}\"` needs an NVMe \
                 namespace"
            ),
            "Give the path of a namespace, as /dev/nvme0n1",
        ));
    };
    if let Some(whole) = sysfs::whole_of(system, &name) {
        return Err(refused(
            format!(
                "{device} is a partition, and `method = \"{method}\"` erases all of /dev/{whole}"
            ),
            format!("Purge /dev/{whole}, or give {INSTEAD} for the partition"),
        ));
    }
    if sysfs::nvme_controllers(system, &name).is_empty() {
        return Err(refused(
            format!("{device} is not an NVMe namespace, which `method = \"{method}\"` needs"),
            format!("Give {INSTEAD} for it"),
        ));
    }
    Ok(name)
}

/// Abilities from Identify Controller (5.17.2.1).
struct Abilities {
    oacs: u64,
    fna: u64,
    sanicap: u64,
}

impl Abilities {
    fn query(system: &System, device: &str) -> Result<Self, Refusal> {
        let cannot = |why: String| {
            refused(
                format!("{device} could not be asked which of its own commands erase it: {why}"),
                "Install nvme-cli and be root, or give `method = \"discard\"`",
            )
        };
        let answer = nvme_json(system, &["id-ctrl", device, "-o", "json"]).map_err(cannot)?;
        let field = |key: &str| {
            answer[key].as_u64().ok_or_else(|| cannot(format!("its answer has no `{key}`")))
        };
        Ok(Self { oacs: field("oacs")?, fna: field("fna")?, sanicap: field("sanicap")? })
    }
}

/// The answer of nvme-cli.
fn nvme_json(system: &System, args: &[&str]) -> Result<Value, String> {
    let output = system.run("nvme", args).map_err(|error| error.to_string())?;
    if output.status != Some(0) {
        return Err(complaint("nvme", &output));
    }
    serde_json::from_str(&output.stdout).map_err(|_| complaint("nvme", &output))
}

/// Refuses unless the drive holds no namespace but this one: consent names one namespace only.
fn is_alone(
    system: &System,
    device: &str,
    name: &str,
    abilities: &Abilities,
    why: &str,
) -> Result<(), Refusal> {
    let unknown = |what: String| {
        refused(
            format!("{why}, and which namespaces {device} has is not known: {what}"),
            format!("Give {INSTEAD}, which erase this namespace alone"),
        )
    };
    let own = sysfs::number_attribute(system, name, "nsid")
        .ok_or_else(|| unknown(format!("/sys/class/block/{name}/nsid cannot be read")))?;
    let mut args = vec!["list-ns", device, "-o", "json"];
    // Those that are attached to nobody (CNS 10h) are listed only by drives that manage them.
    if abilities.oacs & MANAGES_NAMESPACES != 0 {
        args.push("--all");
    }
    let list = nvme_json(system, &args).map_err(unknown)?;
    let all = list["nsid_list"].as_array().into_iter().flatten();
    let all: Vec<u64> = all.filter_map(|namespace| namespace["nsid"].as_u64()).collect();
    if !all.contains(&own) {
        return Err(unknown(format!("`nvme list-ns` does not list its own, {own}")));
    }
    let others: Vec<String> = all.iter().filter(|nsid| **nsid != own).map(u64::to_string).collect();
    if others.is_empty() {
        return Ok(());
    }
    Err(refused(
        format!("{why}, and {device} shares its drive with namespace {}", others.join(", ")),
        format!(
            "Give {INSTEAD}, which erase this namespace alone; or, if nobody needs the others, \
             `nvme delete-ns` them first"
        ),
    ))
}

/// Result of the most recent sanitize: SSTAT, bits 2:0, of the Sanitize Status log (5.16.1.25).
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sanitized {
    /// 0: there was none.
    Never,
    /// 1, or 4 where blocks were to stay allocated: it completed.
    Done,
    /// 2: it is at work.
    Working {
        /// SPROG, of 65536.
        progress: u64,
        /// Seconds that a block erase takes, as the drive estimates; `None` if it does not.
        estimate: Option<u64>,
    },
    /// 3: it failed.
    Failed,
}

impl Sanitized {
    /// Reads the log.
    fn read(system: &System, device: &str) -> Result<Self, String> {
        Self::from_document(&nvme_json(system, &["sanitize-log", device, "-o", "json"])?)
    }

    /// Result from nvme-cli's document: one object, named like the device, whose `sstat.status` is
    /// a text, for example `(2) Sanitize in Progress.`
    fn from_document(document: &Value) -> Result<Self, String> {
        let logs = document.as_object().into_iter().flat_map(serde_json::Map::values);
        let log = logs
            .into_iter()
            .find(|log| log["sstat"].is_object())
            .ok_or("`nvme sanitize-log` reports no `sstat`")?;
        let status = &log["sstat"]["status"];
        let number = status
            .as_str()
            .and_then(|text| text.trim().strip_prefix('(')?.split_once(')')?.0.parse().ok())
            .or_else(|| status.as_u64());
        match number {
            Some(0) => Ok(Self::Never),
            Some(1 | 4) => Ok(Self::Done),
            Some(2) => Ok(Self::Working {
                progress: log["sprog"].as_u64().unwrap_or(0),
                // All ones: it does not estimate.
                estimate: log["time_block_erase"].as_u64().filter(|s| *s < u64::from(u32::MAX)),
            }),
            Some(3) => Ok(Self::Failed),
            _ => Err(format!("`nvme sanitize-log` reports an unknown status: {status}")),
        }
    }
}

/// Interval and time limit for asking a drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Between two polls.
    pub(super) pause: Duration,
    /// Number of polls.
    pub(super) polls: u32,
    /// A person is told how far it is at the first poll and then at each of this many.
    pub(super) polls_per_line: u32,
}

impl Patience {
    /// Four hours, as any command of a preparation has; a line a minute.
    pub(super) const REAL: Self =
        Self { pause: Duration::from_secs(2), polls: 4 * 3600 / 2, polls_per_line: 30 };
}

/// Receiver of progress, which may end the wait.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Tells a person.
    pub print_line: &'a dyn Fn(&str),
    /// True if the wait is to end.
    pub stop: &'a dyn Fn() -> bool,
}

impl Watch<'_> {
    /// Nobody.
    pub const NOBODY: Watch<'static> = Watch { print_line: &|_| {}, stop: &|| false };
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

/// Waits until the drive says that its sanitize completed: the command returns when it has begun
/// (8.21).
///
/// # Errors
/// If it failed, gives no status, took longer than that, or the wait was cancelled; each with a
/// remedy. The drive may still be working.
pub(super) fn wait_for_sanitize(
    system: &System,
    device: &str,
    patience: Patience,
    watch: Watch<'_>,
) -> io::Result<()> {
    let log = format!("`nvme sanitize-log {device}`");
    for poll in 0..patience.polls {
        let seen = Sanitized::read(system, device).map_err(|why| {
            io::Error::other(format!("{why}. Ask {log} whether the sanitize goes on"))
        })?;
        match seen {
            Sanitized::Done => return Ok(()),
            Sanitized::Failed => {
                return Err(io::Error::other(format!(
                    "{device} says that the sanitize failed (SSTAT 3); it answers no reads and \
                     writes until one succeeds: look at {log}, then sanitize it again"
                )));
            }
            Sanitized::Never => {
                return Err(io::Error::other(format!(
                    "{device} took the command and says that it was never sanitized (SSTAT 0): \
                     look at {log}, and purge it in another way"
                )));
            }
            Sanitized::Working { progress, estimate } if poll % patience.polls_per_line == 0 => {
                let percent = progress.min(65536) * 100 / 65536;
                let whole = estimate
                    .map_or_else(String::new, |s| format!(", {s} s in all as it estimates"));
                (watch.print_line)(&format!("sanitize   {device}: {percent} %{whole}"));
            }
            Sanitized::Working { .. } => {}
        }
        if (watch.stop)() {
            return Err(io::Error::new(
                io::ErrorKind::Interrupted,
                format!("interrupted, and {device} goes on sanitizing: {log} says how far it is"),
            ));
        }
        std::thread::park_timeout(patience.pause);
    }
    Err(io::Error::new(
        io::ErrorKind::TimedOut,
        format!(
            "{device} did not complete the sanitize within {} s and goes on: begin again when \
             {log} says that it completed",
            patience.pause.as_secs() * u64::from(patience.polls)
        ),
    ))
}

#[cfg(test)]
mod tests;
