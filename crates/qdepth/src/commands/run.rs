//! `qdepth run`: measures, stores the run and prints the result.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use qdepth_record::export_json;
use qdepth_report::on_screen;

use crate::commands::read::{print_answer, print_details};
use crate::commands::repeat;
use crate::commands::report::{OutputFiles, run_page};
use crate::exit_status::{Status, status_of};
use crate::flags::{RunOptions, RunReport};
use crate::screen::Screen;
use crate::terminal::print_raw;
use qdepth_lab::events::observer::Observer;
use qdepth_lab::events::signals::Signals;
use qdepth_lab::failure::Usage;
use qdepth_lab::request::{FinishedRun, RunRequest};
use qdepth_lab::run;

pub(crate) fn run(options: &RunOptions) -> Result<Status> {
    if options.json && options.prints_events_alone() {
        bail!(Usage(
            "--json and --events - both write to standard output. Try --events events.jsonl"
                .to_owned()
        ));
    }
    if let Some(repeat) = options.repeat {
        return repeat::measure(options, repeat);
    }
    if options.resume
        && let Some(status) = repeat::resume(options)?
    {
        return Ok(status);
    }
    let request = options.request()?;
    let screen = Screen::from_options(options);
    measure_on(&screen, &screen, &options.report, &request, |ran| print_result(options, ran))
}

/// Prints a run in the format that the options select.
fn print_result(options: &RunOptions, FinishedRun { run, points, .. }: &FinishedRun) -> Result<()> {
    if options.prints_events_alone() {
        return Ok(());
    }
    if options.json {
        print_raw(&export_json(run, points))
    } else if options.verbose {
        print_details(run, points, &options.report.presentation.presentation(run))
    } else {
        print_answer(on_screen(run, points, options.report.presentation.presentation(run)))
    }
}

/// Measures a request, prints it with `print`, writes the report that the options ask for, and
/// returns the status.
pub(crate) fn measure_on(
    screen: &Screen,
    observer: &dyn Observer,
    report: &RunReport,
    request: &RunRequest,
    print: impl FnOnce(&FinishedRun) -> Result<()>,
) -> Result<Status> {
    let signals = Signals::watch()?;
    let sheets = sheets(report)?;
    let Some(ran) = run::run(request, observer, &signals)? else {
        let Some(signal) = signals.caught() else { return Ok(Status::Valid) };
        screen.print_line("interrupted before the first point: nothing was measured");
        return Ok(Status::Interrupted(signal));
    };
    print(&ran)?;
    let FinishedRun { run, points, signal, lost, planned, .. } = ran;
    if request.is_kept {
        screen.print_run_location(&request.logbook, &run.id);
    }
    if let Some(sheets) = sheets {
        let document =
            |_| qdepth_report::compose(&run, &points, report.presentation.presentation(&run));
        let paths = sheets.write_all(document).with_context(|| {
            let report = report.report.display();
            format!(
                "the report {report} could not be written. The run is kept: write it later with \
                 `qdepth report`"
            )
        })?;
        for path in paths {
            screen.print_line(&format!("report   {}", path.display()));
        }
    }
    if let Some(signal) = signal {
        screen.print_line(if request.is_kept {
            "interrupted: the measured points are kept; `qdepth run --resume` continues"
        } else {
            "interrupted: nothing is kept"
        });
        return Ok(Status::Interrupted(signal));
    }
    if lost == 0 && points.len() < planned {
        screen.print_line(&format!(
            "{} of {planned} points were measured: a target's steps end with the first that it \
             does not sustain",
            points.len()
        ));
    }
    if lost > 0 {
        screen.print_line(&format!(
            "{lost} of {planned} points lost their target; `qdepth run --resume` measures them \
             again"
        ));
    }
    Ok(status_of(&run, &points))
}

/// Output file of the report, if one is wanted.
fn sheets(wanted: &RunReport) -> Result<Option<OutputFiles>> {
    let report = (!wanted.no_report).then_some(&wanted.report);
    let opened = |path: &PathBuf| run_page(path, wanted.presentation.lang);
    report
        .map(opened)
        .transpose()
        .context("the report cannot be written (use another --report, or --no-report)")
}
