//! The verbs that read the logbook: list, show, report, export; and the schemas.

use anyhow::{Result, bail};
use comfy_table::{CellAlignment, ContentArrangement, Table, TableStyle, presets};
use qdepth_logbook::record::{PointRecord, RunRecord};
use qdepth_logbook::{
    Logbook, RunHeadline, events_json_schema, export_csv, export_json, export_runs_json,
    host_json_schema, json_schema, runs_json_schema,
};
use qdepth_measure::Code;
use qdepth_report::{Measured, Telling};
use qdepth_workload::plan_schema;

use crate::ended::{Status, Usage};
use crate::flags::{
    ExportOptions, ListOptions, LogbookOption, RunChoice, SchemaOf, SchemaOptions, ShowOptions,
};
use crate::screen::Screen;
use crate::terminal::{print, print_document};

pub(crate) fn table(headers: &[String], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(headers);
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}

/// Prints the table of all points, the summary, and what was found.
pub(crate) fn print_table(
    run: &RunRecord,
    points: &[PointRecord],
    telling: &Telling,
) -> Result<()> {
    for data in qdepth_report::point_tables(run, points, telling.clone()) {
        print_points(&data)?;
    }
    for sentence in qdepth_report::summary_sentences(run, points, telling.clone()) {
        print(&sentence)?;
    }
    Ok(())
}

fn headings(data: &qdepth_report::Table) -> Vec<String> {
    let heading = |column: &qdepth_report::Column| match column.unit.as_str() {
        "" => column.heading.clone(),
        unit => format!("{}\n{unit}", column.heading),
    };
    data.columns.iter().map(heading).collect()
}

fn texts(data: &qdepth_report::Table) -> Vec<Vec<String>> {
    data.rows.iter().map(|row| row.cells.iter().map(|c| c.text.clone()).collect()).collect()
}

fn print_points(data: &qdepth_report::Table) -> Result<()> {
    print(&table(&headings(data), texts(data)))
}

/// Columns of a table where no terminal says how many there are.
const WIDTH: u16 = 120;

/// Prints a table whose columns say how they stand, within the width of the terminal.
pub(crate) fn print_any_table(data: &qdepth_report::Table) -> Result<()> {
    print_styled(data, presets::UTF8_HORIZONTAL_ONLY)
}

/// Prints a table of many short rows below its caption, with nothing between the rows.
pub(crate) fn print_list(data: &qdepth_report::Table) -> Result<()> {
    print(&data.caption)?;
    print_styled(data, presets::UTF8_BORDERS_ONLY)
}

