//! Tables of the page.

use crate::{
    Class, ComparedFigure, ComparedRelation, Errors, Maxima, Named, Outcome, PointName, Precision,
    Published, Quantity, RelationText, ShareResult, Use, Verdict,
};
use qdepth_document::document::{Cell, Column, Mark, Row, Table, number_in, text};
use qdepth_document::number::thousands;
use qdepth_words::{Lang, counted, fill_in, in_brackets, with_subject, words};

use crate::phrases::{heading, translated};

use super::view::{View, entry};

fn table(caption: &str, columns: Vec<Column>, rows: Vec<Row>, note: &str) -> Table {
    Table { caption: caption.to_owned(), columns, rows, note: note.to_owned() }
}

fn row(cells: Vec<Cell>, opens_group: bool) -> Row {
    Row { cells, opens_group }
}

/// A share as a percentage with one decimal.
fn percent(share: f64) -> String {
    thousands(share * 100.0, 1)
}

fn percent_or_dash(share: Option<f64>) -> Cell {
    Cell::or_dash(share.map(percent))
}

/// Formats an error as a percentage with its sign.
fn signed(share: f64) -> String {
    let text = percent(share);
    if share > 0.0 && text != "0.0" { format!("+{text}") } else { text }
}

/// Value with the decimals appropriate for its size.
pub(super) fn value(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 100.0 || v.fract().abs() < 1e-9 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    thousands(value, decimals)
}

fn yes_or_no(view: &View<'_>, passes: bool) -> Cell {
    if passes { Cell::plain(view.words.yes) } else { Cell::alarm(view.words.no) }
}

fn judged(text: String, passes: bool) -> Cell {
    if passes { Cell::plain(text) } else { Cell::alarm(text) }
}

pub(super) fn goals(view: &View<'_>) -> Table {
    let words = view.words;
    let columns = vec![
        text(words.goal),
        number_in(words.figures, "").ranked(1),
        number_in(words.mean_error, "%"),
        number_in(words.at_most, "%"),
        number_in(words.worst_error, "%"),
        number_in(words.at_most, "%"),
        text(words.at).ranked(2),
        number_in(words.noise, "%").ranked(3),
        text(words.study).ranked(4),
        text(words.reached),
    ];
    let mut rows: Vec<Row> = Vec::new();
    for result in &view.comparison.goals {
        let (goal, errors) = (&result.goal, &result.errors);
        let mean = errors.mean.map(|mean| judged(percent(mean), mean * 100.0 <= goal.mean));
        let worst = errors
            .worst
            .map(|worst| judged(percent(worst), goal.worst.is_none_or(|bar| worst * 100.0 <= bar)));
        let cells = vec![
            Cell::head(translated(view.lang, &goal.title)),
            Cell::plain(errors.count.to_string()),
            mean.unwrap_or_else(|| Cell::unknown("–")),
            Cell::plain(thousands(goal.mean, 0)),
            worst.unwrap_or_else(|| Cell::unknown("–")),
            Cell::or_dash(goal.worst.map(|bar| thousands(bar, 0))),
            Cell::or_dash(errors.worst_at.clone()),
            percent_or_dash(errors.noise),
            Cell::plain(translated(view.lang, &goal.study)),
            yes_or_no(view, result.reached),
        ];
        rows.push(row(cells, false));
    }
    table(words.captions[0], columns, rows, words.notes[0])
}

/// Shares of cases that must hold.
pub(super) fn shares(view: &View<'_>) -> Table {
    let words = view.words;
    let columns = vec![
        text(words.goal),
        number_in(words.cases, ""),
        number_in(words.holding, ""),
        number_in(words.share, "%"),
        number_in(words.at_least, "%"),
        text(words.reached),
    ];
    let results = [view.comparison.relations_held, view.comparison.shading_held];
    let named = words.held.into_iter().zip(results);
    let rows = named.filter_map(|(name, result)| share_row(view, name, result)).collect();
    table(words.captions[6], columns, rows, "")
}

