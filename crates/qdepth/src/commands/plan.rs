//! `qdepth plan`: shows what a run would do, without touching any target.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use jiff::Timestamp;
use qdepth_host::environment::health::rated_bytes;
use qdepth_host::guard::{Verdict, Verdicts, Writing, open_to_consent, review};
use qdepth_host::measurement_file::{self, Wanted};
use qdepth_host::own_files;
use qdepth_host::system::System;
use qdepth_host::target::{Inspected, Kind};
use qdepth_measure::{Bytes, EarlyEnd, Nanos, Tolerance};
use qdepth_media::is_emulated;
use qdepth_report::{Lang, reason_text};
use qdepth_workload::{Plan, Point, STEADY_ROUNDS, Stop, WrittenTargets, needs_writing};

use qdepth_foreign::fio::as_fio;

use crate::commands::catalogue;
use crate::exit_status::Status;
use crate::flags::PlanOptions;
use crate::screen::{VIRTUAL, counted};
use crate::terminal::{print, print_raw};
use qdepth_lab::execute::drive_tree::{in_tree_order, places};
use qdepth_lab::execute::precondition;
use qdepth_lab::failure::Usage;
use qdepth_lab::request::provision::{Provision, is_written};
use qdepth_lab::request::words::format_duration;
use qdepth_lab::request::{ConsentWords, PlanRequest};
use qdepth_lab::target::consent::consent_previewed;
use qdepth_lab::target::preparation;
use qdepth_lab::target::prepare::ResolvedTarget;
use qdepth_lab::target::preview::{Preview, preview};

pub(crate) fn plan(options: &PlanOptions) -> Result<Status> {
    if let Some(name) = &options.show {
        return catalogue::shown(name);
    }
    let Some(asked) = options.run.request()?.plan else {
        let what = "--resume uses the plan of the interrupted run; `qdepth export` prints it";
        return Err(Usage(what.to_owned()).into());
    };
    let variants = asked.variants()?;
    if variants.is_empty() {
        return print_plan(&asked, options);
    }
    if options.run.json || options.as_fio {
        let what = "the plans of variants are complete only after each was prepared. Remove --json \
                    and --as-fio";
        return Err(Usage(what.to_owned()).into());
    }
    let mut worst = Status::Valid;
    for (variant, asked) in asked.file.variants.iter().zip(&variants) {
        print(&format!("variant {}, on {}", variant.name, variant.target))?;
        if print_plan(asked, options)? == Status::Refused {
            worst = Status::Refused;
        }
        print("")?;
    }
    Ok(worst)
}

/// Prints the plan of a run or of one of its variants.
fn print_plan(asked: &PlanRequest, options: &PlanOptions) -> Result<Status> {
    let system = System::real();
    let asked = &in_tree_order(&system, asked);
    let steps = preparation::steps(asked)?;
    let made_first = !steps.is_empty() && !options.as_fio && !options.run.json;
    if made_first {
        print("before the first point, undone after the last:")?;
        print(&preparation::shown(&steps).join("\n"))?;
        print("")?;
    }
    if made_first && asked.targets.iter().any(|target| is_missing(target)) {
        print("the targets are created by the preparation, so their points are not known yet")?;
        return Ok(Status::Valid);
    }
    let Preview { plan, found, provision, .. } = preview(&system, asked)?;
    if options.as_fio {
        let names: Vec<String> =
            asked.targets.iter().map(|target| target.display().to_string()).collect();
        print_raw(as_fio(&plan, &names).trim_end())?;
        return Ok(Status::Valid);
    }
    if options.run.json {
        print_raw(&plan.text())?;
        return Ok(Status::Valid);
    }
    let writes = needs_writing(&asked.file, &asked.choices)?;
    let consent = options.run.consent.words();
    let targets = Targets { found: &found, expressions: &asked.targets, provision, writes };
    let (text, refused) = describe(&system, &plan, &targets, &consent)?;
    print(&text)?;
    Ok(if refused { Status::Refused } else { Status::Valid })
}

fn is_missing(target: &Path) -> bool {
    !target.to_str().is_some_and(is_emulated) && !target.exists()
}

/// Targets of a plan.
struct Targets<'a> {
    found: &'a [ResolvedTarget],
    expressions: &'a [PathBuf],
    provision: Provision,
    writes: WrittenTargets,
}

