//! Threads by transfer size.

use super::{Bandwidth, Rate};
use crate::document::{Cell, Column, Row, Table};
use crate::number::{self, rounded};
use crate::tables::{number_in, with_mark};
use crate::trace;
use crate::view::View;

/// Throughput: a row for each number of threads, a column for each direction and transfer size.
pub(crate) fn rates(view: &View<'_>, bandwidth: &Bandwidth) -> Table {
    trace::traced(view, untraced_rates(view, bandwidth), bandwidth.points(&[0, 1]))
}

/// The same, without the points that the rates are of.
pub(super) fn untraced_rates(view: &View<'_>, bandwidth: &Bandwidth) -> Table {
    let words = view.words.bandwidth;
    let value = |_: usize, rate: &Rate| Some(rounded(&rate.mib_per_s).value);
    let (caption, note) = (words.rates_caption.to_owned(), words.rates_note.to_owned());
    grid(view, bandwidth, "MB/s", value, caption, note)
}

/// Throughput over that of one target times their number; nothing for one target.
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
        let of = |direction: usize| (0..bandwidth.transfers.len()).map(move |t| (direction, t));
        (0..2).flat_map(of)
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
