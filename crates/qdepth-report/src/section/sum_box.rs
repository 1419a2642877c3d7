//! Summary box of a chapter.

use crate::document::Block;
use crate::view::View;

/// The summary box of a chapter: the text of the publisher file, else these sentences; `None` if
/// there are none.
pub(crate) fn of_chapter(view: &View<'_>, id: &str, generated: Vec<String>) -> Option<Block> {
    let own = paragraphs(view.paper.sum_up.get(id).map_or("", |text| text.in_lang(view.lang)));
    let mut sentences = if own.is_empty() { generated } else { own };
    sentences.retain(|text| !text.is_empty());
    let title = view.words.explain.sum_up.to_owned();
    (!sentences.is_empty()).then_some(Block::SumUp { title, sentences })
}

/// Splits a text into paragraphs at blank lines.
pub(crate) fn paragraphs(text: &str) -> Vec<String> {
    let parts = text.split("\n\n").map(str::trim).filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}
