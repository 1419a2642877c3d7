//! Steps of the phases before the points: a closed list of codes, each with texts and figures by
//! name. The catalogues word them.

use std::collections::BTreeMap;

/// A drive is returned to the fresh state.
pub const PURGE: &str = "purge";
/// One partition is created.
pub const PARTITION: &str = "partition";
/// An MD array is created.
pub const ARRAY: &str = "array";
/// A logical volume is created.
pub const VOLUME: &str = "volume";
/// A file system is created.
pub const FILE_SYSTEM: &str = "file-system";
/// A file system is mounted.
pub const MOUNT: &str = "mount";
/// A kernel setting is changed.
pub const SETTING: &str = "setting";
/// A measurement file is filled.
pub const FILL: &str = "fill";
/// A target is written in a number of complete passes.
pub const PASSES: &str = "passes";
/// A target is written in rounds until it is steady, up to a maximum number of rounds.
pub const ROUNDS: &str = "rounds";

/// All codes, with the names of their texts and of their figures.
pub const ALL: [(&str, &[&str], &[&str]); 10] = [
    (PURGE, &["device", "method"], &[]),
    (PARTITION, &["device"], &[]),
    (ARRAY, &["device", "level", "members"], &[]),
    (VOLUME, &["volume", "devices"], &[]),
    (FILE_SYSTEM, &["type", "device"], &[]),
    (MOUNT, &["device", "mount_point"], &[]),
    (SETTING, &["path", "before", "value"], &[]),
    (FILL, &["directory"], &[]),
    (PASSES, &["load", "block_size"], &["passes", "area_bytes"]),
    (ROUNDS, &["load", "block_size", "rule"], &["area_bytes", "rounds", "round_ns"]),
];

/// Texts that are codes; all others are names given by people or the machine.
pub const CODED: [&str; 2] = ["load", "rule"];

/// A step of a phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseStep {
    /// Code, one of [`ALL`].
    pub code: String,
    /// Texts by name: codes and names.
    pub labels: BTreeMap<String, String>,
    /// Figures by name; the unit is the last part of the name.
    pub values: BTreeMap<String, f64>,
}

impl PhaseStep {
    /// An empty step with this code.
    pub fn new(code: &str) -> Self {
        Self { code: code.to_owned(), ..Self::default() }
    }

    /// Adds a text.
    #[must_use]
    pub fn label(mut self, name: &str, text: impl Into<String>) -> Self {
        self.labels.insert(name.to_owned(), text.into());
        self
    }

    /// Adds a figure.
    #[must_use]
    pub fn value(mut self, name: &str, figure: f64) -> Self {
        self.values.insert(name.to_owned(), figure);
        self
    }
}
