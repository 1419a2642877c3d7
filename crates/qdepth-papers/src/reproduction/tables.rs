//! Tables of the page.

use crate::{
    Class, ComparedFigure, ComparedRelation, Maxima, Outcome, PointName, Precision, Published,
    Quantity, Use, Verdict,
};
use qdepth_document::document::{Cell, Mark, Table, number_in, text};
use qdepth_document::grouped::{grouped, unique};
use qdepth_document::number::thousands;
use qdepth_document::rows::Rows;
use qdepth_words::{Lang, counted, fill_in, in_brackets, with_subject, words};

use crate::phrases::{heading, translated};

use super::view::View;

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

/// Share as a percentage, in alarm if it does not pass; a dash for `None`.
fn judged_or_dash(share: Option<f64>, passes: impl Fn(f64) -> bool) -> Cell {
    share.map_or_else(|| Cell::or_dash(None), |share| judged(percent(share), passes(share)))
}

pub(super) fn goals(view: &View<'_>) -> Table {
    let words = view.words;
    Rows::from_items(&view.comparison.goals)
        .text(words.goal, |result| Cell::head(translated(view.lang, &result.goal.title)))
        .column(number_in(words.figures, "").ranked(1), |result| result.errors.count.to_string())
        .number(words.mean_error, "%", |result| {
            judged_or_dash(result.errors.mean, |mean| mean * 100.0 <= result.goal.mean)
        })
        .number(words.at_most, "%", |result| thousands(result.goal.mean, 0))
        .number(words.worst_error, "%", |result| {
            let bar = result.goal.worst;
            judged_or_dash(result.errors.worst, |worst| bar.is_none_or(|bar| worst * 100.0 <= bar))
        })
        .number(words.at_most, "%", |result| result.goal.worst.map(|bar| thousands(bar, 0)))
        .column(text(words.at).ranked(2), |result| result.errors.worst_at.clone())
        .column(number_in(words.noise, "%").ranked(3), |result| {
            percent_or_dash(result.errors.noise)
        })
        .column(text(words.study).ranked(4), |result| translated(view.lang, &result.goal.study))
        .text(words.reached, |result| yes_or_no(view, result.reached))
        .table(words.captions[0])
        .with_note(words.notes[0])
}

/// Shares of cases that must hold.
pub(super) fn shares(view: &View<'_>) -> Table {
    let words = view.words;
    let results = [view.comparison.relations_held, view.comparison.shading_held];
    let named = words.held.into_iter().zip(results);
    let shares = named.filter_map(|(name, result)| Some((name, result, result.share()?)));
    Rows::from_items(shares)
        .text(words.goal, |(name, ..)| Cell::head(*name))
        .number(words.cases, "", |(_, result, _)| result.of.to_string())
        .number(words.holding, "", |(_, result, _)| result.holding.to_string())
        .number(words.share, "%", |(_, result, share)| judged(percent(*share), result.reached))
        .number(words.at_least, "%", |(_, result, _)| thousands(result.needed * 100.0, 0))
        .text(words.reached, |(_, result, _)| yes_or_no(view, result.reached))
        .table(words.captions[6])
}

/// Commands that print each section's comparison.
pub(super) fn plans(view: &View<'_>) -> Table {
    let [caption, note, columns] = view.words.plans;
    Rows::from_items(&view.comparison.plans)
        .text(view.words.section, |plan| {
            Cell::head(with_subject(view.lang, &plan.document, &heading(view.lang, &plan.section)))
        })
        .text(view.words.command, |plan| plan.command())
        .text(columns, |plan| plan.columns.join(", "))
        .table(caption)
        .with_note(note)
}

/// Tables of the bar diagrams' values, by section.
pub(super) fn maxima(view: &View<'_>) -> Vec<(String, Table)> {
    let largest = |points: Vec<PointName>| {
        let rates = points.iter().map(|point| view.comparison.emulated(Quantity::Rate, point));
        rates.collect::<Option<Vec<f64>>>().map(|rates| rates.into_iter().fold(0.0, f64::max))
    };
    let tabled = |maxima: &Maxima| {
        let caption =
            translated(view.lang, &maxima.title) + &in_brackets(view.lang, view.words.emulated[0]);
        let section = format!("{}: {}", maxima.document, maxima.section);
        let table = Rows::from_items(&maxima.loads)
            .text(view.words.load, |load| Cell::head(translated(view.lang, &load.name)))
            .each(
                &maxima.targets,
                |target| number_in(&translated(view.lang, &target.name), "IOPS"),
                |load, target| Cell::or_dash(largest(maxima.points(load, target)).map(value)),
            )
            .table(caption)
            .with_note(view.words.notes[4]);
        (section, table)
    };
    view.comparison.maxima.iter().map(tabled).collect()
}