fn heading(plan: &Plan, targets: &[ResolvedTarget]) -> String {
    let within = (!plan.answer.is_empty()).then_some(plan.answer_within_ns);
    let search = within.map(|ns| format!(", then a search of at most {}", format_duration(ns)));
    format!(
        "plan {} ({}), seed {}: {}, {}{}{}{}{}",
        plan.name,
        &plan.hash()[..12],
        plan.seed,
        counted(plan.points.len()),
        if plan.may_end_early() { "at most " } else { "" },
        format_duration(plan.duration_ns()),
        match targets.iter().any(|target| target.real().is_none()) {
            true => VIRTUAL,
            false => " and the time to fill measurement files",
        },
        if plan.precondition.is_empty() { "" } else { " and to precondition" },
        search.unwrap_or_default(),
    )
}

/// Effects of the plan on each target, and the guards' verdicts; true if one refuses.
fn describe(
    system: &System,
    plan: &Plan,
    Targets { found: targets, expressions, provision, writes }: &Targets<'_>,
    consent: &ConsentWords,
) -> Result<(String, bool)> {
    let mut refused = false;
    let mut lines = vec![heading(plan, targets)];
    let now = Timestamp::now();
    // Bytes already claimed on each file system by earlier targets.
    let mut promised: BTreeMap<u64, u64> = BTreeMap::new();
    let all = by_target(&plan.points, targets.len());
    let first = by_target(&plan.precondition, targets.len());
    let places = places(system, plan, targets);
    let makes_files = plan.points.iter().any(|point| point.layout.makes_files());
    for (index, (target, expression)) in targets.iter().zip(*expressions).enumerate() {
        let (all, first) = (&all[index], &first[index]);
        let ResolvedTarget::Real(target) = target else {
            lines.extend(emulated(plan, expression, all));
            continue;
        };
        let writes = is_written(writes, index, target);
        let makes_file = match target.kind {
            Kind::Directory(_) => true,
            Kind::RegularFile { size_bytes, .. } => writes && size_bytes == 0,
            Kind::BlockDevice(_) => false,
        };
        let (verdicts, fills) = if makes_file {
            let taken = promised.get(&target.file_system()).copied().unwrap_or(0);
            match provision {
                Provision::OwnFiles(files) => {
                    let wanted = own_files::Wanted {
                        size_bytes: files.bytes,
                        run_id: "",
                        naming: files.naming(index, targets.len()),
                        writes,
                        keep: false,
                    };
                    (own_files::review(system, target, &wanted, taken)?, files.bytes)
                }
                Provision::MeasurementFile(size_bytes) => {
                    let size_bytes = *size_bytes;
                    let wanted = Wanted { size_bytes, run_id: "", now, keep: false, direct: true };
                    measurement_file::review(system, target, &wanted, taken)?
                }
            }
        } else {
            let writing = Writing { run_id: "", now, results_dir: Path::new("."), direct: true };
            // If consent cannot help, the guards report the reason themselves.
            let consent = if writes && open_to_consent(system, target, &writing).is_ok() {
                consent_previewed(system, target, consent)?
            } else {
                None
            };
            (review(system, target, consent.as_ref(), writes.then_some(&writing)), 0)
        };
        *promised.entry(target.file_system()).or_default() += fills;
        lines.push(String::new());
        lines.push(format!("target {}: {}", target.expression.display(), kind(target)));
        lines.extend(places[index].as_ref().map(|place| format!("  place      {place}")));
        let fills = FillWrites { bytes: fills, makes_file, makes_files };
        lines.push(format!("  writes     {}", describe_writes(all, first, target, fills)));
        let known = fills.bytes.saturating_add(Point::bytes_together(first.iter().copied()));
        lines.push(format!("  endurance  {}", endurance(system, target, writes, known)));
        lines.extend(guards(&verdicts));
        refused |= verdicts.iter().any(|(_, verdict)| matches!(verdict, Verdict::Refuses(_)));
        lines.extend(points(all));
    }
    Ok((lines.join("\n"), refused))
}

fn emulated(plan: &Plan, expression: &Path, all: &[&Point]) -> Vec<String> {
    let expression = expression.display();
    let mut lines = vec![
        String::new(),
        format!("target {expression}: EMULATED: virtual time, no device or file is used"),
    ];
    if let Some(wear) = plan.wear() {
        lines.push(format!("  {:<10} without writing", wear.name()));
        let rounds = plan.precondition.iter().find(|point| point.stop.until_steady.is_some());
        lines.extend(rounds.map(|point| format!("  then       {}", precondition::describe(point))));
    }
    lines.extend(points(all));
    lines
}

