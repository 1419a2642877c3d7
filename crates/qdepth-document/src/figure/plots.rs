//! Conversion of a diagram to kuva's plots: axes, lines and marks.

use std::sync::Arc;

use kuva::prelude::{BarPlot, Layout, LinePlot, MarkerShape, Plot, ScatterPlot, Theme};
use kuva::render::layout::TickFormat;

use super::groups;
use super::series::{
    FONT, Figure, GRID, HEIGHT, Horizontal, INK, Mark, MarkValue, Markers, PAPER, RightAxis, Scale,
    Series, WIDTH, colour, opacity,
};
use crate::number;

const MARKERS: [MarkerShape; 6] = [
    MarkerShape::Circle,
    MarkerShape::Square,
    MarkerShape::Diamond,
    MarkerShape::Triangle,
    MarkerShape::TriangleDown,
    MarkerShape::Pentagon,
];

/// Number of marks above which a line gets small ones: large marks would hide each other and the
/// line.
const CROWDED: usize = 40;

/// Number of marks above which a picture has no tooltips. Its data table has the values, and a page
/// of a thousand points stays small.
const TOO_MANY: usize = 400;

/// Half the width of a cell of a heat map of 60 columns and about 36 rows.
const CELL: f64 = 3.6;

/// Minimum extent of an axis around 1, to both sides. Differences below half of a comparison's
/// default threshold (2 %) then look equal.
const REACH_MIN: f64 = 0.01;

