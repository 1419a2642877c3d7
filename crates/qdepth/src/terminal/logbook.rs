//! The logbook of this command line in suggested commands, so that they can be copied as they are.

use std::borrow::Cow;
use std::sync::LazyLock;

use qdepth_files::shell_word;

/// Beginnings of suggested commands that read a logbook.
const COMMANDS: [&str; 5] =
    ["qdepth run --resume", "qdepth show", "qdepth list", "qdepth report", "qdepth export"];
const OPTION: &str = "--logbook";

/// Value of `--logbook` on the command line.
static NAMED: LazyLock<Option<String>> = LazyLock::new(|| named(std::env::args()));

fn named(mut words: impl Iterator<Item = String>) -> Option<String> {
    let word = words.find(|word| word.starts_with(OPTION))?;
    match word.strip_prefix(OPTION)? {
        "" => words.next(),
        value => value.strip_prefix('=').map(str::to_owned),
    }
}

/// Adds the named logbook to the suggested commands in a text for a person.
pub(crate) fn in_commands(text: &str) -> Cow<'_, str> {
    NAMED.as_deref().map_or(text.into(), |file| with_logbook(text, file).into())
}

fn with_logbook(text: &str, file: &str) -> String {
    let mut rest = text;
    let mut all = String::new();
    while let Some(at) = COMMANDS.iter().filter_map(|command| rest.find(command)).min() {
        let (before, command) = rest.split_at(at);
        let end = command.find(['`', '\n', ';']).unwrap_or(command.len());
        let (command, after) = command.split_at(end);
        all.push_str(before);
        let name = COMMANDS.iter().find(|name| command.starts_with(*name));
        let options = name.and_then(|name| command.strip_prefix(name)).unwrap_or_default();
        let is_command = options.is_empty() || options.starts_with(' ');
        match name {
            Some(name) if is_command && !command.contains(OPTION) => {
                all.push_str(&format!("{name} {OPTION} {}{options}", shell_word(file)));
            }
            _ => all.push_str(command),
        }
        rest = after;
    }
    all + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggested_commands_name_the_logbook() {
        for (text, with) in [
            (
                "`qdepth run --resume` continues",
                "`qdepth run --resume --logbook 'a b.db'` continues",
            ),
            ("1 more: qdepth show --findings", "1 more: qdepth show --logbook 'a b.db' --findings"),
            ("`qdepth list --logbook c.db` shows", "`qdepth list --logbook c.db` shows"),
            (
                "qdepth reports; `qdepth list`, too",
                "qdepth reports; `qdepth list --logbook 'a b.db'`, too",
            ),
            ("no command", "no command"),
        ] {
            assert_eq!(with_logbook(text, "a b.db"), with);
        }
    }

    #[test]
    fn logbook_is_found_in_both_spellings() {
        for line in ["qdepth run --logbook a.db x", "qdepth run --logbook=a.db", "qdepth run x"] {
            let found = named(line.split(' ').map(str::to_owned));
            assert_eq!(found.as_deref(), line.contains("a.db").then_some("a.db"));
        }
    }
}
