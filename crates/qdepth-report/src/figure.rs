//! Diagrams: lines over outstanding I/Os, each point with its interval. Drawn by kuva, which stays
//! behind this module.
//!
//! A picture is a complete SVG in the colours of [`PALETTE`]: it can stand alone or in print. A
//! page that wants other colours (dark mode) restyles the attributes with its own style sheet.

use std::fmt::Write as _;
use std::sync::Arc;

use kuva::prelude::{
    Layout, LegendEntry, LegendPosition, LegendShape, LinePlot, LineStyle, MarkerShape, Plot,
    ScatterPlot, SvgBackend, Theme,
};
use kuva::render::layout::TickFormat;
use kuva::render::render::render_multiple;

use crate::number;

/// Colours that stay apart for colour-blind readers and in grey (after Okabe and Ito 2008,
/// darkened for thin lines on white).
pub const PALETTE: [&str; 6] = ["#0b5c9e", "#c8500a", "#00795c", "#a1447f", "#7a6a00", "#444b54"];
/// Axes and text.
pub const INK: &str = "#33373d";
/// Grid lines.
pub const GRID: &str = "#e3e5e8";
/// The ground: covers a line below a hollow marker.
pub const PAPER: &str = "#fffffe";

const MARKERS: [MarkerShape; 6] = [
    MarkerShape::Circle,
    MarkerShape::Square,
    MarkerShape::Diamond,
    MarkerShape::Triangle,
    MarkerShape::TriangleDown,
    MarkerShape::Pentagon,
];
const FONT: &str = "Source Sans 3, Source Sans Pro, Inter, Segoe UI, Helvetica Neue, Liberation Sans, Arial, sans-serif";
const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 350.0;

/// A line diagram over the number of outstanding I/Os.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Words below the horizontal axis.
    pub x_label: String,
    /// Words beside the vertical axis, with the unit.
    pub y_label: String,
    /// The vertical axis.
    pub y_scale: Scale,
    /// The load intensities that have a place on the horizontal axis, ascending.
    pub intensities: Vec<u32>,
    /// The lines.
    pub series: Vec<Series>,
}

/// A vertical axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Linear, from 0.
    FromZero,
    /// Logarithmic.
    Log,
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the legend; empty: none.
    pub name: String,
    /// Which colour and marker, counted from 0.
    pub colour: usize,
    /// How it is drawn.
    pub stroke: Stroke,
    /// Its points, by ascending intensity.
    pub marks: Vec<Mark>,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// Full.
    Solid,
    /// Dashes.
    Dashed,
    /// Dots.
    Dotted,
}

/// A point of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// The load intensity.
    pub outstanding: u32,
    /// What is known there.
    pub value: MarkValue,
}

/// What is known at an intensity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MarkValue {
    /// A value, with its interval if there is one.
    Known(f64, Option<(f64, f64)>),
    /// Measured, and not valid.
    Invalid,
    /// Not measured.
    Missing,
}

