//! One point of a plan: every value that a profile leaves out is decided here.

use qdepth_measure::{Bytes, EarlyEnd, Nanos};

use super::ways::Place;
use super::{Choices, Load, ResolveError, STANDARD_AREA, TargetShape, VISITS};
use crate::arrival::Arrivals;
use crate::distribution::Distribution;
use crate::payload::{Duplicates, Payload};
use crate::plan::{
    Extent, Flow, Fsync, Layout, OwnWrites, Point, STEADY_ROUNDS, Samples, Stop, Strides, Until,
    VISIT_LEAD_IN,
};
use crate::priority::Priorities;
use crate::profile::{AreaSpec, FilesSpec, FsyncSpec, PlanFile, Profile, ReportedAs, SizeSpec};
use crate::size::SizeMix;
use crate::steps::LoadSpec;

/// Alignment when none is written (docs/method/checklist.md, item 11).
const STANDARD_ALIGNMENT: u64 = 4096;
/// Most requests in flight over all streams of a point, for each part of its target: what one ring
/// holds.
const IN_FLIGHT_MAX: u32 = 4096;
/// Largest request.
const SIZE_MAX: u64 = 64 << 20;
/// A point that ends by its precision lasts so long at least: a slow change that has not shown
/// itself yet cannot widen an interval.
const UNTIL_LEAST: Nanos = Nanos::from_secs(5);
/// Shortest lead-in of a visit that a plan can ask for, and longest.
const VISIT_LEAD_INS: (Nanos, Nanos) = (Nanos::from_millis(20), Nanos::from_secs(60));
/// Shortest round of a point that ends once it is steady: ten slices of its series.
const STEADY_ROUND_LEAST: Nanos = Nanos::from_millis(200);
/// Longest delay and think time.
const DELAY_MAX: Nanos = Nanos::from_secs(86_400);
/// Greatest weight of a flow, as in fio.
pub(crate) const FLOW_WEIGHT_MAX: u32 = 1000;
/// Most streams of a point.
const STREAMS_MAX: u32 = 512;

pub(crate) fn point(
    file: &PlanFile,
    choices: &Choices,
    load: &Load,
    place: &Place,
) -> Result<Point, ResolveError> {
    let (profile, shape) = (&load.profile, &place.shape);
    let outstanding = load.spec.outstanding.saturating_mul(place.times);
    let bad = |what: String| ResolveError::Value { profile: profile.name.clone(), what };
    shares(profile).map_err(bad)?;
    let (streams, workers) = counts(profile, outstanding, shape.parts).map_err(bad)?;
    let direct = profile.direct.unwrap_or(true);
    let block = if direct { u64::from(shape.block_bytes) } else { 1 };
    let read_size = chosen_sizes(profile, choices, block).map_err(bad)?;
    let alignment_bytes = alignment(profile, &read_size, block).map_err(bad)?;
    let (request_size, own_writes) =
        own_writes(profile, choices, read_size, (alignment_bytes, block)).map_err(bad)?;
    let distribution = distribution(profile, &request_size).map_err(bad)?;
    let area = area(&area_spec(profile, choices, place), shape, alignment_bytes).map_err(bad)?;
    let layout = layout(file, choices, shape).map_err(bad)?;
    let slack = if file.bandwidth.is_some() || layout.makes_files() { 0 } else { alignment_bytes };
    has_room(&area, streams, u64::from(request_size.max()), slack).map_err(bad)?;
    let pass = pass(profile, &area, streams, alignment_bytes);
    let stop = stop(file, choices, &load.spec, pass).map_err(bad)?;
    let of_bytes = load.spec.bytes_per_s.map(|rate| rate.0 as f64 / request_size.mean());
    let arrivals = arrivals(match load.spec.io_per_s.or(of_bytes) {
        None => profile.arrivals,
        Some(rate) => Some(Arrivals::Fixed { rate: rate / f64::from(streams) }),
    });
    Ok(Point {
        index: 0,
        group: 0,
        variant: None,
        step: String::new(),
        target: place.target as u32,
        profile: profile.name.clone(),
        profile_title: profile.title.clone().unwrap_or_else(|| profile.name.clone()),
        application: profile.application.clone().unwrap_or_default(),
        random_share: profile.random / 100.0,
        distribution,
        read_share: profile.read / 100.0,
        trim_share: trims(profile).map_err(bad)?,
        trims_first: profile.trim_first.unwrap_or(false),
        alignment_bytes,
        area,
        layout,
        segments: segments(profile, &area, streams, alignment_bytes).map_err(bad)?,
        strides: strides(profile, (&area, streams, alignment_bytes), &request_size).map_err(bad)?,
        backwards: backwards(profile, &request_size).map_err(bad)?,
        request_size,
        own_writes,
        streams,
        workers,
        outstanding,
        arrivals: arrivals.map_err(bad)?,
        flow: flow(&load.spec, layout).map_err(bad)?,
        payload: payload(profile).map_err(bad)?,
        verify: profile.verify.unwrap_or(false),
        verify_unwritten: profile.verify_unwritten.unwrap_or(true),
        priorities: priorities(profile).map_err(bad)?,
        durability: profile.durability.unwrap_or_default(),
        direct,
        fsync: fsync(profile, direct),
        reported_as_throughput: as_throughput(profile),
        delay_ns: delay(&load.spec).map_err(bad)?,
        warm_up_ns: warm_up(file, choices, &load.spec, &stop).map_err(bad)?,
        stop,
        seed: 0,
    })
}

