//! The run over time: the throughput of every target, and below it the monitored values of the
//! devices. Points follow one another, each with its warm-up; the time between them is left out.

use std::collections::{BTreeMap, BTreeSet};

use qdepth_record::{IntervalRecord, MonitorRecord, PointRecord};

use crate::document::{Block, Cell, Picture, Section, Table};
use crate::figure::{
    Figure, Horizontal, Mark, MarkValue, Markers, RightAxis, Scale, Series, Stroke,
};
use crate::number::{MIB, thousands, three_digits};
use crate::rows::{Rows, RunColumns as _};
use crate::section::pressure::slice_ns;
use crate::section::pts::goes_over_time;
use crate::section::sum_box::of_chapter;
use crate::trace;
use crate::view::{Load, Point, View};
use crate::words::fill_in;

const BUSY: &str = " busy_share";
const HEAT: &str = " celsius";
/// Largest number of targets with a sentence.
const SUMMED_UP_MAX: usize = 4;
/// Interval of the monitors, ns.
const SECOND_NS: u64 = 1_000_000_000;

/// Points that ran at the same time, with their start on the time axis in nanoseconds.
struct PointGroupSpan<'v, 'a> {
    from_ns: u64,
    points: Vec<(&'v Load<'a>, &'v Point<'a>)>,
}

/// The section; `None` if no device was monitored and the plan does not implement a test over time.
pub(crate) fn section(view: &View<'_>) -> Option<Section> {
    let words = view.words.timeline;
    let (spans, end_ns) = spans(view);
    let devices = devices(&spans);
    let monitored = monitored(view, &spans, end_ns, &devices);
    if monitored.is_none() && !goes_over_time(view) {
        return None;
    }
    let intro = if monitored.is_some() { words.intro } else { words.intro_alone };
    let pictures = std::iter::once(throughput(view, &spans, end_ns)).chain(monitored);
    let mut blocks = vec![Block::Paragraph(intro.to_owned()), Block::Pictures(pictures.collect())];
    blocks.extend(of_chapter(view, "over-time", sentences(view, &spans, end_ns)));
    Some(Section::new("over-time", words.section, blocks))
}

/// The throughput of the whole run over time.
pub(crate) fn throughput_over_time(view: &View<'_>) -> Picture {
    let (spans, end_ns) = spans(view);
    throughput(view, &spans, end_ns)
}

/// Sentences on the range of the throughput of each target, and its last value.
fn sentences(view: &View<'_>, spans: &[PointGroupSpan<'_, '_>], end_ns: u64) -> Vec<String> {
    let slice = slice_ns(end_ns);
    let of_target = |target: &u32| {
        let marks = spans.iter().flat_map(|span| {
            let valid = span.points.iter().filter(|(_, point)| point.is_valid());
            let points = valid.map(|(load, point)| (*load, *point)).collect();
            rates(view, &PointGroupSpan { from_ns: span.from_ns, points }, *target, slice)
        });
        let values: Vec<f64> = marks.filter_map(|mark| mark.value.known()).collect();
        let low = values.iter().copied().reduce(f64::min)?;
        let high = values.iter().copied().reduce(f64::max)?;
        let words = view.words.timeline;
        let [low, high] = [low, high].map(three_digits);
        let template = if low == high { words.constant } else { words.course };
        let figures = [
            ("target", view.target_name(*target)),
            ("low", low),
            ("high", high),
            ("last", three_digits(*values.last()?)),
        ];
        Some(fill_in(template, &figures))
    };
    let few = view.targets.iter().take(SUMMED_UP_MAX);
    few.filter_map(of_target).collect()
}

