//! Our edition of a published report: its sections in its order, each with its diagrams (published
//! points over emulated curves), its figures and what it says about them.

use qdepth_reference::{Comparison, Use};

use super::tables::{figures, maxima, relations, shading};
use super::{View, banners, facts, pictures, summary};
use crate::document::{Block, Cover, Document, Section};
use crate::paper::literature;
use crate::words::{Lang, say, words};

/// Composes the edition of the comparison's documents. `version` is the program's, `command` what
/// made it.
pub fn compose_edition(
    comparison: &Comparison,
    version: &str,
    command: &str,
    lang: Lang,
) -> Document {
    let words = words(lang);
    let view = View { comparison, words: words.reproduction, lang };
    let titles: Vec<&str> = comparison.documents.iter().map(|d| d.title.as_str()).collect();
    let title = say(words.reproduction.edition.title, &[("documents", titles.join(words.list[0]))]);
    let method = words.reproduction.method.map(|text| Block::Paragraph(text.to_owned()));
    let mut sections = vec![section("method", words.reproduction.edition.method, method.into())];
    sections[0].blocks.push(Block::Paragraph(words.reproduction.diagrams_intro.to_owned()));
    sections[0].blocks.push(Block::Paragraph(words.reproduction.uses_intro.to_owned()));
    let plans = super::tables::plans(&view);
    sections[0].blocks.extend((!plans.rows.is_empty()).then_some(Block::Table(plans)));
    sections.extend(results(&view));
    let shaded = shading(&view).into_iter().map(Block::Table).collect();
    sections.push(section("shading", words.reproduction.edition.shading, shaded));
    let said = relations(&view).into_iter().map(|(_, table)| Block::Table(table)).collect();
    sections.push(section("relations", words.reproduction.edition.relations, said));
    let reached = [super::tables::goals(&view), super::tables::sections(&view)];
    let mut conclusion: Vec<Block> = summary(&view).into_iter().map(Block::Paragraph).collect();
    conclusion.extend(reached.map(Block::Table));
    sections.push(section("conclusion", words.paper.sections[2], conclusion));
    let cited = literature::numbered(titles.iter().copied());
    let cited = cited.into_iter().map(Block::Paragraph).collect();
    sections.push(section("literature", words.paper.sections[3], cited));
    sections.retain(|section| !section.blocks.is_empty());
    Document {
        lang,
        cover: Cover { version: version.to_owned(), ..Cover::default() },
        title,
        subtitle: words.reproduction.edition.subtitle.to_owned(),
        mark: words.reproduction.emulated[0].to_owned(),
        banners: banners(&view),
        summary: summary(&view),
        facts: facts(&view, version, command),
        sections,
        footer: words.footer.to_owned(),
    }
}

fn section(id: &str, title: &str, blocks: Vec<Block>) -> Section {
    Section { id: id.to_owned(), title: title.to_owned(), blocks }
}

/// A section for each of the document's, in the order in which it prints figures: diagrams, then
/// figures.
fn results(view: &View<'_>) -> Vec<Section> {
    let mut all: Vec<Section> = Vec::new();
    let printed = view.comparison.figures.iter().filter(|f| f.published.used != Use::Given);
    for figure in printed {
        place(&mut all, &format!("{}: {}", figure.published.document, figure.published.section));
    }
    for (title, diagrams) in pictures::by_section(view) {
        let at = place(&mut all, &title);
        all[at].blocks.push(Block::Pictures(diagrams));
    }
    for (title, table) in maxima(view).into_iter().chain(figures(view)) {
        let at = place(&mut all, &title);
        all[at].blocks.push(Block::Table(table));
    }
    // Bars without printed figures were placed last; what the document concludes stays its end.
    all.sort_by_key(|section| section.title.ends_with("Conclusion"));
    // `p3700: A single PCIe-SSD`: of one document, without its name.
    let one = view.comparison.documents.len() == 1;
    for section in all.iter_mut().filter(|_| one) {
        if let Some((_, title)) = section.title.split_once(": ") {
            section.title = title.to_owned();
        }
    }
    all
}

/// The place of the section of that title, which is made where there is none.
fn place(all: &mut Vec<Section>, title: &str) -> usize {
    let known = all.iter().position(|section| section.title == title);
    known.unwrap_or_else(|| {
        all.push(section(&format!("results-{}", all.len() + 1), title, Vec::new()));
        all.len() - 1
    })
}
