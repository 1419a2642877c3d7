//! The section of findings: each kind once, with its figures and locations.

use std::collections::{BTreeMap, BTreeSet};

use qdepth_measure::{Code, Finding, Severity};

use crate::document::{Block, FindingCase, FindingGroup};
use crate::grouped::grouped;
use crate::view::{Load, Point, View};
use crate::words::{fill_in, finding_text, findings_text, with_subject};
use crate::{number, trace};

/// Largest number of separate cases of a kind; more are merged, with ranges of figures.
const CASES: usize = 3;
/// Largest number of loads whose queue depths are listed; for more, the points are listed.
const LOADS_NAMED: usize = 6;
/// Largest number of queue depths that are listed one by one.
const STRETCHED: usize = 12;

/// Findings by kind, the most severe and most frequent first. Points with the same text share a
/// case.
pub(crate) fn findings(view: &View<'_>) -> Vec<Block> {
    let mut groups: BTreeMap<(bool, Code), Vec<Case>> = BTreeMap::new();
    let mut add = |finding: &Finding, location: Option<FindingLocation>| {
        let explanation = finding_text(finding, view.lang).explanation;
        let key = (finding.severity != Severity::Invalid, finding.code);
        let cases = groups.entry(key).or_default();
        match cases.iter_mut().find(|case| case.explanation == explanation) {
            Some(case) => case.locations.extend(location),
            None => {
                let (findings, locations) = (vec![finding.clone()], location.into_iter().collect());
                cases.push(Case { explanation, findings, locations });
            }
        }
    };
    for finding in &view.run.findings {
        add(finding, None);
    }
    for (load, point) in view.points() {
        for finding in &point.record.findings {
            add(finding, Some(FindingLocation::new(view, load, point)));
        }
    }
    if groups.is_empty() {
        return vec![Block::Paragraph(view.words.findings.none.to_owned())];
    }
    let blocks = groups
        .into_iter()
        .map(|((remark, code), cases)| Block::Finding(block(view, code, !remark, cases)));
    blocks.collect()
}

/// A finding with its location; `None` for the whole run.
type Located<'f> = (&'f Finding, Option<String>);

