//! One point of a plan: every value that a profile leaves out is decided here.

use qdepth_measure::{Bytes, EarlyEnd, Nanos};

use super::area::{
    STANDARD_ALIGNMENT, area, area_spec, backwards, has_room, layout, segments, strides,
};
use super::choices::Choices;
use super::error::ResolveError;
use super::fsync::fsync;
use super::io_flag::io_flag;
use super::load::Load;
use super::sizes::{SIZE_MAX, chosen_sizes, sizes};
use super::ways::Destination;
use crate::arrival::Arrivals;
use crate::distribution::Distribution;
use crate::io_flag::IoFlag;
use crate::layout::Extent;
use crate::layout::{Layout, OwnWrites};
use crate::least_rate::LeastRate;
use crate::operation::Operation;
use crate::payload::{Duplicates, Payload};
use crate::plan::{Flow, Point, SEGMENT_WARM_UP, STEADY_ROUNDS, Samples, Stop, Until};
use crate::priority::Priorities;
use crate::profile::{FsyncSpec, PlanFile, Profile, ReportedAs, SizeSpec};
use crate::size::SizeMix;
use crate::steps::LoadSpec;
use crate::trace::Trace;

/// Maximum number of requests in flight over all streams of a point, for each part of its target:
/// the capacity of one ring.
const IN_FLIGHT_MAX: u32 = 16384;
/// Minimum measured time of a point that ends by its precision: a slow change widens the confidence
/// interval only after some time.
const UNTIL_LEAST: Nanos = Nanos::from_secs(5);
/// Shortest and longest warm-up of a segment that a plan can set.
const SEGMENT_WARM_UPS: (Nanos, Nanos) = (Nanos::from_millis(20), Nanos::from_secs(60));
/// Shortest round of a point that ends once it is steady: ten samples of its series.
const STEADY_ROUND_LEAST: Nanos = Nanos::from_millis(200);
/// Longest delay and think time.
const DELAY_MAX: Nanos = Nanos::from_secs(86_400);
/// Minimum number of segments that show how they differ, and maximum number.
pub(crate) const SEGMENTS: (u32, u32) = (4, 20);
/// Maximum weight of a flow, as in fio.
pub(crate) const FLOW_WEIGHT_MAX: u32 = 1000;
/// Maximum number of streams of a point.
const STREAMS_MAX: u32 = 512;

pub(crate) fn point(
    file: &PlanFile,
    choices: &Choices,
    load: &Load,
    destination: &Destination,
) -> Result<Point, ResolveError> {
    let (profile, shape) = (&load.profile, &destination.shape);
    let queue_depth = load.queue_depth().saturating_mul(destination.times);
    let bad = |what: String| ResolveError::Value { profile: profile.name.clone(), what };
    shares(profile).map_err(bad)?;
    let (streams, workers) = counts(profile, queue_depth, shape.parts).map_err(bad)?;
    let operation = operation(profile).map_err(bad)?;
    // Operations on directory entries bypass no cache: they are never direct.
    let direct = profile.direct.unwrap_or(true) && !operation.is_of_entries();
    let block = if direct { u64::from(shape.block_bytes) } else { 1 };
    let (alignment_bytes, block_size, own_writes) = sized(profile, choices, block).map_err(bad)?;
    let distribution = distribution(profile, own_writes.is_some()).map_err(bad)?;
    let area =
        area(&area_spec(profile, choices, destination), shape, alignment_bytes).map_err(bad)?;
    let layout = layout(file, choices, shape).map_err(bad)?;
    entries(operation, layout, &block_size).map_err(bad)?;
    let slack = if is_chosen(file, profile, layout) { 0 } else { alignment_bytes };
    has_room(&area, streams, u64::from(block_size.max()), slack).map_err(bad)?;
    let pass = pass(profile, &area, streams, alignment_bytes);
    let stop = stop(file, choices, &load.spec, pass).map_err(bad)?;
    let io_flag = io_flag(profile, direct, &block_size, alignment_bytes).map_err(bad)?;
    let arrivals = arrivals_of(load, block_size.mean(), streams);
    Ok(Point {
        index: 0,
        group: 0,
        variant: None,
        step: String::new(),
        target: destination.target as u32,
        profile: profile.name.clone(),
        profile_title: title(profile, choices.block_size),
        application: profile.application.clone().unwrap_or_default(),
        random_share: profile.random / 100.0,
        distribution,
        read_share: profile.read / 100.0,
        trim_share: trims(profile).map_err(bad)?,
        trims_first: profile.trim_first.unwrap_or(false),
        operation,
        trace: trace(profile, streams).map_err(bad)?,
        alignment_bytes,
        area,
        layout,
        segments: segments(profile, &area, streams, alignment_bytes).map_err(bad)?,
        strides: strides(profile, &area, streams, alignment_bytes, &block_size).map_err(bad)?,
        backwards: backwards(profile, &block_size).map_err(bad)?,
        block_size,
        own_writes,
        streams,
        workers,
        queue_depth,
        arrivals: arrivals.map_err(bad)?,
        flow: flow(&load.spec, layout).map_err(bad)?,
        payload: payload(profile).map_err(bad)?,
        verify: profile.verify.unwrap_or(false),
        verify_unwritten: profile.verify_unwritten.unwrap_or(true),
        verify_laid_out: profile.verify_laid_out.unwrap_or(false),
        priorities: priorities(profile).map_err(bad)?,
        durability: profile.durability.unwrap_or_default(),
        direct,
        advice: profile.advice.filter(|_| !direct).unwrap_or_default(),
        drop_cache: profile.drop_cache.unwrap_or(false) && !direct,
        io_flag,
        fsync: fsync(profile, direct).map_err(bad)?,
        reported_as_throughput: as_throughput(profile),
        rank_shift: load.spec.rank_shift,
        delay_ns: delay(&load.spec).map_err(bad)?,
        warm_up_ns: warm_up(file, choices, &load.spec, &stop).map_err(bad)?,
        stop,
        seed: 0,
    })
}

