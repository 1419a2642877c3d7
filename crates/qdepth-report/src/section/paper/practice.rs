//! Best practice: limits of the results on this machine, and what to change. Derived from findings
//! and from facts of the machine.

use std::collections::BTreeMap;

use qdepth_measure::Code;

use crate::document::{Block, Fact};
use crate::number;
use crate::section::explain::why::{Cause, Resource, cause};
use crate::section::naming::names;
use crate::view::{Load, View};
use crate::words::{fill_in, finding_text};

/// Findings about a limit that can be removed.
const REMOVABLE: [Code; 17] = [
    Code::GeneratorCeiling,
    Code::GeneratorCpu,
    Code::EngineFallback,
    Code::EngineFeature,
    Code::Steal,
    Code::Pressure,
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
/// Share of the link's practical limit from which the link is the limit.
const NEAR_LINK: f64 = 0.9;

/// Recommended changes.
pub(crate) fn practice(view: &View<'_>) -> Vec<Block> {
    let words = view.words.paper.practice;
    let changes: Vec<Fact> = surroundings(view)
        .into_iter()
        .chain(links(view))
        .chain(processes(view))
        .chain(found(view))
        .collect();
    if changes.is_empty() {
        vec![Block::Paragraph(words.nothing.to_owned())]
    } else {
        vec![Block::Paragraph(words.changes.to_owned()), Block::Facts(changes)]
    }
}

fn fact(name: impl Into<String>, value: impl Into<String>) -> Fact {
    Fact { name: name.into(), value: value.into(), literal: false }
}

/// Machine settings that cost performance or stability.
fn surroundings(view: &View<'_>) -> Vec<Fact> {
    let words = view.words.paper.practice;
    let read = |subject: &str, key: &str| {
        let seen = view.run.environment.iter().find(|o| o.subject == subject && o.key == key);
        seen.and_then(|seen| seen.value.as_ref().ok())
    };
    let [governor, clock, hypervisor] = words.machine;
    let remark = |[name, text]: [&str; 2], value: &str| {
        fact(name, fill_in(text, &[("value", value.to_owned())]))
    };
    let mut all = Vec::new();
    // In virtual time the machine does not affect the results.
    if view.run.emulated {
        return all;
    }
    all.extend(
        read("cpu", "governor").filter(|v| *v != "performance").map(|v| remark(governor, v)),
    );
    all.extend(
        read("kernel", "clock_source")
            .filter(|v| *v != "tsc" && *v != "arch_sys_counter")
            .map(|v| remark(clock, v)),
    );
    all.extend(read("host", "hypervisor").map(|v| remark(hypervisor, v)));
    all
}

/// Links whose limit the largest throughput comes close to, unless something else limits it.
fn links(view: &View<'_>) -> Vec<Fact> {
    let words = view.words.paper.practice;
    let link = |target: &qdepth_record::TargetRecord| {
        let limit = crate::section::promised::link_limit(target)?;
        let of_target =
            view.points().filter(|(_, p)| p.record.target == target.index && p.is_valid());
        let largest = of_target.map(|(load, p)| (load, p.mib_per_s.value));
        let (load, largest) = largest.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let other = cause(view, load, target.index);
        if other.is_some_and(|cause| !matches!(cause, Cause::Connection(_))) {
            return None;
        }
        let values = [
            ("target", target.name.clone()),
            ("value", number::three_digits(largest)),
            ("limit", number::three_digits(limit)),
        ];
        let [name, text] = words.link;
        (largest >= NEAR_LINK * limit).then(|| fact(name, fill_in(text, &values)))
    };
    // Columns of a comparison are not targets.
    let targets = view.run.targets.iter().filter(|_| view.compared.is_none());
    targets.filter_map(link).collect()
}

/// The process that issues the I/Os, with the loads that it limits.
fn processes(view: &View<'_>) -> Option<Fact> {
    let words = view.words.explain;
    let limit = |cause: Cause| matches!(cause, Cause::Resource(Resource::Process, _));
    let limits = |load: &&Load<'_>| {
        view.targets.iter().any(|target| cause(view, load, *target).is_some_and(limit))
    };
    let loads: Vec<String> = view.swept().filter(limits).map(|load| load.title.clone()).collect();
    let name = words.limits[Cause::Resource(Resource::Process, 0.0).kind()];
    let first = name.chars().next().filter(|_| !loads.is_empty())?;
    let name = format!("{}{}", first.to_uppercase(), &name[first.len_utf8()..]);
    Some(fact(name, fill_in(words.more_processes, &[("loads", names(view, loads))])))
}

/// Findings with a remedy, each kind once, with its advice.
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
