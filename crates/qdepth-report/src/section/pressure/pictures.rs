//! Diagrams of the reader's latency: over time, with the stair of writes, and over the write load.

use crate::document::{Cell, Picture, Table, number_in};
use crate::figure::{
    Figure, Horizontal, Mark, MarkValue, Markers, RightAxis, Scale, Series, Stroke,
};
use crate::number::{self, TimeUnit, three_digits};
use crate::rows::{Rows, RunColumns as _};
use crate::section::pressure::sentences::reached;
use crate::section::pressure::tables::reader_unit;
use crate::section::steps::{Step, Steps};
use crate::view::View;
use crate::words::fill_in;
use qdepth_measure::Statistic;

/// Largest number of marks of a line over time: about two per pixel.
const MARKS_MAX: u64 = 800;
/// Possible lengths of a slice of time, ns.
const SLICES: [u64; 10] = [
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
    30_000_000_000,
    60_000_000_000,
    600_000_000_000,
];
/// Colour of the stair: grey, the last of the palette.
const STAIR: usize = 5;
/// Figures shown over the write load.
const LINES: [(Statistic, Stroke); 2] =
    [(Statistic::Mean, Stroke::Solid), (Statistic::Quantile(0.999), Stroke::Dashed)];

/// Scales of each diagram, with their names in links.
const SCALES: [(&str, Scale); 2] = [("linear", Scale::FromZero), ("log", Scale::Log)];

/// A step on the time axis: start, end, and the requested write load.
struct StepSpan {
    from_ns: u64,
    to_ns: u64,
    asked: f64,
}

/// Measured windows of the steps in sequence. A step takes as long as its longest window.
fn spans(steps: &Steps<'_, '_>) -> Vec<StepSpan> {
    let mut from_ns = 0;
    let span = |index: usize| {
        let at_index = || steps.all.iter().filter(|step| step.step_index == index);
        let windows = at_index().filter_map(|s| Some(s.reader()?.record.duration_ns));
        let to_ns = from_ns + windows.max().unwrap_or(0);
        let asked = at_index().find_map(Step::asked_io_per_s).unwrap_or(0.0);
        StepSpan { from_ns: std::mem::replace(&mut from_ns, to_ns), to_ns, asked }
    };
    (0..steps.titles.len()).map(span).collect()
}

/// Length of the slices, ns, with which a line over this time stays readable.
pub(crate) fn slice_ns(total_ns: u64) -> u64 {
    let fits = |slice: &&u64| total_ns / **slice <= MARKS_MAX;
    *SLICES.iter().find(fits).unwrap_or(&SLICES[SLICES.len() - 1])
}

/// Diagrams on a linear and a logarithmic scale; empty if no series was stored.
pub(super) fn over_time(view: &View<'_>, steps: &Steps<'_, '_>) -> Vec<Picture> {
    let words = view.words.pressure.pictures;
    let spans = spans(steps);
    let end_ns = spans.last().map_or(0, |span| span.to_ns);
    let slice = slice_ns(end_ns);
    let unit = reader_unit(steps);
    let series: Vec<Series> = steps
        .targets()
        .into_iter()
        .enumerate()
        .map(|(colour, target)| {
            let marks = line_over_time(steps, target, &spans, slice, unit);
            let line = Series::new(view.target_name(target), colour, marks);
            line.drawn(Stroke::Solid, Markers::None)
        })
        .collect();
    let right = RightAxis { label: words.stair_y.to_owned(), series: vec![stair(view, &spans)] };
    let figure = |y_scale| Figure {
        right: Some(right.clone()),
        ..Figure::new(
            (words.time_x, Horizontal::UpTo(end_ns as f64 / 1e9)),
            (format!("{} [{}]", words.latency_y, unit.symbol()), y_scale),
            series.clone(),
        )
    };
    let both = SCALES.into_iter().zip(words.over_time);
    let all = both.map(|((id, scale), title)| Picture {
        id: format!("pressure-time-{id}"),
        title: view.marked(title.to_owned()),
        description: time_description(view, steps, slice),
        data: time_data(view, steps, &series, &spans, unit),
        origin: view.origin(),
        figure: figure(scale),
    });
    all.filter(|picture| !picture.figure.is_empty()).collect()
}

fn stair(view: &View<'_>, spans: &[StepSpan]) -> Series {
    let ends = spans.iter().flat_map(|span| {
        [span.from_ns, span.to_ns]
            .map(|ns| Mark::at(ns as f64 / 1e9, MarkValue::Known(span.asked, None)))
    });
    let name = view.words.pressure.pictures.stair;
    Series::new(name, STAIR, ends).drawn(Stroke::Solid, Markers::None)
}