/// Start positions, sizes, and sizes of writes.
fn sized(
    profile: &Profile,
    choices: &Choices,
    block: u64,
) -> Result<(u64, SizeMix, Option<OwnWrites>), String> {
    let reads = chosen_sizes(profile, choices, block)?;
    let alignment_bytes = alignment(profile, choices, &reads, block)?;
    let (sizes, own) = own_writes(profile, choices, reads, alignment_bytes, block)?;
    Ok((alignment_bytes, sizes, own))
}

/// True if the size of the area is given: it may then have room for one position only.
fn is_chosen(file: &PlanFile, profile: &Profile, layout: Layout) -> bool {
    file.bandwidth.is_some() || layout.makes_files() || profile.area.size.is_some()
}

/// Arrivals of requests: those of the load, otherwise those of the profile.
fn arrivals_of(load: &Load, mean_bytes: f64, streams: u32) -> Result<Arrivals, String> {
    let of_bytes = load.spec.bytes_per_s.map(|rate| rate.0 as f64 / mean_bytes);
    arrivals(match load.spec.io_per_s.or(of_bytes) {
        None => load.profile.arrivals,
        Some(rate) => Some(Arrivals::Fixed { rate: rate / f64::from(streams) }),
    })
}

/// All sizes, and which of them are those of writes, if writes have their own.
fn own_writes(
    profile: &Profile,
    choices: &Choices,
    reads: SizeMix,
    alignment: u64,
    block: u64,
) -> Result<(SizeMix, Option<OwnWrites>), String> {
    let mixed = profile.read > 0.0 && profile.read < 100.0;
    let Some(spec) = profile.write_size.as_ref().filter(|_| choices.block_size.is_none()) else {
        let own = profile.write_alignment.is_some() || profile.write_random.is_some();
        return match own && choices.block_size.is_none() {
            true => Err("write_alignment and write_random need a write_size".into()),
            false => Ok((reads, None)),
        };
    };
    let random = profile.write_random.unwrap_or(profile.random);
    if !(0.0..=100.0).contains(&random) {
        return Err(format!("write_random = {random}: must be a percentage between 0 and 100"));
    }
    let plain = profile.strides.is_none()
        && profile.segments.is_none_or(|segments| segments == 1)
        && profile.backwards != Some(true);
    if !mixed || !plain {
        return Err(
            "write_size needs a mix of reads and writes, without strides, segments or backwards"
                .to_owned(),
        );
    }
    let alignment_bytes = profile.write_alignment.map_or(alignment, |alignment| alignment.0);
    if alignment_bytes == 0 || alignment_bytes > SIZE_MAX || !alignment_bytes.is_multiple_of(block)
    {
        return Err(format!(
            "write_alignment {}: use a multiple of {block} B",
            Bytes(alignment_bytes)
        ));
    }
    let first_size = reads.sizes.len() as u32;
    let written = sizes(spec, block)?;
    // The same sizes are not listed twice: only the places are separate.
    let all = match written == reads {
        true => reads,
        false => reads.beside(profile.read / 100.0, &written),
    };
    let random_share = profile.write_random.map(|share| share / 100.0);
    Ok((all, Some(OwnWrites { first_size, alignment_bytes, random_share })))
}

