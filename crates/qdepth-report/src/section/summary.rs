//! Summary of a report in three sentences that the figures support, and its conclusion.

use std::collections::BTreeMap;

use qdepth_measure::{Code, Severity};
use qdepth_record::{LatencySummary, RunState};

use crate::number;
use crate::section::answer;
use crate::section::bandwidth::{self, Bandwidth};
use crate::section::date::date;
use crate::section::naming::{list, targets};
use crate::section::pressure;
use crate::section::steps::Steps;
use crate::section::sweep::sentences::{self, first_of_all, maximum};
use crate::section::sweep::tables;
use crate::view::{Load, Point, View};
use crate::words::{counted, fill_in, finding_text};

/// Maximum number of kinds of findings named in the summary.
const FINDINGS_NAMED: usize = 3;

/// The answer, what was measured, the comparison with expected results if there are any, and the
/// reliability.
pub(crate) fn summary(view: &View<'_>) -> Vec<String> {
    let mut all = vec![answer::sentence(view), measured(view)];
    if view.loads.is_empty() {
        all.swap(0, 1);
    }
    all.extend(durable(view));
    all.extend(expected(view));
    all.push(trust(view));
    all
}

/// The parts of the latency of durable writes, at the lowest queue depth of each load.
pub(crate) fn durable(view: &View<'_>) -> Vec<String> {
    // Syncs take no time on emulated devices.
    if view.run.emulated {
        return Vec::new();
    }
    let of_load = |load: &Load<'_>| {
        let point = load.points.iter().find(|point| point.is_valid())?;
        let summary = &point.summary;
        let mean = |part: &LatencySummary| part.mean_ns.map(number::duration);
        let values = [
            view.per(),
            ("profile", load.title.clone()),
            ("sync", point.record.durability.clone()?),
            ("queue_depth", point.record.queue_depth.to_string()),
            ("latency", mean(&summary.latency.writes)?),
            ("write", mean(summary.write_part.as_ref()?)?),
            ("part", mean(summary.sync_part.as_ref()?)?),
        ];
        Some(fill_in(view.words.summary.durable, &values))
    };
    view.loads.iter().filter_map(of_load).collect()
}

/// Range of the shares of the expected rate that valid points reached.
pub(crate) fn expected(view: &View<'_>) -> Option<String> {
    let words = view.words.summary;
    let share = |point: &Point<'_>| {
        let expected = view.run.expected_at(point.record.index)?;
        expected.share_reached(point.summary.io_per_s.value)
    };
    let valid = || view.points().map(|(_, point)| point).filter(|point| point.is_valid());
    let mut shares: Vec<f64> = valid().filter_map(share).collect();
    shares.sort_by(f64::total_cmp);
    let is_left_out =
        |point: &Point<'_>| !point.is_valid() && view.run.expected_at(point.record.index).is_some();
    let left_out = view.points().filter(|(_, point)| is_left_out(point)).count();
    let mut values = vec![("medium", view.run.expected.first()?.medium.clone())];
    values.extend((left_out > 0).then(|| ("invalid", counted(words.expected_invalid, left_out))));
    let (Some(low), Some(high)) = (shares.first(), shares.last()) else {
        return (left_out > 0).then(|| fill_in(words.expected_none, &values));
    };
    let is_below = |point: &Point<'_>| {
        point.record.findings.iter().any(|finding| finding.code == Code::BelowExpected)
    };
    let below = valid().filter(|point| is_below(point)).count();
    values.extend([
        ("low", number::percent(*low)),
        ("high", number::percent(*high)),
        ("middle", number::percent(shares[shares.len() / 2])),
    ]);
    if below > 0 {
        values.push(("below", counted(words.below, below)));
    }
    let template = if shares.len() == 1 { words.expected_single } else { words.expected };
    Some(fill_in(template, &values))
}

