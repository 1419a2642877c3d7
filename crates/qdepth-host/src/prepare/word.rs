//! Arguments of a command. Text from the user becomes an argument only through these types. None of
//! them can name a file or device that has not passed the guards.

use serde::{Deserialize, Serialize};

/// A word that names neither a file nor a device: it has no `/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Text(String);

impl Text {
    /// A constant word.
    pub fn ours(word: &'static str) -> Self {
        debug_assert!(!word.contains('/'), "{word} names a file");
        Self(word.to_owned())
    }

    /// A constant word followed by a number.
    pub fn number(word: &'static str, number: impl Into<u128>) -> Self {
        debug_assert!(!word.contains('/'), "{word} names a file");
        Self(format!("{word}{}", number.into()))
    }

    /// The word with a constant word appended.
    #[must_use]
    pub fn followed_by(self, word: &'static str) -> Self {
        debug_assert!(!word.contains('/'), "{word} names a file");
        Self(format!("{}{word}", self.0))
    }

    /// The word.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Text {
    type Error = String;
    fn try_from(word: String) -> Result<Self, String> {
        let plain = |c: char| c.is_ascii_graphic() && c != '/';
        if word.is_empty() || word.len() > 200 || !word.chars().all(plain) {
            return Err(format!(
                "`{word}` is not a plain word: it must not contain `/`, spaces or control \
                 characters"
            ));
        }
        Ok(Self(word))
    }
}

/// Name of something to create, for example a volume: it begins with a letter or digit, and has no
/// `/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Name(Text);

impl Name {
    /// The name.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Text as a word.
    pub fn text(&self) -> Text {
        self.0.clone()
    }
}

impl TryFrom<String> for Name {
    type Error = String;
    fn try_from(name: String) -> Result<Self, String> {
        let plain = name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.len() <= 100
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "_+.-".contains(c));
        if !plain {
            return Err(format!("`{name}` is not a valid name: use letters, digits and _ + . -"));
        }
        Ok(Self(Text(name)))
    }
}

/// Path of a device node below `/dev`, as given by the user.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Node(String);

impl Node {
    /// Text as spelled.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True for a node that mdadm creates: `/dev/md0`, `/dev/md/NAME`.
    pub(super) fn is_of_an_array(&self) -> bool {
        let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
        let name = |rest: &str| Name::try_from(rest.to_owned()).is_ok();
        self.0
            .strip_prefix("/dev/md")
            .is_some_and(|rest| rest.strip_prefix('/').map_or_else(|| number(rest), name))
    }

    /// Node of the first partition. After a digit, its number is preceded by `p`.
    pub fn first_partition(&self) -> Self {
        let p = if self.0.ends_with(|c: char| c.is_ascii_digit()) { "p" } else { "" };
        Self(format!("{}{p}1", self.0))
    }

    /// Node of the container of an array with Intel's firmware metadata.
    pub fn container(&self) -> Self {
        let name = self.0.rsplit('/').next().unwrap_or(&self.0);
        Self(format!("/dev/md/{name}-imsm"))
    }

    /// Node of a logical volume.
    pub fn of_volume(group: &Name, name: &Name) -> Self {
        Self(format!("/dev/{}/{}", group.as_str(), name.as_str()))
    }
}

impl TryFrom<String> for Node {
    type Error = String;
    fn try_from(path: String) -> Result<Self, String> {
        let part = |part: &str| {
            !part.is_empty()
                && part != "."
                && part != ".."
                && !part.chars().any(|c| c.is_control() || c.is_whitespace())
        };
        let named = path.strip_prefix("/dev/").is_some_and(|name| name.split('/').all(part));
        if !named {
            return Err(format!("`{path}` is not a device: use its path below /dev"));
        }
        Ok(Self(path))
    }
}

/// A directory to mount at: an absolute path outside of system directories.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct MountPoint(String);

impl MountPoint {
    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for MountPoint {
    type Error = String;
    fn try_from(path: String) -> Result<Self, String> {
        let part = |part: &str| {
            !part.is_empty() && part != "." && part != ".." && !part.chars().any(char::is_control)
        };
        let whole = path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(part));
        if !whole {
            return Err(format!("`{path}` is not a mount point: use an absolute path"));
        }
        if crate::guard::is_system_path(std::path::Path::new(&path)) {
            return Err(format!(
                "`{path}` is a system directory: mount elsewhere, for example below /mnt"
            ));
        }
        Ok(Self(path))
    }
}

/// Name of a variant without fields, as serde writes it.
pub(super) fn name_of(variant: impl Serialize) -> String {
    let value = serde_json::to_value(variant).ok();
    value.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}

/// An argument of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// Text that names nothing.
    Text(Text),
    /// A device.
    Device(Node),
    /// A mount point.
    Place(MountPoint),
}

impl Word {
    /// Text for the user, as it would be typed.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text.as_str(),
            Self::Device(node) => node.as_str(),
            Self::Place(mount_point) => mount_point.as_str(),
        }
    }
}

impl From<Text> for Word {
    fn from(text: Text) -> Self {
        Self::Text(text)
    }
}

impl From<&'static str> for Word {
    fn from(word: &'static str) -> Self {
        Self::Text(Text::ours(word))
    }
}

impl From<&Node> for Word {
    fn from(node: &Node) -> Self {
        Self::Device(node.clone())
    }
}

impl From<&MountPoint> for Word {
    fn from(mount_point: &MountPoint) -> Self {
        Self::Place(mount_point.clone())
    }
}
