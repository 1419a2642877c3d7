//! The steps, what they run, and what takes them back.

use std::collections::BTreeSet;

use qdepth_measure::Bytes;
use serde::{Deserialize, Deserializer};

use super::{Action, Condition, Undo};

/// How a drive is brought back to fresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PurgeMethod {
    /// `blkdiscard`: every block is told to hold nothing.
    Discard,
    /// `nvme format`, which erases user data.
    Format,
    /// `nvme sanitize`, block erase; all namespaces of the controller lose their data.
    Sanitize,
    /// Zeros over all of it: for drives that know nothing better.
    Overwrite,
}

/// A step of a preparation. Devices are given by their paths.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Step {
    /// Brings a drive back to fresh. Has no way back.
    Purge {
        /// The drive.
        device: String,
        /// How.
        method: PurgeMethod,
    },
    /// One partition over a whole device, aligned to 2 MiB.
    Partition {
        /// The device.
        device: String,
    },
    /// An MD array.
    Array {
        /// Its node, as `/dev/md0`.
        device: String,
        /// `0`, `1`, `5`, `10`.
        level: String,
        /// The members.
        members: Vec<String>,
        /// Chunk, as `128KiB`. Left out: that of mdadm.
        #[serde(default, deserialize_with = "bytes")]
        chunk: Option<u64>,
        /// Form of the metadata, as `1.2`, `imsm`. Left out: that of mdadm.
        #[serde(default)]
        metadata: Option<String>,
    },
    /// A logical volume over whole devices.
    Volume {
        /// Volume group.
        group: String,
        /// Volume.
        name: String,
        /// The devices; it is striped over all of them.
        devices: Vec<String>,
        /// Stripe, as `128KiB`.
        #[serde(default, deserialize_with = "bytes")]
        stripe: Option<u64>,
    },
    /// A file system.
    FileSystem {
        /// `xfs`, `ext4`, `btrfs`.
        kind: String,
        /// Where.
        device: String,
        /// Options of its mkfs, as `-K`, `-d su=128k,sw=1`.
        #[serde(default)]
        options: Vec<String>,
    },
    /// A mount.
    Mount {
        /// Where; the directory is made if it is missing.
        at: String,
        /// From what.
        device: String,
        /// Options, as `noatime`.
        #[serde(default)]
        options: Option<String>,
    },
    /// A kernel setting.
    Setting {
        /// Its file, below `/sys` or `/proc`.
        path: String,
        /// The value.
        value: String,
        /// What it is, for people.
        #[serde(default)]
        about: String,
        /// Its value now; read by [`super::tuning`], or when it is applied.
        #[serde(skip)]
        before: Option<String>,
    },
}

fn bytes<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u64>, D::Error> {
    let text = String::deserialize(input)?;
    text.parse::<Bytes>().map(|bytes| Some(bytes.0)).map_err(serde::de::Error::custom)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    prepare: Vec<Step>,
}

/// Why a preparation cannot be made.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PrepareError {
    /// The file is none.
    #[error("the preparation cannot be read: {0}")]
    Unreadable(String),
    /// A value outside its limits.
    #[error("step {place}: {what}")]
    Value {
        /// Its place, from 1.
        place: usize,
        /// What is wrong, and what would be right.
        what: String,
    },
}

/// Reads the steps of a preparation file (TOML, a list of `[[prepare]]`).
///
/// # Errors
/// Where the text is no such file, or a step asks for what cannot be.
pub fn read(text: &str) -> Result<Vec<Step>, PrepareError> {
    let file: File =
        toml::from_str(text).map_err(|error| PrepareError::Unreadable(error.to_string()))?;
    checked(file.prepare)
}

/// The steps of a plan, as it holds them.
///
/// # Errors
/// As [`read`].
pub fn steps_of(plan: &[serde_json::Value]) -> Result<Vec<Step>, PrepareError> {
    let step = |value: &serde_json::Value| {
        Step::deserialize(value).map_err(|error| PrepareError::Unreadable(error.to_string()))
    };
    checked(plan.iter().map(step).collect::<Result<_, _>>()?)
}

