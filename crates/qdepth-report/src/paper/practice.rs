//! Best practice: what on this machine limits the result, and what to change. Drawn from findings,
//! from what was read of the machine, and from the figures themselves.

use std::collections::BTreeMap;

use qdepth_measure::Code;

use crate::claims;
use crate::document::{Block, Fact};
use crate::number;
use crate::view::{Load, View};
use crate::words::{finding_text, say};

/// Findings that name a limit which somebody can remove.
const REMOVABLE: [Code; 16] = [
    Code::GeneratorCeiling,
    Code::GeneratorCpu,
    Code::EngineFallback,
    Code::EngineFeature,
    Code::Steal,
    Code::ForeignIo,
    Code::KernelSawLess,
    Code::NotDirect,
    Code::Buffered,
    Code::SmallArea,
    Code::CompressiblePayload,
    Code::UnwrittenRead,
    Code::MediumStateUnknown,
    Code::DepthNotReached,
    Code::ClockDrift,
    Code::FarDrive,
];
/// Share of the link's practical limit from which the link is what limits.
const NEAR_LINK: f64 = 0.9;

/// Which load is worth its latency, then what to change.
pub(crate) fn practice(view: &View<'_>) -> Vec<Block> {
    let words = &view.words.paper.practice;
    let mut blocks = Vec::new();
    let loads: Vec<Fact> = view.swept().flat_map(|load| worthwhile(view, load)).collect();
    if !loads.is_empty() {
        blocks.push(Block::Paragraph(words.loads.to_owned()));
        blocks.push(Block::Facts(loads));
    }
    let changes: Vec<Fact> =
        surroundings(view).into_iter().chain(links(view)).chain(found(view)).collect();
    if changes.is_empty() {
        blocks.push(Block::Paragraph(words.nothing.to_owned()));
    } else {
        blocks.push(Block::Paragraph(words.changes.to_owned()));
        blocks.push(Block::Facts(changes));
    }
    blocks
}

fn fact(name: impl Into<String>, value: impl Into<String>) -> Fact {
    Fact { name: name.into(), value: value.into(), literal: false }
}

/// The lowest intensity that gives nearly all of the maximum, where it is below that of the
/// maximum: the intervals bear the share, and the mean latencies are those of both points.
fn worthwhile(view: &View<'_>, load: &Load<'_>) -> Vec<Fact> {
    let words = &view.words.paper.practice;
    let one = |target: &u32| {
        let enough = claims::enough(&claims::line(load, *target))?;
        let (point, top) = (load.at(*target, enough.outstanding)?, load.maximum(*target)?);
        let values = [
            view.per(),
            ("outstanding", number::count(enough.outstanding.into())),
            ("share", number::percent(enough.share)),
            ("latency", number::duration(point.latency().mean_ns?)),
            ("top", number::count(top.record.outstanding.into())),
            ("top_latency", number::duration(top.latency().mean_ns?)),
        ];
        let name = if view.compares() {
            format!("{}, {}", load.title, view.target_name(*target))
        } else {
            load.title.clone()
        };
        Some(fact(name, say(words.enough, &values)))
    };
    view.targets.iter().filter_map(one).collect()
}

/// What was read of the machine and is known to cost performance or its steadiness.
fn surroundings(view: &View<'_>) -> Vec<Fact> {
    let words = &view.words.paper.practice;
    let read = |subject: &str, key: &str| {
        let seen = view.run.environment.iter().find(|o| o.subject == subject && o.key == key);
        seen.and_then(|seen| seen.value.as_ref().ok())
    };
    let [governor, clock, hypervisor] = words.machine;
    let told = |[name, text]: [&str; 2], value: &str| {
        fact(name, say(text, &[("value", value.to_owned())]))
    };
    let mut all = Vec::new();
    // Time is invented in an emulation: the machine has no part in it.
    if view.run.emulated {
        return all;
    }
    all.extend(read("cpu", "governor").filter(|v| *v != "performance").map(|v| told(governor, v)));
    all.extend(
        read("kernel", "clock_source")
            .filter(|v| *v != "tsc" && *v != "arch_sys_counter")
            .map(|v| told(clock, v)),
    );
    all.extend(read("host", "hypervisor").map(|v| told(hypervisor, v)));
    all
}

/// Links that the largest throughput came near to.
fn links(view: &View<'_>) -> Vec<Fact> {
    let words = &view.words.paper.practice;
    let one = |target: &qdepth_logbook::record::TargetRecord| {
        let limit = super::media::link_limit(target)?;
        let of_target =
            view.points().filter(|(_, p)| p.record.target == target.index && p.is_valid());
        let largest = of_target.map(|(_, p)| p.mib_per_s.value).fold(0.0, f64::max);
        let values = [
            ("target", target.name.clone()),
            ("value", number::three_digits(largest)),
            ("limit", number::three_digits(limit)),
        ];
        let [name, text] = words.link;
        (largest >= NEAR_LINK * limit).then(|| fact(name, say(text, &values)))
    };
    // Columns of a comparison are no targets.
    let targets = view.run.targets.iter().filter(|_| view.compared.is_none());
    targets.filter_map(one).collect()
}

/// Findings that somebody can do something about, each kind once, with its advice.
fn found(view: &View<'_>) -> Vec<Fact> {
    let on_points = view.points().flat_map(|(_, point)| &point.record.findings);
    let mut kinds: BTreeMap<usize, Fact> = BTreeMap::new();
    for finding in view.run.findings.iter().chain(on_points) {
        let Some(rank) = REMOVABLE.iter().position(|code| *code == finding.code) else { continue };
        kinds.entry(rank).or_insert_with(|| {
            let text = finding_text(finding, view.lang);
            fact(text.title, text.advice)
        });
    }
    kinds.into_values().collect()
}
