//! No line is wider than rustfmt makes them: it leaves comments, strings and what stands in macros
//! as they are.

use std::collections::BTreeSet;

use anyhow::{Result, anyhow};
use proc_macro2::{TokenStream, TokenTree};

/// Most columns of a line.
const COLUMNS: usize = 100;

/// Says which lines are wider. Two kinds may be: a line of a raw string, which is its text as it
/// is, and one without a blank at which it could be broken.
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

/// The numbers of the lines on which there is some of a raw string.
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
    use crate::tidy::testing::found;

    #[test]
    fn a_line_that_could_be_broken_is_caught() {
        let words = |width: usize| "x ".repeat(width / 2);
        let clean = format!("// {}\nconst A: &str = \"{}\";\n", words(96), words(80));
        assert_eq!(found(check, "a.rs", &clean), [""; 0]);
        for wide in [format!("// {}x", words(98)), format!("const A: &str = \"{}\";", words(84))] {
            assert_eq!(
                found(check, "a.rs", &format!("{clean}{wide}\n")),
                ["a.rs:3: a line of over 100 columns"]
            );
        }
        let columns = format!("// {}x\n", "ü ".repeat(48));
        assert_eq!(found(check, "a.rs", &columns), [""; 0], "columns are no bytes");
    }

    #[test]
    fn raw_strings_and_one_long_word_are_excused() {
        let (words, word) = ("x ".repeat(60), "x".repeat(120));
        for excused in [
            format!("const A: &str = r\"{words}\";\n"),
            format!("fn a() {{\n    b!(br#\"\n{words}\n\"#);\n}}\n"),
            format!("//! {word}\n"),
            format!("const A: &str =\n    \"{word}\";\n"),
        ] {
            assert_eq!(found(check, "a.rs", &excused), [""; 0], "{excused}");
        }
        let beside = format!("const A: &str = r\"{words}\";\nconst B: &str = \"{words}\";\n");
        assert_eq!(found(check, "a.rs", &beside), ["a.rs:2: a line of over 100 columns"]);
    }
}
