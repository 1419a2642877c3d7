//! Plans that answer the question of a section.

use serde::Deserialize;

use qdepth_files::shell_word;

/// Command line of a plan, and the names of its columns in expressions.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SectionPlan {
    /// ID of the document.
    pub document: String,
    /// Section of the document.
    pub section: String,
    /// Arguments of `qdepth run`.
    pub run: Vec<String>,
    /// Names of the columns, in their order.
    pub columns: Vec<String>,
}

impl SectionPlan {
    /// Command for a shell.
    pub fn command(&self) -> String {
        let words: Vec<String> = self.run.iter().map(|word| shell_word(word)).collect();
        format!("qdepth run {}", words.join(" "))
    }
}
