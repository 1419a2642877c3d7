//! Parts of a diagram: axes, lines, marks, colours.

use kuva::prelude::LineStyle;

/// Colours that colour-blind readers can distinguish, also in greyscale (after Okabe and Ito 2008,
/// darkened for thin lines on white).
pub const PALETTE: [&str; 6] = ["#0b5c9e", "#c8500a", "#00795c", "#a1447f", "#7a6a00", "#444b54"];
/// Axes and text.
pub const INK: &str = "#33373d";
/// Grid lines.
pub const GRID: &str = "#e3e5e8";
/// Background colour, which covers a line below a hollow marker.
pub const PAPER: &str = "#fffffe";
/// Font families of all pictures, in order of preference.
pub const FONT: &str = "Source Sans 3, Source Sans Pro, Inter, Segoe UI, Helvetica Neue, \
                        Liberation Sans, Arial, Noto Sans CJK JP, sans-serif";
/// Width of a single diagram.
pub(super) const WIDTH: f64 = 520.0;
/// Height of a single diagram.
pub(super) const HEIGHT: f64 = 270.0;

/// A line diagram.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Label of the horizontal axis.
    pub x_label: String,
    /// The horizontal axis.
    pub x_axis: Horizontal,
    /// Label of the vertical axis, with its unit.
    pub y_label: String,
    /// The vertical axis.
    pub y_scale: Scale,
    /// The lines.
    pub series: Vec<Series>,
    /// Second vertical axis on the right, with its own series.
    pub right: Option<RightAxis>,
    /// Names of panels for a diagram with too many lines: one small diagram for each colour, in
    /// which the others are grey. Empty for a single diagram.
    pub panels: Vec<String>,
}

impl Figure {
    /// Single diagram with one vertical axis: label and axis below, label and scale on the left.
    pub fn new(
        x: (&str, Horizontal),
        y: (impl Into<String>, Scale),
        series: impl IntoIterator<Item = Series>,
    ) -> Self {
        Self {
            x_label: x.0.to_owned(),
            x_axis: x.1,
            y_label: y.0.into(),
            y_scale: y.1,
            series: series.into_iter().collect(),
            right: None,
            panels: Vec::new(),
        }
    }
}

/// A horizontal axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Horizontal {
    /// Queue depths in ascending order, on a logarithmic scale: powers of two are equidistant.
    Intensities(Vec<u32>),
    /// Linear, from 0 to this.
    UpTo(f64),
    /// Groups of bars with these names. Each series has a bar in every group, whose marks are at
    /// positions 0, 1 …
    Groups(Vec<String>),
}

/// A vertical axis on the right: linear, from 0.
#[derive(Clone, Debug, PartialEq)]
pub struct RightAxis {
    /// Text next to the axis, with the unit.
    pub label: String,
    /// Its lines.
    pub series: Vec<Series>,
}

/// A vertical axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Linear, from 0.
    FromZero,
    /// Logarithmic.
    Log,
    /// Linear and symmetric around 1, as wide as values and intervals require: for ratios.
    AroundOne,
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the legend; empty for a line without an entry.
    pub name: String,
    /// Index of colour and marker, from 0.
    pub colour: usize,
    /// Stroke.
    pub stroke: Stroke,
    /// Markers of its points.
    pub markers: Markers,
    /// Its points, from left to right.
    pub marks: Vec<Mark>,
}

impl Series {
    /// Full line with plain markers.
    pub fn new(
        name: impl Into<String>,
        colour: usize,
        marks: impl IntoIterator<Item = Mark>,
    ) -> Self {
        let marks = marks.into_iter().collect();
        Self { name: name.into(), colour, stroke: Stroke::Solid, markers: Markers::Plain, marks }
    }

    /// True if at least one value is known.
    pub fn is_known(&self) -> bool {
        self.marks.iter().any(|mark| mark.value.known().is_some())
    }

    /// The same points, drawn with this stroke and these markers.
    #[must_use]
    pub fn drawn(self, stroke: Stroke, markers: Markers) -> Self {
        Self { stroke, markers, ..self }
    }
}

/// Stroke of a line.
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

/// Markers of the points of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markers {
    /// Alike.
    Plain,
    /// Hollow markers for points without an interval.
    HollowWithoutInterval,
    /// Wide rings around the marks of other lines.
    Rings,
    /// Cells of a heat map, from 0, the lightest, to 4.
    Shade(usize),
    /// No markers.
    None,
}

/// A point of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Position on the horizontal axis.
    pub at: f64,
    /// Value at this position.
    pub value: MarkValue,
    /// Points of the run that the mark represents, by index in the plan.
    pub points: Vec<u32>,
}

/// Value at one position of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MarkValue {
    /// A value, with its interval if there is one.
    Known(f64, Option<(f64, f64)>),
    /// Measured, but invalid.
    Invalid,
    /// Not measured.
    Missing,
}

impl MarkValue {
    /// The value, if it is known.
    pub fn known(self) -> Option<f64> {
        match self {
            Self::Known(value, _) => Some(value),
            Self::Invalid | Self::Missing => None,
        }
    }
}

impl From<Option<f64>> for MarkValue {
    /// Value without an interval, or a missing one.
    fn from(value: Option<f64>) -> Self {
        value.map_or(Self::Missing, |value| Self::Known(value, None))
    }
}

impl Mark {
    /// Mark that represents no point of a run: a limit or a published figure.
    pub fn at(at: f64, value: MarkValue) -> Self {
        Self { at, value, points: Vec::new() }
    }
}

/// Label in a picture, outside its diagram.
pub(crate) struct Label<'a> {
    /// Id, unique on the page.
    pub(crate) id: &'a str,
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
    /// Mark of emulated numbers; empty for measured ones.
    pub(crate) mark: &'a str,
}

impl Stroke {
    pub(super) fn style(self) -> Option<LineStyle> {
        Some(match self {
            Self::Solid => LineStyle::Solid,
            Self::Dashed => LineStyle::Dashed,
            Self::Dotted => LineStyle::Dotted,
            Self::None => return None,
        })
    }
}

/// Opacity of a shade of a heat map.
pub(super) fn opacity(shade: usize) -> f64 {
    [0.12, 0.25, 0.45, 0.7].get(shade).copied().unwrap_or(1.0)
}

pub(super) fn colour(index: usize) -> &'static str {
    PALETTE[index % PALETTE.len()]
}
