//! Published relations: an order, an equality or a shape of figures.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::expression::Condition;
use crate::file::{DataError, checked, list};
use crate::translation::Statement;

/// Use of a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RelationUse {
    /// The emulated figures must show it.
    Held,
    /// The source's own figures contradict it: shown, not counted.
    Inconsistent,
    /// Nothing that figures could show: a definition, a warning, arithmetic.
    Given,
}

/// An entry of `relations.toml`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relation {
    /// Stable id, for example `p3700-r22`.
    pub id: String,
    /// Id of its document.
    pub document: String,
    /// Section of the document.
    pub section: String,
    /// The statement.
    pub says: String,
    /// Conditions under which the statement applies.
    #[serde(rename = "where")]
    pub circumstances: String,
    /// Consequence, in the language of the source.
    pub expected: String,
    /// Use.
    #[serde(rename = "use")]
    pub used: RelationUse,
    /// Reason why the relation is not counted; empty if it is.
    #[serde(default)]
    pub why: String,
    /// Conditions that express the statement; all must hold.
    #[serde(default)]
    pub holds: Vec<Condition>,
    /// Translations, by language tag.
    #[serde(skip)]
    pub(crate) statements: BTreeMap<&'static str, Statement>,
}

/// Text of a relation in one language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelationText<'r> {
    /// The statement.
    pub says: &'r str,
    /// Conditions under which the statement applies.
    pub circumstances: &'r str,
    /// Consequence.
    pub expected: &'r str,
    /// Reason why the relation is not counted; empty if it is.
    pub why: &'r str,
}

impl Relation {
    /// Text in the language of this BCP 47 tag; English if there is no translation.
    pub fn text_in(&self, tag: &str) -> RelationText<'_> {
        let Self { says, circumstances, expected, why, .. } = self;
        let english = RelationText { says, circumstances, expected, why };
        let Some(statement) = self.statements.get(tag) else { return english };
        RelationText {
            says: or(&statement.says, says),
            circumstances: or(&statement.circumstances, circumstances),
            expected: or(&statement.expected, expected),
            why: or(&statement.why, why),
        }
    }
}

/// Translated text, or the English text if there is no translation.
fn or<'r>(translated: &'r str, english: &'r str) -> &'r str {
    if translated.is_empty() { english } else { translated }
}

const FILE: &str = "relations.toml";

/// Parses `relations.toml`.
///
/// # Errors
/// With the line, the column and the permitted values.
pub(crate) fn read(text: &str) -> Result<Vec<Relation>, DataError> {
    checked(FILE, list(FILE, text)?, |relation: &Relation| {
        let Relation { id, used, why, holds, .. } = relation;
        let problem = if (*used == RelationUse::Held) != why.is_empty() {
            Some("what is not held needs a `why`, and what is held has none")
        } else if (*used == RelationUse::Given) != holds.is_empty() {
            Some("what is given has no `holds`, and everything else has")
        } else {
            None
        };
        (id.as_str(), problem)
    })
}
