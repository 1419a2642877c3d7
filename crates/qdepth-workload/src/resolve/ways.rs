//! The targets, processes or areas that each column of a comparison puts under load.

use std::str::FromStr;

use qdepth_measure::Bytes;

use super::choices::{Choices, TargetShape};
use super::error::ResolveError;
use crate::comparison::{Compared, Comparison, ComparisonSpec, Role, Variant};
use crate::layout::Extent;
use crate::profile::{PlanFile, TargetsSpec};

/// Processes begin at whole multiples of this, as partitions do.
const PARTITION_ALIGNMENT: u64 = 1 << 20;
/// Maximum number of processes of a variant: each has its own thread.
const PROCESSES_MAX: u32 = 64;
/// Maximum number of drives that are added one by one: n drives need n² / 2 points.
const ADDED_MAX: usize = 128;

/// Destinations on which the loads of a step run at the same time; in a comparison, those of one
/// variant.
pub(crate) type Way = Vec<Destination>;

/// A target or a part of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Destination {
    /// Index of the target.
    pub(crate) target: usize,
    /// Part of it that may be accessed.
    pub(crate) shape: TargetShape,
    /// Factor from the written queue depth of a load to the one on this destination.
    pub(crate) times: u32,
    /// Area that the variant sets, if it sets one.
    pub(crate) area: Option<String>,
}

impl Destination {
    pub(crate) fn on(target: usize, shape: &TargetShape) -> Self {
        Self { target, shape: *shape, times: 1, area: None }
    }
}

/// The comparison of a plan and the ways of its variants; without a comparison, the ways in which
/// the file measures its targets.
pub(crate) fn ways(
    file: &PlanFile,
    choices: &Choices,
    targets: &[TargetShape],
) -> Result<(Option<Comparison>, Vec<Way>), ResolveError> {
    let on = |(target, shape)| Destination::on(target, shape);
    let destinations = || targets.iter().enumerate().map(on);
    let Some(spec) = &file.comparison else {
        nothing_to_compare(file, choices)?;
        let ways = match file.targets {
            TargetsSpec::Together => vec![destinations().collect()],
            TargetsSpec::InTurn => destinations().map(|only| vec![only]).collect(),
        };
        return Ok((None, ways));
    };
    if !file.steps.is_empty() || file.staircase.is_some() {
        return Err(bad(
            "a comparison needs profiles at queue depths (`queue_depth`), without steps",
        ));
    }
    if choices.processes.is_some() && spec.of != Compared::Processes {
        return Err(bad(format!(
            "--processes needs a plan that compares numbers of processes, and `{}` does not: use \
             the plan `processes`",
            file.name
        )));
    }
    let all: Vec<Destination> = destinations().collect();
    let columns = match spec.of {
        Compared::Drives => drives(choices, &all)?,
        Compared::Targets | Compared::CpuSettings => {
            let column =
                |destination: Destination| variant(Role::Variant, String::new(), vec![destination]);
            all.into_iter().map(column).collect()
        }
        Compared::Processes => processes(spec, choices, &all)?,
        Compared::Areas => areas(spec, choices, &all)?,
        Compared::Saturation => added(choices, &all)?,
    };
    let (mut variants, ways): (Vec<Variant>, Vec<Way>) = columns.into_iter().unzip();
    name(&mut variants, choices.variants.as_deref())?;
    // A matrix of options is readable with one column, and ratios may be to published drives.
    let needs_two = spec.of == Compared::Targets && !spec.shaded && !spec.base_above;
    if needs_two && variants.len() + choices.published.len() < 2 {
        return Err(bad(format!(
            "one target is named, and `{}` compares the first target with others: add them, for \
             example `'raid0(media:NAME*2)'` or /dev/md0",
            file.name
        )));
    }
    let comparison = comparison(file, choices, variants)?;
    Ok((Some(comparison), ways))
}

pub(crate) fn bad(what: impl Into<String>) -> ResolveError {
    ResolveError::Comparison(what.into())
}

