//! `qdepth list` and `qdepth show`: commands that read the logbook.

use anyhow::{Result, bail};
use qdepth_logbook::Logbook;
use qdepth_record::{
    Best, PointRecord, RunHeadline, RunRecord, RunState, export_json, export_runs_json,
};
use qdepth_report::{
    Align, Cell, Column, Measured, OnScreen, Presentation, Row, Table, count, on_screen,
};

use crate::exit_status::Status;
use crate::flags::{ListOptions, LogbookOption, RunChoice, ShowOptions, must_have_no_limit};
use crate::screen::Screen;
use crate::terminal::{self, print, print_raw};
use qdepth_lab::failure::Usage;

/// Terminal lines kept free below a table for sentences and the prompt.
const LINES_OF_WORDS: usize = 9;

/// Prints the table of all points and the answer. If the table is longer than the terminal, also
/// prints the short answer table, so that it is still visible at the end.
pub(crate) fn print_answer(screen: OnScreen) -> Result<()> {
    let OnScreen { tables, answer, sentence, findings, .. } = screen;
    tables.iter().try_for_each(print_points)?;
    let rows: usize = tables.iter().map(|table| table.rows.len()).sum();
    let room =
        terminal::result_lines().map_or(usize::MAX, |lines| lines.saturating_sub(LINES_OF_WORDS));
    if let Some(answer) = answer.filter(|answer| rows > room && answer.rows.len() < room) {
        print("")?;
        print_points(&answer)?;
    }
    print("")?;
    let sentence = Some(sentence).filter(|sentence| !sentence.is_empty());
    sentence.iter().try_for_each(|sentence| print(sentence))?;
    findings.iter().try_for_each(|line| print(&terminal::in_commands(line)))
}

/// Prints the table of all points, the summary and every finding.
pub(crate) fn print_details(
    run: &RunRecord,
    points: &[PointRecord],
    presentation: &Presentation,
) -> Result<()> {
    let tables = qdepth_report::point_tables(run, points, presentation.clone());
    tables.iter().try_for_each(print_points)?;
    print("")?;
    let summary = qdepth_report::summary_sentences(run, points, presentation.clone());
    let findings = qdepth_report::finding_sentences(run, points, presentation.clone());
    summary.iter().chain(&findings).try_for_each(|sentence| print(sentence))
}

/// Prints a table of points, a block for each profile.
pub(crate) fn print_points(data: &Table) -> Result<()> {
    let title = |row: &Row| row.cells.first().map(|cell| cell.text.clone());
    let shared = data.rows.windows(2).any(|rows| title(&rows[0]) == title(&rows[1]));
    let named = data.columns.first().is_some_and(|column| column.align == Align::Text);
    terminal::print_table(data, shared && named)
}

/// Table of texts: the first column is left-aligned, the others are aligned like numbers.
pub(crate) fn table(headings: &[&str], rows: Vec<Vec<String>>) -> Table {
    let column = |(index, heading): (usize, &&str)| Column {
        heading: (*heading).to_owned(),
        unit: String::new(),
        align: if index == 0 { Align::Text } else { Align::Number },
        rank: 0,
    };
    let cell = |text: String| Cell { text, ..Cell::default() };
    let row = |cells: Vec<String>| Row {
        cells: cells.into_iter().map(cell).collect(),
        opens_group: false,
    };
    Table {
        caption: String::new(),
        columns: headings.iter().enumerate().map(column).collect(),
        rows: rows.into_iter().map(row).collect(),
        note: String::new(),
    }
}

/// Prints the caption of a table, then the table.
pub(crate) fn print_list(data: &Table) -> Result<()> {
    print(&data.caption)?;
    terminal::print_table(data, false)
}

pub(crate) fn chosen(choice: &RunChoice) -> Result<Measured> {
    let logbook = Logbook::open_read_only(&choice.logbook.logbook)?;
    Ok(logbook.measured(&choice.run)?)
}

