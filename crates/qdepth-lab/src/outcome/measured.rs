//! A point as measured, before its record is created.

use qdepth_engine::{Absence, Ended, Outcome, append_segment, into_warm_up};
use qdepth_linux::{ClockCheck, Engine, Probe};
use qdepth_measure::Nanos;
use qdepth_workload::Point;

use crate::monitor::monitors::Seen;
use crate::ranks::other_ranks::OtherRanks;
use crate::request::worker_result::WorkerResult;
use crate::target::identity::{Changed, Identity};

/// Results of a point, with observations of the machine.
pub(crate) struct Measured {
    pub(crate) outcome: Outcome,
    /// Results of its workers; empty in virtual time.
    pub(crate) ranks: Vec<WorkerResult>,
    /// Engine and clock; `None` in virtual time.
    pub(crate) engine: Option<Used>,
    /// True if direct I/O was in effect.
    pub(crate) direct: bool,
    /// Activity of the machine.
    pub(crate) seen: Seen,
    /// Results of the other ranks.
    pub(crate) others: OtherRanks,
    /// Change of the target's identity at the end of the point.
    pub(crate) changed: Option<Changed>,
}

impl Measured {
    /// A point with its outcome, and nothing known about the machine.
    pub(crate) fn new(outcome: Outcome, direct: bool) -> Self {
        let (seen, others) = Default::default();
        Self { outcome, ranks: Vec::new(), engine: None, direct, seen, others, changed: None }
    }

    /// A point without I/Os, because its target is gone.
    pub(crate) fn nothing(point: &Point, why: Absence) -> Self {
        let (ended, failure) = (Ended::Failure, Some(why.into()));
        Self::new(Outcome { ended, failure, ..Outcome::default() }, point.direct)
    }

    /// Notes the identity of the target after the point.
    pub(crate) fn note(&mut self, identity: Identity) {
        match identity {
            Identity::Same => {}
            Identity::Changed(changed) => self.changed = Some(changed),
            Identity::Gone(why) => {
                self.outcome.failure.get_or_insert(why.into());
            }
        }
    }

    /// The same as warm-up of the following measurement.
    pub(crate) fn into_warm_up(self) -> Self {
        let ranks = self.ranks.iter().map(|_| WorkerResult::default()).collect();
        Self { outcome: into_warm_up(self.outcome), ranks, ..self }
    }

    /// Adds a later segment of the same point, which began `offset` after the first.
    pub(crate) fn followed_by(self, later: Self, offset: Nanos) -> Self {
        let (before, after) = (self.outcome.duration.0 as f64, later.outcome.duration.0 as f64);
        let share = if after > 0.0 { after / (before + after) } else { 0.0 };
        let Self { outcome, mut ranks, engine, direct, mut seen, mut others, changed } = self;
        for (mine, theirs) in ranks.iter_mut().zip(later.ranks) {
            mine.append(theirs);
        }
        seen.append(later.seen, offset, share);
        others.append(later.others);
        let engine = match (engine, later.engine) {
            (Some(mine), Some(theirs)) => {
                Some(Used { waited: mine.waited.max(theirs.waited), clock: theirs.clock, ..mine })
            }
            (mine, theirs) => mine.or(theirs),
        };
        Self {
            outcome: append_segment(outcome, later.outcome, offset),
            ranks,
            engine,
            direct: direct && later.direct,
            seen,
            others,
            changed: changed.or(later.changed),
        }
    }
}

/// Engine and clock of a point in real time.
#[derive(Clone)]
pub(crate) struct Used {
    pub(crate) engine: Engine,
    pub(crate) probe: Probe,
    pub(crate) clock: ClockCheck,
    /// Share of the time in which the worker was ready and had no CPU.
    pub(crate) waited: f64,
}
