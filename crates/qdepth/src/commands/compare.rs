//! `qdepth compare`: is B faster than A, slower, equal, or can it not be told?

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use qdepth_logbook::{Logbook, RunHeadline};
use qdepth_report::{
    Measured, compose_versus, table_markdown, versus, versus_json, versus_sentences, versus_table,
};

use crate::commands::report::page;
use crate::ended::{Status, Usage};
use crate::flags::CompareOptions;
use crate::terminal::{print, print_document, print_table};

pub(crate) fn compare(options: &CompareOptions) -> Result<Status> {
    let own = &options.logbook.logbook;
    let sheets = options.output.as_deref().map(|output| page(output, options.lang)).transpose()?;
    let (a, b) = (group(&options.a, own)?, group(&options.b, own)?);
    if let Some((run, _)) = a.iter().find(|(run, _)| b.iter().any(|(other, _)| other.id == run.id))
    {
        bail!(Usage(format!(
            "run {} is on both sides: a run cannot be compared with itself",
            run.id
        )));
    }
    let earlier = if a.len() + b.len() == 2 { earlier(own, &a, &b)? } else { Vec::new() };
    let told = versus((&options.a, &a), (&options.b, &b), &earlier, options.threshold.share(), 1);
    let lang = options.lang.of_report();
    if let Some((sheets, typesetter)) = sheets {
        sheets.write(typesetter.as_deref(), |lang| compose_versus(&told, lang))?;
        versus_sentences(&told, lang).iter().try_for_each(|said| print(said))?;
    } else if options.json {
        print_document(versus_json(&told).trim_end())?;
    } else {
        let (table, sentences) = (versus_table(&told, lang), versus_sentences(&told, lang));
        if options.markdown {
            print(&table_markdown(&table))?;
            print(
                &sentences.iter().map(|said| format!("- {said}")).collect::<Vec<_>>().join("\n"),
            )?;
        } else {
            print(&table.caption)?;
            print_table(&table, false)?;
            sentences.iter().try_for_each(|said| print(said))?;
        }
    }
    Ok(match (told.count("slower"), told.count("cannot-tell"), told.rows.len()) {
        (0, 0, 1..) => Status::Valid,
        (0, ..) => Status::CannotTell,
        _ => Status::Invalid,
    })
}

/// The runs that a word names, each once.
fn group(word: &str, own: &Path) -> Result<Vec<Measured>> {
    let mut all: Vec<Measured> = Vec::new();
    for part in word.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (file, asked) = match part.rsplit_once(':') {
            Some((file, asked)) => (PathBuf::from(file), asked),
            None => (own.to_owned(), part),
        };
        let logbook = Logbook::open_read_only(&file)?;
        for id in ids(&logbook, asked)? {
            let (run, points) = logbook.measured(&id)?;
            if let Some(why) = run.retracted() {
                bail!(Usage(format!("{part}: run {} was retracted ({why})", run.id)));
            }
            if all.iter().any(|(other, _)| other.id == run.id) {
                bail!(Usage(format!("{part}: this run is named twice ({})", run.id)));
            }
            all.push((run, points));
        }
    }
    if all.is_empty() {
        bail!(Usage(format!("`{word}` names no run; `qdepth list` shows what there is")));
    }
    Ok(all)
}

/// The ids that are asked for: `all` whole runs, `latest~N`, or what the logbook knows.
fn ids(logbook: &Logbook, asked: &str) -> Result<Vec<String>> {
    let whole = || -> Result<Vec<String>> {
        let runs = logbook.runs()?.into_iter();
        Ok(runs.filter(RunHeadline::is_comparable).map(|run| run.id).collect())
    };
    if asked == "all" {
        return whole();
    }
    let Some(before) = asked.strip_prefix("latest~") else { return Ok(vec![asked.to_owned()]) };
    let before: usize = before.parse().map_err(|_| {
        Usage(format!(
            "`{asked}`: write a number behind the ~, as latest~1 for the run before the last"
        ))
    })?;
    let known: Vec<String> = logbook.runs()?.into_iter().map(|run| run.id).collect();
    match known.len().checked_sub(before + 1) {
        Some(place) => Ok(vec![known[place].clone()]),
        None => bail!(Usage(format!(
            "`{asked}`: {} has {} runs",
            logbook.path().display(),
            known.len()
        ))),
    }
}

/// The last whole runs of this logbook besides those that are compared.
fn earlier(own: &Path, a: &[Measured], b: &[Measured]) -> Result<Vec<Measured>> {
    if !own.exists() {
        return Ok(Vec::new());
    }
    let Some((first, _)) = a.first() else { return Ok(Vec::new()) };
    let logbook = Logbook::open_read_only(own)?;
    let compared: Vec<&str> = a.iter().chain(b).map(|(run, _)| run.id.as_str()).collect();
    Ok(logbook.earlier(&first.plan_name, &compared)?)
}
