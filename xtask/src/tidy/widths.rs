//! Checks the width of lines that rustfmt leaves alone: comments, strings and macro arguments.

use std::collections::BTreeSet;

use anyhow::{Result, anyhow};
use proc_macro2::{TokenStream, TokenTree};

/// Most columns of a line.
const COLUMNS: usize = 100;

/// Reports lines that are too wide. Two kinds are permitted: lines of a raw string, whose text is
/// fixed, and lines without a blank at which they could break.
pub(super) fn check(name: &str, text: &str, broken: &mut Vec<String>) -> Result<()> {
    let mut wide = text.lines().enumerate().filter(|(_, line)| is_wide(line)).peekable();
    if wide.peek().is_none() {
        return Ok(());
    }
    let tokens = text.parse().map_err(|why| anyhow!("{name} cannot be parsed: {why}"))?;
    let mut raw = BTreeSet::new();
    raw_lines(tokens, &mut raw);
    for (before, _) in wide {
        let number = before + 1;
        if !raw.contains(&number) {
            broken.push(format!("{name}:{number}: a line of over {COLUMNS} columns"));
        }
    }
    Ok(())
}

fn is_wide(line: &str) -> bool {
    let words = line.trim_start().trim_start_matches(['/', '!']).trim();
    line.chars().count() > COLUMNS && words.contains(' ')
}

/// Adds the numbers of lines that contain part of a raw string.
fn raw_lines(tokens: TokenStream, found: &mut BTreeSet<usize>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => raw_lines(group.stream(), found),
            TokenTree::Literal(literal)
                if literal.to_string().trim_start_matches(['b', 'c']).starts_with('r') =>
            {
                found.extend(literal.span().start().line..=literal.span().end().line);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut broken = Vec::new();
        check("a.rs", text, &mut broken).unwrap();
        broken
    }

    #[test]
    fn too_wide_line_is_found() {
        let words = |width: usize| "x ".repeat(width / 2);
        let clean = format!("// {}\nconst A: &str = \"{}\";\n", words(96), words(80));
        assert_eq!(found(&clean), [""; 0]);
        for wide in [format!("// {}x", words(98)), format!("const A: &str = \"{}\";", words(84))] {
            assert_eq!(found(&format!("{clean}{wide}\n")), ["a.rs:3: a line of over 100 columns"]);
        }
        let columns = format!("// {}x\n", "ü ".repeat(48));
        assert_eq!(found(&columns), [""; 0], "columns are no bytes");
    }

    #[test]
    fn raw_strings_and_long_words_are_permitted() {
        let (words, word) = ("x ".repeat(60), "x".repeat(120));
        for excused in [
            format!("const A: &str = r\"{words}\";\n"),
            format!("fn a() {{\n    b!(br#\"\n{words}\n\"#);\n}}\n"),
            format!("//! {word}\n"),
            format!("const A: &str =\n    \"{word}\";\n"),
        ] {
            assert_eq!(found(&excused), [""; 0], "{excused}");
        }
        let beside = format!("const A: &str = r\"{words}\";\nconst B: &str = \"{words}\";\n");
        assert_eq!(found(&beside), ["a.rs:2: a line of over 100 columns"]);
    }
}
