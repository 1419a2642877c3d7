//! Published figures and their positions in the documents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::expression::Expression;
use crate::file::{DataError, checked, rows};

/// Use of a figure.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Use {
    /// Parameters of a device model were fitted to it.
    Calibrated,
    /// No parameter was fitted to it.
    Predicted,
    /// There are as many parameters as figures, so agreement proves nothing.
    ReproducedNotValidated,
    /// A parameter of the emulation was taken from it.
    Tabled,
    /// Contradicted by a better figure of the same document; excluded from means.
    Inconsistent,
    /// Follows from, or repeats, another figure; excluded from means.
    Derived,
    /// A stated condition or property; it has no emulated counterpart.
    Given,
}

impl Use {
    /// True if it counts in means and towards goals.
    pub fn counts(self) -> bool {
        !matches!(self, Self::Inconsistent | Self::Derived | Self::Given)
    }
}

/// Precision of a published figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Exact.
    Exact,
    /// "About".
    About,
    /// "More than", "over".
    MoreThan,
    /// "Just under", "almost".
    JustUnder,
}

/// A row of `published.csv`. The columns from `medium` to `conditions` are the source's words.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Published {
    /// Stable id, for example `p3700-031`.
    pub id: String,
    /// Id of its document.
    pub document: String,
    /// Section of the document.
    pub section: String,
    /// Location: text, table or diagram.
    #[serde(rename = "place")]
    pub location: String,
    /// The storage.
    pub medium: String,
    /// Formatting option.
    pub format: String,
    /// Single, RAID 0 of two, …
    pub arrangement: String,
    /// Load profile.
    pub profile: String,
    /// Queue depth, or `max`.
    pub queue_depth: String,
    /// Processes or threads.
    pub processes: String,
    /// Quantity.
    pub quantity: String,
    /// Its unit; empty for a ratio.
    pub unit: String,
    /// The figure, or the lower end of a range.
    #[serde(rename = "value")]
    pub low: f64,
    /// The upper end of a range.
    pub high: Option<f64>,
    /// Precision of the source.
    pub precision: Precision,
    /// Group of the goal; empty if no goal covers the figure.
    pub group: String,
    /// Use.
    #[serde(rename = "use")]
    pub used: Use,
    /// Expression of the emulated value.
    pub emulated: Option<Expression>,
    /// Note.
    pub remark: String,
}

impl Published {
    /// Value of the figure, or the middle of a range.
    pub fn value(&self) -> f64 {
        self.high.map_or(self.low, |high| f64::midpoint(self.low, high))
    }
    /// Value for comparisons: `more than 3200` is slightly above 3200.
    pub(crate) fn comparable(&self) -> f64 {
        match self.precision {
            Precision::Exact | Precision::About => self.value(),
            Precision::MoreThan => self.value() * 1.01,
            Precision::JustUnder => self.value() * 0.99,
        }
    }
}

/// File name, for messages.
const FILE: &str = "published.csv";

/// Parses `published.csv`.
///
/// # Errors
/// With the line, the column and the permitted values.
pub(crate) fn read(text: &str) -> Result<Vec<Published>, DataError> {
    checked(FILE, rows(FILE, text)?, |published: &Published| {
        let Published { id, low, high, used, emulated, group, .. } = published;
        let is_number = low.is_finite() && high.is_none_or(|high| high.is_finite() && high > *low);
        let problem = if !is_number {
            Some("value must be a number, and high one above it, or empty")
        } else if used.counts() && (emulated.is_none() || group.is_empty()) {
            Some("a figure that counts needs a group and an emulated target")
        } else if used.counts() && *low <= 0.0 {
            Some("a figure that counts must be above 0: its error is relative")
        } else {
            None
        };
        (id.as_str(), problem)
    })
}
