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

/// Options of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Presentation {
    /// Language.
    pub lang: Lang,
    /// Latency limits for the reader under write pressure.
    pub limits: Vec<Limit>,
    /// Publisher and title.
    pub paper: Paper,
    /// The logo that `paper` names.
    pub logo: Option<Logo>,
    /// The topology picture that `paper` names.
    pub topology: Option<Logo>,
    /// Drives whose published figures appear in the diagrams.
    pub published: Vec<PublishedDrive>,
    /// Drives whose published figures become columns of a comparison, if its run names them.
    pub columns: Vec<PublishedDrive>,
    /// Points whose latency over time is shown, by index in the plan.
    pub over_time: Vec<u32>,
    /// True to replace serial numbers, host names and file paths with pseudonyms.
    pub redact: bool,
    /// Ids of the runs that are being measured now, if known: any other run without an end was
    /// killed.
    pub alive: Option<BTreeSet<String>>,
}

impl From<Lang> for Presentation {
    fn from(lang: Lang) -> Self {
        Self { lang, ..Self::default() }
    }
}