impl Figure {
    /// Whether there is anything to draw.
    pub fn is_empty(&self) -> bool {
        self.values().next().is_none()
    }

    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.series.iter().flat_map(|s| &s.marks).filter_map(|mark| match mark.value {
            MarkValue::Known(value, interval) => Some(interval.map_or(value, |(_, high)| high)),
            _ => None,
        })
    }

    /// The picture as SVG, with a title and a description for those who cannot see it. `id` must
    /// be unique on the page.
    pub fn svg(&self, id: &str, title: &str, description: &str) -> String {
        let mut plots = Vec::new();
        for series in &self.series {
            self.draw(series, &mut plots);
        }
        let layout = self.layout(&plots);
        let svg = SvgBackend::new().render_scene(&render_multiple(plots, layout));
        accessible(&svg, id, title, description)
    }

    fn layout(&self, plots: &[Plot]) -> Layout {
        let first = f64::from(self.intensities.first().copied().unwrap_or(1)).log2();
        let last = f64::from(self.intensities.last().copied().unwrap_or(1)).log2();
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
        let layout = Layout::auto_from_plots(plots)
            .with_theme(theme)
            .with_font_family(FONT)
            .with_width(WIDTH)
            .with_height(HEIGHT)
            .with_x_label(self.x_label.as_str())
            .with_y_label(self.y_label.as_str())
            .with_label_size(13)
            .with_tick_size(12)
            .with_body_size(12)
            .with_axis_line_width(1.0)
            .with_grid_line_width(0.8)
            .with_x_axis_min(first - 0.25)
            .with_x_axis_max(last + 0.25)
            .with_x_tick_step(1.0)
            .with_x_tick_format(TickFormat::Custom(Arc::new(power_of_two)))
            .with_legend_entries(self.legend())
            .with_legend_position(LegendPosition::OutsideBottomColumns)
            .with_legend_box(false);
        self.with_y_axis(layout)
    }

    fn with_y_axis(&self, layout: Layout) -> Layout {
        let largest = self.values().fold(0.0, f64::max);
        match self.y_scale {
            Scale::FromZero => {
                let step = tick_step(largest);
                let top = (largest * 1.02 / step).ceil().max(1.0) * step;
                layout
                    .with_y_axis_min(0.0)
                    .with_y_axis_max(top)
                    .with_y_tick_step(step)
                    .with_y_tick_format(TickFormat::Custom(Arc::new(plain_number)))
            }
            Scale::Log => layout.with_log_y().with_y_tick_format(TickFormat::Custom(Arc::new(plain_number))),
        }
    }

    fn legend(&self) -> Vec<LegendEntry> {
        let named = self.series.iter().filter(|series| !series.name.is_empty());
        named
            .map(|series| LegendEntry {
                label: series.name.clone(),
                color: colour(series.colour).to_owned(),
                shape: LegendShape::Line,
                dasharray: series.stroke.style().dasharray(),
            })
            .collect()
    }

    fn draw(&self, series: &Series, plots: &mut Vec<Plot>) {
        let colour = colour(series.colour);
        for stretch in stretches(&series.marks) {
            let line = LinePlot::new()
                .with_data(stretch)
                .with_color(colour)
                .with_stroke_width(1.8)
                .with_line_style(series.stroke.style());
            plots.push(Plot::Line(line));
        }
        let (mut solid, mut errors, mut hollow, mut crosses) = (vec![], vec![], vec![], vec![]);
        for mark in &series.marks {
            let x = f64::from(mark.outstanding.max(1)).log2();
            match mark.value {
                MarkValue::Known(y, Some((low, high))) => {
                    solid.push((x, y));
                    errors.push((y - low, high - y));
                }
                MarkValue::Known(y, None) => hollow.push((x, y)),
                MarkValue::Invalid if self.y_scale == Scale::FromZero => crosses.push((x, 0.0)),
                MarkValue::Invalid | MarkValue::Missing => {}
            }
        }
        let shape = MARKERS[series.colour % MARKERS.len()];
        let marks = |data: Vec<(f64, f64)>, colour: &str, size: f64| {
            ScatterPlot::new().with_data(data).with_color(colour).with_size(size).with_marker(shape)
        };
        if !solid.is_empty() {
            plots.push(Plot::Scatter(marks(solid, colour, 3.6).with_y_err_asymmetric(errors)));
        }
        if !hollow.is_empty() {
            plots.push(Plot::Scatter(marks(hollow.clone(), PAPER, 3.6)));
            let ring = marks(hollow, colour, 3.2).with_marker_opacity(0.0);
            plots.push(Plot::Scatter(ring.with_marker_stroke_width(1.4)));
        }
        if !crosses.is_empty() {
            plots.push(Plot::Scatter(marks(crosses, colour, 4.5).with_marker(MarkerShape::Cross)));
        }
    }
}

impl Stroke {
    fn style(self) -> LineStyle {
        match self {
            Self::Solid => LineStyle::Solid,
            Self::Dashed => LineStyle::Dashed,
            Self::Dotted => LineStyle::Dotted,
        }
    }
}

fn colour(index: usize) -> &'static str {
    PALETTE[index % PALETTE.len()]
}

/// Known values without a gap between them: a line never bridges what was not measured.
fn stretches(marks: &[Mark]) -> Vec<Vec<(f64, f64)>> {
    let mut all = vec![Vec::new()];
    for mark in marks {
        match (mark.value, all.last_mut()) {
            (MarkValue::Known(y, _), Some(last)) => {
                last.push((f64::from(mark.outstanding.max(1)).log2(), y));
            }
            _ => all.push(Vec::new()),
        }
    }
    all.retain(|stretch| stretch.len() > 1);
    all
}

fn power_of_two(exponent: f64) -> String {
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

/// Gives the root element a view box instead of a fixed size, a role, a title and a description.
fn accessible(svg: &str, id: &str, title: &str, description: &str) -> String {
    let Some((root, body)) = svg.split_once('>') else { return String::new() };
    let size = |name: &str| {
        let value = root.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split_once('"'));
        value.map_or("100", |(value, _)| value)
    };
    let body = body.split_once("-->").map_or(body, |(_, rest)| rest);
    let mut out = String::new();
    let (width, height) = (size("width"), size("height"));
    // Writing into a String cannot fail.
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"{FONT}\" fill=\"{INK}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\
         <title id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>{body}",
        escaped(title),
        escaped(description),
    );
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
