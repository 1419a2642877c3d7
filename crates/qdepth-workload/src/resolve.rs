//! Resolution of a plan file to a plan that omits nothing.

use std::collections::BTreeSet;

use qdepth_measure::{Limit, Nanos, Part, RequiredPercentile, Requirement, Seed, Statistic};

use crate::alike::{alike, meant};
use crate::arrival::Arrivals;
use crate::plan::{Plan, Point};
use crate::profile::{PlanFile, Profile, TargetsSpec};
use crate::shipped::{shipped_profile_names, shipped_profile_text};
use crate::steps::{LoadSpec, StaircaseSpec};
use crate::toml_error::TomlError;
use crate::written_targets::WrittenTargets;

pub use self::choices::{Choices, Preconditioning, STANDARD_AREA, Stairs, TargetShape, Wear};
pub use self::error::ResolveError;
use self::load::{Load, Step};
use self::point::point;
pub(crate) use self::point::{FLOW_WEIGHT_MAX, SEGMENTS};
pub use self::precondition::Method;
use self::sizes::unsupported_sizes;
pub use self::variants::side_by_side;
use self::ways::ways;

mod area;
mod bandwidth;
mod choices;
mod error;
mod fsync;
mod io_flag;
mod load;
mod point;
mod precondition;
mod sizes;
mod variants;
mod ways;

/// Minimum queue depth of a reader in an open loop, which issues I/Os before earlier ones complete.
const OPEN_READER: u32 = 128;
/// Default of the maximum measured time of a search.
const ANSWER_WITHIN: Nanos = Nanos::from_secs(1800);
/// Largest duration of a group that waits for samples, as a multiple of its duration.
const LENGTHENED_MAX: u64 = 40;

/// Profiles that a plan file names or contains; with `reading`, it names those for read-only runs.
fn profiles(
    file: &PlanFile,
    only: Option<&[String]>,
    reading: bool,
) -> Result<Vec<Profile>, ResolveError> {
    let named = if reading { &file.reading } else { &file.profiles };
    let mut list = named
        .iter()
        .map(|name| found(name, &file.own_profiles, &file.own_profiles))
        .collect::<Result<Vec<_>, _>>()?;
    let unnamed = |profile: &&Profile| !file.profiles.contains(&profile.name);
    list.extend(file.own_profiles.iter().filter(unnamed).cloned());
    let Some(only) = only else { return Ok(list) };
    if let Some((index, twice)) =
        only.iter().enumerate().find(|(n, name)| only[..*n].contains(name))
    {
        let others = [&only[..index], &only[index + 1..]].concat().join(",");
        let what = format!("it is named twice. Name it once: --profile {others}");
        return Err(ResolveError::Value { profile: twice.clone(), what });
    }
    only.iter().map(|name| found(name, &list, &file.own_profiles)).collect()
}

/// Profile of this name in the list, otherwise the shipped one; errors also suggest those in `own`.
fn found(name: &str, list: &[Profile], own: &[Profile]) -> Result<Profile, ResolveError> {
    let known = list.iter().find(|profile| profile.name == name).cloned();
    known.map_or_else(|| shipped(name, own), Ok)
}

fn shipped(name: &str, own: &[Profile]) -> Result<Profile, ResolveError> {
    let text = shipped_profile_text(name).ok_or_else(|| {
        let mut known: Vec<&str> = names(own).collect();
        shipped_profile_names().for_each(|name| known.push(name));
        no_such(name, &known)
    })?;
    text.parse().map_err(|e: TomlError| ResolveError::Shipped(name.to_owned(), e.to_string()))
}

/// Targets that the plan writes to with these choices, determined before a target is opened.
///
/// # Errors
/// Like [`resolve`].
pub fn needs_writing(file: &PlanFile, choices: &Choices) -> Result<WrittenTargets, ResolveError> {
    let steps = steps(file, choices, 1)?;
    if precondition::is_wanted(file, choices)? {
        return Ok(WrittenTargets::Each);
    }
    let loads = steps.iter().flat_map(|step| &step.loads);
    Ok(loads.filter(|load| load.profile.writes()).map(|load| load.spec.target_index()).collect())
}

/// Maximum number of points: a short text can ask for any number, and each takes memory before the
/// first is measured.
const POINTS_MAX: usize = 100_000;

