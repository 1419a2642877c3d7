//! Iometer configuration: workers, access specifications and cycles.

use thiserror::Error;

/// Unsupported or invalid configuration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {what}")]
pub struct IcfRefusal {
    /// Line, from 1.
    pub line: usize,
    /// Problem and the nearest alternative.
    pub what: String,
}

/// A line of an access specification; shares in per cent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Access {
    pub(super) size: u64,
    pub(super) share: u32,
    pub(super) read: u32,
    pub(super) random: u32,
    pub(super) delay_ms: u64,
    pub(super) burst: u32,
    pub(super) align: u64,
}

/// An access specification.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Spec {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) lines: Vec<Access>,
}

/// Increase of the load from test to test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cycle {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) step: u32,
    pub(super) exponential: bool,
}

impl Default for Cycle {
    fn default() -> Self {
        Self { start: 1, end: u32::MAX, step: 1, exponential: false }
    }
}

impl Cycle {
    /// Values up to the end of the cycle, or to `most`, which is always the last value if exceeded.
    pub(super) fn values(self, most: u32) -> Vec<u32> {
        let (mut values, mut next) = (Vec::new(), self.start.max(1));
        let end = self.end.min(most);
        while next <= end && values.len() < 1_000 {
            values.push(next);
            let step = self.step.max(1);
            next = match self.exponential {
                true => next.saturating_mul(step.max(2)),
                false => next.saturating_add(step),
            };
        }
        if values.last().is_none_or(|last| *last < end) {
            values.push(end.max(1));
        }
        values
    }
}

/// Settings that vary from test to test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Varied {
    pub(super) workers: bool,
    pub(super) queue_depth: bool,
    pub(super) targets: bool,
}

/// Worker with its targets.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Worker {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) queue_depth: u32,
    /// Number of sectors of 512 B; 0 for all.
    pub(super) sectors: u64,
    pub(super) first_sector: u64,
    pub(super) pattern: u32,
    pub(super) seed: Option<u64>,
    pub(super) specs: Vec<(usize, String)>,
    pub(super) targets: Vec<String>,
}

/// Parsed configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Icf {
    pub(super) title: String,
    pub(super) seconds: u64,
    pub(super) ramp_up_s: u64,
    pub(super) varied: Varied,
    pub(super) workers_cycle: Cycle,
    pub(super) depths: Cycle,
    pub(super) specs: Vec<Spec>,
    pub(super) workers: Vec<Worker>,
    pub(super) managers: usize,
}

impl Icf {
    /// Names of all targets, in the order in which workers name them.
    pub(super) fn targets(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for target in self.workers.iter().flat_map(|worker| &worker.targets) {
            if !all.contains(target) {
                all.push(target.clone());
            }
        }
        all
    }

    pub(super) fn spec(&self, line: usize, name: &str) -> Result<Option<&Spec>, IcfRefusal> {
        if name.eq_ignore_ascii_case("idle") {
            return Ok(None);
        }
        let found = self.specs.iter().find(|spec| spec.name.eq_ignore_ascii_case(name));
        // In files of 1998, specifications have no names: use the only one.
        let alone =
            || self.specs.first().filter(|only| self.specs.len() == 1 && only.name.is_empty());
        let what = format!("there is no access specification `{name}`");
        found.or_else(alone).map(Some).ok_or(IcfRefusal { line, what })
    }
}
