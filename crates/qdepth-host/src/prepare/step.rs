//! Preparation steps, their commands, and their undo.

use std::collections::BTreeSet;

use qdepth_measure::Bytes;
use qdepth_record::{PhaseStep, phase_step};
use serde::{Deserialize, Deserializer, Serialize};

use super::options::{self, Kind, Metadata, MountOptions};
use super::setting::Setting;
use super::word::{MountPoint, Name, Node, Text, Word, name_of};
use super::{Action, Condition, Tool, Undo};

/// Method that returns a drive to the fresh state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PurgeMethod {
    /// `blkdiscard`: discards all blocks.
    Discard,
    /// `nvme format`, which erases user data.
    Format,
    /// `nvme sanitize`, block erase; all namespaces of the controller lose their data.
    Sanitize,
    /// Writes zeros to the whole drive, for drives without a better method.
    Overwrite,
}

/// A step of a preparation. Devices are given by paths.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Step {
    /// Returns a drive to the fresh state. Cannot be undone.
    Purge {
        /// The drive.
        device: Node,
        /// Method.
        method: PurgeMethod,
    },
    /// One partition over a whole device, aligned to 2 MiB.
    Partition {
        /// The device.
        device: Node,
    },
    /// An MD array.
    Array {
        /// Node of the array, for example `/dev/md0`.
        device: Node,
        /// RAID level.
        level: Level,
        /// The members.
        members: Vec<Node>,
        /// Chunk size, for example `128KiB`. Default: mdadm's.
        #[serde(default, deserialize_with = "bytes")]
        chunk: Option<u64>,
        /// Metadata format, for example `1.2` or `imsm`. Default: mdadm's.
        #[serde(default)]
        metadata: Option<Metadata>,
    },
    /// A logical volume over whole devices.
    Volume {
        /// Volume group.
        group: Name,
        /// Volume.
        name: Name,
        /// Devices over which the volume is striped.
        devices: Vec<Node>,
        /// Stripe size, for example `128KiB`.
        #[serde(default, deserialize_with = "bytes")]
        stripe: Option<u64>,
    },
    /// A file system.
    FileSystem(FileSystem),
    /// A mount.
    Mount {
        /// Mount point; the directory is created if it does not exist.
        at: MountPoint,
        /// Device.
        device: Node,
        /// Mount options, for example `noatime`.
        #[serde(default)]
        options: Option<MountOptions>,
    },
    /// A kernel setting.
    Setting(Wanted),
}

/// RAID level of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Level {
    /// Striped.
    #[serde(rename = "0")]
    Raid0 = 0,
    /// Mirrored.
    #[serde(rename = "1")]
    Raid1 = 1,
    /// Striped with parity.
    #[serde(rename = "5")]
    Raid5 = 5,
    /// Striped over mirrors.
    #[serde(rename = "10")]
    Raid10 = 10,
}

/// A file system to create.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "FileSystemText")]
pub struct FileSystem {
    pub(super) kind: Kind,
    device: Node,
    options: Vec<Text>,
}

/// Text form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSystemText {
    kind: Kind,
    device: Node,
    /// Options for mkfs, for example `-K`, `-d su=128k,sw=1`.
    #[serde(default)]
    options: Vec<String>,
}

impl TryFrom<FileSystemText> for FileSystem {
    type Error = String;
    fn try_from(text: FileSystemText) -> Result<Self, String> {
        let options = options::for_mkfs(text.kind, &text.options)?;
        Ok(Self { kind: text.kind, device: text.device, options })
    }
}

/// A kernel setting to change.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "WantedText")]
pub struct Wanted {
    pub(super) setting: Setting,
    /// Current value; read by [`super::tuning`], or when it is applied.
    pub(super) before: Option<Setting>,
}

/// Text form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WantedText {
    path: String,
    value: String,
    /// Note of the author for other readers; not displayed.
    #[serde(default, rename = "about")]
    _about: String,
}

impl TryFrom<WantedText> for Wanted {
    type Error = String;
    fn try_from(text: WantedText) -> Result<Self, String> {
        Ok(Self { setting: Setting::new(&text.path, &text.value)?, before: None })
    }
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

/// Error of a preparation file.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PrepareError {
    /// The file cannot be parsed.
    #[error("the preparation cannot be read: {0}")]
    Toml(Box<toml::de::Error>),
    /// A step of a plan cannot be parsed.
    #[error("step {number} of the preparation: {message}")]
    Unreadable {
        /// Number of the step, from 1.
        number: usize,
        /// The parser's message.
        message: String,
    },
    /// A value outside its limits.
    #[error("step {number}: {what}")]
    Value {
        /// Number of the step, from 1.
        number: usize,
        /// Problem and remedy.
        what: String,
    },
}

