//! Request of a run, as plain data that a front end creates (command line, fio, IOR, a variant),
//! and the result of a run.

mod cpu_settings;
pub mod first;
pub mod own_medium;
pub mod provision;
pub mod words;
pub mod worker_result;

use std::path::PathBuf;

use anyhow::Result;
use qdepth_linux::EngineChoice;
use qdepth_measure::{Bytes, Finding};
use qdepth_record::{Observation, PointRecord, RunRecord};
use qdepth_workload::{Choices, Extent, PlanFile, STANDARD_AREA, TargetShape, resolve};
use serde::{Deserialize, Serialize};

use crate::request::provision::{Provision, ProvisionedFiles};
use crate::request::worker_result::WorkerResults;

/// A requested run.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// Plan to measure; `None` to resume the last run of the logbook that has not ended.
    pub plan: Option<PlanRequest>,
    /// Logbook that stores the run.
    pub logbook: PathBuf,
    /// File that receives the events, one line of JSON each.
    pub events: Option<PathBuf>,
    /// True if the run is stored there; otherwise it is kept in memory and only printed.
    pub is_kept: bool,
    /// True if the measurement file is kept for later runs.
    pub keep: bool,
    /// True if the run ends after the first point with thermal throttling.
    pub stop_on_throttle: bool,
    /// Expression of the emulated device whose results are shown next to each point.
    pub expect: Option<String>,
    /// Consent to data loss.
    pub consent: ConsentWords,
    /// Kernel interface that issues the I/Os.
    pub engine: EngineChoice,
    /// Placement of workers.
    pub pinning: Pinning,
    /// Findings about the whole run.
    pub remarks: Vec<Finding>,
    /// Facts stored with the environment of the run.
    pub facts: Vec<Observation>,
    /// Command line that requests the same plan, without the seed; `None` if there was none.
    pub command: Option<Vec<String>>,
}

impl RunRequest {
    /// A request for a run of this plan that is stored in this logbook, with defaults for
    /// everything else.
    pub fn new(plan: PlanRequest, logbook: PathBuf) -> Self {
        Self {
            plan: Some(plan),
            logbook,
            events: None,
            is_kept: true,
            keep: false,
            stop_on_throttle: false,
            expect: None,
            consent: ConsentWords::default(),
            engine: EngineChoice::Auto,
            pinning: Pinning::Near,
            remarks: Vec::new(),
            facts: Vec::new(),
            command: None,
        }
    }
}

/// Words by which a user consents to the loss of data on a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsentWords {
    /// Serial numbers, or the other tokens that refusals print.
    pub destroy: Vec<String>,
    /// Consent file for non-interactive use.
    pub file: Option<PathBuf>,
    /// Signatures whose loss is accepted.
    pub overwrite_signature: Vec<String>,
}

/// CPU placement of workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pinning {
    /// One worker per CPU, those near the device first, if there are several workers.
    Near,
    /// By the scheduler.
    Scheduler,
    /// One worker per CPU, round-robin over these CPUs.
    InTurn(Vec<u32>),
    /// Each worker on any of these CPUs.
    Among(Vec<u32>),
}

impl Pinning {
    /// The CPUs that the user named, if any.
    pub(crate) fn named(&self) -> Option<&[u32]> {
        match self {
            Self::InTurn(cpus) | Self::Among(cpus) => Some(cpus),
            Self::Near | Self::Scheduler => None,
        }
    }
}

/// A completed request: the run as stored in the logbook, and how it ended.
#[derive(Debug)]
pub struct FinishedRun {
    /// The run, as stored in the logbook.
    pub run: RunRecord,
    /// Its points.
    pub points: Vec<PointRecord>,
    /// The signal that ended it early.
    pub signal: Option<i32>,
    /// Number of points without a result because their target was lost.
    pub lost: usize,
    /// Number of points in the plan.
    pub planned: usize,
    /// Results of each worker of each point; empty for runs of variants.
    pub ranks: WorkerResults,
}

/// The requested load: the plan as written, the choices made, and the targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanRequest {
    /// The plan as written.
    pub file: PlanFile,
    /// Choices that override the plan.
    pub choices: Choices,
    /// Target expressions: paths, `media:` and `published:`.
    pub targets: Vec<PathBuf>,
}

impl PlanRequest {
    /// Requests of the variants of a plan; empty without variants.
    pub fn variants(&self) -> Result<Vec<Self>> {
        let alone = self.file.alone(&self.choices)?;
        let targets = self.file.variants.iter().map(|variant| PathBuf::from(&variant.target));
        let variant = |((file, choices), target)| Self { file, choices, targets: vec![target] };
        Ok(alone.into_iter().zip(targets).map(variant).collect())
    }

    /// Files to create in a directory.
    pub fn provision(&self) -> Provision {
        if self.file.files.is_some() {
            let bytes = self.bytes_of_files();
            return Provision::OwnFiles(ProvisionedFiles {
                bytes,
                names: self.file.file_names.clone(),
                suffix: self.file.file_suffix.clone(),
            });
        }
        let of_area = self.choices.area.as_deref().and_then(|area| area.parse::<Bytes>().ok());
        let chosen = self.choices.file_size.or(of_area).or(self.file.file_size);
        Provision::MeasurementFile(chosen.unwrap_or(STANDARD_AREA).0)
    }

    /// Largest total size of the points' files in a directory, for a plan without limits. An
    /// impossible plan is refused when it is resolved.
    fn bytes_of_files(&self) -> u64 {
        let whole = Extent { offset_bytes: 0, length_bytes: i64::MAX as u64 };
        let boundless = TargetShape { holds_files: true, ..TargetShape::whole(whole, 512) };
        let targets = vec![boundless; self.targets.len()];
        let choices = Choices { read_only: false, ..self.choices.clone() };
        let plan = resolve(&self.file, &choices, &targets);
        let points = plan.map_or_else(|_| Vec::new(), |plan| plan.points);
        points.iter().map(|point| point.area.length_bytes).max().unwrap_or(0)
    }
}