fn warm_up(
    file: &PlanFile,
    choices: &Choices,
    load: &LoadSpec,
    stop: &Stop,
) -> Result<u64, String> {
    let default = Nanos((stop.duration_ns / 10).max(200_000_000));
    let warm_up = choices.warm_up.or(load.warm_up).or(file.warm_up).unwrap_or(default);
    if warm_up > DELAY_MAX {
        return Err(format!(
            "a warm-up of {warm_up}: must be at most {DELAY_MAX}. Try --warm-up 5s"
        ));
    }
    Ok(warm_up.0)
}

fn payload(profile: &Profile) -> Result<Payload, String> {
    let compressible_share = profile.compressible.unwrap_or(0.0) / 100.0;
    let Some(spec) = profile.duplicates else {
        return Ok(Payload { compressible_share, duplicates: None });
    };
    let contents = spec.contents.unwrap_or(1);
    if !(0.0..=100.0).contains(&spec.share) || contents == 0 {
        let share = spec.share;
        return Err(format!(
            "duplicates: {share} % of {contents} contents: use 0 to 100 %, and at least 1"
        ));
    }
    if profile.verify == Some(true) {
        return Err(
            "verify cannot be combined with duplicates, because it stamps blocks".to_owned()
        );
    }
    let common = spec.common.unwrap_or(false);
    let duplicates = Some(Duplicates { share: spec.share / 100.0, contents, common });
    Ok(Payload { compressible_share, duplicates })
}

/// Operation of requests, which determines the other fields that the profile may have.
fn operation(profile: &Profile) -> Result<Operation, String> {
    let operation = profile.operation.unwrap_or_default();
    if operation.is_transfer() {
        return Ok(operation);
    }
    let plain = profile.trim.is_none_or(|trim| trim <= 0.0)
        && profile.trim_first != Some(true)
        && profile.verify != Some(true)
        && profile.trace.is_none()
        && profile.duplicates.is_none()
        && !profile.durability.unwrap_or_default().syncs()
        && profile.fsync.is_none_or(|fsync| match fsync {
            FsyncSpec::Never => true,
            FsyncSpec::End => operation.is_of_entries(),
            FsyncSpec::Every { .. } => false,
        });
    let wrong = if !plain {
        "an operation without data transfer cannot be combined with trim, verify, trace, \
         duplicates, fsync or durability"
    } else if !operation.is_of_entries() && profile.read > 0.0 {
        "reserve and truncate count as writes: set read = 0"
    } else if operation.is_of_entries() && !matches!(profile.read, 0.0 | 100.0) {
        "entries count as reads (read = 100) or as writes (read = 0)"
    } else {
        return Ok(operation);
    };
    Err(wrong.to_owned())
}

/// Checks that operations on directory entries have the layout for entries, and that no other
/// operations have it.
fn entries(operation: Operation, layout: Layout, sizes: &SizeMix) -> Result<(), String> {
    let wrong = match (operation.is_of_entries(), layout.is_of_entries()) {
        (false, true) => {
            "a plan with files = \"entries\" can only have operations on entries: use a separate \
             plan for transfers"
        }
        (true, true) if sizes.single().is_none() => "entries need a single block_size",
        (true, false) => {
            "operations on entries need a plan with files = \"entries\" and a directory as target"
        }
        _ => return Ok(()),
    };
    Err(wrong.to_owned())
}

