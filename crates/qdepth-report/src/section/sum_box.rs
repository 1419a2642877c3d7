//! Summary box of a chapter.

use crate::document::Block;
use crate::view::View;

/// The summary box of a chapter: the text of the publisher file, else these sentences; `None` if
/// there are none.
pub(crate) fn of_chapter(view: &View<'_>, id: &str, generated: Vec<String>) -> Option<Block> {
    let own = view.paper.sum_up.get(id).map_or("", |text| text.in_lang(view.lang)).trim();
    let own: Vec<String> = own.split("\n\n").map(|part| part.trim().to_owned()).collect();
    let mut sentences = if own.iter().all(String::is_empty) { generated } else { own };
    sentences.retain(|text| !text.is_empty());
    let title = view.words.explain.sum_up.to_owned();
    (!sentences.is_empty()).then_some(Block::SumUp { title, sentences })
}
