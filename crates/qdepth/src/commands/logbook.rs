//! `qdepth logbook check`: whether what is stored is what was written.

use std::path::Path;

use anyhow::Result;
use qdepth_logbook::{Checked, Damage, Logbook};

use crate::ended::Status;
use crate::flags::{LogbookCheck, LogbookCommand};
use crate::terminal::print;

pub(crate) fn logbook(command: &LogbookCommand) -> Result<Status> {
    let LogbookCommand::Check(LogbookCheck { file }) = command;
    let checked = Logbook::open_read_only(file)?.check()?;
    print(&told(file, &checked))?;
    Ok(if checked.is_whole() { Status::Valid } else { Status::Invalid })
}

/// One line for each thing that is damaged, and one that says what was read.
fn told(file: &Path, checked: &Checked) -> String {
    let sqlite = checked.file.iter().map(|line| format!("file: {line}"));
    let mut lines: Vec<String> = sqlite.chain(checked.damaged.iter().map(line)).collect();
    let read = format!("{} runs, {} whole points", checked.runs, checked.points);
    lines.push(match (checked.is_whole(), checked.without_digests) {
        (true, false) => format!("{}: whole: {read}", file.display()),
        (true, true) => format!(
            "{}: no damage was found in {read}, but its schema is older than digests: any command that writes to it adds them, of what is there then",
            file.display()
        ),
        (false, _) => format!(
            "{}: damaged: {} findings in {read}; whole records can still be read (`qdepth list`, `qdepth export RUN`); restore a copy for the others",
            file.display(),
            lines.len()
        ),
    });
    lines.join("\n")
}

fn line(damage: &Damage) -> String {
    let of = if damage.run.is_empty() { "file".to_owned() } else { format!("run {}", damage.run) };
    format!("{of}: {}: {}", damage.record, damage.parts.join(", "))
}
