//! Conclusions from the diagrams: the bottleneck and its consequence below each diagram, the
//! summary of a chapter, and the recommendation. Contains only claims that the confidence intervals
//! support.

mod recommendation;
#[cfg(test)]
mod tests;
pub(crate) mod why;

use crate::document::Block;
use crate::grouped::grouped;
use crate::number;
use crate::section::naming::{self, list};
use crate::section::sum_box::of_chapter;
use crate::section::sweep::statements::{CurvePoint, Enough, Tail, enough, lead, line_statements};
use crate::view::{Load, View};
use crate::words::{counted, fill_in};

pub(crate) use recommendation::recommendation;
use why::{Cause, Resource, cause};

/// Smallest lead that is a reason for a choice: price, capacity and endurance outweigh less.
const CHOICE: f64 = 0.03;

/// The sentences as one paragraph; `None` if there are none.
pub(crate) fn paragraph(view: &View<'_>, sentences: &[String]) -> Option<Block> {
    (!sentences.is_empty()).then(|| Block::Paragraph(sentences.join(view.words.gap)))
}

/// A curve: a load and a target with valid points.
#[derive(Clone, Copy)]
struct Curve<'v, 'a> {
    load: &'v Load<'a>,
    target: u32,
}

/// All curves of the sweeps.
fn curves<'v, 'a>(view: &'v View<'a>) -> Vec<Curve<'v, 'a>> {
    let of_load =
        |load: &'v Load<'a>| view.targets.iter().map(move |target| Curve { load, target: *target });
    let all = view.swept().flat_map(of_load);
    all.filter(|curve| curve.load.maximum(curve.target).is_some()).collect()
}

/// Name of a curve: the load, and the target if there are several.
fn name(view: &View<'_>, curve: Curve<'_, '_>) -> String {
    let Curve { load, target } = curve;
    if view.compares() {
        [load.title.clone(), view.target_name(target)].join(view.words.list[0])
    } else {
        load.title.clone()
    }
}

/// A sentence, preceded by its targets unless it applies to all.
fn on(view: &View<'_>, targets: Vec<String>, sentence: String) -> String {
    if targets.len() == view.targets.len() {
        return sentence;
    }
    let names = [("targets", naming::names(view, targets))];
    fill_in(view.words.explain.on, &names) + &sentence
}

/// Figures of causes of one kind, the lowest first.
fn figures(kind: usize, causes: &[Cause], view: &View<'_>) -> String {
    let figures = || causes.iter().map(|cause| cause.figure());
    let (low, high) = (figures().fold(f64::INFINITY, f64::min), figures().fold(0.0f64, f64::max));
    // A share is at most 1; the number of I/Os served at a time is a number.
    if kind != Cause::Servers(0.0).kind() {
        return number::percent((low * 100.0).floor().min(99.0) / 100.0);
    }
    let [low, high] = [low, high].map(number::three_digits);
    let values = [("low", low.clone()), ("high", high.clone())];
    if low == high { low } else { fill_in(view.words.explain.span, &values) }
}

/// The known causes on each target.
fn causes_of(view: &View<'_>, load: &Load<'_>) -> Vec<(u32, Cause)> {
    let found = |target: &u32| Some((*target, cause(view, load, *target)?));
    view.targets.iter().filter_map(found).collect()
}

/// States the bottleneck of the load: a sentence for each kind of cause. It is a short one if an
/// earlier load has the same kind, because neighbouring paragraphs would repeat each other.
pub(crate) fn of_load(view: &View<'_>, load: &Load<'_>) -> Vec<String> {
    let words = view.words.explain;
    let all = causes_of(view, load);
    let earlier = view.swept().take_while(|earlier| earlier.id != load.id);
    let earlier_kinds: Vec<usize> =
        earlier.flat_map(|load| causes_of(view, load)).map(|(_, cause)| cause.kind()).collect();
    let kind = |(kind, (first, again)): (usize, (&&'static str, &&'static str))| {
        let same = || all.iter().filter(move |(_, cause)| cause.kind() == kind);
        let targets: Vec<String> = same().map(|(target, _)| view.target_name(*target)).collect();
        let causes: Vec<Cause> = same().map(|(_, cause)| *cause).collect();
        let words = if earlier_kinds.contains(&kind) { again } else { first };
        let values = || [("figure", figures(kind, &causes, view)), ("load", load.title.clone())];
        (!causes.is_empty()).then(|| on(view, targets, fill_in(words, &values())))
    };
    words.causes.iter().zip(words.again.iter()).enumerate().filter_map(kind).collect()
}