fn share_row(view: &View<'_>, name: &str, result: ShareResult) -> Option<Row> {
    let share = result.share()?;
    let cells = vec![
        Cell::head(name),
        Cell::plain(result.of.to_string()),
        Cell::plain(result.holding.to_string()),
        judged(percent(share), result.reached),
        Cell::plain(thousands(result.needed * 100.0, 0)),
        yes_or_no(view, result.reached),
    ];
    Some(row(cells, false))
}

/// Commands that print each section's comparison.
pub(super) fn plans(view: &View<'_>) -> Table {
    let [caption, note, columns] = view.words.plans;
    let heads = vec![text(view.words.section), text(view.words.command), text(columns)];
    let rows = view.comparison.plans.iter().map(|plan| {
        let section = with_subject(view.lang, &plan.document, &heading(view.lang, &plan.section));
        let cells = vec![
            Cell::head(section),
            Cell::plain(plan.command()),
            Cell::plain(plan.columns.join(", ")),
        ];
        row(cells, false)
    });
    table(caption, heads, rows.collect(), note)
}

/// Tables of the bar diagrams' values, by section.
pub(super) fn maxima(view: &View<'_>) -> Vec<(String, Table)> {
    let largest = |points: Vec<PointName>| {
        let rates = points.iter().map(|point| view.comparison.emulated(Quantity::Rate, point));
        rates.collect::<Option<Vec<f64>>>().map(|rates| rates.into_iter().fold(0.0, f64::max))
    };
    let tabled = |maxima: &Maxima| {
        let column = |target: &Named| number_in(&translated(view.lang, &target.name), "IOPS");
        let mut columns = vec![text(view.words.load)];
        columns.extend(maxima.targets.iter().map(column));
        let rows = maxima.loads.iter().map(|load| {
            let cell = |target| Cell::or_dash(largest(maxima.points(load, target)).map(value));
            let mut cells = vec![Cell::head(translated(view.lang, &load.name))];
            cells.extend(maxima.targets.iter().map(cell));
            row(cells, false)
        });
        let caption =
            translated(view.lang, &maxima.title) + &in_brackets(view.lang, view.words.emulated[0]);
        let section = format!("{}: {}", maxima.document, maxima.section);
        (section, table(&caption, columns, rows.collect(), view.words.notes[4]))
    };
    view.comparison.maxima.iter().map(tabled).collect()
}

pub(super) fn sections(view: &View<'_>) -> Table {
    let words = view.words;
    let columns = vec![
        text(words.section),
        text(words.used),
        number_in(words.figures, "").ranked(1),
        number_in(words.missing_count, "").ranked(3),
        number_in(words.mean_error, "%"),
        number_in(words.worst_error, "%"),
        text(words.at).ranked(2),
        number_in(words.noise, "%").ranked(4),
    ];
    let mut last = String::new();
    let rows = view.comparison.sections.iter().map(|summary| {
        let Errors { count, missing, mean, worst, worst_at, noise } = &summary.errors;
        let opens = summary.document != last;
        last.clone_from(&summary.document);
        let cells = vec![
            Cell::head(with_subject(
                view.lang,
                &summary.document,
                &heading(view.lang, &summary.section),
            )),
            Cell::plain(view.use_name(summary.used)),
            Cell::plain(count.to_string()),
            if *missing > 0 { Cell::alarm(missing.to_string()) } else { Cell::unknown("–") },
            percent_or_dash(*mean),
            percent_or_dash(*worst),
            Cell::or_dash(worst_at.clone()),
            percent_or_dash(*noise),
        ];
        row(cells, opens)
    });
    table(words.captions[1], columns, rows.collect(), words.notes[0])
}

/// Reasons why points could not be emulated; no rows if all could.
pub(super) fn missing(view: &View<'_>) -> Table {
    let columns = vec![text(view.words.remark), text(view.words.points)];
    let failures = view.comparison.failures();
    let rows = failures.into_iter().map(|(why, points)| {
        row(vec![Cell::plain(why), Cell::plain(counted(view.words.missing_row, points))], false)
    });
    table(view.words.captions[5], columns, rows.collect(), "")
}

