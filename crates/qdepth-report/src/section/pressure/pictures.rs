//! Diagrams of the reader's latency: over time, with the stair of writes, and over the write load.

use crate::document::{Cell, Picture, Row, Table, number_in};
use crate::figure::{
    Figure, Horizontal, Mark, MarkValue, Markers, RightAxis, Scale, Series, Stroke,
};
use crate::number::{self, TimeUnit, three_digits};
use crate::section::pressure::tables::reader_unit;
use crate::section::steps::{Step, Steps};
use crate::section::table_parts::data_table;
use crate::trace;
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
        .map(|(colour, target)| Series {
            name: view.target_name(target),
            colour,
            stroke: Stroke::Solid,
            markers: Markers::None,
            marks: line_over_time(steps, target, &spans, slice, unit),
        })
        .collect();
    let figure = |y_scale| Figure {
        x_label: words.time_x.to_owned(),
        x_axis: Horizontal::UpTo(end_ns as f64 / 1e9),
        y_label: format!("{} [{}]", words.latency_y, unit.symbol()),
        y_scale,
        series: series.clone(),
        right: Some(RightAxis {
            label: words.stair_y.to_owned(),
            series: vec![stair(view, &spans)],
        }),
        panels: Vec::new(),
    };
    let both = SCALES.into_iter().zip(words.over_time);
    let all = both.map(|((id, scale), title)| Picture {
        id: format!("pressure-time-{id}"),
        title: view.marked(title.to_owned()),
        description: time_description(view, steps, slice),
        data: trace::traced(view, time_data(view, &series, &spans, unit), points_by_step(steps)),
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
    Series {
        name: view.words.pressure.pictures.stair.to_owned(),
        colour: STAIR,
        stroke: Stroke::Solid,
        markers: Markers::None,
        marks: ends.collect(),
    }
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
            value:
                mean_ns.map_or(MarkValue::Missing, |ns| MarkValue::Known(unit.convert(ns), None)),
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
        let known = chunk.iter().filter_map(|i| i.read_service_time.decode().ok());
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
fn described(view: &View<'_>, steps: &Steps<'_, '_>) -> String {
    let lines = steps.targets().into_iter().filter_map(|target| {
        let mean = |step: &Step<'_, '_>| step.reader_latency(Statistic::Mean).map(number::duration);
        let valid = || steps.on(target).filter(|step| step.is_valid());
        let (first, last) = (valid().next()?, valid().last()?);
        let values = [
            ("target", view.target_name(target)),
            ("first", mean(first)?),
            ("first_step", view.step(first.title)),
            ("last", mean(last)?),
            ("last_step", view.step(last.title)),
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
        ("lines", described(view, steps)),
    ];
    fill_in(view.words.pressure.pictures.time_description, &values)
}

/// Data table. Every slice would give hundreds of rows, so it has the mean of the slices of each
/// step, their smallest and their largest.
fn time_data(view: &View<'_>, series: &[Series], spans: &[StepSpan], unit: TimeUnit) -> Table {
    let words = view.words;
    let mut columns = vec![
        number_in(words.pressure.columns.time, "s"),
        number_in(words.pressure.columns.asked, "MiB/s"),
    ];
    for line in series {
        for heading in [words.columns.minimum, words.columns.maximum_time] {
            columns.push(number_in(&[&*line.name, heading].join(words.list[0]), unit.symbol()));
        }
    }
    let rows = spans.iter().map(|span| {
        let (from, to) = (span.from_ns as f64 / 1e9, span.to_ns as f64 / 1e9);
        let mut cells = vec![Cell::head(three_digits(from)), Cell::plain(number::load(span.asked))];
        for line in series {
            let within = line.marks.iter().filter(|mark| mark.at >= from && mark.at < to);
            let values: Vec<f64> = within.filter_map(known).collect();
            let low = values.iter().copied().reduce(f64::min);
            let high = values.iter().copied().reduce(f64::max);
            cells.extend([low, high].map(|value| Cell::or_dash(value.map(three_digits))));
        }
        Row { cells, opens_group: false }
    });
    data_table(view, columns, rows.collect())
}

/// Points of each step, of all targets.
fn points_by_step(steps: &Steps<'_, '_>) -> Vec<Vec<u32>> {
    let of_index = |index: usize| {
        let at_index = steps.all.iter().filter(|step| step.step_index == index);
        at_index.flat_map(Step::point_indices).collect()
    };
    (0..steps.titles.len()).map(of_index).collect()
}

fn known(mark: &Mark) -> Option<f64> {
    match mark.value {
        MarkValue::Known(value, _) => Some(value),
        MarkValue::Invalid | MarkValue::Missing => None,
    }
}

/// Mean and 99.9th percentile over the reached write load, with the knee.
pub(super) fn over_load(view: &View<'_>, steps: &Steps<'_, '_>) -> Vec<Picture> {
    let words = view.words.pressure.pictures;
    let unit = reader_unit(steps);
    let mut series = Vec::new();
    for (colour, target) in steps.targets().into_iter().enumerate() {
        for (statistic, stroke) in LINES {
            let marks = line_over_load(steps, target, statistic, unit);
            let name = if view.compares() {
                [view.target_name(target), view.statistic(statistic)].join(view.words.list[0])
            } else {
                view.statistic(statistic)
            };
            let drawn = marks.iter().any(|mark| known(mark).is_some());
            series.extend(drawn.then_some(Series {
                name,
                colour,
                stroke,
                markers: Markers::Plain,
                marks,
            }));
        }
        series.extend(knee(view, steps, target, colour, unit));
    }
    let largest = steps.all.iter().map(Step::achieved).fold(1.0, f64::max);
    let figure = |y_scale| Figure {
        x_label: words.load_x.to_owned(),
        x_axis: Horizontal::UpTo(largest * 1.03),
        y_label: format!("{} [{}]", words.latency_y, unit.symbol()),
        y_scale,
        series: series.clone(),
        right: None,
        panels: Vec::new(),
    };
    let both = SCALES.into_iter().zip(words.over_load);
    let all = both.map(|((id, scale), title)| Picture {
        id: format!("pressure-load-{id}"),
        title: view.marked(title.to_owned()),
        description: fill_in(words.load_description, &[("lines", described(view, steps))]),
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
            value: ns.map_or(MarkValue::Missing, |ns| MarkValue::Known(unit.convert(ns), None)),
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
    let word = view.words.pressure.pictures.knee;
    let name = if view.compares() {
        [&*view.target_name(target), word].join(view.words.list[0])
    } else {
        word.to_owned()
    };
    Some(Series {
        name,
        colour,
        stroke: Stroke::None,
        markers: Markers::Rings,
        marks: vec![Mark {
            at: step.achieved(),
            value: MarkValue::Known(mean, None),
            points: reader_point(step),
        }],
    })
}

fn load_data(view: &View<'_>, steps: &Steps<'_, '_>, unit: TimeUnit) -> Table {
    let words = view.words;
    let mut columns = vec![number_in(words.pressure.columns.step, "")];
    for target in steps.targets() {
        let name = view.target_name(target);
        let achieved = words.pressure.columns.achieved;
        columns.push(number_in(&[&*name, achieved].join(words.list[0]), "MiB/s"));
        columns.extend(LINES.map(|(statistic, _)| {
            number_in(&[name.clone(), view.statistic(statistic)].join(words.list[0]), unit.symbol())
        }));
    }
    let rows = steps.titles.iter().enumerate().map(|(index, title)| {
        let mut cells = vec![Cell::head(view.step(title))];
        for target in steps.targets() {
            let step = steps.on(target).find(|step| step.step_index == index && step.is_valid());
            cells.push(Cell::or_dash(step.map(|step| number::load(step.achieved()))));
            cells.extend(LINES.map(|(statistic, _)| {
                let ns = step.and_then(|step| step.reader_latency(statistic));
                Cell::or_dash(ns.map(|ns| unit.write(ns)))
            }));
        }
        Row { cells, opens_group: false }
    });
    let data = data_table(view, columns, rows.collect());
    trace::traced(view, data, points_by_step(steps))
}
