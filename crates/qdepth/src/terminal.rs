//! What reaches standard output and standard error, and nothing else does: texts of others are made
//! visible here, and a reader that went away or a full disk is no panic.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result};
use qdepth_files::{Lines, visible};

/// Prints words of a result for a person.
pub(crate) fn print(text: &str) -> Result<()> {
    out(&visible(text, Lines::Many))
}

/// Prints a document for a program, byte by byte. A terminal would obey what is in it, so there it
/// is shown as [`print`] shows it.
pub(crate) fn print_document(text: &str) -> Result<()> {
    if io::stdout().is_terminal() { print(text) } else { out(text) }
}

fn out(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        // A reader that went away is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        answer => answer.context("cannot write to standard output"),
    }
}

/// Tells the person at the terminal a line. Where nobody can be told there is nobody to tell that.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", visible(line, Lines::Many));
}

/// As [`say`], without an end of the line.
pub(crate) fn ask(question: &str) {
    let mut err = io::stderr();
    let _ = write!(err, "{}", visible(question, Lines::Many)).and_then(|()| err.flush());
}

/// A text that becomes part of a line that others draw.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    visible(text, Lines::One)
}