/// Comparison of these variants, as the file and the command line want it.
pub(crate) fn comparison(
    file: &PlanFile,
    choices: &Choices,
    variants: Vec<Variant>,
) -> Result<Comparison, ResolveError> {
    let spec = file.comparison.as_ref();
    Ok(Comparison {
        of: spec.map_or(Compared::Targets, |spec| spec.of),
        base: base(&variants, choices.base.as_deref())?,
        variants,
        base_above: spec.is_some_and(|spec| spec.base_above),
        shaded: spec.is_some_and(|spec| spec.shaded),
        latency_profiles: file.latency_profiles.clone(),
        published: choices.published.clone(),
    })
}

/// Choices that only a comparison can follow.
fn nothing_to_compare(file: &PlanFile, choices: &Choices) -> Result<(), ResolveError> {
    let asked = [
        (choices.variants.is_some(), "--variants"),
        (choices.base.is_some(), "--base"),
        (choices.processes.is_some(), "--processes"),
        (choices.arrays > 0, "--array"),
        (!choices.published.is_empty(), "a published drive"),
    ];
    match asked.iter().find(|(asked, _)| *asked) {
        Some((_, what)) => Err(bad(format!(
            "{what} needs a plan with a comparison, and `{}` has none. Use devices, arrays, \
             processes, area, options, frequency or media-comparison",
            file.name
        ))),
        None => Ok(()),
    }
}

fn variant(role: Role, name: String, destinations: Way) -> (Variant, Way) {
    let (target, times) = destinations.first().map_or((0, 1), |p| (p.target as u32, p.times));
    let (parts, prepare) = (destinations.len() as u32, Vec::new());
    (Variant { name, role, parts, times, target, prepare }, destinations)
}

type Columns = Vec<(Variant, Way)>;

/// Variants of drives: the first alone, all at once, then each array with the queue depth of all
/// drives together.
fn drives(choices: &Choices, all: &[Destination]) -> Result<Columns, ResolveError> {
    let (drives, arrays) = all.split_at(all.len().saturating_sub(choices.arrays));
    let [first, _, ..] = drives else {
        return Err(bad(format!(
            "{} named, but a comparison needs at least two: name each drive as a target \
             (`media:NAME*4` is four emulated drives)",
            if drives.len() == 1 { "one drive is" } else { "no drive is" }
        )));
    };
    let mut columns = vec![
        variant(Role::Single, String::new(), vec![first.clone()]),
        variant(Role::Together, String::new(), drives.to_vec()),
    ];
    columns.extend(arrays.iter().map(|array| {
        let array = Destination { times: drives.len() as u32, ..array.clone() };
        variant(Role::Array, String::new(), vec![array])
    }));
    Ok(columns)
}

/// Each drive alone, for its own rate; then the first two, the first three, up to all.
fn added(choices: &Choices, all: &[Destination]) -> Result<Columns, ResolveError> {
    let unused = [
        (choices.arrays > 0, "--array"),
        (choices.base.is_some(), "--base"),
        (choices.variants.is_some(), "--variants"),
        (!choices.published.is_empty(), "a published drive"),
    ];
    if let Some((_, what)) = unused.iter().find(|(asked, _)| *asked) {
        return Err(bad(format!("{what} applies to other comparisons: remove it")));
    }
    if all.len() > ADDED_MAX {
        return Err(bad(format!(
            "{} drives are named: at most {ADDED_MAX} can be added one by one",
            all.len()
        )));
    }
    let alone = all.iter().map(|drive| (Role::Variant, vec![drive.clone()]));
    let together = (2..=all.len()).map(|count| (Role::Together, all[..count].to_vec()));
    Ok(alone.chain(together).map(|(role, way)| variant(role, String::new(), way)).collect())
}

/// A variant for each number of processes. Each process has its own part of the target.
fn processes(
    spec: &ComparisonSpec,
    choices: &Choices,
    all: &[Destination],
) -> Result<Columns, ResolveError> {
    let destination = only(all, "processes")?;
    let counts = choices.processes.as_ref().unwrap_or(&spec.processes);
    if counts.len() < 2 {
        return Err(bad(
            "a comparison needs at least two numbers of processes: use for example --processes 1,4",
        ));
    }
    let column = |count: &u32| {
        if *count == 0 || *count > PROCESSES_MAX {
            return Err(bad(format!("{count} processes: must be between 1 and {PROCESSES_MAX}")));
        }
        let parts = (0..*count).map(|part| part_of(destination, part, *count)).collect();
        Ok(variant(Role::Variant, count.to_string(), parts))
    };
    counts.iter().map(column).collect()
}