pub(super) fn sections(view: &View<'_>) -> Table {
    let words = view.words;
    let mut last = "";
    Rows::from_items(&view.comparison.sections)
        .groups(|summary| std::mem::replace(&mut last, &summary.document) != summary.document)
        .text(words.section, |summary| {
            let section = heading(view.lang, &summary.section);
            Cell::head(with_subject(view.lang, &summary.document, &section))
        })
        .text(words.used, |summary| view.use_name(summary.used))
        .column(number_in(words.figures, "").ranked(1), |summary| summary.errors.count.to_string())
        .column(number_in(words.missing_count, "").ranked(3), |summary| {
            match summary.errors.missing {
                0 => Cell::or_dash(None),
                missing => Cell::alarm(missing.to_string()),
            }
        })
        .number(words.mean_error, "%", |summary| percent_or_dash(summary.errors.mean))
        .number(words.worst_error, "%", |summary| percent_or_dash(summary.errors.worst))
        .column(text(words.at).ranked(2), |summary| summary.errors.worst_at.clone())
        .column(number_in(words.noise, "%").ranked(4), |summary| {
            percent_or_dash(summary.errors.noise)
        })
        .table(words.captions[1])
        .with_note(words.notes[0])
}

/// Reasons why points could not be emulated; no rows if all could.
pub(super) fn missing(view: &View<'_>) -> Table {
    Rows::from_items(view.comparison.failures())
        .text(view.words.remark, |(why, _)| *why)
        .text(view.words.points, |(_, points)| counted(view.words.missing_row, *points))
        .table(view.words.captions[5])
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

/// Table of figures, each with its printed storage; begins a group of rows with each storage if
/// `by_storage`.
fn figure_table<'c>(
    view: &View<'_>,
    figures: impl IntoIterator<Item = (String, &'c ComparedFigure)>,
    by_storage: bool,
) -> Table {
    let words = view.words;
    Rows::from_items(figures)
        .groups(|(storage, _)| by_storage && !storage.is_empty())
        .text(words.id, |(_, figure)| Cell::head(&*figure.published.id))
        .text(words.storage, |(storage, _)| Cell::plain(&**storage))
        .text(words.load, |(_, figure)| load(view.lang, &figure.published))
        .column(text(words.quantity).ranked(2), |(_, figure)| {
            translated(view.lang, &figure.published.quantity)
        })
        .number(words.published, "", |(_, figure)| as_worded(&figure.published))
        .number(words.emulated_value, "", |(_, figure)| figure.emulated.map(value))
        .column(text(words.unit).ranked(1), |(_, figure)| {
            translated(view.lang, &figure.published.unit)
        })
        .number(words.error, "%", |(_, figure)| match (figure.error.map(signed), figure.passes()) {
            (Some(error), Some(false)) => Cell::alarm(error),
            (Some(error), _) => Cell::plain(error),
            (None, Some(false)) => Cell::alarm("–"),
            (None, _) => Cell::unknown("–"),
        })
        .column(text(words.used).ranked(3), |(_, figure)| view.use_name(figure.published.used))
        .table(words.captions[4])
        .with_note(words.notes[3])
}

/// Storage of a figure: device, format, arrangement.
fn storage(lang: Lang, published: &Published) -> String {
    let parts = [&published.medium, &published.format, &published.arrangement];
    let named: Vec<&str> =
        parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    translated(lang, &named.join(", "))
}

/// Document and section of a figure.
fn section(published: &Published) -> String {
    format!("{}: {}", published.document, published.section)
}

/// Tables of compared figures, by document and section. The storage is printed once for each group
/// of rows: in every row it would take three lines each, and eight pages for a table.
pub(super) fn figures(view: &View<'_>) -> Vec<(String, Table)> {
    let compared = view.comparison.figures.iter().filter(|f| f.published.used != Use::Given);
    let all = grouped(compared.map(|figure| (section(&figure.published), figure)));
    let tabled = |(title, figures): (String, Vec<&ComparedFigure>)| {
        let stored = figures.into_iter().map(|f| (storage(view.lang, &f.published), f));
        let rows = grouped(stored).into_iter().flat_map(|(storage, figures)| {
            std::iter::once(storage).chain(std::iter::repeat(String::new())).zip(figures)
        });
        (title, figure_table(view, rows, true))
    };
    all.into_iter().map(tabled).collect()
}

/// Tables of statements that are not compared, by section: data of devices, machine and
/// measurement. Columns that are empty in every row are left out.
pub(super) fn stated(view: &View<'_>) -> Vec<(String, Table)> {
    let given = view.comparison.figures.iter().map(|figure| &figure.published);
    let given = given.filter(|published| published.used == Use::Given);
    let (words, lang) = (view.words, view.lang);
    let [caption, note] = words.edition.stated;
    let tabled = |(title, figures): (String, Vec<&Published>)| {
        let mut table = Rows::from_items(figures)
            .text(words.storage, |published| Cell::head(storage(lang, published)))
            .text(words.load, |published| load(lang, published))
            .text(words.quantity, |p| translated(lang, &p.quantity))
            .number(words.published, "", |published| as_worded(published))
            .text(words.unit, |published| translated(lang, &published.unit))
            .table(caption)
            .with_note(note);
        let is_filled = |at: usize| table.rows.iter().any(|row| !row.cells[at].text.is_empty());
        let filled: Vec<bool> = (0..table.columns.len()).map(is_filled).collect();
        table.retain_columns(|at, _| filled[at]);
        (title, table)
    };
    grouped(given.map(|published| (section(published), published)))
        .into_iter()
        .map(tabled)
        .collect()
}

/// Table of all figures, or only of those beyond their thresholds.
pub(super) fn figures_of_all(view: &View<'_>, all: bool) -> Table {
    let wanted = |f: &&ComparedFigure| {
        if all { f.published.used != Use::Given } else { f.passes() == Some(false) }
    };
    let figures = view.comparison.figures.iter().filter(wanted);
    figure_table(view, figures.map(|f| (storage(view.lang, &f.published), f)), false)
}

fn relation_table<'c>(
    view: &View<'_>,
    relations: impl Iterator<Item = &'c ComparedRelation>,
) -> Table {
    let words = view.words;
    let texts = relations.map(|compared| (compared, compared.relation.text_in(view.lang.tag())));
    Rows::from_items(texts)
        .text(words.id, |(compared, _)| Cell::head(&*compared.relation.id))
        .text(words.says, |(_, text)| text.says)
        .text(words.place, |(_, text)| text.circumstances)
        .text(words.expected, |(_, text)| text.expected)
        .text(words.verdict, |(compared, text)| verdict(view, compared, text.why))
        .table(words.captions[3])
        .with_note(words.notes[2])
}