/// The request sizes of the profile, or the one that is chosen over it.
fn chosen_sizes(profile: &Profile, choices: &Choices, block: u64) -> Result<SizeMix, String> {
    let chosen = choices.request_size.map(|size| SizeSpec::One(size.to_string()));
    sizes(chosen.as_ref().unwrap_or(&profile.request_size), block)
}

/// All sizes, and which of them are of writes, where these have their own.
fn own_writes(
    profile: &Profile,
    choices: &Choices,
    reads: SizeMix,
    (alignment, block): (u64, u64),
) -> Result<(SizeMix, Option<OwnWrites>), String> {
    let mixed = profile.read > 0.0 && profile.read < 100.0;
    let Some(spec) = profile.write_size.as_ref().filter(|_| choices.request_size.is_none()) else {
        return match profile.write_alignment {
            Some(_) if choices.request_size.is_none() => {
                Err("write_alignment is of writes with a write_size".to_owned())
            }
            _ => Ok((reads, None)),
        };
    };
    let plain = profile.strides.is_none()
        && profile.segments.is_none_or(|segments| segments == 1)
        && profile.backwards != Some(true);
    if !mixed || !plain {
        return Err(
            "write_size is of a mix of reads and writes, without strides, segments or backwards"
                .to_owned(),
        );
    }
    let alignment_bytes = profile.write_alignment.map_or(alignment, |alignment| alignment.0);
    if alignment_bytes == 0 || alignment_bytes > 1 << 30 || !alignment_bytes.is_multiple_of(block) {
        return Err(format!("write_alignment {}: multiples of {block} B", Bytes(alignment_bytes)));
    }
    let first_size = reads.sizes.len() as u32;
    let all = reads.beside(profile.read / 100.0, &sizes(spec, block)?);
    Ok((all, Some(OwnWrites { first_size, alignment_bytes })))
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
        return Err(format!("a warm-up of {warm_up}; at most {DELAY_MAX} is possible"));
    }
    Ok(warm_up.0)
}

/// Each stream has room for a request; one that moves its part once needs no second place to begin
/// at, every other has `slack` for it.
fn has_room(area: &Extent, streams: u32, size: u64, slack: u64) -> Result<(), String> {
    if area.length_bytes / u64::from(streams) >= size + slack {
        return Ok(());
    }
    let streams = if streams == 1 { "1 stream".to_owned() } else { format!("{streams} streams") };
    Err(format!(
        "an area of {} is too small for {streams} with requests of {}: give larger storage, or \
         --file-size or --area where they are given",
        Bytes(area.length_bytes),
        Bytes(size),
    ))
}

