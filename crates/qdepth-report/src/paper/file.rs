//! The file that says who publishes a paper: a small TOML, of which nothing is required.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::words::Lang;

/// Why the file of a paper could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PaperError {
    /// It is not TOML, or has a key that means nothing.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
}

/// Who publishes a paper, under which title, in which version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Paper {
    /// In place of the title that names the targets.
    pub title: Text,
    /// A paragraph above the generated summary.
    #[serde(rename = "abstract")]
    pub opening: Text,
    /// A first section; blank lines part its paragraphs.
    pub introduction: Text,
    /// Who publishes it.
    pub organisation: Text,
    /// File with their mark: SVG, PNG or JPEG, from the folder of this file.
    pub logo: Option<String>,
    /// Whom to ask, a line each.
    pub contact: Vec<Text>,
    /// Version of the document, as `1.0a`.
    pub version: String,
    /// Its date, as 2026-11-21; the day of the run where none is given.
    pub date: Option<String>,
    /// Former versions and this one, the oldest first.
    pub history: Vec<Revision>,
    /// What is cited beside the sources of the method.
    pub literature: Vec<Text>,
}

/// A version of the paper.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Revision {
    /// Its number.
    pub version: String,
    /// Its date, as 2026-11-21.
    pub date: String,
    /// What changed.
    pub changes: Text,
}

/// Words in one form for every language, or in a form for each: `{ en = "…", ja = "…" }`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// The same everywhere.
    Same(String),
    /// By BCP 47 tag.
    Each(BTreeMap<String, String>),
}

impl Default for Text {
    fn default() -> Self {
        Self::Same(String::new())
    }
}

impl Text {
    /// The form of the language; the English one, or any, where it has none.
    pub fn of(&self, lang: Lang) -> &str {
        match self {
            Self::Same(text) => text,
            Self::Each(forms) => {
                let form = forms.get(lang.tag()).or_else(|| forms.get(Lang::En.tag()));
                form.or_else(|| forms.values().next()).map_or("", String::as_str)
            }
        }
    }
}

impl Paper {
    /// Reads the file's text.
    ///
    /// # Errors
    /// [`PaperError::Toml`] with the line where it is not understood.
    pub fn from_toml(text: &str) -> Result<Self, PaperError> {
        Ok(toml::from_str(text)?)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_the_same_everywhere_or_by_language() {
        let paper = Paper::from_toml(
            "title = { en = \"Drives\", ja = \"ドライブ\" }\norganisation = \"ACME\"\n\
             [[history]]\nversion = \"1.0\"\ndate = \"2026-11-21\"\nchanges = { en = \"First\" }\n",
        )
        .unwrap();
        assert_eq!([paper.title.of(Lang::En), paper.title.of(Lang::Ja)], ["Drives", "ドライブ"]);
        assert_eq!(paper.organisation.of(Lang::Ja), "ACME");
        assert_eq!(paper.history[0].changes.of(Lang::Ja), "First");
        assert_eq!(Paper::from_toml("").unwrap(), Paper::default());
    }

    #[test]
    fn a_key_that_means_nothing_is_named_with_its_line() {
        let error = Paper::from_toml("version = \"1\"\norganization = \"ACME\"\n").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("line 2") && text.contains("organization"), "{text}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
            let _ = Paper::from_toml(&text);
        }
    }
}