/// Groups of points in the order of the plan, and the end of the last one.
fn spans<'v, 'a>(view: &'v View<'a>) -> (Vec<PointGroupSpan<'v, 'a>>, u64) {
    let mut groups: BTreeMap<u32, Vec<(&'v Load<'a>, &'v Point<'a>)>> = BTreeMap::new();
    for (load, point) in view.points() {
        groups.entry(point.record.group).or_default().push((load, point));
    }
    let mut from_ns = 0u64;
    let mut all = Vec::new();
    for points in groups.into_values() {
        let lasts =
            |(_, p): &(_, &Point<'_>)| p.record.warm_up_ns.saturating_add(p.record.duration_ns);
        let length = points.iter().map(lasts).max().unwrap_or(0);
        all.push(PointGroupSpan { from_ns, points });
        from_ns = from_ns.saturating_add(length);
    }
    (all, from_ns)
}

/// Names of the monitored devices.
fn devices<'a>(spans: &[PointGroupSpan<'_, 'a>]) -> BTreeSet<&'a str> {
    let points = spans.iter().flat_map(|span| &span.points);
    let names = points.flat_map(|(_, point)| &point.record.monitors).filter_map(|monitor| {
        monitor.name.strip_suffix(BUSY).or_else(|| monitor.name.strip_suffix(HEAT))
    });
    names.filter(|device| *device != "cpu").collect()
}

fn throughput(view: &View<'_>, spans: &[PointGroupSpan<'_, '_>], end_ns: u64) -> Picture {
    let words = view.words.timeline;
    let slice = slice_ns(end_ns);
    let series = view.targets.iter().enumerate().map(|(colour, target)| {
        let name = if view.compares() { view.target_name(*target) } else { String::new() };
        let marks = spans.iter().flat_map(|span| rates(view, span, *target, slice));
        Series::new(name, colour, marks).drawn(Stroke::Solid, Markers::None)
    });
    Picture {
        id: "time-throughput".to_owned(),
        title: view.marked(words.throughput_title.to_owned()),
        description: words.throughput_description.to_owned(),
        data: data(view, spans),
        origin: view.origin(),
        figure: figure(view, end_ns, view.words.pictures.throughput_y, series),
    }
}

fn figure(
    view: &View<'_>,
    end_ns: u64,
    y_label: &str,
    series: impl IntoIterator<Item = Series>,
) -> Figure {
    let x = (view.words.timeline.x, Horizontal::UpTo(end_ns as f64 / 1e9));
    Figure::new(x, (y_label, Scale::FromZero), series)
}

/// Segments of a point, each with the measured time before it. Time between two segments belongs to
/// other points, so it is not on the axis. A logbook may hold any numbers, and none of them may
/// overflow.
fn segments(record: &PointRecord) -> Vec<(u64, &[IntervalRecord])> {
    let mut before = 0u64;
    let segment = |samples| {
        let begins = before;
        before = before.saturating_add(length_ns(samples));
        (begins, samples)
    };
    record.segments().into_iter().map(segment).collect()
}

/// Total length of samples, ns.
fn length_ns(samples: &[IntervalRecord]) -> u64 {
    samples.iter().map(|sample| sample.length_ns).fold(0, u64::saturating_add)
}

/// Measured time of a point at a moment of real time, ns; `None` between its segments.
fn measured_ns(segments: &[(u64, &[IntervalRecord])], at_ns: u64) -> Option<u64> {
    segments.iter().find_map(|(before, samples)| {
        let (first, last) = (samples.first()?, samples.last()?);
        let end_ns = last.start_ns.saturating_add(last.length_ns);
        let is_in = at_ns >= first.start_ns && at_ns <= end_ns;
        is_in.then(|| before.saturating_add(at_ns - first.start_ns))
    })
}

/// Throughput of a target in each slice of a span. Segments of a point follow one another,
/// separated by gaps in the line.
fn rates(view: &View<'_>, span: &PointGroupSpan<'_, '_>, target: u32, slice_ns: u64) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (_, point) in span.points.iter().filter(|(_, p)| p.record.target == target) {
        let from = span.from_ns.saturating_add(point.record.warm_up_ns);
        let same =
            |a: &IntervalRecord, b: &IntervalRecord| a.start_ns / slice_ns == b.start_ns / slice_ns;
        for (before, samples) in segments(point.record) {
            let begins = samples.first().map_or(0, |first| first.start_ns);
            let of_slice = |slice: &[IntervalRecord]| {
                let (first, last) = (slice.first()?, slice.last()?);
                let bytes: f64 =
                    slice.iter().map(|i| i.read_bytes as f64 + i.written_bytes as f64).sum();
                let end_ns = last.start_ns.saturating_add(last.length_ns);
                let middle = first.start_ns.saturating_sub(begins) as f64
                    + end_ns.saturating_sub(first.start_ns) as f64 / 2.0;
                let rate = bytes / MIB / (length_ns(slice) as f64 / 1e9);
                let value = MarkValue::from(Some(rate).filter(|rate| rate.is_finite()));
                let at = (from.saturating_add(before) as f64 + middle) / 1e9;
                Some(Mark { at, value, points: trace::point_indices(view, point) })
            };
            let at = from.saturating_add(before) as f64 / 1e9;
            marks.push(Mark::at(at, MarkValue::Missing));
            marks.extend(samples.chunk_by(same).filter_map(of_slice));
        }
    }
    if marks.is_empty() {
        marks.push(Mark::at(span.from_ns as f64 / 1e9, MarkValue::Missing));
    }
    marks
}

