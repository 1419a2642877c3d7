//! Complete command lines for error messages: the user's own with the suggested change.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use qdepth_files::shell_word;

use crate::flags::{Flags, example, with_examples};

/// Options that a suggestion may add. An error can quote a foreign file, which must not put an
/// option into a command that the user copies.
const ADDED: [&str; 10] = [
    "area",
    "block-size",
    "duration",
    "precondition",
    "profile",
    "round",
    "step-by",
    "step-to",
    "warm-up",
    "within",
];
/// Options whose values no suggestion changes.
const CONSENT: [&str; 3] = ["--consent", "--destroy", "--overwrite-signature"];
/// Parts of the names of options that protect data, such as `--read-only`.
const PROTECTING: [&str; 2] = ["read", "dry"];

/// True for a word that begins with an option of consent.
fn is_consent(word: &str) -> bool {
    CONSENT.iter().any(|option| word.starts_with(option))
}

/// True if a suggestion may set this option: one of the load, or one that was typed.
fn may_set(name: &str, words: &[String]) -> bool {
    let long = format!("--{name}");
    let is_typed = words.iter().any(|word| word.split('=').next() == Some(&long));
    ADDED.contains(&name) || (is_typed && !CONSENT.contains(&&*long))
}

/// The command line with the change that an error's text suggests: `Did you mean `NAME`?` and
/// `Write 'EXPRESSION'` replace what is quoted before, `Try --OPTION VALUE` sets options. `None` if
/// the result is not accepted.
pub(crate) fn of_text(text: &str, words: &[String]) -> Option<String> {
    let changed = renamed(text, words).or_else(|| {
        let (_, suggested) = text.rsplit_once("Try --")?;
        let mut changed = words.to_vec();
        let mut rest = suggested.split_whitespace().peekable();
        let mut name = rest.next()?;
        loop {
            let value = rest.next_if(|word| !name.ends_with(['.', ',']) && !word.starts_with('-'));
            let end: &[char] = &['.', ',', ';'];
            name = name.trim_end_matches(end);
            if !may_set(name, words) {
                return None;
            }
            set(&mut changed, name, value.map(|value| value.trim_end_matches(end)));
            match rest.next_if(|word| word.starts_with("--")) {
                Some(next) => name = &next[2..],
                None => return Some(changed),
            }
        }
    })?;
    accepted(&changed)
}

/// The command line that a usage error suggests: with a valid value or option instead of the wrong
/// one, or else without the wrong one, or else the first example of the command.
pub(crate) fn of_usage(error: &clap::Error, words: &[String]) -> Option<String> {
    corrected(error, words)
        .and_then(|changed| accepted(&changed))
        .or_else(|| accepted(&without_wrong(error, words)?))
        .or_else(|| example(words).map(str::to_owned))
}

fn corrected(error: &clap::Error, words: &[String]) -> Option<Vec<String>> {
    let text = |kind| match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(all) => all.first().cloned(),
        _ => None,
    };
    if let Some(command) = text(ContextKind::SuggestedSubcommand) {
        let wrong = text(ContextKind::InvalidSubcommand)?;
        let mut changed = words.to_vec();
        *changed.iter_mut().skip(1).find(|word| **word == wrong)? = command;
        return Some(changed);
    }
    let given = text(ContextKind::InvalidArg)?;
    let name = given.split([' ', '=']).next()?;
    let mut changed = words.to_vec();
    if let Some(other) = text(ContextKind::SuggestedArg) {
        let word = changed.iter_mut().find(|word| word.split('=').next() == Some(name))?;
        *word = word.replacen(name, &other, 1);
        return Some(changed);
    }
    let wrong = text(ContextKind::InvalidValue)?;
    let message = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    let example = message.split_once("for example ").or_else(|| message.split_once("Try "));
    let example = example.map(|(_, rest)| rest).and_then(|rest| rest.split([' ', ';']).next());
    let valid = text(ContextKind::SuggestedValue)
        .or_else(|| text(ContextKind::ValidValue))
        .or_else(|| Some(example?.trim_end_matches(',').to_owned()))?;
    match name.strip_prefix("--") {
        Some(name) => set(&mut changed, name, Some(&valid)),
        None => *changed.iter_mut().skip(1).find(|word| **word == wrong)? = valid,
    }
    Some(changed)
}

