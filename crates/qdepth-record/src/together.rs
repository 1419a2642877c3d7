//! Points that ran at the same time, as one: drives under loads of their own, or processes.

use std::collections::BTreeMap;

use qdepth_measure::Finding;

use crate::point::PointRecord;
use crate::record::{
    ComparisonRecord, DirectionRecord, EndedBy, ErrorCount, IntervalRecord, VariantRecord,
};

/// A column of a comparison at one load and intensity: one point, or several of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell<'a> {
    /// Index of its variant.
    pub variant: u32,
    /// All of its points as one; its outstanding I/Os are the intensity that it stands at: those of
    /// a stream of each drive.
    pub whole: PointRecord,
    /// The points, one for each drive or process.
    pub parts: Vec<&'a PointRecord>,
}

impl Cell<'_> {
    /// When the first of the parts had done its work, and the last, ns from their common start.
    /// Parts that are measured for a time end together; those that move a number of bytes do not.
    pub fn done_ns(&self) -> (u64, u64) {
        let durations = || self.parts.iter().map(|part| part.duration_ns);
        (durations().min().unwrap_or(0), durations().max().unwrap_or(0))
    }

    /// Transaction rate of all parts together until the first of them had done its work, I/Os per
    /// second, from the whole slices of their series; none where it was done within the first.
    pub fn io_per_s_until_first_done(&self) -> Option<f64> {
        let (first, _) = self.done_ns();
        let whole = |slice: &&IntervalRecord| slice.start_ns + slice.length_ns <= first;
        let slices = || self.whole.intervals.iter().filter(whole);
        let seconds = slices().map(|slice| slice.length_ns).sum::<u64>() as f64 / 1e9;
        let ended = slices().map(IntervalRecord::completed).fold(0, u64::saturating_add);
        (seconds > 0.0).then(|| ended as f64 / seconds)
    }
}

/// The cells of a comparison, in the order of the plan. A group of which parts are missing (the run
/// was interrupted) is none: half of it would be no figure of the variant.
pub fn cells<'a>(comparison: &ComparisonRecord, points: &'a [PointRecord]) -> Vec<Cell<'a>> {
    let mut groups: BTreeMap<u32, Vec<&PointRecord>> = BTreeMap::new();
    for point in points.iter().filter(|point| point.variant.is_some()) {
        groups.entry(point.group).or_default().push(point);
    }
    let cell = |mut parts: Vec<&'a PointRecord>| {
        parts.sort_by_key(|part| part.index);
        let variant = parts.first()?.variant?;
        let expected = comparison.variants.get(variant as usize)?;
        (parts.len() == expected.parts as usize).then(|| {
            let whole = together(&parts, expected);
            Cell { variant, whole, parts }
        })
    };
    groups.into_values().filter_map(cell).collect()
}

/// The points of one variant as one: counts, histograms and series are exact sums over the longest
/// window.
fn together(parts: &[&PointRecord], variant: &VariantRecord) -> PointRecord {
    let Some((first, others)) = parts.split_first() else { return PointRecord::default() };
    let mut whole = others.iter().fold((*first).clone(), |sum, part| add(sum, part));
    whole.outstanding = first.outstanding / variant.times.max(1);
    whole
}

/// Every field of a part goes into the sum, or is named as one that all parts have alike: a field
/// that is added is decided on here, or it does not compile.
fn add(mut sum: PointRecord, part: &PointRecord) -> PointRecord {
    let PointRecord {
        // Of the first: parts are of one load and began together.
        index: _,
        target: _,
        profile: _,
        profile_title: _,
        random_share: _,
        read_share: _,
        trim_share: _,
        request_size: _,
        request_size_mean_bytes: _,
        arrivals: _,
        reported_as_throughput: _,
        outstanding: _,
        streams: _,
        group: _,
        variant: _,
        step: _,
        started_at: _,
        delay_ns: _,
        warm_up_ns: _,
        tolerance: _,
        // Of one machine.
        monitors: _,
        // Of one device each.
        kernel: _,
        // `summed`.
        offered_io_per_s: _,
        workers: _,
        duration_ns: _,
        issued: _,
        completed_outside: _,
        failed_outside: _,
        abandoned: _,
        in_flight_integral_ns: _,
        latency_in_window_ns: _,
        longest_gap_ns: _,
        backlog_max: _,
        cpu_user_ns: _,
        cpu_system_ns: _,
        direct,
        ended_by,
        interim_checks,
        reads,
        writes,
        trims,
        syncs,
        gaps,
        intervals,
        findings,
    } = part;
    direction(&mut sum.reads, reads);
    direction(&mut sum.writes, writes);
    direction(&mut sum.trims, trims);
    direction(&mut sum.syncs, syncs);
    series(&mut sum.intervals, intervals);
    add_new(&mut sum.findings, findings);
    for (mine, theirs) in sum.gaps.iter_mut().zip(gaps) {
        *mine = (*mine).min(*theirs);
    }
    sum.direct &= direct;
    if sum.ended_by == EndedBy::Duration {
        sum.ended_by = *ended_by;
    }
    sum.interim_checks = sum.interim_checks.max(*interim_checks);
    summed(sum, part)
}