/// Points of each target, grouped once: the description of one target must not search all points.
fn by_target<'a>(
    points: impl IntoIterator<Item = &'a Point>,
    targets: usize,
) -> Vec<Vec<&'a Point>> {
    let mut all = vec![Vec::new(); targets];
    for point in points {
        // The target exists in every valid plan.
        if let Some(of_target) = all.get_mut(point.target as usize) {
            of_target.push(point);
        }
    }
    all
}

/// Writes that fill a target before the measurement.
#[derive(Clone, Copy)]
struct FillWrites {
    bytes: u64,
    makes_file: bool,
    /// True if points make files of their own.
    makes_files: bool,
}

fn kind(target: &Inspected) -> String {
    match &target.kind {
        Kind::Directory(fs) => format!("directory on {}", fs.kind),
        Kind::RegularFile { size_bytes, .. } => format!("file of {}", Bytes(*size_bytes)),
        Kind::BlockDevice(device) => format!(
            "block device, {}, serial {}, {}",
            device.model.as_deref().unwrap_or("model unknown"),
            device.identity.serial.as_deref().unwrap_or("unknown"),
            Bytes(device.identity.size_bytes).for_people()
        ),
    }
}

/// Describes the writes to a target: exact bytes for filling, and the most that the link can carry
/// for writes of unknown rate.
fn describe_writes(
    all: &[&Point],
    first: &[&Point],
    target: &Inspected,
    fills: FillWrites,
) -> String {
    let mut parts = Vec::new();
    match (fills.makes_file, fills.bytes) {
        (true, 0) => parts.push("nothing to fill: a complete measurement file exists".to_owned()),
        (true, _) if fills.makes_files => {}
        (true, bytes) => {
            parts.push(format!("{} to fill the measurement file", Bytes(bytes).for_people()));
        }
        (false, _) => {}
    }
    if !first.is_empty() {
        let bytes = Bytes(Point::bytes_together(first.iter().copied()));
        let in_rounds = first.iter().any(|point| point.stop.until_steady.is_some());
        let rounds = if in_rounds { ", plus the writes of its rounds" } else { "" };
        let first: Vec<String> = first.iter().map(|point| precondition::describe(point)).collect();
        parts.push(format!("{bytes}{rounds} to precondition it ({})", first.join(", then ")));
    }
    let writing: Vec<_> = all.iter().filter(|point| point.writes()).collect();
    let ns: u64 =
        writing.iter().map(|point| point.total_warm_up_ns() + point.stop.duration_ns).sum();
    if writing.is_empty() {
        parts.push("no point writes".to_owned());
    } else if writing.iter().all(|point| point.bytes_of_streams() > 0) {
        let bytes = Bytes(Point::bytes_together(writing.iter().map(|point| **point)));
        parts.push(format!("{bytes} in {} of {} points", writing.len(), all.len()));
    } else {
        let link = target.block_device().and_then(|device| device.link.as_ref());
        let most = link.map_or_else(
            || "at full speed, so the amount is unknown in advance".to_owned(),
            |link| {
                let bytes = link.practical_bytes_per_s * ns as f64 / 1e9;
                format!("at most {:.3} TB, the limit of its {}", bytes / 1e12, link.description)
            },
        );
        parts.push(format!(
            "writes for {} in {} of {} points, {most}",
            format_duration(ns),
            writing.len(),
            all.len()
        ));
    }
    parts.join("; then ")
}

/// Describes the share of the drive's endurance that filling and preconditioning use up.
fn endurance(system: &System, target: &Inspected, writes: bool, known: u64) -> String {
    if known == 0 && !writes {
        return "not used".to_owned();
    }
    let devices = target.devices();
    let [device] = devices.as_slice() else {
        return "unknown: the target is not on exactly one device".to_owned();
    };
    match rated_bytes(system, device) {
        Ok(rated) => format!(
            "about {:.1} PB by the drive's own count. The writes before the first point use {:.5} \
             % of it, each further TB uses {:.3} %",
            rated / 1e15,
            known as f64 / rated * 100.0,
            1e12 / rated * 100.0
        ),
        Err(why) => format!("unknown: {}", reason_text(&why, Lang::En)),
    }
}