/// A line for each kind of finding, the most severe and most frequent first, with its number of
/// points and the worst location.
pub(crate) fn lines(view: &View<'_>) -> Vec<String> {
    let mut kinds: BTreeMap<(bool, Code), Vec<Located<'_>>> = BTreeMap::new();
    let key = |finding: &Finding| (finding.severity != Severity::Invalid, finding.code);
    for finding in &view.run.findings {
        kinds.entry(key(finding)).or_default().push((finding, None));
    }
    for (load, point) in view.points() {
        let location = FindingLocation::new(view, load, point);
        let location = location_words(view, &[location]);
        let mut seen = BTreeSet::new();
        for finding in &point.record.findings {
            if seen.insert(finding.code) {
                kinds.entry(key(finding)).or_default().push((finding, Some(location.clone())));
            }
        }
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    let on_points =
        |all: &[Located<'_>]| all.iter().filter(|(_, location)| location.is_some()).count();
    let on_run = |all: &[Located<'_>]| all.iter().any(|(_, location)| location.is_none());
    // An invalid run makes all its points invalid.
    let affected = |remark: bool, all: &[Located<'_>]| {
        if on_run(all) && !remark { usize::MAX } else { on_points(all) }
    };
    kinds.sort_by_key(|((remark, _), all)| (*remark, std::cmp::Reverse(affected(*remark, all))));
    let words = view.words.findings;
    let line = |((remark, _), all): ((bool, Code), Vec<Located<'_>>)| {
        let (n, points) = (on_points(&all), view.points().count());
        let form = match n {
            _ if on_run(&all) => words.whole_run,
            n if n == points => words.on_all[usize::from(n > 1)],
            n => words.on_some[usize::from(n > 1)],
        };
        let values = [
            ("n", number::count(n as u64)),
            ("of", number::count(points as u64)),
            ("place", worst(&all).to_owned()),
        ];
        let severity = if remark { words.remark } else { words.invalid };
        let title = all.first().map(|(first, _)| finding_text(first, view.lang).title);
        with_subject(
            view.lang,
            severity,
            &with_subject(view.lang, &title.unwrap_or_default(), &fill_in(form, &values)),
        )
    };
    kinds.into_iter().map(line).collect()
}

/// Location at which the first figure of a kind is largest; for numbers of samples, smallest.
fn worst<'a>(all: &'a [Located<'_>]) -> &'a str {
    let figure = |finding: &Finding| {
        let name = finding.code.meaning().values.first()?;
        let value = *finding.values.get(*name)?;
        Some(if *name == "samples" { -value } else { value })
    };
    let mut worst: Option<(f64, &str)> = None;
    for (finding, location) in all {
        let Some(location) = location else { continue };
        let value = figure(finding).unwrap_or(0.0);
        if worst.is_none_or(|(most, _)| value > most) {
            worst = Some((value, location));
        }
    }
    worst.map_or("", |(_, location)| location)
}

/// Location of a finding.
struct FindingLocation {
    load: String,
    target: u32,
    /// Queue depth, or step.
    at: String,
    is_step: bool,
    points: Vec<u32>,
}

impl FindingLocation {
    fn new(view: &View<'_>, load: &Load<'_>, point: &Point<'_>) -> Self {
        let record = point.record;
        let at = view.at(load, record);
        let points = trace::point_indices(view, point);
        Self { load: load.title.clone(), target: record.target, at, is_step: load.stepped, points }
    }
}

/// Findings with the same text.
struct Case {
    explanation: String,
    /// One finding for each set of figures.
    findings: Vec<Finding>,
    locations: Vec<FindingLocation>,
}

fn block(view: &View<'_>, code: Code, invalid: bool, mut cases: Vec<Case>) -> FindingGroup {
    let words = view.words.findings;
    let text = cases.first().and_then(|case| case.findings.first());
    let text = text.map(|finding| finding_text(finding, view.lang));
    if cases.len() > CASES {
        cases = merged(view, cases);
    }
    let case = |case: Case| FindingCase {
        location: location_words(view, &case.locations),
        explanation: case.explanation,
    };
    FindingGroup {
        code: code.as_str().to_owned(),
        title: text.as_ref().map(|text| text.title.clone()).unwrap_or_default(),
        severity: if invalid { words.invalid } else { words.remark }.to_owned(),
        invalid,
        advice: text.map(|text| text.advice).unwrap_or_default(),
        cases: cases.into_iter().map(case).collect(),
    }
}

/// Merges cases that differ only in their figures.
fn merged(view: &View<'_>, cases: Vec<Case>) -> Vec<Case> {
    let mut all: Vec<Case> = Vec::new();
    for case in cases {
        let alike = |other: &&mut Case| {
            let named = |case: &Case| {
                let first = case.findings.first();
                // The programs differ from point to point; the first case names its own.
                let labels = |f: &Finding| {
                    let others = f.labels.iter().filter(|(name, _)| *name != "processes");
                    others.map(|(name, text)| (name.clone(), text.clone())).collect::<Vec<_>>()
                };
                first.map(|f| (labels(f), f.values.keys().cloned().collect::<Vec<_>>()))
            };
            named(other) == named(&case) && other.locations.is_empty() == case.locations.is_empty()
        };
        match all.iter_mut().find(alike) {
            Some(other) => {
                other.findings.extend(case.findings);
                other.locations.extend(case.locations);
            }
            None => all.push(case),
        }
    }
    for case in &mut all {
        let [first, others @ ..] = case.findings.as_slice() else { continue };
        case.explanation = findings_text(first, others, view.lang).explanation;
    }
    all
}

/// Queue depths as text, for example `1, 2, 4`; many consecutive ones as a range, for example
/// `1–128`.
fn listed(view: &View<'_>, mut at: Vec<&str>) -> String {
    let all: Vec<String> = view.intensities.iter().map(ToString::to_string).collect();
    let position = |at: &&str| all.iter().position(|known| known == at);
    at.sort_by_key(position);
    if at.len() > STRETCHED && at.iter().all(|at| position(at).is_some()) {
        let follow = |a: &&str, b: &&str| position(a).map(|a| a + 1) == position(b);
        let stretch = |at: &[&str]| match at {
            [first, _, .., last] => format!("{first}–{last}"),
            few => few.join(view.words.list[0]),
        };
        let stretches: Vec<String> = at.chunk_by(follow).map(stretch).collect();
        return stretches.join(view.words.list[0]);
    }
    at.join(view.words.list[0])
}

/// Locations as text, for example `Database on nvme0n1 at 1, 2, 4; Restore …`; for many loads,
/// their points.
fn location_words(view: &View<'_>, locations: &[FindingLocation]) -> String {
    let words = view.words.findings;
    if locations.is_empty() {
        return words.whole_run.to_owned();
    }
    let keyed =
        locations.iter().map(|place| ((&*place.load, place.target, place.is_step), &*place.at));
    let by_line = grouped(keyed);
    if by_line.len() > LOADS_NAMED {
        let points: BTreeSet<u32> = locations.iter().flat_map(|p| &p.points).copied().collect();
        let points: Vec<u32> = points.into_iter().collect();
        let values = [
            ("n", number::count(points.len() as u64)),
            ("of", number::count(u64::from(view.run.points_planned))),
            ("points", trace::text(&points)),
        ];
        return fill_in(words.many, &values);
    }
    let template = if view.compares() { words.place_on } else { words.place };
    let lines = by_line.into_iter().map(|((load, target, is_step), at)| {
        fill_in(
            template,
            &[
                ("profile", load.to_owned()),
                ("target", view.target_name(target)),
                (if is_step { "step" } else { "queue_depth" }, listed(view, at)),
            ],
        )
    });
    lines.collect::<Vec<_>>().join(view.words.clause)
}

#[cfg(test)]
mod tests {
    use qdepth_measure::{Code, Finding};

    use crate::compose;
    use crate::document::{Block, FindingGroup};
    use crate::tests::fixture;
    use crate::words::Lang;

    fn group(every: usize, lang: Lang) -> FindingGroup {
        let samples = |n: usize| n.is_multiple_of(every).then_some(n);
        group_of(samples, lang)
    }

    /// Groups the findings of points with these figures.
    fn group_of(samples: impl Fn(usize) -> Option<usize>, lang: Lang) -> FindingGroup {
        let mut points = fixture::points(1);
        for (n, point) in points.iter_mut().enumerate() {
            let finding = Finding::remark(Code::IntervalNotAvailable).value("autocorrelation", 0.5);
            let found = samples(n).map(|samples| finding.value("samples", samples as f64));
            point.findings.extend(found);
        }
        let document = compose(&fixture::run(1), &points, lang);
        let blocks = document.sections.into_iter().flat_map(|section| section.blocks);
        let mut groups = blocks.filter_map(|block| match block {
            Block::Finding(group) if group.code == Code::IntervalNotAvailable.as_str() => {
                Some(group)
            }
            _ => None,
        });
        groups.next().expect("the doubt is told")
    }

    #[test]
    fn invalidating_run_finding_is_listed_first() {
        let mut points = fixture::points(1);
        for point in &mut points {
            let codes = [Code::IoErrors, Code::Conservation, Code::BytesLaw];
            point.findings.extend(codes.map(Finding::invalid));
        }
        let mut run = fixture::run(1);
        run.findings.push(Finding::invalid(Code::RecordDamaged));
        let shown = crate::on_screen(&run, &points, Lang::En).findings;
        assert!(shown[0].contains("A record of the logbook is damaged"), "{shown:?}");
    }

    #[test]
    fn similar_findings_are_merged_with_value_ranges() {
        let count = fixture::points(1).len();
        let [case] = group(1, Lang::En).cases.try_into().unwrap();
        let span = format!("(samples: 0 to {}, autocorrelation: 0.500)", count - 1);
        assert!(case.explanation.contains(&span), "{}", case.explanation);
        let [case] = group(1, Lang::Ja).cases.try_into().unwrap();
        assert!(case.explanation.contains(&format!("0 ~ {}", count - 1)), "{}", case.explanation);
        // Three cases are listed separately.
        assert_eq!(group(count / 2, Lang::En).cases.len(), 3);
    }

    #[test]
    fn queue_depths_of_merged_findings_are_sorted() {
        // Every fifth point has the same text, so that cases are merged out of order.
        let [case] = group_of(|n| Some(n % 5), Lang::En).cases.try_into().unwrap();
        for clause in case.location.split("; ") {
            let (_, listed) = clause.rsplit_once(" at QD ").unwrap();
            let depths: Vec<u32> = listed.split(", ").map(|depth| depth.parse().unwrap()).collect();
            assert!(depths.len() > 5 && depths.is_sorted(), "{}", case.location);
        }
    }
}
