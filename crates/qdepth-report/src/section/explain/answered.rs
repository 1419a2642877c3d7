//! Chapters that are the answer to the plan's question.

use super::recommendation::{of_steps, threads};
use crate::document::Section;
use crate::section::answer;
use crate::section::sum_box::of_chapter;
use crate::view::View;

/// Adds the answer and its consequences to a chapter that answers the question; returns others
/// unchanged.
pub(crate) fn answered(view: &View<'_>, mut chapter: Section) -> Section {
    let follows = match chapter.id.as_str() {
        "bandwidth" => threads(view),
        "write-pressure" => of_steps(view),
        "comparison" => Vec::new(),
        _ => return chapter,
    };
    let sentences = std::iter::once(answer::sentence(view)).chain(follows).collect();
    chapter.blocks.extend(of_chapter(view, &chapter.id, sentences));
    chapter
}
