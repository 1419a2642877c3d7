//! Summary of a chapter.

use super::{Curve, curves, name};
use crate::document::Block;
use crate::section::explain::why::{Cause, cause};
use crate::section::naming::{self, list};
use crate::section::sum_box::of_chapter;
use crate::section::sweep::statements::lead;
use crate::view::{Load, View};
use crate::words::{counted, fill_in};

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
    let mut kinds: Vec<(usize, Vec<String>)> = Vec::new();
    for (curve, cause) in &known {
        let name = name(view, **curve);
        match kinds.iter_mut().find(|(kind, _)| *kind == cause.kind()) {
            Some((_, names)) => names.push(name),
            None => kinds.push((cause.kind(), vec![name])),
        }
    }
    kinds.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    let item = |(kind, names): (usize, Vec<String>)| {
        let many = || counted(words.cases, names.len());
        let location = if view.compares() { many() } else { list(view, names.clone()) };
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
    // choose them.
    let choice = view.compared.is_none_or(|c| c.record.of != "drives");
    for load in view.swept().filter(|_| choice) {
        let Some((ahead, least)) = lead(view, load) else { continue };
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
