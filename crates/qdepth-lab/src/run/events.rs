//! Events of a run for observers: the file that marks the run next to its logbook, which `qdepth
//! serve` reads, and `--events`. The thread that waits for the workers sends them once per second
//! and point.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::path::Path;

use anyhow::{Result, bail};
use qdepth_engine::Interval;
use qdepth_files::{Kept, Trust};
use qdepth_logbook::{EventFile, Logbook};
use qdepth_measure::{Finding, Nanos, percentile_name};
use qdepth_record::event::{self, EVENTS_VERSION, RunEvent};
use qdepth_record::{
    ComparisonRecord, FindingEntry, PointRecord, PointSummary, RunRecord, RunState, finding_entry,
    shown_step,
};
use qdepth_workload::{Plan, Point};
use rustix::fs::{AtFlags, StatxFlags, statx};

use crate::Lab;
use crate::events::observer::{Observer, RecordedIo};
use crate::events::rate_so_far::RateSoFar;
use crate::failure::Usage;

/// Measured time of a point that one event covers.
const SECOND: Nanos = Nanos::from_secs(1);
/// First bytes of an event file.
const BEGINNING: &[u8] = b"{\"event\":";

/// Opens the file named by `--events`: a new file, or an event file to append to.
fn events_file(path: &Path) -> Result<Kept> {
    let kept = Kept::open_or_make(path, Trust::Lines, false)?;
    contains_events(&kept)?;
    Ok(kept)
}

fn contains_events(kept: &Kept) -> Result<()> {
    let mut head = Vec::new();
    let mut file = kept.file();
    // A server's file may have grown under another name.
    statx(file, "", AtFlags::EMPTY_PATH | AtFlags::STATX_FORCE_SYNC, StatxFlags::SIZE).ok();
    file.rewind()?;
    file.take(BEGINNING.len() as u64).read_to_end(&mut head)?;
    if !head.is_empty() && head != BEGINNING {
        bail!(Usage(format!(
            "--events {}: the file contains something else. Name a new file or an event file",
            kept.path().display()
        )));
    }
    Ok(())
}

/// Number of lines written, and of lines lost.
#[derive(Debug, Default)]
struct Written {
    lines: u64,
    lost: u64,
    /// Error of the first lost line.
    why: Option<std::io::Error>,
}

/// Receivers of a run's events: the front end, the event file, and the marker next to the logbook
/// while the run is held. Takes the front end's place while the run is prepared and measured.
pub(crate) struct Publisher<'a> {
    observer: &'a dyn Observer,
    file: Option<Kept>,
    event_file: RefCell<EventFile>,
    written: RefCell<Written>,
}

impl<'a> Publisher<'a> {
    /// The receivers of a requested run.
    ///
    /// # Errors
    /// If the event file is not one.
    pub(crate) fn new(lab: Lab<'a>) -> Result<Self> {
        let file = lab.request.events.as_deref().map(events_file).transpose()?;
        let (event_file, written) = Default::default();
        Ok(Self { observer: lab.observer, file, event_file, written })
    }

    /// From now on, also writes events to the marker of the run that the logbook holds.
    ///
    /// # Errors
    /// If the event file is the logbook under another name, for example on a FUSE file system.
    pub(crate) fn follow(&self, logbook: &Logbook) -> Result<()> {
        self.event_file.replace(logbook.event_file());
        self.file.as_ref().map_or(Ok(()), contains_events)
    }

    /// Warns if lines of the event file were lost.
    pub(crate) fn warn_of_lost_lines(&self) {
        let Written { lines, lost, why: Some(why) } = &*self.written.borrow() else { return };
        let name = self.file.as_ref().map_or(Path::new(""), Kept::path).display();
        let text = format!(
            "--events {name}: {lost} of {lines} lines could not be written ({why}); the other \
             lines are complete, and the run is not affected"
        );
        self.observer.warn(text);
    }
}