fn as_worded(published: &Published) -> String {
    let sign = match published.precision {
        Precision::Exact => "",
        Precision::About => "≈\u{a0}",
        Precision::MoreThan => ">\u{a0}",
        Precision::JustUnder => "<\u{a0}",
    };
    match published.high {
        Some(high) => format!("{}–{}", value(published.low), value(high)),
        None => format!("{sign}{}", value(published.low)),
    }
}

/// Load and queue depth of a figure: `Database × 512`.
pub(super) fn load(lang: Lang, published: &Published) -> String {
    format!("{} {}", translated(lang, &published.profile), at(lang, published)).trim().to_owned()
}

/// Queue depth or number of processes, as the source prints it.
fn at(lang: Lang, published: &Published) -> String {
    match published.queue_depth.as_str() {
        "" if published.processes.is_empty() => String::new(),
        "" => format!("× {}", translated(lang, &published.processes)),
        at => match at.split_once("..") {
            Some((low, high)) => {
                let values = [("low", low.to_owned()), ("high", high.to_owned())];
                format!("× {}", fill_in(words(lang).explain.span, &values))
            }
            None => format!("× {}", translated(lang, at)),
        },
    }
}

fn figure_table(view: &View<'_>, rows: Vec<Row>) -> Table {
    let words = view.words;
    let columns = vec![
        text(words.id),
        text(words.storage),
        text(words.load),
        text(words.quantity).ranked(2),
        number_in(words.published, ""),
        number_in(words.emulated_value, ""),
        text(words.unit).ranked(1),
        number_in(words.error, "%"),
        text(words.used).ranked(3),
    ];
    table(words.captions[4], columns, rows, words.notes[3])
}

/// Storage of a figure: device, format, arrangement.
fn storage(published: &Published) -> String {
    let parts = [&published.medium, &published.format, &published.arrangement];
    let named: Vec<&str> =
        parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    named.join(", ")
}

fn figure_row(view: &View<'_>, figure: &ComparedFigure) -> Row {
    let published = &figure.published;
    let storage = storage(published);
    let error = match (figure.error.map(signed), figure.passes()) {
        (Some(error), Some(false)) => Cell::alarm(error),
        (Some(error), _) => Cell::plain(error),
        (None, Some(false)) => Cell::alarm("–"),
        (None, _) => Cell::unknown("–"),
    };
    let cells = vec![
        Cell::head(&*published.id),
        Cell::plain(translated(view.lang, &storage)),
        Cell::plain(load(view.lang, published)),
        Cell::plain(translated(view.lang, &published.quantity)),
        Cell::plain(as_worded(published)),
        Cell::or_dash(figure.emulated.map(value)),
        Cell::plain(translated(view.lang, &published.unit)),
        error,
        Cell::plain(view.use_name(published.used)),
    ];
    row(cells, false)
}

/// Tables of compared figures, by document and section.
pub(super) fn figures(view: &View<'_>) -> Vec<(String, Table)> {
    let mut all: Vec<(String, Vec<Row>)> = Vec::new();
    for figure in view.comparison.figures.iter().filter(|f| f.published.used != Use::Given) {
        let title = format!("{}: {}", figure.published.document, figure.published.section);
        entry(&mut all, title).push(figure_row(view, figure));
    }
    let tabled = |(title, mut rows): (String, Vec<Row>)| {
        by_storage(&mut rows);
        (title, figure_table(view, rows))
    };
    all.into_iter().map(tabled).collect()
}

/// Groups rows by storage, which is printed once for each group: in every row it would take three
/// lines each, and eight pages for a table.
fn by_storage(rows: &mut [Row]) {
    const STORAGE: usize = 1;
    let mut order: Vec<String> = Vec::new();
    for row in &*rows {
        if !order.contains(&row.cells[STORAGE].text) {
            order.push(row.cells[STORAGE].text.clone());
        }
    }
    rows.sort_by_key(|row| order.iter().position(|known| *known == row.cells[STORAGE].text));
    let mut last = String::new();
    for row in rows {
        let own = std::mem::take(&mut row.cells[STORAGE].text);
        row.opens_group = own != last;
        if row.opens_group {
            row.cells[STORAGE].text.clone_from(&own);
        }
        last = own;
    }
}

