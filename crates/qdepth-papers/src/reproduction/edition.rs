//! Edition of a published report: its sections in their order, each with diagrams (published points
//! over emulated curves), figures, and statements about them.

use crate::{ComparedFigure, Comparison, Errors, Use, Verdict};
use qdepth_document::document::{Block, Cover, Document, Section, numbered};
use qdepth_document::grouped::entry;
use qdepth_document::number;
use qdepth_words::{Lang, counted, fill_in, in_brackets, words};

use super::tables::{figures, load, relations, shading, stated};
use super::view::{View, titled};
use super::{banners, facts, pictures, summary};
use crate::phrases::heading;

/// Composes the edition of the comparison's documents. `version` is the program's version,
/// `command` the command line that created it.
pub fn compose_edition(
    comparison: &Comparison,
    version: &str,
    command: &str,
    lang: Lang,
) -> Document {
    let words = words(lang);
    let view = View { comparison, words: words.reproduction, lang };
    let titles: Vec<&str> = comparison.documents.iter().map(|d| d.title_in(lang.tag())).collect();
    let title =
        fill_in(words.reproduction.edition.title, &[("documents", titles.join(words.list[0]))]);
    let method = words.reproduction.method.map(|text| Block::Paragraph(text.to_owned()));
    let text = |text: &str| Block::Paragraph(text.to_owned());
    let intro = vec![text(words.reproduction.diagrams_intro), text(words.reproduction.uses_intro)];
    let mut sections = vec![Section::new("introduction", words.paper.introduction, intro)];
    sections.extend(results(&view));
    let shaded = shading(&view).into_iter().map(Block::Table).collect();
    sections.push(Section::new("shading", words.reproduction.edition.shading, shaded));
    let relation_tables =
        relations(&view).into_iter().map(|(_, table)| Block::Table(table)).collect();
    sections.push(Section::new("relations", words.reproduction.edition.relations, relation_tables));
    let reached = [super::tables::goals(&view), super::tables::sections(&view)];
    let mut conclusion: Vec<Block> = opening(&view).into_iter().map(Block::Paragraph).collect();
    conclusion.extend(reached.map(Block::Table));
    sections.push(Section::new("conclusion", words.paper.sections[2], conclusion));
    let mut method = Section::new("method", words.reproduction.edition.method, method.into());
    let plans = super::tables::plans(&view);
    method.blocks.extend((!plans.rows.is_empty()).then_some(Block::Table(plans)));
    sections.push(method);
    let cited = numbered(titles.iter().copied());
    let cited = cited.into_iter().map(Block::Paragraph).collect();
    sections.push(Section::new("literature", words.paper.sections[3], cited));
    sections.retain(|section| !section.blocks.is_empty());
    Document {
        lang,
        cover: Cover { version: version.to_owned(), ..Cover::default() },
        title,
        subtitle: words.reproduction.edition.subtitle.to_owned(),
        mark: words.reproduction.emulated[0].to_owned(),
        banners: banners(&view),
        summary: opening(&view),
        facts: facts(&view, version, command),
        sections,
        footer: words.footer.to_owned(),
        ..Document::default()
    }
}

/// Sections in the order in which the documents print figures: diagrams, then figures.
fn results(view: &View<'_>) -> Vec<Section> {
    let mut all: Vec<(String, Vec<Block>)> = Vec::new();
    // Figures without an emulated value count too: they determine the order of the sections.
    for ComparedFigure { published, .. } in &view.comparison.figures {
        entry(&mut all, format!("{}: {}", published.document, published.section));
    }
    for (title, table) in stated(view) {
        entry(&mut all, title).push(Block::Table(table));
    }
    for (title, diagrams) in pictures::by_section(view) {
        entry(&mut all, title).push(Block::Pictures(diagrams));
    }
    for (title, sentences) in statements(view) {
        // Statements of a section without figures appear in the table of statements only.
        if let Some((_, blocks)) = all.iter_mut().find(|(known, _)| *known == title) {
            blocks.extend(sentences.into_iter().map(Block::Paragraph));
        }
    }
    for (title, sentences) in agreement(view) {
        entry(&mut all, title).extend(sentences.into_iter().map(Block::Paragraph));
    }
    for (title, bars) in pictures::bars(view) {
        entry(&mut all, title).push(Block::Pictures(vec![bars]));
    }
    for (title, table) in figures(view) {
        entry(&mut all, title).push(Block::Table(table));
    }
    let is_single = view.comparison.documents.len() == 1;
    let results = all.into_iter().zip(1..).map(|((title, blocks), number)| {
        let title = match is_single {
            true => heading(view.lang, bare_title(&title, view.words.edition.concluded)),
            false => titled(view.lang, &title),
        };
        Section::new(format!("results-{number}"), &title, blocks)
    });
    results.filter(|section| !section.blocks.is_empty()).collect()
}