fn checked(steps: Vec<Step>) -> Result<Vec<Step>, PrepareError> {
    for (index, step) in steps.iter().enumerate() {
        step.check().map_err(|what| PrepareError::Value { place: index + 1, what })?;
    }
    Ok(steps)
}

/// Devices whose contents the steps destroy and that no step before made: each needs consent.
pub fn base_devices(steps: &[Step]) -> Vec<String> {
    let (mut made, mut base) = (BTreeSet::new(), Vec::new());
    for step in steps {
        for device in step.destroys() {
            if !made.contains(&device) && !base.contains(&device) {
                base.push(device);
            }
        }
        made.extend(step.makes());
    }
    base
}

/// Names of partitions of devices whose names end in a digit have a `p` before the number.
fn partition_of(device: &str) -> String {
    let p = if device.ends_with(|c: char| c.is_ascii_digit()) { "p" } else { "" };
    format!("{device}{p}1")
}

impl Step {
    fn check(&self) -> Result<(), String> {
        let node = |path: &str| {
            let named = path.strip_prefix("/dev/").is_some_and(|name| {
                !name.is_empty() && !name.split('/').any(|part| part.is_empty() || part == "..")
            });
            named
                .then_some(())
                .ok_or_else(|| format!("`{path}` is no device: give its path below /dev"))
        };
        self.destroys().iter().try_for_each(|device| node(device))?;
        self.makes().iter().try_for_each(|device| node(device))?;
        match self {
            Self::Array { level, members, .. } => {
                let least = match level.as_str() {
                    "0" | "1" | "10" => 2,
                    "5" => 3,
                    other => return Err(format!("level `{other}`: 0, 1, 5 and 10 are possible")),
                };
                if members.len() < least {
                    return Err(format!("level {level} needs {least} members or more"));
                }
                Ok(())
            }
            Self::Volume { group, name, devices, .. } => {
                let plain = |name: &str| {
                    !name.is_empty()
                        && !name.starts_with('-')
                        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_+.-".contains(c))
                };
                if !plain(group) || !plain(name) || devices.is_empty() {
                    return Err("a volume needs a group, a name and devices".to_owned());
                }
                Ok(())
            }
            Self::FileSystem { kind, .. } if !["xfs", "ext4", "btrfs"].contains(&&**kind) => {
                Err(format!("file system `{kind}`: xfs, ext4 and btrfs are possible"))
            }
            Self::Mount { at, .. } if !at.starts_with('/') => {
                Err(format!("`{at}` is no place to mount: give a whole path"))
            }
            Self::Setting { path, .. }
                if !(path.starts_with("/sys/") || path.starts_with("/proc/"))
                    || path.contains("..") =>
            {
                Err(format!("`{path}` is no setting: give a file below /sys or /proc"))
            }
            _ => Ok(()),
        }
    }

    /// Devices whose contents are lost.
    pub fn destroys(&self) -> Vec<String> {
        match self {
            Self::Purge { device, .. }
            | Self::Partition { device }
            | Self::FileSystem { device, .. } => vec![device.clone()],
            Self::Array { members, .. } => members.clone(),
            Self::Volume { devices, .. } => devices.clone(),
            Self::Mount { .. } | Self::Setting { .. } => Vec::new(),
        }
    }

    /// Devices that come into being.
    fn makes(&self) -> Vec<String> {
        match self {
            Self::Partition { device } => vec![partition_of(device)],
            Self::Array { device, .. } => vec![device.clone()],
            Self::Volume { group, name, .. } => vec![format!("/dev/{group}/{name}")],
            Self::Purge { .. }
            | Self::FileSystem { .. }
            | Self::Mount { .. }
            | Self::Setting { .. } => Vec::new(),
        }
    }