fn not_too_many(file: &PlanFile, points: usize) -> Result<(), ResolveError> {
    if points <= POINTS_MAX {
        return Ok(());
    }
    let what = format!(
        "the plan has {points} points; at most {POINTS_MAX} are allowed. Use fewer profiles, queue \
         depths or variants"
    );
    Err(ResolveError::Value { profile: file.name.clone(), what })
}

/// Refuses choices that the plan would ignore.
fn all_followed(file: &PlanFile, choices: &Choices) -> Result<(), ResolveError> {
    let lengthened =
        !file.queue_depth.is_empty() || !file.sweeps.is_empty() || file.staircase.is_some();
    let what = if let Some(credible) = choices.until_credible.filter(|_| !lengthened) {
        format!(
            "--until-credible {credible}: applies only to sweeps and staircases, and this plan has \
             neither. Remove it"
        )
    } else if let (Some(size), true) = (choices.file_size, file.bandwidth.is_some()) {
        format!(
            "--file-size {size}: in this plan each thread creates its own file. Use \
             --bytes-per-thread instead"
        )
    } else if choices.profiles.is_some() && file.bandwidth.is_some() {
        "--profile: this plan has fixed loads, writing and reading files. Remove it".to_owned()
    } else {
        return Ok(());
    };
    Err(ResolveError::Value { profile: file.name.clone(), what })
}

/// All steps of a plan, in order: the sweep, the steps, the staircase, the bandwidth.
fn steps(file: &PlanFile, choices: &Choices, targets: usize) -> Result<Vec<Step>, ResolveError> {
    all_followed(file, choices)?;
    let reading = choices.read_only && !file.reading.is_empty();
    let profiles = profiles(file, choices.profiles.as_deref(), reading)?;
    let mut steps = sweeps(file, choices)?;
    if file.queue_depth.is_empty() && steps.is_empty() && choices.queue_depth.is_some() {
        return Err(ResolveError::NotASweep(file.name.clone()));
    }
    if !file.queue_depth.is_empty() {
        let intensities = choices.queue_depth.as_ref().unwrap_or(&file.queue_depth);
        not_too_many(file, profiles.len().saturating_mul(intensities.len()))?;
        let for_latency = |profile: &&Profile| file.latency_profiles.contains(&profile.name);
        for profile in profiles.iter().filter(|profile| !for_latency(profile)) {
            steps.extend(sweep(profile, &file.queue_depth, choices));
        }
        let chosen =
            |name: &&String| choices.profiles.as_ref().is_none_or(|only| only.contains(*name));
        for name in file.latency_profiles.iter().filter(chosen) {
            let spec = LoadSpec { profile: name.clone(), queue_depth: 1, ..LoadSpec::default() };
            let load = Load { profile: shipped(name, &[])?, spec };
            steps.push(Step { title: String::new(), loads: vec![load] });
        }
    }
    let staircase = staircase(file, choices)?;
    let staircase = staircase.map(|s| s.steps().map_err(ResolveError::Staircase)).transpose()?;
    let mut all = Vec::new();
    for step in &file.steps {
        let bad = |what| ResolveError::Value { profile: step.title.clone(), what };
        all.extend(step.each().map_err(bad)?);
        not_too_many(file, all.len())?;
    }
    for written in all.iter().chain(staircase.iter().flatten()) {
        let load = |spec: &LoadSpec| {
            let named = profiles.iter().find(|profile| profile.name == spec.profile);
            let mut profile = named
                .cloned()
                .ok_or_else(|| no_such(&spec.profile, &names(&profiles).collect::<Vec<_>>()))?;
            if spec.streams.is_some() {
                (profile.streams, profile.workers) = (spec.streams, spec.streams);
            }
            Ok(Load { profile, spec: spec.clone() })
        };
        let loads = written.loads.iter().map(load).collect::<Result<_, _>>()?;
        steps.push(Step { title: written.title.clone(), loads });
    }
    if let Some(spec) = &file.bandwidth {
        let bad = |what| ResolveError::Value { profile: "bandwidth".to_owned(), what };
        steps.extend(spec.steps(targets).map_err(bad)?);
    }
    if choices.read_only {
        for step in &mut steps {
            step.loads.retain(|load| !load.profile.writes());
        }
    }
    steps.retain(|step| !step.loads.is_empty());
    Ok(steps)
}

