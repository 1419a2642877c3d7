//! Every option of fio's core and of the engines that qdepth has, and what is done with it here. An
//! option is honoured, has no effect on figures (a remark), or is refused with the nearest way;
//! none is passed over in silence.

mod refused;
mod rule;
mod table;

use refused::REFUSED;
pub(super) use rule::Rule;
use table::{ALIASES, OPTIONS, STANDING_ALONE};

use crate::remark::Remarked;

/// The option's first name, where fio has it.
pub(super) fn canonical(name: &str) -> Option<&'static str> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, first)| first);
    first_names().find(|known| *known == name)
}

fn first_names() -> impl Iterator<Item = &'static str> {
    OPTIONS.iter().map(|(name, _)| *name).chain(REFUSED.iter().map(|(name, _)| *name))
}

/// Every name and every other name of an option of a job.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    first_names().chain(ALIASES.iter().map(|(alias, _)| *alias))
}

/// Rule for an option, by its main name.
pub(super) fn rule(name: &str) -> Rule {
    let found = OPTIONS.iter().find(|(known, _)| *known == name).map(|(_, rule)| *rule);
    let refused = REFUSED.iter().find(|(known, _)| *known == name).map(|(_, why)| *why);
    found.or(refused.map(Rule::Refused)).unwrap_or(Rule::Refused("fio has no such option"))
}

/// True if the option takes a value behind `=` alone, and none from the next word.
pub(super) fn stands_alone(name: &str) -> bool {
    STANDING_ALONE.contains(&canonical(name).unwrap_or(name))
}

/// The known name that is nearest to a misspelt one, where one is near.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    nearest_of(name, names())
}

/// The same of these names.
pub(super) fn nearest_of(
    name: &str,
    names: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    if name.len() > 40 {
        return None;
    }
    let most = 1 + name.len() / 4;
    // Names are at least as far apart as their lengths.
    let like = names.filter(|known| known.len().abs_diff(name.len()) <= most);
    let near = like.map(|known| (strsim::levenshtein(name, known), known)).min()?;
    (near.0 <= most).then_some(near.1)
}

/// Support for each option as a table, or for those with this name or prefix.
pub fn fio_options(only: Option<&str>) -> String {
    let wanted =
        |name: &str| only.is_none_or(|option| name == option || canonical(option) == Some(name));
    let mut list: Vec<&str> = first_names().filter(|name| wanted(name)).collect();
    list.sort_unstable();
    let line = |name: &str| {
        let what = match rule(name) {
            Rule::Honoured => "honoured".to_owned(),
            Rule::Silent => "accepted: it is so anyway, or changes no figure".to_owned(),
            Rule::Remarked(what) => format!("accepted, with a remark: {}", Remarked::from(what)),
            Rule::Only(values, why) => {
                let values: Vec<&str> =
                    values.iter().copied().filter(|value| !value.is_empty()).collect();
                format!("only {}: {why}", values.join(", "))
            }
            Rule::Refused(why) => format!("refused: {why}"),
        };
        format!("{name:<28}: {what}")
    };
    list.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_option_stands_twice_and_aliases_lead_somewhere() {
        let mut names: Vec<&str> = names().collect();
        names.sort_unstable();
        let count = names.len();
        let twice: Vec<&str> =
            names.windows(2).filter(|two| two[0] == two[1]).map(|two| two[0]).collect();
        assert!(twice.is_empty(), "{twice:?}");
        names.dedup();
        assert_eq!(names.len(), count);
        for name in STANDING_ALONE {
            assert_eq!(canonical(name), Some(*name));
        }
        for (alias, first) in ALIASES {
            assert_eq!(canonical(alias), Some(*first));
        }
    }

    #[test]
    fn a_misspelt_option_has_a_nearest_one() {
        assert_eq!(nearest("iodept"), Some("iodepth"));
        assert_eq!(nearest("block_size"), Some("blocksize"));
        assert_eq!(nearest("qqqqqqqqqq"), None);
    }
}
