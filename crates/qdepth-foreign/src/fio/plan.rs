//! Plan file of jobs, in the form that a person would write: a profile for each load, then the
//! steps.

use std::collections::BTreeSet;

use qdepth_measure::stamp::shared_number;
use qdepth_measure::{Bytes, Nanos};
use qdepth_workload::{
    AreaSpec, Arrivals, CacheAdvice, Distribution, DuplicatesSpec, Durability, FilesSpec,
    FsyncSpec, IoFlag, LeastRateSpec, LoadSpec, PlanFile, Profile, SizeSpec, StepSpec, TargetsSpec,
    Trace, Way, Zone,
};

use super::job::Job;
use super::job_parts::Duplicates;
use super::load::Load;
use super::values::{self, Amount, SizePart, Trims};

/// Maximum number of jobs in the title of a step.
const TITLE_JOBS_MAX: usize = 8;

/// Plan file of these steps.
pub(super) fn plan(
    name: &str,
    seed: u64,
    jobs: &[Job],
    steps: &[Vec<Load>],
    file_bytes: Option<u64>,
) -> PlanFile {
    let has_entries = jobs.iter().any(|job| job.operation.is_of_entries());
    let profiles = steps.iter().flatten().map(|load| profile(&jobs[load.origin.job], load));
    let step = |(number, loads): (usize, &Vec<Load>)| StepSpec {
        title: format!("{}: {}", number + 1, names(jobs, loads)),
        loads: loads.iter().map(|load| load_spec(&jobs[load.origin.job], load)).collect(),
        ..StepSpec::default()
    };
    PlanFile {
        name: name.to_owned(),
        seed: Some(seed),
        stamp: stamp(jobs),
        targets: TargetsSpec::Together,
        file_size: file_bytes.map(Bytes),
        files: has_entries.then_some(FilesSpec::Entries),
        own_profiles: profiles.collect(),
        steps: steps.iter().enumerate().map(step).collect(),
        ..PlanFile::default()
    }
}

/// Stamp of verified writes, which all runs share whose jobs have the same options.
fn stamp(jobs: &[Job]) -> Option<u64> {
    let keys = jobs.iter().filter_map(|job| job.verify.as_ref()).map(|verify| verify.by.as_str());
    let keys: BTreeSet<&str> = keys.collect();
    (!keys.is_empty()).then(|| shared_number(&Vec::from_iter(keys).join("\n")))
}

fn names(jobs: &[Job], loads: &[Load]) -> String {
    let mut names: Vec<&str> =
        loads.iter().map(|load| jobs[load.origin.job].name.as_str()).collect();
    names.dedup();
    names.truncate(TITLE_JOBS_MAX);
    names.join(", ")
}

fn load_spec(job: &Job, load: &Load) -> LoadSpec {
    let flow = job.flow.filter(|_| !load.reads_back);
    let least_rate = load.least.map(|least| LeastRateSpec {
        io_per_s: Some(least.ios),
        bytes_per_s: Some(least.bytes),
        over: Some(Nanos(least.cycle_ns)),
        from: None,
    });
    let is_delayed = job.span.delay_ns > 0 && !load.reads_back;
    LoadSpec {
        profile: load.profile.clone(),
        target: u32::try_from(load.target + 1).ok(),
        queue_depth: load.depth,
        delay: is_delayed.then_some(Nanos(job.span.delay_ns)),
        warm_up: Some(Nanos(job.span.ramp_ns)),
        duration: Some(Nanos(load.duration_ns)),
        bytes_per_stream: load.bytes.map(Bytes),
        flow,
        settling: load.settling,
        least_rate,
        ends_step: load.ends_step.then_some(true),
        passes: load.passes,
        ..LoadSpec::default()
    }
}

fn profile(job: &Job, load: &Load) -> Profile {
    let verify = if load.reads_back { "verify " } else { "" };
    let trace = job.replay.as_ref().zip(load.replays);
    let trace = trace.and_then(|(replay, index)| replay.for_clone(load.origin.clone).get(index));
    let what = match trace {
        Some((_, trace)) => replayed(job, trace),
        None => drawn(job, load),
    };
    Profile {
        name: load.profile.clone(),
        title: Some(format!("{verify}{}", job.name)),
        application: Some(job.description.clone()).filter(|text| !text.is_empty()),
        area: AreaSpec {
            size: Some(load.area.map_or_else(|| "full".to_owned(), |b| Bytes(b).to_string())),
            offset: Some(Bytes(load.offset)),
        },
        compressible: (job.compressible > 0.0).then_some(job.compressible),
        priorities: job.priorities.clone(),
        direct: Some(load.direct),
        fsync: Some(fsync(job)),
        ..what
    }
}

