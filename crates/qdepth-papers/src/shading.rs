//! Shaded table of a document: increase of figures over the standard format by formatting option,
//! in four classes of grey.

use qdepth_measure::shade;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::expression::Expression;

/// A class of grey, by the increase over the reference.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Up to 30 %, and every decrease.
    White,
    /// Above 30 %, up to 60 %.
    Light,
    /// Above 60 %, up to 120 %.
    Middle,
    /// Above 120 %.
    Dark,
}

impl Class {
    /// Class of an increase, given as a share: 0.3 is 30 %.
    pub fn from_increase(increase: f64) -> Self {
        match shade(increase) {
            0 => Self::White,
            1 => Self::Light,
            2 => Self::Middle,
            _ => Self::Dark,
        }
    }
}

/// A shaded cell of the table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shaded {
    /// Single, RAID 1 or RAID 0.
    pub arrangement: String,
    /// Load profile.
    pub load: String,
    /// Formatting option.
    pub format: String,
    /// Queue depth.
    pub queue_depth: u32,
    /// Printed class.
    pub class: Class,
    /// Expression of the cell's figure.
    pub emulated: Expression,
    /// Expression of the figure with which the cell is compared.
    pub reference: Expression,
}
