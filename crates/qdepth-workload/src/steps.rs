//! Steps: loads that run at the same time, one step after the other, as a plan file writes them
//! (`[[step]]`), or as a staircase on which one load rises (`[staircase]`).

use std::collections::BTreeMap;

use qdepth_measure::{Bytes, Nanos, Settling};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::least_rate::LeastRateSpec;

/// Most steps of a staircase.
const STEPS_MAX: u64 = 10_000;

/// Loads of one group issue requests in proportion to their weights: who is ahead waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Which loads are tied to each other. Left out: 0.
    #[serde(default)]
    pub group: u32,
    /// Its weight, 1 to 1000.
    pub weight: u32,
    /// How long it waits once it is ahead and all of its requests came back. Left out: only until
    /// it is not ahead any more.
    pub pause: Option<Nanos>,
}

/// One load of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadSpec {
    /// The profile, by its short name.
    pub profile: String,
    /// Outstanding I/Os per stream.
    pub outstanding: u32,
    /// Bytes per second over all streams, as `"100MiB"`: an open loop on an exact schedule. Left
    /// out: as the profile says.
    pub bytes_per_s: Option<Bytes>,
    /// Requests per second over all streams: an open loop on an exact schedule. Left out: as the
    /// profile says.
    pub io_per_s: Option<f64>,
    /// Lengthens the step, and all that runs in it, until this load has completed so many requests;
    /// to forty times the duration at most. Left out: the step lasts the duration.
    pub samples: Option<u64>,
    /// The one target that it runs on, from 1. Left out: it runs on each.
    pub target: Option<u32>,
    /// From the common start of the step to its own. Left out: it begins with the others.
    pub delay: Option<Nanos>,
    /// Unrecorded lead-in. Left out: the plan's.
    pub warm_up: Option<Nanos>,
    /// Measured window. Left out: the plan's.
    pub duration: Option<Nanos>,
    /// Ends it after so many bytes, if they come before the duration's end. Left out: the plan's.
    pub bytes: Option<Bytes>,
    /// Bytes that each stream moves, in whole requests: it issues nothing after them, and the load
    /// ends with its last completion. Left out: the plan's.
    pub bytes_per_stream: Option<Bytes>,
    /// Whether all loads of its step end when it does. Left out: no.
    pub ends_step: Option<bool>,
    /// Whether, when its time is over, each stream goes on until it has moved as much as the one
    /// that moved most; with bytes for each stream. Left out: no.
    pub catches_up: Option<bool>,
    /// Ends it where its rate is lower. Left out: its rate may be any.
    pub least_rate: Option<LeastRateSpec>,
    /// Ends it once its last samples are near their mean. Left out: it lasts its time.
    pub settling: Option<Settling>,
    /// Ties it to other loads of its step. Left out: it knows nothing of them.
    pub flow: Option<FlowSpec>,
    /// The same as a number of times that each stream moves as much as its part of the area holds.
    pub passes: Option<u32>,
}

impl LoadSpec {
    /// Whether it runs on the target with this number, from 0.
    pub(crate) fn on(&self, target: usize) -> bool {
        self.target_index().is_none_or(|number| number == target)
    }

    /// The one target that it runs on, from 0; none where it runs on each.
    pub(crate) fn target_index(&self) -> Option<usize> {
        self.target.map(|number| (number as usize).wrapping_sub(1))
    }
}

/// A profile at outstanding I/Os of its own, one point each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SweepSpec {
    /// The profile, by its short name: a shipped one, or one of the plan's own.
    pub profile: String,
    /// Outstanding I/Os per stream.
    pub outstanding: Vec<u32>,
}

/// Loads that run at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    /// Name for people, as `"100 MB/s"`.
    pub title: String,
    /// Title of a step of a shipped plan in other languages of reports, by BCP 47 tag, as `ja`.
    /// Reports of your own plan have its `title` in every language.
    #[serde(default)]
    pub translations: BTreeMap<String, String>,
    /// So often one after the other, each with its number behind the name. Left out: once.
    pub times: Option<u32>,
    /// The loads.
    #[serde(rename = "load")]
    pub loads: Vec<LoadSpec>,
}

/// Steps on which one load rises while others stay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaircaseSpec {
    /// The load that rises.
    pub rising: LoadSpec,
    /// The loads that stay.
    #[serde(default)]
    pub beside: Vec<LoadSpec>,
    /// Bytes per second of the first step. `"0B"` is a step without the rising load.
    pub from: Bytes,
    /// Bytes per second of the last step.
    pub to: Bytes,
    /// Bytes per second from step to step.
    pub by: Bytes,
}

/// The title of one of several passes through a step: the same in every language but for the name.
pub(crate) fn pass_title(title: &str, pass: u32, passes: u32) -> String {
    format!("{title} {pass}/{passes}")
}

impl StepSpec {
    /// Once for each of its times.
    ///
    /// # Errors
    /// Where that is none, or more often than can be meant.
    pub(crate) fn each(&self) -> Result<Vec<Self>, String> {
        let Some(times) = self.times else { return Ok(vec![self.clone()]) };
        if !(1..=STEPS_MAX).contains(&u64::from(times)) {
            return Err(format!("times = {times}; must be 1 to {STEPS_MAX}"));
        }
        let pass = |number: u32| Self {
            title: pass_title(&self.title, number, times),
            translations: BTreeMap::new(),
            times: None,
            loads: self.loads.clone(),
        };
        Ok((1..=times).map(pass).collect())
    }
}

impl StaircaseSpec {
    /// The steps, titled by their rates in MB/s (2^20 bytes).
    ///
    /// # Errors
    /// Where it has no steps, or more than can be meant.
    pub(crate) fn steps(&self) -> Result<Vec<StepSpec>, String> {
        if self.by.0 == 0 || self.to < self.from {
            return Err(format!(
                "a staircase from {} to {} by {}: the last step is not below the first, and a step \
                 is above 0",
                self.from, self.to, self.by
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
            StepSpec { title, translations: BTreeMap::new(), times: None, loads }
        };
        Ok((0..count).map(step).filter(|step| !step.loads.is_empty()).collect())
    }
}