fn print_styled(data: &qdepth_report::Table, style: TableStyle) -> Result<()> {
    let mut table = Table::new();
    table.load_style(style);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if table.width().is_none() {
        table.set_width(WIDTH);
    }
    table.set_header(headings(data));
    for row in texts(data) {
        table.add_row(row);
    }
    for (column, shape) in table.column_iter_mut().zip(&data.columns) {
        if shape.align == qdepth_report::Align::Number {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    print(&table.to_string())
}

pub(crate) fn chosen(choice: &RunChoice) -> Result<Measured> {
    Ok(Logbook::open_read_only(&choice.logbook.logbook)?.measured(&choice.run)?)
}

/// Several runs, in the order asked, each once.
pub(crate) fn chosen_all(ids: &[String], logbook: &LogbookOption) -> Result<Vec<Measured>> {
    let logbook = Logbook::open_read_only(&logbook.logbook)?;
    let mut all: Vec<Measured> = Vec::new();
    for id in ids {
        let (run, points) = logbook.measured(id)?;
        if all.iter().any(|(other, _)| other.id == run.id) {
            bail!(Usage(format!("{id}: this run is named twice ({})", run.id)));
        }
        all.push((run, points));
    }
    Ok(all)
}

pub(crate) fn list(options: &ListOptions) -> Result<Status> {
    let file = &options.logbook.logbook;
    let logbook = Logbook::open_read_only(file)?;
    let (filter, whole) = (options.filter(), logbook.lists_all_runs()?);
    let mut runs = logbook.runs()?;
    runs.retain(|run| filter.fits(run));
    // The newest stand last.
    runs.drain(..runs.len() - runs.len().min(options.limit.unwrap_or(usize::MAX)));
    if options.json {
        print_document(export_runs_json(&runs, whole).trim_end())?;
    } else {
        print_runs(&runs)?;
    }
    if whole {
        return Ok(Status::Valid);
    }
    Screen::new().say(&format!(
        "runs may be missing from this list; `qdepth logbook check {}` says what is damaged",
        file.display()
    ));
    Ok(Status::Invalid)
}

/// The newest stands first; given is the oldest first.
pub(crate) fn print_runs(runs: &[RunHeadline]) -> Result<()> {
    let headers = ["run", "started", "state", "plan", "points", "targets"].map(str::to_owned);
    let row = |run: &RunHeadline| {
        vec![
            run.id.chars().take(13).collect(),
            run.started_at.chars().take(19).collect(),
            match (run.damaged, &run.retracted) {
                (true, _) => "damaged".to_owned(),
                (false, Some(_)) => format!("{}, retracted", run.state_text()),
                (false, None) => run.state_text().to_owned(),
            },
            run.plan.clone(),
            format!("{}/{}", run.points_done, run.points_planned),
            run.targets.join(", "),
        ]
    };
    print(&table(&headers, runs.iter().rev().map(row).collect()))
}

/// A run of which something could not be relied on is no success for a script.
fn told_whole(run: &RunRecord) -> Status {
    let is_damaged = run.findings.iter().any(|finding| finding.code == Code::RecordDamaged);
    if is_damaged { Status::Invalid } else { Status::Valid }
}

pub(crate) fn show(options: &ShowOptions) -> Result<Status> {
    let (run, points) = chosen(&options.choice)?;
    print_table(&run, &points, &options.telling.telling())?;
    run.retracted().map_or(Ok(()), |why| print(&format!("RETRACTED: {why}")))?;
    run.notes().try_for_each(|note| print(&format!("note: {note}")))?;
    for (where_found, findings) in std::iter::once(("run".to_owned(), &run.findings))
        .chain(points.iter().map(|p| (where_measured(p), &p.findings)))
    {
        for finding in findings {
            let text = qdepth_report::finding_text(finding, options.telling.lang.of_report());
            print(&format!("{where_found}: {}: {}", text.title, text.explanation))?;
        }
    }
    Ok(told_whole(&run))
}

/// `Database × 8`, `Single reader × 1 at 300 MB/s`.
fn where_measured(point: &PointRecord) -> String {
    let at = if point.step.is_empty() { String::new() } else { format!(" at {}", point.step) };
    format!("{} × {}{at}", point.profile_title, point.outstanding)
}

pub(crate) fn export(options: &ExportOptions) -> Result<Status> {
    let (run, points) = chosen(&options.choice)?;
    let text = if options.csv { export_csv(&run, &points) } else { export_json(&run, &points) };
    print_document(text.trim_end())?;
    Ok(told_whole(&run))
}

pub(crate) fn schema(options: SchemaOptions) -> Result<Status> {
    print_document(&match options.of {
        SchemaOf::Plan => plan_schema(),
        SchemaOf::Run => json_schema(),
        SchemaOf::Figures => qdepth_report::figures_schema(),
        SchemaOf::Runs => runs_json_schema(),
        SchemaOf::Events => events_json_schema(),
        SchemaOf::Reproduce => qdepth_reference::json_schema(),
        SchemaOf::Host => host_json_schema(),
        SchemaOf::Compare => qdepth_report::versus_schema(),
        SchemaOf::Repeat => qdepth_report::repeated_schema(),
        SchemaOf::Steady => qdepth_report::steady_schema(),
        SchemaOf::Trend => qdepth_report::trend_schema(),
    })?;
    Ok(Status::Valid)
}