fn trace(profile: &Profile, streams: u32) -> Result<Option<Trace>, String> {
    let recorded = matches!(profile.arrivals, Some(Arrivals::Recorded { .. }));
    let Some(text) = &profile.trace else {
        return match recorded {
            true => Err("recorded arrivals need a profile with a trace".to_owned()),
            false => Ok(None),
        };
    };
    let plain = streams == 1
        && profile.trim_first != Some(true)
        && profile.verify != Some(true)
        && profile.write_size.is_none()
        && profile.strides.is_none()
        && profile.segments.is_none_or(|segments| segments == 1)
        && profile.backwards != Some(true)
        && profile.distribution.is_none();
    match plain {
        true => Ok(Some(text.parse()?)),
        false => Err("a trace needs a single stream, without trim_first, verify, write_size, \
                      strides, segments, backwards or distribution"
            .to_owned()),
    }
}

/// Share of trims among all requests, 0..=1.
fn trims(profile: &Profile) -> Result<f64, String> {
    let first = profile.trim_first.unwrap_or(false);
    let share = profile.trim.unwrap_or(0.0);
    if !(0.0..=100.0).contains(&share) || share + profile.read > 100.0 {
        let read = profile.read;
        return Err(format!("read = {read} and trim = {share}: the sum must be at most 100 %"));
    }
    if !first && share <= 0.0 {
        return Ok(0.0);
    }
    let wrong = if first && (profile.read > 0.0 || share > 0.0) {
        "trim_first needs read = 0 and no trim: half of its I/Os are trims, and half are writes"
    } else if profile.verify == Some(true) {
        "verify cannot be combined with trims: remove one of them"
    } else if profile.write_size.is_some() {
        "write_size cannot be combined with trims"
    } else {
        return Ok(if first { 0.5 } else { share / 100.0 });
    };
    Err(wrong.to_owned())
}

fn priorities(profile: &Profile) -> Result<Option<Priorities>, String> {
    let priorities = profile.priorities.clone();
    priorities.as_ref().map_or(Ok(()), Priorities::check).map(|()| priorities)
}

fn flow(load: &LoadSpec, layout: Layout) -> Result<Option<Flow>, String> {
    let Some(spec) = load.flow else { return Ok(None) };
    let pause = spec.pause.unwrap_or_default();
    if !(1..=FLOW_WEIGHT_MAX).contains(&spec.weight) || pause > DELAY_MAX {
        return Err(format!(
            "flow: a weight of {} and a pause of {pause}: the weight must be between 1 and \
             {FLOW_WEIGHT_MAX}, the pause at most {DELAY_MAX}",
            spec.weight
        ));
    }
    if layout.makes_files() {
        return Err(
            "flow needs loads that share an area: it cannot be combined with files of the run"
                .to_owned(),
        );
    }
    Ok(Some(Flow { group: spec.group, weight: spec.weight, pause_ns: pause.0 }))
}

/// True if throughput is the main figure: by default for sequential profiles
/// (docs/method/checklist.md, item 6).
fn as_throughput(profile: &Profile) -> bool {
    profile.reported_as.map_or(profile.random == 0.0, |choice| choice == ReportedAs::Throughput)
}

/// Bytes that one pass over the area of a stream moves; twice its length if each write follows a
/// trim.
fn pass(profile: &Profile, area: &Extent, streams: u32, alignment: u64) -> u64 {
    let part = area.length_bytes / u64::from(streams) / alignment * alignment;
    if profile.trim_first == Some(true) { 2 * part } else { part }
}

fn distribution(profile: &Profile, has_own: bool) -> Result<Distribution, String> {
    let distribution = profile.distribution.clone().unwrap_or_default();
    distribution.check(has_own).map(|()| distribution)
}