fn segments(profile: &Profile, area: &Extent, streams: u32, alignment: u64) -> Result<u32, String> {
    let segments = profile.segments.unwrap_or(1);
    let pieces = u64::from(segments) * u64::from(streams);
    let whole = pieces > 0
        && area.length_bytes.is_multiple_of(pieces)
        && (area.length_bytes / pieces).is_multiple_of(alignment);
    if segments != 1 && !whole {
        return Err(format!(
            "segments = {segments}: the area is not so many whole pieces for each of {streams} streams"
        ));
    }
    Ok(segments)
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
            "duplicates: {share} % of {contents} contents; 0 to 100, and 1 or more"
        ));
    }
    if profile.verify == Some(true) {
        return Err("what is verified is stamped, and no write holds what another does".to_owned());
    }
    let common = spec.common.unwrap_or(false);
    let duplicates = Some(Duplicates { share: spec.share / 100.0, contents, common });
    Ok(Payload { compressible_share, duplicates })
}

/// Their share of all requests, 0..=1.
fn trims(profile: &Profile) -> Result<f64, String> {
    let first = profile.trim_first.unwrap_or(false);
    let share = profile.trim.unwrap_or(0.0);
    if !(0.0..=100.0).contains(&share) || share + profile.read > 100.0 {
        let read = profile.read;
        return Err(format!("read = {read} and trim = {share} are more than 100 per cent"));
    }
    if !first && share <= 0.0 {
        return Ok(0.0);
    }
    if first && (profile.read > 0.0 || share > 0.0) {
        return Err("trim_first is of a load with read = 0, without trim: half of its requests are trims, and half are writes".to_owned());
    }
    if profile.verify == Some(true) {
        return Err("what is verified is written and read back, and not trimmed".to_owned());
    }
    if profile.write_size.is_some() {
        return Err("writes of a load that trims have no sizes of their own".to_owned());
    }
    Ok(if first { 0.5 } else { share / 100.0 })
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
            "flow: a weight of {} and a pause of {pause}; 1 to {FLOW_WEIGHT_MAX}, at most {DELAY_MAX}",
            spec.weight
        ));
    }
    if layout.makes_files() {
        return Err(
            "flow is of loads that share an area, and not of files that are made".to_owned()
        );
    }
    Ok(Some(Flow { group: spec.group, weight: spec.weight, pause_ns: pause.0 }))
}

/// Zones hold whole requests, so that none reaches into what is left out.
fn strides(
    profile: &Profile,
    (area, streams, alignment): (&Extent, u32, u64),
    sizes: &SizeMix,
) -> Result<Option<Strides>, String> {
    let Some(spec) = profile.strides else { return Ok(None) };
    let strides = Strides { zone_bytes: spec.zone.0, skip_bytes: spec.skip.0 };
    let whole = |size: u64| strides.zone_bytes.is_multiple_of(size);
    let holds = sizes.sizes.iter().all(|(size, _)| whole(u64::from(*size))) && whole(alignment);
    if strides.zone_bytes == 0 || !holds || !strides.skip_bytes.is_multiple_of(alignment) {
        return Err(format!(
            "strides: zones of {} behind {} each: whole requests and alignments are possible",
            spec.zone, spec.skip
        ));
    }
    if streams > 1 || profile.segments.is_some_and(|segments| segments > 1) {
        return Err("strides are of one stream without segments".to_owned());
    }
    has_room(
        &Extent { length_bytes: strides.used(area.length_bytes), ..*area },
        1,
        u64::from(sizes.max()),
        alignment,
    )?;
    Ok(Some(strides))
}

fn backwards(profile: &Profile, sizes: &SizeMix) -> Result<bool, String> {
    let backwards = profile.backwards.unwrap_or(false);
    if backwards && sizes.single().is_none() {
        return Err("backwards with requests of several sizes: give one".to_owned());
    }
    Ok(backwards)
}

/// Where streams find their parts: in files, where the plan asks for some and there can be some.
fn layout(file: &PlanFile, choices: &Choices, shape: &TargetShape) -> Result<Layout, String> {
    if file.bandwidth.is_some() && shape.parts > 1 {
        return Err("the target has several parts: give each as a target of its own".to_owned());
    }
    if file.bandwidth.is_some() && choices.area.is_some() {
        return Err("the area follows from threads and their bytes: leave --area out".to_owned());
    }
    let Some(files) = file.files.filter(|_| shape.holds_files) else { return Ok(Layout::Area) };
    if choices.read_only {
        return Err("it reads back files that it wrote, and only reading is allowed".to_owned());
    }
    Ok(match files {
        FilesSpec::Shared => Layout::SharedFile,
        FilesSpec::PerStream => Layout::FilePerStream,
    })
}

