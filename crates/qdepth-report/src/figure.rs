//! Diagrams: lines over outstanding I/Os, each point with its interval. Drawn by kuva, which stays
//! behind this module.
//!
//! A picture is a complete SVG in the colours of [`PALETTE`]: it can stand alone or in print. A
//! page that wants other colours (dark mode) restyles the attributes with its own style sheet.

use std::fmt::Write as _;
use std::sync::Arc;

use kuva::prelude::{
    Layout, LinePlot, LineStyle, MarkerShape, Plot, ScatterPlot, SvgBackend, Theme,
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
const HEIGHT: f64 = 330.0;
const LEGEND_LEFT: f64 = 62.0;
const LEGEND_ROW: f64 = 19.0;
/// The markers again, as paths around the origin.
const OUTLINES: [&str; 6] = [
    "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z",
    "M-3 -3h6v6h-6z",
    "M0 -4l4 4l-4 4l-4 -4z",
    "M0 -3.6l3.6 6h-7.2z",
    "M0 3.6l3.6 -6h-7.2z",
    "M0 -3.6l3.4 2.5l-1.3 4h-4.2l-1.3 -4z",
];

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
    /// How its points are marked.
    pub markers: Markers,
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
    /// No line: points alone.
    None,
}

/// How the points of a line are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markers {
    /// Alike.
    Plain,
    /// A point without an interval by a hollow marker.
    HollowWithoutInterval,
    /// Not at all.
    None,
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
        accessible(&svg, self.legend(), id, title, description)
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
            .with_x_tick_format(TickFormat::Custom(Arc::new(power_of_two)));
        self.with_y_axis(layout)
    }

    fn with_y_axis(&self, layout: Layout) -> Layout {
        let layout = layout.with_y_tick_format(TickFormat::Custom(Arc::new(plain_number)));
        match self.y_scale {
            Scale::FromZero => layout
                .with_y_axis_min(0.0)
                .with_y_axis_max(self.top())
                .with_y_tick_step(tick_step(self.largest())),
            Scale::Log => layout.with_log_y(),
        }
    }

    fn largest(&self) -> f64 {
        self.values().fold(0.0, f64::max)
    }

    /// Where a vertical axis from zero ends: at a whole step.
    fn top(&self) -> f64 {
        let step = tick_step(self.largest());
        (self.largest() * 1.02 / step).ceil().max(1.0) * step
    }

    /// Lines with their names, in rows below the picture, and the height that they take. Own work:
    /// the swatches of kuva are too short to tell dashes from dots.
    fn legend(&self) -> (String, f64) {
        let named: Vec<&Series> = self.series.iter().filter(|s| !s.name.is_empty()).collect();
        let longest = named.iter().map(|s| s.name.chars().count()).max().unwrap_or(0) as f64;
        let width = 40.0 + longest * 6.6 + 14.0;
        let columns = (((WIDTH - LEGEND_LEFT) / width) as usize).max(1);
        // Six lines stand better in two rows of three than in four and two.
        let columns = if columns > 3 && named.len().is_multiple_of(3) { 3 } else { columns };
        let mut out = String::new();
        for (index, series) in named.iter().enumerate() {
            let x = LEGEND_LEFT + (index % columns) as f64 * width;
            let y = HEIGHT + 16.0 + (index / columns) as f64 * LEGEND_ROW;
            let colour = colour(series.colour);
            let line = series.stroke.style().map_or_else(String::new, |style| {
                let dashes = style
                    .dasharray()
                    .map_or_else(String::new, |dashes| format!(" stroke-dasharray=\"{dashes}\""));
                format!("<path d=\"M0 0H30\" stroke=\"{colour}\" stroke-width=\"1.8\"{dashes}/>")
            });
            let marker = if series.markers == Markers::None {
                String::new()
            } else {
                let outline = OUTLINES[series.colour % OUTLINES.len()];
                format!("<path d=\"{outline}\" transform=\"translate(15 0)\" fill=\"{colour}\"/>")
            };
            // Writing into a String cannot fail.
            let _ = write!(
                out,
                "<g transform=\"translate({x:.1} {y:.1})\">{line}{marker}\
                 <text x=\"37\" y=\"4\" font-size=\"12\">{}</text></g>",
                escaped(&series.name),
            );
        }
        (out, named.len().div_ceil(columns) as f64 * LEGEND_ROW + 12.0)
    }

    fn draw(&self, series: &Series, plots: &mut Vec<Plot>) {
        let colour = colour(series.colour);
        if let Some(style) = series.stroke.style() {
            for stretch in stretches(&series.marks) {
                let line = LinePlot::new()
                    .with_data(stretch)
                    .with_color(colour)
                    .with_stroke_width(1.8)
                    .with_line_style(style.clone());
                plots.push(Plot::Line(line));
            }
        }
        if series.markers != Markers::None {
            self.draw_markers(series, colour, plots);
        }
    }

    fn draw_markers(&self, series: &Series, colour: &str, plots: &mut Vec<Plot>) {
        let (mut solid, mut errors) = (vec![], vec![]);
        let (mut plain, mut hollow, mut crosses) = (vec![], vec![], vec![]);
        for mark in &series.marks {
            let x = f64::from(mark.outstanding.max(1)).log2();
            match mark.value {
                MarkValue::Known(y, Some((low, high))) => {
                    solid.push((x, y));
                    errors.push((y - low, high - y));
                }
                MarkValue::Known(y, None) if series.markers == Markers::HollowWithoutInterval => {
                    hollow.push((x, y));
                }
                MarkValue::Known(y, None) => plain.push((x, y)),
                // A little above the axis, where nothing cuts it off.
                MarkValue::Invalid if self.y_scale == Scale::FromZero => {
                    crosses.push((x, self.top() * 0.022));
                }
                MarkValue::Invalid | MarkValue::Missing => {}
            }
        }
        let shape = MARKERS[series.colour % MARKERS.len()];
        let marks = |data: Vec<(f64, f64)>, colour: &str, size: f64| {
            ScatterPlot::new().with_data(data).with_color(colour).with_size(size).with_marker(shape)
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
        if !crosses.is_empty() {
            plots.push(Plot::Scatter(marks(crosses, colour, 4.5).with_marker(MarkerShape::Cross)));
        }
    }
}