/// Reads runs in the given order; an error if one is named twice.
pub(crate) fn chosen_all(ids: &[String], logbook: &LogbookOption) -> Result<Vec<Measured>> {
    let logbook = Logbook::open_read_only(&logbook.logbook)?;
    let mut all: Vec<Measured> = Vec::new();
    for id in ids {
        let (run, points) = logbook.measured(id)?;
        if all.iter().any(|(other, _)| other.id == run.id) {
            bail!(Usage(format!("{id}: run {} is named twice; remove one", run.id)));
        }
        all.push((run, points));
    }
    Ok(all)
}

/// Default number of listed runs. Only these are read completely, in 0.2 ms each.
const SCREENFUL: usize = 100;

pub(crate) fn list(options: &ListOptions) -> Result<Status> {
    let file = &options.logbook.logbook;
    let logbook = Logbook::open_read_only(file)?;
    let (filter, whole) = (options.choosing.filter(&options.words), logbook.lists_all_runs()?);
    let usual = if options.json || options.all { usize::MAX } else { SCREENFUL };
    let most = options.limit.unwrap_or(usual);
    let mut runs = logbook.listed(most, SCREENFUL, |run| filter.fits(run))?;
    let kept = if runs.len() == most { logbook.runs_kept()? } else { 0 };
    let left_out = options.limit.is_none() && kept > most;
    runs.reverse();
    if options.json {
        print_raw(export_runs_json(&runs, whole).trim_end())?;
    } else if runs.is_empty() && whole && options.limit != Some(0) {
        let (kept, file) = (logbook.runs_kept()?, file.display());
        Screen::new().print_line(&match kept {
            0 => format!("{file} has no runs yet; `qdepth run` adds one"),
            _ => format!("none of the {} of {file} matches", counted_runs(kept)),
        });
    } else {
        print_runs(&runs)?;
    }
    if left_out {
        Screen::new().print_line(&format!(
            "these are the newest {most} of {kept} runs; `qdepth list --all` shows all, and \
             filters select some (`qdepth list --help`)"
        ));
    }
    if whole {
        return Ok(Status::Valid);
    }
    Screen::new().print_line(&format!(
        "runs may be missing from this list; `qdepth logbook check {}` lists what is damaged",
        file.display()
    ));
    Ok(Status::Invalid)
}

/// `1 run`, `12 runs`.
pub(crate) fn counted_runs(count: usize) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{count} runs") }
}

/// I/Os of at least this many bytes are judged by their throughput.
const LARGE: u64 = 128 << 10;

/// `233,311 IOPS`, or `2,661 MiB/s` for large I/Os; empty without valid points.
fn best_figure(best: Best) -> String {
    match (best.io_per_s, best.bytes_per_s) {
        (Some(io), Some(bytes)) if bytes / io.max(1) >= LARGE => {
            format!("{} MiB/s", count(bytes.saturating_add(1 << 19) >> 20))
        }
        (Some(io), _) => format!("{} IOPS", count(io)),
        _ => String::new(),
    }
}

/// The grade of all points, or the number of points of each grade, for example `28B 2C`; empty
/// without points.
fn grades(best: Best) -> String {
    let counted = best.grades.into_iter().zip(["A", "B", "C"]).filter(|(count, _)| *count > 0);
    match &*counted.collect::<Vec<_>>() {
        [(_, grade)] => (*grade).to_owned(),
        all => all.iter().map(|(n, grade)| format!("{n}{grade}")).collect::<Vec<_>>().join(" "),
    }
}

