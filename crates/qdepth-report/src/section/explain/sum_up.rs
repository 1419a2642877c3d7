//! The sum of a chapter.

use super::{Curve, curves, knee, name};
use crate::document::Block;
use crate::section::explain::why::{Cause, cause};
use crate::section::naming::list;
use crate::section::sum_box::of_chapter;
use crate::section::sweep::statements::{self, Between, between, winner};
use crate::view::{Load, View};
use crate::words::{about, aside, counted, fill_in};

/// Curves or loads that are named one by one.
const NAMED: usize = 6;

/// The box below the diagrams of the sweeps.
pub(crate) fn of_diagrams(view: &View<'_>) -> Option<Block> {
    if curves(view).is_empty() {
        return None;
    }
    let sentences = limited(view).into_iter().chain([depths(view)]).chain(ahead(view));
    of_chapter(view, "diagrams", sentences.collect())
}

/// Bottlenecks of the curves, the most frequent first, and the number of curves without a known
/// one.
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

/// States the sufficient queue depth.
fn depths(view: &View<'_>) -> String {
    let words = view.words.explain;
    let known = |curve: &Curve<'_, '_>| {
        let enough = knee(&statements::line(curve.load, curve.target))?;
        let text = about(view.lang, &name(view, *curve), &enough.outstanding.to_string());
        Some((enough, text))
    };
    let all: Vec<(statements::Enough, String)> = curves(view).iter().filter_map(known).collect();
    let depths = || all.iter().map(|(enough, _)| enough.outstanding);
    let items = match (depths().min(), depths().max()) {
        (Some(_), Some(_)) if all.len() <= NAMED => {
            let items: Vec<&str> = all.iter().map(|(_, item)| item.as_str()).collect();
            items.join(view.words.clause)
        }
        (Some(low), Some(high)) => {
            let values = [("low", low.to_string()), ("high", high.to_string())];
            let span = if low == high { low.to_string() } else { fill_in(words.span, &values) };
            format!("{span}{}", aside(view.lang, &counted(words.cases, all.len())))
        }
        _ => return words.no_depths.to_owned(),
    };
    fill_in(words.depths, &[view.per(), ("items", items)])
}

/// The target that is ahead, and the loads under which it is, with how many times at least.
pub(super) type Won<'v, 'a> = (Option<u32>, Vec<(&'v Load<'a>, f64)>);

/// Loads by their winner, those without one last; nothing for one target.
pub(super) fn by_winner<'v, 'a>(view: &'v View<'a>) -> Vec<Won<'v, 'a>> {
    let mut all: Vec<Won<'v, 'a>> = Vec::new();
    // Where drives are one and several of them, the many are ahead, and nothing follows.
    let choice = view.compared.is_none_or(|c| c.record.of != "drives");
    for load in view.swept().filter(|_| view.compares() && choice) {
        let measured = view.targets.iter().filter(|target| load.maximum(**target).is_some());
        if measured.count() < 2 {
            continue;
        }
        let (best, least) = winner(view, load).map_or((None, 0.0), |(b, least)| (Some(b), least));
        match all.iter_mut().find(|(known, _)| *known == best) {
            Some((_, loads)) => loads.push((load, least)),
            None => all.push((best, vec![(load, least)])),
        }
    }
    all.sort_by_key(|(best, _)| best.is_none());
    all
}

fn ahead(view: &View<'_>) -> Vec<String> {
    let words = view.words.explain;
    let titles = |loads: &[(&Load<'_>, f64)]| {
        let titles: Vec<String> = loads.iter().map(|(load, _)| load.title.clone()).collect();
        ("items", list(view, titles))
    };
    // Alike is said of two targets under a load beside its diagram.
    let alike = |load: &Load<'_>| {
        let lines: Vec<_> =
            view.targets.iter().map(|target| statements::line(load, *target)).collect();
        matches!(between(&lines), Between::Unknown)
    };
    let sentence = |(best, loads): Won<'_, '_>| match best {
        Some(best) => {
            Some(fill_in(words.ahead, &[("best", view.target_name(best)), titles(&loads)]))
        }
        // Without intervals it is not that none is ahead: it is not known.
        None if loads.iter().all(|(load, _)| alike(load)) => None,
        None => Some(fill_in(words.even, &[titles(&loads)])),
    };
    by_winner(view).into_iter().filter_map(sentence).collect()
}
