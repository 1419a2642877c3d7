//! `qdepth export`: a run for machines, or many as tables.

use std::path::Path;

use anyhow::{Result, bail};
use qdepth_files::{Coming, Folder, Privacy, shell_word};
use qdepth_lab::failure::Usage;
use qdepth_logbook::Logbook;
use qdepth_parquet::Sheet;
use qdepth_record::{RunHeadline, TableOf, TabledRun, export_csv, export_json};

use crate::commands::read::{chosen, status_of_read};
use crate::exit_status::Status;
use crate::flags::{ExportOptions, RunChoice};
use crate::result_file::ResultFile;
use crate::screen::Screen;
use crate::terminal::print_document;

pub(crate) fn export(options: &ExportOptions) -> Result<Status> {
    let chooses = options.choosing.chooses();
    match &options.parquet {
        Some(_) if chooses && !options.runs.is_empty() => bail!(Usage(
            "runs are named, and options choose others: leave out one of the two".to_owned()
        )),
        Some(path) => export_tables(options, path),
        None if chooses => bail!(Usage(
            "options that choose runs are for tables: add `--parquet FOLDER`".to_owned()
        )),
        None => export_one(options),
    }
}

fn export_one(options: &ExportOptions) -> Result<Status> {
    let run = match options.runs.as_slice() {
        [] => "latest".to_owned(),
        [run] => run.clone(),
        several => bail!(Usage(format!(
            "one run is printed, and {} are named. As tables: `qdepth export {} --parquet FOLDER`",
            several.len(),
            several.join(" ")
        ))),
    };
    let (run, points) = chosen(&RunChoice { run, logbook: options.logbook.clone() })?;
    let text = if options.csv { export_csv(&run, &points) } else { export_json(&run, &points) };
    print_document(text.trim_end())?;
    Ok(status_of_read(&run))
}

/// The runs that are asked for, the oldest first, and whether the logbook is known to list all.
fn chosen_runs(options: &ExportOptions, logbook: &Logbook) -> Result<(Vec<RunHeadline>, bool)> {
    let file = shell_word(&options.logbook.logbook.to_string_lossy());
    let all = options.all || options.choosing.chooses();
    let mut runs = if all {
        let filter = options.choosing.filter(&[]);
        logbook.newest_runs(usize::MAX, |run| filter.fits(run))?
    } else {
        let latest = ["latest".to_owned()];
        let names = if options.runs.is_empty() { &latest } else { options.runs.as_slice() };
        let mut ids: Vec<String> = Vec::new();
        for name in names {
            let id = logbook.run(name)?.id;
            if ids.contains(&id) {
                bail!(Usage(format!("{name}: this run is named twice ({id})")));
            }
            ids.push(id);
        }
        logbook.newest_runs(ids.len(), |run| ids.contains(&run.id))?
    };
    if runs.is_empty() {
        bail!(Usage(format!(
            "no run of {file} is like that, and nothing was written: `qdepth list --logbook {file}`"
        )));
    }
    runs.reverse();
    Ok((runs, !all || logbook.lists_all_runs()?))
}

/// The files, a table each.
fn files(path: &Path) -> Result<Vec<(TableOf, ResultFile)>> {
    let privacy = Privacy::Private;
    if path.as_os_str() == "-" {
        let why = "tables are files, and none goes to the standard output: `--parquet tables`";
        bail!(Usage(why.to_owned()));
    }
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("parquet")) {
        return Ok(vec![(TableOf::Points, ResultFile::file(path, privacy)?)]);
    }
    Folder::make(path, privacy.of_folders())?;
    let file = |table: TableOf| {
        let path = path.join(format!("{}.parquet", table.name()));
        ResultFile::file(path, privacy).map(|file| (table, file))
    };
    TableOf::ALL.into_iter().map(file).collect()
}

fn export_tables(options: &ExportOptions, path: &Path) -> Result<Status> {
    let file = shell_word(&options.logbook.logbook.to_string_lossy());
    let logbook = Logbook::open_read_only(&options.logbook.logbook)?;
    let (runs, lists_all) = chosen_runs(options, &logbook)?;
    let files = files(path)?;
    let mut sheets = Vec::new();
    for (table, file) in &files {
        sheets.push((Sheet::new(*table), file.begin()?));
    }
    let (mut status, mut points) = (Status::Valid, 0);
    for headline in &runs {
        match add(&logbook, headline, &mut sheets) {
            Ok((whole, measured)) => {
                points += measured;
                if whole == Status::Invalid {
                    status = whole;
                    Screen::new().print_line(&format!(
                        "run {}: what is damaged of it was left out; `qdepth logbook check {file}` \
                         says what",
                        headline.id
                    ));
                }
            }
            Err(error) if headline.damaged && runs.len() > 1 => {
                status = Status::Invalid;
                Screen::new().print_line(&format!("run {} was left out: {error:#}", headline.id));
            }
            Err(error) => return Err(error),
        }
    }
    finish(&files, sheets)?;
    if !lists_all {
        status = Status::Invalid;
        Screen::new().print_line(&format!(
            "runs may be missing; `qdepth logbook check {file}` says what is damaged"
        ));
    }
    let (count, s) = (runs.len(), if runs.len() == 1 { "" } else { "s" });
    Screen::new().print_line(&format!("{count} run{s}, {points} points: {}", path.display()));
    Ok(status)
}

type OpenTable<'a> = (Sheet, Coming<'a>);

/// Adds a run to the tables: whether it was whole, and how many points it has.
fn add(
    logbook: &Logbook,
    headline: &RunHeadline,
    sheets: &mut [OpenTable<'_>],
) -> Result<(Status, usize)> {
    let (run, points) = logbook.measured(&headline.id)?;
    for (sheet, coming) in sheets {
        coming.add(&sheet.add(TabledRun { headline, run: &run, points: &points }))?;
    }
    Ok((status_of_read(&run), points.len()))
}

/// Every file is complete before the first has its name.
fn finish(files: &[(TableOf, ResultFile)], sheets: Vec<OpenTable<'_>>) -> Result<()> {
    let mut complete = Vec::new();
    for (sheet, mut coming) in sheets {
        coming.add(&sheet.end(env!("CARGO_PKG_VERSION")))?;
        complete.push(coming);
    }
    for ((_, file), coming) in files.iter().zip(complete) {
        file.finish(coming)?;
    }
    Ok(())
}
