//! Reference lines in a diagram of rates: published figures, the limit of the connection, the
//! maximum of a data sheet.

use qdepth_record::PointRecord;

use crate::document::Cell;
use crate::figure::{Mark, MarkValue, Markers, Series, Stroke};
use crate::number::{self, MIB};
use crate::published::PublishedDrive;
use crate::section::promised::{data_sheet, link_limit};
use crate::section::published::{published_name, published_quantity};
use crate::view::{Load, View};
use crate::words::fill_in;

/// Colour of a limit: grey, the last of the palette.
const LIMIT: usize = 5;
/// Largest ratio of a limit to the largest value at which the limit is drawn: a higher one would
/// flatten the lines.
const LIMIT_SHOWN_WITHIN: f64 = 1.6;
/// Fewest published figures that make a line: with two it would look straight.
const LINE: usize = 3;

/// Loads with published figures: name, random share, read share, bytes of a request.
const PUBLISHED: [(&str, f64, f64, f64); 5] = [
    ("database", 1.0, 0.67, 8192.0),
    ("file-server", 1.0, 0.67, 65_536.0),
    ("file-copy", 1.0, 0.5, 65_536.0),
    ("streaming", 0.0, 1.0, 65_536.0),
    ("restore", 0.0, 0.0, 65_536.0),
];

/// All reference lines for the rates of a load.
pub(crate) fn of_rate(view: &View<'_>, load: &Load<'_>) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for (index, drive) in view.published.iter().enumerate() {
        all.extend(published(view, load, drive, view.targets.len() + index));
    }
    // Columns of a comparison are not targets: several drives have several connections.
    if view.compared.is_none() {
        all.extend(connection(view, load));
        all.extend(data_sheets(view, load));
    }
    all
}

/// The value of a series at a queue depth, for the data table.
pub(crate) fn cell(series: &Series, queue_depth: u32) -> Cell {
    let at = series.marks.iter().find(|mark| (mark.at - f64::from(queue_depth)).abs() < 0.5);
    Cell::or_dash(at.and_then(|mark| mark.value.known()).map(number::three_digits))
}

/// True if the load is the one with this name in the published documents.
fn is_published(record: &PointRecord) -> bool {
    let same = |(name, random, read, bytes): &(&str, f64, f64, f64)| {
        *name == record.profile
            && (random - record.random_share).abs() < 1e-6
            && (read - record.read_share).abs() < 1e-6
            && record.trim_share <= 0.0
            && (bytes - record.block_size_mean_bytes).abs() < 0.5
    };
    record.streams == 1 && PUBLISHED.iter().any(same)
}

/// The published figures of a load, and the published maximum as a level.
fn published(
    view: &View<'_>,
    load: &Load<'_>,
    drive: &PublishedDrive,
    colour: usize,
) -> Vec<Series> {
    let first = load.first();
    if !is_published(first) {
        return Vec::new();
    }
    let quantity = published_quantity(load);
    let mark = |queue_depth: &u32| {
        let value = drive.at(&first.profile, *queue_depth, quantity)?;
        Some(Mark::at(f64::from(*queue_depth), MarkValue::Known(value, None)))
    };
    let marks: Vec<Mark> = view.intensities.iter().filter_map(mark).collect();
    // Grey is reserved for limits.
    let colour = colour % LIMIT;
    let stroke = if marks.len() < LINE { Stroke::None } else { Stroke::Dashed };
    let points = (!marks.is_empty()).then(|| {
        let name = published_name(view, &drive.title);
        Series::new(name, colour, marks).drawn(stroke, Markers::Plain)
    });
    let name = [("name", drive.title.clone())];
    let name = fill_in(view.words.comparison.published_maximum, &name);
    let maximum = drive.maximum(&first.profile, quantity);
    let maximum = maximum.filter(|maximum| is_near(view, load, *maximum));
    let maximum = maximum.map(|maximum| level(view, name, colour, Stroke::Dotted, maximum));
    points.into_iter().chain(maximum).collect()
}

/// Limit of the connection; `None` unless it is the same for all targets.
fn connection(view: &View<'_>, load: &Load<'_>) -> Option<Series> {
    let limits = view.run.targets.iter().map(link_limit).collect::<Option<Vec<f64>>>()?;
    let (first, others) = limits.split_first()?;
    let same = others.iter().all(|limit| (limit / first - 1.0).abs() < 1e-6);
    let record = load.first();
    let size = record.block_size_mean_bytes / MIB;
    let limit = if record.reported_as_throughput { *first } else { first / size };
    let name = view.words.paper.link_limit.to_owned();
    (same && is_near(view, load, limit)).then(|| level(view, name, LIMIT, Stroke::Dotted, limit))
}

/// Data-sheet maxima for this load: from the publisher file, then from the targets' device models.
fn data_sheets(view: &View<'_>, load: &Load<'_>) -> Vec<Series> {
    let record = load.first();
    let described = view.run.targets.iter().map(|target| data_sheet(view, target));
    let sheets = view.paper.data_sheet.iter().cloned().chain(described);
    let mut levels: Vec<f64> = Vec::new();
    let sheets = sheets.filter_map(|sheet| {
        let maximum =
            sheet.maximum(record.random_share, record.read_share, record.block_size_mean_bytes)?;
        let maximum = if record.reported_as_throughput {
            maximum * record.block_size_mean_bytes / MIB
        } else {
            maximum
        };
        // Drives of one model have the same data sheet: one line, for the first of them.
        if levels.iter().any(|known| (known / maximum - 1.0).abs() < 1e-9) {
            return None;
        }
        levels.push(maximum);
        let name = [("name", sheet.name.in_lang(view.lang).to_owned())];
        let name = fill_in(view.words.paper.data_sheet, &name);
        is_near(view, load, maximum).then(|| level(view, name, LIMIT, Stroke::Dashed, maximum))
    });
    sheets.collect()
}

/// True if the load comes close enough to a level that its line would not flatten the others.
fn is_near(view: &View<'_>, load: &Load<'_>, level: f64) -> bool {
    let tops = view.targets.iter().filter_map(|target| load.maximum(*target));
    let largest = tops.map(|point| point.main().value).fold(0.0, f64::max);
    level.is_finite() && level > 0.0 && level <= LIMIT_SHOWN_WITHIN * largest
}

fn level(view: &View<'_>, name: String, colour: usize, stroke: Stroke, value: f64) -> Series {
    let mark = |at: &u32| Mark::at(f64::from(*at), MarkValue::Known(value, None));
    Series::new(name, colour, view.intensities.iter().map(mark)).drawn(stroke, Markers::None)
}
