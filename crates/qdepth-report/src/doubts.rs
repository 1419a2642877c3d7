//! The section of doubts: each kind once, with what was found and where.

use std::collections::BTreeMap;

use qdepth_measure::{Code, Finding, Severity};

use crate::document::{Block, FindingCase, FindingGroup};
use crate::view::{Load, Point, View};
use crate::words::{FindingText, finding_text, say};

/// Doubts by kind, the heaviest and most frequent first. Points that share the words of a doubt
/// share a case.
pub(crate) fn findings(view: &View<'_>) -> Vec<Block> {
    let mut groups: BTreeMap<(bool, Code), Group> = BTreeMap::new();
    let mut add = |finding: &Finding, place: Option<(&'_ Load<'_>, &'_ Point<'_>)>| {
        let text = finding_text(finding, view.lang);
        let key = (finding.severity != Severity::Invalid, finding.code);
        let group =
            groups.entry(key).or_insert_with(|| Group { text: text.clone(), cases: Vec::new() });
        let place = place.map(|(load, point)| {
            let record = point.record;
            let at =
                if load.stepped { record.step.clone() } else { record.outstanding.to_string() };
            (load.title.clone(), record.target, at)
        });
        match group.cases.iter_mut().find(|(explanation, _)| *explanation == text.explanation) {
            Some((_, places)) => places.extend(place),
            None => group.cases.push((text.explanation, place.into_iter().collect())),
        }
    };
    for finding in &view.run.findings {
        add(finding, None);
    }
    for (load, point) in view.points() {
        for finding in &point.record.findings {
            add(finding, Some((load, point)));
        }
    }
    if groups.is_empty() {
        return vec![Block::Paragraph(view.words.findings.none.to_owned())];
    }
    let blocks = groups
        .into_iter()
        .map(|((remark, code), group)| Block::Finding(group.into_block(view, code, !remark)));
    blocks.collect()
}

/// Where: title of the load, target, outstanding I/Os or step.
type Place = (String, u32, String);

struct Group {
    text: FindingText,
    cases: Vec<(String, Vec<Place>)>,
}

impl Group {
    fn into_block(self, view: &View<'_>, code: Code, invalid: bool) -> FindingGroup {
        let words = &view.words.findings;
        let cases = self.cases.into_iter().map(|(explanation, places)| FindingCase {
            explanation,
            place: place_words(view, &places),
        });
        FindingGroup {
            code: code.as_str().to_owned(),
            title: self.text.title,
            severity: if invalid { words.invalid } else { words.remark }.to_owned(),
            invalid,
            advice: self.text.advice,
            cases: cases.collect(),
        }
    }
}

/// `Database on nvme0n1 at 1, 2, 4; Restore …`.
fn place_words(view: &View<'_>, places: &[Place]) -> String {
    if places.is_empty() {
        return view.words.findings.whole_run.to_owned();
    }
    let mut by_line: Vec<((&str, u32), Vec<String>)> = Vec::new();
    for (load, target, place) in places {
        let key = (load.as_str(), *target);
        match by_line.iter_mut().find(|(other, _)| *other == key) {
            Some((_, at)) => at.push(place.clone()),
            None => by_line.push((key, vec![place.clone()])),
        }
    }
    let words = &view.words.findings;
    let template = if view.compares() { words.place_on } else { words.place };
    let lines = by_line.into_iter().map(|((load, target), at)| {
        say(
            template,
            &[
                ("profile", load.to_owned()),
                ("target", view.target_name(target)),
                ("outstanding", at.join(view.words.list[0])),
            ],
        )
    });
    lines.collect::<Vec<_>>().join(view.words.clause)
}
