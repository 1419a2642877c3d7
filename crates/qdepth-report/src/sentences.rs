//! The summary: three sentences that say no more than the figures bear.

use std::collections::BTreeMap;

use qdepth_measure::{Code, Severity};

use crate::number::{self, rounded};
use crate::tables;
use crate::view::{Load, Point, View};
use crate::words::{finding_text, say};

/// How many kinds of doubt the summary names.
const DOUBTS_NAMED: usize = 3;

/// What was measured; what came out; how far it can be trusted.
pub(crate) fn summary(view: &View<'_>) -> Vec<String> {
    vec![measured(view), results(view), trust(view)]
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(view: &View<'_>, mut items: Vec<String>) -> String {
    let Some(last) = items.pop() else { return String::new() };
    if items.is_empty() {
        return last;
    }
    format!("{} {} {last}", items.join(", "), view.words.summary.and)
}

/// The day of an RFC 3339 time.
pub(crate) fn date(at: &str) -> String {
    at.split('T').next().unwrap_or(at).to_owned()
}

/// An RFC 3339 time to the minute, UTC, as people write it.
pub(crate) fn moment(at: &str) -> String {
    match at.split_once('T') {
        Some((day, time)) if at.ends_with('Z') && time.is_ascii() && time.len() > 5 => {
            format!("{day} {} UTC", &time[..5])
        }
        _ => at.to_owned(),
    }
}

fn measured(view: &View<'_>) -> String {
    let words = &view.words.summary;
    let names = if view.run.targets.is_empty() {
        view.targets.iter().map(|t| view.target_name(*t)).collect()
    } else {
        view.run.targets.iter().map(|t| t.name.clone()).collect()
    };
    let mut values = vec![
        ("date", date(&view.run.started_at)),
        ("targets", list(view, names)),
        ("planned", view.run.points_planned.to_string()),
        ("measured", view.points().count().to_string()),
        ("profiles", list(view, view.loads.iter().map(|l| l.title.clone()).collect())),
        ("intensities", intensities(view)),
    ];
    let windows: std::collections::BTreeSet<u64> =
        view.points().map(|(_, p)| p.record.duration_ns / 100_000_000).collect();
    if windows.len() == 1 {
        let tenths = windows.first().copied().unwrap_or_default();
        values.push(("window", number::duration(tenths as f64 * 1e8)));
    }
    say(if view.loads.is_empty() { words.nothing } else { words.measured }, &values)
}

fn intensities(view: &View<'_>) -> String {
    let words = view.words.columns.outstanding.to_lowercase().replace("i/os", "I/Os");
    match (view.intensities.first(), view.intensities.last()) {
        (Some(low), Some(high)) if low != high => format!("{low} to {high} {words}"),
        (Some(low), _) => format!("{low} {words}"),
        _ => String::new(),
    }
}

/// The best of every load over all targets, and the latency of the first load at the lowest
/// intensity on each target.
fn results(view: &View<'_>) -> String {
    let words = &view.words.summary;
    let maxima: Vec<String> = view.loads.iter().filter_map(|l| maximum(view, l)).collect();
    if maxima.is_empty() {
        return words.no_result.to_owned();
    }
    let mut values = vec![("maxima", list(view, maxima))];
    values.extend(lowest_latency(view).map(|text| ("latency", text)));
    say(words.maxima, &values)
}

fn maximum(view: &View<'_>, load: &Load<'_>) -> Option<String> {
    let words = &view.words.summary;
    let best = view
        .targets
        .iter()
        .filter_map(|target| load.maximum(*target))
        .reduce(|a, b| if b.main().value > a.main().value { b } else { a })?;
    let template = if view.compares() { words.maximum_on } else { words.maximum };
    Some(say(
        template,
        &[
            ("value", rounded(best.main()).joined()),
            ("unit", load.unit().to_owned()),
            ("profile", load.title.clone()),
            ("target", view.target_name(best.record.target)),
            ("outstanding", best.record.outstanding.to_string()),
        ],
    ))
}

fn lowest_latency(view: &View<'_>) -> Option<String> {
    let words = &view.words.summary;
    let load = view.loads.iter().find(|l| l.first().profile == "database").or(view.loads.first())?;
    let one = |target: &u32| {
        let mean = load.at(*target, view.lowest())?.latency().mean_ns?;
        let at = if view.compares() { format!(" on {}", view.target_name(*target)) } else { String::new() };
        Some(format!("{}{at}", number::duration(mean)))
    };
    let latencies: Vec<String> = view.targets.iter().filter_map(one).collect();
    if latencies.is_empty() {
        return None;
    }
    let kind = if load.is_open_loop() { words.response_time } else { words.service_time };
    Some(say(
        words.latency,
        &[
            ("kind", format!("{kind} of {}", load.title)),
            ("outstanding", view.lowest().to_string()),
            ("latencies", list(view, latencies)),
        ],
    ))
}

fn trust(view: &View<'_>) -> String {
    let words = &view.words.summary;
    let points = view.points().count();
    let [a, b, c] = tables::grades(view);
    let doubts = doubts(view);
    let missing = (view.run.points_planned as usize).saturating_sub(points);
    let mut remarks = Vec::new();
    if missing > 0 {
        remarks.push(say(words.missing, &[("missing", missing.to_string())]));
    }
    if !doubts.is_empty() {
        remarks.push(say(words.doubts, &[("doubts", list(view, doubts))]));
    }
    let mut values = vec![
        ("points", points.to_string()),
        ("a", a.to_string()),
        ("b", b.to_string()),
        ("c", c.to_string()),
    ];
    if !remarks.is_empty() {
        values.push(("doubts", remarks.join("; ")));
    }
    if view.run.emulated {
        values.push(("emulated", words.emulated.to_owned()));
    }
    let clean = a == points && remarks.is_empty();
    say(if points == 0 { words.no_points } else if clean { words.all_a } else { words.graded }, &values)
}

/// The heaviest kinds of doubt, then the most frequent.
fn doubts(view: &View<'_>) -> Vec<String> {
    let words = &view.words.summary;
    let mut seen: BTreeMap<Code, (Severity, usize, String)> = BTreeMap::new();
    let on_points = view.points().flat_map(|(_, p): (_, &Point<'_>)| {
        p.record.findings.iter().map(|finding| (finding, 1))
    });
    for (finding, weight) in view.run.findings.iter().map(|f| (f, 0)).chain(on_points) {
        let entry = seen.entry(finding.code).or_insert_with(|| {
            (finding.severity, 0, finding_text(finding, view.lang).title)
        });
        entry.0 = entry.0.max(finding.severity);
        entry.1 += weight;
    }
    let mut kinds: Vec<_> = seen.into_values().collect();
    kinds.sort_by_key(|(severity, points, _)| std::cmp::Reverse((*severity, *points)));
    let named = kinds.into_iter().take(DOUBTS_NAMED).map(|(_, points, title)| {
        let values = [("title", lower_first(&title)), ("points", points.to_string())];
        say(if points == 0 { words.run_doubts } else { words.doubt }, &values)
    });
    named.collect()
}

/// A title within a sentence; names such as I/O keep their capitals.
fn lower_first(title: &str) -> String {
    let mut chars = title.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => title.to_owned(),
    }
}