/// Profiles with their own queue depths. A profile that the command line names and the plan does
/// not is measured at each queue depth of the plan.
fn sweeps(file: &PlanFile, choices: &Choices) -> Result<Vec<Step>, ResolveError> {
    let mut wanted: Vec<(String, Vec<u32>)> = file
        .sweeps
        .iter()
        .map(|sweep| (sweep.profile.clone(), sweep.queue_depth.clone()))
        .collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(only) = &choices.profiles {
        let all: BTreeSet<u32> = wanted.iter().flat_map(|(_, each)| each.clone()).collect();
        let sweep = |name: &String| {
            let known = wanted.iter().find(|(profile, _)| profile == name);
            let each = known.map_or_else(|| all.iter().copied().collect(), |(_, e)| e.clone());
            (name.clone(), each)
        };
        wanted = only.iter().map(sweep).collect();
    }
    not_too_many(file, wanted.iter().map(|(_, each)| each.len()).sum())?;
    let mut steps = Vec::new();
    for (name, each) in wanted {
        let profile = found(&name, &file.own_profiles, &file.own_profiles)?;
        steps.extend(sweep(&profile, &each, choices));
    }
    Ok(steps)
}

/// A profile at each queue depth of the command line, or else of the plan. Writers that share syncs
/// replace those of the plan.
fn sweep(profile: &Profile, planned: &[u32], choices: &Choices) -> Vec<Step> {
    let (writers, depths) = match &choices.queue_depth {
        Some(chosen) => (None, &chosen[..]),
        None if profile.writers.is_some() => (profile.writers, &planned[..planned.len().min(1)]),
        None => (None, planned),
    };
    let step = |queue_depth: &u32| {
        let spec = LoadSpec {
            profile: profile.name.clone(),
            queue_depth: *queue_depth,
            samples: choices.until_credible.map(RequiredPercentile::samples),
            ..LoadSpec::default()
        };
        let load = Load { profile: Profile { writers, ..profile.clone() }, spec };
        Step { title: String::new(), loads: vec![load] }
    };
    depths.iter().map(step).collect()
}

/// Staircase of the plan with the values of the command line.
fn staircase(file: &PlanFile, choices: &Choices) -> Result<Option<StaircaseSpec>, ResolveError> {
    let Stairs { from, to, by, reader_rate } = choices.stairs;
    let Some(mut staircase) = file.staircase.clone() else {
        return match choices.stairs == Stairs::default() {
            true => Ok(None),
            false => Err(ResolveError::NoStaircase(file.name.clone())),
        };
    };
    staircase.from = from.unwrap_or(staircase.from);
    staircase.to = to.unwrap_or(staircase.to);
    staircase.by = by.unwrap_or(staircase.by);
    for load in &mut staircase.beside {
        if let Some(rate) = reader_rate {
            load.io_per_s = Some(rate);
            load.queue_depth = load.queue_depth.max(OPEN_READER);
        }
        load.samples = choices.until_credible.map(RequiredPercentile::samples).or(load.samples);
    }
    Ok(Some(staircase))
}

/// Words of fio and other programs, with the profiles that resemble them.
const WORDS: [(&str, &str); 8] = [
    ("randread", "random-4k-read"),
    ("randwrite", "random-4k-write"),
    ("randrw", "random-4k-mixed"),
    ("read", "sequential-1m-read"),
    ("write", "sequential-1m-write"),
    ("rw", "random-4k-mixed"),
    ("seqread", "sequential-1m-read"),
    ("seqwrite", "sequential-1m-write"),
];

/// The load profile that a word of fio's means, or the known name that is spelled most like it.
pub fn alike_profile<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    alike(profile_of_word(name), known)
}

/// The load profile that a word of fio's means; any other word as it is.
fn profile_of_word(name: &str) -> &str {
    WORDS.iter().find(|(word, _)| *word == name).map_or(name, |(_, profile)| *profile)
}

fn names(profiles: &[Profile]) -> impl Iterator<Item = &str> {
    profiles.iter().map(|profile| profile.name.as_str())
}

fn no_such(name: &str, known: &[&str]) -> ResolveError {
    let meant = meant(profile_of_word(name), known, "`qdepth profiles` lists them");
    ResolveError::NoSuchProfile { name: name.to_owned(), meant }
}