fn verdict(view: &View<'_>, compared: &ComparedRelation, why: &str) -> Cell {
    let [holds, fails, missing, inconsistent, given] = view.words.verdicts;
    match compared.verdict {
        Verdict::Holds => Cell::plain(with_subject(view.lang, holds, &sides(view, compared))),
        Verdict::Fails => Cell::alarm(with_subject(view.lang, fails, &sides(view, compared))),
        Verdict::Missing => Cell::alarm(missing),
        Verdict::Inconsistent => Cell::unknown(with_subject(view.lang, inconsistent, why)),
        Verdict::Given => Cell::unknown(with_subject(view.lang, given, why)),
    }
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
    let cells = view.comparison.shaded.iter().map(|cell| {
        let shaded = &cell.shaded;
        let location = (shaded.arrangement.as_str(), shaded.load.as_str());
        (location, (shaded.format.as_str(), shaded.queue_depth), cell)
    });
    let shade_cell = |location: &(&str, &str), head: &(&str, u32)| {
        let mut known = cells.clone().filter(|cell| (&cell.0, &cell.1) == (location, head));
        let Some((.., cell)) = known.next() else { return Cell::or_dash(None) };
        let shown = cell.increase.map_or_else(|| "–".to_owned(), |i| thousands(i * 100.0, 0));
        let same = cell.class == Some(cell.shaded.class);
        // The sign `≠` marks a cell whose emulated class differs.
        let shown = if same { shown } else { format!("{shown} ≠") };
        Cell { text: shown, mark: shade(cell.shaded.class) }
    };
    let mut last = "";
    let table = Rows::from_items(unique(cells.clone().map(|(location, ..)| location)))
        .groups(|(arrangement, _)| std::mem::replace(&mut last, arrangement) != *arrangement)
        .text(words.arrangement, |(arrangement, _)| Cell::head(translated(view.lang, arrangement)))
        .text(words.load, |(_, load)| translated(view.lang, load))
        .each(
            unique(cells.clone().map(|(_, head, _)| head)),
            |(format, queue_depth)| {
                let values = [("format", (*format).to_owned()), ("n", queue_depth.to_string())];
                number_in(&fill_in(words.format_at, &values), "%")
            },
            shade_cell,
        )
        .table(words.captions[2])
        .with_note(words.notes[1]);
    (!table.rows.is_empty()).then_some(table)
}
