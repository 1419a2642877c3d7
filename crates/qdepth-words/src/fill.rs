//! Templates: `{name}` is a placeholder for a value, `[ ]` encloses an optional part.

use std::collections::BTreeMap;

use crate::{Lang, words};

/// Fills a template with values. A part in `[` `]` is omitted if one of its values is missing, so
/// that a finding of an older version with fewer figures still reads well.
pub fn fill(template: &str, values: &BTreeMap<&str, String>) -> String {
    let mut out = String::new();
    for (index, part) in template.split('[').enumerate() {
        if index == 0 {
            out.push_str(&fill_plain(part, values).unwrap_or_default());
            continue;
        }
        let (optional, rest) = part.split_once(']').unwrap_or((part, ""));
        out.push_str(&fill_plain(optional, values).unwrap_or_default());
        out.push_str(&fill_plain(rest, values).unwrap_or_default());
    }
    out
}

fn fill_plain(part: &str, values: &BTreeMap<&str, String>) -> Option<String> {
    let mut out = String::new();
    for (index, piece) in part.split('{').enumerate() {
        if index == 0 {
            out.push_str(piece);
            continue;
        }
        let (name, rest) = piece.split_once('}')?;
        join(&mut out, values.get(name)?);
        join(&mut out, rest);
    }
    Some(out)
}

/// Appends a piece. Templates have a space before a value that may be a number; before Japanese
/// text it is removed.
fn join(out: &mut String, piece: &str) {
    let (mut before, mut after) = (out.chars().rev(), piece.chars());
    let ends = [before.next(), before.next(), after.next(), after.next()];
    match ends {
        [Some(' '), Some(last), Some(first), _] if is_cjk(last) && is_cjk(first) => {
            out.pop();
            out.push_str(piece);
        }
        [Some(last), _, Some(' '), Some(first)] if is_cjk(last) && is_cjk(first) => {
            out.push_str(&piece[1..]);
        }
        _ => out.push_str(piece),
    }
}

/// True for kana and kanji.
fn is_cjk(letter: char) -> bool {
    matches!(letter, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// Like [`fill`], with pairs of names and values.
pub fn fill_in(template: &str, values: &[(&str, String)]) -> String {
    fill(template, &values.iter().cloned().collect())
}

/// Text with a number `{n}`: singular and plural. Languages without a plural repeat the form.
pub type PluralForms = [&'static str; 2];

/// Chooses singular or plural, and inserts the number.
pub fn counted([single, other]: PluralForms, n: usize) -> String {
    let form = if n == 1 { single } else { other };
    fill_in(form, &[("n", grouped_digits(&n.to_string()))])
}

/// Digits of a whole number in groups of three.
pub fn grouped_digits(digits: &str) -> String {
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Text in brackets of the language, with the space before them if the language needs one.
pub fn in_brackets(lang: Lang, text: &str) -> String {
    fill_in(words(lang).aside, &[("text", text.to_owned())])
}

/// Text preceded by its subject: `subject: text` in the language's form.
pub fn with_subject(lang: Lang, subject: &str, text: &str) -> String {
    fill_in(words(lang).about, &[("subject", subject.to_owned()), ("text", text.to_owned())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_text_has_plural_and_thousands_separators() {
        let forms = ["{n} run", "{n} runs"];
        for (n, text) in
            [(0, "0 runs"), (1, "1 run"), (999, "999 runs"), (1_234_567, "1,234,567 runs")]
        {
            assert_eq!(counted(forms, n), text);
        }
    }

    #[test]
    fn optional_part_without_value_is_omitted() {
        let values = [("a", "1".to_owned())];
        assert_eq!(fill_in("x[ {a}][ and {b}].", &values), "x 1.");
        assert_eq!(fill_in("{b} stays silent[ {a}]", &values), " 1");
    }

    #[test]
    fn japanese_values_are_inserted_without_spaces() {
        let fill = |value: &str| fill_in("最小は {a} です", &[("a", value.to_owned())]);
        assert_eq!(fill("データベース"), "最小はデータベースです");
        assert_eq!(fill("12 倍"), "最小は 12 倍です");
        assert_eq!(fill("東京 支社 1"), "最小は東京 支社 1 です");
        assert_eq!(fill_in("a {a} b", &[("a", "c".to_owned())]), "a c b");
    }
}
