//! The summary: three sentences that say no more than the figures bear.

use std::collections::BTreeMap;

use qdepth_measure::{Code, Severity};

use crate::number;
use crate::section::answer;
use crate::section::bandwidth::{self, Bandwidth};
use crate::section::pressure;
use crate::section::steps::Steps;
use crate::section::sweep::statements::winner;
use crate::section::sweep::tables;
use crate::view::{Load, Point, View};
use crate::words::{Words, counted, fill_in, finding_text};

/// How many kinds of doubt the summary names.
const FINDINGS_NAMED: usize = 3;

/// Targets that are named; of more than one beyond them only the number is.
const TARGETS_NAMED: usize = 4;

/// The answer; what was measured; how that compares with what was expected, where it was; how far
/// it can be trusted.
pub(crate) fn summary(view: &View<'_>) -> Vec<String> {
    let mut all = vec![answer::sentence(view), measured(view)];
    if view.loads.is_empty() {
        all.swap(0, 1);
    }
    all.extend(expected(view));
    all.push(trust(view));
    all
}

/// The range of the shares of what the emulated medium does that valid points reached.
fn expected(view: &View<'_>) -> Option<String> {
    let words = view.words.summary;
    let share = |point: &Point<'_>| {
        let expected = view.run.expected_at(point.record.index)?;
        expected.share_reached(point.summary.io_per_s.value)
    };
    let valid = || view.points().map(|(_, point)| point).filter(|point| point.is_valid());
    let mut shares: Vec<f64> = valid().filter_map(share).collect();
    shares.sort_by(f64::total_cmp);
    let (low, high) = (shares.first()?, shares.last()?);
    let is_below = |point: &Point<'_>| {
        point.record.findings.iter().any(|finding| finding.code == Code::BelowExpected)
    };
    let below = valid().filter(|point| is_below(point)).count();
    let mut values = vec![
        ("medium", view.run.expected.first()?.medium.clone()),
        ("low", number::percent(*low)),
        ("high", number::percent(*high)),
        ("middle", number::percent(shares[shares.len() / 2])),
    ];
    if below > 0 {
        values.push(("below", counted(words.below, below)));
    }
    Some(fill_in(words.expected, &values))
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(view: &View<'_>, mut items: Vec<String>) -> String {
    let Some(last) = items.pop() else { return String::new() };
    if items.is_empty() {
        return last;
    }
    let [comma, and] = view.words.list;
    format!("{}{and}{last}", items.join(comma))
}

/// All of these names, what stands several times with its number before it.
pub(crate) fn counted_names(view: &View<'_>, names: Vec<String>) -> String {
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for name in names {
        match kinds.iter_mut().find(|(other, _)| *other == name) {
            Some((_, count)) => *count += 1,
            None => kinds.push((name, 1)),
        }
    }
    let counted = |(name, count): (String, usize)| match count {
        1 => name,
        _ => format!("{count} × {name}"),
    };
    list(view, kinds.into_iter().map(counted).collect())
}

/// The names of the targets; of many the first ones.
pub(crate) fn targets(view: &View<'_>) -> String {
    names(view, target_names(view))
}

pub(crate) fn target_names(view: &View<'_>) -> Vec<String> {
    view.run.targets.iter().map(|target| view.shown(&target.name)).collect()
}

/// These names, several of one kind (`drive #1`, `drive #2`) as `2 × drive`; of many the first
/// ones.
pub(crate) fn names(view: &View<'_>, names: Vec<String>) -> String {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for name in &names {
        let kind = name.rsplit_once(" #").map_or(name.as_str(), |(kind, _)| kind);
        match kinds.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((kind, 1)),
        }
    }
    let counted = |(kind, count): (&str, usize)| match count {
        1 => names.iter().find(|name| name.starts_with(kind)).cloned().unwrap_or_default(),
        _ => format!("{count} × {kind}"),
    };
    let mut names: Vec<String> = kinds.into_iter().map(counted).collect();
    let more = names.len().saturating_sub(TARGETS_NAMED);
    if more > 1 {
        names.truncate(TARGETS_NAMED);
        names.push(fill_in(view.words.summary.more, &[("n", more.to_string())]));
    }
    list(view, names)
}

