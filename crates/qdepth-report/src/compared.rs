//! Comparison of a run: its columns at every load and queue depth, each from one point or from
//! several points that ran at the same time.

use std::collections::BTreeMap;

use qdepth_measure::Bytes;
use qdepth_record::{Cell, ComparisonRecord, PointRecord, RunRecord, VariantRecord, cells};

use crate::number;
use crate::published::PublishedDrive;
use crate::words::{ComparisonWords, Words, counted, fill_in};

/// A run's comparison. Its merged points represent columns: their `target` is the index of a
/// column.
pub(crate) struct Compared<'a> {
    pub(crate) record: &'a ComparisonRecord,
    /// Merged points, one per cell.
    pub(crate) wholes: Vec<PointRecord>,
    /// Cells in the same order.
    parts: Vec<Cell<'a>>,
    /// Index of the cell of each merged point, by the point's index in the plan.
    indices: BTreeMap<u32, usize>,
    /// Columns of published figures.
    pub(crate) published: Vec<&'a PublishedDrive>,
}

impl<'a> Compared<'a> {
    /// The comparison of a run; `None` if the run has none. A published drive that is not in the
    /// argument is left out.
    pub(crate) fn from_run(
        run: &'a RunRecord,
        points: &'a [PointRecord],
        drives: &'a [PublishedDrive],
    ) -> Option<Self> {
        let record = run.comparison.as_ref()?;
        let parts = cells(record, points);
        let whole = |cell: &Cell<'a>| PointRecord { target: cell.variant, ..cell.whole.clone() };
        let wholes = parts.iter().map(whole).collect();
        let drive = |name: &String| drives.iter().find(|drive| drive.name == *name);
        let published = record.published.iter().filter_map(drive).collect();
        let indices = parts.iter().enumerate().map(|(index, cell)| (cell.whole.index, index));
        let indices = indices.collect();
        Some(Self { record, wholes, parts, indices, published })
    }

    /// Points of a cell.
    pub(crate) fn cell(&self, whole: &PointRecord) -> Option<&Cell<'a>> {
        let index = self.indices.get(&whole.index)?;
        self.parts.get(*index)
    }

    /// True if a profile was measured only at queue depth 1.
    pub(crate) fn is_for_latency(&self, profile: &str) -> bool {
        self.record.latency_profiles.iter().any(|name| name == profile)
    }

    pub(crate) fn variant(&self, index: u32) -> Option<&VariantRecord> {
        self.record.variants.get(index as usize)
    }

    /// Number of drives in a column of several drives: its factor over one drive if nothing were
    /// shared.
    pub(crate) fn drives(&self, index: u32) -> Option<u32> {
        let variant = self.variant(index).filter(|_| self.record.of == "drives")?;
        Some(variant.parts * variant.times).filter(|drives| *drives > 1)
    }

    /// Number of points in the plan, counted like the columns.
    pub(crate) fn planned(&self, points: u32) -> usize {
        let parts: u32 = self.record.variants.iter().map(|variant| variant.parts).sum();
        points as usize * self.record.variants.len() / parts.max(1) as usize
    }

    /// The name of a column.
    pub(crate) fn name(&self, run: &RunRecord, words: &Words, index: u32) -> Option<String> {
        let variant = self.variant(index)?;
        let own: &ComparisonWords = words.comparison;
        let number = || variant.parts.to_string();
        Some(match (variant.name.as_str(), &*variant.role) {
            ("", "single") => own.single.to_owned(),
            ("", "together") => fill_in(own.together, &[("n", number())]),
            ("", _) => run.target(variant.target)?.name.clone(),
            (name, _) if self.record.of == "processes" && name == number() => {
                counted(own.processes, variant.parts as usize)
            }
            ("full", _) if self.record.of == "areas" => own.entire_area.to_owned(),
            (name, _) => match name.parse::<Bytes>().ok().filter(|_| self.record.of == "areas") {
                Some(area) => number::binary_bytes(area.0 as f64),
                None => name.to_owned(),
            },
        })
    }

    /// Selects one of four wordings for the kind of comparison.
    pub(crate) fn kind(&self) -> usize {
        let all = ["drives", "targets", "processes", "areas"];
        // Drives that are added one by one are worded like drives.
        let own = if self.record.of == "saturation" { "drives" } else { &*self.record.of };
        all.iter().position(|kind| *kind == own).unwrap_or(1)
    }
}
