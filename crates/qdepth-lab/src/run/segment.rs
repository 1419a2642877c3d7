//! Interleaved segments of a group of points: a single segment, and several merged.

use anyhow::Result;
use jiff::Timestamp;
use qdepth_engine::Outcome;
use qdepth_measure::{Finding, Instant, Nanos};
use qdepth_workload::Point;

use crate::Lab;
use crate::execute::execute;
use crate::execute::virtual_time;
use crate::monitor::progress::ProgressEvent;
use crate::outcome::measured::Measured;
use crate::ranks::together::{ProgressBatch, ProgressMerger};
use crate::run::begin::PreparedRun;
use crate::run::events::Events;

/// Receivers of progress.
pub(crate) struct Receivers<'a, 'b> {
    pub(crate) events: &'a mut Events<'b>,
    /// Planned time of everything measured before.
    pub(crate) before: Nanos,
}

/// One segment of a group.
pub(crate) struct Segment {
    pub(crate) measured: Vec<Measured>,
    /// Start as RFC 3339 text, and by the clock.
    started_at: String,
    pub(crate) began: Instant,
}

impl Segment {
    /// True if the target failed or changed, so that no further segment is possible.
    pub(crate) fn is_broken(&self) -> bool {
        is_broken(&self.measured)
    }

    fn into_warm_up(self) -> Self {
        let measured = self.measured.into_iter().map(Measured::into_warm_up).collect();
        Self { measured, ..self }
    }

    /// Time to turn a queue over once, by Little's law: I/Os in flight ÷ rate.
    pub(crate) fn turnover(&self) -> Nanos {
        let turnover = |outcome: &Outcome| {
            (outcome.in_flight_integral / outcome.completed().max(1) as f64) as u64
        };
        Nanos(self.measured.iter().map(|result| turnover(&result.outcome)).max().unwrap_or(0))
    }
}

fn is_broken(measured: &[Measured]) -> bool {
    measured.iter().any(|m| m.outcome.failure.is_some() || m.changed.is_some())
}

/// Result of the segments of a group.
#[derive(Default)]
pub(crate) struct MergedSegments {
    pub(crate) measured: Vec<Measured>,
    /// Start of the first segment, RFC 3339.
    pub(crate) started_at: String,
    pub(crate) began: Instant,
    pub(crate) segments: u32,
    /// Findings by load; empty if there are none.
    pub(crate) findings: Vec<Option<Finding>>,
}

impl MergedSegments {
    /// Appends a segment to the earlier ones.
    pub(crate) fn with(former: Option<Self>, segment: Segment) -> Self {
        let Some(former) = former else {
            let Segment { measured, started_at, began } = segment;
            return Self { measured, started_at, began, segments: 1, findings: Vec::new() };
        };
        let offset = segment.began.since(former.began);
        let both = former.measured.into_iter().zip(segment.measured);
        let measured = both.map(|(former, later)| former.followed_by(later, offset)).collect();
        Self { measured, segments: former.segments + 1, ..former }
    }

    /// Appends a segment that only serves as warm-up of the next one: only its failures and the
    /// kernel's counts remain.
    pub(crate) fn with_warm_up(former: Option<Self>, segment: Segment) -> Self {
        let segments = former.as_ref().map_or(0, |former| former.segments);
        Self { segments, ..Self::with(former, segment.into_warm_up()) }
    }

    /// True if the target failed or changed, so that no further segment is possible.
    pub(crate) fn is_over(&self) -> bool {
        is_broken(&self.measured)
    }
}

/// Measures one segment of a group. `first` is the start of the first segment, for later ones.
pub(crate) fn measure_segment(
    lab: Lab<'_>,
    ready: &PreparedRun,
    points: &[Point],
    first: Option<Instant>,
    receivers: &mut Receivers<'_, '_>,
) -> Result<Segment> {
    let Receivers { events, before } = receivers;
    let points = &*virtual_time::bounded(&ready.targets, points);
    let (started_at, began) = (Timestamp::now().to_string(), qdepth_linux::now());
    let offset = first.map_or(Nanos::ZERO, |first| began.since(first));
    if first.is_none() {
        events.group(points, *before);
    }
    events.segment(points, *before);
    let mut report = |batch: ProgressBatch| {
        for (index, slice) in batch.slices {
            events.interval(points[index].index, &slice.moved(offset));
        }
        batch.machines.into_iter().for_each(|machine| events.machine(machine));
    };
    let mut together = ProgressMerger::new(lab.all_ranks);
    let mut seen = |event: ProgressEvent<'_>| report(together.see(event));
    let measured = execute(&ready.targets, points, ready.options(lab), &mut seen);
    report(together.rest());
    events.paused(points);
    let measured = measured?;
    let lengths = points.iter().map(|p| p.warm_up_ns + p.stop.duration_ns);
    *before += Nanos(lengths.max().unwrap_or(0));
    Ok(Segment { measured, started_at, began })
}
