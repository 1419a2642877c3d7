//! Throughput over threads, a line for each transfer size.

use std::collections::BTreeSet;

use super::rates::Bandwidth;
use super::tables;
use crate::document::{Cell, Picture, Table, number_in};
use crate::figure::{Figure, Horizontal, Mark, MarkValue, Markers, Scale, Series, Stroke};
use crate::number::{MIB_PER_S, rounded, three_digits};
use crate::rows::{Rows, RunColumns as _};
use crate::view::View;
use crate::words::{fill_in, with_subject};

/// One picture for each direction.
pub(crate) fn over_threads(view: &View<'_>, bandwidth: &Bandwidth) -> Vec<Picture> {
    (0..2).map(|direction| direction_picture(view, bandwidth, direction)).collect()
}

fn direction_picture(view: &View<'_>, bandwidth: &Bandwidth, direction: usize) -> Picture {
    let words = view.words.bandwidth;
    let series = bandwidth.transfers.iter().enumerate().map(|(transfer, size)| {
        Series::new(&**size, transfer, marks(bandwidth, direction, transfer))
            .drawn(Stroke::Solid, Markers::HollowWithoutInterval)
    });
    let title = fill_in(words.picture, &[("direction", words.directions[direction].to_owned())]);
    let description = (0..bandwidth.transfers.len())
        .filter_map(|transfer| line(view, bandwidth, direction, transfer))
        .collect::<Vec<_>>()
        .join(view.words.gap);
    Picture {
        id: format!("bandwidth-{}", ["write", "read"][direction]),
        title: view.marked(title),
        description,
        data: tables::throughput(view, bandwidth, &[direction])
            .traced(view, |threads| bandwidth.points(&[direction], **threads))
            .table(view.marked(words.rates_caption.to_owned())),
        origin: view.origin(),
        figure: Figure::new(
            (words.x, Horizontal::Intensities(bandwidth.threads.clone())),
            (words.y, Scale::FromZero),
            series,
        ),
    }
}

/// Both directions in one picture, each at the transfer size with its best rate.
pub(crate) fn best_over_threads(view: &View<'_>, bandwidth: &Bandwidth) -> Option<Picture> {
    let words = view.words.bandwidth;
    let best: Vec<(usize, usize)> =
        (0..2).filter_map(|direction| Some((direction, bandwidth.best(direction)?.0))).collect();
    let series = best.iter().map(|(direction, transfer)| {
        let name = format!("{} {}", words.directions[*direction], bandwidth.transfers[*transfer]);
        Series::new(name, *direction, marks(bandwidth, *direction, *transfer))
            .drawn(Stroke::Solid, Markers::HollowWithoutInterval)
    });
    let first = direction_picture(view, bandwidth, best.first()?.0);
    Some(Picture {
        id: "answer".to_owned(),
        title: view.marked(words.best_picture.to_owned()),
        description: best
            .iter()
            .filter_map(|(direction, transfer)| line(view, bandwidth, *direction, *transfer))
            .collect::<Vec<_>>()
            .join(view.words.gap),
        data: Table { note: String::new(), ..tables::rates(view, bandwidth) },
        figure: Figure { series: series.collect(), ..first.figure },
        origin: first.origin,
    })
}

/// One direction of several runs, each named and at the transfer size with its best rate.
pub(crate) fn of_runs(
    view: &View<'_>,
    runs: &[(String, Bandwidth)],
    direction: usize,
) -> Option<Picture> {
    let words = view.words.bandwidth;
    let best: Vec<(&str, &Bandwidth, usize)> = runs
        .iter()
        .filter_map(|(name, rates)| Some((&**name, rates, rates.best(direction)?.0)))
        .collect();
    let threads: BTreeSet<u32> =
        best.iter().flat_map(|(_, bandwidth, _)| bandwidth.threads.iter().copied()).collect();
    let series = best.iter().enumerate().map(|(number, (name, bandwidth, transfer))| {
        // The numbers of points are those of another run's plan.
        let marks = marks(bandwidth, direction, *transfer).into_iter();
        let marks: Vec<Mark> = marks.map(|mark| Mark { points: Vec::new(), ..mark }).collect();
        Series::new(*name, number, marks).drawn(Stroke::Solid, Markers::HollowWithoutInterval)
    });
    let lines = best.iter().filter_map(|(name, bandwidth, transfer)| {
        Some(with_subject(view.lang, name, &line(view, bandwidth, direction, *transfer)?))
    });
    let first = direction_picture(view, best.first()?.1, direction);
    let data = Rows::from_items(&threads)
        .number(words.threads, "", |threads| Cell::head(threads.to_string()))
        .each(
            &best,
            |(name, ..)| number_in(name, MIB_PER_S),
            |threads, (_, bandwidth, transfer)| {
                let rate = bandwidth.rate(direction, *transfer, **threads);
                let text = rate.map(|rate| rounded(&rate.mib_per_s).value);
                Cell::or_dash(text).struck_if(rate.is_some_and(|rate| !rate.valid))
            },
        )
        .data(view);
    Some(Picture {
        id: format!("runs-{}", first.id),
        description: lines.collect::<Vec<_>>().join(view.words.gap),
        data,
        figure: Figure::new(
            (words.x, Horizontal::Intensities(threads.iter().copied().collect())),
            (words.y, Scale::FromZero),
            series,
        ),
        ..first
    })
}

fn marks(bandwidth: &Bandwidth, direction: usize, transfer: usize) -> Vec<Mark> {
    let mark = |threads: &u32| {
        let rate = bandwidth.rate(direction, transfer, *threads);
        let value = match rate {
            None => MarkValue::Missing,
            Some(rate) if !rate.valid => MarkValue::Invalid,
            Some(rate) => MarkValue::Known(rate.mib_per_s.value, rate.mib_per_s.interval),
        };
        let points = rate.map_or_else(Vec::new, |rate| rate.points.clone());
        Mark { at: f64::from(*threads), value, points }
    };
    bandwidth.threads.iter().map(mark).collect()
}

fn line(
    view: &View<'_>,
    bandwidth: &Bandwidth,
    direction: usize,
    transfer: usize,
) -> Option<String> {
    let rates = bandwidth.rates(direction, transfer);
    let ((first_threads, first), (last_threads, last)) = (rates.first()?, rates.last()?);
    let values = [
        ("transfer", bandwidth.transfers[transfer].clone()),
        ("first", three_digits(first.value)),
        ("first_threads", first_threads.to_string()),
        ("last", three_digits(last.value)),
        ("last_threads", last_threads.to_string()),
    ];
    Some(fill_in(view.words.bandwidth.line, &values))
}