/// Makes the plan for these targets.
///
/// # Errors
/// If a name is unknown, a value is outside its limits, or nothing would be left to measure.
pub fn resolve(
    file: &PlanFile,
    choices: &Choices,
    targets: &[TargetShape],
) -> Result<Plan, ResolveError> {
    file_names(file)?;
    let seed = choices.seed.or(file.seed).unwrap_or(1);
    let precondition = precondition::points(file, choices, targets, seed)?;
    let steps = steps(file, choices, targets.len())?;
    supported_sizes(file, choices, targets, &steps)?;
    let (comparison, ways) = ways(file, choices, targets)?;
    not_too_many(file, steps.len().saturating_mul(ways.len()))?;
    // Variants are measured close together in time; without them, each target runs all steps.
    let numbered = || (0_u32..).zip(&ways);
    let turns: Vec<_> = if comparison.is_some() {
        steps.iter().flat_map(|step| numbered().map(move |way| (step, way))).collect()
    } else {
        numbered().flat_map(|way| steps.iter().map(move |step| (step, way))).collect()
    };
    let mut points = Vec::new();
    for (group, (step, (variant, way))) in turns.into_iter().enumerate() {
        for (part, destination) in way.iter().enumerate() {
            let loads = step.loads.iter().enumerate();
            for (number, load) in loads.filter(|(_, load)| load.spec.on(destination.target)) {
                let mut point = point(file, choices, load, destination)?;
                let seed = Seed(seed).derive(&point.profile);
                let mut seed = seed.derive(&load.spec.queue_depth.to_string());
                if !step.title.is_empty() {
                    seed = seed.derive(&step.title).derive(&number.to_string());
                }
                if comparison.is_some() && part > 0 {
                    seed = seed.derive(&part.to_string());
                }
                point.seed = seed.0;
                point.index = points.len() as u32;
                point.group = group as u32;
                point.variant = comparison.is_some().then_some(variant);
                point.step.clone_from(&step.title);
                points.push(point);
            }
        }
    }
    lengthen(&mut points);
    one_way_past_the_cache(&points)?;
    not_empty(&points, choices)?;
    let plan = Plan {
        ends_when_not_followed: file.staircase.is_some(),
        comparison,
        answer: answer(file, &points)?,
        answer_within_ns: answer_within(file, choices),
        prepare: file.host_steps(),
        precondition,
        points,
        ..without_points(file, seed)?
    };
    // What is stored can be read back.
    let unfit = |what| ResolveError::Value { profile: file.name.clone(), what };
    plan.check().map_err(unfit)?;
    Ok(plan)
}

/// Maximum number of profiles that a refusal names.
const NAMES_MAX: usize = 9;

/// Refuses a sweep of profiles if the targets support the block sizes of some but not of all, and
/// names those that they support. Other refusals are left to the point.
fn supported_sizes(
    file: &PlanFile,
    choices: &Choices,
    targets: &[TargetShape],
    steps: &[Step],
) -> Result<(), ResolveError> {
    let block = targets.iter().map(|target| u64::from(target.block_bytes)).max().unwrap_or(1);
    let (mut supported, mut refused) = (Vec::new(), None);
    for profile in steps.iter().flat_map(|step| &step.loads).map(|load| &load.profile) {
        match unsupported_sizes(profile, choices, block) {
            Some(why) => refused = Some((profile.name.clone(), why)),
            None if !supported.contains(&profile.name) => supported.push(profile.name.clone()),
            None => {}
        }
    }
    let Some((profile, why)) = refused else { return Ok(()) };
    if file.queue_depth.is_empty() || supported.is_empty() || supported.len() > NAMES_MAX {
        return Ok(());
    }
    let what = format!("{why}. Try --profile {}", supported.join(","));
    Err(ResolveError::Value { profile, what })
}

/// Values of a plan that depend only on its file, and the seed.
fn without_points(file: &PlanFile, seed: u64) -> Result<Plan, ResolveError> {
    Ok(Plan {
        version: 1,
        name: file.name.clone(),
        seed,
        requirements: requirements(file)?,
        file_names: file.file_names.clone(),
        file_suffix: file.file_suffix.clone(),
        keep_files: file.keep_files,
        stamp: file.stamp,
        ..Plan::default()
    })
}

fn not_empty(points: &[Point], choices: &Choices) -> Result<(), ResolveError> {
    let why = match choices.read_only {
        _ if !points.is_empty() => return Ok(()),
        true => {
            "every profile of this plan writes, and --read-only allows only reads. Remove \
             --read-only, or use a profile that only reads: --profile random-4k-read"
        }
        false => "the plan has no profile, or neither queue depths (`queue_depth`) nor steps",
    };
    Err(ResolveError::Empty(why.to_owned()))
}

