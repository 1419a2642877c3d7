//! Output to standard output and standard error. Control characters of foreign text are made
//! visible, and a closed pipe or full disk causes no panic.

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result};
use qdepth_files::{Lines, visible};
use qdepth_report::Table;
use unicode_width::UnicodeWidthStr;

use crate::layout::{Style, render, wrapped};

mod logbook;
mod region;

pub(crate) use logbook::in_commands;
pub(crate) use region::Region;

/// Columns of a terminal that does not report its size.
const COLUMNS: usize = 80;
const LINES: usize = 24;
/// Minimum number of columns; smaller values are taken for errors.
const COLUMNS_MIN: usize = 20;

/// Columns from `COLUMNS`, otherwise from the terminal of standard output; `None` without either.
fn stated_columns() -> Option<usize> {
    let stated = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let of_terminal = || {
        let size = terminal_size::terminal_size_of(io::stdout());
        size.map(|(width, _)| usize::from(width.0))
    };
    stated.filter(|columns| *columns > 0).or_else(of_terminal).map(|c: usize| c.max(COLUMNS_MIN))
}

/// Style of tables: as wide as `COLUMNS`, else as the terminal, else 80 columns.
pub(crate) fn table_style(blocks: bool) -> Style {
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|set| !set.is_empty());
    let colours = io::stdout().is_terminal() && !no_colour && !is_dumb();
    Style { width: stated_columns().unwrap_or(COLUMNS), blocks, colours }
}

/// Lines of the terminal on standard output; `None` if output is redirected.
pub(crate) fn result_lines() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(|(_, height)| usize::from(height.0))
}

/// Prints a table.
pub(crate) fn print_table(table: &Table, blocks: bool) -> Result<()> {
    out(render(table, table_style(blocks)).text())
}

/// Prints text for a person: wrapped if the terminal's width is known, unwrapped for programs.
pub(crate) fn print(text: &str) -> Result<()> {
    out(&wrap_lines(&visible(text, Lines::Many), stated_columns()))
}

/// Wraps each line to this width with a hanging indent. Commands stay on one line, so that they can
/// be copied.
fn wrap_lines(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let line = |line: &str| {
        let words = line.trim_start();
        let indent = " ".repeat((line.len() - words.len()).min(width / 2));
        // A label and two spaces may precede the command.
        let last = words.rsplit("  ").next().unwrap_or(words).trim_start();
        let is_command = last.starts_with("qdepth ");
        if is_command || line.width() <= width {
            return vec![line.to_owned()];
        }
        wrapped(line, width, &format!("{indent}  "))
    };
    text.split('\n').flat_map(line).collect::<Vec<_>>().join("\n")
}

/// Prints a document for a program unchanged. On a terminal, control characters are made visible so
/// that it does not execute them; lines are not wrapped, so that copied text stays the same.
pub(crate) fn print_raw(text: &str) -> Result<()> {
    if io::stdout().is_terminal() { print_unwrapped(text) } else { write_out(text) }
}

/// Prints text whose lines must stay whole; control characters are made visible for every reader.
pub(crate) fn print_unwrapped(text: &str) -> Result<()> {
    out(&visible(text, Lines::Many))
}

/// True if the locale is ASCII: the first set of `LC_ALL`, `LC_CTYPE` and `LANG` is `C` or `POSIX`.
/// If none is set, as in containers, UTF-8 is assumed.
fn is_ascii() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    locale.is_some_and(|locale| locale == "C" || locale == "POSIX")
}

/// Replaces qdepth's own lines, bars and symbols by ASCII; letters of names stay.
fn in_ascii(text: &str) -> String {
    let sign = |sign: char| match sign {
        '─' | '–' | '−' => "-".to_owned(),
        '█' | '▉' | '▊' | '▋' | '▌' => "#".to_owned(),
        '▍' | '▎' | '▏' | '▁'..='▇' => "=".to_owned(),
        '·' => ".".to_owned(),
        '░' => ":".to_owned(),
        '▒' => "+".to_owned(),
        '▓' => "%".to_owned(),
        '│' => "|".to_owned(),
        '└' => "+".to_owned(),
        '±' => "+-".to_owned(),
        'µ' => "u".to_owned(),
        '×' | '÷' => (if sign == '×' { "x" } else { "/" }).to_owned(),
        '…' => "...".to_owned(),
        '→' => "->".to_owned(),
        '“' | '”' => "\"".to_owned(),
        '≥' => ">=".to_owned(),
        '≤' => "<=".to_owned(),
        '\u{a0}' => " ".to_owned(),
        other => other.to_string(),
    };
    text.chars().map(sign).collect()
}

fn out(text: &str) -> Result<()> {
    let ascii = is_ascii().then(|| in_ascii(text));
    let text = ascii.as_deref().unwrap_or(text);
    write_out(text)
}

fn write_out(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        // A closed pipe is not an error: the reader has what it wanted.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        answer => answer.context("cannot write to standard output"),
    }
}

/// True if `TERM` declares a terminal without control codes.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}

/// True if standard error is a terminal that can redraw lines in place.
pub(crate) fn is_drawn_on() -> bool {
    io::stderr().is_terminal() && !is_dumb()
}

/// Current columns and lines of the terminal on standard error.
pub(crate) fn size() -> (usize, usize) {
    let size = terminal_size::terminal_size_of(io::stderr());
    size.map_or((COLUMNS, LINES), |(width, height)| (width.0.into(), height.0.into()))
}

/// Text wrapped to this width.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let text = wrap_lines(&visible(text, Lines::Many), Some(width));
    text.split('\n').map(str::to_owned).collect()
}

/// Prints a line on standard error. A failure to print is ignored, because there is nowhere to
/// report it.
pub(crate) fn print_line(line: &str) {
    let width = io::stderr().is_terminal().then(|| size().0);
    let line = wrap_lines(&visible(&in_commands(line), Lines::Many), width);
    let _ = writeln!(io::stderr(), "{}", if is_ascii() { in_ascii(&line) } else { line });
}

/// Like [`print_line`], without a line break, for a question.
pub(crate) fn ask(question: &str) {
    let mut err = io::stderr();
    let _ = write!(err, "{}", visible(question, Lines::Many)).and_then(|()| err.flush());
}

#[cfg(test)]
mod tests {
    use super::wrap_lines;

    #[test]
    fn command_after_label_stays_on_one_line() {
        let line = format!("compare    qdepth compare {} b", "a,".repeat(60));
        assert_eq!(wrap_lines(&line, Some(40)), line);
        assert!(wrap_lines(&"word ".repeat(20), Some(40)).contains('\n'));
    }
}
