//! State of a run in progress. Events change it; nothing here prints or reads a clock: `now` is the
//! time since the screen started.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use qdepth_record::event::{
    self, Interval, Machine, PointStarted, RunEvent, RunStarted, SegmentStarted,
};
use qdepth_report::{Lang, phase_text};

/// Length of a sparkline: one value per second.
pub(super) const MINUTE: usize = 60;

/// Progress of the run, updated by each event.
#[derive(Debug, Default)]
pub(super) struct Live {
    pub(super) run: Option<RunStarted>,
    /// Points that have begun.
    pub(super) begun: BTreeMap<u32, PointStarted>,
    /// Figures of each point.
    pub(super) figures: BTreeMap<u32, Figures>,
    /// Number of points stored in the logbook.
    pub(super) done: u32,
    pub(super) segment: Option<Segment>,
    pub(super) writing: Option<Writing>,
    /// Last values of each machine, by name.
    pub(super) machines: BTreeMap<String, Machine>,
    /// IOPS of the last minute, across the points that ran alone.
    pub(super) rates: VecDeque<f64>,
    /// Lines of recent points and findings, if a table lists them at the end.
    pub(super) messages: VecDeque<String>,
    /// Codes of warnings already printed for a point.
    pub(super) remarked: BTreeSet<String>,
}

/// Maximum number of lines kept in `messages`; no terminal shows more.
const MESSAGES_MAX: usize = 100;

/// Figures of a point.
#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) last: Option<Interval>,
    /// Rates of the last minute, I/Os per second.
    pub(super) rates: VecDeque<f64>,
}

/// Segment of a point that is measured now.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) started: SegmentStarted,
    since: Duration,
    /// Elapsed part of its window in virtual time, ns.
    window_ns: u64,
    /// Start of its first sample, ns from the start of the point's window.
    from_ns: Option<u64>,
}

/// Progress of writes before the measurement (filling, preconditioning).
#[derive(Debug)]
pub(super) struct Writing {
    pub(super) phase: &'static str,
    pub(super) what: String,
    /// Total bytes, if known in advance.
    pub(super) bytes: Option<u64>,
    pub(super) written: u64,
    pub(super) since: Duration,
}

/// Phase of a point, with its elapsed time and length, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Warm-up: elapsed and total.
    WarmUp(u64, u64),
    /// Window: elapsed and total.
    Measuring(u64, u64),
    /// After the window: I/Os are still in flight, or other loads are still running.
    Waiting,
}

impl Live {
    pub(super) fn apply(&mut self, event: &RunEvent, now: Duration) {
        match event {
            RunEvent::RunStarted(run) => {
                *self = Self { run: Some(run.clone()), done: run.points_done, ..Self::default() };
            }
            RunEvent::VariantStarted(_) | RunEvent::Message(_) => {}
            RunEvent::PhaseStarted(started) => {
                let phase = match started.phase {
                    event::Phase::Preparation => "preparing",
                    event::Phase::Provisioning => "filling the measurement file",
                    event::Phase::Preconditioning => "preconditioning",
                };
                let (what, bytes) = (phase_text(Lang::En, started), started.bytes);
                self.writing = Some(Writing { phase, what, bytes, written: 0, since: now });
            }
            RunEvent::PhaseProgress(progress) => {
                if let Some(writing) = &mut self.writing {
                    writing.written = progress.bytes_done;
                }
            }
            RunEvent::PhaseEnded(_) => self.writing = None,
            RunEvent::PointStarted(point) => {
                self.begun.insert(point.point, point.clone());
            }
            RunEvent::SegmentStarted(started) => {
                let (started, since) = (started.clone(), now);
                self.segment = Some(Segment { started, since, window_ns: 0, from_ns: None });
            }
            RunEvent::Sample(interval) => self.interval(interval),
            RunEvent::Machine(machine) => {
                self.machines.insert(machine.host.clone(), machine.clone());
            }
            RunEvent::PointEnded(ended) => {
                self.done += 1;
                // Other points of the group or sweep end next; this one's figures are final.
                self.figures.remove(&ended.point);
            }
            RunEvent::FindingRaised(finding) => {
                self.remarked.insert(finding.code.clone());
            }
            RunEvent::RunEnded(_) => *self = Self::default(),
        }
    }

    fn interval(&mut self, interval: &Interval) {
        if let Some(segment) = &mut self.segment {
            let begin = interval.end_ns.saturating_sub(interval.length_ns);
            let from = *segment.from_ns.get_or_insert(begin);
            segment.window_ns = segment.window_ns.max(interval.end_ns.saturating_sub(from));
        }
        let rate = interval.io_per_s().iter().sum();
        if self.loads().len() == 1 {
            push_bounded(&mut self.rates, rate, MINUTE);
        }
        let figures = self.figures.entry(interval.point).or_default();
        push_bounded(&mut figures.rates, rate, MINUTE);
        figures.last = Some(interval.clone());
    }

    /// Adds a line for a point or finding, dropping the oldest beyond the limit.
    pub(super) fn print_above(&mut self, line: String) {
        push_bounded(&mut self.messages, line, MESSAGES_MAX);
    }

    pub(super) fn is_emulated(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.emulated)
    }

    /// Points that are being measured now.
    pub(super) fn loads(&self) -> Vec<&PointStarted> {
        let Some(segment) = &self.segment else { return Vec::new() };
        self.begun.values().filter(|point| point.group == segment.started.group).collect()
    }

    /// Elapsed time of the current segment, ns; virtual on emulated devices.
    fn elapsed(&self, segment: &Segment, now: Duration) -> u64 {
        if !self.is_emulated() {
            return now.saturating_sub(segment.since).as_nanos() as u64;
        }
        let warm_up = if segment.from_ns.is_some() { segment.started.warm_up_ns } else { 0 };
        warm_up + segment.window_ns
    }

    /// Current phase; `None` between points.
    pub(super) fn phase(&self, now: Duration) -> Option<Phase> {
        let segment = self.segment.as_ref()?;
        let SegmentStarted { warm_up_ns, window_ns, .. } = segment.started;
        let elapsed = self.elapsed(segment, now);
        Some(if elapsed < warm_up_ns {
            Phase::WarmUp(elapsed, warm_up_ns)
        } else if elapsed - warm_up_ns < window_ns {
            Phase::Measuring(elapsed - warm_up_ns, window_ns)
        } else {
            Phase::Waiting
        })
    }

    /// Remaining time of the segment and of the plan, ns.
    pub(super) fn left(&self, now: Duration) -> Option<(u64, u64)> {
        let (run, segment) = (self.run.as_ref()?, self.segment.as_ref()?);
        let all = segment.started.warm_up_ns + segment.started.window_ns;
        let elapsed = self.elapsed(segment, now).min(all);
        let before = segment.started.planned_before_ns;
        Some((all - elapsed, longest(run).saturating_sub(before + elapsed)))
    }
}

/// Planned time of a run with its search, ns.
pub(super) fn longest(run: &RunStarted) -> u64 {
    run.planned_ns.saturating_add(run.search_ns.unwrap_or_default())
}

/// Appends a value and drops the oldest beyond `most`.
fn push_bounded<T>(all: &mut VecDeque<T>, newest: T, most: usize) {
    all.push_back(newest);
    while all.len() > most {
        all.pop_front();
    }
}