/// Prints the list of runs, newest first. `runs` is ordered oldest first.
pub(crate) fn print_runs(runs: &[RunHeadline]) -> Result<()> {
    let year = |run: &RunHeadline| run.started_at.chars().take(4).collect::<String>();
    let one_year = runs.windows(2).all(|pair| year(&pair[0]) == year(&pair[1]));
    let row = |run: &RunHeadline| {
        let state = match (run.damaged, &run.retracted) {
            (true, _) => "damaged".to_owned(),
            (false, Some(_)) => format!("{}, retracted", run.state.as_str()),
            (false, None) => run.state.as_str().to_owned(),
        };
        let is_whole = run.points_done == run.points_planned;
        let points = format!(" {}/{}", run.points_done, run.points_planned);
        let started = run.started_at.chars().take(16).skip(if one_year { 5 } else { 0 });
        vec![
            run.id.chars().take(13).collect(),
            // Minutes suffice: the rows are in order of time.
            started.map(|letter| if letter == 'T' { ' ' } else { letter }).collect(),
            if is_whole { state } else { state + &points },
            run.plan.clone(),
            format!("{} {}", best_figure(run.best), grades(run.best)).trim().to_owned(),
            run.targets.join(", "),
        ]
    };
    let headings = ["run", "started", "state", "plan", "best, grade", "targets"];
    let mut table = table(&headings, runs.iter().rev().map(row).collect());
    // In a narrow terminal, a state that is always the same says least.
    let alike = runs.iter().all(|run| run.state == RunState::Complete && run.retracted.is_none());
    let state = if alike && runs.iter().all(|run| !run.damaged) { 3 } else { 0 };
    for (column, rank) in table.columns.iter_mut().zip([0, 2, state, 1, 0, 1]) {
        column.rank = rank;
        if column.heading != "best, grade" {
            column.align = Align::Text;
        }
    }
    terminal::print_table(&table, false)
}

/// Status of a command that reads a run: scripts must not take a damaged run for a success.
pub(crate) fn status_of_read(run: &RunRecord) -> Status {
    if run.is_damaged() { Status::Invalid } else { Status::Valid }
}

/// Prints the latency of a point over time; without a number, of the point with the longest p99.9.
fn print_timeline(
    run: &RunRecord,
    points: &[PointRecord],
    number: Option<u32>,
    presentation: Presentation,
) -> Result<()> {
    let over_time = must_have_timelines(run, points, number.as_slice())?;
    let presentation = Presentation { over_time, ..presentation };
    let lines = qdepth_report::latency_over_time(run, points, presentation);
    lines.iter().try_for_each(|line| print(line))
}

/// Numbers of the wanted points, or of the point with the longest p99.9 if none is named.
///
/// # Errors
/// If the run lacks a wanted point, or a point's samples hold no latencies.
pub(crate) fn must_have_timelines(
    run: &RunRecord,
    points: &[PointRecord],
    wanted: &[u32],
) -> Result<Vec<u32>, Usage> {
    let known: Vec<&PointRecord> =
        points.iter().filter(|point| point.has_latencies_over_time()).collect();
    let has = |number: &u32| known.iter().any(|point| point.index == *number);
    match qdepth_report::longest_tail(known.iter().copied()) {
        Some(longest) if wanted.is_empty() => return Ok(vec![longest]),
        Some(_) if wanted.iter().all(has) => return Ok(wanted.to_vec()),
        _ => {}
    }
    let id = run.id.get(..13).unwrap_or(&run.id);
    let numbers: Vec<String> = known.iter().map(|point| point.index.to_string()).collect();
    Err(Usage(match numbers.as_slice() {
        [] => format!(
            "run {id} has no latencies over time: it has several ranks, or was imported without a \
             latency log"
        ),
        [only] => format!("run {id} has latencies over time only for point {only}"),
        all => format!("run {id} has latencies over time only for points {}", all.join(", ")),
    }))
}

pub(crate) fn show(options: &ShowOptions) -> Result<Status> {
    let (run, points) = chosen(&options.choice)?;
    if options.json {
        print_raw(export_json(&run, &points).trim_end())?;
        return Ok(status_of_read(&run));
    }
    if !qdepth_report::has_write_pressure(&run, &points) {
        let subject = format!("run {}", run.id.get(..13).unwrap_or(&run.id));
        must_have_no_limit(&options.presentation.limit, &subject)?;
    }
    let presentation = options.presentation.presentation(&run);
    match (options.findings, options.timeline || options.point.is_some()) {
        (true, _) => print_details(&run, &points, &presentation)?,
        (_, true) => print_timeline(&run, &points, options.point, presentation)?,
        _ => {
            let screen = on_screen(&run, &points, presentation);
            print(&screen.measured)?;
            print("")?;
            print_answer(screen)?;
        }
    }
    run.retracted().map_or(Ok(()), |why| print(&format!("RETRACTED: {why}")))?;
    run.notes().try_for_each(|note| print(&format!("note: {note}")))?;
    Ok(status_of_read(&run))
}
