//! Figures of a document for programs: every value as computed, unrounded.

use std::collections::BTreeMap;

use qdepth_files::harmless_cell;
use schemars::JsonSchema;
use serde::Serialize;

use crate::document::{Block, Document, Picture, Table};
use crate::figure::{Mark, MarkValue, Scale, Series};

/// Version of the format of [`figures_json`].
const VERSION: u32 = 2;

/// Every diagram of a report, as numbers.
#[derive(Serialize, JsonSchema)]
struct Figures {
    /// Format of the document.
    schema: Schema,
    /// True if time was virtual in at least one of the runs.
    emulated: bool,
    /// Title of the report.
    title: String,
    /// BCP 47 tag of the language of all words.
    lang: &'static str,
    /// Facts about the report: run, hashes, times.
    facts: Vec<[String; 2]>,
    /// The diagrams, in the order of the report.
    figures: Vec<Entry>,
}

/// Name and version of the format.
#[derive(Serialize, JsonSchema)]
struct Schema {
    /// Always `qdepth-figures`.
    name: &'static str,
    /// Increases with every change that affects readers of the format.
    version: u32,
}

/// A diagram.
#[derive(Serialize, JsonSchema)]
struct Entry {
    /// Stable name, unique in the document.
    id: String,
    /// Title.
    title: String,
    /// ID of the run that the numbers are from; empty if they are from several runs.
    run: String,
    /// True if time was virtual there.
    emulated: bool,
    /// Text alternative of the picture.
    description: String,
    /// Label of the horizontal axis.
    x_label: String,
    /// Label of the vertical axis, with its unit.
    y_label: String,
    /// Label of the right axis, with its unit; absent without a right axis.
    y2_label: Option<String>,
    /// True if the vertical axis is logarithmic.
    logarithmic: bool,
    /// The lines.
    series: Vec<Line>,
}

/// A line.
#[derive(Serialize, JsonSchema)]
struct Line {
    /// Name; empty if the diagram has a single line without a name.
    name: String,
    /// `left` or `right`.
    axis: &'static str,
    /// From left to right.
    points: Vec<SeriesPoint>,
}

/// A point of a line.
#[derive(Serialize, JsonSchema)]
struct SeriesPoint {
    /// Value on the horizontal axis.
    x: f64,
    /// Value; null if unknown.
    y: Option<f64>,
    /// Lower end of the 95 % confidence interval.
    low: Option<f64>,
    /// Upper end of the 95 % confidence interval.
    high: Option<f64>,
    /// `known`, `invalid` (measured, not to be used) or `missing`.
    state: &'static str,
    /// Points of the run that it shows: `index` of `qdepth export`.
    points: Vec<u32>,
}

fn pictures(document: &Document) -> impl Iterator<Item = &Picture> {
    let blocks = document.sections.iter().flat_map(|section| &section.blocks);
    blocks.filter_map(|b| if let Block::Pictures(p) = b { Some(p) } else { None }).flatten()
}

fn lines(picture: &Picture) -> Vec<Line> {
    let line = |series: &Series, axis: &'static str| Line {
        name: series.name.clone(),
        axis,
        points: series.marks.iter().map(exported).collect(),
    };
    let right = picture.figure.right.iter().flat_map(|right| &right.series);
    let left = picture.figure.series.iter().map(|series| line(series, "left"));
    left.chain(right.map(|series| line(series, "right"))).collect()
}

fn exported(mark: &Mark) -> SeriesPoint {
    let (y, interval, state) = match mark.value {
        MarkValue::Known(y, interval) => (Some(y), interval, "known"),
        MarkValue::Invalid => (None, None, "invalid"),
        MarkValue::Missing => (None, None, "missing"),
    };
    let [low, high] = [interval.map(|(low, _)| low), interval.map(|(_, high)| high)];
    SeriesPoint { x: mark.at, y, low, high, state, points: mark.points.clone() }
}

/// All diagrams as one JSON document, with a final newline.
pub fn figures_json(document: &Document) -> String {
    let entry = |picture: &Picture| Entry {
        id: picture.id.clone(),
        title: picture.title.clone(),
        run: picture.origin.run.clone(),
        emulated: picture.origin.emulated,
        description: picture.description.clone(),
        x_label: picture.figure.x_label.clone(),
        y_label: picture.figure.y_label.clone(),
        y2_label: picture.figure.right.as_ref().map(|right| right.label.clone()),
        logarithmic: picture.figure.y_scale == Scale::Log,
        series: lines(picture),
    };
    let all = Figures {
        schema: Schema { name: "qdepth-figures", version: VERSION },
        emulated: !document.mark.is_empty(),
        title: document.title.clone(),
        lang: document.lang.tag(),
        facts: document.facts.iter().map(|f| [f.name.clone(), f.value.clone()]).collect(),
        figures: pictures(document).map(entry).collect(),
    };
    pretty(&all)
}

/// The JSON Schema of [`figures_json`]'s document.
pub fn figures_schema() -> String {
    pretty(&schemars::schema_for!(Figures))
}

/// Indented JSON with a final newline.
pub fn pretty(value: &impl Serialize) -> String {
    // Structs and vectors with text keys cannot fail to become JSON.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// One CSV file for each diagram, by file name. Each point is a row, and every row has the mark of
/// emulated figures.
pub fn figures_csv(document: &Document) -> BTreeMap<String, Vec<u8>> {
    let file = |picture: &Picture| (format!("{}.csv", picture.id), csv_of(picture));
    pictures(document).map(file).collect()
}

fn csv_of(picture: &Picture) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let x = picture.figure.x_label.as_str();
    let head = ["emulated", "series", "axis", x, "value", "low", "high", "state", "run", "points"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for line in lines(picture) {
        let unit = match (&picture.figure.right, line.axis) {
            (Some(right), "right") => &right.label,
            _ => &picture.figure.y_label,
        };
        rows.extend(line.points.iter().map(|point| {
            vec![
                picture.origin.emulated.to_string(),
                harmless_cell(&line.name),
                harmless_cell(unit),
                point.x.to_string(),
                number(point.y),
                number(point.low),
                number(point.high),
                point.state.to_owned(),
                harmless_cell(&picture.origin.run),
                point.points.iter().map(u32::to_string).collect::<Vec<_>>().join(" "),
            ]
        }));
    }
    for row in rows {
        // Writing to memory, rows of equal length: neither can fail.
        let _ = writer.write_record(row);
    }
    writer.into_inner().unwrap_or_default()
}

/// Table as CSV. A first cell that is printed once for a group of rows is repeated in each row.
pub fn table_csv(table: &Table) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let head = table.columns.iter().map(|column| harmless_cell(&column.heading));
    // Writing to memory, rows of equal length: neither can fail.
    let _ = writer.write_record(head);
    let mut group = String::new();
    for row in &table.rows {
        let mut cells: Vec<String> =
            row.cells.iter().map(|cell| harmless_cell(&cell.text)).collect();
        match cells.first_mut() {
            Some(first) if first.is_empty() => first.clone_from(&group),
            Some(first) => group.clone_from(first),
            None => {}
        }
        let _ = writer.write_record(cells);
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}