/// The words without the option or word that is wrong; `None` if that could lose a protection, or
/// if the words contain a consent.
fn without_wrong(error: &clap::Error, words: &[String]) -> Option<Vec<String>> {
    let is_unknown = error.kind() == ErrorKind::UnknownArgument;
    if !is_unknown && ![ErrorKind::InvalidValue, ErrorKind::ValueValidation].contains(&error.kind())
        || words.iter().any(|word| is_consent(word))
    {
        return None;
    }
    let ContextValue::String(wrong) = error.get(ContextKind::InvalidArg)? else { return None };
    let name = wrong.split([' ', '=']).next()?;
    if PROTECTING.iter().any(|part| name.contains(part)) {
        return None;
    }
    let index = 1 + words.iter().skip(1).position(|word| word.split('=').next() == Some(name))?;
    let is_option = name.starts_with('-') && !words[index].contains('=');
    let has_word = is_option && words.get(index + 1).is_some_and(|word| !word.starts_with('-'));
    // A word behind an unknown option may be its value or a target.
    if is_unknown && has_word {
        return None;
    }
    let has_value = has_word && wrong.contains('<');
    let mut left = words.to_vec();
    left.drain(index..=index + usize::from(has_value));
    Some(left)
}

/// The words with the suggested name instead of the one that is named before it.
fn renamed(text: &str, words: &[String]) -> Option<Vec<String>> {
    let (before, after) =
        text.split_once("Did you mean `").or_else(|| text.split_once("Write '"))?;
    let (right, wrong) = (after.split(['`', '\'']).next()?, before.rsplit('`').nth(1)?);
    let whole = words.iter().rposition(|word| word == wrong);
    let index = whole.or_else(|| words.iter().rposition(|word| word.contains(wrong)))?;
    let added = right.strip_prefix("--").and_then(|option| option.split([' ', '=']).next());
    if words[index.saturating_sub(1)..=index].iter().any(|word| is_consent(word))
        || added.is_some_and(|name| !may_set(name, words))
    {
        return None;
    }
    let mut changed = words.to_vec();
    let word = changed.remove(index).replace(wrong, right);
    let parts = if right.starts_with("--") { 2 } else { 1 };
    for (place, part) in word.splitn(parts, ' ').enumerate() {
        changed.insert(index + place, part.to_owned());
    }
    Some(changed)
}

/// Sets an option, under the name that was typed if it is there.
fn set(words: &mut Vec<String>, name: &str, value: Option<&str>) {
    let command = with_examples();
    let sub = words.get(1).and_then(|word| command.find_subcommand(word));
    let known = sub.and_then(|sub| sub.get_arguments().find(|arg| arg.get_long() == Some(name)));
    let aliases = known.and_then(clap::Arg::get_all_aliases).unwrap_or_default();
    for name in aliases.into_iter().chain([name]).map(|name| format!("--{name}")) {
        let joined = format!("{name}=");
        if let Some(word) = words.iter_mut().find(|word| word.starts_with(&joined)) {
            *word = format!("{joined}{}", value.unwrap_or_default());
            return;
        }
        if let Some(index) = words.iter().position(|word| *word == name) {
            let old = (index + 1).min(words.len());
            words.splice(old..(old + 1).min(words.len()), value.map(str::to_owned));
            return;
        }
    }
    words.push(format!("--{name}"));
    words.extend(value.map(str::to_owned));
}