/// True if a writing job leaves parts of its area unwritten.
fn wrote_parts(job: &Job, load: &Load) -> bool {
    let repeats = job.random > 0.0 && distribution(job, load) != Some(Distribution::EachOnce);
    let span = &job.span;
    let may_end_early =
        span.io_size.is_some() || span.requests.is_some() || span.runtime_ns.is_some();
    job.read > 0.0 || repeats || may_end_early
}

/// Profile fields that define the random requests of a load.
fn drawn(job: &Job, load: &Load) -> Profile {
    let read = share_of_reads(job, load);
    let writes = own_writes(job, load);
    let parts = if read > 0.0 { &job.sizes.parts } else { job.sizes.of_writes() };
    let durability = Some(job.durability).filter(|durability| *durability != Durability::None);
    let duplicates = job.duplicates.filter(|_| !load.reads_back);
    let random = match load.way {
        Some(Way::Writes) => job.random_writes.unwrap_or(job.random),
        _ => job.random,
    };
    Profile {
        trim: (job.trims == Trims::All).then_some(100.0),
        trim_first: (job.trims == Trims::BeforeWrites).then_some(true),
        operation: Some(job.operation).filter(|operation| !operation.is_transfer()),
        verify: job.verify.as_ref().map(|_| true),
        // As in fio, a job that only reads reports data that was not written for verification as an
        // error.
        verify_unwritten: (job.verify.as_ref())
            .map(|verify| job.read >= 100.0 && !verify.only || load.of_other_run),
        verify_laid_out: (job.verifies(|verify| verify.loads_state)
            || load.of_other_run && wrote_parts(job, load))
        .then_some(true),
        durability: durability.filter(|_| read < 100.0),
        advice: Some(job.caching.advice).filter(|advice| *advice != CacheAdvice::None),
        drop_cache: job.caching.drops.then_some(true),
        io_flag: Some(job.caching.io_flag).filter(|flag| *flag != IoFlag::None),
        alignment: Some(Bytes(alignment(job, load))),
        write_size: writes.map(|(parts, _)| sizes(parts)),
        write_alignment: writes.map(|(_, alignment)| Bytes(alignment)),
        write_random: job.random_writes.filter(|_| writes.is_some()),
        strides: job.zones,
        backwards: job.backwards.then_some(true),
        arrivals: arrivals(job, load),
        duplicates: duplicates.map(|duplicates| repeated(job, load, duplicates)),
        distribution: distribution(job, load),
        ..Profile::new(random, read, sizes(parts))
    }
}

fn share_of_reads(job: &Job, load: &Load) -> f64 {
    match load.way {
        _ if load.reads_back => 100.0,
        Some(Way::Reads) => 100.0,
        Some(Way::Writes) => 0.0,
        None => job.read,
    }
}

/// Sizes and alignment of writes with places of their own. As in fio, sequential reads of a mix
/// follow reads, and sequential writes follow writes.
fn own_writes<'j>(job: &'j Job, load: &Load) -> Option<(&'j [SizePart], u64)> {
    let read = share_of_reads(job, load);
    let is_mix = read > 0.0 && read < 100.0;
    let is_plain = job.random <= 0.0 && !job.backwards && job.zones.is_none();
    match &job.sizes.writes {
        _ if !is_mix || job.trims != Trims::None => None,
        Some((parts, alignment)) => Some((parts, *alignment)),
        None => is_plain.then(|| (&*job.sizes.parts, alignment(job, load))),
    }
}

/// Alignment of the places. Sequential ones begin at any offset, as in fio.
fn alignment(job: &Job, load: &Load) -> u64 {
    let asked = match &job.sizes.writes {
        Some((_, alignment)) if share_of_reads(job, load) <= 0.0 => *alignment,
        _ => job.sizes.alignment,
    };
    let is_free = job.random <= 0.0 && job.gap == 0 && !job.backwards && job.zones.is_none();
    match load.offset.is_multiple_of(asked.max(1)) {
        false if is_free => 1 << (load.offset | asked).trailing_zeros(),
        _ => asked,
    }
}

