//! Phases before the points: a closed list of codes, each with its texts and figures by name. The
//! catalogues have the words.

use std::collections::BTreeMap;

/// A drive is brought back to fresh.
pub const PURGE: &str = "purge";
/// One partition is made.
pub const PARTITION: &str = "partition";
/// An MD array is made.
pub const ARRAY: &str = "array";
/// A logical volume is made.
pub const VOLUME: &str = "volume";
/// A file system is made.
pub const FILE_SYSTEM: &str = "file-system";
/// A file system is mounted.
pub const MOUNT: &str = "mount";
/// A file of the kernel gets another value.
pub const SETTING: &str = "setting";
/// A measurement file is filled.
pub const FILL: &str = "fill";
/// A target is written through, so often.
pub const PASSES: &str = "passes";
/// A target is written until it is steady, in so many rounds at most.
pub const ROUNDS: &str = "rounds";

/// Every code, with the names of its texts and those of its figures.
pub const ALL: [(&str, &[&str], &[&str]); 10] = [
    (PURGE, &["device", "method"], &[]),
    (PARTITION, &["device"], &[]),
    (ARRAY, &["device", "level", "members"], &[]),
    (VOLUME, &["volume", "devices"], &[]),
    (FILE_SYSTEM, &["type", "device"], &[]),
    (MOUNT, &["device", "mount_point"], &[]),
    (SETTING, &["path", "before", "value"], &[]),
    (FILL, &["directory"], &[]),
    (PASSES, &["load", "request_size"], &["passes", "area_bytes"]),
    (ROUNDS, &["load", "request_size", "rule"], &["area_bytes", "rounds", "round_ns"]),
];

/// Texts that are codes themselves; the others are names that people or the machine gave.
pub const CODED: [&str; 2] = ["load", "rule"];

/// A step of what is done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseStep {
    /// Code, one of [`ALL`].
    pub code: String,
    /// Its texts by name: codes and names.
    pub labels: BTreeMap<String, String>,
    /// Its figures by name; the unit is last in the name.
    pub values: BTreeMap<String, f64>,
}

impl PhaseStep {
    /// Step with this code, still empty.
    pub fn new(code: &str) -> Self {
        Self { code: code.to_owned(), ..Self::default() }
    }

    /// The same with a text.
    #[must_use]
    pub fn label(mut self, name: &str, text: impl Into<String>) -> Self {
        self.labels.insert(name.to_owned(), text.into());
        self
    }

    /// The same with a figure.
    #[must_use]
    pub fn value(mut self, name: &str, figure: f64) -> Self {
        self.values.insert(name.to_owned(), figure);
        self
    }
}