/// Picture of the utilisation, with the temperature on the right axis; if only one of them was
/// monitored, that one alone.
fn monitored(
    view: &View<'_>,
    spans: &[PointGroupSpan<'_, '_>],
    end_ns: u64,
    devices: &BTreeSet<&str>,
) -> Option<Picture> {
    let words = view.words.timeline;
    let lines = |suffix: &str, word: &str, stroke: Stroke, reduce: fn(&[f64]) -> f64| {
        let line = |(colour, device): (usize, &&str)| {
            let name = format!("{device}{suffix}");
            let marks = spans.iter().flat_map(|span| levels(span, &name, end_ns, reduce));
            let name = fill_in(word, &[("device", (*device).to_owned())]);
            let series = Series::new(name, colour, marks).drawn(stroke, Markers::None);
            series.is_known().then_some(series)
        };
        devices.iter().enumerate().filter_map(line).collect::<Vec<Series>>()
    };
    let busy = lines(BUSY, words.busy, Stroke::Solid, |shares| {
        shares.iter().sum::<f64>() / shares.len() as f64 * 100.0
    });
    let heat =
        lines(HEAT, words.heat, Stroke::Dashed, |all| all.iter().copied().fold(f64::MIN, f64::max));
    let figure = match (busy.is_empty(), heat.is_empty()) {
        (true, true) => return None,
        (true, false) => figure(view, end_ns, words.heat_y, heat),
        (false, true) => figure(view, end_ns, words.busy_y, busy),
        (false, false) => {
            let right = RightAxis { label: words.heat_y.to_owned(), series: heat };
            Figure { right: Some(right), ..figure(view, end_ns, words.busy_y, busy) }
        }
    };
    Some(Picture {
        id: "time-monitors".to_owned(),
        title: view.marked(words.monitor_title.to_owned()),
        description: words.monitor_description.to_owned(),
        data: data(view, spans),
        origin: view.origin(),
        figure,
    })
}

/// Values of a monitor in a span, one per sample.
fn levels(
    span: &PointGroupSpan<'_, '_>,
    name: &str,
    end_ns: u64,
    reduce: fn(&[f64]) -> f64,
) -> Vec<Mark> {
    let slice = slice_ns(end_ns).max(SECOND_NS);
    // Points that ran together were monitored together.
    let monitors = span.points.iter().find_map(|(_, point)| {
        let own = point.record.monitors.iter().filter(|monitor| monitor.name == name);
        let own: Vec<&MonitorRecord> = own.collect();
        (!own.is_empty()).then_some((own, point.record))
    });
    let Some((monitors, record)) = monitors else {
        return vec![Mark::at(span.from_ns as f64 / 1e9, MarkValue::Missing)];
    };
    let segments = segments(record);
    let slices = monitors.chunk_by(|a, b| a.at_ns / slice == b.at_ns / slice);
    let mark = |slice: &[&MonitorRecord]| {
        let values: Vec<f64> = slice.iter().map(|monitor| monitor.value).collect();
        let value = MarkValue::Known(reduce(&values), None);
        let last = slice.last().map_or(0, |last| last.at_ns);
        let at = match segments.len() {
            0 | 1 => last,
            _ => {
                let measured = measured_ns(&segments, last.saturating_sub(record.warm_up_ns))?;
                record.warm_up_ns.saturating_add(measured)
            }
        };
        let at = at.saturating_add(span.from_ns) as f64 / 1e9;
        Some(Mark { at, value, points: vec![record.index] })
    };
    slices.filter_map(mark).collect()
}

