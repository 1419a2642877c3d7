//! Published results of single drives, for comparison with measured ones in reports.

use std::collections::BTreeSet;

use crate::{PointName, Quantity, Reference};
use qdepth_document::grouped::entry_or;
use qdepth_record::RunRecord;
use qdepth_report::{PublishedDrive, PublishedQuantity, PublishedValue};
use qdepth_workload::meant;

/// Prefix of a device on the command line.
const MEDIUM: &str = "media:";

/// Location of figures that are printed in a table.
const TABLE: &str = "table";

/// Error: no results were published for this drive.
#[derive(Debug, thiserror::Error)]
#[error("no results of `{name}` were published{meant}")]
pub struct NoSuchDrive {
    /// Requested name.
    name: String,
    /// Sentences on similar and known names.
    meant: String,
}

/// All single drives with published maxima, in the order of the documents.
pub fn drives(reference: &Reference) -> Vec<PublishedDrive> {
    let mut drives: Vec<(&str, PublishedDrive)> = Vec::new();
    // Tables come first: if a figure is printed more than once, the value in a table counts.
    let (tables, texts): (Vec<_>, Vec<_>) =
        reference.published.iter().partition(|figure| figure.location == TABLE);
    for figure in tables.into_iter().chain(texts).filter(|figure| figure.used.counts()) {
        let Some(expression) = &figure.emulated else { continue };
        let maximum = expression.maximum_of();
        let single = expression.single_point();
        let of_which = maximum.or(single.as_ref().map(|(quantity, _)| *quantity));
        let Some(quantity) = of_which.and_then(beside_measured) else { continue };
        let Some(PointName { target, load, intensity }) = expression.points().pop_first() else {
            continue;
        };
        let Some(name) = medium(reference, &target) else { continue };
        let drive = entry_or(&mut drives, name, || PublishedDrive {
            name: name.to_owned(),
            title: figure.medium.clone(),
            document: figure.document.clone(),
            maxima: Vec::new(),
            points: Vec::new(),
        });
        let value = PublishedValue { load, quantity, value: figure.value() };
        match maximum {
            Some(_) => drive.maxima.push(value),
            None => drive.points.push((intensity, value)),
        }
    }
    let drives = drives.into_iter().map(|(_, drive)| drive);
    drives.filter(|drive| !drive.maxima.is_empty()).collect()
}

/// Published results of the drive with this name.
///
/// # Errors
/// If nothing was published for the drive; the error suggests the nearest name.
pub fn drive(reference: &Reference, name: &str) -> Result<PublishedDrive, NoSuchDrive> {
    let drives = drives(reference);
    if let Some(drive) = drives.iter().find(|drive| drive.name == name) {
        return Ok(drive.clone());
    }
    let known: Vec<&str> = drives.iter().map(|drive| drive.name.as_str()).collect();
    let meant = meant(name, &known, "`qdepth reproduce --all` prints the published figures");
    Err(NoSuchDrive { name: name.to_owned(), meant })
}

/// Published drives that runs name as comparison columns. Names that this version does not know are
/// omitted.
pub fn columns<'r>(runs: impl IntoIterator<Item = &'r RunRecord>) -> Vec<PublishedDrive> {
    let of_run = |run: &'r RunRecord| run.comparison.iter().flat_map(|all| &all.published);
    let names: BTreeSet<&String> = runs.into_iter().flat_map(of_run).collect();
    let reference = (!names.is_empty()).then(Reference::shipped).and_then(Result::ok);
    let mut known = reference.as_ref().map(drives).unwrap_or_default();
    known.retain(|drive| names.contains(&drive.name));
    known
}

/// Quantity of a report that corresponds to a published one; `None` if reports have no such
/// quantity.
fn beside_measured(quantity: Quantity) -> Option<PublishedQuantity> {
    match quantity {
        Quantity::Rate => Some(PublishedQuantity::Rate),
        Quantity::Throughput => Some(PublishedQuantity::Throughput),
        Quantity::Latency => Some(PublishedQuantity::Latency),
        Quantity::ThroughputGb => None,
    }
}

/// Device of a target that is a single, unmodified device; otherwise `None`.
fn medium<'r>(reference: &'r Reference, target: &str) -> Option<&'r str> {
    let name = reference.target(target)?.expression.strip_prefix(MEDIUM)?;
    (!name.contains('@')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_comparison_tables_contain_known_values() {
        let reference = Reference::shipped().unwrap();
        let column = |name| drive(&reference, name).unwrap();
        // docs/method/checklist.md, item 59, and its minimum latencies, item 60.
        let drive = column("sas-12g-hdd-450gb");
        assert_eq!(drive.maximum("database", PublishedQuantity::Rate), Some(864.0));
        assert_eq!(drive.maximum("restore", PublishedQuantity::Throughput), Some(237.0));
        assert_eq!(drive.at("latency-write", 1, PublishedQuantity::Latency), Some(0.51));
        assert_eq!(drive.maximum("database", PublishedQuantity::Throughput), None);
        // The value of the table, not of the text.
        let drive = column("p3700-800gb");
        assert_eq!(drive.maximum("database", PublishedQuantity::Rate), Some(192_881.0));
        assert_eq!(drive.title, "P3700 800GB");
        // Item 102.
        let drive = column("iodrive-640gb/advertised");
        assert_eq!(drive.maximum("file-copy", PublishedQuantity::Rate), Some(7693.0));
    }

    #[test]
    fn unknown_published_drive_suggests_the_nearest() {
        let why = drive(&Reference::shipped().unwrap(), "p3700-80gb").unwrap_err().to_string();
        assert!(why.contains("Did you mean `p3700-800gb`?"), "{why}");
    }
}
