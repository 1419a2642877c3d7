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
use crate::environment::error_output;
use crate::refusal::{Guard, Refusal};
use crate::sysfs;
use crate::system::System;

/// OACS, bit 1: Format NVM is supported (5.17.2.1).
const CAN_FORMAT: u64 = 1 << 1;
/// OACS, bit 3: the drive manages namespaces, so that unattached ones may exist (5.17.2.1).
const MANAGES_NAMESPACES: u64 = 1 << 3;
/// FNA, bit 0: a format applies to all namespaces; bit 1: a secure erase does (5.17.2.1).
const ERASES_ALL: u64 = 0b11;
/// SANICAP, bits 0 to 2, with the names of section 5.24.
const SANITIZES_BY: [(u64, &str); 3] =
    [(1, "crypto erase"), (CAN_BLOCK_ERASE, "block erase"), (1 << 2, "overwrite")];
const CAN_BLOCK_ERASE: u64 = 1 << 1;

/// Checks for each step that purges by `format` or `sanitize` that the drive supports it, and that
/// it would erase no more than the named namespace. Changes nothing.
///
/// # Errors
/// [`Guard::G16Purge`] for the first step that is not supported or would erase more, and if the
/// drive cannot be asked.
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

/// Methods that every drive supports.
const INSTEAD: &str = "`method = \"discard\"` or `method = \"overwrite\"`";

fn can_format(system: &System, device: &str) -> Result<(), Refusal> {
    let name = namespace(system, device, "format")?;
    let abilities = Abilities::query(system, device)?;
    if abilities.oacs & CAN_FORMAT == 0 {
        return Err(refused(
            format!(
                "{device} reports no Format NVM command (OACS {:#x}, bit 1 is 0), which `method = \
                 \"format\"` needs",
                abilities.oacs
            ),
            format!("Use {INSTEAD} instead"),
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
            if others.is_empty() { "no other method".to_owned() } else { others.join(" and ") };
        let format = if abilities.oacs & CAN_FORMAT == 0 {
            ""
        } else {
            "`method = \"format\"`, which it supports, or "
        };
        return Err(refused(
            format!(
                "{device} reports no sanitize by block erase (SANICAP {:#x}, bit 1 is 0), which \
                 `method = \"sanitize\"` needs; it supports {others}",
                abilities.sanicap
            ),
            format!("Use {format}{INSTEAD} instead"),
        ));
    }
    // A sanitize applies to the whole NVM subsystem (5.24).
    is_alone(system, device, &name, &abilities, "a sanitize erases the whole drive")?;
    match Sanitized::read(system, device) {
        Ok(Sanitized::Working { .. }) => Err(refused(
            format!("{device} is being sanitized already"),
            format!("Wait until `nvme sanitize-log {device}` reports that it has completed"),
        )),
        Ok(_) => Ok(()),
        Err(why) => Err(refused(
            format!(
                "{device} does not report the progress of a sanitize, so qdepth could not \
                 wait for it: {why}"
            ),
            format!("Use {INSTEAD} instead"),
        )),
    }
}

/// Kernel name of an NVMe namespace. A partition is refused: the command would erase the whole
/// namespace, including other partitions.
fn namespace(system: &System, device: &str, method: &str) -> Result<String, Refusal> {
    let name = system.block_node(device).and_then(|number| sysfs::kernel_name(system, number));
    let Some(name) = name else {
        return Err(refused(
            format!(
                "{device} is not a block device, and `method = \"{method}\"` needs an NVMe \
                 namespace"
            ),
            "Use the path of a namespace, for example /dev/nvme0n1",
        ));
    };
    if let Some(whole) = sysfs::whole_of(system, &name) {
        return Err(refused(
            format!(
                "{device} is a partition, and `method = \"{method}\"` erases all of /dev/{whole}"
            ),
            format!("Purge /dev/{whole}, or use {INSTEAD} for the partition"),
        ));
    }
    if sysfs::nvme_controllers(system, &name).is_empty() {
        return Err(refused(
            format!("{device} is not an NVMe namespace, which `method = \"{method}\"` needs"),
            format!("Use {INSTEAD} instead"),
        ));
    }
    Ok(name)
}

/// Capabilities from Identify Controller (5.17.2.1).
struct Abilities {
    oacs: u64,
    fna: u64,
    sanicap: u64,
}

impl Abilities {
    fn query(system: &System, device: &str) -> Result<Self, Refusal> {
        let cannot = |why: String| {
            refused(
                format!("{device} did not report which erase commands it supports: {why}"),
                "Install nvme-cli and run qdepth as root, or use `method = \"discard\"`",
            )
        };
        let answer = nvme_json(system, &["id-ctrl", device, "-o", "json"]).map_err(cannot)?;
        let field = |key: &str| {
            answer[key].as_u64().ok_or_else(|| cannot(format!("its answer has no `{key}`")))
        };
        Ok(Self { oacs: field("oacs")?, fna: field("fna")?, sanicap: field("sanicap")? })
    }
}

/// JSON output of nvme-cli.
fn nvme_json(system: &System, args: &[&str]) -> Result<Value, String> {
    let output = system.run("nvme", args).map_err(|error| error.to_string())?;
    if output.status != Some(0) {
        return Err(error_output("nvme", &output));
    }
    serde_json::from_str(&output.stdout).map_err(|_| error_output("nvme", &output))
}

/// Refuses unless this is the only namespace of the drive: the consent names only this one.
fn is_alone(
    system: &System,
    device: &str,
    name: &str,
    abilities: &Abilities,
    why: &str,
) -> Result<(), Refusal> {
    let unknown = |what: String| {
        refused(
            format!("{why}, and the namespaces of {device} are unknown: {what}"),
            format!("Use {INSTEAD}, which erase only this namespace"),
        )
    };
    let own = sysfs::number_attribute(system, name, "nsid")
        .ok_or_else(|| unknown(format!("/sys/class/block/{name}/nsid cannot be read")))?;
    let mut args = vec!["list-ns", device, "-o", "json"];
    // Unattached namespaces (CNS 10h) are listed only by drives that manage namespaces.
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
            "Use {INSTEAD}, which erase only this namespace; or, if the others are no longer \
             needed, delete them first (`nvme delete-ns`)"
        ),
    ))
}

