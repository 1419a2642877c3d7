//! Latency of a point over time: for each slice of its measured time, the distribution of the
//! latencies, and percentiles (a latency heat map, Gregg 2010).

use std::collections::BTreeMap;

use qdepth_measure::{LatencyHistogram, percentile};
use qdepth_record::PointRecord;

use crate::document::{Block, Cell, Picture, Section, Table, number_in};
use crate::figure::{Figure, Horizontal, Mark, Markers, Scale, Series, Stroke};
use crate::number::{self, TimeUnit};
use crate::rows::{Rows, RunColumns as _};
use crate::view::View;
use crate::words::fill_in;

/// Largest number of time slices, which are the columns of the heat map.
const SLICES: usize = 60;
/// Number of rows of the heat map: approximate in a diagram, maximum in a terminal.
const ROWS: f64 = 36.0;
const ROWS_IN_TERMINAL: i64 = 14;
/// Smallest share of a slice's I/Os for each shade, and its character in a terminal.
const SHADES: [(f64, char); 5] = [(0.0, '·'), (0.001, '░'), (0.01, '▒'), (0.1, '▓'), (0.5, '█')];
const PERCENTILES: [(f64, &str, Stroke); 3] =
    [(0.5, "p50", Stroke::Solid), (0.99, "p99", Stroke::Dashed), (0.999, "p99.9", Stroke::Dotted)];

/// The heat map of one point.
struct Course<'v> {
    record: &'v PointRecord,
    title: String,
    slices: Vec<Slice>,
}

struct Slice {
    /// Middle and end of the slice, ns of measured time.
    middle_ns: f64,
    end_ns: f64,
    times: LatencyHistogram,
}

impl Slice {
    fn percentile_ns(&self, quantile: f64) -> Option<f64> {
        percentile(&self.times, quantile).map(|known| known.value.0 as f64)
    }

    /// Shares of the I/Os by row, with this number of rows per decade.
    fn shares(&self, per_decade: f64) -> BTreeMap<i64, f64> {
        let mut shares = BTreeMap::new();
        for (low, high, count) in self.times.occupied() {
            let middle_ns = (low.0 + high.0) as f64 / 2.0;
            *shares.entry(row_of(middle_ns, per_decade)).or_default() +=
                count as f64 / self.times.count() as f64;
        }
        shares
    }
}

fn row_of(ns: f64, per_decade: f64) -> i64 {
    (ns.max(1.0).log10() * per_decade).floor() as i64
}

/// Lower end of a row; at `row + 0.5`, its middle.
fn row_ns(row: f64, per_decade: f64) -> f64 {
    10f64.powf(row / per_decade)
}

fn shade(share: f64) -> usize {
    SHADES.iter().rposition(|(least, _)| share >= *least).unwrap_or(0)
}

impl<'v> Course<'v> {
    /// `None` if the samples of the point hold no latencies.
    fn new(view: &'v View<'_>, record: &'v PointRecord) -> Option<Self> {
        let load = view
            .loads
            .iter()
            .find(|load| load.points.iter().any(|point| std::ptr::eq(point.record, record)))?;
        let depth = if load.stepped { "" } else { "QD " };
        let mut title = format!("{}, {depth}{}", load.title, view.at(load, record));
        if view.compares() {
            title = format!("{title}, {}", view.target_name(record.target));
        }
        let each = record.intervals.len().div_ceil(SLICES).max(1);
        let mut end_ns = 0.0;
        let slice = |chunk: &[qdepth_record::IntervalRecord]| {
            let length_ns: f64 = chunk.iter().map(|sample| sample.length_ns as f64).sum();
            end_ns += length_ns;
            let mut times = LatencyHistogram::new();
            let stored = |sample: &qdepth_record::IntervalRecord| {
                [
                    sample.read_latency.decode(),
                    sample.write_latency.decode(),
                    sample.trim_latency.decode(),
                ]
            };
            chunk.iter().flat_map(stored).flatten().for_each(|part| times.merge(&part));
            Slice { middle_ns: end_ns - length_ns / 2.0, end_ns, times }
        };
        let slices: Vec<Slice> = record.intervals.chunks(each).map(slice).collect();
        let has_latencies = slices.iter().any(|slice| slice.times.count() > 0);
        has_latencies.then_some(Self { record, title, slices })
    }