/// Reads the steps of a preparation file (TOML, a list of `[[prepare]]`).
///
/// # Errors
/// If the text is not such a file, or a step is impossible.
pub fn read(text: &str) -> Result<Vec<Step>, PrepareError> {
    let file: File = toml::from_str(text).map_err(|error| PrepareError::Toml(Box::new(error)))?;
    checked(file.prepare)
}

/// The steps of a plan, from their JSON form.
///
/// # Errors
/// Like [`read`].
pub fn steps_of(plan: &[serde_json::Value]) -> Result<Vec<Step>, PrepareError> {
    let step = |(index, value): (usize, &serde_json::Value)| {
        let unreadable = |error: serde_json::Error| PrepareError::Unreadable {
            number: index + 1,
            message: error.to_string(),
        };
        Step::deserialize(value).map_err(unreadable)
    };
    checked(plan.iter().enumerate().map(step).collect::<Result<_, _>>()?)
}

fn checked(steps: Vec<Step>) -> Result<Vec<Step>, PrepareError> {
    for (index, step) in steps.iter().enumerate() {
        let wrong = |what| PrepareError::Value { number: index + 1, what };
        step.check().map_err(wrong)?;
        if let Step::Mount { device, .. } = step {
            let made =
                |step: &Step| matches!(step, Step::FileSystem(made) if made.device == *device);
            if !steps[..index].iter().any(made) {
                let device = device.as_str();
                return Err(wrong(format!(
                    "no earlier step creates a file system on `{device}`. To measure an existing \
                     file system, mount it yourself and use its directory as the target"
                )));
            }
        }
    }
    Ok(steps)
}

