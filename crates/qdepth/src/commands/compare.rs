//! `qdepth compare`: tests whether B is faster than A, slower, or equal; otherwise inconclusive.

mod sides;

use std::path::Path;

use anyhow::{Result, bail};
use qdepth_logbook::Logbook;
use qdepth_record::{Document, RunHeadline, document};
use qdepth_report::{
    EARLIER_MAX, Lang, Side, Versus, compose_versus, table_markdown, versus, versus_answer,
    versus_json, versus_notes, versus_on_screen, versus_sentences, versus_table,
};

use crate::commands::read::print_points;
use crate::commands::report::page;
use crate::exit_status::Status;
use crate::flags::CompareOptions;
use crate::terminal::{print, print_raw, print_unwrapped};
use qdepth_lab::failure::Usage;
use sides::runs_of_side;

pub(crate) fn compare(options: &CompareOptions) -> Result<Status> {
    let own = &options.logbook.logbook;
    let sheets = options.output.as_deref().map(|output| page(output, options.lang)).transpose()?;
    let (a, b) = (runs_of_side(&options.a, own)?, runs_of_side(&options.b, own)?);
    if let Some(run) = a.iter().find(|run| b.iter().any(|other| other.run.id == run.run.id)) {
        bail!(Usage(format!(
            "run {} is on both sides: a run cannot be compared with itself",
            run.run.id
        )));
    }
    let earlier = if a.len() + b.len() == 2 { earlier(own, &a, &b)? } else { Vec::new() };
    let (a, b) = (Side { name: &options.a, runs: &a }, Side { name: &options.b, runs: &b });
    let report = versus(a, b, &earlier, options.threshold.share(), 1);
    let lang = options.lang;
    if let Some(sheets) = sheets {
        sheets.write(|lang| compose_versus(&report, lang))?;
        versus_sentences(&report, lang).iter().try_for_each(|sentence| print(sentence))?;
    } else if options.json {
        print_raw(versus_json(&report).trim_end())?;
    } else if options.markdown {
        print_unwrapped(&table_markdown(&versus_table(&report, lang)))?;
        let items = versus_sentences(&report, lang).into_iter().map(|text| format!("- {text}"));
        print_unwrapped(&items.collect::<Vec<_>>().join("\n"))?;
    } else {
        on_screen(&report, lang, options.all)?;
    }
    Ok(status(&report))
}

/// Exit status of a comparison. Without points that are valid on both sides, it has no rows.
pub(crate) fn status(report: &Versus) -> Status {
    match (report.count("slower"), report.count("inconclusive"), report.rows.len()) {
        (0, 0, 1..) => Status::Valid,
        (0, ..) => Status::CannotTell,
        _ => Status::Invalid,
    }
}

/// Prints the answer, then differing and inconclusive rows, then notes.
fn on_screen(report: &Versus, lang: Lang, all: bool) -> Result<()> {
    let (first, table) = versus_on_screen(report, lang, all);
    print(&table.caption)?;
    first.iter().try_for_each(|sentence| print(sentence))?;
    if !table.rows.is_empty() {
        print_points(&table)?;
    }
    let summary = versus_answer(report, lang);
    summary.iter().chain(&versus_notes(report, lang)).try_for_each(|sentence| print(sentence))
}

/// Newest complete runs of the same plan in this logbook, without the compared runs.
fn earlier(own: &Path, a: &[Document], b: &[Document]) -> Result<Vec<Document>> {
    if !own.exists() {
        return Ok(Vec::new());
    }
    let Some(first) = a.first() else { return Ok(Vec::new()) };
    let logbook = Logbook::open_read_only(own)?;
    let compared: Vec<&str> = a.iter().chain(b).map(|run| run.run.id.as_str()).collect();
    let alike = logbook.newest_runs(EARLIER_MAX, |run| {
        run.plan == first.run.plan && run.is_comparable() && !compared.contains(&run.id.as_str())
    })?;
    // Loads one run at a time: each point of a complete run takes a megabyte or more.
    let measured =
        |run: &RunHeadline| logbook.measured(&run.id).map(|(run, all)| document(&run, &all));
    Ok(alike.iter().map(measured).collect::<Result<_, _>>()?)
}
