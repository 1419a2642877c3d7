//! Contents and presentation of a report.

use std::collections::BTreeSet;

use qdepth_measure::Limit;
use qdepth_record::{PointRecord, RunRecord};

use crate::document::Logo;
use crate::paper::Paper;
use crate::published::PublishedDrive;
use crate::words::Lang;

/// A run and its points.
pub type Measured = (RunRecord, Vec<PointRecord>);

/// Settings that present a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Presentation {
    /// In which language.
    pub lang: Lang,
    /// Latencies that a reader under write pressure is held against.
    pub limits: Vec<Limit>,
    /// Publisher and title.
    pub paper: Paper,
    /// Their mark, as `paper` names it.
    pub logo: Option<Logo>,
    /// Their picture of the storage, as `paper` names it.
    pub topology: Option<Logo>,
    /// Drives of which published figures stand in the diagrams beside what was measured.
    pub published: Vec<PublishedDrive>,
    /// Drives of which published figures are columns of a comparison, where its run names them.
    pub columns: Vec<PublishedDrive>,
    /// Points whose latency over time is shown, by their places in the plan.
    pub over_time: Vec<u32>,
    /// True if serial numbers, names of hosts and places of files are replaced by pseudonyms.
    pub redact: bool,
    /// Ids of the runs that processes are measuring right now, where that is known: another one
    /// that never ended was killed.
    pub alive: Option<BTreeSet<String>>,
}

impl From<Lang> for Presentation {
    fn from(lang: Lang) -> Self {
        Self { lang, ..Self::default() }
    }
}