/// Letters of all names in a title.
const TITLE: usize = 56;

/// These names in a title: where they are long without their capacities, if these tell no two of
/// them apart, and where they still are the first alone.
pub(crate) fn in_title(view: &View<'_>, all: Vec<String>) -> String {
    let fits = |told: &String| told.chars().count() <= TITLE;
    let kinds = |names: &[String]| {
        let kind = |name: &String| name.rsplit_once(" #").map_or(name.clone(), |k| k.0.to_owned());
        names.iter().map(kind).collect::<std::collections::BTreeSet<String>>().len()
    };
    if kinds(&all) < 2 {
        return names(view, all);
    }
    let short: Vec<String> = all.iter().map(|name| without_capacity(name).to_owned()).collect();
    let short = if kinds(&short) == kinds(&all) { short } else { all.clone() };
    let shared = shared(&all);
    let told = [all, short.clone()].map(|all| names(view, all)).into_iter().find(fits);
    let told = told.or_else(|| shared.map(|name| names(view, vec![name])));
    told.unwrap_or_else(|| {
        let first: Vec<String> = short.iter().take(1).cloned().collect();
        let more = kinds(&short).saturating_sub(1).to_string();
        list(view, [first, vec![fill_in(view.words.summary.more, &[("n", more)])]].concat())
    })
}

/// What stands in each of these names, as a drive does in those of its options and arrays: the
/// first of them, or its beginning.
fn shared(all: &[String]) -> Option<String> {
    let first = all.first()?;
    let beginning = first.split_once(", ").map_or(first.as_str(), |(beginning, _)| beginning);
    let mut candidates = [first.as_str(), beginning].into_iter();
    candidates.find(|name| all.iter().all(|other| other.contains(*name))).map(str::to_owned)
}

/// `Intel P3700 800 GB` as `Intel P3700`.
fn without_capacity(name: &str) -> &str {
    let parts = name.rsplit_once(' ').and_then(|(rest, unit)| {
        let (before, number) = rest.rsplit_once(' ')?;
        let is_unit = ["GB", "TB", "GiB", "TiB"].contains(&unit);
        (is_unit && number.parse::<f64>().is_ok()).then_some(before)
    });
    parts.unwrap_or(name)
}

/// The day of an RFC 3339 time.
pub(crate) fn date(at: &str, words: &Words) -> String {
    let day = at.split('T').next().unwrap_or(at);
    let parts: Vec<&str> = day.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return day.to_owned() };
    let values = [("year", *year), ("month", *month), ("day", *day)];
    fill_in(words.date, &values.map(|(name, value)| (name, value.to_owned())))
}

/// An RFC 3339 time to the minute, UTC, as people write it.
pub(crate) fn moment(at: &str, words: &Words) -> String {
    match at.split_once('T') {
        Some((_, time)) if at.ends_with('Z') && time.is_ascii() && time.len() > 5 => {
            format!("{} {} UTC", date(at, words), &time[..5])
        }
        _ => at.to_owned(),
    }
}