/// Tables of statements that are not compared, by section: data of devices, machine and
/// measurement.
pub(super) fn stated(view: &View<'_>) -> Vec<(String, Table)> {
    let mut all: Vec<(String, Vec<Row>)> = Vec::new();
    let given = view.comparison.figures.iter().map(|figure| &figure.published);
    for published in given.filter(|published| published.used == Use::Given) {
        let cells = vec![
            Cell::head(translated(view.lang, &storage(published))),
            Cell::plain(load(view.lang, published)),
            Cell::plain(translated(view.lang, &published.quantity)),
            Cell::plain(as_worded(published)),
            Cell::plain(translated(view.lang, &published.unit)),
        ];
        let title = format!("{}: {}", published.document, published.section);
        entry(&mut all, title).push(row(cells, false));
    }
    let words = view.words;
    let [caption, note] = words.edition.stated;
    let tabled = |(title, rows)| {
        let columns = vec![
            text(words.storage),
            text(words.load),
            text(words.quantity),
            number_in(words.published, ""),
            text(words.unit),
        ];
        (title, without_empty_columns(table(caption, columns, rows, note)))
    };
    all.into_iter().map(tabled).collect()
}

/// Removes columns that are empty in every row.
fn without_empty_columns(mut table: Table) -> Table {
    let says = |at: usize| table.rows.iter().any(|row| !row.cells[at].text.is_empty());
    let kept: Vec<bool> = (0..table.columns.len()).map(says).collect();
    let mut of_columns = kept.iter();
    table.columns.retain(|_| of_columns.next().copied().unwrap_or(true));
    for row in &mut table.rows {
        let mut of_cells = kept.iter();
        row.cells.retain(|_| of_cells.next().copied().unwrap_or(true));
    }
    table
}

/// Table of all figures, or only of those beyond their thresholds.
pub(super) fn figures_of_all(view: &View<'_>, all: bool) -> Table {
    let wanted = |f: &&ComparedFigure| {
        if all { f.published.used != Use::Given } else { f.passes() == Some(false) }
    };
    let rows = view.comparison.figures.iter().filter(wanted);
    figure_table(view, rows.map(|figure| figure_row(view, figure)).collect())
}

fn relation_table<'c>(
    view: &View<'_>,
    relations: impl Iterator<Item = &'c ComparedRelation>,
) -> Table {
    let words = view.words;
    let columns = [words.id, words.says, words.place, words.expected, words.verdict].map(text);
    let rows = relations.map(|relation| relation_row(view, relation)).collect();
    table(words.captions[3], columns.into(), rows, words.notes[2])
}

fn relation_row(view: &View<'_>, compared: &ComparedRelation) -> Row {
    let relation = &compared.relation;
    let RelationText { says, circumstances, expected, why } = relation.text_in(view.lang.tag());
    let [holds, fails, missing, inconsistent, given] = view.words.verdicts;
    let verdict = match compared.verdict {
        Verdict::Holds => Cell::plain(with_subject(view.lang, holds, &sides(view, compared))),
        Verdict::Fails => Cell::alarm(with_subject(view.lang, fails, &sides(view, compared))),
        Verdict::Missing => Cell::alarm(missing),
        Verdict::Inconsistent => Cell::unknown(with_subject(view.lang, inconsistent, why)),
        Verdict::Given => Cell::unknown(with_subject(view.lang, given, why)),
    };
    let cells = vec![
        Cell::head(&*relation.id),
        Cell::plain(says),
        Cell::plain(circumstances),
        Cell::plain(expected),
        verdict,
    ];
    row(cells, false)
}

