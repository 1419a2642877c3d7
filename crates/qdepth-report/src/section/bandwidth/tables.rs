//! Tables of rates by threads and transfer size.

use qdepth_measure::saturation;

use super::rates::{Bandwidth, Rate};
use crate::document::{Cell, Column, Row, Table, number_in, text};
use crate::number::{self, rounded};
use crate::section::table_parts::with_mark;
use crate::trace;
use crate::view::View;

/// Unit of every rate here: 2^20 bytes.
const UNIT: &str = number::MIB_PER_S;

/// Throughput: one row per number of threads, one column per direction and transfer size.
pub(crate) fn rates(view: &View<'_>, bandwidth: &Bandwidth) -> Table {
    trace::traced(view, untraced_rates(view, bandwidth), bandwidth.points(&[0, 1]))
}

/// The same without the column of point numbers.
pub(super) fn untraced_rates(view: &View<'_>, bandwidth: &Bandwidth) -> Table {
    let words = view.words.bandwidth;
    let value = |_: usize, rate: &Rate| Some(rounded(&rate.mib_per_s).value);
    let (caption, note) = (words.rates_caption.to_owned(), words.rates_note.to_owned());
    grid(view, bandwidth, UNIT, value, caption, note)
}

/// Throughput relative to one target times the number of targets; `None` for one target.
pub(crate) fn scaling(view: &View<'_>, bandwidth: &Bandwidth) -> Option<Table> {
    if bandwidth.targets < 2 {
        return None;
    }
    let words = view.words.bandwidth;
    let value = |direction: usize, rate: &Rate| {
        let share = bandwidth.scaled(direction, &rate.mib_per_s)?;
        Some(number::thousands(share * 100.0, 1))
    };
    let (caption, note) = (words.scaling_caption.to_owned(), words.scaling_note.to_owned());
    Some(grid(view, bandwidth, "%", value, caption, note))
}

/// Table with one row per direction: its best rate with threads and transfer size, and the number
/// of threads that saturates.
pub(crate) fn best(view: &View<'_>, bandwidth: &Bandwidth) -> Table {
    let words = view.words.bandwidth;
    let columns = vec![
        text(""),
        number_in(view.words.columns.maximum, UNIT),
        number_in(words.threads, ""),
        text(words.transfer),
        number_in(words.enough, ""),
    ];
    let row = |direction: usize| {
        let (transfer, threads, rate) = bandwidth.best(direction)?;
        let enough = saturation(&bandwidth.rates(direction, transfer));
        let cells = vec![
            Cell::head(words.directions[direction]),
            Cell::plain(rounded(&rate).joined()),
            Cell::plain(threads.to_string()),
            Cell::plain(&*bandwidth.transfers[transfer]),
            Cell::or_dash(enough.map(|found| found.number.to_string())),
        ];
        Some(Row { cells, opens_group: false })
    };
    let rows = (0..2).filter_map(row).collect();
    with_mark(view, Table { caption: String::new(), columns, rows, note: String::new() })
}

fn grid(
    view: &View<'_>,
    bandwidth: &Bandwidth,
    unit: &str,
    value: impl Fn(usize, &Rate) -> Option<String>,
    caption: String,
    note: String,
) -> Table {
    let words = view.words.bandwidth;
    let places = || {
        let cells = |direction: usize| (0..bandwidth.transfers.len()).map(move |t| (direction, t));
        (0..2).flat_map(cells)
    };
    let heading = |(direction, transfer): (usize, usize)| {
        let name = words.directions[direction];
        number_in(&format!("{name} {}", bandwidth.transfers[transfer]), unit)
    };
    let columns: Vec<Column> =
        std::iter::once(number_in(words.threads, "")).chain(places().map(heading)).collect();
    let row = |threads: &u32| {
        let cell = |(direction, transfer): (usize, usize)| {
            let rate = bandwidth.rate(direction, transfer, *threads);
            let text = rate.and_then(|rate| value(direction, rate));
            Cell::or_dash(text).struck_if(rate.is_some_and(|rate| !rate.valid))
        };
        let cells = std::iter::once(Cell::head(threads.to_string())).chain(places().map(cell));
        Row { cells: cells.collect(), opens_group: false }
    };
    let rows = bandwidth.threads.iter().map(row).collect();
    with_mark(view, Table { caption, columns, rows, note })
}