pub(crate) fn measured(view: &View<'_>) -> String {
    let words = view.words.summary;
    // An incomplete run may have no point of a target.
    let is_partial = view.run.state != RunState::Complete && view.compared.is_none();
    let names = match view.run.targets.is_empty() || is_partial && !view.targets.is_empty() {
        true => list(view, view.targets.iter().map(|t| view.target_name(*t)).collect()),
        false => targets(view),
    };
    let mut values = vec![
        ("date", date(&view.run.started_at, view.words)),
        ("targets", names),
        ("planned", view.planned().to_string()),
        ("points", combined_text(view, point_count_text(view))),
        ("profiles", profiles(view)),
        ("intensities", intensities(view)),
    ];
    let steps = Steps::new(view);
    if !steps.all.is_empty() {
        let ranges = [Some(intensities(view)).filter(|text| !text.is_empty())];
        let with = ranges.into_iter().flatten().chain([pressure::sentences::range(view, &steps)]);
        values.push(("intensities", list(view, with.collect())));
    }
    if let Some(bandwidth) = Bandwidth::new(view) {
        let directions = view.words.bandwidth.directions.map(str::to_owned);
        values.push(("profiles", list(view, directions.to_vec())));
        values.push(("intensities", bandwidth::sentences::range(view, &bandwidth)));
    }
    let windows: std::collections::BTreeSet<u64> =
        view.points().map(|(_, p)| p.record.duration_ns / 100_000_000).collect();
    if windows.len() == 1 && !windows.contains(&0) {
        let tenths = windows.first().copied().unwrap_or_default();
        let window = [("window", number::duration(tenths as f64 * 1e8))];
        let [single, each] = words.windows;
        let form = if view.points().count() == 1 { single } else { each };
        values.push(("window", fill_in(form, &window)));
    }
    let imported = view.run.findings.iter().find(|finding| finding.code == Code::Imported);
    let program = imported.and_then(|finding| finding.labels.get("program"));
    values.extend(program.map(|program| ("program", program.clone())));
    let template = match view.loads.is_empty() {
        true => words.nothing,
        false if view.run.emulated => words.emulated_run,
        false if program.is_some() => words.imported_run,
        false => words.measured,
    };
    fill_in(template, &values)
}

/// Largest number of loads named in a sentence; further ones are counted.
const LOADS_NAMED: usize = 6;

fn profiles(view: &View<'_>) -> String {
    match view.loads.len() {
        ..=LOADS_NAMED => list(view, view.loads.iter().map(|load| load.title.clone()).collect()),
        many => counted(view.words.summary.profiles, many),
    }
}

/// States how many of the planned points were measured.
fn point_count_text(view: &View<'_>) -> String {
    let words = view.words.summary;
    let (measured, planned) = (view.complete_points(), view.planned());
    if measured as u64 == planned as u64 {
        return counted(words.points_measured, measured);
    }
    let values = [("planned", planned.to_string()), ("measured", measured.to_string())];
    fill_in(words.points_of, &values)
}

/// Adds the number of measurements, if a point combines several of them.
fn combined_text(view: &View<'_>, points: String) -> String {
    let n = view.records.len();
    if view.compared.is_none() || n == view.points().count() {
        return points;
    }
    let values = [("points", points), ("n", number::count(n as u64))];
    fill_in(view.words.summary.combined, &values)
}

fn intensities(view: &View<'_>) -> String {
    let words = view.words.summary;
    let (Some(low), Some(high)) = (view.intensities.first(), view.intensities.last()) else {
        return String::new();
    };
    let template = if low == high { words.single } else { words.range };
    fill_in(template, &[view.per(), ("low", low.to_string()), ("high", high.to_string())])
}

fn trust(view: &View<'_>) -> String {
    let words = view.words.summary;
    let points = view.points().count();
    let [a, b, c] = tables::grades(view);
    let heaviest = heaviest_findings(view);
    let missing = view.planned().saturating_sub(view.complete_points());
    let mut remarks = Vec::new();
    if missing > 0 {
        remarks.push(counted(words.missing, missing));
    }
    if !heaviest.is_empty() {
        remarks.push(fill_in(words.doubts, &[("doubts", list(view, heaviest))]));
    }
    let mut values = vec![
        ("all_a", counted(words.all_a, points)),
        ("points", points.to_string()),
        ("a", a.to_string()),
        ("b", b.to_string()),
        ("c", c.to_string()),
    ];
    if !remarks.is_empty() {
        values.push(("doubts", remarks.join(view.words.clause)));
    }
    if view.run.emulated {
        values.push(("emulated", words.emulated.to_owned()));
    }
    let clean = a == points;
    fill_in(
        if points == 0 {
            words.no_points
        } else if clean {
            words.no_cause
        } else if points == 1 {
            words.only_point[usize::from(c > 0)]
        } else if c == 0 {
            words.all_valid[usize::from(b == points)]
        } else if c == points {
            words.none_valid
        } else {
            words.graded
        },
        &values,
    )
}

