//! From what a person wrote to a plan that omits nothing.

use qdepth_measure::{Bytes, Nanos, Seed};
use thiserror::Error;

use crate::arrival::Arrivals;
use crate::payload::Payload;
use crate::plan::{Extent, Fsync, Plan, Point, Stop};
use crate::profile::{AreaSpec, ArrivalSpec, FsyncSpec, PlanFile, Profile, ReportedAs, SizeSpec};
use crate::shipped::{shipped_profile_names, shipped_profile_text};
use crate::size::SizeMix;

/// The standard measurement area (method.md item 10).
const STANDARD_AREA: Bytes = Bytes::gib(32);
/// Alignment when none is written (method.md item 11).
const STANDARD_ALIGNMENT: u64 = 4096;
/// Most requests in flight over all streams of a point: what one ring holds.
const IN_FLIGHT_MAX: u32 = 4096;
/// Largest request.
const SIZE_MAX: u64 = 64 << 20;
/// Most streams of a point.
const STREAMS_MAX: u32 = 256;

/// What a plan must know of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetShape {
    /// Bytes that may be touched, counted from the start of the area that is ours.
    pub usable: Extent,
    /// Smallest size and alignment of direct I/O.
    pub block_bytes: u32,
}

/// What the command line decides over the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// Only these profiles, by short name.
    pub profiles: Option<Vec<String>>,
    /// Other intensities.
    pub outstanding: Option<Vec<u32>>,
    /// Another length of the measured window.
    pub duration: Option<Nanos>,
    /// Another area, as `32GiB`, `50%`, `full`.
    pub area: Option<String>,
    /// Another seed.
    pub seed: Option<u64>,
    /// Leave out every point that writes.
    pub read_only: bool,
}

/// Why a plan cannot be made.
#[derive(Debug, Error, PartialEq)]
pub enum ResolveError {
    /// A name that is no profile.
    #[error("there is no profile `{name}`; there are: {known}")]
    NoSuchProfile {
        /// As written.
        name: String,
        /// What could be meant.
        known: String,
    },
    /// A value outside its limits.
    #[error("profile `{profile}`: {what}")]
    Value {
        /// In which profile.
        profile: String,
        /// What is wrong and what would be right.
        what: String,
    },
    /// A plan without points.
    #[error("nothing would be measured: {0}")]
    Empty(String),
    /// A shipped file that cannot be read: a bug.
    #[error("the shipped profile `{0}` cannot be read: {1}")]
    Shipped(String, String),
}

/// The profiles that a plan file names or holds.
fn profiles(file: &PlanFile, only: Option<&[String]>) -> Result<Vec<Profile>, ResolveError> {
    let mut list = Vec::new();
    for name in &file.profiles {
        list.push(shipped(name)?);
    }
    list.extend(file.own_profiles.iter().cloned());
    let Some(only) = only else { return Ok(list) };
    only.iter()
        .map(|name| match list.iter().find(|p| p.name == *name) {
            Some(profile) => Ok(profile.clone()),
            None => shipped(name),
        })
        .collect()
}

fn shipped(name: &str) -> Result<Profile, ResolveError> {
    let text = shipped_profile_text(name).ok_or_else(|| ResolveError::NoSuchProfile {
        name: name.to_owned(),
        known: shipped_profile_names().collect::<Vec<_>>().join(", "),
    })?;
    toml::from_str(text).map_err(|e| ResolveError::Shipped(name.to_owned(), e.to_string()))
}

/// Whether any point that these choices leave writes; asked before a target is opened.
///
/// # Errors
/// As [`resolve`].
pub fn needs_writing(file: &PlanFile, choices: &Choices) -> Result<bool, ResolveError> {
    let writes = |p: &Profile| p.read < 100.0;
    Ok(!choices.read_only && profiles(file, choices.profiles.as_deref())?.iter().any(writes))
}

/// Makes the plan for these targets.
///
/// # Errors
/// Where a name is unknown, a value is outside its limits, or nothing would be left to measure.
pub fn resolve(
    file: &PlanFile,
    choices: &Choices,
    targets: &[TargetShape],
) -> Result<Plan, ResolveError> {
    let seed = choices.seed.or(file.seed).unwrap_or(1);
    let outstanding = choices.outstanding.as_ref().unwrap_or(&file.outstanding);
    let mut points = Vec::new();
    for (target, shape) in targets.iter().enumerate() {
        for profile in profiles(file, choices.profiles.as_deref())? {
            if choices.read_only && profile.read < 100.0 {
                continue;
            }
            for intensity in outstanding {
                let mut point = point(file, choices, &profile, *intensity, shape)?;
                point.index = points.len() as u32;
                point.target = target as u32;
                point.seed = Seed(seed).derive(&profile.name).derive(&intensity.to_string()).0;
                points.push(point);
            }
        }
    }
    if points.is_empty() {
        let why = if choices.read_only {
            "every profile of this plan writes, and only reading is allowed"
        } else {
            "the plan names no profile or no number of outstanding I/Os"
        };
        return Err(ResolveError::Empty(why.to_owned()));
    }
    Ok(Plan { version: 1, name: file.name.clone(), seed, points })
}

