//! Published figures and their positions in the documents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::expression::Expression;

/// Use of a figure.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Use {
    /// Parameters of a medium were fitted to it.
    Calibrated,
    /// No parameter was fitted to it.
    Predicted,
    /// There are as many parameters as figures: agreement shows nothing.
    ReproducedNotValidated,
    /// A parameter of the emulation was read from it.
    Tabled,
    /// Contradicted by a better figure of the same document; in no mean.
    Inconsistent,
    /// Follows from, or repeats, another figure; in no mean.
    Derived,
    /// A condition or property; nothing stands beside it.
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
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// Stable id, for example `p3700-031`.
    pub id: String,
    /// Id of its document.
    pub document: String,
    /// Section of the document.
    pub section: String,
    /// Location: text, table or diagram.
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
    pub outstanding: String,
    /// Processes or threads.
    pub processes: String,
    /// Quantity.
    pub quantity: String,
    /// Its unit; empty for a ratio.
    pub unit: String,
    /// The figure, or the lower end of a range.
    pub low: f64,
    /// The upper end of a range.
    pub high: Option<f64>,
    /// Precision of the source.
    pub precision: Precision,
    /// Group of the goal; empty if no goal covers the figure.
    pub group: String,
    /// Use.
    pub used: Use,
    /// Expression of the emulated value.
    pub emulated: Option<Expression>,
    /// Remark.
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: String,
    document: String,
    section: String,
    place: String,
    medium: String,
    format: String,
    arrangement: String,
    profile: String,
    #[serde(rename = "access")]
    _access: String,
    #[serde(rename = "read_percent")]
    _read_percent: Option<f64>,
    #[serde(rename = "block_kib")]
    _block_kib: Option<u64>,
    outstanding: String,
    processes: String,
    #[serde(rename = "area")]
    _area: String,
    #[serde(rename = "conditions")]
    _conditions: String,
    quantity: String,
    unit: String,
    value: f64,
    high: Option<f64>,
    precision: Precision,
    group: String,
    #[serde(rename = "use")]
    used: Use,
    emulated: String,
    remark: String,
}

/// File name, for messages.
const FILE: &str = "published.csv";

/// Parses `published.csv`.
///
/// # Errors
/// With the line, the column and the permitted values.
pub(crate) fn read(text: &str) -> Result<Vec<Published>, DataError> {
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize::<Row>();
    let mut all: Vec<Published> = Vec::new();
    for row in rows {
        let published = published(row.map_err(|source| DataError::Csv { file: FILE, source })?)?;
        if all.iter().any(|other| other.id == published.id) {
            return Err(bad(&published.id, "this ID occurs twice"));
        }
        all.push(published);
    }
    Ok(all)
}

fn bad(id: &str, what: &str) -> DataError {
    DataError::Value { file: FILE, id: id.to_owned(), what: what.to_owned() }
}

fn published(row: Row) -> Result<Published, DataError> {
    let emulated = match row.emulated.as_str() {
        "" => None,
        text => Some(Expression::parse(text).map_err(|source| DataError::Expression {
            file: FILE,
            id: row.id.clone(),
            text: text.to_owned(),
            source,
        })?),
    };
    if !row.value.is_finite() || row.high.is_some_and(|high| !high.is_finite() || high <= row.value)
    {
        return Err(bad(&row.id, "value must be a number, and high one above it, or empty"));
    }
    if row.used.counts() && (emulated.is_none() || row.group.is_empty()) {
        return Err(bad(&row.id, "a figure that counts needs a group and an emulated target"));
    }
    if row.used.counts() && row.value <= 0.0 {
        return Err(bad(&row.id, "a figure that counts must be above 0: its error is relative"));
    }
    Ok(Published {
        id: row.id,
        document: row.document,
        section: row.section,
        location: row.place,
        medium: row.medium,
        format: row.format,
        arrangement: row.arrangement,
        profile: row.profile,
        outstanding: row.outstanding,
        processes: row.processes,
        quantity: row.quantity,
        unit: row.unit,
        low: row.value,
        high: row.high,
        precision: row.precision,
        group: row.group,
        used: row.used,
        emulated,
        remark: row.remark,
    })
}
