//! Sides of a comparison: runs by name, runs of a logbook that match a filter, or files of `qdepth
//! export`, `qdepth run --json` and other programs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use jiff::civil::Date;
use qdepth_files::shell_word;
use qdepth_files::{Input, limit};
use qdepth_foreign::import;
use qdepth_logbook::Logbook;
use qdepth_record::{Document, ObservationEntry, RunFilter, RunHeadline, RunRecord, document};

use crate::flags::LOGBOOK_NAME;
use qdepth_lab::failure::Usage;

/// Keys of a filter.
const KEYS: [&str; 6] = ["plan", "note", "since", "until", "host", "target"];

/// Maximum number of names listed in the error for a filter without a match.
const NAMES_MAX: usize = 6;

/// Runs that one side of a comparison names. An error if a run is named twice or was retracted.
pub(super) fn runs_of_side(word: &str, own: &Path) -> Result<Vec<Document>> {
    let mut all: Vec<Document> = Vec::new();
    for part in word.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        if is_result(part) {
            for run in runs_of_file(part)? {
                add(&mut all, part, run)?;
            }
            continue;
        }
        let (file, asked) = logbook_and_rest(part);
        let filter = if is_filter(asked) { Some(filter(asked)?) } else { None };
        let file = file.as_deref().unwrap_or(own);
        let logbook = Logbook::open_read_only(file)?;
        let ids = match &filter {
            Some(filter) => matching_ids(&logbook, asked, filter)?,
            None => ids(&logbook, asked)?,
        };
        for id in ids {
            let (run, points) = logbook.measured(&id)?;
            add(&mut all, part, with_logbook(document(&run, &points), file))?;
        }
    }
    if all.is_empty() {
        bail!(Usage(format!("`{word}` is not a run; `qdepth list` shows the runs")));
    }
    Ok(all)
}

/// The run with the logbook in the command that repeats it.
fn with_logbook(mut run: Document, file: &Path) -> Document {
    let is_command = |seen: &&mut ObservationEntry| {
        (&*seen.subject, &*seen.key) == RunRecord::COMMAND && file != Path::new(LOGBOOK_NAME)
    };
    let command = run.environment.iter_mut().find(is_command).and_then(|seen| seen.value.as_mut());
    if let Some(line) = command
        && let Some((words, seed)) = line.rsplit_once(" --seed ")
    {
        let file = shell_word(&file.display().to_string());
        *line = format!("{words} --logbook {file} --seed {seed}");
    }
    run
}

/// Adds a run to its side; refuses a retracted run and a duplicate.
fn add(all: &mut Vec<Document>, part: &str, run: Document) -> Result<()> {
    let id = &run.run.id;
    if let Some(why) = run.fact(RunRecord::RETRACTED) {
        bail!(Usage(format!("{part}: run {id} was retracted ({why})")));
    }
    if all.iter().any(|other| other.run.id == *id) {
        bail!(Usage(format!("{part}: run {id} is named twice; remove one")));
    }
    all.push(run);
    Ok(())
}

/// True if a part names a file of results (`.json`, `.csv`) instead of a logbook.
fn is_result(part: &str) -> bool {
    let path = Path::new(part);
    let is = |ending: &str| path.extension().is_some_and(|own| own.eq_ignore_ascii_case(ending));
    is("json") || is("csv")
}

/// Runs of a file: one exported run, or the results of another program. The file is not trusted, so
/// the command recorded in it is dropped and never printed for the user to type.
fn runs_of_file(part: &str) -> Result<Vec<Document>> {
    let files = [(part.to_owned(), Input::at(Path::new(part), limit::RESULT).bytes()?)];
    let text = String::from_utf8_lossy(&files[0].1);
    let exported = match Document::read(&text) {
        Ok(mut run) => {
            run.environment.retain(|seen| (&*seen.subject, &*seen.key) != RunRecord::COMMAND);
            if run.run.state != "complete" {
                bail!(Usage(format!(
                    "{part}: the run is {}, but only complete runs can be compared",
                    run.run.state
                )));
            }
            return Ok(vec![run]);
        }
        Err(why) => why,
    };
    let is_ours = text.contains("\"qdepth-");
    let runs = import(&files).map_err(|other| {
        Usage(match is_ours {
            true => format!("{part} is not a run written by `qdepth export`: {exported}"),
            false => format!(
                "{part} is not a known result of another program: {}. It is not a run written by \
                 `qdepth export` either: {exported}",
                other.why
            ),
        })
    })?;
    // Runs of a file have no ids, so their position in the file serves as one.
    let named = |(index, run): (usize, &qdepth_foreign::Imported)| {
        let id = format!("{part}#{}", index + 1);
        document(&run.record(&id, "", env!("CARGO_PKG_VERSION")), &run.points)
    };
    Ok(runs.iter().enumerate().map(named).collect())
}

/// Logbook that a part names, if any, and the remaining selection. Values may contain a colon
/// (`target=media:p3700-800gb`), file names an equals sign.
fn logbook_and_rest(part: &str) -> (Option<PathBuf>, &str) {
    let known = |text: &str| KEYS.iter().any(|key| key_of(text) == Some(key));
    if known(part) {
        return (None, part);
    }
    // A logbook without a selection selects all its runs.
    let path = Path::new(part);
    if path.extension().is_some_and(|ending| ending == "db") {
        return (Some(path.to_owned()), "all");
    }
    let with_key = part.match_indices(':').find(|(at, _)| known(&part[at + 1..]));
    match with_key.map(|(at, _)| (&part[..at], &part[at + 1..])).or(part.rsplit_once(':')) {
        // An unknown key, and no file of that name: the error for the key is more helpful.
        Some((file, _)) if is_filter(file) && !Path::new(file).exists() => (None, part),
        Some((file, asked)) => (Some(PathBuf::from(file)), asked),
        None => (None, part),
    }
}