impl Observer for Publisher<'_> {
    fn event(&self, event: &RunEvent) {
        let line = event.line();
        self.event_file.borrow().publish(&line, matches!(event, RunEvent::RunStarted(_)));
        if let Some(file) = &self.file {
            // The disk may be full; the measurement continues.
            let answer = file.add_line(&line);
            let mut written = self.written.borrow_mut();
            written.lines += 1;
            if let Err(error) = answer {
                written.lost += 1;
                written.why.get_or_insert(error);
            }
        }
        self.observer.event(event);
    }

    fn ask(&self, question: &str) -> Option<String> {
        self.observer.ask(question)
    }

    fn wants_ios(&self) -> bool {
        self.observer.wants_ios()
    }

    fn ios(&self, point: &Point, ios: Vec<RecordedIo>) {
        self.observer.ios(point, ios);
    }
}

/// Publishes the events of a run from its beginning to its end.
pub(crate) struct Events<'a> {
    observer: &'a dyn Observer,
    /// Measured but unreported interval of each point of the group.
    unreported: BTreeMap<u32, Interval>,
    rates: BTreeMap<u32, RateSoFar>,
    compared: Option<ComparisonRecord>,
}

impl<'a> Events<'a> {
    /// Publishes that the run begins or continues, with this number of points done.
    pub(crate) fn started(
        observer: &'a dyn Observer,
        run: &RunRecord,
        plan: &Plan,
        done: usize,
    ) -> Self {
        let (unreported, rates) = Default::default();
        let events = Self { observer, unreported, rates, compared: run.comparison.clone() };
        let event = event::RunStarted {
            schema_version: EVENTS_VERSION,
            run: run.id.clone(),
            started_at: run.started_at.clone(),
            plan: run.plan_name.clone(),
            plan_hash: run.plan_hash.clone(),
            targets: run.targets.iter().map(|target| target.name.clone()).collect(),
            emulated: run.emulated,
            points: plan.points.len() as u32,
            points_done: done as u32,
            planned_ns: plan.duration_ns(),
            may_end_early: plan.may_end_early(),
            search_ns: (!plan.answer.is_empty()).then_some(plan.answer_within_ns),
            seed: run.seed,
        };
        events.observer.event(&RunEvent::RunStarted(event));
        run.findings.iter().for_each(|finding| events.raised(None, finding));
        events
    }

    /// Publishes the start of points that run at the same time; `before` is the planned time of all
    /// points before them.
    pub(crate) fn group(&mut self, group: &[Point], before: Nanos) {
        self.unreported.clear();
        for point in group {
            self.rates.insert(point.index, RateSoFar::from_point(point));
            let event = event::PointStarted {
                point: point.index,
                group: point.group,
                target: point.target,
                profile: point.profile.clone(),
                profile_title: point.profile_title.clone(),
                step: shown_step(&point.step),
                variant: variant(self.compared.as_ref(), group, point),
                queue_depth: point.queue_depth,
                streams: point.streams,
                offered_io_per_s: point.offered_io_per_s(),
                warm_up_ns: point.warm_up_ns,
                duration_ns: point.stop.duration_ns,
                planned_before_ns: before.0,
            };
            self.observer.event(&RunEvent::PointStarted(event));
        }
    }

    /// Publishes that these points are measured now; `before` is the planned time of everything
    /// measured before.
    pub(crate) fn segment(&self, points: &[Point], before: Nanos) {
        let longest = |length: fn(&Point) -> u64| points.iter().map(length).max().unwrap_or(0);
        let event = event::SegmentStarted {
            group: points.first().map_or(0, |point| point.group),
            warm_up_ns: longest(|point| point.warm_up_ns),
            window_ns: longest(|point| point.stop.duration_ns),
            planned_before_ns: before.0,
        };
        self.observer.event(&RunEvent::SegmentStarted(event));
    }

    /// Adds a sample of a point's window.
    pub(crate) fn interval(&mut self, point: u32, slice: &Interval) {
        self.rates.entry(point).or_default().push(slice);
        let unreported = self.unreported.entry(point).or_default();
        let start = if unreported.length == Nanos::ZERO { slice.start } else { unreported.start };
        let end = slice.start + slice.length;
        unreported.add(slice);
        unreported.start = start;
        unreported.length = Nanos(end.0.saturating_sub(start.0));
        if unreported.length >= SECOND {
            self.publish_interval(point);
        }
    }

    /// Publishes a sample of a machine.
    pub(crate) fn machine(&self, machine: event::Machine) {
        self.observer.event(&RunEvent::Machine(machine));
    }