/// Values of the comparison that decides a relation.
fn sides(view: &View<'_>, compared: &ComparedRelation) -> String {
    let failing = compared.emulated.iter().find(|e| e.outcome == Outcome::Fails);
    let Some(evaluated) = failing.or(compared.emulated.first()) else { return String::new() };
    let side = |side: &crate::Side| {
        let shown = side.value.map_or_else(|| "–".to_owned(), value);
        format!("{} {shown}", side.relator)
    };
    let text = evaluated.sides.iter().map(side).collect::<Vec<_>>().join(" ");
    let more = match compared.emulated.len() {
        0 | 1 => String::new(),
        n => in_brackets(view.lang, &counted(view.words.more_conditions, n - 1)),
    };
    format!("{}{more}", text.trim())
}

/// Tables of relations, by document.
pub(super) fn relations(view: &View<'_>) -> Vec<(String, Table)> {
    let documents = view.comparison.documents.iter().map(|document| {
        let own = view.comparison.relations.iter().filter(|r| r.relation.document == document.id);
        (document.title_in(view.lang.tag()).to_owned(), relation_table(view, own))
    });
    documents.filter(|(_, table)| !table.rows.is_empty()).collect()
}

/// Table of all relations, or only of those that fail.
pub(super) fn relations_of_all(view: &View<'_>, all: bool) -> Table {
    let wanted =
        |r: &&ComparedRelation| all || matches!(r.verdict, Verdict::Fails | Verdict::Missing);
    relation_table(view, view.comparison.relations.iter().filter(wanted))
}

fn shade(class: Class) -> Mark {
    match class {
        Class::White => Mark::Plain,
        Class::Light => Mark::Shade(1),
        Class::Middle => Mark::Shade(2),
        Class::Dark => Mark::Shade(3),
    }
}

/// The shaded table: a row for each arrangement and load, a column for each format and intensity.
pub(super) fn shading(view: &View<'_>) -> Option<Table> {
    let words = view.words;
    let cells = &view.comparison.shaded;
    let mut columns = vec![text(words.arrangement), text(words.load)];
    let mut heads: Vec<(&str, u32)> = Vec::new();
    let mut locations: Vec<(&str, &str)> = Vec::new();
    for cell in cells {
        let head = (cell.shaded.format.as_str(), cell.shaded.queue_depth);
        let location = (cell.shaded.arrangement.as_str(), cell.shaded.load.as_str());
        if !heads.contains(&head) {
            heads.push(head);
        }
        if !locations.contains(&location) {
            locations.push(location);
        }
    }
    for (format, queue_depth) in &heads {
        let values = [("format", (*format).to_owned()), ("n", queue_depth.to_string())];
        columns.push(number_in(&fill_in(words.format_at, &values), "%"));
    }
    let mut last = "";
    let rows = locations.into_iter().map(|(arrangement, load)| {
        let mut out = vec![
            Cell::head(translated(view.lang, arrangement)),
            Cell::plain(translated(view.lang, load)),
        ];
        for (format, queue_depth) in &heads {
            let cell = cells.iter().find(|cell| {
                let s = &cell.shaded;
                (s.arrangement.as_str(), s.load.as_str()) == (arrangement, load)
                    && (s.format.as_str(), s.queue_depth) == (*format, *queue_depth)
            });
            let Some(cell) = cell else {
                out.push(Cell::unknown("–"));
                continue;
            };
            let shown = cell.increase.map_or_else(|| "–".to_owned(), |i| thousands(i * 100.0, 0));
            let same = cell.class == Some(cell.shaded.class);
            // The sign `≠` marks a cell whose emulated class differs.
            let shown = if same { shown } else { format!("{shown} ≠") };
            out.push(Cell { text: shown, mark: shade(cell.shaded.class) });
        }
        let opens = arrangement != last;
        last = arrangement;
        row(out, opens)
    });
    let rows: Vec<Row> = rows.collect();
    (!rows.is_empty()).then(|| table(words.captions[2], columns, rows, words.notes[1]))
}