fn point(
    file: &PlanFile,
    choices: &Choices,
    profile: &Profile,
    outstanding: u32,
    shape: &TargetShape,
) -> Result<Point, ResolveError> {
    let bad = |what: String| ResolveError::Value { profile: profile.name.clone(), what };
    shares(profile).map_err(bad)?;
    let streams = profile.streams.unwrap_or(1);
    if streams == 0 || streams > STREAMS_MAX {
        return Err(bad(format!("streams = {streams}; 1 to {STREAMS_MAX} are possible")));
    }
    if outstanding == 0 || outstanding.saturating_mul(streams) > IN_FLIGHT_MAX {
        return Err(bad(format!(
            "{outstanding} outstanding I/Os for each of {streams} streams; 1 to {IN_FLIGHT_MAX} in all are possible"
        )));
    }
    let direct = profile.direct.unwrap_or(true);
    let block = if direct { u64::from(shape.block_bytes) } else { 1 };
    let request_size = sizes(&profile.request_size, block).map_err(bad)?;
    let alignment_bytes = alignment(profile, &request_size, block).map_err(bad)?;
    let spec = match &choices.area {
        Some(size) => AreaSpec { size: Some(size.clone()), offset: profile.area.offset },
        None => profile.area.clone(),
    };
    let area = area(&spec, shape, alignment_bytes).map_err(bad)?;
    if area.length_bytes / u64::from(streams) < u64::from(request_size.max()) + alignment_bytes {
        return Err(bad(format!(
            "an area of {} is too small for {streams} streams with requests of {}",
            Bytes(area.length_bytes),
            Bytes(u64::from(request_size.max())),
        )));
    }
    let duration = choices.duration.or(file.duration).unwrap_or(Nanos::from_secs(30));
    if duration < Nanos::from_millis(10) || duration > Nanos::from_secs(7 * 86_400) {
        return Err(bad(format!("a duration of {duration}; 10ms to 168h are possible")));
    }
    let default_warm_up = Nanos((duration.0 / 10).max(200_000_000));
    Ok(Point {
        index: 0,
        target: 0,
        profile: profile.name.clone(),
        profile_title: profile.title.clone().unwrap_or_else(|| profile.name.clone()),
        application: profile.application.clone().unwrap_or_default(),
        random_share: profile.random / 100.0,
        read_share: profile.read / 100.0,
        request_size,
        alignment_bytes,
        area,
        streams,
        outstanding,
        arrivals: arrivals(profile.arrivals).map_err(bad)?,
        payload: Payload { compressible_share: profile.compressible.unwrap_or(0.0) / 100.0 },
        direct,
        fsync: fsync(profile, direct),
        reported_as_throughput: match profile.reported_as {
            Some(choice) => choice == ReportedAs::Throughput,
            None => profile.random == 0.0,
        },
        warm_up_ns: file.warm_up.unwrap_or(default_warm_up).0,
        stop: Stop { duration_ns: duration.0, bytes: file.bytes.map_or(0, |b| b.0) },
        seed: 0,
    })
}

fn shares(profile: &Profile) -> Result<(), String> {
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

fn area(spec: &AreaSpec, shape: &TargetShape, alignment: u64) -> Result<Extent, String> {
    let usable = shape.usable;
    let offset = spec.offset.unwrap_or(Bytes::ZERO).0;
    if !offset.is_multiple_of(alignment) || offset >= usable.length_bytes {
        return Err(format!(
            "area offset {}: a multiple of the alignment below {} is possible",
            Bytes(offset),
            Bytes(usable.length_bytes)
        ));
    }
    let rest = usable.length_bytes - offset;
    let asked = match spec.size.as_deref() {
        None => STANDARD_AREA.0.min(rest),
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

fn arrivals(spec: Option<ArrivalSpec>) -> Result<Arrivals, String> {
    let arrivals = match spec.unwrap_or(ArrivalSpec::Closed) {
        ArrivalSpec::Closed => return Ok(Arrivals::Closed),
        ArrivalSpec::Fixed { rate } => (rate, Arrivals::Fixed { rate }),
        ArrivalSpec::Poisson { rate } => (rate, Arrivals::Poisson { rate }),
        ArrivalSpec::Paced { rate } => (rate, Arrivals::Paced { rate }),
    };
    if !(0.001..=1e9).contains(&arrivals.0) {
        return Err(format!(
            "a rate of {} requests per second; 0.001 to 1e9 are possible",
            arrivals.0
        ));
    }
    Ok(arrivals.1)
}

fn fsync(profile: &Profile, direct: bool) -> Fsync {
    match profile.fsync {
        Some(FsyncSpec::Every { writes }) => Fsync { every_writes: writes.max(1), at_end: true },
        Some(FsyncSpec::End) => Fsync { every_writes: 0, at_end: true },
        Some(FsyncSpec::Never) => Fsync { every_writes: 0, at_end: false },
        // A buffered write that was never forced out hides its errors (notes on trust, 4.1).
        None => Fsync { every_writes: 0, at_end: !direct && profile.read < 100.0 },
    }
}
