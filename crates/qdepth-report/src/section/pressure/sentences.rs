//! Conclusions from the steps, as far as the figures support them.

use crate::number::{self, duration, three_digits};
use crate::section::naming::list;
use crate::section::steps::{Crossing, Step, Steps};
use crate::view::View;
use crate::words::{counted, fill_in};
use qdepth_measure::Statistic;

/// States the number of steps, the first and the last.
pub(crate) fn range(view: &View<'_>, steps: &Steps<'_, '_>) -> String {
    let words = view.words.pressure;
    let end = |title: Option<&&str>| title.map_or_else(String::new, |t| view.step(t));
    let values = [
        ("steps", counted(words.steps, steps.titles.len())),
        ("first", end(steps.titles.first())),
        ("last", end(steps.titles.last())),
    ];
    // Only steps of a rising write load are in an order that a reader expects.
    let template = match steps.titles.len() {
        1 => words.only_step,
        _ if steps.are_write_pressure() => words.step_range,
        _ => "{steps}",
    };
    fill_in(template, &values)
}

/// The comparison at the highest common step, or the rise on the only target.
pub(crate) fn responsiveness(view: &View<'_>, steps: &Steps<'_, '_>) -> String {
    match steps.targets().as_slice() {
        [target] => rise(view, steps, *target),
        _ => comparison(view, steps),
    }
}

/// States which steps were not reached, and by how much.
pub(crate) fn not_followed(view: &View<'_>, steps: &Steps<'_, '_>) -> String {
    let beyond = steps.all.iter().filter(|step| !step.followed());
    let sentences = beyond.map(|step| {
        let values = [
            ("target", view.target_name(step.target)),
            ("step", view.step(step.title)),
            ("achieved", number::load(step.achieved())),
        ];
        fill_in(view.words.pressure.not_followed, &values)
    });
    sentences.collect::<Vec<_>>().join(view.words.gap)
}

fn mean(step: &Step<'_, '_>) -> Option<f64> {
    step.reader_latency(Statistic::Mean)
}

fn rise(view: &View<'_>, steps: &Steps<'_, '_>, target: u32) -> String {
    let words = view.words.pressure;
    let valid = |only_sustained: bool| -> Vec<(&str, f64)> {
        let counts = |step: &&Step<'_, '_>| step.counts() || !only_sustained && step.is_valid();
        let counted = steps.on(target).filter(counts);
        counted.filter_map(|step| Some((step.title, mean(step)?))).collect()
    };
    // A write load that was not reached causes no latency.
    let mut means = valid(true);
    if means.is_empty() {
        means = valid(false);
    }
    let (Some((first_step, first)), Some((last_step, last))) = (means.first(), means.last()) else {
        return view.words.summary.no_result.to_owned();
    };
    let values = [
        ("target", view.target_name(target)),
        ("first", duration(*first)),
        ("first_step", view.step(first_step)),
        ("last", duration(*last)),
        ("last_step", view.step(last_step)),
        ("quotient", three_digits(last / first)),
    ];
    fill_in(if means.len() > 1 { words.rose } else { words.single }, &values)
}

fn comparison(view: &View<'_>, steps: &Steps<'_, '_>) -> String {
    let words = view.words.pressure;
    let top = steps.top_common().unwrap_or_default();
    let mut means: Vec<(&Step<'_, '_>, f64)> =
        top.into_iter().filter_map(|step| Some((step, mean(step)?))).collect();
    let Some((first, _)) = means.first() else { return words.no_common.to_owned() };
    let on = |(step, mean): &(&Step<'_, '_>, f64)| {
        let values = [("value", duration(*mean)), ("target", view.target_name(step.target))];
        fill_in(words.mean_on, &values)
    };
    let values = list(view, means.iter().map(on).collect());
    // Without writes, the common step does not answer the question.
    let mut sentences = if first.achieved() > 0.0 { Vec::new() } else { sustained(view, steps) };
    sentences.push(fill_in(words.top, &[("step", view.step(first.title)), ("values", values)]));
    means.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    if let Some(((best, best_mean), others)) = means.split_first() {
        sentences.extend(
            others.iter().map(|(other, mean)| quotient(view, best, other, mean / best_mean)),
        );
    }
    sentences.join(view.words.gap)
}

/// The highest write load that each target sustained, the highest first; nothing without writes.
fn sustained(view: &View<'_>, steps: &Steps<'_, '_>) -> Vec<String> {
    let highest = |target: u32| {
        let counted = steps.on(target).filter(|step| step.counts() && step.achieved() > 0.0);
        counted.max_by_key(|step| step.step_index)
    };
    let mut all: Vec<&Step<'_, '_>> = steps.targets().into_iter().filter_map(highest).collect();
    all.sort_by_key(|step| std::cmp::Reverse(step.step_index));
    let sentence = |step: &Step<'_, '_>| {
        let values = [
            ("target", view.target_name(step.target)),
            ("step", view.step(step.title)),
            ("mean", duration(mean(step)?)),
        ];
        Some(fill_in(view.words.pressure.sustained, &values))
    };
    all.into_iter().filter_map(sentence).collect()
}