/// Result of the most recent sanitize: SSTAT, bits 2:0, of the Sanitize Status log (5.16.1.25).
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sanitized {
    /// 0: no sanitize so far.
    Never,
    /// 1, or 4 if blocks stay allocated: completed.
    Done,
    /// 2: in progress.
    Working {
        /// SPROG, of 65,536.
        progress: u64,
        /// Estimated seconds for a block erase; `None` if the drive gives no estimate.
        estimate: Option<u64>,
    },
    /// 3: failed.
    Failed,
}

impl Sanitized {
    /// Reads the Sanitize Status log.
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
                // All ones: no estimate.
                estimate: log["time_block_erase"].as_u64().filter(|s| *s < u64::from(u32::MAX)),
            }),
            Some(3) => Ok(Self::Failed),
            _ => Err(format!("`nvme sanitize-log` reports an unknown status: {status}")),
        }
    }
}

/// Interval and time limit for polling a drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Between two polls.
    pub(super) pause: Duration,
    /// Number of polls.
    pub(super) polls: u32,
    /// A line of progress is printed at the first poll and then at each of this many.
    pub(super) polls_per_line: u32,
}

impl Patience {
    /// Four hours, the time limit of all commands of a preparation; a line per minute.
    pub(super) const REAL: Self =
        Self { pause: Duration::from_secs(2), polls: 4 * 3600 / 2, polls_per_line: 30 };
}

/// Receiver of progress, which may end the wait.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Prints a line for the user.
    pub print_line: &'a dyn Fn(&str),
    /// True to end the wait.
    pub stop: &'a dyn Fn() -> bool,
}

impl Watch<'_> {
    /// No receiver.
    pub const SILENT: Watch<'static> = Watch { print_line: &|_| {}, stop: &|| false };
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

/// Waits until the drive reports the end of its sanitize: the command itself returns when the
/// sanitize begins (8.21).
///
/// # Errors
/// If the sanitize failed, gives no status or took too long, or the wait was cancelled; each with a
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
            io::Error::other(format!("{why}. {log} shows whether the sanitize continues"))
        })?;
        match seen {
            Sanitized::Done => return Ok(()),
            Sanitized::Failed => {
                return Err(io::Error::other(format!(
                    "{device} reports that the sanitize failed (SSTAT 3). It refuses reads and \
                     writes until a sanitize succeeds: check {log}, then sanitize it again"
                )));
            }
            Sanitized::Never => {
                return Err(io::Error::other(format!(
                    "{device} accepted the command but reports that it was never sanitized (SSTAT \
                     0): check {log}, and use another purge method"
                )));
            }
            Sanitized::Working { progress, estimate } if poll % patience.polls_per_line == 0 => {
                let percent = progress.min(65536) * 100 / 65536;
                let whole = estimate
                    .map_or_else(String::new, |s| format!(", {s} s in total by its own estimate"));
                (watch.print_line)(&format!("sanitize   {device}: {percent} %{whole}"));
            }
            Sanitized::Working { .. } => {}
        }
        if (watch.stop)() {
            return Err(io::Error::new(
                io::ErrorKind::Interrupted,
                format!(
                    "interrupted, but {device} continues the sanitize: {log} shows its progress"
                ),
            ));
        }
        std::thread::park_timeout(patience.pause);
    }
    Err(io::Error::new(
        io::ErrorKind::TimedOut,
        format!(
            "{device} did not complete the sanitize within {} s and continues it: start again when \
             {log} reports that it has completed",
            patience.pause.as_secs() * u64::from(patience.polls)
        ),
    ))
}

#[cfg(test)]
mod tests;