/// Data table. Every slice would give hundreds of rows, so it has the values of the points.
fn data(view: &View<'_>, spans: &[PointGroupSpan<'_, '_>]) -> Table {
    let (words, columns) = (view.words.timeline, view.words.columns);
    let points = spans.iter().flat_map(|span| {
        span.points.iter().map(move |(load, point)| (span.from_ns, *load, *point))
    });
    let device = |point: &Point<'_>| crate::section::monitors::device(point.record);
    Rows::from_items(points)
        .number(words.from, "s", |(from_ns, ..)| Cell::head(three_digits(*from_ns as f64 / 1e9)))
        .text(columns.profile, |(_, load, _)| Cell::plain(&*load.title))
        .text(columns.queue_depth, |(_, load, point)| view.at(load, point.record))
        .number(columns.throughput, "MiB/s", |(.., point)| three_digits(point.mib_per_s.value))
        .number(words.busiest, "%", |(.., point)| {
            device(point)[0].map(|share| thousands(share * 100.0, 1))
        })
        .number(words.hottest, "°C", |(.., point)| {
            device(point)[1].map(|celsius| thousands(celsius, 0))
        })
        .traced(view, |(.., point)| trace::point_indices(view, point))
        .data(view)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lang;
    use crate::presentation::Presentation;
    use crate::tests::fixture;

    fn saw(at_s: u64, name: &str, value: f64) -> MonitorRecord {
        MonitorRecord { at_ns: at_s * SECOND_NS, name: name.to_owned(), value }
    }

    fn known(series: &Series) -> Vec<(f64, f64)> {
        let value = |mark: &Mark| match mark.value {
            MarkValue::Known(value, _) => Some((mark.at, value)),
            _ => None,
        };
        series.marks.iter().filter_map(value).collect()
    }

    /// Two points with 1 s warm-up and 3 s: the second begins at 4 s.
    #[test]
    fn timeline_joins_points_and_aligns_monitors_below() {
        let mut points = vec![fixture::one_point(1), fixture::one_point(8)];
        for (nth, point) in points.iter_mut().enumerate() {
            (point.index, point.group) = (nth as u32, nth as u32);
            (point.warm_up_ns, point.duration_ns) = (SECOND_NS, 3 * SECOND_NS);
            let more = nth as f64;
            point.monitors = vec![
                saw(1, "nvme0n1 busy_share", 0.25 + more / 2.0),
                saw(1, "cpu busy_share", 1.0),
                saw(1, "nvme0n1 celsius", 40.0 + more),
                saw(3, "nvme0n1 celsius", 42.0 + more),
            ];
        }
        let (run, presentation) = (fixture::run(1), Presentation::from(Lang::En));
        let view = View::new(&run, &points, None, &presentation);
        let section = section(&view).unwrap();
        let [_, Block::Pictures(pictures), Block::SumUp { sentences, .. }] = &section.blocks[..]
        else {
            panic!("{section:?}")
        };
        let rates = points.iter().flat_map(|point| &point.intervals).map(|interval| {
            let bytes = interval.read_bytes + interval.written_bytes;
            bytes as f64 / 1_048_576.0 / (interval.length_ns as f64 / 1e9)
        });
        let (least, most) = rates.fold((f64::MAX, 0.0_f64), |(l, m), r| (l.min(r), m.max(r)));
        let [least, most] = [least, most].map(crate::number::three_digits);
        let beginning =
            format!("The throughput of nvme0n1 is between {least} MiB/s and {most} MiB/s");
        assert!(sentences[0].starts_with(&beginning), "{beginning}: {}", sentences[0]);
        let seen = &pictures[1].figure;
        assert_eq!(seen.series.len(), 1, "a processor is not a device");
        assert_eq!(known(&seen.series[0]), [(1.0, 25.0), (5.0, 75.0)]);
        let heat = &seen.right.as_ref().unwrap().series[0];
        assert_eq!(known(heat), [(1.0, 40.0), (3.0, 42.0), (5.0, 41.0), (7.0, 43.0)]);
        assert_eq!(heat.marks[2].points, [1]);
        // The bytes under the line are those of the record.
        let line = &pictures[0].figure.series[0];
        let first: Vec<f64> =
            known(line).into_iter().filter(|(at, _)| *at < 4.0).map(|(_, rate)| rate).collect();
        let intervals = &points[0].intervals;
        let bytes: u64 = intervals.iter().map(|i| i.read_bytes + i.written_bytes).sum();
        let seconds = intervals.iter().map(|i| i.length_ns).sum::<u64>() as f64 / 1e9;
        let mean = first.iter().sum::<f64>() / first.len() as f64;
        assert!((mean * MIB * seconds / bytes as f64 - 1.0).abs() < 0.01, "{mean}");
        assert!(known(line).iter().all(|(at, _)| *at > 1.0), "nothing in the warm-up");
    }

    /// Two points with interleaved segments of a second: a sample of the second segment is nine
    /// seconds after the first, but not on the axis.
    #[test]
    fn timeline_of_interleaved_segments_is_monotonic() {
        let mut points = vec![fixture::one_point(1), fixture::one_point(8)];
        for (nth, point) in points.iter_mut().enumerate() {
            (point.index, point.group) = (nth as u32, nth as u32);
            (point.warm_up_ns, point.duration_ns) = (0, 2 * SECOND_NS);
            let sample = point.intervals[0].clone();
            let at =
                |start_ns| IntervalRecord { start_ns, length_ns: SECOND_NS / 4, ..sample.clone() };
            let segment = |begins: u64| (0..4).map(move |n| begins + n * SECOND_NS / 4);
            point.intervals = segment(0).chain(segment(9 * SECOND_NS)).map(at).collect();
            point.monitors = vec![
                saw(1, "nvme0n1 busy_share", 0.5),
                saw(5, "nvme0n1 busy_share", 0.9),
                saw(10, "nvme0n1 busy_share", 0.6),
            ];
        }
        let (run, presentation) = (fixture::run(1), Presentation::from(Lang::En));
        let view = View::new(&run, &points, None, &presentation);
        let section = section(&view).unwrap();
        let [_, Block::Pictures(pictures), _] = &section.blocks[..] else { panic!("{section:?}") };
        for picture in pictures {
            let times: Vec<f64> = picture.figure.series[0].marks.iter().map(|m| m.at).collect();
            assert!(times.is_sorted() && times.iter().all(|at| *at <= 4.0), "{times:?}");
        }
        let line = known(&pictures[0].figure.series[0]);
        assert_eq!(line.len(), 16);
        // Monitored values during the other point's segments do not belong to this one.
        let busy = known(&pictures[1].figure.series[0]);
        assert_eq!(busy, [(1.0, 50.0), (2.0, 60.0), (3.0, 50.0), (4.0, 60.0)]);
        let gaps = |marks: &[Mark]| {
            marks.iter().filter(|mark| matches!(mark.value, MarkValue::Missing)).count()
        };
        assert_eq!(gaps(&pictures[0].figure.series[0].marks), 4, "a gap before each segment");
    }

    /// A logbook from elsewhere: samples end after the end of time, and go backwards.
    #[test]
    fn extreme_sample_times_do_not_overflow() {
        let mut point = fixture::one_point(1);
        let sample = point.intervals[0].clone();
        let at = |(start_ns, length_ns)| IntervalRecord { start_ns, length_ns, ..sample.clone() };
        let samples = [(0, 1), (u64::MAX, u64::MAX), (u64::MAX - 1, u64::MAX), (5, u64::MAX)];
        point.intervals = samples.into_iter().map(at).collect();
        point.warm_up_ns = u64::MAX - 3;
        let late = MonitorRecord { at_ns: u64::MAX, ..saw(0, "nvme0n1 busy_share", 0.5) };
        point.monitors = vec![saw(1, "nvme0n1 busy_share", 0.5), late];
        let (run, presentation) = (fixture::run(1), Presentation::from(Lang::En));
        let points = vec![point];
        let section = section(&View::new(&run, &points, None, &presentation)).unwrap();
        let Block::Pictures(pictures) = &section.blocks[1] else { panic!("{section:?}") };
        let times = pictures.iter().flat_map(|picture| &picture.figure.series[0].marks);
        assert!(times.map(|mark| mark.at).all(f64::is_finite));
    }

    #[test]
    fn unmonitored_device_has_no_timeline() {
        let (run, presentation) = (fixture::run(1), Presentation::from(Lang::En));
        let mut points = vec![fixture::one_point(1)];
        assert!(section(&View::new(&run, &points, None, &presentation)).is_none());
        points[0].monitors = vec![saw(1, "cpu busy_share", 1.0)];
        assert!(section(&View::new(&run, &points, None, &presentation)).is_none());
    }
}