    /// For a person.
    pub fn describe(&self) -> String {
        match self {
            Self::Purge { device, .. } => format!("purge {device}"),
            Self::Partition { device } => format!("one partition on {device}"),
            Self::Array { device, level, members, .. } => {
                format!("{device}: RAID {level} of {}", members.join(", "))
            }
            Self::Volume { group, name, devices, .. } => {
                format!("volume {group}/{name} striped over {}", devices.join(", "))
            }
            Self::FileSystem { kind, device, .. } => format!("{kind} on {device}"),
            Self::Mount { at, device, .. } => format!("mount {device} at {at}"),
            Self::Setting { path, value, about, before } => {
                let about = if about.is_empty() { path } else { about };
                match before {
                    Some(before) => format!("{about}: {before} → {value}"),
                    None => format!("{about}: {value}"),
                }
            }
        }
    }

    /// What is run, in order.
    pub fn actions(&self) -> Vec<Action> {
        match self {
            Self::Purge { device, method } => purge(device, *method),
            Self::Partition { device } => vec![
                Action::run(&["parted", "-s", device, "mklabel", "gpt"]),
                Action::run(&["parted", "-s", device, "mkpart", "primary", "2097152B", "100%"]),
                Action::run(&["parted", "-s", device, "align-check", "opt", "1"]),
            ],
            Self::Array { device, level, members, chunk, metadata } => {
                array(device, level, members, *chunk, metadata.as_deref())
            }
            Self::Volume { group, name, devices, stripe } => volume(group, name, devices, *stripe),
            Self::FileSystem { kind, device, options } => {
                let mut words = vec![format!("mkfs.{kind}")];
                // Its own question whether to overwrite is answered by the consent.
                words.push(if kind == "ext4" { "-F" } else { "-f" }.to_owned());
                words.extend(options.iter().flat_map(|o| o.split_whitespace().map(str::to_owned)));
                words.push(device.clone());
                vec![Action::Run(words)]
            }
            Self::Mount { at, device, options } => {
                let mut words = vec!["mount"];
                words.extend(options.iter().flat_map(|options| ["-o", options.as_str()]));
                words.extend([device.as_str(), at.as_str()]);
                vec![Action::MakeDirectory(at.clone()), Action::run(&words)]
            }
            Self::Setting { path, value, .. } => {
                vec![Action::Set { path: path.clone(), value: value.clone() }]
            }
        }
    }

    /// What takes it back, the last first. `made` says whether a mount's directory is to be made.
    pub fn undo(&self, made: bool) -> Vec<Undo> {
        let wipe = |device: &String| Undo {
            only_if: Condition::Exists(device.clone()),
            action: Action::run(&["wipefs", "-a", device]),
        };
        match self {
            Self::Purge { .. } => Vec::new(),
            Self::Partition { device } | Self::FileSystem { device, .. } => vec![wipe(device)],
            Self::Array { device, members, metadata, .. } => undo_array(device, members, metadata),
            Self::Volume { group, devices, .. } => {
                let mut undo = vec![Undo {
                    only_if: succeeds(&["vgs", group]),
                    action: Action::run(&["vgremove", "-ff", "-y", group]),
                }];
                undo.extend(devices.iter().map(|device| Undo {
                    only_if: succeeds(&["pvs", device]),
                    action: Action::run(&["pvremove", "-ff", "-y", device]),
                }));
                undo
            }
            Self::Mount { at, .. } => {
                let mut undo = vec![Undo {
                    only_if: Condition::Mounted(at.clone()),
                    action: Action::run(&["umount", at]),
                }];
                undo.extend(made.then(|| Undo {
                    only_if: Condition::Exists(at.clone()),
                    action: Action::RemoveDirectory(at.clone()),
                }));
                undo
            }
            Self::Setting { path, value, before, .. } => before
                .iter()
                .map(|before| Undo {
                    only_if: Condition::Holds { path: path.clone(), value: value.clone() },
                    action: Action::Set { path: path.clone(), value: before.clone() },
                })
                .collect(),
        }
    }
}