/// Devices whose contents the steps destroy and that no earlier step created: each needs consent.
pub fn base_devices(steps: &[Step]) -> Vec<Node> {
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

/// Place of a partition, in parted's form.
pub(super) const PARTITION_START: &str = "2097152B";

fn list(nodes: &[Node]) -> String {
    nodes.iter().map(Node::as_str).collect::<Vec<_>>().join(", ")
}

impl Step {
    fn check(&self) -> Result<(), String> {
        match self {
            Self::Array { device, .. } if !device.is_of_an_array() => Err(format!(
                "`{}` is not the node of an array: use /dev/md0 or /dev/md/NAME",
                device.as_str()
            )),
            Self::Array { level, members, .. } => {
                let least = if *level == Level::Raid5 { 3 } else { 2 };
                if members.len() < least {
                    let level = *level as u8;
                    return Err(format!("level {level} needs at least {least} members"));
                }
                Ok(())
            }
            Self::Volume { devices, .. } if devices.is_empty() => {
                Err("a volume needs at least one device".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Devices whose contents the step destroys.
    pub fn destroys(&self) -> Vec<Node> {
        match self {
            Self::Purge { device, .. }
            | Self::Partition { device }
            | Self::FileSystem(FileSystem { device, .. }) => vec![device.clone()],
            Self::Array { members, .. } => members.clone(),
            Self::Volume { devices, .. } => devices.clone(),
            Self::Mount { .. } | Self::Setting(_) => Vec::new(),
        }
    }

    /// Devices that the step creates.
    pub(super) fn makes(&self) -> Vec<Node> {
        match self {
            Self::Partition { device } => vec![device.first_partition()],
            Self::Array { device, metadata: Some(Metadata::Imsm), .. } => {
                vec![device.container(), device.clone()]
            }
            Self::Array { device, .. } => vec![device.clone()],
            Self::Volume { group, name, .. } => vec![Node::of_volume(group, name)],
            Self::Purge { .. } | Self::FileSystem(_) | Self::Mount { .. } | Self::Setting(_) => {
                Vec::new()
            }
        }
    }

    /// All devices that the step names.
    pub(super) fn names(&self) -> Vec<Node> {
        let mut all = self.destroys();
        all.extend(self.makes());
        if let Self::Mount { device, .. } = self {
            all.push(device.clone());
        }
        all
    }

    /// Description for the user.
    pub fn describe(&self) -> String {
        match self {
            Self::Purge { device, .. } => format!("purge {}", device.as_str()),
            Self::Partition { device } => format!("one partition on {}", device.as_str()),
            Self::Array { device, level, members, .. } => {
                format!("{}: RAID {} of {}", device.as_str(), *level as u8, list(members))
            }
            Self::Volume { group, name, devices, .. } => {
                format!(
                    "volume {}/{} striped over {}",
                    group.as_str(),
                    name.as_str(),
                    list(devices)
                )
            }
            Self::FileSystem(made) => format!("{} on {}", made.kind.name(), made.device.as_str()),
            Self::Mount { at, device, .. } => {
                format!("mount {} at {}", device.as_str(), at.as_str())
            }
            Self::Setting(Wanted { setting, before }) => {
                let (name, value) = (setting.name(), setting.value());
                match before {
                    Some(before) => format!("{name}: {} → {value}", before.value()),
                    None => format!("{name}: {value}"),
                }
            }
        }
    }

    /// The step as a code with names, for events.
    pub fn phase_step(&self) -> PhaseStep {
        match self {
            Self::Purge { device, method } => PhaseStep::new(phase_step::PURGE)
                .label("device", device.as_str())
                .label("method", name_of(method)),
            Self::Partition { device } => {
                PhaseStep::new(phase_step::PARTITION).label("device", device.as_str())
            }
            Self::Array { device, level, members, .. } => PhaseStep::new(phase_step::ARRAY)
                .label("device", device.as_str())
                .label("level", (*level as u8).to_string())
                .label("members", list(members)),
            Self::Volume { group, name, devices, .. } => PhaseStep::new(phase_step::VOLUME)
                .label("volume", format!("{}/{}", group.as_str(), name.as_str()))
                .label("devices", list(devices)),
            Self::FileSystem(made) => PhaseStep::new(phase_step::FILE_SYSTEM)
                .label("type", made.kind.name())
                .label("device", made.device.as_str()),
            Self::Mount { at, device, .. } => PhaseStep::new(phase_step::MOUNT)
                .label("device", device.as_str())
                .label("mount_point", at.as_str()),
            Self::Setting(Wanted { setting, before }) => {
                let step = PhaseStep::new(phase_step::SETTING)
                    .label("path", setting.path())
                    .label("value", setting.value());
                match before {
                    Some(before) => step.label("before", before.value()),
                    None => step,
                }
            }
        }
    }

    /// Actions in order.
    pub fn actions(&self) -> Vec<Action> {
        match self {
            Self::Purge { device, method } => purge(device, *method),
            Self::Partition { device } => {
                let run = |words: &[&'static str]| {
                    let start = [Word::from("-s"), device.into()].into_iter();
                    Action::run(Tool::Parted, start.chain(words.iter().map(|w| Word::from(*w))))
                };
                vec![
                    run(&["mklabel", "gpt"]),
                    run(&["mkpart", "primary", PARTITION_START, "100%"]),
                    run(&["align-check", "opt", "1"]),
                ]
            }
            Self::Array { device, level, members, chunk, metadata } => {
                array(device, *level, members, *chunk, *metadata)
            }
            Self::Volume { group, name, devices, stripe } => volume(group, name, devices, *stripe),
            Self::FileSystem(FileSystem { kind, device, options }) => {
                let (tool, over) = match kind {
                    Kind::Xfs => (Tool::MkfsXfs, "-f"),
                    Kind::Ext4 => (Tool::MkfsExt4, "-F"),
                    Kind::Btrfs => (Tool::MkfsBtrfs, "-f"),
                };
                // The consent has answered the program's own question about overwriting.
                let mut words = vec![Word::from(over)];
                words.extend(options.iter().cloned().map(Word::Text));
                words.push(device.into());
                vec![Action::run(tool, words)]
            }
            Self::Mount { at, device, options } => {
                let mut words = Vec::new();
                if let Some(options) = options {
                    words.extend([Word::from("-o"), Word::Text(options.text())]);
                }
                words.extend([device.into(), at.into()]);
                vec![Action::MakeDirectory(at.clone()), Action::run(Tool::Mount, words)]
            }
            Self::Setting(wanted) => vec![Action::Set(wanted.setting.clone())],
        }
    }

    /// Undo actions, the last one first. `made` is true if the directory of a mount is created.
    pub fn undo(&self, made: bool) -> Vec<Undo> {
        let wipe = |device: &Node| {
            let words = [Word::from("-a"), device.into()];
            Undo::new(Condition::Exists(device.clone()), Action::run(Tool::Wipefs, words))
        };
        match self {
            Self::Purge { .. } => Vec::new(),
            Self::Partition { device } | Self::FileSystem(FileSystem { device, .. }) => {
                vec![wipe(device)]
            }
            Self::Array { device, members, metadata, .. } => undo_array(device, members, *metadata),
            Self::Volume { group, devices, .. } => undo_volume(group, devices),
            Self::Mount { at, device, .. } => {
                let mounted = Condition::Mounted { at: at.clone(), device: device.clone() };
                let mut undo = vec![Undo::new(mounted, Action::run(Tool::Umount, [at.into()]))];
                undo.extend(made.then(|| {
                    Undo::new(Condition::Place(at.clone()), Action::RemoveDirectory(at.clone()))
                }));
                undo
            }
            Self::Setting(Wanted { setting, before }) => before
                .iter()
                .map(|before| {
                    Undo::new(Condition::Holds(setting.clone()), Action::Set(before.clone()))
                })
                .collect(),
        }
    }
}

fn purge(device: &Node, method: PurgeMethod) -> Vec<Action> {
    let run = |tool, words: &[&'static str], after: &[&'static str]| {
        let words = words.iter().map(|word| Word::from(*word)).chain([device.into()]);
        Action::run(tool, words.chain(after.iter().map(|word| Word::from(*word))))
    };
    match method {
        PurgeMethod::Discard => vec![run(Tool::Blkdiscard, &["-f"], &[])],
        PurgeMethod::Format => vec![run(Tool::Nvme, &["format"], &["--ses=1", "--force"])],
        PurgeMethod::Sanitize => vec![
            run(Tool::Nvme, &["sanitize"], &["--sanact=2"]),
            // The command returns when the drive has begun.
            Action::AwaitSanitize { device: device.clone() },
        ],
        PurgeMethod::Overwrite => vec![run(Tool::Blkdiscard, &["-f", "-z"], &[])],
    }
}

fn array(
    device: &Node,
    level: Level,
    members: &[Node],
    chunk: Option<u64>,
    metadata: Option<Metadata>,
) -> Vec<Action> {
    let count = Text::number("--raid-devices=", members.len() as u64);
    let members = || members.iter().map(Word::from);
    let level_option = Text::number("--level=", level as u8);
    let mut create = vec!["--create".into(), device.into(), "--run".into(), level_option.into()];
    create.push(count.clone().into());
    create.extend(chunk.map(|bytes| Word::Text(Text::number("--chunk=", bytes / 1024))));
    if metadata == Some(Metadata::Imsm) {
        let holder = device.container();
        let mut words: Vec<Word> = vec!["--create".into(), (&holder).into(), "--run".into()];
        words.extend([Metadata::Imsm.word().into(), count.into()]);
        words.extend(members());
        create.push((&holder).into());
        return vec![Action::run(Tool::Mdadm, words), Action::run(Tool::Mdadm, create)];
    }
    create.extend(metadata.map(|metadata| Word::from(metadata.word())));
    // Skips the initial synchronisation of a new array, which would be an additional load.
    create.extend((level != Level::Raid0).then(|| Word::from("--assume-clean")));
    create.extend(members());
    vec![Action::run(Tool::Mdadm, create)]
}

fn undo_array(device: &Node, members: &[Node], metadata: Option<Metadata>) -> Vec<Undo> {
    let stop = |node: &Node| {
        let words = [Word::from("--stop"), node.into()];
        Undo::new(Condition::Exists(node.clone()), Action::run(Tool::Mdadm, words))
    };
    let mut undo = vec![stop(device)];
    if metadata == Some(Metadata::Imsm) {
        undo.push(stop(&device.container()));
    }
    undo.extend(members.iter().map(|member| {
        let with = |word: &'static str| vec![Word::from(word), member.into()];
        let examined = Condition::Succeeds { tool: Tool::Mdadm, words: with("--examine") };
        Undo::new(examined, Action::run(Tool::Mdadm, with("--zero-superblock")))
    }));
    undo
}

fn volume(group: &Name, name: &Name, devices: &[Node], stripe: Option<u64>) -> Vec<Action> {
    let with = |tool, words: Vec<Word>| {
        Action::run(tool, words.into_iter().chain(devices.iter().map(Word::from)))
    };
    let mut create: Vec<Word> = ["-y", "-W", "y", "-n"].map(Word::from).into();
    create.push(name.text().into());
    create.extend(["-l", "100%FREE", "-i"].map(Word::from));
    create.push(Text::number("", devices.len() as u64).into());
    if let Some(bytes) = stripe {
        create.extend([Word::from("-I"), Text::number("", bytes).followed_by("b").into()]);
    }
    create.push(group.text().into());
    vec![
        with(Tool::Pvcreate, ["-ff", "-y"].map(Word::from).into()),
        with(Tool::Vgcreate, vec![group.text().into()]),
        Action::run(Tool::Lvcreate, create),
    ]
}

fn undo_volume(group: &Name, devices: &[Node]) -> Vec<Undo> {
    let removal = |word: Word| ["-ff".into(), "-y".into(), word];
    let ours = Condition::Group { group: group.clone(), on: devices.to_vec() };
    let remove = Action::run(Tool::Vgremove, removal(group.text().into()));
    let mut undo = vec![Undo::new(ours, remove)];
    undo.extend(devices.iter().map(|device| {
        let known = Condition::Succeeds { tool: Tool::Pvs, words: vec![device.into()] };
        // Without -ff, LVM refuses a volume of a group that is not removed, which may be another's.
        Undo::new(known, Action::run(Tool::Pvremove, ["-y".into(), device.into()]))
    }));
    undo
}
