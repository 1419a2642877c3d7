//! Runs in steps: sentences, tables and diagrams for loads that ran at the same time, and for a
//! reader while the write load rises.

mod pictures;
pub(crate) use pictures::{means_over_load, slice_ns};
pub(crate) mod sentences;
pub(crate) mod tables;
#[cfg(test)]
pub(crate) mod tests;

use crate::document::{Block, Section};
use crate::section::steps::Steps;
use crate::view::View;

/// The section of a run that has steps.
pub(crate) fn section(view: &View<'_>) -> Option<Section> {
    let (words, steps) = (view.words.pressure, Steps::new(view));
    if steps.all.is_empty() {
        return None;
    }
    if !steps.are_write_pressure() {
        let blocks = vec![Block::Table(tables::loads(view, &steps))];
        return Some(Section::new("steps", words.steps_section, blocks));
    }
    let mut blocks = vec![Block::Paragraph(words.intro.to_owned())];
    let mut paragraphs = vec![sentences::responsiveness(view, &steps)];
    paragraphs.push(sentences::not_followed(view, &steps));
    paragraphs.push(sentences::limits(view, &steps).join(view.words.gap));
    blocks.extend(paragraphs.into_iter().filter(|text| !text.is_empty()).map(Block::Paragraph));
    blocks.push(Block::Pictures(pictures::over_time(view, &steps)));
    blocks.push(Block::Paragraph(sentences::knees(view, &steps)));
    blocks.extend(sentences::falls(view, &steps).into_iter().map(Block::Paragraph));
    blocks.push(Block::Pictures(pictures::over_load(view, &steps)));
    blocks.push(Block::Table(tables::steps(view, &steps)));
    blocks.extend(tables::percentiles(view, &steps).into_iter().map(Block::Table));
    Some(Section::new("write-pressure", words.section, blocks))
}
