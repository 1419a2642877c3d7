//! Publisher file of a report: a small TOML file. All keys are optional.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::words::Lang;

/// Chapters that have a summary box.
const CHAPTERS: [&str; 6] =
    ["diagrams", "comparison", "write-pressure", "bandwidth", "over-time", "snia"];

/// Error of a publisher file.
#[derive(Debug, thiserror::Error)]
pub enum PaperError {
    /// Not TOML, or an unknown key.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// A summary for a chapter that does not exist.
    #[error("`sum-up` has no chapter `{unknown}`; the chapters are {}", CHAPTERS.join(", "))]
    NoChapter {
        /// Its name.
        unknown: String,
    },
}

/// Publisher, title and version of a paper.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Paper {
    /// Title that replaces the generated one.
    pub title: Text,
    /// A paragraph above the generated summary.
    #[serde(rename = "abstract")]
    pub opening: Text,
    /// Text of a first section; blank lines separate paragraphs.
    pub introduction: Text,
    /// Publisher.
    pub organisation: Text,
    /// Publisher's logo: SVG, PNG or JPEG, relative to the folder of this file.
    pub logo: Option<String>,
    /// Picture that replaces the generated storage topology: SVG, PNG or JPEG, relative to the
    /// folder of this file.
    pub topology: Option<String>,
    /// Texts that replace the generated summary boxes, by the chapter's name in the page.
    pub sum_up: BTreeMap<String, Text>,
    /// Text that replaces the generated recommendation; blank lines separate paragraphs.
    pub recommendation: Text,
    /// Contact, one line each.
    pub contact: Vec<Text>,
    /// Version of the document, for example `1.0a`.
    pub version: String,
    /// Date of the document, for example 2026-11-21; the day of the run if there is none.
    pub date: Option<String>,
    /// This version and earlier ones, the oldest first.
    pub history: Vec<Revision>,
    /// Literature in addition to the sources of the method.
    pub literature: Vec<Source>,
    /// Products, as their vendors present them.
    pub products: Vec<Product>,
    /// Description of the software that administers the storage; blank lines separate paragraphs.
    pub administration: Text,
    /// Settings used in the tests.
    pub configuration: Vec<Configuration>,
    /// Notes that texts refer to as *1, *2.
    pub footnotes: Vec<Text>,
    /// Data-sheet maxima for the diagrams of rates.
    pub data_sheet: Vec<DataSheet>,
}

/// A product, as its vendor presents it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Product {
    /// Name.
    pub name: Text,
    /// Introduction; blank lines separate paragraphs.
    pub introduction: Text,
    /// Technical data: names and values.
    pub data: Vec<[Text; 2]>,
    /// Order code.
    pub order_code: String,
}

/// A setting used in the tests: firmware, a driver, a system parameter.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Configuration {
    /// Subject of the setting: BIOS, driver, operating system.
    pub subject: Text,
    /// Name of the setting.
    pub setting: Text,
    /// Value of the setting.
    pub value: Text,
    /// Tests that the setting applies to; empty for all.
    pub tests: Text,
}

/// A cited source, with its address.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Source {
    /// A text with a link.
    Linked(Linked),
    /// A text without a link.
    Plain(Text),
}

/// A text with a link.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linked {
    /// Text.
    pub text: Text,
    /// Address: http or https.
    pub link: String,
}

impl Source {
    /// The text in a language, and the address if a browser may follow it.
    pub fn in_lang(&self, lang: Lang) -> (&str, Option<&str>) {
        let is_web = |link: &&str| link.starts_with("https://") || link.starts_with("http://");
        match self {
            Self::Plain(text) => (text.in_lang(lang), None),
            Self::Linked(linked) => (linked.text.in_lang(lang), Some(&*linked.link).filter(is_web)),
        }
    }
}

/// Maximum figures of a data sheet, in its units: 1 MB is 10^6 bytes. Figures that it does not give
/// are missing.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct DataSheet {
    /// Drive name.
    pub name: Text,
    /// Throughput of sequential reads, MB/s of 10^6 bytes.
    pub sequential_read_mb_s: Option<f64>,
    /// Throughput of sequential writes, MB/s of 10^6 bytes.
    pub sequential_write_mb_s: Option<f64>,
    /// Random reads of 4 KiB, IOPS.
    pub random_read_4k_io_s: Option<f64>,
    /// Random writes of 4 KiB, IOPS.
    pub random_write_4k_io_s: Option<f64>,
}

impl DataSheet {
    /// Sets the figure with this name in a device model; unknown names are ignored.
    pub fn promise(&mut self, name: &str, value: f64) {
        let slot = match name {
            "sequential_read_mb_s" => &mut self.sequential_read_mb_s,
            "sequential_write_mb_s" => &mut self.sequential_write_mb_s,
            "random_read_4k_io_s" => &mut self.random_read_4k_io_s,
            "random_write_4k_io_s" => &mut self.random_write_4k_io_s,
            _ => return,
        };
        *slot = Some(value);
    }