    /// Shortest and longest latency, ns.
    fn range_ns(&self) -> (f64, f64) {
        let ends = |slice: &Slice| Some((slice.times.min()?.0 as f64, slice.times.max()?.0 as f64));
        let ends = self.slices.iter().filter_map(ends);
        ends.fold((f64::INFINITY, 1.0), |(low, high), (l, h)| (low.min(l), high.max(h)))
    }

    fn end_ns(&self) -> f64 {
        self.slices.last().map_or(0.0, |last| last.end_ns)
    }

    fn sentence(&self, view: &View<'_>) -> String {
        let words = view.words.latency_over_time;
        let range = |(quantile, name, _): &(f64, &str, Stroke)| {
            let known = self
                .slices
                .iter()
                .filter_map(|slice| slice.percentile_ns(*quantile).map(|ns| (ns, slice.middle_ns)));
            let (count, all) = (known.clone().count(), self.slices.len());
            let low = known.clone().map(|(ns, _)| ns).fold(f64::INFINITY, f64::min);
            let (high, at) = known.max_by(|a, b| a.0.total_cmp(&b.0))?;
            let [low, high, at] = [low, high, at].map(number::duration);
            let mut values = vec![("percentile", (*name).to_owned())];
            if low != high {
                values.extend([("high", high), ("at", at)]);
            }
            // Necessary because a rare percentile of some slices may be below a more common one of
            // all.
            if count < all {
                values.extend([("known", count.to_string()), ("slices", all.to_string())]);
            }
            values.push(("low", low));
            Some(fill_in(words.ranges, &values))
        };
        let all: Vec<String> = PERCENTILES.iter().filter_map(range).collect();
        all.join(view.words.gap)
    }

    fn picture(&self, view: &View<'_>) -> Picture {
        let words = view.words.latency_over_time;
        let (low_ns, high_ns) = self.range_ns();
        let unit = TimeUnit::suiting([high_ns]);
        let decades = high_ns.log10().ceil() - low_ns.log10().floor();
        let per_decade = (ROWS / decades.max(1.0)).floor().max(2.0);
        let shades = words.shades.into_iter().enumerate();
        let mut series: Vec<Series> = shades
            .map(|(at, name)| Series::new(name, 0, []).drawn(Stroke::None, Markers::Shade(at)))
            .collect();
        let mark = |slice: &Slice, ns: Option<f64>| Mark {
            at: slice.middle_ns / 1e9,
            value: ns.map(|ns| unit.convert(ns)).into(),
            points: vec![self.record.index],
        };
        for slice in &self.slices {
            for (row, share) in slice.shares(per_decade) {
                let middle_ns = row_ns(row as f64 + 0.5, per_decade);
                series[shade(share)].marks.push(mark(slice, Some(middle_ns)));
            }
        }
        series.extend(PERCENTILES.map(|(quantile, name, stroke)| {
            let marks = self.slices.iter().map(|s| mark(s, s.percentile_ns(quantile)));
            Series::new(name, 1, marks).drawn(stroke, Markers::None)
        }));
        series.retain(Series::is_known);
        Picture {
            id: format!("latency-over-time-{}", self.record.index),
            title: view.marked(self.title.clone()),
            description: format!("{}{}{}", words.description, view.words.gap, self.sentence(view)),
            data: self.data(view, unit),
            origin: view.origin(),
            figure: Figure::new(
                (view.words.timeline.x, Horizontal::UpTo(self.end_ns() / 1e9)),
                (format!("{} [{}]", words.y, unit.symbol()), Scale::Log),
                series,
            ),
        }
    }

    fn data(&self, view: &View<'_>, unit: TimeUnit) -> Table {
        Rows::from_items(&self.slices)
            .number(view.words.timeline.from, "s", |slice| {
                let from_ns = 2.0 * slice.middle_ns - slice.end_ns;
                Cell::head(number::three_digits(from_ns / 1e9))
            })
            .number("I/Os", "", |s| number::count(s.times.count()))
            .each(
                PERCENTILES,
                |(_, name, _)| number_in(name, unit.symbol()),
                |slice, (quantile, ..)| Cell::time(unit, slice.percentile_ns(*quantile)),
            )
            .traced(view, |_| vec![self.record.index])
            .data(view)
    }

