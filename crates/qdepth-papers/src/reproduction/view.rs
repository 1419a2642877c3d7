//! Inputs of the parts of the page.

use crate::{Comparison, Use};
use qdepth_words::{Lang, ReproductionWords, with_subject};

use crate::phrases::heading;

/// Inputs of the parts of the page.
pub(super) struct View<'a> {
    pub(super) comparison: &'a Comparison,
    pub(super) words: &'static ReproductionWords,
    pub(super) lang: Lang,
}

impl View<'_> {
    pub(super) fn use_name(&self, used: Use) -> &'static str {
        self.words.uses[used as usize]
    }
}

/// Document and section as a heading.
pub(super) fn titled(lang: Lang, section: &str) -> String {
    match section.split_once(": ") {
        Some((document, section)) => with_subject(lang, document, &heading(lang, section)),
        None => heading(lang, section),
    }
}