    /// The maximum rate for a load according to the data sheet, IOPS; `None` for loads that it does
    /// not cover: mixed ones, and random ones of other sizes.
    pub fn maximum(&self, random_share: f64, read_share: f64, request_bytes: f64) -> Option<f64> {
        let is = |share: f64, whole: f64| (share - whole).abs() < 1e-9;
        let reads = is(read_share, 1.0);
        if !reads && !is(read_share, 0.0) {
            return None;
        }
        let promised = |read: Option<f64>, write: Option<f64>| if reads { read } else { write };
        if is(random_share, 0.0) {
            let mb_s = promised(self.sequential_read_mb_s, self.sequential_write_mb_s)?;
            return Some(mb_s * 1e6 / request_bytes).filter(|rate| rate.is_finite());
        }
        let known = is(random_share, 1.0) && is(request_bytes, 4096.0);
        promised(self.random_read_4k_io_s, self.random_write_4k_io_s).filter(|_| known)
    }
}

/// A version of the document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Revision {
    /// Version number.
    pub version: String,
    /// Its date, as 2026-11-21.
    pub date: String,
    /// Changes.
    pub changes: Text,
}

/// A text that is the same in every language, or one text per language: `{ en = "…", ja = "…" }`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// The same in every language.
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
    /// The text in a language; else the English one, else any.
    pub fn in_lang(&self, lang: Lang) -> &str {
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
    /// Parses the text of the file.
    ///
    /// # Errors
    /// [`PaperError::Toml`] with the line of the error, [`PaperError::NoChapter`].
    pub fn from_toml(text: &str) -> Result<Self, PaperError> {
        let paper: Self = toml::from_str(text)?;
        match paper.sum_up.keys().find(|chapter| !CHAPTERS.contains(&chapter.as_str())) {
            Some(unknown) => Err(PaperError::NoChapter { unknown: unknown.clone() }),
            None => Ok(paper),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paper_texts_are_common_or_per_language() {
        let paper = Paper::from_toml(
            "title = { en = \"Drives\", ja = \"ドライブ\" }\norganisation = \"ACME\"\n\
             [[history]]\nversion = \"1.0\"\ndate = \"2026-11-21\"\nchanges = { en = \"First\" }\n",
        )
        .unwrap();
        assert_eq!(
            [paper.title.in_lang(Lang::En), paper.title.in_lang(Lang::Ja)],
            ["Drives", "ドライブ"]
        );
        assert_eq!(paper.organisation.in_lang(Lang::Ja), "ACME");
        assert_eq!(paper.history[0].changes.in_lang(Lang::Ja), "First");
        assert_eq!(Paper::from_toml("").unwrap(), Paper::default());
    }

    #[test]
    fn data_sheet_maximum_applies_only_to_pure_loads() {
        let paper = Paper::from_toml(
            "[[data-sheet]]\nname = \"P3700\"\nsequential-read-mb-s = 2800\n\
             random-write-4k-io-s = 90000\n",
        );
        let paper = paper.unwrap();
        let sheet = &paper.data_sheet[0];
        // 2,800 million bytes per second in requests of 64 KiB.
        assert_eq!(sheet.maximum(0.0, 1.0, 65_536.0).map(f64::round), Some(42_725.0));
        assert_eq!(sheet.maximum(1.0, 0.0, 4096.0), Some(90_000.0));
        for (random, read, bytes) in
            [(1.0, 0.0, 8192.0), (1.0, 0.67, 4096.0), (0.0, 0.0, 65_536.0), (0.0, 1.0, 0.0)]
        {
            assert_eq!(sheet.maximum(random, read, bytes), None, "{random} {read} {bytes}");
        }
    }

    #[test]
    fn unknown_key_is_named_with_its_line() {
        let error = Paper::from_toml("version = \"1\"\norganization = \"ACME\"\n").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("line 2") && text.contains("organization"), "{text}");
    }

    #[test]
    fn unknown_section_error_lists_the_sections() {
        let sums = |chapter: &str| Paper::from_toml(&format!("[sum-up]\n{chapter} = \"So.\"\n"));
        assert_eq!(sums("diagrams").unwrap().sum_up["diagrams"].in_lang(Lang::Ja), "So.");
        let error = sums("diagram").unwrap_err().to_string();
        assert!(error.contains("`diagram`") && error.contains("write-pressure"), "{error}");
    }

    proptest! {
        #[test]
        fn any_paper_text_parses_without_panic(text in "\\PC{0,200}") {
            let _ = Paper::from_toml(&text);
        }
    }
}