impl Stroke {
    fn style(self) -> Option<LineStyle> {
        Some(match self {
            Self::Solid => LineStyle::Solid,
            Self::Dashed => LineStyle::Dashed,
            Self::Dotted => LineStyle::Dotted,
            Self::None => return None,
        })
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
fn accessible(
    svg: &str,
    (legend, legend_height): (String, f64),
    id: &str,
    title: &str,
    description: &str,
) -> String {
    let Some((root, body)) = svg.split_once('>') else { return String::new() };
    let size = |name: &str| {
        let value =
            root.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split_once('"'));
        value.map_or("100", |(value, _)| value)
    };
    let body = body.split_once("-->").map_or(body, |(_, rest)| rest);
    let body = own_names(body, id);
    let mut out = String::new();
    let (width, height) = (size("width"), HEIGHT + legend_height);
    let body = body.trim_end().trim_end_matches("</svg>");
    // Writing into a String cannot fail.
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"{FONT}\" fill=\"{INK}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\
         <title id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>{body}{legend}</svg>",
        escaped(title),
        escaped(description),
    );
    out
}

/// kuva numbers its clip paths through the life of the process: pictures would differ from one
/// rendering to the next, and two on a page could share a name.
fn own_names(svg: &str, id: &str) -> String {
    const PREFIX: &str = "kuva-clip-";
    let mut parts = svg.split(PREFIX);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let _ = write!(out, "{id}-clip{}", part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