fn succeeds(words: &[&str]) -> Condition {
    Condition::Succeeds(words.iter().map(|word| (*word).to_owned()).collect())
}

fn purge(device: &str, method: PurgeMethod) -> Vec<Action> {
    let words = match method {
        PurgeMethod::Discard => vec!["blkdiscard", "-f", device],
        PurgeMethod::Format => vec!["nvme", "format", device, "--ses=1", "--force"],
        PurgeMethod::Sanitize => vec!["nvme", "sanitize", device, "--sanact=2"],
        PurgeMethod::Overwrite => vec!["blkdiscard", "-f", "-z", device],
    };
    let mut actions = vec![Action::run(&words)];
    if method == PurgeMethod::Sanitize {
        // It returns when the drive has begun.
        actions.push(Action::AwaitSanitize { device: device.to_owned() });
    }
    actions
}

/// The array that Intel's firmware knows lies in a container of its own.
fn container(device: &str) -> String {
    format!("/dev/md/{}-imsm", device.rsplit('/').next().unwrap_or(device))
}

fn array(
    device: &str,
    level: &str,
    members: &[String],
    chunk: Option<u64>,
    metadata: Option<&str>,
) -> Vec<Action> {
    let count = format!("--raid-devices={}", members.len());
    let members: Vec<&str> = members.iter().map(String::as_str).collect();
    let level = format!("--level={level}");
    let chunk = chunk.map(|bytes| format!("--chunk={}", bytes / 1024));
    let holder = container(device);
    let mut actions = Vec::new();
    let mut create = vec!["mdadm", "--create", device, "--run", level.as_str(), count.as_str()];
    create.extend(chunk.as_deref());
    if metadata == Some("imsm") {
        let mut words = vec!["mdadm", "--create", &holder, "--run", "--metadata=imsm", &count];
        words.extend(members);
        actions.push(Action::run(&words));
        create.push(&holder);
        actions.push(Action::run(&create));
        return actions;
    }
    let metadata = metadata.map(|metadata| format!("--metadata={metadata}"));
    create.extend(metadata.as_deref());
    // A fresh array without a first synchronisation, which would be a load beside ours.
    create.extend((level != "--level=0").then_some("--assume-clean"));
    create.extend(members);
    actions.push(Action::run(&create));
    actions
}

fn undo_array(device: &str, members: &[String], metadata: &Option<String>) -> Vec<Undo> {
    let stop = |node: &str| Undo {
        only_if: Condition::Exists(node.to_owned()),
        action: Action::run(&["mdadm", "--stop", node]),
    };
    let mut undo = vec![stop(device)];
    if metadata.as_deref() == Some("imsm") {
        undo.push(stop(&container(device)));
    }
    undo.extend(members.iter().map(|member| Undo {
        only_if: succeeds(&["mdadm", "--examine", member]),
        action: Action::run(&["mdadm", "--zero-superblock", member]),
    }));
    undo
}

fn volume(group: &str, name: &str, devices: &[String], stripe: Option<u64>) -> Vec<Action> {
    let devices: Vec<&str> = devices.iter().map(String::as_str).collect();
    let with = |words: &[&str]| Action::run(&[words, devices.as_slice()].concat());
    let count = devices.len().to_string();
    let stripe = stripe.map(|bytes| format!("{}b", bytes));
    let mut create = vec!["lvcreate", "-y", "-W", "y", "-n", name, "-l", "100%FREE", "-i", &count];
    create.extend(stripe.iter().flat_map(|stripe| ["-I", stripe.as_str()]));
    create.push(group);
    vec![with(&["pvcreate", "-ff", "-y"]), with(&["vgcreate", group]), Action::run(&create)]
}