fn measured(view: &View<'_>) -> String {
    let words = view.words.summary;
    let names = match view.run.targets.is_empty() {
        true => list(view, view.targets.iter().map(|t| view.target_name(*t)).collect()),
        false => targets(view),
    };
    let mut values = vec![
        ("date", date(&view.run.started_at, view.words)),
        ("targets", names),
        ("planned", view.planned().to_string()),
        ("points", point_count_text(view)),
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
    let template = match view.loads.is_empty() {
        true => words.nothing,
        false if view.run.emulated => words.emulated_run,
        false => words.measured,
    };
    fill_in(template, &values)
}

/// Loads that a sentence names; of more it says how many.
const LOADS_NAMED: usize = 6;

fn profiles(view: &View<'_>) -> String {
    match view.loads.len() {
        ..=LOADS_NAMED => list(view, view.loads.iter().map(|load| load.title.clone()).collect()),
        many => counted(view.words.summary.profiles, many),
    }
}

/// How many of the planned points were measured.
fn point_count_text(view: &View<'_>) -> String {
    let words = view.words.summary;
    let (measured, planned) = (view.points().count(), view.planned());
    if measured as u64 == planned as u64 {
        return counted(words.points_measured, measured);
    }
    let values = [("planned", planned.to_string()), ("measured", measured.to_string())];
    fill_in(words.points_of, &values)
}

fn intensities(view: &View<'_>) -> String {
    let words = view.words.summary;
    let (Some(low), Some(high)) = (view.intensities.first(), view.intensities.last()) else {
        return String::new();
    };
    let template = if low == high { words.single } else { words.range };
    fill_in(template, &[view.per(), ("low", low.to_string()), ("high", high.to_string())])
}

/// The maximum of the leading load of each kind, and the latency of the first of them at the lowest
/// intensity. Of several targets the best: the others are in the table below the summary.
pub(crate) fn maxima(view: &View<'_>) -> String {
    let words = view.words.summary;
    let leading: Vec<&Load<'_>> =
        [false, true].into_iter().filter_map(|throughput| leader(view, throughput)).collect();
    let first = first_of_all(view, &leading);
    let told = |load: &&Load<'_>| match first {
        Some(target) => maximum_on(view, load, target),
        None => maximum(view, load),
    };
    let maxima: Vec<String> = leading.iter().filter_map(told).collect();
    if maxima.is_empty() {
        return words.no_result.to_owned();
    }
    let mut values = vec![("maxima", maxima.join(view.words.clause))];
    let latency = leading.first().and_then(|load| lowest_latency(view, load, first));
    values.extend(latency.map(|text| ("latency", text)));
    values.extend(first.map(|target| ("target", view.target_name(target))));
    fill_in(if first.is_some() { words.first_of_all } else { words.maxima }, &values)
}

/// The target that is ahead of all others for certain under each of these loads.
fn first_of_all(view: &View<'_>, loads: &[&Load<'_>]) -> Option<u32> {
    let mut ahead = loads.iter().map(|load| winner(view, load).map(|(target, _)| target));
    let first = ahead.next()??;
    (view.compares() && ahead.all(|target| target == Some(first))).then_some(first)
}

/// The first load of its kind that has a valid point.
fn leader<'v, 'a>(view: &'v View<'a>, throughput: bool) -> Option<&'v Load<'a>> {
    view.loads.iter().find(|load| {
        load.first().reported_as_throughput == throughput && load.points.iter().any(Point::is_valid)
    })
}

