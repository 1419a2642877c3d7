//! Drives of which results were published, as columns beside measured ones.

use crate::data::Reference;
use crate::error::DataError;
use crate::expression::{PointName, Quantity};

/// How a medium is spelled on the command line.
const MEDIUM: &str = "media:";

/// Where a figure stands that is printed in a table.
const TABLE: &str = "table";

/// A drive of which results were published.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedDrive {
    /// Name of its medium, with the format where there are several: `p3700-800gb`.
    pub name: String,
    /// The source's name for it.
    pub title: String,
    /// Id of the document.
    pub document: String,
    /// Largest value of each load over all numbers of outstanding I/Os.
    pub maxima: Vec<PublishedValue>,
    /// Values of single points.
    pub points: Vec<(u32, PublishedValue)>,
}

/// A published value.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedValue {
    /// The load profile.
    pub load: String,
    /// What it is, with the unit.
    pub quantity: Quantity,
    /// In that unit.
    pub value: f64,
}

impl PublishedDrive {
    /// The largest value of a load, in the unit of the quantity.
    pub fn maximum(&self, load: &str, quantity: Quantity) -> Option<f64> {
        let wanted = |value: &&PublishedValue| value.load == load && value.quantity == quantity;
        self.maxima.iter().find(wanted).map(|value| value.value)
    }

    /// The value of a load at a number of outstanding I/Os, in the unit of the quantity.
    pub fn at(&self, load: &str, outstanding: u32, quantity: Quantity) -> Option<f64> {
        let wanted = |(at, value): &&(u32, PublishedValue)| {
            *at == outstanding && value.load == load && value.quantity == quantity
        };
        self.points.iter().find(wanted).map(|(_, value)| value.value)
    }
}

impl Reference {
    /// Every single drive of which largest values were published, in the order of the documents.
    pub fn drives(&self) -> Vec<PublishedDrive> {
        let mut drives: Vec<PublishedDrive> = Vec::new();
        // Where a figure is printed more than once, that of a table stands for it.
        let (tables, texts): (Vec<_>, Vec<_>) =
            self.published.iter().partition(|figure| figure.place == TABLE);
        for figure in tables.into_iter().chain(texts).filter(|figure| figure.used.counts()) {
            let Some(expression) = &figure.emulated else { continue };
            let maximum = expression.maximum_of();
            let single = expression.single_point();
            let Some(quantity) = maximum.or(single.as_ref().map(|(quantity, _)| *quantity)) else {
                continue;
            };
            let Some(PointName { target, load, intensity }) = expression.points().pop_first()
            else {
                continue;
            };
            let Some(name) = self.medium(&target) else { continue };
            let place = drives.iter().position(|drive| drive.name == name);
            let place = place.unwrap_or_else(|| {
                drives.push(PublishedDrive {
                    name: name.to_owned(),
                    title: figure.medium.clone(),
                    document: figure.document.clone(),
                    maxima: Vec::new(),
                    points: Vec::new(),
                });
                drives.len() - 1
            });
            let value = PublishedValue { load, quantity, value: figure.value() };
            match maximum {
                Some(_) => drives[place].maxima.push(value),
                None => drives[place].points.push((intensity, value)),
            }
        }
        drives.retain(|drive| !drive.maxima.is_empty());
        drives
    }

    /// The drive of this name.
    ///
    /// # Errors
    /// Where nothing was published of it, with the nearest name.
    pub fn drive(&self, name: &str) -> Result<PublishedDrive, DataError> {
        let drives = self.drives();
        if let Some(drive) = drives.iter().find(|drive| drive.name == name) {
            return Ok(drive.clone());
        }
        let likeness = |drive: &&PublishedDrive| strsim::jaro_winkler(name, &drive.name);
        let nearest = drives.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        Err(DataError::NoSuchDrive {
            name: name.to_owned(),
            nearest: nearest.map_or_else(String::new, |drive| drive.name.clone()),
            known: drives.iter().map(|d| d.name.as_str()).collect::<Vec<_>>().join(", "),
        })
    }

    /// The medium that a target is, where it is one as it was described, alone.
    fn medium(&self, target: &str) -> Option<&str> {
        let name = self.target(target)?.expression.strip_prefix(MEDIUM)?;
        (!name.contains('@')).then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comparison_tables_of_both_documents_are_columns() {
        let reference = Reference::shipped().unwrap();
        // docs/method/checklist.md, item 59, and its minimum latencies, item 60.
        let drive = reference.drive("sas-12g-hdd-450gb").unwrap();
        assert_eq!(drive.maximum("database", Quantity::Rate), Some(864.0));
        assert_eq!(drive.maximum("restore", Quantity::Throughput), Some(237.0));
        assert_eq!(drive.at("latency-write", 1, Quantity::Latency), Some(0.51));
        assert_eq!(drive.maximum("database", Quantity::Throughput), None);
        // A figure of the table, not that of the text.
        let drive = reference.drive("p3700-800gb").unwrap();
        assert_eq!(drive.maximum("database", Quantity::Rate), Some(192_881.0));
        assert_eq!(drive.title, "P3700 800GB");
        // Item 102.
        let drive = reference.drive("iodrive-640gb/advertised").unwrap();
        assert_eq!(drive.maximum("file-copy", Quantity::Rate), Some(7693.0));
    }

    #[test]
    fn an_unknown_drive_is_refused_with_the_nearest() {
        let why = Reference::shipped().unwrap().drive("p3700-80gb").unwrap_err().to_string();
        assert!(why.contains("did you mean `p3700-800gb`?"), "{why}");
    }
}
