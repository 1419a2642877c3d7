//! Targets that a plan writes to: the subject of guards and consents.

use std::collections::BTreeSet;

use crate::plan::Plan;

/// The targets that are written to, by their numbers from 0. Those that are only read are opened
/// for reading, whatever else the plan does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenTargets {
    /// Every target.
    Each,
    /// Only these targets; empty if the plan only reads.
    Only(BTreeSet<usize>),
}

impl WrittenTargets {
    /// True if this target is written to.
    pub fn on(&self, target: usize) -> bool {
        match self {
            Self::Each => true,
            Self::Only(targets) => targets.contains(&target),
        }
    }

    /// True if any target is.
    pub fn any(&self) -> bool {
        match self {
            Self::Each => true,
            Self::Only(targets) => !targets.is_empty(),
        }
    }
}

/// Targets of loads that write; `None` stands for every target.
impl FromIterator<Option<usize>> for WrittenTargets {
    fn from_iter<I: IntoIterator<Item = Option<usize>>>(targets: I) -> Self {
        targets.into_iter().collect::<Option<_>>().map_or(Self::Each, Self::Only)
    }
}

impl Plan {
    /// The targets that it writes to, preconditioning included.
    pub fn written_targets(&self) -> WrittenTargets {
        if !self.precondition.is_empty() {
            return WrittenTargets::Each;
        }
        let points = self.points.iter().filter(|point| point.writes());
        points.map(|point| Some(point.target as usize)).collect()
    }
}