/// States the ratio of the two latencies, and its lower bound.
fn quotient(view: &View<'_>, best: &Step<'_, '_>, other: &Step<'_, '_>, times: f64) -> String {
    let words = view.words.pressure;
    let least = best.mean_interval().zip(other.mean_interval()).map(|(a, b)| b.0 / a.1);
    let mut values = vec![
        ("better", view.target_name(best.target)),
        ("worse", view.target_name(other.target)),
        ("quotient", three_digits(times)),
    ];
    match least {
        Some(least) if least <= 1.0 => return fill_in(words.alike, &values),
        Some(least) => values.push(("least", number::at_least(least))),
        None => values.push(("reason", words.no_interval.to_owned())),
    }
    fill_in(words.faster, &values)
}

/// States at which write loads the latency falls although more is written, and why, as far as that
/// is known.
pub(crate) fn falls(view: &View<'_>, steps: &Steps<'_, '_>) -> Vec<String> {
    let words = view.words.pressure;
    let sentences = |target: u32| {
        let [before, after] = steps.fall(target)?;
        let values = [
            ("target", view.target_name(target)),
            ("before", duration(mean(before)?)),
            ("before_step", view.step(before.title)),
            ("after", duration(mean(after)?)),
            ("after_step", view.step(after.title)),
        ];
        let mut texts = vec![fill_in(words.falls, &values)];
        let locked: Vec<String> = steps.in_step(target).map(|s| view.step(s.title)).collect();
        if !locked.is_empty() {
            let mut values = vec![("steps", list(view, locked))];
            values.extend(view.run.emulated.then(|| ("medium", words.no_scatter.to_owned())));
            texts.push(fill_in(words.in_step, &values));
        }
        Some(texts.join(view.words.gap))
    };
    steps.targets().into_iter().filter_map(sentences).collect()
}

/// Write load of a step: as requested, or as achieved if the target did not sustain it.
pub(crate) fn reached(view: &View<'_>, step: &Step<'_, '_>) -> String {
    match step.followed() {
        true => view.step(step.title),
        false => format!("{} {}", number::load(step.achieved()), number::MIB_PER_S),
    }
}

/// The knee of each target, and the definition of a knee.
pub(crate) fn knees(view: &View<'_>, steps: &Steps<'_, '_>) -> String {
    let words = view.words.pressure;
    let knee = |target: u32| {
        let mut values = vec![("target", view.target_name(target))];
        let knee = steps.knee(target);
        let means = knee.map(|[below, above]| [mean(below), mean(above)]);
        let (Some([below, above]), Some([Some(low), Some(high)])) = (knee, means) else {
            return fill_in(words.no_knee, &values);
        };
        values.extend([
            ("below", reached(view, below)),
            ("low", duration(low)),
            ("above", reached(view, above)),
            ("high", duration(high)),
        ]);
        fill_in(words.knee, &values)
    };
    let all = std::iter::once(words.knee_note.to_owned());
    all.chain(steps.targets().into_iter().map(knee)).collect::<Vec<_>>().join(view.words.gap)
}

/// States when the requested limits are exceeded: one sentence each, for every target.
pub(crate) fn limits(view: &View<'_>, steps: &Steps<'_, '_>) -> Vec<String> {
    let [between, before, within, unknown] = view.words.pressure.limit;
    let mut sentences = Vec::new();
    for limit in &view.limits {
        for target in steps.targets() {
            let mut values = vec![
                ("target", view.target_name(target)),
                ("statistic", view.statistic(limit.statistic)),
                ("limit", duration(limit.at_most.0 as f64)),
            ];
            sentences.push(match steps.crossing(target, limit) {
                Crossing::Between([low, high], [below, above]) => {
                    let (low, high) = (number::load(low), number::load(high));
                    values.extend([
                        ("low", low),
                        ("high", high),
                        ("below", view.step(&below)),
                        ("above", view.step(&above)),
                    ]);
                    fill_in(between, &values)
                }
                Crossing::Before(above) => {
                    values.push(("above", view.step(&above)));
                    fill_in(before, &values)
                }
                Crossing::NotUpTo(load, later) => {
                    values.push(("load", number::load(load)));
                    let later = (later > 0).then(|| counted(view.words.pressure.later, later));
                    values.extend(later.map(|text| ("later", text)));
                    fill_in(within, &values)
                }
                Crossing::Unknown => fill_in(unknown, &values),
            });
        }
    }
    sentences
}