/// Method.md item 6: sequential profiles are, unless the profile says otherwise.
fn as_throughput(profile: &Profile) -> bool {
    profile.reported_as.map_or(profile.random == 0.0, |choice| choice == ReportedAs::Throughput)
}

/// Bytes that one pass over the area of a stream moves: what is trimmed first is written, too.
fn pass(profile: &Profile, area: &Extent, streams: u32, alignment: u64) -> u64 {
    let part = area.length_bytes / u64::from(streams) / alignment * alignment;
    if profile.trim_first == Some(true) { 2 * part } else { part }
}

fn distribution(profile: &Profile, sizes: &SizeMix) -> Result<Distribution, String> {
    let distribution = profile.distribution.clone().unwrap_or_default();
    distribution.check(sizes.sizes.len()).map(|()| distribution)
}

/// `part` is what a pass over the area of one stream moves, bytes.
fn stop(file: &PlanFile, choices: &Choices, load: &LoadSpec, part: u64) -> Result<Stop, String> {
    let duration =
        choices.duration.or(load.duration).or(file.duration).unwrap_or(Nanos::from_secs(30));
    if duration < Nanos::from_millis(10) || duration > Nanos::from_secs(7 * 86_400) {
        return Err(format!("a duration of {duration}; 10ms to 168h are possible"));
    }
    let passes = load.passes.map(|passes| part.saturating_mul(u64::from(passes)));
    let early = choices.until.or(file.until);
    let steady = match early {
        Some(EarlyEnd::Steady(rule)) => Some(rule),
        _ => None,
    };
    let of_stream = load.bytes_per_stream.or(file.bytes_per_stream).map(|bytes| bytes.0);
    let mut stop = Stop {
        duration_ns: duration.0,
        bytes: load.bytes.or(file.bytes).map_or(0, |b| b.0),
        bytes_per_stream: passes.or(of_stream).unwrap_or(0),
        until: match early {
            Some(EarlyEnd::Precise(tolerance)) => {
                Some(Until { share: tolerance.share(), least_ns: UNTIL_LEAST.min(duration).0 })
            }
            _ => None,
        },
        samples: load.samples.map(|count| Samples { count, least_ns: duration.0 }),
        until_steady: None,
        ends_step: load.ends_step.unwrap_or(false),
        catches_up: load.catches_up.unwrap_or(false),
        steady,
        visits: 1,
        visit_lead_in_ns: 0,
    };
    if stop.steady.is_some() {
        can_end_steady(file, &stop)?;
    }
    let lead_in = visit_lead_in(file)?;
    stop.visits = visits(file, stop, lead_in.unwrap_or(VISIT_LEAD_IN))?;
    stop.visit_lead_in_ns = lead_in.filter(|_| stop.visits > 1).unwrap_or_default().0;
    Ok(stop)
}

fn visit_lead_in(file: &PlanFile) -> Result<Option<Nanos>, String> {
    let Some(lead_in) = file.visit_lead_in else { return Ok(None) };
    let (least, most) = VISIT_LEAD_INS;
    if file.visits.is_none() {
        return Err("visit_lead_in is of visits: say how many there are".to_owned());
    }
    if !(least..=most).contains(&lead_in) {
        return Err(format!("visit_lead_in = {lead_in}; {least} to {most} are possible"));
    }
    Ok(Some(lead_in))
}

/// A point that ends steady is left between its rounds, and nothing else may end it.
fn can_end_steady(file: &PlanFile, stop: &Stop) -> Result<(), String> {
    if stop.bytes > 0 || stop.bytes_per_stream > 0 || stop.samples.is_some() {
        return Err("until steady: leave out what else would end a point (bytes, passes, \
                    until_credible)"
            .to_owned());
    }
    if file.bandwidth.is_some() || file.files.is_some() {
        return Err(
            "files that a point makes are measured in one go: leave until steady out".to_owned()
        );
    }
    if file.staircase.is_some() {
        return Err("a step of a staircase ends by its time: leave until steady out".to_owned());
    }
    let least = Nanos(STEADY_ROUND_LEAST.0 * u64::from(STEADY_ROUNDS));
    if stop.duration_ns < least.0 {
        return Err(format!(
            "until steady within {}: {STEADY_ROUNDS} rounds need {least} at least (--duration)",
            Nanos(stop.duration_ns)
        ));
    }
    Ok(())
}

