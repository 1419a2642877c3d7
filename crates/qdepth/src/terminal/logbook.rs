//! The logbook of this command line in suggested commands, so that they can be copied as they are.

use std::borrow::Cow;
use std::ffi::OsString;
use std::sync::LazyLock;

use qdepth_files::shell_word;

/// Beginnings of suggested commands that read a logbook.
const COMMANDS: [&str; 8] = [
    "qdepth run --resume",
    "qdepth show",
    "qdepth list",
    "qdepth report",
    "qdepth compare",
    "qdepth retract",
    "qdepth trend",
    "qdepth media fit",
];
const OPTION: &str = "--logbook";

/// Value of `--logbook` on the command line.
///
/// Must not panic: a panic message is printed with it.
static NAMED: LazyLock<Option<String>> = LazyLock::new(|| named(std::env::args_os()));

fn named(words: impl Iterator<Item = OsString>) -> Option<String> {
    let mut words = words.take_while(|word| word != "--").map(OsString::into_string);
    let is_option = |word: &String| word == OPTION || word.starts_with("--logbook=");
    let word = words.find_map(|word| word.ok().filter(is_option))?;
    match word.strip_prefix("--logbook=") {
        None => words.next()?.ok(),
        Some(value) => Some(value.to_owned()),
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
        let end = command.find(['`', '\n']).unwrap_or(command.len());
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
    use std::os::unix::ffi::OsStringExt as _;

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
        let named = |line: &str| named(line.split(' ').map(OsString::from));
        for line in ["run --logbook a.db x", "run --logbook=a.db"] {
            assert_eq!(named(line).as_deref(), Some("a.db"));
        }
        for line in ["run x", "run -- --logbook a.db", "run --logbooks a.db", "run --logbook"] {
            assert_eq!(named(line), None, "{line}");
        }
        let bytes = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        assert_eq!(
            super::named([bytes(b"\xff"), bytes(b"--logbook"), bytes(b"\xff")].into_iter()),
            None
        );
    }
}