    /// Publishes the pending intervals of these points, because others are measured before they
    /// continue.
    pub(crate) fn paused(&mut self, group: &[Point]) {
        for point in group {
            self.publish_interval(point.index);
            self.rates.entry(point.index).or_default().segment_ended();
        }
    }

    /// Publishes the pending interval of a point.
    fn publish_interval(&mut self, point: u32) {
        let Some(slice) = self.unreported.remove(&point).filter(|slice| slice.length > Nanos::ZERO)
        else {
            return;
        };
        let [reads, writes, trims] = slice.completed;
        let all = reads + writes + trims;
        let mean = |sum: u64| (all > 0).then(|| sum as f64 / all as f64);
        let event = event::Interval {
            point,
            end_ns: (slice.start + slice.length).0,
            length_ns: slice.length.0,
            reads,
            writes,
            read_bytes: slice.bytes[0],
            written_bytes: slice.bytes[1],
            trims,
            trimmed_bytes: slice.bytes[2],
            latency_mean_ns: mean(slice.latency_sum),
            response_time_mean_ns: mean(slice.response_time_sum),
            io_per_s_confidence_interval: self.rates.get(&point).and_then(RateSoFar::interval),
        };
        self.observer.event(&RunEvent::Sample(event));
    }

    /// Publishes that a point is in the logbook.
    pub(crate) fn ended(&self, point: &PointRecord) {
        let summary = PointSummary::from_point(point);
        let response = &summary.response_time.all;
        let p99 = response.percentiles.iter().find(|each| percentile_name(each.quantile) == "99");
        let event = event::PointEnded {
            point: point.index,
            io_per_s: summary.io_per_s.value,
            confidence_interval: summary.io_per_s.interval.map(|(low, high)| [low, high]),
            mib_per_s: summary.mib_per_s,
            latency_mean_ns: summary.latency.all.mean_ns,
            response_time_mean_ns: response.mean_ns,
            response_time_p99_ns: p99.map(|each| each.value.0),
            grade: summary.grade.to_string(),
        };
        self.observer.event(&RunEvent::PointEnded(event));
        point.findings.iter().for_each(|finding| self.raised(Some(point.index), finding));
    }

    fn raised(&self, point: Option<u32>, finding: &Finding) {
        // Every test with a run checks its findings against the table of codes.
        debug_assert_eq!(finding.check(point.is_none()), Ok(()));
        let FindingEntry { code, severity, values, labels } = finding_entry(finding);
        let event = event::FindingRaised { point, code, severity, values, labels };
        self.observer.event(&RunEvent::FindingRaised(event));
    }

    /// Publishes findings and the end of the run.
    pub(crate) fn run_ended(&self, state: RunState, points_done: u32, findings: &[Finding]) {
        findings.iter().for_each(|finding| self.raised(None, finding));
        let state = state.as_str().to_owned();
        self.observer.event(&RunEvent::RunEnded(event::RunEnded { state, points_done }));
    }
}

/// The variant that a point belongs to; `None` without a comparison, or if the target identifies
/// it.
fn variant(
    compared: Option<&ComparisonRecord>,
    group: &[Point],
    point: &Point,
) -> Option<event::PointVariant> {
    let (compared, own) = compared.zip(point.variant)?;
    let variant = compared.variants.get(own as usize)?;
    if matches!(&*compared.of, "drives" | "targets" | "saturation") && variant.name.is_empty() {
        return None;
    }
    let alike = |other: &&Point| {
        other.variant == point.variant
            && (&other.profile, &other.step) == (&point.profile, &point.step)
    };
    let before = group.iter().filter(alike).take_while(|earlier| earlier.index != point.index);
    Some(event::PointVariant {
        of: compared.of.clone(),
        name: variant.name.clone(),
        part: before.count() as u32 + 1,
        parts: variant.parts,
        area_bytes: point.area.length_bytes,
    })
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files as a user does")]
mod tests {
    use super::*;

    /// The files have two names on a FUSE file system.
    #[test]
    fn event_file_that_became_a_logbook_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events");
        let kept = events_file(&path).unwrap();
        contains_events(&kept).unwrap();
        std::fs::write(&path, "SQLite format 3\0").unwrap();
        assert!(contains_events(&kept).unwrap_err().is::<Usage>());
        std::fs::write(&path, "{\"event\":\"a\"}\n").unwrap();
        contains_events(&kept).unwrap();
    }
}