/// The target with the largest value of a load, of equals the first.
fn best(view: &View<'_>, load: &Load<'_>) -> Option<(u32, f64)> {
    let value = |target: &u32| Some((*target, load.maximum(*target)?.main().value));
    let known = view.targets.iter().rev().filter_map(value);
    known.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The largest value of a load, and on which of several targets it is.
fn maximum(view: &View<'_>, load: &Load<'_>) -> Option<String> {
    let words = view.words.summary;
    let (target, _) = best(view, load)?;
    if !view.compares() {
        return maximum_on(view, load, target);
    }
    let value = largest(view, load, target, words.maximum_on)?;
    Some(fill_in(words.maximum_of_all, &[("profile", load.title.clone()), ("value", value)]))
}

fn maximum_on(view: &View<'_>, load: &Load<'_>, target: u32) -> Option<String> {
    let words = view.words.summary;
    let value = largest(view, load, target, words.maximum)?;
    Some(fill_in(words.maximum_is, &[("profile", load.title.clone()), ("value", value)]))
}

fn largest(view: &View<'_>, load: &Load<'_>, target: u32, template: &str) -> Option<String> {
    let best = load.maximum(target)?;
    let values = [
        view.per(),
        ("value", number::in_prose(best.main())),
        ("unit", load.unit().to_owned()),
        ("target", view.target_name(target)),
        ("outstanding", best.record.outstanding.to_string()),
    ];
    Some(fill_in(template, &values))
}

/// The mean latency at the lowest intensity on a target, else on that of several where it is
/// shortest.
fn lowest_latency(view: &View<'_>, load: &Load<'_>, target: Option<u32>) -> Option<String> {
    let words = view.words.summary;
    let mean = |target: u32| Some((target, load.at(target, view.lowest())?.latency().mean_ns?));
    let known = || view.targets.iter().filter_map(|target| mean(*target));
    let shortest = || known().min_by(|a, b| a.1.total_cmp(&b.1));
    let (on, mean) = target.map_or_else(shortest, mean)?;
    let among = target.is_none() && known().nth(1).is_some();
    let kind = if load.is_open_loop() { words.response_time } else { words.service_time };
    let kind = [("kind", kind.to_owned()), ("profile", load.title.clone())];
    let values = [
        view.per(),
        ("kind", fill_in(words.latency_of, &kind)),
        ("outstanding", view.lowest().to_string()),
        ("latency", number::duration(mean)),
        ("target", view.target_name(on)),
    ];
    Some(fill_in(if among { words.shortest } else { words.latency }, &values))
}

fn trust(view: &View<'_>) -> String {
    let words = view.words.summary;
    let points = view.points().count();
    let [a, b, c] = tables::grades(view);
    let heaviest = heaviest_findings(view);
    let missing = view.planned().saturating_sub(points);
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
        } else if c == 0 && points > 1 {
            words.all_valid[usize::from(b == points)]
        } else {
            words.graded
        },
        &values,
    )
}

/// The heaviest kinds of doubt, then the most frequent.
fn heaviest_findings(view: &View<'_>) -> Vec<String> {
    let words = view.words.summary;
    let mut seen: BTreeMap<Code, (Severity, usize, String)> = BTreeMap::new();
    // A point of several drives may have a doubt more than once.
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

/// The largest value of each load, and whose it is: once where all are of one target.
fn concluded(view: &View<'_>) -> Option<String> {
    let words = view.words.paper;
    let best: std::collections::BTreeSet<u32> =
        view.swept().filter_map(|load| Some(best(view, load)?.0)).collect();
    let winner = best.first().filter(|_| best.len() == 1 && view.compares());
    let told = |load: &Load<'_>| match winner {
        Some(target) => maximum_on(view, load, *target),
        None => maximum(view, load),
    };
    let mut maxima: Vec<String> = view.swept().filter_map(told).collect();
    let more = maxima.len().saturating_sub(LOADS_NAMED);
    maxima.truncate(LOADS_NAMED);
    let more = (more > 0).then(|| counted(words.concluded_more, more));
    let mut values = vec![("maxima", maxima.join(view.words.clause))];
    values.extend(more.map(|more| ("more", more)));
    values.extend(winner.map(|target| ("target", view.target_name(*target))));
    let template = if winner.is_some() { words.concluded_of_one } else { words.concluded };
    (!maxima.is_empty()).then(|| fill_in(template, &values))
}

/// The conclusion: the maximum of every load, the shortest latency or the reader's, and how far it
/// can be trusted.
pub(crate) fn conclusion(view: &View<'_>) -> Vec<String> {
    let mut told: Vec<String> = concluded(view).into_iter().collect();
    if let Some(bandwidth) = Bandwidth::new(view) {
        told.extend(bandwidth::sentences::results(view, &bandwidth));
    }
    let steps = Steps::new(view);
    if steps.are_write_pressure() {
        told.push(pressure::sentences::responsiveness(view, &steps));
    }
    told.push(trust(view));
    told
}