impl Figure {
    pub(super) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        values(&self.series)
    }

    /// Names of the groups of bars; `None` for a line diagram.
    pub(super) fn groups(&self) -> Option<&[String]> {
        match &self.x_axis {
            Horizontal::Groups(names) => Some(names),
            Horizontal::Intensities(_) | Horizontal::UpTo(_) => None,
        }
    }

    pub(super) fn layout(&self, plots: &[Plot]) -> Layout {
        let theme = Theme {
            background: "none".into(),
            axis_color: INK.into(),
            grid_color: GRID.into(),
            tick_color: INK.into(),
            text_color: INK.into(),
            legend_bg: "none".into(),
            legend_border: "none".into(),
            ..Theme::light()
        };
        let mut layout = Layout::auto_from_plots(plots);
        // Without data, kuva's range is infinite, and its loop over ticks would overflow.
        for range in [&mut layout.x_range, &mut layout.y_range] {
            if !(range.0.is_finite() && range.1.is_finite()) {
                *range = (1.0, 10.0);
            }
        }
        let layout = layout
            .with_theme(theme)
            .with_font_family(FONT)
            .with_width(WIDTH)
            .with_height(HEIGHT)
            .with_label_size(13)
            .with_tick_size(12)
            .with_body_size(12)
            .with_axis_line_width(1.0)
            .with_grid_line_width(0.8);
        self.with_y_axis(self.with_x_axis(layout))
    }

    fn with_x_axis(&self, layout: Layout) -> Layout {
        match &self.x_axis {
            Horizontal::Intensities(intensities) => {
                let coordinate =
                    |intensity: Option<&u32>| f64::from(*intensity.unwrap_or(&1)).log2();
                layout
                    .with_x_axis_min(coordinate(intensities.first()) - 0.25)
                    .with_x_axis_max(coordinate(intensities.last()) + 0.25)
                    .with_x_tick_step(1.0)
                    .with_x_tick_format(TickFormat::Custom(Arc::new(power_of_two)))
            }
            Horizontal::UpTo(end) => layout
                .with_x_axis_min(0.0)
                .with_x_axis_max(*end)
                .with_x_tick_step(tick_step(*end))
                .with_x_tick_format(TickFormat::Custom(Arc::new(plain_number))),
            Horizontal::Groups(_) => layout,
        }
    }

    /// Bar plot of the groups; unknown values have no bar.
    pub(super) fn bars(&self, names: &[String]) -> BarPlot {
        let (mut plot, mut errors) = (BarPlot::new(), Vec::new());
        for index in 0..names.len() {
            let value = |series: &Series| match series.marks.get(index).map(|mark| mark.value) {
                Some(MarkValue::Known(value, interval)) => (value, interval),
                _ => (0.0, None),
            };
            let bars = self.series.iter().map(|series| (value(series).0, colour(series.colour)));
            plot = plot.with_group(groups::placeholder(index), bars.collect::<Vec<_>>());
            errors.extend(self.series.iter().map(value).map(|(value, interval)| {
                interval.map_or((0.0, 0.0), |(low, high)| (value - low, high - value))
            }));
        }
        if errors.iter().any(|(low, high)| low + high > 0.0) {
            plot = plot.with_asymmetric_error(errors).with_error_color(INK);
        }
        plot
    }

    /// Position of a mark on the horizontal axis as drawn.
    fn horizontal(&self, mark: &Mark) -> f64 {
        match self.x_axis {
            Horizontal::Intensities(_) => mark.at.max(1.0).log2(),
            Horizontal::UpTo(_) | Horizontal::Groups(_) => mark.at,
        }
    }

    fn with_y_axis(&self, layout: Layout) -> Layout {
        let layout = layout.with_y_tick_format(TickFormat::Custom(Arc::new(plain_number)));
        match self.y_scale {
            Scale::FromZero => layout
                .with_y_axis_min(0.0)
                .with_y_axis_max(top(self.largest()))
                .with_y_tick_step(tick_step(self.largest())),
            // Without a positive value, there is nothing to take a logarithm of.
            Scale::Log if self.largest() > 0.0 => layout.with_log_y(),
            Scale::Log => layout,
            Scale::AroundOne => {
                let extent = self.extent_around_one().max(REACH_MIN);
                let step = tick_step(extent);
                let end = (extent * 1.02 / step).ceil().max(1.0) * step;
                layout
                    .with_y_axis_min((1.0 - end).max(0.0))
                    .with_y_axis_max(1.0 + end)
                    .with_y_tick_step(step)
            }
        }
    }

    /// Largest distance of values and intervals from 1.
    fn extent_around_one(&self) -> f64 {
        let marks = self.series.iter().flat_map(|series| &series.marks);
        let far = marks.map(|mark| match mark.value {
            MarkValue::Known(value, interval) => {
                let (low, high) = interval.unwrap_or((value, value));
                (1.0 - low).max(high - 1.0)
            }
            _ => 0.0,
        });
        far.fold(0.0, f64::max)
    }

    fn largest(&self) -> f64 {
        self.values().fold(0.0, f64::max)
    }

    pub(super) fn plots(&self, series: &[Series]) -> Vec<Plot> {
        let mut plots = Vec::new();
        for series in series {
            self.draw(series, &mut plots);
        }
        plots
    }

    pub(super) fn draw(&self, series: &Series, plots: &mut Vec<Plot>) {
        let colour = colour(series.colour);
        if let Some(style) = series.stroke.style() {
            for run in self.known_runs(&series.marks) {
                let line = LinePlot::new()
                    .with_data(run)
                    .with_color(colour)
                    .with_stroke_width(1.8)
                    .with_line_style(style.clone());
                plots.push(Plot::Line(line));
            }
        }
        if let Markers::Shade(shade) = series.markers {
            let cells = series.marks.iter().filter_map(|mark| match mark.value {
                MarkValue::Known(y, _) => Some((self.horizontal(mark), y)),
                _ => None,
            });
            let cells = ScatterPlot::new().with_data(cells.collect::<Vec<_>>()).with_color(colour);
            plots.push(Plot::Scatter(cells.with_size(CELL).with_marker_opacity(opacity(shade))));
        } else if series.markers != Markers::None {
            self.draw_markers(series, colour, plots);
        }
    }

    /// Runs of consecutive known values: a line never bridges a missing point.
    pub(super) fn known_runs(&self, marks: &[Mark]) -> Vec<Vec<(f64, f64)>> {
        let mut all = vec![Vec::new()];
        for mark in marks {
            match (mark.value, all.last_mut()) {
                (MarkValue::Known(y, _), Some(last)) => last.push((self.horizontal(mark), y)),
                _ => all.push(Vec::new()),
            }
        }
        all.retain(|stretch| stretch.len() > 1);
        all
    }

    fn draw_markers(&self, series: &Series, colour: &str, plots: &mut Vec<Plot>) {
        let mut errors = vec![];
        let marks = self.series.iter().map(|series| series.marks.len());
        let say_what_they_are = marks.sum::<usize>() <= TOO_MANY;
        let crowded = series.marks.len() > CROWDED;
        let [mut solid, mut plain, mut hollow, mut crosses, mut rings] =
            [const { Vec::<((f64, f64), String)>::new() }; 5];
        for mark in &series.marks {
            let x = self.horizontal(mark);
            let label = if say_what_they_are { self.tooltip(series, mark) } else { String::new() };
            match mark.value {
                MarkValue::Known(y, Some((low, high))) => {
                    solid.push(((x, y), label));
                    errors.push((y - low, high - y));
                }
                MarkValue::Known(y, None) => match series.markers {
                    Markers::HollowWithoutInterval if !crowded => hollow.push(((x, y), label)),
                    Markers::Rings => rings.push(((x, y), label)),
                    _ => plain.push(((x, y), label)),
                },
                // Slightly above the axis, so that the cross is not clipped.
                MarkValue::Invalid if self.y_scale == Scale::FromZero => {
                    crosses.push(((x, top(self.largest()) * 0.022), label));
                }
                MarkValue::Invalid | MarkValue::Missing => {}
            }
        }
        let shape = MARKERS[series.colour % MARKERS.len()];
        let marks = |data: Vec<((f64, f64), String)>, colour: &str, size: f64| {
            let (data, labels): (Vec<(f64, f64)>, Vec<String>) = data.into_iter().unzip();
            let size = if crowded { size / 3.0 } else { size };
            let marks = ScatterPlot::new().with_data(data).with_color(colour).with_size(size);
            let marks = marks.with_marker(shape);
            // The white fill below a hollow marker needs no tooltip: the marker has one.
            let says = say_what_they_are && colour != PAPER;
            if says { marks.with_tooltip_labels(labels) } else { marks }
        };
        if !solid.is_empty() {
            plots.push(Plot::Scatter(marks(solid, colour, 3.1).with_y_err_asymmetric(errors)));
        }
        if !plain.is_empty() {
            plots.push(Plot::Scatter(marks(plain, colour, 2.8)));
        }
        if !hollow.is_empty() {
            plots.push(Plot::Scatter(marks(hollow.clone(), PAPER, 3.6)));
            let ring = marks(hollow, colour, 3.2).with_marker_opacity(0.0);
            plots.push(Plot::Scatter(ring.with_marker_stroke_width(1.4)));
        }
        if !rings.is_empty() {
            let ring = marks(rings, colour, 7.0).with_marker(MarkerShape::Circle);
            let ring = ring.with_marker_opacity(0.0).with_marker_stroke_width(1.4);
            plots.push(Plot::Scatter(ring));
        }
        if !crosses.is_empty() {
            plots.push(Plot::Scatter(marks(crosses, colour, 4.5).with_marker(MarkerShape::Cross)));
        }
    }
}

