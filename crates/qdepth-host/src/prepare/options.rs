//! Options of mkfs and mount that a preparation may use: those that shape a file system. Options
//! that name a file or another device are not allowed.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::word::{Text, name_of};

/// A file system that a preparation can create.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// XFS.
    Xfs,
    /// ext4.
    Ext4,
    /// btrfs.
    Btrfs,
}

impl Kind {
    /// Name of the file system.
    pub fn name(self) -> String {
        name_of(self)
    }
}

/// Form of an option's value.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", bound(deserialize = "'de: 'static"))]
enum Form {
    /// No value.
    Alone,
    /// A single word, for example a size or a label.
    Word,
    /// `key` or `key=value`, separated by commas; only these keys.
    Keys(Vec<&'static str>),
    /// Names of features, separated by commas, each optionally preceded by `^`.
    Features,
}

use Form::{Alone, Features, Keys, Word};

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct Allowed {
    xfs: Vec<(&'static str, Form)>,
    ext4: Vec<(&'static str, Form)>,
    btrfs: Vec<(&'static str, Form)>,
    mount: Vec<&'static str>,
}

/// A damaged list allows nothing; a test would detect it first.
static ALLOWED: LazyLock<Allowed> =
    LazyLock::new(|| toml::from_str(include_str!("options.toml")).unwrap_or_default());

/// Arguments of mkfs for these options.
///
/// # Errors
/// The first option that is not allowed, with the allowed ones.
pub(super) fn for_mkfs(kind: Kind, options: &[String]) -> Result<Vec<Text>, String> {
    let known = match kind {
        Kind::Xfs => &ALLOWED.xfs,
        Kind::Ext4 => &ALLOWED.ext4,
        Kind::Btrfs => &ALLOWED.btrfs,
    };
    let tool = format!("mkfs.{}", kind.name());
    let all = || known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ");
    let mut given = options.iter().flat_map(|option| option.split_whitespace());
    let mut words = Vec::new();
    while let Some(name) = given.next() {
        let form = known.iter().find(|(known, _)| *known == name).map(|(_, form)| form);
        let form = form.ok_or_else(|| {
            format!(
                "a preparation does not allow the option `{name}` of {tool}: must be one of {}",
                all()
            )
        })?;
        words.push(Text::try_from(name.to_owned())?);
        if matches!(form, Alone) {
            continue;
        }
        let value = given.next().ok_or_else(|| format!("`{name}` of {tool} needs a value"))?;
        form.check(value).map_err(|why| format!("`{name} {value}` of {tool}: {why}"))?;
        words.push(Text::try_from(value.to_owned())?);
    }
    Ok(words)
}

fn is_word(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.len() <= 64
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "_.+%-".contains(c))
}

impl Form {
    fn check(&self, value: &str) -> Result<(), String> {
        let no = |word: &str| Err(format!("`{word}` is not a number, size or name"));
        match self {
            Alone => Ok(()),
            Word if is_word(value) => Ok(()),
            Word => no(value),
            Features => value.split(',').try_for_each(|feature| {
                let name = feature.strip_prefix('^').unwrap_or(feature);
                if is_word(name) { Ok(()) } else { no(feature) }
            }),
            Keys(keys) => value.split(',').try_for_each(|part| {
                let (key, value) =
                    part.split_once('=').map_or((part, None), |(key, value)| (key, Some(value)));
                if !keys.contains(&key) {
                    return Err(format!("`{key}` must be one of {}", keys.join(", ")));
                }
                match value {
                    Some(value) if !is_word(value) => no(value),
                    _ => Ok(()),
                }
            }),
        }
    }
}

/// Options of a mount, for example `noatime,logbufs=8`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct MountOptions(Text);

impl MountOptions {
    /// Text as a word.
    pub fn text(&self) -> Text {
        self.0.clone()
    }
}

impl TryFrom<String> for MountOptions {
    type Error = String;
    fn try_from(options: String) -> Result<Self, String> {
        for option in options.split(',') {
            let (key, value) =
                option.split_once('=').map_or((option, None), |(key, value)| (key, Some(value)));
            let compressed = |value: &str| value.split(':').all(is_word);
            let fits = ALLOWED.mount.contains(&key)
                && value.is_none_or(compressed)
                && !(key == "errors" && value == Some("panic"));
            if !fits {
                return Err(format!(
                    "a preparation does not allow the mount option `{option}`: must be one of {}",
                    ALLOWED.mount.join(", ")
                ));
            }
        }
        Ok(Self(Text::try_from(options)?))
    }
}

/// Form of an array's metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Metadata {
    /// 0.90.
    #[serde(rename = "0.90")]
    V0_90,
    /// 1.0.
    #[serde(rename = "1.0")]
    V1_0,
    /// 1.1.
    #[serde(rename = "1.1")]
    V1_1,
    /// 1.2.
    #[serde(rename = "1.2")]
    V1_2,
    /// Metadata of Intel's firmware.
    #[serde(rename = "imsm")]
    Imsm,
}

impl Metadata {
    /// Word for mdadm.
    pub const fn word(self) -> &'static str {
        match self {
            Self::V0_90 => "--metadata=0.90",
            Self::V1_0 => "--metadata=1.0",
            Self::V1_1 => "--metadata=1.1",
            Self::V1_2 => "--metadata=1.2",
            Self::Imsm => "--metadata=imsm",
        }
    }
}
