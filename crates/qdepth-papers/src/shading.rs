//! Shaded table of a document: increase of figures over the standard format by formatting option,
//! in four classes of grey.

use qdepth_measure::shade;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::DataError;
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
#[derive(Clone, Debug, PartialEq)]
pub struct Shaded {
    /// Single, RAID 1 or RAID 0.
    pub arrangement: String,
    /// Load profile.
    pub load: String,
    /// Formatting option.
    pub format: String,
    /// Outstanding I/Os.
    pub outstanding: u32,
    /// Printed class.
    pub class: Class,
    /// Expression of the cell's figure.
    pub emulated: Expression,
    /// Expression of the figure with which the cell is compared.
    pub reference: Expression,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    arrangement: String,
    load: String,
    format: String,
    outstanding: u32,
    class: Class,
    emulated: String,
    reference: String,
}

const FILE: &str = "shading.csv";

pub(crate) fn read(text: &str) -> Result<Vec<Shaded>, DataError> {
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize::<Row>();
    let shaded = |row: Result<Row, csv::Error>| {
        let row = row.map_err(|source| DataError::Csv { file: FILE, source })?;
        let id = format!("{} {} {} {}", row.arrangement, row.load, row.format, row.outstanding);
        let expression = |text: &str| {
            Expression::parse(text).map_err(|source| DataError::Expression {
                file: FILE,
                id: id.clone(),
                text: text.to_owned(),
                source,
            })
        };
        Ok(Shaded {
            emulated: expression(&row.emulated)?,
            reference: expression(&row.reference)?,
            arrangement: row.arrangement,
            load: row.load,
            format: row.format,
            outstanding: row.outstanding,
            class: row.class,
        })
    };
    rows.map(shaded).collect()
}
