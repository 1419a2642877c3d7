//! Result of a run in a terminal: an answer that fits on the screen, and all findings on request.

use qdepth_document::document::{Align, Block, Table};
use qdepth_record::{PointRecord, RunRecord};

use crate::compared::Compared;
use crate::presentation::Presentation;
use crate::section::added_drives;
use crate::section::answer;
use crate::section::answer::{disk_mark, highest_rate};
use crate::section::bandwidth::{self, Bandwidth};
use crate::section::comparison;
use crate::section::explain::process_limits;
use crate::section::findings::{findings, lines};
use crate::section::over_time;
use crate::section::pressure;
use crate::section::pts;
use crate::section::steps::Steps;
use crate::section::summary;
use crate::section::sweep::tables;
use crate::view::View;
use crate::words::{Lang, counted, in_brackets, with_subject};

/// Largest number of lines with findings below a table.
const FINDING_LINES: usize = 3;

/// The result of a run in a terminal.
#[derive(Clone, Debug)]
pub struct OnScreen {
    /// Short ID and plan of the run, what it measured, and when.
    pub measured: String,
    /// Table with one row per point; for some plans tables of another form.
    pub tables: Vec<Table>,
    /// The answer as a small table, for screens that are too small for the full tables.
    pub answer: Option<Table>,
    /// The answer as a sentence; empty if the tables are the answer.
    pub sentence: String,
    /// Lines with the most important kinds of findings.
    pub findings: Vec<String>,
}

/// Applies a function to the view of a run.
fn described<T>(
    run: &RunRecord,
    points: &[PointRecord],
    presentation: impl Into<Presentation>,
    describe: impl FnOnce(&View<'_>) -> T,
) -> T {
    let presentation = presentation.into();
    let compared = Compared::from_run(run, points, &presentation.columns);
    let view = View::new(run, points, compared.as_ref(), &presentation);
    describe(&view)
}

/// Latency over time of the selected points, as a heat map in characters; empty if their samples
/// hold no latencies.
pub fn latency_over_time(
    run: &RunRecord,
    points: &[PointRecord],
    presentation: impl Into<Presentation>,
) -> Vec<String> {
    described(run, points, presentation, over_time::in_lines)
}

/// The result of a run for a terminal.
pub fn on_screen(
    run: &RunRecord,
    points: &[PointRecord],
    presentation: impl Into<Presentation>,
) -> OnScreen {
    described(run, points, presentation, answered)
}

fn answered(view: &View<'_>) -> OnScreen {
    let name = format!("{:.13} ({})", view.run.id, view.run.plan_name);
    let measured = with_subject(view.lang, &name, &summary::measured(view));
    let mut findings = lines(view);
    if findings.len() > FINDING_LINES {
        let more = findings.split_off(FINDING_LINES - 1).len();
        findings.push(counted(view.words.findings.more, more));
    }
    if let Some(grid) = disk_mark::table(view) {
        return OnScreen {
            measured,
            tables: vec![grid],
            answer: None,
            sentence: String::new(),
            findings,
        };
    }
    let answer = answer::blocks(view).into_iter().find_map(|block| match block {
        Block::Table(table) => Some(untraced(table)),
        _ => None,
    });
    OnScreen {
        measured,
        tables: tables_of(view).into_iter().map(untraced).collect(),
        answer,
        sentence: std::iter::once(answer::sentence(view))
            .chain(process_limits(view).filter(|_| !added_drives::is_measured(view)))
            .chain(summary::durable(view))
            .chain(summary::expected(view))
            .collect::<Vec<_>>()
            .join(view.words.gap),
        findings,
    }
}

/// Each kind of finding once, the most severe first, with its location and remedy. They explain the
/// grades of a table.
pub fn finding_sentences(
    run: &RunRecord,
    points: &[PointRecord],
    presentation: impl Into<Presentation>,
) -> Vec<String> {
    described(run, points, presentation, sentences_of)
}

fn sentences_of(view: &View<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    for block in findings(view) {
        let Block::Finding(group) = block else { continue };
        for (number, case) in group.cases.iter().enumerate() {
            let location = match case.location.as_str() {
                "" => String::new(),
                location => in_brackets(view.lang, location),
            };
            let title =
                with_subject(view.lang, &group.severity, &format!("{}{location}", group.title));
            let mut text = case.explanation.clone();
            if number + 1 == group.cases.len() {
                text = format!("{text}{}{}", view.words.gap, group.advice);
            }
            sentences.push(with_subject(view.lang, &title, &text));
        }
    }
    sentences
}

/// The three sentences at the head of a report: what was measured, the result, and its reliability.
pub fn summary_sentences(
    run: &RunRecord,
    points: &[PointRecord],
    presentation: impl Into<Presentation>,
) -> Vec<String> {
    described(run, points, presentation, summary::summary)
}

/// True if the run measured reads next to writes at rising rates, which a latency limit requires.
pub fn has_write_pressure(run: &RunRecord, points: &[PointRecord]) -> bool {
    described(run, points, Lang::En, |view| Steps::new(view).are_write_pressure())
}

/// All points as plain tables for a terminal or a text file: one row per point of a sweep, per step
/// and target of write pressure, or per load of other steps. For a comparison, its tables.
pub fn point_tables(
    run: &RunRecord,
    points: &[PointRecord],
    presentation: impl Into<Presentation>,
) -> Vec<Table> {
    described(run, points, presentation, |view| tables_of(view).into_iter().map(untraced).collect())
}

/// Removes the column of point numbers, which would make rows too long for a terminal.
fn untraced(mut table: Table) -> Table {
    table.retain_columns(|_, column| column.align != Align::Places);
    table
}

fn tables_of(view: &View<'_>) -> Vec<Table> {
    if let Some(table) = added_drives::table(view) {
        return vec![table];
    }
    if view.compared.is_some() && !view.loads.is_empty() {
        return comparison::all_tables(view);
    }
    if let Some(table) = highest_rate::whole_table(view) {
        return vec![table];
    }
    let by_snia = pts::tables(view);
    if !by_snia.is_empty() {
        return by_snia;
    }
    if let Some(bandwidth) = Bandwidth::new(view) {
        let tables = [Some(bandwidth::tables::rates(view, &bandwidth))].into_iter();
        return tables.chain([bandwidth::tables::scaling(view, &bandwidth)]).flatten().collect();
    }
    let steps = Steps::new(view);
    let swept =
        (view.swept().next().is_some() || steps.all.is_empty()).then(|| tables::terminal(view));
    let stepped = (!steps.all.is_empty()).then(|| {
        let table = if steps.are_write_pressure() {
            pressure::tables::steps(view, &steps)
        } else {
            pressure::tables::loads(view, &steps)
        };
        Table { caption: String::new(), note: String::new(), ..table }
    });
    swept.into_iter().chain(stepped).collect()
}