fn part_of(destination: &Destination, part: u32, count: u32) -> Destination {
    let usable = destination.shape.usable;
    let each = usable.length_bytes / u64::from(count);
    let length_bytes = if count == 1 { each } else { each - each % PARTITION_ALIGNMENT };
    let offset_bytes = usable.offset_bytes + u64::from(part) * length_bytes;
    let shape = TargetShape { usable: Extent { offset_bytes, length_bytes }, ..destination.shape };
    Destination { shape, ..destination.clone() }
}

fn areas(
    spec: &ComparisonSpec,
    choices: &Choices,
    all: &[Destination],
) -> Result<Columns, ResolveError> {
    let destination = only(all, "areas")?;
    if choices.area.is_some() {
        return Err(bad("the plan defines the areas that it compares: remove --area"));
    }
    let column = |area: &String| {
        let area = &of_file(area, destination, choices);
        let destination = Destination { area: Some(area.clone()), ..destination.clone() };
        let name = Bytes::from_str(area).map_or_else(|_| area.clone(), |bytes| bytes.to_string());
        variant(Role::Variant, name, vec![destination])
    };
    if spec.areas.len() < 2 {
        return Err(bad(
            "a comparison needs at least two areas: use for example areas = [\"32GiB\", \"full\"]",
        ));
    }
    Ok(spec.areas.iter().map(column).collect())
}

/// Area of a comparison, or half of the file if its size was chosen and it could not hold twice the
/// area.
fn of_file(area: &str, destination: &Destination, choices: &Choices) -> String {
    let usable = destination.shape.usable.length_bytes;
    let is_large = |bytes: Bytes| bytes.0.saturating_mul(2) > usable;
    let chosen = choices.file_size.is_some();
    let too_large = chosen && Bytes::from_str(area).is_ok_and(is_large);
    if too_large { "50%".to_owned() } else { area.to_owned() }
}

fn only<'a>(all: &'a [Destination], columns: &str) -> Result<&'a Destination, ResolveError> {
    match all {
        [destination] if destination.shape.parts == 1 => Ok(destination),
        [_] => Err(bad(format!(
            "{columns} are compared on one drive, but this target already has several parts"
        ))),
        _ => Err(bad(format!("{columns} are compared on one target, but {} are named", all.len()))),
    }
}

/// Names that the user gave, one for each.
fn name(variants: &mut [Variant], names: Option<&[String]>) -> Result<(), ResolveError> {
    let Some(names) = names else { return Ok(()) };
    if names.len() != variants.len() {
        return Err(bad(format!(
            "--variants names {} variants, but there are {}: use one name for each, in the order \
             of the targets",
            names.len(),
            variants.len()
        )));
    }
    for (index, name) in names.iter().enumerate() {
        if name.trim().is_empty() || names[..index].contains(name) {
            return Err(bad(format!(
                "--variants: the name `{name}` must not be empty or used twice"
            )));
        }
        name.trim().clone_into(&mut variants[index].name);
    }
    Ok(())
}

/// Index of the baseline, given by its name or its number from 1.
fn base(variants: &[Variant], asked: Option<&str>) -> Result<u32, ResolveError> {
    let Some(asked) = asked else { return Ok(0) };
    let index = variants.iter().position(|variant| variant.name == asked);
    let number = asked.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    match index.or(number.filter(|number| *number < variants.len())) {
        Some(index) => Ok(index as u32),
        None => {
            let known: Vec<String> = (1..)
                .zip(variants)
                .map(|(number, variant)| match variant.name.as_str() {
                    "" => number.to_string(),
                    name => format!("{name} (or {number})"),
                })
                .collect();
            Err(bad(format!(
                "--base {asked}: there is no such variant; the variants are {}",
                known.join(", ")
            )))
        }
    }
}
