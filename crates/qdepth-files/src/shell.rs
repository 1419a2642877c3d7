//! Quoting of shell commands.

/// Quotes a word for a POSIX shell.
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,=@%+".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// True if a shell takes the line as one command of qdepth, quoted by [`shell_word`]. A line from a
/// file of somebody else may be anything.
pub fn is_own_command(line: &str) -> bool {
    let quoted = |words: &[String]| {
        words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ") == line
    };
    shlex::split(line)
        .is_some_and(|words| words.first().is_some_and(|first| first == "qdepth") && quoted(&words))
        && !line.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_quoted_commands_of_qdepth_are_own() {
        for line in ["qdepth run quick /tmp --seed 1", "qdepth run 'a b;c$(d)' --duration 3s"] {
            assert!(is_own_command(line), "{line}");
        }
        for line in [
            "rm -rf /home",
            "qdepth run quick; rm -rf /home",
            "qdepth run $(rm -rf /home)",
            "qdepth run `id`",
            "qdepth run \"$(id)\"",
            "qdepth run quick\nrm x",
            "qdepth run 'quick\nrm x'",
            "qdepth run quick >/etc/passwd",
            "qdepth run 'quick",
            "qdepth run ~root",
            "",
        ] {
            assert!(!is_own_command(line), "{line}");
        }
    }
}
