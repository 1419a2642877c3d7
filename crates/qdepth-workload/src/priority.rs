//! Priorities of requests in the kernel, and the shares of requests with a different one.

use qdepth_measure::Seed;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::request::{Direction, Request};

/// Lowest level of a class; 0 is the highest.
const LEVEL_MAX: u8 = 7;

/// Priority class in the kernel's queues (`ioprio_set`(2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PriorityClass {
    /// Served before all others.
    Realtime,
    /// Normal class.
    BestEffort,
    /// Served only if no other I/O is waiting.
    Idle,
}

/// Priority in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Priority {
    /// Priority class.
    pub class: PriorityClass,
    /// Level, from 0 (highest of its class) to 7. Default: 0.
    #[serde(default)]
    pub level: u8,
}

impl Priority {
    /// Bits of the kernel's encoding.
    pub fn bits(self) -> u16 {
        (self.class as u16 + 1) << 13 | u16::from(self.level)
    }
}

/// I/Os by direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
}

/// Share of the I/Os with a different priority.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OtherPriority {
    /// Direction of the I/Os.
    pub way: Way,
    /// Only I/Os of this size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u32>,
    /// Share of these I/Os, in per cent.
    pub share: f64,
    /// Priority.
    pub priority: Priority,
}

/// Priorities of a load's I/Os.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Priorities {
    /// Priority of all other requests. Default: that of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual: Option<Priority>,
    /// Shares with a different priority, chosen at random for each I/O.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherPriority>,
}

impl Priorities {
    /// Checks the values; the error is for the user.
    pub(crate) fn check(&self) -> Result<(), String> {
        let all = || self.usual.into_iter().chain(self.others.iter().map(|other| other.priority));
        if let Some(priority) = all().find(|priority| priority.level > LEVEL_MAX) {
            return Err(format!(
                "priority level {}: must be between 0 and {LEVEL_MAX}",
                priority.level
            ));
        }
        for other in &self.others {
            let beside = |priority: &&OtherPriority| {
                priority.way == other.way
                    && (priority.size_bytes.is_none() || priority.size_bytes == other.size_bytes)
            };
            let share: f64 = self.others.iter().filter(beside).map(|priority| priority.share).sum();
            if !(0.0..=100.0).contains(&other.share) || share > 100.0 + 1e-9 {
                return Err(format!(
                    "priorities of {share} % of the I/Os: must be between 0 and 100"
                ));
            }
        }
        Ok(())
    }
}

/// Chooses the priority of each request; the same seed gives the same choices.
#[derive(Debug)]
pub struct PriorityDraw {
    usual: u16,
    /// Requests with another priority: direction, size, share of 2^32, priority.
    others: Vec<(Direction, Option<u32>, u64, u16)>,
    random: Xoshiro256PlusPlus,
}

impl PriorityDraw {
    /// Chooser for the requests of one worker.
    pub fn new(priorities: &Priorities, seed: u64) -> Self {
        let other = |other: &OtherPriority| {
            let direction = match other.way {
                Way::Reads => Direction::Read,
                Way::Writes => Direction::Write,
            };
            let share = (other.share / 100.0 * 4_294_967_296.0).round() as u64;
            (direction, other.size_bytes, share, other.priority.bits())
        };
        Self {
            usual: priorities.usual.map_or(0, Priority::bits),
            others: priorities.others.iter().map(other).collect(),
            random: Xoshiro256PlusPlus::seed_from_u64(Seed(seed).derive("priority").0),
        }
    }

    /// Priority of the next request in the kernel's encoding; 0 for that of the thread.
    #[cold]
    pub fn next(&mut self, request: Request) -> u16 {
        if request.direction == Direction::Sync {
            return 0;
        }
        let mut rest = self.random.next_u64() >> 32;
        for (direction, size, share, bits) in &self.others {
            if *direction != request.direction || size.is_some_and(|size| size != request.size) {
                continue;
            }
            if rest < *share {
                return *bits;
            }
            rest -= share;
        }
        self.usual
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn priority(class: PriorityClass, level: u8) -> Priority {
        Priority { class, level }
    }

    #[test]
    fn priorities_apply_by_direction_and_size() {
        let usual = priority(PriorityClass::BestEffort, 7);
        let (first, idle) =
            (priority(PriorityClass::Realtime, 1), priority(PriorityClass::Idle, 0));
        let other = |size_bytes, share, priority| OtherPriority {
            way: Way::Reads,
            size_bytes,
            share,
            priority,
        };
        let priorities = Priorities {
            usual: Some(usual),
            others: vec![other(Some(8192), 25.0, first), other(Some(8192), 50.0, idle)],
        };
        assert_eq!(priorities.check(), Ok(()));
        let mut draw = PriorityDraw::new(&priorities, 1);
        let mut count = |direction, size, wanted: Priority| {
            let request = Request { direction, offset: 0, size };
            (0..10_000).filter(|_| draw.next(request) == wanted.bits()).count()
        };
        for (wanted, share) in [(first, 2500), (idle, 5000), (usual, 2500)] {
            assert!(count(Direction::Read, 8192, wanted).abs_diff(share) < 200, "{wanted:?}");
        }
        assert_eq!(count(Direction::Read, 4096, usual), 10_000);
        assert_eq!(count(Direction::Write, 8192, usual), 10_000);
        assert_eq!(count(Direction::Sync, 0, usual), 0, "a sync bears none");
        assert_eq!(first.bits(), 0x2001, "IOPRIO_PRIO_VALUE(IOPRIO_CLASS_RT, 1)");
        let too_many = Priorities { others: vec![other(None, 60.0, first); 2], usual: None };
        assert!(too_many.check().is_err());
        let too_low = Priorities { usual: Some(Priority { level: 8, ..usual }), others: vec![] };
        assert!(too_low.check().is_err());
    }
}