/// Mean of each slice, at its middle. A slice without a completed read leaves a gap, and so does a
/// missing or invalid step.
fn line_over_time(
    steps: &Steps<'_, '_>,
    target: u32,
    spans: &[StepSpan],
    slice_ns: u64,
    unit: TimeUnit,
) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (index, span) in spans.iter().enumerate() {
        let step = steps.on(target).find(|step| step.step_index == index && step.is_valid());
        let slices = step.map_or_else(Vec::new, |step| slices(step, slice_ns));
        if slices.is_empty() {
            marks.push(Mark::at(span.from_ns as f64 / 1e9, MarkValue::Missing));
        }
        marks.extend(slices.into_iter().map(|(middle_ns, mean_ns)| Mark {
            at: (span.from_ns as f64 + middle_ns) / 1e9,
            value: mean_ns.map(|ns| unit.convert(ns)).into(),
            points: step.map_or_else(Vec::new, reader_point),
        }));
    }
    marks
}

/// Index in the plan of the reader's point.
fn reader_point(step: &Step<'_, '_>) -> Vec<u32> {
    step.reader().map(|reader| reader.record.index).into_iter().collect()
}

/// Middle of each slice from the start of the window, and mean service time of its reads, ns.
fn slices(step: &Step<'_, '_>, slice_ns: u64) -> Vec<(f64, Option<f64>)> {
    let Some(reader) = step.reader() else { return Vec::new() };
    let of_slice = |chunk: &[qdepth_record::IntervalRecord]| {
        let (first, last) = (chunk.first()?, chunk.last()?);
        let known = chunk.iter().filter_map(|i| i.read_latency.decode().ok());
        let (sum, count) =
            known.fold((0.0, 0), |(sum, count), h| (sum + h.sum() as f64, count + h.count()));
        let middle = (first.start_ns + last.start_ns + last.length_ns) as f64 / 2.0;
        Some((middle, (count > 0).then(|| sum / count as f64)))
    };
    let chunks =
        reader.record.intervals.chunk_by(|a, b| a.start_ns / slice_ns == b.start_ns / slice_ns);
    chunks.filter_map(of_slice).collect()
}

/// Text alternative: first and last mean of every target.
fn described(
    view: &View<'_>,
    steps: &Steps<'_, '_>,
    name: impl Fn(&Step<'_, '_>) -> String,
) -> String {
    let lines = steps.targets().into_iter().filter_map(|target| {
        let mean = |step: &Step<'_, '_>| step.reader_latency(Statistic::Mean).map(number::duration);
        let valid = || steps.on(target).filter(|step| step.is_valid());
        let (first, last) = (valid().next()?, valid().last()?);
        let values = [
            ("target", view.target_name(target)),
            ("first", mean(first)?),
            ("first_step", name(first)),
            ("last", mean(last)?),
            ("last_step", name(last)),
        ];
        Some(fill_in(view.words.pressure.pictures.line, &values))
    });
    lines.collect::<Vec<_>>().join(view.words.gap)
}

fn time_description(view: &View<'_>, steps: &Steps<'_, '_>, slice: u64) -> String {
    let asked = |step: &Step<'_, '_>| step.asked_io_per_s().unwrap_or(0.0);
    let low = steps.all.iter().map(asked).fold(f64::INFINITY, f64::min);
    let high = steps.all.iter().map(asked).fold(0.0, f64::max);
    let values = [
        ("slice", number::duration(slice as f64)),
        ("low", number::load(low)),
        ("high", number::load(high)),
        ("lines", described(view, steps, |step| view.step(step.title))),
    ];
    fill_in(view.words.pressure.pictures.time_description, &values)
}

/// Chooses one of two values.
type Pick = fn(f64, f64) -> f64;

/// Data table. Every slice would give hundreds of rows, so it has the mean of the slices of each
/// step, their smallest and their largest.
fn time_data(
    view: &View<'_>,
    steps: &Steps<'_, '_>,
    series: &[Series],
    spans: &[StepSpan],
    unit: TimeUnit,
) -> Table {
    let words = view.words;
    let value = |line: &Series, span: &StepSpan, pick: Pick| {
        let (from, to) = (span.from_ns as f64 / 1e9, span.to_ns as f64 / 1e9);
        let within = line.marks.iter().filter(|mark| mark.at >= from && mark.at < to);
        let value = within.filter_map(|mark| mark.value.known()).reduce(pick);
        Cell::or_dash(value.map(three_digits))
    };
    let ends: [(&str, Pick); 2] =
        [(words.columns.minimum, f64::min), (words.columns.maximum_time, f64::max)];
    let columns = series.iter().flat_map(|line| ends.map(|(heading, pick)| (line, heading, pick)));
    Rows::from_items(spans.iter().enumerate())
        .number(words.pressure.columns.time, "s", |(_, span)| {
            Cell::head(three_digits(span.from_ns as f64 / 1e9))
        })
        .number(words.pressure.columns.asked, "MiB/s", |(_, span)| number::load(span.asked))
        .each(
            columns,
            |(line, heading, _)| {
                number_in(&[&*line.name, heading].join(words.list[0]), unit.symbol())
            },
            |(_, span), (line, _, pick)| value(line, span, *pick),
        )
        .traced(view, |(index, _)| points_of_step(steps, *index))
        .data(view)
}