/// As many as the plan asks for and the point has time for: a visit lasts two and a half times its
/// lead-in.
fn visits(file: &PlanFile, stop: Stop, lead_in: Nanos) -> Result<u32, String> {
    let Some(asked) = file.visits else { return Ok(1) };
    let (least, most) = VISITS;
    if !(least..=most).contains(&asked) {
        return Err(format!("visits = {asked}; {least} to {most} are possible"));
    }
    if file.bandwidth.is_some() || file.files.is_some() {
        return Err("files that a point makes are measured in one go: leave visits out".to_owned());
    }
    let visit_ns = lead_in.0 * 5 / 2;
    let fit = u32::try_from(stop.duration_ns / visit_ns).unwrap_or(most).min(asked);
    Ok(if stop.may_end_early() || fit < least { 1 } else { fit })
}

/// Streams and workers.
fn counts(profile: &Profile, outstanding: u32, parts: u32) -> Result<(u32, u32), String> {
    let streams = profile.streams.unwrap_or(parts);
    if streams == 0 || streams > STREAMS_MAX {
        return Err(format!("streams = {streams}; 1 to {STREAMS_MAX} are possible"));
    }
    if streams < parts {
        return Err(format!(
            "streams = {streams}, but the target has {parts} parts, each with streams of its own"
        ));
    }
    let most = IN_FLIGHT_MAX.saturating_mul(parts.max(1));
    if outstanding == 0 || outstanding.saturating_mul(streams) > most {
        return Err(format!(
            "{outstanding} outstanding I/Os for each of {streams} streams; 1 to {most} in all are possible"
        ));
    }
    let workers = profile.workers.unwrap_or(1);
    if workers == 0 || workers > streams {
        return Err(format!("workers = {workers}; 1 to {streams}, its streams, are possible"));
    }
    Ok((streams, workers))
}

fn shares(profile: &Profile) -> Result<(), String> {
    if profile.verify == Some(true) && profile.compressible.is_some_and(|share| share > 0.0) {
        return Err("what is verified is stamped, and does not compress".to_owned());
    }
    let compressible = profile.compressible.unwrap_or(0.0);
    let all = [("random", profile.random), ("read", profile.read), ("compressible", compressible)];
    match all.iter().find(|(_, share)| !(0.0..=100.0).contains(share)) {
        Some((name, share)) => Err(format!("{name} = {share} is no share in per cent, 0 to 100")),
        None => Ok(()),
    }
}

fn sizes(spec: &SizeSpec, block: u64) -> Result<SizeMix, String> {
    let list: Vec<(Bytes, u32)> = match spec {
        SizeSpec::One(text) => vec![(text.parse::<Bytes>().map_err(|e| e.to_string())?, 1)],
        SizeSpec::Mix(mix) => mix.iter().map(|m| (m.size, m.weight)).collect(),
    };
    if list.is_empty() {
        return Err("request_size is an empty list".to_owned());
    }
    for (size, weight) in &list {
        if size.0 == 0 || size.0 > SIZE_MAX || !size.0.is_multiple_of(block) {
            return Err(format!(
                "request_size {size}: direct I/O on this target needs whole multiples of {block} B, at most {}",
                Bytes(SIZE_MAX)
            ));
        }
        if *weight == 0 || *weight > 1_000_000 {
            return Err(format!("weight {weight}: 1 to 1000000 are possible"));
        }
    }
    Ok(SizeMix { sizes: list.iter().map(|(size, weight)| (size.0 as u32, *weight)).collect() })
}

fn alignment(profile: &Profile, sizes: &SizeMix, block: u64) -> Result<u64, String> {
    let standard = STANDARD_ALIGNMENT.min(u64::from(sizes.max()));
    let alignment = profile.alignment.map_or(standard.max(block), |a| a.0);
    if alignment == 0 || alignment > 1 << 30 || !alignment.is_multiple_of(block) {
        return Err(format!(
            "alignment {}: a whole multiple of {block} B up to 1GiB is possible on this target",
            Bytes(alignment)
        ));
    }
    Ok(alignment)
}

