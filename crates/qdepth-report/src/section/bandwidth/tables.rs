//! Tables of rates by threads and transfer size.

use super::rates::{Bandwidth, Rate};
use crate::document::{Cell, Table, number_in};
use crate::number::{self, rounded};
use crate::rows::{Rows, RunColumns as _};
use crate::section::columns::are_unlike;
use crate::view::View;
use crate::words::in_brackets;

/// Unit of every rate here: 2^20 bytes.
const UNIT: &str = number::MIB_PER_S;

/// Throughput: one row per number of threads, one column per direction and transfer size.
pub(crate) fn rates(view: &View<'_>, bandwidth: &Bandwidth) -> Table {
    let words = view.words.bandwidth;
    throughput(view, bandwidth, &[0, 1])
        .marked(view)
        .traced(view, |threads| bandwidth.points(&[0, 1], **threads))
        .table(words.rates_caption)
        .with_note(words.rates_note)
}

/// Throughput in these directions.
pub(super) fn throughput<'b>(
    view: &View<'_>,
    bandwidth: &'b Bandwidth,
    directions: &[usize],
) -> Rows<&'b u32> {
    let value = |_, rate: &Rate| Some(rounded(&rate.mib_per_s).value);
    grid(view, bandwidth, directions, UNIT, value)
}

/// Throughput relative to one target times the number of targets; `None` for one target, and
/// for drives of different models.
pub(crate) fn scaling(view: &View<'_>, bandwidth: &Bandwidth) -> Option<Table> {
    if bandwidth.targets < 2 || are_unlike(&view.run.targets) {
        return None;
    }
    let words = view.words.bandwidth;
    let value = |direction: usize, rate: &Rate| {
        let share = bandwidth.scaled(direction, &rate.mib_per_s)?;
        Some(number::thousands(share * 100.0, 1))
    };
    let table = grid(view, bandwidth, &[0, 1], "%", value).marked(view);
    Some(table.table(words.scaling_caption).with_note(words.scaling_note))
}

/// Table with one row per direction: its best rate with threads and transfer size, and the number
/// of threads that saturates.
pub(crate) fn best(view: &View<'_>, bandwidth: &Bandwidth) -> Table {
    let words = view.words.bandwidth;
    let best = (0..2).filter_map(|direction| Some((direction, bandwidth.best(direction)?)));
    Rows::from_items(best)
        .text("", |(direction, _)| Cell::head(words.directions[*direction]))
        .number(view.words.columns.maximum, UNIT, |(_, (.., rate))| rounded(rate).joined())
        .number(words.threads, "", |(_, (_, threads, _))| threads.to_string())
        .text(words.transfer, |(_, (transfer, ..))| Cell::plain(&*bandwidth.transfers[*transfer]))
        .number(words.enough, "", |(direction, (transfer, ..))| {
            let (found, size) = bandwidth.sufficient(*direction)?;
            let other = (size != *transfer).then(|| &*bandwidth.transfers[size]);
            let other = other.map(|size| in_brackets(view.lang, size));
            Some(format!("{}{}", found.number, other.unwrap_or_default()))
        })
        .marked(view)
        .table("")
}

fn grid<'b>(
    view: &View<'_>,
    bandwidth: &'b Bandwidth,
    directions: &[usize],
    unit: &str,
    value: impl Fn(usize, &Rate) -> Option<String>,
) -> Rows<&'b u32> {
    let words = view.words.bandwidth;
    let sizes = 0..bandwidth.transfers.len();
    let places = directions.iter().flat_map(|d| sizes.clone().map(move |size| (*d, size)));
    Rows::from_items(&bandwidth.threads)
        .number(words.threads, "", |threads| Cell::head(threads.to_string()))
        .each(
            places,
            |(direction, transfer)| {
                let name = words.directions[*direction];
                number_in(&format!("{name} {}", bandwidth.transfers[*transfer]), unit)
            },
            |threads, (direction, transfer)| {
                let rate = bandwidth.rate(*direction, *transfer, **threads);
                let text = rate.and_then(|rate| value(*direction, rate));
                Cell::or_dash(text).struck_if(rate.is_some_and(|rate| !rate.valid))
            },
        )
}
