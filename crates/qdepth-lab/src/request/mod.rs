//! Request of a run: plain data that a front end creates (command line, fio, IOR, a variant), and
//! its result.

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
    /// The logbook that the run is kept in.
    pub logbook: PathBuf,
    /// The file that what happens is told in, a line of JSON each.
    pub events: Option<PathBuf>,
    /// True if the run is stored there; otherwise it is only in memory, and only printed.
    pub is_kept: bool,
    /// True if the measurement file stays for the next run.
    pub keep: bool,
    /// True if the run ends at the first point during which heat slowed something down.
    pub stop_on_throttle: bool,
    /// The emulated medium that is put beside each point, as spelled.
    pub expect: Option<String>,
    /// The loss of what is consented to.
    pub consent: ConsentWords,
    /// By which interface of the kernel requests are issued.
    pub engine: EngineChoice,
    /// Placement of workers.
    pub pinning: Pinning,
    /// Remarks on the whole run.
    pub remarks: Vec<Finding>,
    /// Facts stored with the environment of the run.
    pub facts: Vec<Observation>,
    /// The words that ask for the same plan again, but for its seed; `None` if no words asked.
    pub command: Option<Vec<String>>,
}

impl RunRequest {
    /// A run of this plan that is kept in this logbook; all else is as usual.
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

/// The words by which a user consents to the loss of what is on a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsentWords {
    /// Serials, or PATH:SIZE:DISKSEQ.
    pub destroy: Vec<String>,
    /// Consent file for non-interactive use.
    pub file: Option<PathBuf>,
    /// Signatures whose loss is accepted.
    pub overwrite_signature: Vec<String>,
}

/// On which CPUs workers are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pinning {
    /// Several on a CPU each, those near the device first.
    Near,
    /// Placement by the scheduler.
    Scheduler,
    /// On a CPU of these each, in turn.
    InTurn(Vec<u32>),
    /// Each on any of these.
    Among(Vec<u32>),
}

impl Pinning {
    /// The CPUs that were named.
    pub(crate) fn named(&self) -> Option<&[u32]> {
        match self {
            Self::InTurn(cpus) | Self::Among(cpus) => Some(cpus),
            Self::Near | Self::Scheduler => None,
        }
    }
}

/// A run that was asked for, as the logbook keeps it, and how it ended.
#[derive(Debug)]
pub struct Ran {
    /// The run, as the logbook has it.
    pub run: RunRecord,
    /// Its points.
    pub points: Vec<PointRecord>,
    /// The signal that ended it early.
    pub signal: Option<i32>,
    /// Points whose target was lost, of so many.
    pub lost: usize,
    /// Points of the plan.
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
    /// Requests of the single variants; `None` if there are none.
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