fn guards(verdicts: &Verdicts) -> Vec<String> {
    let named = |wanted: fn(&Verdict) -> bool| -> String {
        let names = verdicts.iter().filter(|(_, verdict)| wanted(verdict));
        names.map(|(guard, _)| guard.to_string()).collect::<Vec<_>>().join(" ")
    };
    let mut lines = Vec::new();
    for (guard, verdict) in verdicts {
        if let Verdict::Refuses(refusal) = verdict {
            let remedy = refusal.remedy.lines().next().unwrap_or_default();
            lines.push(format!("{guard} refuses: {}. {remedy}", refusal.found));
        }
    }
    for (names, what) in [
        (named(|verdict| *verdict == Verdict::Passes), "pass"),
        (named(|verdict| *verdict == Verdict::NotAsked), "not checked, because another refuses"),
    ] {
        if !names.is_empty() {
            lines.push(format!("{names} {what}"));
        }
    }
    let head = |index: usize| if index == 0 { "  guards     " } else { "             " };
    lines.iter().enumerate().map(|(index, line)| format!("{}{line}", head(index))).collect()
}

/// One line for each profile, with its queue depths.
fn points(all: &[&Point]) -> Vec<String> {
    let mut lines: Vec<(String, Vec<u32>)> = Vec::new();
    for point in all {
        let (what, intensity) = (load(point), intensity(point));
        match lines.iter_mut().find(|(line, _)| *line == what) {
            Some((_, listed)) if listed.last() == Some(&intensity) => {}
            Some((_, listed)) => listed.push(intensity),
            None => lines.push((what, vec![intensity])),
        }
    }
    let line = |(what, listed): (String, Vec<u32>)| {
        let listed: Vec<String> = listed.iter().map(u32::to_string).collect();
        format!("  {what} {}", listed.join(", "))
    };
    lines.into_iter().map(line).collect()
}

/// Value of the varied quantity: the queue depth, or the number of threads if each thread moves a
/// fixed number of bytes.
fn intensity(point: &Point) -> u32 {
    if point.stop.bytes_per_stream > 0 { point.streams } else { point.queue_depth }
}

fn load(point: &Point) -> String {
    if point.stop.bytes_per_stream > 0 {
        return format!(
            "{:<14} {:>3.0} % read, {}, each thread {}, at most {}; threads",
            point.profile_title,
            point.read_share * 100.0,
            point.block_size.text(),
            Bytes(point.stop.bytes_per_stream),
            Nanos(point.stop.duration_ns),
        );
    }
    format!(
        "{:<14} {:>3.0} % random, {:>3.0} % read, {}{}, {} over {} at offset {}; QD",
        point.profile_title,
        point.random_share * 100.0,
        point.read_share * 100.0,
        match point.trims() {
            true => format!("{:>3.0} % trim, ", point.trim_share * 100.0),
            false => String::new(),
        },
        point.block_size.text(),
        time(&point.stop),
        Bytes(point.area.length_bytes),
        Bytes(point.area.offset_bytes),
    )
}

/// Formatted length of a point's window.
fn time(stop: &Stop) -> String {
    let duration = Nanos(stop.duration_ns);
    if let Some(rule) = stop.steady {
        let until = EarlyEnd::Steady(rule);
        return format!("until {until}, at most {duration} in {STEADY_ROUNDS} rounds,");
    }
    match stop.until.and_then(|until| Tolerance::from_share(until.share)) {
        Some(tolerance) => format!("until {tolerance}, at most {duration},"),
        None if stop.interleaved_segments > 1 => {
            format!("{duration} in {} interleaved segments", stop.interleaved_segments)
        }
        None => duration.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use qdepth_workload::{Choices, PlanFile, TargetShape, resolve};

    use super::*;

    #[test]
    fn each_point_is_checked_once_for_all_targets() {
        let file: PlanFile = qdepth_workload::shipped_plan_text("quick").unwrap().parse().unwrap();
        let whole = qdepth_workload::Extent { offset_bytes: 0, length_bytes: 1 << 40 };
        let looks = |targets: usize| {
            let shapes = vec![TargetShape::whole(whole, 512); targets];
            let plan = resolve(&file, &Choices::default(), &shapes).unwrap();
            let looks = Cell::new(0);
            let counted = plan.points.iter().inspect(|_| looks.set(looks.get() + 1));
            let all = by_target(counted, targets);
            let listed: usize = all.iter().map(|points| points.len()).sum();
            assert!(all.iter().all(|of_target| of_target.len() * targets == listed));
            (looks.get(), listed)
        };
        let (few, many) = (looks(10), looks(1000));
        assert_eq!(few.0 * 100, many.0);
        assert_eq!(few.1 * 100, many.1);
    }
}
