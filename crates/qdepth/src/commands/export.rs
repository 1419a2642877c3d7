//! `qdepth export`: one run as JSON, or the points of many runs as one table.

use anyhow::{Result, bail};
use qdepth_files::shell_word;
use qdepth_lab::failure::Usage;
use qdepth_logbook::Logbook;
use qdepth_record::{csv_header, csv_rows, export_json};

use crate::commands::read::{chosen, counted_runs, status_of_read};
use crate::exit_status::Status;
use crate::flags::{ExportOptions, RunChoice};
use crate::screen::Screen;
use crate::terminal::print_raw;

pub(crate) fn export(options: &ExportOptions) -> Result<Status> {
    let chooses = options.choosing.chooses();
    if chooses && !options.runs.is_empty() {
        bail!(Usage("use either run IDs or options that select runs, not both".into()));
    }
    if options.csv {
        return export_table(options);
    }
    let named = options.runs.join(" ");
    match options.runs.as_slice() {
        _ if chooses => bail!(Usage("options that select runs need `--csv`".into())),
        [] | [_] => export_document(options),
        several => bail!(Usage(format!(
            "a document contains one run, but {} are named. Export them as a table: `qdepth export \
             {named} --csv`",
            several.len()
        ))),
    }
}

fn export_document(options: &ExportOptions) -> Result<Status> {
    let run = options.runs.first().map_or("latest", String::as_str).to_owned();
    let (run, points) = chosen(&RunChoice { run, logbook: options.logbook.clone() })?;
    print_raw(export_json(&run, &points).trim_end())?;
    Ok(status_of_read(&run))
}

/// Ids of the selected runs, and whether the logbook lists every run it holds. Runs of a filter
/// come oldest first, named runs in the given order.
fn chosen_runs(options: &ExportOptions, logbook: &Logbook) -> Result<(Vec<String>, bool)> {
    if options.all || options.choosing.chooses() {
        let filter = options.choosing.filter(&[]);
        let runs = logbook.newest_runs(usize::MAX, |run| filter.fits(run))?;
        let ids = runs.into_iter().map(|run| run.id).rev().collect();
        return Ok((ids, logbook.lists_all_runs()?));
    }
    let latest = ["latest".to_owned()];
    let names = if options.runs.is_empty() { &latest } else { options.runs.as_slice() };
    let mut ids: Vec<String> = Vec::new();
    for name in names {
        let id = logbook.run(name)?.id;
        if ids.contains(&id) {
            bail!(Usage(format!("{name}: run {id} is named twice; remove one")));
        }
        ids.push(id);
    }
    Ok((ids, true))
}

fn export_table(options: &ExportOptions) -> Result<Status> {
    let file = shell_word(&options.logbook.logbook.to_string_lossy());
    let logbook = Logbook::open_read_only(&options.logbook.logbook)?;
    let (ids, lists_all) = chosen_runs(options, &logbook)?;
    if ids.is_empty() {
        bail!(Usage(format!(
            "no run of {file} matches; `qdepth list --logbook {file}` shows the runs"
        )));
    }
    let check = format!("`qdepth logbook check {file}` lists what is damaged");
    let (mut status, mut rows) = (Status::Valid, 0);
    print_raw(csv_header().trim_end())?;
    for id in &ids {
        let damage = match logbook.measured(id) {
            Ok((run, points)) => {
                rows += points.len();
                if !points.is_empty() {
                    print_raw(csv_rows(&run, &points).trim_end())?;
                }
                run.is_damaged().then(|| format!("run {id}: its damaged parts are omitted"))
            }
            Err(error) if ids.len() > 1 => Some(format!("run {id} is omitted: {error}")),
            Err(error) => return Err(error.into()),
        };
        if let Some(damage) = damage {
            status = Status::Invalid;
            Screen::new().print_line(&format!("{damage}; {check}"));
        }
    }
    if !lists_all {
        status = Status::Invalid;
        Screen::new().print_line(&format!("runs may be missing; {check}"));
    }
    if ids.len() > 1 {
        Screen::new().print_line(&format!("{}, {rows} points", counted_runs(ids.len())));
    }
    Ok(status)
}
