//! The words of reports: one flat catalogue a language, in `text/`, whose keys are the fields of
//! [`Words`]. A language is one file; [`MISSING`] says what it lacks, which is said in English
//! meanwhile.
//!
//! Nothing here knows what a run is: how a text is filled, counted and looked up, and no more.

mod fill;
mod names;
#[cfg(test)]
mod tests;

pub use fill::{Counted, about, aside, counted, fill, fill_in};
pub use names::{fact_name, fact_source, fact_subject, fact_value, step_title};

/// Texts by names that are not known before, in the order of the names.
pub type Map<T> = &'static [(&'static str, T)];

/// Entry of a map for a name.
pub fn entry<T: Copy>(map: Map<T>, name: &str) -> Option<T> {
    let index = map.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    map.get(index).map(|(_, text)| *text)
}

include!(concat!(env!("OUT_DIR"), "/catalogues.rs"));

impl Lang {
    /// Name of the language, in itself and in English.
    pub fn names(self) -> [&'static str; 2] {
        words(self).language
    }
}
