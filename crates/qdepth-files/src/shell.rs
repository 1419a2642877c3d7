//! Quoting of shell commands.

/// Quotes a word for a POSIX shell.
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,=@%+".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// True for `qdepth run … --seed N`, quoted by [`shell_word`], as it is stored with a run. A line
/// from a file of somebody else may be anything. The part after the last ` --seed ` has no quotes,
/// so that other words may be inserted there.
pub fn is_stored_command(line: &str) -> bool {
    let Some(words) = shlex::split(line) else { return false };
    let quoted = words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
    let seed = line.rsplit_once(" --seed ").map(|(_, seed)| seed);
    let is_number = |seed: &str| seed.bytes().all(|byte| byte.is_ascii_digit());
    words.starts_with(&["qdepth".to_owned(), "run".to_owned()])
        && quoted == line
        && !line.contains(char::is_control)
        && seed.is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commands_of_qdepth_are_accepted() {
        for line in ["qdepth run quick /tmp --seed 1", "qdepth run 'a b;c$(d)' --seed 12"] {
            assert!(is_stored_command(line), "{line}");
        }
        for line in [
            "rm -rf /home",
            "qdepth run quick; rm -rf /home --seed 1",
            "qdepth run $(rm -rf /home) --seed 1",
            "qdepth run `id` --seed 1",
            "qdepth run \"$(id)\" --seed 1",
            "qdepth run quick\nrm x",
            "qdepth run 'quick\nrm x'",
            "qdepth run quick >/etc/passwd --seed 1",
            "qdepth run 'quick",
            "qdepth run ~root --seed 1",
            "qdepth run 'a --seed b'",
            "qdepth run 'a --seed 1'",
            "qdepth run quick --seed ''",
            "qdepth host undo --seed 1",
            "qdepth run quick",
            "",
        ] {
            assert!(!is_stored_command(line), "{line}");
        }
    }
}