/// The area of the profile, or one of the chosen size.
fn area_spec(profile: &Profile, choices: &Choices, place: &Place) -> AreaSpec {
    match choices.area.as_ref().or(place.area.as_ref()) {
        Some(size) => AreaSpec { size: Some(size.clone()), offset: profile.area.offset },
        None => profile.area.clone(),
    }
}

/// The area of all parts together: what is written is meant for each.
fn area(spec: &AreaSpec, shape: &TargetShape, alignment: u64) -> Result<Extent, String> {
    let parts = u64::from(shape.parts.max(1));
    let part = Extent { length_bytes: shape.usable.length_bytes / parts, ..shape.usable };
    let usual = shape.area_bytes.unwrap_or(STANDARD_AREA.0);
    let each = area_of_part(spec, part, usual, alignment)?;
    if parts > 1 && each.offset_bytes != part.offset_bytes {
        return Err("an area offset on a target of several parts".to_owned());
    }
    Ok(Extent { length_bytes: each.length_bytes * parts, ..each })
}

fn area_of_part(
    spec: &AreaSpec,
    usable: Extent,
    usual: u64,
    alignment: u64,
) -> Result<Extent, String> {
    let offset = spec.offset.unwrap_or(Bytes::ZERO).0;
    let is_aligned = [alignment, STANDARD_ALIGNMENT].iter().any(|of| offset.is_multiple_of(*of));
    if !is_aligned || offset >= usable.length_bytes {
        return Err(format!(
            "area offset {}: a multiple of the alignment, or of {}, below {} is possible",
            Bytes(offset),
            Bytes(STANDARD_ALIGNMENT),
            Bytes(usable.length_bytes)
        ));
    }
    let rest = usable.length_bytes - offset;
    let asked = match spec.size.as_deref() {
        None => usual.min(rest),
        Some("full") => rest,
        Some(text) => match text.strip_suffix('%') {
            Some(share) => {
                let share: f64 =
                    share.trim().parse().map_err(|_| format!("area `{text}` is no share"))?;
                if !(share > 0.0 && share <= 100.0) {
                    return Err(format!("area `{text}`: above 0% and at most 100%"));
                }
                (usable.length_bytes as f64 * share / 100.0) as u64
            }
            None => text.parse::<Bytes>().map_err(|e| e.to_string())?.0,
        },
    };
    if asked > rest {
        return Err(format!(
            "an area of {} does not fit: the target has {} from there on. Choose a smaller area (--area), or make a larger file",
            Bytes(asked),
            Bytes(rest)
        ));
    }
    Ok(Extent {
        offset_bytes: usable.offset_bytes + offset,
        length_bytes: asked - asked % alignment,
    })
}

fn delay(load: &LoadSpec) -> Result<u64, String> {
    match load.delay {
        Some(delay) if delay > DELAY_MAX => {
            Err(format!("delay {delay}; 0 to {DELAY_MAX} are possible"))
        }
        delay => Ok(delay.unwrap_or_default().0),
    }
}

fn arrivals(spec: Option<Arrivals>) -> Result<Arrivals, String> {
    let arrivals = spec.unwrap_or(Arrivals::Closed);
    if let Arrivals::ThinkTime { time_ns, requests } = arrivals {
        let time = Nanos(time_ns);
        return if requests > 0 && time_ns > 0 && time <= DELAY_MAX {
            Ok(arrivals)
        } else {
            Err(format!(
                "a think time of {time} after {requests} requests; above 0 to {DELAY_MAX}, after 1 request at least, are possible"
            ))
        };
    }
    match arrivals.rate() {
        Some(rate) if !(0.001..=1e9).contains(&rate) => {
            Err(format!("a rate of {rate} requests per second; 0.001 to 1e9 are possible"))
        }
        _ => Ok(arrivals),
    }
}

fn fsync(profile: &Profile, direct: bool) -> Fsync {
    match profile.fsync {
        Some(FsyncSpec::Every { writes }) => Fsync { every_writes: writes.max(1), at_end: true },
        Some(FsyncSpec::End) => Fsync { every_writes: 0, at_end: true },
        Some(FsyncSpec::Never) => Fsync { every_writes: 0, at_end: false },
        // A buffered write that was never forced out hides its errors (docs/method/thresholds.md).
        None => Fsync { every_writes: 0, at_end: !direct && profile.read < 100.0 },
    }
}
