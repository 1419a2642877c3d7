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
        let [calibrated, predicted, reproduced, tabled, inconsistent, derived, given] =
            self.words.uses;
        match used {
            Use::Calibrated => calibrated,
            Use::Predicted => predicted,
            Use::ReproducedNotValidated => reproduced,
            Use::Tabled => tabled,
            Use::Inconsistent => inconsistent,
            Use::Derived => derived,
            Use::Given => given,
        }
    }
}

/// Entry with this title, which is appended if it is new.
pub(super) fn entry<T: Default>(all: &mut Vec<(String, T)>, title: String) -> &mut T {
    let known = all.iter().position(|(other, _)| *other == title);
    let index = known.unwrap_or_else(|| {
        all.push((title, T::default()));
        all.len() - 1
    });
    &mut all[index].1
}

/// Document and section as a heading.
pub(super) fn titled(lang: Lang, section: &str) -> String {
    match section.split_once(": ") {
        Some((document, section)) => with_subject(lang, document, &heading(lang, section)),
        None => heading(lang, section),
    }
}