/// The words as a line for a shell, if they can be parsed. A command that would delete runs only
/// shows them.
pub(crate) fn accepted(words: &[String]) -> Option<String> {
    let mut words = words.to_vec();
    let prunes = words.get(1..3).is_some_and(|verbs| verbs == ["logbook", "prune"]);
    if prunes && !words.iter().any(|word| word == "-n" || word == "--dry-run") {
        words.push("--dry-run".to_owned());
    }
    Flags::read_from(&words).ok()?;
    Some(words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        shlex::split(line).unwrap()
    }

    #[test]
    fn suggestion_in_error_text_becomes_a_command() {
        for (line, text, wanted) in [
            (
                "qdepth run quik .",
                "there is no plan `quik`. Did you mean `quick`? `qdepth plans` lists them",
                Some("qdepth run quick ."),
            ),
            (
                "qdepth run --profile=databse,restore .",
                "no profile `databse`. Did you mean `database`, `restore` or `x`?",
                Some("qdepth run --profile=database,restore ."),
            ),
            (
                "qdepth run databse",
                "no `databse`. Did you mean `--profile database`?",
                Some("qdepth run --profile database"),
            ),
            (
                "qdepth run . --bs 3k --seed 1",
                "block size 3KiB: wrong. Try --block-size 4KiB.",
                Some("qdepth run . --bs 4KiB --seed 1"),
            ),
            (
                "qdepth run . --round 1s",
                "no rounds. Try --precondition until-steady --round 10s",
                Some("qdepth run . --round 10s --precondition until-steady"),
            ),
            (
                "qdepth run 'raid0(media:null'",
                "`raid0(media:null`: not closed. Write 'raid0(media:null)'",
                Some("qdepth run 'raid0(media:null)'"),
            ),
            ("qdepth run .", "wrong. Try --nonsense 1", None),
            // What a foreign plan file says.
            ("qdepth run a.toml", "no key `x`. Try --destroy S1 --area 1MiB", None),
            ("qdepth run a.toml", "no key `x`. Try --area 1MiB --replace", None),
            ("qdepth run a.toml", "no key `x`. Try --logbook /etc/x", None),
            ("qdepth run a.toml", "no `a.toml`. Did you mean `--destroy S1`?", None),
            ("qdepth run a.toml --destroy S1", "no `S1`. Did you mean `S2`?", None),
            ("qdepth run a.toml --destroy=S1", "no `S1`. Did you mean `S2`?", None),
            ("qdepth run a.toml --destroy S1", "`x`: Try --destroy S2", None),
            (
                "qdepth run a.toml",
                "no key `Try --area 1MiB`: wrong. Try --duration 30s",
                Some("qdepth run a.toml --duration 30s"),
            ),
            (
                "qdepth run . --json --events -",
                "both write. Try --events events.jsonl",
                Some("qdepth run . --json --events events.jsonl"),
            ),
            ("qdepth run .", "wrong", None),
        ] {
            assert_eq!(of_text(text, &words(line)).as_deref(), wanted, "{text}");
        }
    }

    #[test]
    fn usage_error_ends_with_a_command() {
        for (line, wanted) in [
            ("qdepth run . --block-size 4x", "qdepth run . --block-size 8KiB"),
            ("qdepth run . --qd=1,,2", "qdepth run . --qd=1,8,64"),
            ("qdepth run . --qd 5-1", "qdepth run . --qd 1-5"),
            ("qdepth run . --duration ''", "qdepth run . --duration 500ms"),
            ("qdepth run . --engine iouring", "qdepth run . --engine io_uring"),
            ("qdepth run . --read-onyl", "qdepth run . --read-only"),
            ("qdepth run . --seed x --area 8MiB", "qdepth run . --area 8MiB"),
            ("qdepth run . --area 8MiB --seed", "qdepth run . --area 8MiB"),
            ("qdepth run --seed --area 8MiB .", "qdepth run --area 8MiB ."),
            ("qdepth run . --foo 5", "qdepth run"),
            ("qdepth run . --readable", "qdepth run"),
            ("qdepth run --read-only=yes .", "qdepth run"),
            ("qdepth run --read-only --precondition steady .", "qdepth run"),
            ("qdepth run . --no-pin --cpus 0 --area 8MiB", "qdepth run"),
            ("qdepth run . --foo --area 8MiB", "qdepth run . --area 8MiB"),
            ("qdepth show latest twice", "qdepth show latest"),
            ("qdepth run . --destroy S1 --consent=f --seed=x", "qdepth run"),
            ("qdepth schema rnu", "qdepth schema runs"),
            ("qdepth compare latest", "qdepth compare latest~1 latest"),
            ("qdepth host check zzz", "qdepth host check"),
            (
                "qdepth logbook prune --before today",
                "qdepth logbook prune --before 2026-11-27 --dry-run",
            ),
            ("qdepth logbook prune --state faild", "qdepth logbook prune --state failed --dry-run"),
            ("qdepth zzz", "qdepth"),
            ("qdepth shwo latest", "qdepth show latest"),
        ] {
            let words = words(line);
            let error = Flags::read_from(&words).unwrap_err();
            assert_eq!(of_usage(&error, &words).as_deref(), Some(wanted), "{line}");
        }
    }
}
