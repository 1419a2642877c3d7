//! Page that compares published figures with emulated ones.

mod edition;
mod pictures;
mod tables;
#[cfg(test)]
pub(crate) mod tests;
mod view;

pub use edition::compose_edition;

use crate::{Comparison, Document as Source, GoalResult, ShareResult};
use qdepth_document::document::{Banner, Block, Document, Fact, Section, Table};
use qdepth_document::number;
use qdepth_words::{Lang, fill_in, words};

use crate::phrases::translated;
use view::{View, titled};

/// Composes the page of a comparison. `version` is the program's version, `command` the command
/// line that created it.
pub fn compose_reproduction(
    comparison: &Comparison,
    version: &str,
    command: &str,
    lang: Lang,
) -> Document {
    let words = words(lang).reproduction;
    let view = View { comparison, words, lang };
    let ids = comparison.documents.iter().map(|d| d.id.clone()).collect::<Vec<_>>().join(", ");
    let subtitle = fill_in(words.subtitle, &[("documents", ids), ("version", version.to_owned())]);
    Document {
        lang,
        title: words.title.to_owned(),
        subtitle,
        mark: words.emulated[0].to_owned(),
        banners: banners(&view),
        summary: summary(&view),
        facts: facts(&view, version, command),
        sections: sections(&view),
        footer: qdepth_words::words(lang).footer.to_owned(),
        ..Document::default()
    }
}

/// Tables for a terminal and a summary: goals and sections, then every figure and relation with
/// `all`, otherwise only those that miss their thresholds.
pub fn reproduction_tables(
    comparison: &Comparison,
    all: bool,
    lang: Lang,
) -> (Vec<Table>, Vec<String>) {
    let view = View { comparison, words: words(lang).reproduction, lang };
    let mut list = vec![tables::goals(&view), tables::shares(&view), tables::sections(&view)];
    list.push(tables::figures_of_all(&view, all));
    list.push(tables::relations_of_all(&view, all));
    list.extend(all.then(|| tables::plans(&view)));
    list.push(tables::missing(&view));
    list.retain(|table| !table.rows.is_empty());
    (list, summary(&view))
}

fn banners(view: &View<'_>) -> Vec<Banner> {
    let banner = |label: &str, text: String| Banner { label: label.to_owned(), text };
    let [label, text] = view.words.emulated;
    let mut all = vec![banner(label, text.to_owned())];
    let missing: usize = view.comparison.failures().values().sum();
    if missing > 0 {
        let [label, text] = view.words.missing;
        let count = view.comparison.emulation.len();
        let text = fill_in(text, &[("n", missing.to_string()), ("of", count.to_string())]);
        all.push(banner(label, text));
    }
    all
}

fn summary(view: &View<'_>) -> Vec<String> {
    let (comparison, words) = (view.comparison, view.words);
    let held = words.held.into_iter().zip([comparison.relations_held, comparison.shading_held]);
    let shares: Vec<_> =
        held.filter_map(|(name, result)| Some((name, result, result.share()?))).collect();
    let goals = comparison.goals.len() + shares.len();
    let missed_goals = comparison.goals.iter().filter(|goal| !goal.reached);
    let missed_shares = shares.iter().filter(|(_, result, _)| !result.reached);
    let missed_share = |(name, result, share): &(&str, ShareResult, f64)| {
        let values = [
            ("title", (*name).to_owned()),
            ("share", number::percent(*share)),
            ("needed", number::percent(result.needed)),
        ];
        fill_in(words.missed_share, &values)
    };
    let missed: Vec<String> = missed_goals
        .map(|goal| missed_goal(view, goal))
        .chain(missed_shares.map(missed_share))
        .collect();
    let template = if missed.is_empty() { words.all_reached } else { words.some_reached };
    let mut all = Vec::new();
    if goals > 0 {
        all.push(fill_in(
            template,
            &[
                ("n", (goals - missed.len()).to_string()),
                ("of", goals.to_string()),
                ("missed", missed.join(qdepth_words::words(view.lang).clause)),
            ],
        ));
    }
    let shares =
        [(words.relations, comparison.relations_held), (words.shading, comparison.shading_held)];
    for (template, result) in shares {
        let Some(share) = result.share() else { continue };
        all.push(fill_in(
            template,
            &[
                ("n", result.holding.to_string()),
                ("of", result.of.to_string()),
                ("share", number::percent(share)),
                ("needed", number::percent(result.needed)),
            ],
        ));
    }
    all
}

/// Text for a missed goal: its title and the errors above the thresholds.
fn missed_goal(view: &View<'_>, result: &GoalResult) -> String {
    let (goal, errors) = (&result.goal, &result.errors);
    let mut values = vec![("title", translated(view.lang, &goal.title))];
    let mut beyond = |names: [&'static str; 2], error: Option<f64>, bar: Option<f64>| {
        let (Some(error), Some(bar)) = (error, bar.map(|percent| percent / 100.0)) else { return };
        if error > bar {
            values.extend([(names[0], number::percent(error)), (names[1], number::percent(bar))]);
        }
    };
    beyond(["mean", "mean_bar"], errors.mean, Some(goal.mean));
    beyond(["worst", "worst_bar"], errors.worst, goal.worst);
    fill_in(view.words.missed_goal, &values)
}

fn facts(view: &View<'_>, version: &str, command: &str) -> Vec<Fact> {
    let words = view.words;
    let fact =
        |name: &str, value: String, literal: bool| Fact { name: name.to_owned(), value, literal };
    let title = |document: &Source| {
        fact(words.documents, document.title_in(view.lang.tag()).to_owned(), false)
    };
    let mut all: Vec<Fact> = view.comparison.documents.iter().map(title).collect();
    let points = number::count(view.comparison.emulation.len() as u64);
    all.push(fact(words.points, points, false));
    all.push(fact(words.version, format!("qdepth {version}"), false));
    all.push(fact(words.command, command.to_owned(), true));
    all
}

fn sections(view: &View<'_>) -> Vec<Section> {
    let text = |text: &str| Block::Paragraph(text.to_owned());
    let missing = Block::Table(tables::missing(view));
    let shares = Block::Table(tables::shares(view));
    let goals =
        vec![Block::Table(tables::goals(view)), shares, text(view.words.uses_intro), missing];
    let by_section = vec![Block::Table(tables::sections(view))];
    let mut method: Vec<Block> = view.words.method.map(text).into();
    method.push(Block::Table(tables::plans(view)));
    let shading = tables::shading(view).into_iter().map(Block::Table).collect();
    let all_figures = tables::figures(view).into_iter().flat_map(|(title, table)| {
        [Block::Heading(titled(view.lang, &title)), Block::Table(table)]
    });
    let relations = tables::relations(view)
        .into_iter()
        .flat_map(|(title, table)| [Block::Heading(title), Block::Table(table)]);
    let blocks: [Vec<Block>; 7] = [
        goals,
        pictures::diagrams(view),
        by_section,
        shading,
        relations.collect(),
        all_figures.collect(),
        method,
    ];
    let named = view.words.sections.into_iter().zip(blocks);
    let section = |([id, title], blocks): ([&str; 2], Vec<Block>)| Section {
        id: id.to_owned(),
        title: title.to_owned(),
        blocks: blocks.into_iter().filter(has_content).collect(),
    };
    named.map(section).filter(|section| !section.blocks.is_empty()).collect()
}

fn has_content(block: &Block) -> bool {
    !matches!(block, Block::Table(table) if table.rows.is_empty())
}