fn arrivals(job: &Job, load: &Load) -> Option<Arrivals> {
    let think = job.think.filter(|_| !load.reads_back);
    let think = think.map(|(time_ns, requests)| Arrivals::ThinkTime { time_ns, requests });
    let paced = load.rate.map(|rate| match job.poisson {
        true => Arrivals::Poisson { rate },
        false => Arrivals::Fixed { rate },
    });
    paced.or(think)
}

/// Profile fields that define the replayed requests.
fn replayed(job: &Job, trace: &Trace) -> Profile {
    let (reads, trims) = trace.shares();
    let percent = |share: f64| (share * 1e6).round() / 1e4;
    // A direction that never occurs has no share; one that occurs keeps at least a small share.
    let kept = |share: f64| match share > 0.0 && share < 1.0 {
        true => percent(share).clamp(0.01, 99.98),
        false => 100.0 * share,
    };
    let read = kept(reads);
    let trim = if reads + trims >= 1.0 { 100.0 - read } else { kept(trims) };
    let parts: Vec<SizePart> = trace
        .sizes()
        .sizes
        .iter()
        .map(|(bytes, weight)| SizePart { bytes: u64::from(*bytes), weight: *weight })
        .collect();
    let requests = trace.requests().iter().map(|recorded| recorded.request);
    let bits = requests.fold(4096, |bits, r| bits | r.offset | u64::from(r.size));
    let speed = job.replay.as_ref().and_then(|replay| replay.speed);
    Profile {
        trim: (trims > 0.0).then_some(trim),
        alignment: Some(Bytes(1 << bits.trailing_zeros())),
        arrivals: speed.map(|speed| Arrivals::Recorded { speed }),
        trace: Some(String::from(trace.clone())),
        ..Profile::new(percent(trace.random_share()), read, sizes(&parts))
    }
}

/// Duplicates of a load, with the number of distinct contents: the requests in the working set.
fn repeated(job: &Job, load: &Load, duplicates: Duplicates) -> DuplicatesSpec {
    let Duplicates { share, working_set, common } = duplicates;
    let requests = load.area.unwrap_or(u64::MAX) / job.sizes.smallest().max(1);
    let contents = working_set.map_or(1.0, |set| (requests as f64 * set / 100.0).max(1.0));
    DuplicatesSpec { share, contents: Some(contents as u32), common: Some(common) }
}

fn sizes(parts: &[SizePart]) -> SizeSpec {
    SizeSpec::weighted(parts.iter().map(|part| (Bytes(part.bytes), part.weight)))
}

fn fsync(job: &Job) -> FsyncSpec {
    let (every, data_only) = job.fsync_every;
    match (every, job.fsync_end) {
        _ if !job.operation.is_transfer() => FsyncSpec::Never,
        (0, false) => FsyncSpec::Never,
        (0, true) => FsyncSpec::End,
        (writes, at_end) => FsyncSpec::Every { writes, data_only, at_end },
    }
}

fn distribution(job: &Job, load: &Load) -> Option<Distribution> {
    match &job.distribution {
        _ if job.random <= 0.0 => None,
        values::Distribution::Zipf(exponent) => Some(Distribution::Zipf { exponent: *exponent }),
        values::Distribution::Pareto(power) => Some(Distribution::Pareto { power: *power }),
        values::Distribution::Sequence(places) => {
            Some(Distribution::Sequence { places: places.clone(), advances: job.sequence_advances })
        }
        values::Distribution::Zones(parts) => {
            Some(Distribution::Zones { zones: zones(parts, load.area) })
        }
        values::Distribution::Uniform if job.once && job.sizes.writes.is_none() => {
            Some(Distribution::EachOnce)
        }
        values::Distribution::Uniform => None,
    }
}

/// Zones as shares of the area; zones in bytes are cut at its end, as in fio.
fn zones(parts: &[(f64, Amount)], area: Option<u64>) -> Vec<Zone> {
    let all = area.unwrap_or(0) as f64;
    let mut left = 100.0;
    let mut zones: Vec<Zone> = Vec::new();
    for (access, part) in parts {
        let area = match part {
            Amount::Share(share) => *share,
            Amount::Bytes(bytes) => (*bytes as f64 / all * 100.0).min(left),
        };
        left -= area;
        zones.push(Zone { access: *access, area });
    }
    if let Some(last) = zones.last_mut() {
        last.area += left.max(0.0);
    }
    zones
}