impl Figure {
    /// Tooltip of a mark: series, position, value, interval.
    fn tooltip(&self, series: &Series, mark: &Mark) -> String {
        let unit = self.y_label.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        // A label of one word, for example `IOPS`, is its own unit.
        let whole = if self.y_label.contains(' ') { "" } else { self.y_label.as_str() };
        let unit = unit.map_or(whole, |(unit, _)| unit);
        let at = match &self.x_axis {
            Horizontal::Intensities(_) => number::thousands(mark.at, 0),
            Horizontal::UpTo(_) => number::three_digits(mark.at),
            Horizontal::Groups(names) => names.get(mark.at as usize).cloned().unwrap_or_default(),
        };
        let name =
            if series.name.is_empty() { String::new() } else { format!("{}: ", series.name) };
        let value = match mark.value {
            MarkValue::Known(value, interval) => {
                let [value, low, high] =
                    [value, interval.map_or(value, |i| i.0), interval.map_or(value, |i| i.1)]
                        .map(number::three_digits);
                let interval = interval.map_or_else(String::new, |_| format!(" ({low} – {high})"));
                format!("{value} {unit}{interval}")
            }
            MarkValue::Invalid | MarkValue::Missing => "–".to_owned(),
        };
        format!("{name}{value}, {} {at}", self.x_label)
    }
}

impl RightAxis {
    pub(super) fn on(&self, layout: Layout) -> Layout {
        layout
            .with_y2_label(self.label.as_str())
            .with_y2_tick_format(TickFormat::Custom(Arc::new(plain_number)))
            .with_y2_axis_min(0.0)
            .with_y2_axis_max(top(values(&self.series).fold(0.0, f64::max)))
    }
}

fn values(series: &[Series]) -> impl Iterator<Item = f64> + '_ {
    series.iter().flat_map(|s| &s.marks).filter_map(|mark| match mark.value {
        MarkValue::Known(value, interval) => Some(interval.map_or(value, |(_, high)| high)),
        _ => None,
    })
}

/// Upper end of an axis that starts at zero, rounded up to a tick.
fn top(largest: f64) -> f64 {
    let step = tick_step(largest);
    (largest * 1.02 / step).ceil().max(1.0) * step
}

pub(super) fn power_of_two(exponent: f64) -> String {
    let fits = (exponent - exponent.round()).abs() < 1e-6 && exponent > -0.5;
    if fits { number::thousands(exponent.exp2(), 0) } else { String::new() }
}

fn plain_number(value: f64) -> String {
    let decimals = (0..=3).find(|d| {
        let scaled = value * 10f64.powi(*d);
        (scaled - scaled.round()).abs() < 1e-6
    });
    number::thousands(value, decimals.unwrap_or(3) as usize)
}

/// 1, 2, 2.5 or 5 times a power of ten, for five to eight lines.
fn tick_step(largest: f64) -> f64 {
    if largest <= 0.0 || !largest.is_finite() {
        return 1.0;
    }
    let raw = largest / 6.0;
    let power = 10f64.powf(raw.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|f| f * power >= raw * 0.999);
    factor.unwrap_or(10.0) * power
}
