//! `qdepth run`: measure, keep, tell.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use qdepth_record::export_json;

use crate::commands::read::{print_answer, print_details};
use crate::commands::repeat;
use crate::commands::report::{Sheets, page};
use crate::exit_status::{Status, status_of};
use crate::flags::{RunOptions, RunReport};
use crate::screen::Screen;
use crate::terminal::print_document;
use qdepth_lab::events::observer::Observer;
use qdepth_lab::events::signals::Signals;
use qdepth_lab::failure::Usage;
use qdepth_lab::request::{Ran, RunRequest};
use qdepth_lab::run;

pub(crate) fn run(options: &RunOptions) -> Result<Status> {
    if let Some(repeat) = options.repeat {
        return repeat::measure(options, repeat);
    }
    if options.resume
        && let Some(status) = repeat::resume(options)?
    {
        return Ok(status);
    }
    measure(options, &options.request()?, |ran| print_result(options, ran))
}

/// Tells a run in our own words, as the options want it.
pub(crate) fn print_result(options: &RunOptions, Ran { run, points, .. }: &Ran) -> Result<()> {
    if options.prints_events_alone() {
        return Ok(());
    }
    if options.json {
        print_document(&export_json(run, points))
    } else if options.verbose {
        print_details(run, points, &options.report.presentation.presentation(run))
    } else {
        print_answer(run, points, &options.report.presentation.presentation(run))
    }
}

/// Measures what is asked for, and tells it: by `tell`, in the report that the options want, and by
/// the status.
pub(crate) fn measure(
    options: &RunOptions,
    request: &RunRequest,
    print: impl FnOnce(&Ran) -> Result<()>,
) -> Result<Status> {
    let screen = Screen::from_options(options);
    measure_on(&screen, &screen, &options.report, request, print)
}

/// The same before this screen, and told to this observer.
pub(crate) fn measure_on(
    screen: &Screen,
    observer: &dyn Observer,
    report: &RunReport,
    request: &RunRequest,
    print: impl FnOnce(&Ran) -> Result<()>,
) -> Result<Status> {
    let signals = Signals::watch()?;
    let sheets = sheets(report)?;
    let Some(ran) = run::run(request, observer, &signals)? else {
        let Some(signal) = signals.caught() else { return Ok(Status::Valid) };
        screen.print_line("interrupted before the first point: nothing was measured");
        return Ok(Status::Interrupted(signal));
    };
    print(&ran)?;
    let Ran { run, points, signal, lost, planned, .. } = ran;
    if request.is_kept {
        screen.kept(&request.logbook, &run.id);
    }
    if let Some((sheets, typesetter)) = sheets {
        let document =
            |_| qdepth_report::compose(&run, &points, report.presentation.presentation(&run));
        let paths = sheets.put(typesetter.as_deref(), document).with_context(|| {
            let report = report.report.display();
            format!("no report {report}; the run is kept: then `qdepth report`")
        })?;
        for path in paths {
            screen.print_line(&format!("report   {}", path.display()));
        }
    }
    if let Some(signal) = signal {
        screen.print_line(if request.is_kept {
            "interrupted: what was measured is kept; `qdepth run --resume` continues"
        } else {
            "interrupted: nothing of it is kept"
        });
        return Ok(Status::Interrupted(signal));
    }
    if lost > 0 {
        screen.print_line(&format!(
            "{lost} of {planned} points lost their target; `qdepth run --resume` measures them \
             again"
        ));
    }
    Ok(status_of(&run, &points))
}

/// Destination of the report, if there is one, and the PDF program if it is a PDF.
fn sheets(wanted: &RunReport) -> Result<Option<(Sheets, Option<String>)>> {
    let report = (!wanted.no_report).then_some(&wanted.report);
    let opened = |path: &PathBuf| {
        let (sheets, typesetter) = page(path, wanted.presentation.lang)?;
        if sheets.has_a_folder() {
            let words = format!("{}: a folder; afterwards `qdepth report -o`", path.display());
            bail!(Usage(words));
        }
        Ok((sheets, typesetter))
    };
    report
        .map(opened)
        .transpose()
        .context("the report cannot be written (another name for --report, or --no-report)")
}