/// Conditions that end the point. `part` is the number of bytes that a pass over the area of one
/// stream moves.
fn stop(file: &PlanFile, choices: &Choices, load: &LoadSpec, part: u64) -> Result<Stop, String> {
    let duration =
        choices.duration.or(load.duration).or(file.duration).unwrap_or(Nanos::from_secs(30));
    if duration < Nanos::from_millis(10) || duration > Nanos::from_secs(7 * 86_400) {
        return Err(format!(
            "a duration of {duration}: must be between 10ms and 168h. Try --duration 30s"
        ));
    }
    let passes = load.passes.map(|passes| part.saturating_mul(u64::from(passes)));
    let early = choices.until.or(file.until);
    let (until, steady) = match early {
        Some(EarlyEnd::Precise(tolerance)) => {
            (Some(Until { share: tolerance.share(), least_ns: UNTIL_LEAST.min(duration).0 }), None)
        }
        Some(EarlyEnd::Steady(rule)) => (None, Some(rule)),
        None => (None, None),
    };
    let of_stream = load.bytes_per_stream.or(file.bytes_per_stream).map(|bytes| bytes.0);
    let mut stop = Stop {
        duration_ns: duration.0,
        bytes: load.bytes.or(file.bytes).map_or(0, |b| b.0),
        bytes_per_stream: passes.or(of_stream).unwrap_or(0),
        until,
        samples: load.samples.map(|count| Samples { count, least_ns: duration.0 }),
        until_steady: None,
        ends_step: load.ends_step.unwrap_or(false),
        catches_up: load.catches_up.unwrap_or(false),
        settling: load.settling,
        least_rate: load.least_rate.map(LeastRate::resolved).transpose()?,
        steady,
        interleaved_segments: 1,
        segment_warm_up_ns: 0,
    };
    if stop.steady.is_some() {
        can_end_steady(file, &stop)?;
    }
    let warm_up = segment_warm_up(file)?;
    stop.interleaved_segments =
        interleaved_segments(file, stop, warm_up.unwrap_or(SEGMENT_WARM_UP))?;
    stop.segment_warm_up_ns =
        warm_up.filter(|_| stop.interleaved_segments > 1).unwrap_or_default().0;
    Ok(stop)
}

fn segment_warm_up(file: &PlanFile) -> Result<Option<Nanos>, String> {
    let Some(warm_up) = file.segment_warm_up else { return Ok(None) };
    let (least, most) = SEGMENT_WARM_UPS;
    if file.interleaved_segments.is_none() {
        return Err(
            "segment_warm_up needs `interleaved_segments`, the number of interleaved segments"
                .to_owned(),
        );
    }
    if !(least..=most).contains(&warm_up) {
        return Err(format!("segment_warm_up = {warm_up}: must be between {least} and {most}"));
    }
    Ok(Some(warm_up))
}

/// Refuses other ends of a point that ends once it is steady, and loads that cannot pause between
/// its rounds.
fn can_end_steady(file: &PlanFile, stop: &Stop) -> Result<(), String> {
    let least = Nanos(STEADY_ROUND_LEAST.0 * u64::from(STEADY_ROUNDS));
    let wrong = if stop.bytes > 0 || stop.bytes_per_stream > 0 || stop.samples.is_some() {
        "until steady: remove the other ends of a point (bytes, passes, until_credible)"
    } else if file.bandwidth.is_some() || file.files.is_some() {
        "until steady cannot be combined with files of a point: remove it"
    } else if file.staircase.is_some() {
        "until steady cannot be combined with a staircase: remove it"
    } else if stop.duration_ns < least.0 {
        return Err(format!(
            "until steady within {}: {STEADY_ROUNDS} rounds need at least {least} (--duration)",
            Nanos(stop.duration_ns)
        ));
    } else {
        return Ok(());
    };
    Err(wrong.to_owned())
}

/// Number of segments: that of the plan, as far as the point has time, since a segment lasts two
/// and a half times its warm-up.
fn interleaved_segments(file: &PlanFile, stop: Stop, warm_up: Nanos) -> Result<u32, String> {
    let Some(asked) = file.interleaved_segments else { return Ok(1) };
    let (least, most) = SEGMENTS;
    if !(least..=most).contains(&asked) {
        return Err(format!("interleaved_segments = {asked}: must be between {least} and {most}"));
    }
    if file.bandwidth.is_some() || file.files.is_some() {
        return Err(
            "interleaved_segments cannot be combined with files of a point: remove it".to_owned()
        );
    }
    let segment_ns = warm_up.0 * 5 / 2;
    let fit = u32::try_from(stop.duration_ns / segment_ns).unwrap_or(most).min(asked);
    Ok(if stop.may_end_early() || fit < least { 1 } else { fit })
}

