//! Validation of a device model: the data that its emulation was compared with.

use serde::Deserialize;

/// Validation of a device model, the strongest first. A description with any other value is
/// refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Checked {
    /// Fitted to measured runs, with a known error at held-out points.
    #[serde(rename = "own runs")]
    OwnRuns,
    /// Compared with published measurements.
    #[serde(rename = "published figures")]
    Published,
    /// Compared with published measurements, but with as many parameters as figures: agreement
    /// proves nothing.
    #[serde(rename = "reproduced, not validated")]
    Reproduced,
    /// Reaches the figures of the vendor's data sheet. Never compared with a measurement.
    #[serde(rename = "data sheet only")]
    DataSheetOnly,
    /// Represents a class of drives and no particular one.
    #[serde(rename = "class")]
    Class,
    /// Exact by definition, for example a fixed service time.
    #[serde(rename = "definition")]
    Definition,
    /// The description does not say.
    #[default]
    #[serde(rename = "not checked")]
    Not,
}

impl Checked {
    /// All values, the strongest first.
    pub const ALL: [Self; 7] = [
        Self::OwnRuns,
        Self::Published,
        Self::Reproduced,
        Self::DataSheetOnly,
        Self::Class,
        Self::Definition,
        Self::Not,
    ];

    /// Spelling in descriptions.
    pub fn words(self) -> &'static str {
        self.spellings().0
    }

    /// Code stored with results; reports translate it.
    pub fn code(self) -> &'static str {
        self.spellings().1
    }

    fn spellings(self) -> (&'static str, &'static str) {
        match self {
            Self::OwnRuns => ("own runs", "own-runs"),
            Self::Published => ("published figures", "published-figures"),
            Self::Reproduced => ("reproduced, not validated", "reproduced"),
            Self::DataSheetOnly => ("data sheet only", "data-sheet-only"),
            Self::Class => ("class", "class"),
            Self::Definition => ("definition", "definition"),
            Self::Not => ("not checked", "not-checked"),
        }
    }

    /// True if the parameters come from a data sheet or a class, so that the error of the model was
    /// never measured.
    pub fn is_unmeasured(self) -> bool {
        matches!(self, Self::DataSheetOnly | Self::Class)
    }
}
