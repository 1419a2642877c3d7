//! Output to standard output and standard error: foreign texts are made visible here, and a closed
//! pipe or a full disk causes no panic.

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result};
use qdepth_files::{Lines, visible};
use qdepth_report::Table;
use unicode_width::UnicodeWidthStr;

use crate::layout::{Style, lay, wrapped};

mod region;

pub(crate) use region::Region;

/// Columns and lines of a terminal where none says how many it has.
const COLUMNS: usize = 80;
const LINES: usize = 24;
/// Fewer are no terminal's.
const COLUMNS_MIN: usize = 20;

/// Columns that are said by the environment or by the terminal that results go to.
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

/// Lines of the terminal that results go to; `None` if they go elsewhere.
pub(crate) fn result_lines() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(|(_, height)| usize::from(height.0))
}

/// Prints a table.
pub(crate) fn print_table(table: &Table, blocks: bool) -> Result<()> {
    out(lay(table, table_style(blocks)).text())
}

/// Prints words of a result for a person: broken between words where a terminal says how wide it
/// is, and whole for a program that reads them.
pub(crate) fn print(text: &str) -> Result<()> {
    out(&broken(&visible(text, Lines::Many), stated_columns()))
}

/// Each line in lines of this width, those behind the first below its words. A command that is to
/// be copied stays whole.
fn broken(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let line = |line: &str| {
        let words = line.trim_start();
        let indent = " ".repeat((line.len() - words.len()).min(width / 2));
        let is_command = words.starts_with("qdepth ") && !words.contains("  ");
        if is_command || line.width() <= width {
            return vec![line.to_owned()];
        }
        wrapped(line, width, &format!("{indent}  "))
    };
    text.split('\n').flat_map(line).collect::<Vec<_>>().join("\n")
}

/// Prints a document for a program, byte by byte. A terminal would obey what is in it, so there it
/// is made visible; its lines stay whole, or what is copied from there would be another.
pub(crate) fn print_document(text: &str) -> Result<()> {
    if io::stdout().is_terminal() { out(&visible(text, Lines::Many)) } else { write_out(text) }
}

/// True if the locale says that only ASCII is shown: `LC_ALL`, else `LC_CTYPE`, else `LANG`, is `C`
/// or `POSIX`. Where none is set, as in containers, terminals show UTF-8.
fn is_ascii() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    locale.is_some_and(|locale| locale == "C" || locale == "POSIX")
}

/// Lines, bars and signs of our own in ASCII; letters of names stay as they are.
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
        // A reader that went away is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        answer => answer.context("cannot write to standard output"),
    }
}

/// True if `TERM` declares a terminal without control codes.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}

/// True if lines can be drawn again in place where the person looks.
pub(crate) fn is_drawn_on() -> bool {
    io::stderr().is_terminal() && !is_dumb()
}

/// Columns and lines of the terminal where the person looks, as they are now.
pub(crate) fn size() -> (usize, usize) {
    let size = terminal_size::terminal_size_of(io::stderr());
    size.map_or((COLUMNS, LINES), |(width, height)| (width.0.into(), height.0.into()))
}

/// Text wrapped to this width.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let text = broken(&visible(text, Lines::Many), Some(width));
    text.split('\n').map(str::to_owned).collect()
}

/// Tells the person at the terminal a line. Where nobody can be told there is nobody to tell that.
pub(crate) fn print_line(line: &str) {
    let width = io::stderr().is_terminal().then(|| size().0);
    let line = broken(&visible(line, Lines::Many), width);
    let _ = writeln!(io::stderr(), "{}", if is_ascii() { in_ascii(&line) } else { line });
}

/// Like [`say`], without an end of the line.
pub(crate) fn ask(question: &str) {
    let mut err = io::stderr();
    let _ = write!(err, "{}", visible(question, Lines::Many)).and_then(|()| err.flush());
}
