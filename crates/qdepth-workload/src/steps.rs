//! Steps: loads that run at the same time, one step after the other, as a plan file writes them
//! (`[[step]]`), or as a staircase on which one load rises (`[staircase]`).

use std::collections::BTreeMap;

use qdepth_measure::{Bytes, Nanos, Settling};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::least_rate::LeastRateSpec;

/// Maximum number of steps of a staircase.
const STEPS_MAX: u64 = 10_000;

/// Coupling of loads: the loads of a group issue I/Os in proportion to their weights, and a load
/// that is ahead waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Group of coupled loads.
    #[serde(default)]
    pub group: u32,
    /// Weight, 1 to 1000.
    pub weight: u32,
    /// Pause of a load that is ahead, once all its I/Os have completed. Default: until it is no
    /// longer ahead.
    pub pause: Option<Nanos>,
}

/// One load of a step. `warm_up`, `duration`, `bytes` and `bytes_per_stream` default to those of
/// the plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadSpec {
    /// Short name of the profile.
    pub profile: String,
    /// Queue depth per stream.
    pub queue_depth: u32,
    /// Number of streams, each with its own thread. Default: those of the profile.
    pub streams: Option<u32>,
    /// Bytes per second over all streams, for example `"100MiB"`: an open loop on an exact
    /// schedule.
    pub bytes_per_s: Option<Bytes>,
    /// I/Os per second over all streams: an open loop on an exact schedule.
    pub io_per_s: Option<f64>,
    /// Extends the step, at most 40-fold, until this load has completed this number of I/Os.
    pub samples: Option<u64>,
    /// Number of the only target it runs on, from 1. Default: every target.
    pub target: Option<u32>,
    /// Delay from the start of the step.
    pub delay: Option<Nanos>,
    /// Warm-up.
    pub warm_up: Option<Nanos>,
    /// Measured time.
    pub duration: Option<Nanos>,
    /// Ends the load early, after this number of bytes.
    pub bytes: Option<Bytes>,
    /// Bytes that each stream moves, a multiple of the block size.
    pub bytes_per_stream: Option<Bytes>,
    /// True if all loads of the step end with this one.
    pub ends_step: Option<bool>,
    /// True if each stream continues after the end until it has moved as much as the fastest; needs
    /// `bytes_per_stream`.
    pub catches_up: Option<bool>,
    /// Minimum rates; a slower load ends.
    pub least_rate: Option<LeastRateSpec>,
    /// Ends the load when its last samples are close to their mean.
    pub settling: Option<Settling>,
    /// Under MPI: each rank takes the streams of the rank this many further on. Default: 0; for
    /// loads that only read files of the run, a rank of another node.
    pub rank_shift: Option<u32>,
    /// Couples the load to others of its step.
    pub flow: Option<FlowSpec>,
    /// `bytes_per_stream` as a number of passes over each stream's part of the area.
    pub passes: Option<u32>,
}

impl LoadSpec {
    /// True if it runs on the target with this number, from 0.
    pub(crate) fn on(&self, target: usize) -> bool {
        self.target_index().is_none_or(|number| number == target)
    }

    /// Index of the only target that it runs on, from 0; `None` if it runs on each.
    pub(crate) fn target_index(&self) -> Option<usize> {
        self.target.map(|number| (number as usize).wrapping_sub(1))
    }
}

/// Profile with its own queue depths, one point each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SweepSpec {
    /// Short name of a profile, shipped or defined in the plan.
    pub profile: String,
    /// Queue depths per stream.
    pub queue_depth: Vec<u32>,
}

/// Loads that run at the same time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    /// Title, for example `"100 MB/s"`.
    pub title: String,
    /// Title of a step of a shipped plan in other languages of reports, by BCP 47 tag, for example
    /// `ja`. Reports on your own plans use `title` in every language.
    #[serde(default)]
    pub translations: BTreeMap<String, String>,
    /// Number of repetitions, numbered in the title.
    pub times: Option<u32>,
    /// Loads.
    #[serde(rename = "load")]
    pub loads: Vec<LoadSpec>,
}

/// Steps in which one load rises while others remain constant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaircaseSpec {
    /// Rising load.
    pub rising: LoadSpec,
    /// Constant loads.
    #[serde(default)]
    pub beside: Vec<LoadSpec>,
    /// Bytes per second of the first step. `"0B"` is a step without the rising load.
    pub from: Bytes,
    /// Bytes per second of the last step.
    pub to: Bytes,
    /// Increment in bytes per second.
    pub by: Bytes,
}

/// Title of one of several repetitions of a step; languages differ only in the name.
pub(crate) fn pass_title(title: &str, pass: u32, passes: u32) -> String {
    format!("{title} {pass}/{passes}")
}

impl StepSpec {
    /// Repeats the step.
    ///
    /// # Errors
    /// If the number is 0 or too large.
    pub(crate) fn each(&self) -> Result<Vec<Self>, String> {
        let Some(times) = self.times else { return Ok(vec![self.clone()]) };
        if !(1..=STEPS_MAX).contains(&u64::from(times)) {
            return Err(format!("times = {times}: must be between 1 and {STEPS_MAX}"));
        }
        let pass = |number: u32| Self {
            title: pass_title(&self.title, number, times),
            loads: self.loads.clone(),
            ..Self::default()
        };
        Ok((1..=times).map(pass).collect())
    }
}

impl StaircaseSpec {
    /// Steps, titled by their rates in MB/s (2^20 bytes).
    ///
    /// # Errors
    /// If it has no steps, or too many.
    pub(crate) fn steps(&self) -> Result<Vec<StepSpec>, String> {
        let Self { from, to, by, .. } = self;
        if by.0 == 0 {
            return Err(format!("--step-by {by}: must be above 0. Try --step-by 100MiB"));
        }
        if to < from {
            return Err(format!(
                "--step-to {to}: the last step is below the first, --step-from {from}. Try \
                 --step-to {}",
                Bytes(from.0.saturating_mul(2))
            ));
        }
        let count = (self.to.0 - self.from.0) / self.by.0 + 1;
        if count > STEPS_MAX {
            return Err(format!("a staircase of {count} steps; at most {STEPS_MAX} are allowed"));
        }
        let step = |number: u64| {
            let rate = Bytes(self.from.0 + number * self.by.0);
            let mut loads = self.beside.clone();
            if rate.0 > 0 {
                loads.push(LoadSpec { bytes_per_s: Some(rate), ..self.rising.clone() });
            }
            let title = format!("{} MB/s", rate.0 as f64 / f64::from(1 << 20));
            StepSpec { title, loads, ..StepSpec::default() }
        };
        Ok((0..count).map(step).filter(|step| !step.loads.is_empty()).collect())
    }
}