    /// The heat map in characters.
    fn lines(&self, view: &View<'_>) -> Vec<String> {
        let words = view.words.latency_over_time;
        let (low_ns, high_ns) = self.range_ns();
        let ends = |per_decade| (row_of(low_ns, per_decade), row_of(high_ns, per_decade));
        let fits = |per_decade: &f64| {
            let (low, high) = ends(*per_decade);
            high - low < ROWS_IN_TERMINAL
        };
        let finest = (1..=10).rev().map(f64::from).find(fits);
        let per_decade = finest.unwrap_or(1.0);
        let (low, high) = ends(per_decade);
        let columns: Vec<BTreeMap<i64, f64>> =
            self.slices.iter().map(|slice| slice.shares(per_decade)).collect();
        let mut lines = vec![view.marked(self.title.clone())];
        for row in (low..=high).rev() {
            let sign = |shares: &BTreeMap<i64, f64>| match shares.get(&row) {
                Some(share) => SHADES[shade(*share)].1,
                None => ' ',
            };
            let cells: String = columns.iter().map(sign).collect();
            let from = number::duration(row_ns(row as f64, per_decade));
            lines.push(format!("{from:>8} │{}", cells.trim_end()));
        }
        let end = number::duration(self.end_ns());
        lines.push(format!("{:>8} └{}", "", "─".repeat(columns.len())));
        lines.push(format!("{:>10}0 s {end:>1$}", "", columns.len().saturating_sub(4)));
        let key = SHADES.iter().zip(words.shades);
        lines.push(key.map(|((_, sign), name)| format!("{sign} {name}  ")).collect());
        lines.push(words.note.to_owned());
        lines.push(self.sentence(view));
        lines
    }
}

/// Heat maps of the selected points whose samples hold latencies.
fn courses<'v>(view: &'v View<'_>) -> Vec<Course<'v>> {
    let chosen = view.records.iter().filter(|record| view.over_time.contains(&record.index));
    chosen.filter_map(|record| Course::new(view, record)).collect()
}

/// The chapter, for the points that the user selected.
pub(crate) fn section(view: &View<'_>) -> Option<Section> {
    let words = view.words.latency_over_time;
    let courses = courses(view);
    if courses.is_empty() {
        return None;
    }
    let pictures = courses.iter().map(|course| course.picture(view)).collect();
    let sentences = courses
        .iter()
        .map(|course| Block::Paragraph([&course.title, ": ", &course.sentence(view)].concat()));
    let mut blocks = vec![Block::Paragraph(words.note.to_owned()), Block::Pictures(pictures)];
    blocks.extend(sentences);
    Some(Section::new("latency-over-time", words.section, blocks))
}

/// The heat maps as lines of at most 80 characters, except for sentences; empty if the samples hold
/// no latencies.
pub(crate) fn in_lines(view: &View<'_>) -> Vec<String> {
    courses(view).iter().flat_map(|course| course.lines(view)).collect()
}

/// Index in the plan of the point with the longest 99.9th percentile of the latency.
pub fn longest_tail<'p>(points: impl IntoIterator<Item = &'p PointRecord>) -> Option<u32> {
    let tail = |point: &PointRecord| {
        let all = point.transfers().into_iter();
        all.filter_map(|each| each.latency.quantile(0.999)).max()
    };
    points.into_iter().max_by_key(|point| tail(point)).map(|point| point.index)
}

#[cfg(test)]
mod tests {
    use qdepth_measure::Nanos;

    use super::*;

    #[test]
    fn slice_shares_sum_to_one_with_limited_percentiles() {
        let mut times = LatencyHistogram::new();
        (0..990).for_each(|_| times.record(Nanos(120_000)));
        (0..10).for_each(|_| times.record(Nanos(20_000_000)));
        let slice = Slice { middle_ns: 0.0, end_ns: 0.0, times };
        let shares = slice.shares(2.0);
        assert_eq!(shares.keys().copied().collect::<Vec<_>>(), [10, 14]);
        assert!((shares[&10] - 0.99).abs() < 1e-9 && (shares[&14] - 0.01).abs() < 1e-9);
        assert_eq!((shade(shares[&10]), shade(shares[&14])), (4, 2));
        assert!(slice.percentile_ns(0.99).is_some(), "ten beyond it");
        assert_eq!(slice.percentile_ns(0.999), None, "one beyond it");
    }
}
