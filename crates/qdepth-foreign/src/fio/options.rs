//! Table of fio's options: those of its core and of the supported engines. An option is honoured,
//! has no effect on figures (a remark), or is refused with the nearest alternative; none is ignored
//! silently.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::remark::{Remark, Remarked};

/// The table of options.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    honoured: Vec<String>,
    silent: Vec<String>,
    standing_alone: Vec<String>,
    program: Vec<ProgramOption>,
    aliases: BTreeMap<String, String>,
    remarked: BTreeMap<Remark, Vec<String>>,
    only: Vec<Only>,
    refused: Vec<Refused>,
}

/// An option of fio itself.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProgramOption {
    pub(super) name: String,
    /// Short option.
    pub(super) letter: char,
    pub(super) takes: Takes,
    /// Reason why it is not supported.
    pub(super) refused: Option<String>,
    /// True if it has no effect here.
    #[serde(default)]
    pub(super) ignored: bool,
}

/// Place of the value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Takes {
    Nothing,
    /// Only after `=`.
    Attached,
    /// After `=`, or as the next word.
    Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Only {
    options: Vec<String>,
    values: Vec<String>,
    why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    options: Vec<String>,
    why: String,
}

/// Support for an option of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// Supported.
    Honoured,
    /// Has no effect on figures, or is reported with them; with the remark.
    Remarked(Remark),
    /// Asks for the only behaviour of qdepth.
    Silent,
    /// Accepted only with one of these values, which ask for the only behaviour; with the reason.
    Only(&'static [String], &'static str),
    /// Not supported; with the reason and an alternative.
    Refused(&'static str),
}

// A test checks that it can be parsed.
static TABLE: LazyLock<Table> = LazyLock::new(|| {
    toml::from_str(include_str!("../../data/fio-options.toml")).unwrap_or_default()
});

/// Rule of each job option, by main name.
static RULES: LazyLock<BTreeMap<&'static str, Rule>> = LazyLock::new(|| {
    let table = &*TABLE;
    let mut rules = BTreeMap::new();
    let mut put = |options: &'static [String], rule| {
        rules.extend(options.iter().map(|name| (name.as_str(), rule)));
    };
    put(&table.honoured, Rule::Honoured);
    put(&table.silent, Rule::Silent);
    for (remark, options) in &table.remarked {
        put(options, Rule::Remarked(*remark));
    }
    for Only { options, values, why } in &table.only {
        put(options, Rule::Only(values, why));
    }
    for Refused { options, why } in &table.refused {
        put(options, Rule::Refused(why));
    }
    rules
});

/// The options of fio itself.
pub(super) fn program_options() -> &'static [ProgramOption] {
    &TABLE.program
}

/// Main name of an option; `None` if fio does not have it.
pub(super) fn canonical(name: &str) -> Option<&'static str> {
    let name = TABLE.aliases.get(name).map_or(name, String::as_str);
    RULES.get_key_value(name).map(|(known, _)| *known)
}

/// All names and aliases of job options.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    RULES.keys().copied().chain(TABLE.aliases.keys().map(String::as_str))
}

/// Rule for an option, by its main name.
pub(super) fn rule(name: &str) -> Rule {
    RULES.get(name).copied().unwrap_or(Rule::Refused("fio has no such option"))
}

/// True if the option takes a value only after `=`, not from the next word.
pub(super) fn stands_alone(name: &str) -> bool {
    let name = canonical(name).unwrap_or(name);
    TABLE.standing_alone.iter().any(|known| known == name)
}

/// Nearest known name for a misspelt one, if one is near enough.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    nearest_of(name, names())
}

/// Like [`nearest`], among these names.
pub(super) fn nearest_of(
    name: &str,
    names: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    if name.len() > 40 {
        return None;
    }
    let most = 1 + name.len() / 4;
    // The edit distance is at least the difference of the lengths.
    let like = names.filter(|known| known.len().abs_diff(name.len()) <= most);
    let near = like.map(|known| (strsim::levenshtein(name, known), known)).min()?;
    (near.0 <= most).then_some(near.1)
}

/// Table of the support for each option, or for those with this name or prefix.
pub fn fio_options(only: Option<&str>) -> String {
    let wanted =
        |name: &str| only.is_none_or(|option| name == option || canonical(option) == Some(name));
    let line = |(name, rule): (&&str, &Rule)| {
        let what = match *rule {
            Rule::Honoured => "honoured".to_owned(),
            Rule::Silent => {
                "accepted: qdepth always does this, or it does not affect the results".to_owned()
            }
            Rule::Remarked(what) => {
                format!("accepted, with a difference: {}", Remarked::from(what))
            }
            Rule::Only(values, why) => {
                let values: Vec<&str> =
                    values.iter().map(String::as_str).filter(|value| !value.is_empty()).collect();
                format!("only {}: {why}", values.join(", "))
            }
            Rule::Refused(why) => format!("refused: {why}"),
        };
        format!("{name:<28}: {what}")
    };
    let list = RULES.iter().filter(|(name, _)| wanted(name));
    list.map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_table_is_complete_without_duplicates() {
        let table: Table = toml::from_str(include_str!("../../data/fio-options.toml")).unwrap();
        let grouped = table.remarked.values().chain(table.only.iter().map(|only| &only.options));
        let grouped = grouped.chain(table.refused.iter().map(|refused| &refused.options));
        let rows = grouped.chain([&table.honoured, &table.silent]).map(Vec::len).sum::<usize>();
        assert_eq!(RULES.len(), rows);
        assert!(rows > 300, "{rows}");
        for name in &TABLE.standing_alone {
            assert_eq!(canonical(name), Some(name.as_str()));
        }
        for (alias, first) in &TABLE.aliases {
            assert_eq!(canonical(alias), Some(first.as_str()));
            assert!(!RULES.contains_key(alias.as_str()), "{alias}");
        }
    }

    #[test]
    fn misspelt_option_suggests_the_nearest() {
        assert_eq!(nearest("iodept"), Some("iodepth"));
        assert_eq!(nearest("block_size"), Some("blocksize"));
        assert_eq!(nearest("qqqqqqqqqq"), None);
    }
}