fn add_new(sum: &mut Vec<Finding>, part: &[Finding]) {
    for finding in part {
        if !sum.contains(finding) {
            sum.push(finding.clone());
        }
    }
}

/// Counts and times of both.
fn summed(sum: PointRecord, part: &PointRecord) -> PointRecord {
    let offered = sum.offered_io_per_s.zip(part.offered_io_per_s);
    PointRecord {
        duration_ns: sum.duration_ns.max(part.duration_ns),
        offered_io_per_s: offered.map(|(a, b)| a + b),
        workers: sum.workers.saturating_add(part.workers),
        issued: sum.issued.saturating_add(part.issued),
        completed_outside: sum.completed_outside.saturating_add(part.completed_outside),
        failed_outside: sum.failed_outside.saturating_add(part.failed_outside),
        abandoned: sum.abandoned.saturating_add(part.abandoned),
        in_flight_integral_ns: sum.in_flight_integral_ns + part.in_flight_integral_ns,
        latency_in_window_ns: sum.latency_in_window_ns + part.latency_in_window_ns,
        // A gap of the whole is at most the shortest of the parts' longest.
        longest_gap_ns: sum.longest_gap_ns.min(part.longest_gap_ns),
        backlog_max: sum.backlog_max.max(part.backlog_max),
        cpu_user_ns: sum.cpu_user_ns.saturating_add(part.cpu_user_ns),
        cpu_system_ns: sum.cpu_system_ns.saturating_add(part.cpu_system_ns),
        kernel: None,
        ..sum
    }
}

fn direction(sum: &mut DirectionRecord, part: &DirectionRecord) {
    let DirectionRecord {
        completed,
        bytes,
        errors,
        short,
        service_time,
        response_time,
        // What another program said is of points that are no parts.
        stated: _,
    } = part;
    sum.completed = sum.completed.saturating_add(*completed);
    sum.bytes = sum.bytes.saturating_add(*bytes);
    sum.short = sum.short.saturating_add(*short);
    sum.service_time.merge(service_time);
    match (&mut sum.response_time, response_time) {
        (Some(mine), Some(theirs)) => mine.merge(theirs),
        (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
        (_, None) => {}
    }
    for ErrorCount { errno, count } in errors {
        match sum.errors.iter_mut().find(|error| error.errno == *errno) {
            Some(error) => error.count = error.count.saturating_add(*count),
            None => sum.errors.push(ErrorCount { errno: *errno, count: *count }),
        }
    }
}

/// Slices of equal number are slices of equal time, since the parts began together. Their
/// histograms stay with the parts.
fn series(sum: &mut Vec<IntervalRecord>, part: &[IntervalRecord]) {
    for slice in sum.iter_mut() {
        slice.read_service_time = Default::default();
        slice.write_service_time = Default::default();
        slice.trim_service_time = Default::default();
    }
    for (index, slice) in part.iter().enumerate() {
        let Some(mine) = sum.get_mut(index) else {
            sum.push(IntervalRecord {
                read_service_time: Default::default(),
                write_service_time: Default::default(),
                trim_service_time: Default::default(),
                ..slice.clone()
            });
            continue;
        };
        mine.length_ns = mine.length_ns.max(slice.length_ns);
        mine.reads = mine.reads.saturating_add(slice.reads);
        mine.writes = mine.writes.saturating_add(slice.writes);
        mine.read_bytes = mine.read_bytes.saturating_add(slice.read_bytes);
        mine.written_bytes = mine.written_bytes.saturating_add(slice.written_bytes);
        mine.trims = mine.trims.saturating_add(slice.trims);
        mine.trimmed_bytes = mine.trimmed_bytes.saturating_add(slice.trimmed_bytes);
    }
}
