//! Texts of reports: one flat catalogue for each language in `text/`, whose keys are the fields of
//! [`Words`]. [`MISSING`] lists the texts that a language lacks; they appear in English.
//!
//! The crate only fills, counts and looks up texts. It does not know what a run is.

mod fill;
mod names;
#[cfg(test)]
mod tests;

pub use fill::{PluralForms, counted, fill, fill_in, grouped_digits, in_brackets, with_subject};
pub use names::{fact_name, fact_source, fact_subject, fact_value, step_title};

/// Texts by name, sorted, for names that are not known at compile time.
pub type Map<T> = &'static [(&'static str, T)];

/// Entry of a map with this name, if there is one.
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