/// Streams and workers.
fn counts(profile: &Profile, queue_depth: u32, parts: u32) -> Result<(u32, u32), String> {
    let streams = profile.streams.unwrap_or(parts);
    if streams == 0 || streams > STREAMS_MAX {
        return Err(format!("streams = {streams}: must be between 1 and {STREAMS_MAX}"));
    }
    if streams < parts {
        return Err(format!(
            "streams = {streams}, but the target has {parts} parts, and each needs its own streams"
        ));
    }
    let most = IN_FLIGHT_MAX.saturating_mul(parts.max(1));
    if queue_depth == 0 || queue_depth.saturating_mul(streams) > most {
        return Err(match streams {
            1 => format!("queue depth {queue_depth}: must be between 1 and {most}"),
            _ => format!(
                "queue depth {queue_depth} for each of {streams} streams: the total must be \
                 between 1 and {most}"
            ),
        });
    }
    if profile.writers.is_some() && !profile.durability.unwrap_or_default().syncs() {
        return Err("writers share syncs: set durability = \"fsync\" or \"fdatasync\"".to_owned());
    }
    let workers = profile.workers.unwrap_or(1);
    if workers == 0 || workers > streams {
        return Err(format!("workers = {workers}: must be between 1 and the {streams} streams"));
    }
    Ok((streams, workers))
}

fn shares(profile: &Profile) -> Result<(), String> {
    if profile.verify == Some(true) && profile.compressible.is_some_and(|share| share > 0.0) {
        return Err("verify cannot be combined with compressible: it stamps blocks".to_owned());
    }
    let compressible = profile.compressible.unwrap_or(0.0);
    let all = [("random", profile.random), ("read", profile.read), ("compressible", compressible)];
    match all.iter().find(|(_, share)| !(0.0..=100.0).contains(share)) {
        Some((name, share)) => {
            Err(format!("{name} = {share}: must be a percentage between 0 and 100"))
        }
        None => Ok(()),
    }
}

/// The title of a profile; another block size than its own is part of it.
fn title(profile: &Profile, chosen: Option<Bytes>) -> String {
    let title = profile.title.clone().unwrap_or_else(|| profile.name.clone());
    let spaced = |size: Bytes| {
        let text = size.to_string();
        let digits = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        format!("{} {}", &text[..digits], &text[digits..])
    };
    let Some(chosen) = chosen else { return title };
    let own = match &profile.block_size {
        SizeSpec::One(text) => text.parse::<Bytes>().ok(),
        SizeSpec::Mix(_) => None,
    };
    match own {
        Some(own) if own == chosen => title,
        Some(own) if title.contains(&spaced(own)) => title.replace(&spaced(own), &spaced(chosen)),
        _ => format!("{title}, {}", spaced(chosen)),
    }
}

fn alignment(
    profile: &Profile,
    choices: &Choices,
    sizes: &SizeMix,
    block: u64,
) -> Result<u64, String> {
    let largest = u64::from(sizes.max());
    let is_atomic = profile.io_flag == Some(IoFlag::Atomic);
    let standard = if is_atomic { largest } else { STANDARD_ALIGNMENT.min(largest) };
    // The alignment of a profile belongs to its own block size, which another one may replace.
    let least = if choices.block_size.is_some() { block } else { 0 };
    let alignment = profile.alignment.map_or(standard.max(block), |a| a.0.max(least));
    if alignment == 0 || alignment > SIZE_MAX || !alignment.is_multiple_of(block) {
        return Err(format!(
            "alignment {}: must be a multiple of {} on this target, and less than 4GiB",
            Bytes(alignment),
            Bytes(block)
        ));
    }
    Ok(alignment)
}

fn delay(load: &LoadSpec) -> Result<u64, String> {
    match load.delay {
        Some(delay) if delay > DELAY_MAX => {
            Err(format!("delay {delay}: must be at most {DELAY_MAX}"))
        }
        delay => Ok(delay.unwrap_or_default().0),
    }
}

fn arrivals(spec: Option<Arrivals>) -> Result<Arrivals, String> {
    let arrivals = spec.unwrap_or(Arrivals::Closed);
    match (arrivals, arrivals.rate()) {
        (Arrivals::ThinkTime { time_ns, requests }, _)
            if requests == 0 || time_ns == 0 || Nanos(time_ns) > DELAY_MAX =>
        {
            let time = Nanos(time_ns);
            Err(format!(
                "a think time of {time} after {requests} I/Os: must be above 0, at most \
                 {DELAY_MAX}, after at least 1 I/O"
            ))
        }
        (Arrivals::Recorded { speed }, _) if !(0.001..=1000.0).contains(&speed) => {
            Err(format!("a speed of {speed}: must be between 0.001 and 1000"))
        }
        (_, Some(rate)) if !(0.001..=1e9).contains(&rate) => {
            Err(format!("a rate of {rate} IOPS: must be between 0.001 and 1e9"))
        }
        _ => Ok(arrivals),
    }
}