/// Title of a section in the edition of a single document: without the document's name and its own
/// number, which would conflict with the edition's numbers. "Conclusion" is renamed, because the
/// edition has its own.
fn bare_title<'t>(title: &'t str, concluded: &'t str) -> &'t str {
    let title = title.split_once(": ").map_or(title, |(_, title)| title);
    let numbered = |number: &str| number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let title = match title.split_once(' ') {
        Some((number, title)) if numbered(number) => title,
        _ => title,
    };
    if title == "Conclusion" { concluded } else { title }
}

/// Sentences on each section's statements: those that the emulation reproduces, and those that it
/// does not.
fn statements(view: &View<'_>) -> Vec<(String, Vec<String>)> {
    let edition = view.words.edition;
    let mut all: Vec<(String, [Vec<String>; 2])> = Vec::new();
    for compared in &view.comparison.relations {
        let kind = match compared.verdict {
            Verdict::Holds => 0,
            Verdict::Fails => 1,
            Verdict::Missing | Verdict::Inconsistent | Verdict::Given => continue,
        };
        let text = compared.relation.text_in(view.lang.tag());
        let title = format!("{}: {}", compared.relation.document, compared.relation.section);
        let says = text.says.trim_end_matches(['.', '。']);
        let statement = format!("{says}{}", in_brackets(view.lang, text.circumstances));
        entry(&mut all, title)[kind].push(statement);
    }
    let sentence = |(template, all): (&&'static str, Vec<String>)| {
        let items = all.join(edition.said_between);
        (!all.is_empty()).then(|| fill_in(template, &[("items", items)]))
    };
    let joined = |(title, of_kinds): (String, [Vec<String>; 2])| {
        let sentences = edition.said.iter().zip(of_kinds).filter_map(sentence).collect();
        (title, sentences)
    };
    all.into_iter().map(joined).collect()
}

/// Accuracy of the emulation in each section.
fn agreement(view: &View<'_>) -> Vec<(String, Vec<String>)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for summary in &view.comparison.sections {
        let Some(sentence) = error_sentence(view, summary.used, &summary.errors) else { continue };
        let title = format!("{}: {}", summary.document, summary.section);
        entry(&mut all, title).push(sentence);
    }
    all
}

/// Sentence on the mean and worst error of figures of one use; `None` for uses without a mean.
fn error_sentence(view: &View<'_>, used: Use, errors: &Errors) -> Option<String> {
    let (mean, worst, id) = (errors.mean?, errors.worst?, errors.worst_at.as_ref()?);
    let figure = view.comparison.figures.iter().find(|figure| figure.published.id == *id)?;
    let load = load(view.lang, &figure.published);
    let words = view.words.edition;
    let template = match used {
        Use::Calibrated => words.calibrated,
        Use::Predicted => words.predicted,
        Use::ReproducedNotValidated => words.reproduced,
        _ => return None,
    };
    let n = counted(template, errors.count - errors.missing);
    let values = [
        ("n", n),
        ("mean", number::percent(mean)),
        ("worst", number::percent(worst)),
        ("load", load),
        ("id", id.clone()),
    ];
    Some(fill_in(if errors.count == 1 { words.error } else { words.errors }, &values))
}

/// Sentences on the results: accuracy of predicted figures, then of fitted ones, then goals and
/// relations.
fn opening(view: &View<'_>) -> Vec<String> {
    let uses = [Use::Predicted, Use::Calibrated];
    let errors = uses.map(|used| error_sentence(view, used, &view.comparison.errors_of(used)));
    errors.into_iter().flatten().chain(summary(view)).collect()
}