fn is_filter(asked: &str) -> bool {
    key_of(asked).is_some()
}

/// Text before `=`, if a key is allowed there.
fn key_of(text: &str) -> Option<&str> {
    let (key, _) = text.split_once('=')?;
    (!key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphabetic())).then_some(key)
}

/// Parses a filter such as `plan=quick+note=before`. A `+` separates terms only if a key and `=`
/// follow it.
fn filter(asked: &str) -> Result<RunFilter> {
    let mut terms: Vec<String> = Vec::new();
    for piece in asked.split('+') {
        match terms.last_mut() {
            Some(last) if !is_filter(piece) => *last = format!("{last}+{piece}"),
            _ => terms.push(piece.to_owned()),
        }
    }
    let mut filter = RunFilter::default();
    for term in &terms {
        let (key, value) = term.split_once('=').unwrap_or((term, ""));
        let value = value.trim();
        if value.is_empty() && KEYS.contains(&key) {
            bail!(Usage(format!("`{asked}`: {key}= needs a value")));
        }
        let slot = match key {
            "note" => {
                filter.notes.push(value.to_owned());
                continue;
            }
            "plan" => &mut filter.plan,
            "since" => &mut filter.since,
            "until" => &mut filter.until,
            "host" => &mut filter.host,
            "target" => &mut filter.target,
            _ => bail!(Usage(format!(
                "`{asked}`: `{key}` is not a filter; use {}, joined by +, for example \
                 plan=quick+note=before",
                KEYS.map(|key| format!("{key}=")).join(", ")
            ))),
        };
        let written = match key {
            "since" | "until" => day(asked, value)?,
            _ => value.to_owned(),
        };
        if slot.replace(written).is_some() {
            bail!(Usage(format!("`{asked}`: {key}= is given twice; only note= can be repeated")));
        }
    }
    Ok(filter)
}

fn day(asked: &str, value: &str) -> Result<String> {
    match value.parse::<Date>() {
        Ok(day) => Ok(day.to_string()),
        Err(_) => bail!(Usage(format!(
            "`{asked}`: `{value}` is not a date; use YYYY-MM-DD (UTC), for example since=2026-11-01"
        ))),
    }
}

/// Ids of the comparable runs that match the filter, oldest first.
fn matching_ids(logbook: &Logbook, asked: &str, filter: &RunFilter) -> Result<Vec<String>> {
    let runs = logbook.runs()?;
    let fitting: Vec<&RunHeadline> = runs.iter().filter(|run| filter.fits(run)).collect();
    let ids: Vec<String> =
        fitting.iter().filter(|run| run.is_comparable()).map(|run| run.id.clone()).collect();
    if ids.is_empty() {
        bail!(Usage(no_match_error(logbook.path(), asked, filter, &runs, fitting.len())));
    }
    Ok(ids)
}

/// Error for a filter without a match: the existing values of each key, and where to look.
fn no_match_error(
    path: &Path,
    asked: &str,
    filter: &RunFilter,
    runs: &[RunHeadline],
    fitting: usize,
) -> String {
    let comparable: Vec<&RunHeadline> = runs.iter().filter(|run| run.is_comparable()).collect();
    let file = path.to_string_lossy();
    let list_command = format!("qdepth list --logbook {}", shell_word(&file));
    let counted = format!(
        "{file} has {} runs, {} of them complete and not retracted",
        runs.len(),
        comparable.len()
    );
    if fitting > 0 {
        return format!(
            "`{asked}`: {fitting} runs match, but none of them is complete and not retracted \
             ({counted}); `{list_command}` shows why"
        );
    }
    let day = |run: &RunHeadline| run.started_at.get(..10).unwrap_or_default().to_owned();
    let listed = |asked: bool, kind: &str, texts: &dyn Fn(&RunHeadline) -> Vec<String>| {
        let names: BTreeSet<String> = comparable.iter().flat_map(|run| texts(run)).collect();
        let more = if names.len() > NAMES_MAX { ", …" } else { "" };
        let shown: Vec<String> = names.into_iter().take(NAMES_MAX).collect();
        let text = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
        asked.then(|| format!("; {kind}: {text}{more}"))
    };
    let has_days = filter.since.is_some() || filter.until.is_some();
    let there = [
        listed(filter.plan.is_some(), "plans", &|run| vec![run.plan.clone()]),
        listed(!filter.notes.is_empty(), "notes", &|run| run.notes.clone()),
        listed(filter.host.is_some(), "hosts", &|run| vec![run.host.clone()]),
        listed(filter.target.is_some(), "targets", &|run| run.targets.clone()),
        listed(has_days, "days", &|run| vec![day(run)]),
    ];
    let there: String = there.into_iter().flatten().collect();
    format!("`{asked}`: no run matches: {counted}{there}; `{list_command}` shows them")
}

/// Ids of all comparable runs for `all`, otherwise of the one named run.
fn ids(logbook: &Logbook, asked: &str) -> Result<Vec<String>> {
    if asked == "all" {
        let runs = logbook.runs()?.into_iter();
        return Ok(runs.filter(RunHeadline::is_comparable).map(|run| run.id).collect());
    }
    Ok(vec![logbook.run(asked)?.id])
}