/// Kinds of findings, the most severe and most frequent first.
fn heaviest_findings(view: &View<'_>) -> Vec<String> {
    let words = view.words.summary;
    let mut seen: BTreeMap<Code, (Severity, usize, String)> = BTreeMap::new();
    // A point of several drives may have a finding more than once.
    let first = |p: &Point<'_>, at: usize| {
        let findings = &p.record.findings;
        findings[..at].iter().all(|earlier| earlier.code != findings[at].code)
    };
    let on_points = view.points().flat_map(|(_, p): (_, &Point<'_>)| {
        let numbered = p.record.findings.iter().enumerate();
        numbered.map(move |(at, finding)| (finding, usize::from(first(p, at))))
    });
    for (finding, weight) in view.run.findings.iter().map(|f| (f, 0)).chain(on_points) {
        let entry = seen
            .entry(finding.code)
            .or_insert_with(|| (finding.severity, 0, finding_text(finding, view.lang).title));
        entry.0 = entry.0.max(finding.severity);
        entry.1 += weight;
    }
    let mut kinds: Vec<_> = seen.into_values().collect();
    kinds.sort_by_key(|(severity, points, _)| std::cmp::Reverse((*severity, *points)));
    let named = kinds.into_iter().take(FINDINGS_NAMED).map(|(_, points, title)| {
        let values = [("title", lower_first(&title)), ("points", counted(words.points, points))];
        fill_in(if points == 0 { words.run_doubts } else { words.doubt }, &values)
    });
    named.collect()
}

/// Title in the middle of a sentence, with a lower-case first letter; names such as I/O keep their
/// capitals.
fn lower_first(title: &str) -> String {
    let mut chars = title.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => title.to_owned(),
    }
}

/// The largest value of each load with its target, which is named only once if it is always the
/// same.
fn concluded(view: &View<'_>) -> Option<String> {
    let words = view.words.paper;
    let first = first_of_all(view);
    let known = view.swept().enumerate();
    let known = known.filter_map(|(at, load)| Some((at, load, maximum(view, load, first)?)));
    let mut maxima: Vec<(usize, &Load<'_>, String)> = known.collect();
    let top = |load: &Load<'_>| {
        let tops = view.targets.iter().filter_map(|target| load.maximum(*target));
        tops.map(|point| point.main().value).fold(0.0, f64::max)
    };
    // The highest and the lowest of each unit are never left out.
    let is_between = |load: &Load<'_>| {
        let others = || view.swept().filter(|other| other.unit() == load.unit()).map(top);
        others().any(|other| other > top(load)) && others().any(|other| other < top(load))
    };
    maxima.sort_by_key(|(_, load, _)| is_between(load));
    let more = maxima.len().saturating_sub(LOADS_NAMED);
    maxima.truncate(LOADS_NAMED);
    maxima.sort_by_key(|(at, ..)| *at);
    let maxima: Vec<String> = maxima.into_iter().map(|(.., text)| text).collect();
    let more = (more > 0).then(|| counted(words.concluded_more, more));
    let mut values = vec![("maxima", maxima.join(view.words.clause))];
    values.extend(more.map(|more| ("more", more)));
    values.extend(first.map(|target| ("target", view.target_name(target))));
    let template = if first.is_some() { words.concluded_of_one } else { words.concluded };
    (!maxima.is_empty()).then(|| fill_in(template, &values))
}

/// The conclusion: the answer of page one, or the maximum of every load if page one names only the
/// extremes; and the reliability.
pub(crate) fn conclusion(view: &View<'_>) -> Vec<String> {
    let is_answered = view.compared.is_some()
        || answer::specific(view).is_some()
        || Bandwidth::new(view).is_some()
        || view.swept().next().is_none();
    let mut paragraphs: Vec<String> = match is_answered {
        true => vec![answer::sentence(view)],
        false => concluded(view).into_iter().chain(sentences::unanswered(view)).collect(),
    };
    paragraphs.push(trust(view));
    paragraphs
}