/// States the curves that an emulated process limits instead of the storage; `None` for a search
/// for a rate, whose closed loop is not the answer.
pub(crate) fn process_limits(view: &View<'_>) -> Option<String> {
    if !view.answers.is_empty() {
        return None;
    }
    let is_limited = |curve: &Curve<'_, '_>| {
        let cause = cause(view, curve.load, curve.target);
        matches!(cause, Some(Cause::Resource(Resource::Process, _)))
    };
    let all = curves(view).into_iter().filter(is_limited).map(|curve| name(view, curve));
    let all: Vec<String> = all.collect();
    let items = [("items", naming::names(view, all.clone()))];
    (!all.is_empty()).then(|| fill_in(view.words.explain.by_process, &items))
}

/// Recommended queue depth: the sufficient one, else the beginning of the plateau.
fn knee(points: &[CurvePoint]) -> Option<Enough> {
    let plateau = || match line_statements(points)?.tail {
        Tail::Plateau(queue_depth, share) => Some(Enough { queue_depth, share: 1.0 - share }),
        Tail::Drops | Tail::Nothing => None,
    };
    enough(points).or_else(plateau)
}

/// The summary box below the diagrams of the sweeps.
pub(crate) fn of_diagrams(view: &View<'_>) -> Option<Block> {
    if curves(view).is_empty() {
        return None;
    }
    of_chapter(view, "diagrams", limited(view))
}

/// States the bottlenecks of the curves, the most frequent first, and the number of curves without
/// a known one.
fn limited(view: &View<'_>) -> Vec<String> {
    let words = view.words.explain;
    let curves = curves(view);
    let limit = |curve: &Curve<'_, '_>| cause(view, curve.load, curve.target);
    let known: Vec<(&Curve<'_, '_>, Cause)> =
        curves.iter().filter_map(|curve| Some((curve, limit(curve)?))).collect();
    if known.is_empty() {
        return vec![words.nothing_told.to_owned()];
    }
    let mut kinds = grouped(known.iter().map(|(curve, cause)| (cause.kind(), name(view, **curve))));
    kinds.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    let item = |(kind, names): (usize, Vec<String>)| {
        let many = || counted(words.cases, names.len());
        let location = if view.compares() { many() } else { naming::names(view, names.clone()) };
        fill_in(words.limited_by, &[("limit", words.limits[kind].to_owned()), ("where", location)])
    };
    let items = kinds.into_iter().map(item).collect();
    let mut sentences = vec![fill_in(words.limited, &[("items", list(view, items))])];
    let unknown = curves.len() - known.len();
    let values = [("n", unknown.to_string()), ("all", curves.len().to_string())];
    sentences.extend((unknown > 0).then(|| fill_in(words.not_told, &values)));
    sentences
}

/// Targets that are ahead (empty if none is), by which factor at least, and under which loads.
pub(super) type Lead<'v, 'a> = (Vec<u32>, f64, Vec<&'v Load<'a>>);

/// Loads grouped by the targets that are ahead, those without one last; empty for one target.
pub(super) fn by_lead<'v, 'a>(view: &'v View<'a>) -> Vec<Lead<'v, 'a>> {
    let mut all: Vec<Lead<'v, 'a>> = Vec::new();
    // If single drives are compared with several, the several are ahead, which is no reason to
    // choose them. Users do not choose the area of a load.
    let is_choice = |kind: &str| !["drives", "areas", "saturation"].contains(&kind);
    let choice = view.compared.is_none_or(|compared| is_choice(&compared.record.of));
    for load in view.swept().filter(|_| choice) {
        let Some((ahead, least)) = lead(view, load) else { continue };
        // A certain but small lead is no reason to choose.
        if least.is_some_and(|least| least < 1.0 + CHOICE) {
            continue;
        }
        let ahead = if least.is_some() { ahead } else { Vec::new() };
        let least = least.unwrap_or(f64::INFINITY);
        match all.iter_mut().find(|(known, ..)| *known == ahead) {
            Some((_, smallest, loads)) => {
                *smallest = smallest.min(least);
                loads.push(load);
            }
            None => all.push((ahead, least, vec![load])),
        }
    }
    all.sort_by_key(|(ahead, ..)| ahead.is_empty());
    all
}

/// Names of targets; only the first ones if there are many.
pub(super) fn target_names(view: &View<'_>, targets: &[u32]) -> String {
    naming::names(view, targets.iter().map(|target| view.target_name(*target)).collect())
}
