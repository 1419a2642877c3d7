//! Small multiples for a diagram with too many lines: one panel for each compared line, in colour
//! in front of the others in grey (Tufte 1990, chapter 4). All panels share their axes, so that
//! they can be compared at a glance.

use std::fmt::Write as _;
use std::sync::Arc;

use kuva::prelude::{Layout, LinePlot, Plot, SvgBackend};
use kuva::render::layout::TickFormat;
use kuva::render::render::render_multiple;

use super::frame::{complete_svg, legend, svg_body};
use super::plots::power_of_two;
use super::series::{Figure, Horizontal, Label, Scale, Series, Stroke};
use super::text::{escaped, text_width};

/// Total width of the panels, unless there are very many.
const WIDTH: f64 = 780.0;
/// Minimum width of a panel.
const NARROWEST: f64 = 170.0;
/// Height of a panel as a share of its width.
const ASPECT: f64 = 0.72;
/// Height above each panel for its name.
const HEAD: f64 = 18.0;
/// Height above all panels for the mark of emulated figures.
const TOP: f64 = 14.0;
/// Width left of all panels, and height below them, for the names of the axes.
const AXIS: f64 = 20.0;
/// Grey of the other lines: dark enough to be visible on white, light enough to stay in the
/// background.
const OTHERS: &str = "#c9cdd2";

/// The picture as SVG.
pub(super) fn svg(figure: &Figure, label: &Label<'_>) -> String {
    let columns = (figure.panels.len() as f64).sqrt().ceil().max(3.0);
    let width = ((WIDTH - AXIS) / columns).max(NARROWEST).floor();
    let height = (width * ASPECT).floor();
    let rows = (figure.panels.len() as f64 / columns).ceil();
    let (all_wide, all_high) = (columns * width + AXIS, TOP + rows * (height + HEAD));
    let drawn = |plots: Vec<Plot>| {
        let layout = alike(figure, figure.layout(&plots)).with_width(width).with_height(height);
        let drawn = SvgBackend::new().render_scene(&render_multiple(plots, layout));
        svg_body(&drawn, label.id).1
    };
    let mut body = format!("<defs><g id=\"{}-all\">{}</g></defs>", label.id, drawn(grey(figure)));
    for (index, name) in figure.panels.iter().enumerate() {
        let (row, column) = (index / columns as usize, index % columns as usize);
        let panel = drawn(own(figure, index));
        // Axes and clip path are the same in every panel, so only the lines are taken.
        let lines = panel.find("<g clip-path").map_or("", |at| &panel[at..]);
        let (x, y) = (AXIS + column as f64 * width, TOP + HEAD + row as f64 * (height + HEAD));
        // Writing into a String cannot fail.
        let _ = write!(
            body,
            "<g transform=\"translate({x} {y})\"><text x=\"{:.1}\" y=\"2\" text-anchor=\"middle\" \
             font-size=\"12\" font-weight=\"bold\">{}</text><use href=\"#{}-all\"/>{lines}</g>",
            width / 2.0,
            escaped(&fitting(name, width)),
            label.id,
        );
    }
    let (legend, below) = legend(&strokes(figure), false, all_high + AXIS);
    let middle = (TOP + all_high) / 2.0;
    let _ = write!(
        body,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"13\">{}</text>\
         <text transform=\"translate(14 {middle:.1}) rotate(-90)\" text-anchor=\"middle\" \
         font-size=\"13\">{}</text>{legend}",
        all_wide / 2.0,
        all_high + 12.0,
        escaped(&figure.x_label),
        escaped(&figure.y_label),
    );
    complete_svg(&body, 0.0, all_wide, all_high + AXIS + below, label)
}

/// Layout with shared axes and fewer tick labels.
fn alike(figure: &Figure, layout: Layout) -> Layout {
    let layout = match figure.x_axis {
        Horizontal::Intensities(_) => {
            layout.with_x_tick_format(TickFormat::Custom(Arc::new(power_of_eight)))
        }
        _ => layout,
    };
    let ends = |pick: fn(f64, f64) -> f64| figure.values().filter(|v| *v > 0.0).reduce(pick);
    match (figure.y_scale, ends(f64::min), ends(f64::max)) {
        (Scale::Log, Some(least), Some(most)) => layout
            .with_y_axis_min(10_f64.powf(least.log10().floor()))
            .with_y_axis_max(10_f64.powf(most.log10().ceil())),
        _ => layout,
    }
}

fn power_of_eight(exponent: f64) -> String {
    if (exponent / 3.0).fract().abs() < 1e-6 { power_of_two(exponent) } else { String::new() }
}

/// Distinct colour indices in order of the lines: one for each panel.
fn colours(figure: &Figure) -> Vec<usize> {
    let mut all = Vec::new();
    for series in &figure.series {
        if !all.contains(&series.colour) {
            all.push(series.colour);
        }
    }
    all
}

/// Grey copies of all lines, as one series.
fn grey(figure: &Figure) -> Vec<Plot> {
    let solid = figure.series.iter().filter(|series| series.stroke == Stroke::Solid);
    let known_runs = solid.flat_map(|series| figure.known_runs(&series.marks));
    let line =
        |stretch| LinePlot::new().with_data(stretch).with_color(OTHERS).with_stroke_width(1.2);
    known_runs.map(|stretch| Plot::Line(line(stretch))).collect()
}

fn own(figure: &Figure, index: usize) -> Vec<Plot> {
    let colour = colours(figure).get(index).copied();
    let mut plots = Vec::new();
    for series in figure.series.iter().filter(|series| Some(series.colour) == colour) {
        figure.draw(&Series { colour: 0, ..series.clone() }, &mut plots);
    }
    plots
}

/// Series of the first panel, one for each stroke, for the legend; empty if there is only one.
fn strokes(figure: &Figure) -> Vec<&Series> {
    let first = colours(figure).first().copied();
    let kinds: Vec<&Series> =
        figure.series.iter().filter(|series| Some(series.colour) == first).collect();
    if kinds.len() > 1 { kinds } else { Vec::new() }
}

/// Prefix of a name that fits above a panel.
fn fitting(name: &str, width: f64) -> String {
    if text_width(name) <= width {
        return name.to_owned();
    }
    let mut short = String::new();
    for letter in name.chars() {
        if text_width(&short) + 13.0 > width {
            break;
        }
        short.push(letter);
    }
    short.trim_end().to_owned() + "…"
}
