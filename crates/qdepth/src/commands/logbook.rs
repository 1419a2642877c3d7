//! `qdepth logbook`, `note`, `retract`: maintenance of a logbook.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, bail};
use jiff::Timestamp;
use qdepth_files::shell_word;
use qdepth_lab::failure::Usage;
use qdepth_logbook::{Checked, Damage, Logbook};
use qdepth_record::{RunFilter, RunHeadline};

use crate::commands::read::{counted_runs, print_runs};
use crate::exit_status::Status;
use crate::flags::{LogbookCheck, LogbookCommand, LogbookMerge, LogbookPrune, NoteOptions};
use crate::screen::Screen;
use crate::terminal::print;

pub(crate) fn logbook(command: &LogbookCommand) -> Result<Status> {
    match command {
        LogbookCommand::Check(options) => check(options),
        LogbookCommand::Merge(options) => merge(options),
        LogbookCommand::Prune(options) => prune(options),
    }
}

fn check(LogbookCheck { file }: &LogbookCheck) -> Result<Status> {
    let checked = Logbook::open_read_only(file)?.check()?;
    print(&render(file, &checked))?;
    Ok(if checked.is_whole() { Status::Valid } else { Status::Invalid })
}

/// Opens an existing logbook for writing; never creates one.
fn existing(file: &Path) -> Result<Logbook> {
    drop(Logbook::open_read_only(file)?);
    Ok(Logbook::open(file)?)
}

pub(crate) fn note(options: &NoteOptions) -> Result<Status> {
    let text = text(options, "the note is empty", "note RUN 'new firmware'")?;
    let mut logbook = existing(&options.logbook.logbook)?;
    let id = logbook.note(&options.run, &text, &Timestamp::now().to_string())?;
    Screen::new().print_line(&format!("note added to run {id}"));
    Ok(Status::Valid)
}

pub(crate) fn retract(options: &NoteOptions) -> Result<Status> {
    let text = text(options, "the reason is missing", "retract RUN 'a backup was running'")?;
    let mut logbook = existing(&options.logbook.logbook)?;
    let id = logbook.retract(&options.run, &text, &Timestamp::now().to_string())?;
    Screen::new()
        .print_line(&format!("run {id} is retracted: it is kept, but excluded from comparisons"));
    Ok(Status::Valid)
}

/// Text of the note.
fn text(options: &NoteOptions, nothing: &str, command: &str) -> Result<String> {
    let text = options.text.join(" ");
    if text.trim().is_empty() {
        let command = command.replace("RUN", &shell_word(&options.run));
        bail!(Usage(format!("{nothing}; nothing was changed. Try `qdepth {command}`")));
    }
    Ok(text)
}

fn merge(options: &LogbookMerge) -> Result<Status> {
    let other = Logbook::open_read_only(&options.other)?;
    let merged = Logbook::open(&options.logbook.logbook)?.merge(&other)?;
    let mut lines: Vec<String> = merged.damaged.iter().map(line).collect();
    lines.extend(merged.running.iter().map(|id| format!("run {id} is still being measured")));
    lines.push(format!(
        "added {} of {} to {}; {} existed already (added to them: {} notes and retractions, {} \
         points), {} skipped (damaged or running)",
        counted_runs(merged.added.len()),
        options.other.display(),
        options.logbook.logbook.display(),
        merged.known,
        merged.remarks,
        merged.points,
        lines.len()
    ));
    print(&lines.join("\n"))?;
    let all = merged.damaged.is_empty() && merged.running.is_empty();
    Ok(if all { Status::Valid } else { Status::Invalid })
}

fn prune(options: &LogbookPrune) -> Result<Status> {
    let file = &options.logbook.logbook;
    let mut logbook = existing(file)?;
    let runs = to_be_pruned(options, logbook.runs()?);
    let ids: Vec<String> = runs.iter().map(|run| run.id.clone()).collect();
    if !ids.is_empty() {
        print_runs(&runs)?;
    }
    if options.dry_run {
        print(&format!("{} would be removed from {}", counted_runs(ids.len()), file.display()))?;
        return Ok(Status::Valid);
    }
    if !ids.is_empty() {
        logbook.prune(&ids)?;
    }
    let were = if ids.len() == 1 { "was" } else { "were" };
    print(&format!("{} {were} removed from {}", counted_runs(ids.len()), file.display()))?;
    Ok(Status::Valid)
}

/// Runs that match all pruning rules, oldest first.
fn to_be_pruned(options: &LogbookPrune, runs: Vec<RunHeadline>) -> Vec<RunHeadline> {
    let filter = RunFilter {
        plan: options.plan.clone(),
        target: options.target.clone(),
        ..RunFilter::default()
    };
    let before = options.before.map(|day| day.to_string());
    let is_before = |run: &RunHeadline| {
        let day = run.started_at.get(..10).unwrap_or_default();
        before.as_deref().is_none_or(|before| day < before)
    };
    // Counts, from the newest run on, the runs of each plan and targets. Retracted and damaged runs
    // do not count towards `--keep-last`.
    let mut newer: BTreeMap<(String, Vec<String>), usize> = BTreeMap::new();
    let mut found: Vec<RunHeadline> = Vec::new();
    for run in runs.into_iter().rev() {
        let count = newer.entry((run.plan.clone(), run.targets.clone())).or_default();
        let good_and_newer = *count;
        *count += usize::from(run.retracted.is_none() && !run.damaged);
        // A damaged run is never pruned: its plan, targets and state are unknown.
        let goes = !run.alive
            && !run.damaged
            && filter.fits(&run)
            && is_before(&run)
            && (options.state.is_empty() || options.state.iter().any(|s| s == run.state.as_str()))
            && (!options.emulated || run.emulated)
            && (!options.retracted || run.retracted.is_some())
            && options.keep_last.is_none_or(|kept| good_and_newer >= kept);
        if goes {
            found.push(run);
        }
    }
    found.reverse();
    found
}

/// Report of a check: one line for each damaged record, then a summary of the records read.
fn render(file: &Path, checked: &Checked) -> String {
    let sqlite = checked.file.iter().map(|line| format!("file: {line}"));
    let mut lines: Vec<String> = sqlite.chain(checked.damaged.iter().map(line)).collect();
    let points = match checked.points {
        1 => "1 complete point".to_owned(),
        n => format!("{n} complete points"),
    };
    let read = format!("{}, {points}", counted_runs(checked.runs as usize));
    lines.push(match checked.is_whole() {
        true => format!("{}: intact: {read}", file.display()),
        false => format!(
            "{}: damaged (problems: {}), in {read}. Intact records can still be read \
             (`qdepth list`, `qdepth export RUN`); restore a copy for the others",
            file.display(),
            lines.len()
        ),
    });
    lines.join("\n")
}

fn line(damage: &Damage) -> String {
    let location =
        if damage.run.is_empty() { "file".to_owned() } else { format!("run {}", damage.run) };
    let record = format!("{location}: {}", damage.record);
    match damage.parts.as_slice() {
        [] => record,
        parts => format!("{record}: {}", parts.join(", ")),
    }
}