/// Points of a step, of all targets.
fn points_of_step(steps: &Steps<'_, '_>, index: usize) -> Vec<u32> {
    let at_index = steps.all.iter().filter(|step| step.step_index == index);
    at_index.flat_map(Step::point_indices).collect()
}

/// Mean and 99.9th percentile over the reached write load, with the knee.
pub(super) fn over_load(view: &View<'_>, steps: &Steps<'_, '_>) -> Vec<Picture> {
    let words = view.words.pressure.pictures;
    let unit = reader_unit(steps);
    let mut series = Vec::new();
    for (colour, target) in steps.targets().into_iter().enumerate() {
        for (statistic, stroke) in LINES {
            let marks = line_over_load(steps, target, statistic, unit);
            let name = on_target(view, target, view.statistic(statistic));
            let line = Series::new(name, colour, marks).drawn(stroke, Markers::Plain);
            series.extend(line.is_known().then_some(line));
        }
        series.extend(knee(view, steps, target, colour, unit));
    }
    let largest = steps.all.iter().map(Step::achieved).fold(1.0, f64::max);
    let figure = |y_scale| {
        Figure::new(
            (words.load_x, Horizontal::UpTo(largest * 1.03)),
            (format!("{} [{}]", words.latency_y, unit.symbol()), y_scale),
            series.clone(),
        )
    };
    // The axis has the achieved loads.
    let lines = [("lines", described(view, steps, |step| reached(view, step)))];
    let both = SCALES.into_iter().zip(words.over_load);
    let all = both.map(|((id, scale), title)| Picture {
        id: format!("pressure-load-{id}"),
        title: view.marked(title.to_owned()),
        description: fill_in(words.load_description, &lines),
        data: load_data(view, steps, unit),
        origin: view.origin(),
        figure: figure(scale),
    });
    all.filter(|picture| !picture.figure.is_empty()).collect()
}

/// Means only, on a logarithmic scale: the single most informative picture.
pub(crate) fn means_over_load(view: &View<'_>, steps: &Steps<'_, '_>) -> Option<Picture> {
    let mut picture = over_load(view, steps).pop()?;
    let mean = |series: &Series| series.stroke == Stroke::Solid || series.stroke == Stroke::None;
    picture.figure.series.retain(mean);
    Some(picture)
}

fn line_over_load(
    steps: &Steps<'_, '_>,
    target: u32,
    statistic: Statistic,
    unit: TimeUnit,
) -> Vec<Mark> {
    let mark = |step: &Step<'_, '_>| {
        let ns = step.reader_latency(statistic).filter(|_| step.is_valid());
        Mark {
            at: step.achieved(),
            value: ns.map(|ns| unit.convert(ns)).into(),
            points: reader_point(step),
        }
    };
    steps.on(target).map(mark).collect()
}

fn knee(
    view: &View<'_>,
    steps: &Steps<'_, '_>,
    target: u32,
    colour: usize,
    unit: TimeUnit,
) -> Option<Series> {
    let [step, _] = steps.knee(target)?;
    let mean = unit.convert(step.reader_latency(Statistic::Mean)?);
    let name = on_target(view, target, view.words.pressure.pictures.knee.to_owned());
    let mark = Mark {
        at: step.achieved(),
        value: MarkValue::Known(mean, None),
        points: reader_point(step),
    };
    Some(Series::new(name, colour, [mark]).drawn(Stroke::None, Markers::Rings))
}

/// Name of a line, with its target if there are several.
fn on_target(view: &View<'_>, target: u32, name: String) -> String {
    if view.compares() { [view.target_name(target), name].join(view.words.list[0]) } else { name }
}

fn load_data(view: &View<'_>, steps: &Steps<'_, '_>, unit: TimeUnit) -> Table {
    let (words, heads) = (view.words, view.words.pressure.columns);
    let valid = |target: u32, index: usize| {
        steps.on(target).find(|step| step.step_index == index && step.is_valid())
    };
    let mut rows =
        Rows::from_items(steps.titles.iter().enumerate())
            .number(heads.step, "", |(_, title)| Cell::head(view.step(title)));
    for target in steps.targets() {
        let name = view.target_name(target);
        let achieved = [&*name, heads.achieved].join(words.list[0]);
        rows = rows
            .number(&achieved, "MiB/s", |(index, _)| {
                valid(target, *index).map(|step| number::load(step.achieved()))
            })
            .each(
                LINES,
                |(statistic, _)| {
                    let heading = [name.clone(), view.statistic(*statistic)].join(words.list[0]);
                    number_in(&heading, unit.symbol())
                },
                |(index, _), (statistic, _)| {
                    let step = valid(target, *index);
                    Cell::time(unit, step.and_then(|step| step.reader_latency(*statistic)))
                },
            );
    }
    rows.traced(view, |(index, _)| points_of_step(steps, *index)).data(view)
}