/// Limits of a search, which needs one profile in a closed loop on each target.
fn answer(file: &PlanFile, points: &[Point]) -> Result<Vec<Limit>, ResolveError> {
    let is_plain = file.steps.is_empty()
        && file.staircase.is_none()
        && file.bandwidth.is_none()
        && file.comparison.is_none()
        && file.targets == TargetsSpec::InTurn
        && points
            .iter()
            .all(|point| point.arrivals == Arrivals::Closed && point.profile == points[0].profile);
    let what = if file.answer.iter().any(|limit| limit.statistic == Statistic::Mean) {
        "answer: needs a limit of a percentile, for example p99.9=1ms"
    } else if !file.answer.is_empty() && !is_plain {
        "answer: the plan must have one load profile without `arrivals`, and queue depths. Choose \
         one load profile with --profile"
    } else {
        return Ok(file.answer.clone());
    };
    Err(ResolveError::Value { profile: file.name.clone(), what: what.to_owned() })
}

fn answer_within(file: &PlanFile, choices: &Choices) -> u64 {
    let within = choices.within.or(file.answer_within).unwrap_or(ANSWER_WITHIN);
    if file.answer.is_empty() { 0 } else { within.0 }
}

/// The requirements, each of which names a profile and one limit.
fn requirements(file: &PlanFile) -> Result<Vec<Requirement>, ResolveError> {
    for Requirement { profile, at_most, at_least, part, .. } in &file.requirements {
        let own = file.own_profiles.iter().map(|own| &own.name);
        let wrong = if !own.chain(&file.profiles).any(|name| name == profile) {
            "a requirement names a profile that the plan does not have"
        } else if at_most.is_some() == at_least.is_some() {
            "a requirement needs one limit: at_most (a latency) or at_least (IOPS)"
        } else if at_least.is_some_and(|rate| !(rate > 0.0 && rate <= 1e12)) {
            "at_least must be a rate in IOPS, above 0"
        } else if at_least.is_some() && *part != Part::Operation {
            "at_least counts whole operations: remove `part`"
        } else {
            continue;
        };
        return Err(ResolveError::Value { profile: profile.clone(), what: wrong.to_owned() });
    }
    Ok(file.requirements.clone())
}

/// Checks that the names of files do not lead out of the target's directory.
fn file_names(file: &PlanFile) -> Result<(), ResolveError> {
    let wrong = |what| Err(ResolveError::Value { profile: file.name.clone(), what });
    let named = !file.file_names.is_empty() || !file.file_suffix.is_empty();
    if file.files.is_none() && (file.keep_files || named) {
        let what = "`file_names`, `file_suffix` and `keep_files` need `files`";
        return wrong(format!("{what}, which is missing"));
    }
    if file.file_suffix.contains(['/', '\0']) {
        return wrong(format!("`{}` in `file_suffix` must not contain a `/`", file.file_suffix));
    }
    let is_name =
        |name: &&String| !matches!(name.as_str(), "" | "." | "..") && !name.contains(['/', '\0']);
    match file.file_names.iter().find(|name| !is_name(name)) {
        Some(path) => wrong(format!("`{path}` in `file_names` is not a valid file name")),
        None => Ok(()),
    }
}

/// Lengthens groups that wait for samples: they may last forty times as long.
fn lengthen(points: &mut [Point]) {
    for group in points.chunk_by_mut(|a, b| a.group == b.group) {
        if group.iter().any(|point| point.stop.samples.is_some()) {
            let longest = group.iter().map(|point| point.stop.duration_ns).max().unwrap_or(0);
            for point in group {
                point.stop.duration_ns = longest.saturating_mul(LENGTHENED_MAX);
            }
        }
    }
}

/// Checks that loads on a target at the same time agree in `direct`, since they share its
/// descriptor.
fn one_way_past_the_cache(points: &[Point]) -> Result<(), ResolveError> {
    for group in points.chunk_by(|a, b| a.group == b.group) {
        for (index, point) in group.iter().enumerate() {
            let other = group[..index]
                .iter()
                .find(|other| other.target == point.target && other.direct != point.direct);
            if let Some(other) = other {
                return Err(ResolveError::Direct(other.profile.clone(), point.profile.clone()));
            }
        }
    }
    Ok(())
}
