//! Bandwidth: total throughput of many threads, by number of threads and transfer size.

mod pictures;
mod rates;
pub(crate) mod sentences;
pub(crate) mod tables;
#[cfg(test)]
mod tests;

use crate::document::{Block, Section};
use crate::view::View;

pub(crate) use pictures::{best_over_threads, of_runs};
pub(crate) use rates::Bandwidth;

/// The section of a run that measured bandwidth.
pub(crate) fn section(view: &View<'_>) -> Option<Section> {
    let bandwidth = Bandwidth::new(view)?;
    let words = view.words.bandwidth;
    let mut blocks = vec![Block::Paragraph(words.intro.to_owned())];
    blocks.push(Block::Table(tables::rates(view, &bandwidth)));
    blocks.extend(tables::scaling(view, &bandwidth).map(Block::Table));
    blocks.push(Block::Pictures(pictures::over_threads(view, &bandwidth)));
    Some(Section::new("bandwidth", words.section, blocks))
}
