//! Validation of a device model: the data that its emulation was compared with.

use serde::Deserialize;

/// Validation of a device model, the strongest first. A closed set: a description with another
/// value is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Checked {
    /// Fitted to measured runs; the error at points that were kept back is known.
    #[serde(rename = "own runs")]
    OwnRuns,
    /// Measured figures that were published stand beside the emulated ones.
    #[serde(rename = "published figures")]
    Published,
    /// They do, and the medium has as many numbers as figures: agreement is no proof.
    #[serde(rename = "reproduced, not validated")]
    Reproduced,
    /// It reaches what its maker promises. Nothing measured was ever held against it.
    #[serde(rename = "data sheet only")]
    DataSheetOnly,
    /// It stands for a class of drives and for none of them.
    #[serde(rename = "class")]
    Class,
    /// It is what it says: a known truth.
    #[serde(rename = "definition")]
    Definition,
    /// Nobody says.
    #[default]
    #[serde(rename = "not checked")]
    Not,
}

impl Checked {
    /// Every one, most first.
    pub const ALL: [Self; 7] = [
        Self::OwnRuns,
        Self::Published,
        Self::Reproduced,
        Self::DataSheetOnly,
        Self::Class,
        Self::Definition,
        Self::Not,
    ];

    /// Words of descriptions.
    pub fn words(self) -> &'static str {
        match self {
            Self::OwnRuns => "own runs",
            Self::Published => "published figures",
            Self::Reproduced => "reproduced, not validated",
            Self::DataSheetOnly => "data sheet only",
            Self::Class => "class",
            Self::Definition => "definition",
            Self::Not => "not checked",
        }
    }

    /// Code of results; reports have the words.
    pub fn code(self) -> &'static str {
        match self {
            Self::OwnRuns => "own-runs",
            Self::Published => "published-figures",
            Self::Reproduced => "reproduced",
            Self::DataSheetOnly => "data-sheet-only",
            Self::Class => "class",
            Self::Definition => "definition",
            Self::Not => "not-checked",
        }
    }

    /// Its numbers are a maker's or a class's: how far a drive is from them was never measured.
    pub fn rests_on_paper(self) -> bool {
        matches!(self, Self::DataSheetOnly | Self::Class)
    }
}
