//! Tokens of the language, with their columns.

use super::error::ParseError;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word<'t> {
    /// A name: a quantity, function, target, load or keyword.
    Name(&'t str),
    /// A number; `5%` is 0.05.
    Number(f64),
    /// `( ) { } , .. + - * / < <= > >= =`
    Sign(&'static str),
    /// End of the text.
    End,
}

const SIGNS: [&str; 15] =
    ["..", "<=", ">=", "<", ">", "=", "(", ")", "{", "}", ",", "+", "-", "*", "/"];

/// Splits a text into tokens, each with its column, from 1.
pub(super) fn words(text: &str) -> Result<Vec<(Word<'_>, usize)>, ParseError> {
    let mut all = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let column = text.len() - rest.len() + 1;
        let Some(first) = rest.chars().next() else {
            all.push((Word::End, column));
            return Ok(all);
        };
        let length = if first.is_ascii_lowercase() {
            let length = length_while(rest, |c| c.is_ascii_alphanumeric() || "-_".contains(c));
            all.push((Word::Name(&rest[..length]), column));
            length
        } else if first.is_ascii_digit() {
            let (number, length) = number(rest, column)?;
            all.push((Word::Number(number), column));
            length
        } else {
            let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
            let sign = sign.ok_or(ParseError::Character { column, found: first })?;
            all.push((Word::Sign(sign), column));
            sign.len()
        };
        rest = &rest[length..];
    }
}

fn length_while(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// Parses a number, and returns it with its length. The `..` of a range is not part of it.
fn number(text: &str, column: usize) -> Result<(f64, usize), ParseError> {
    let mut length = length_while(text, |c| c.is_ascii_digit());
    let fraction = text[length..].strip_prefix('.').unwrap_or_default();
    let digits = length_while(fraction, |c| c.is_ascii_digit());
    length += if digits > 0 { digits + 1 } else { 0 };
    let value: f64 = text[..length]
        .parse()
        .map_err(|_| ParseError::Number { column, found: text[..length].to_owned() })?;
    if text[length..].starts_with('%') {
        return Ok((value / 100.0, length + 1));
    }
    Ok((value, length))
}
