//! Section of a comparison.

mod pictures;
pub(crate) mod tables;

use crate::document::{Block, Section, Table};
use crate::view::View;

/// The tables of a comparison, also for the terminal.
pub(crate) fn all_tables(view: &View<'_>) -> Vec<Table> {
    let Some(compared) = view.compared else { return Vec::new() };
    let mut all = vec![tables::factors(view, compared)];
    all.extend(compared.record.shaded.then(|| tables::shades(view, compared)));
    all.extend(crate::section::sweep::tables::quotients(view));
    all.extend(tables::latencies(view, compared));
    all.extend(tables::parts(view, compared));
    all.retain(|table| !table.rows.is_empty());
    all
}

/// The section of a comparison; `None` for other runs.
pub(crate) fn section(view: &View<'_>) -> Option<Section> {
    let (words, compared) = (view.words.comparison, view.compared?);
    let mut blocks = vec![Block::Paragraph(words.intro[compared.kind()].to_owned())];
    blocks.extend(all_tables(view).into_iter().map(Block::Table));
    let bars = pictures::bars(view, compared);
    blocks.extend((!bars.is_empty()).then_some(Block::Pictures(bars)));
    Some(Section { id: "comparison".to_owned(), title: words.section.to_owned(), blocks })
}
