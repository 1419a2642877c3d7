//! Diagrams: lines over queue depth, time or load, with confidence intervals, on one or two
//! vertical axes. Drawn by the crate kuva, which is not visible outside this module.
//!
//! A picture is a complete SVG in the colours of [`PALETTE`], usable alone or in print. A page with
//! other colours (dark mode) restyles the attributes in its own style sheet.

mod frame;
mod groups;
mod panels;
mod plots;
mod series;
mod text;

use kuva::prelude::{Plot, SvgBackend};
use kuva::render::render::{Primitive, render_multiple, render_twin_y};

use frame::{complete_svg, legend, svg_body, with_axis_name_moved};
use series::HEIGHT;
pub(crate) use series::Label;
pub use series::{
    FONT, Figure, GRID, Horizontal, INK, Mark, MarkValue, Markers, PALETTE, PAPER, RightAxis,
    Scale, Series, Stroke,
};
pub use text::escaped;

/// Removes the whiskers of bars without an interval. kuva draws whiskers for all bars or none, each
/// as a line and two caps, which show as a speck at a missing bar.
fn drop_empty_whiskers(elements: &mut Vec<Primitive>) {
    let is_empty = |element: &Primitive| match element {
        Primitive::Line { x1, y1, x2, y2, .. } => (x1, y1) == (x2, y2),
        _ => false,
    };
    let mut caps = 0;
    elements.retain(|element| {
        let drops = caps > 0 || is_empty(element);
        caps = if is_empty(element) { 2 } else { caps - i32::from(caps > 0) };
        !drops
    });
}

impl Figure {
    /// True if there is anything to draw.
    pub fn is_empty(&self) -> bool {
        self.values().next().is_none()
    }

    /// Renders the diagram as SVG, with a title and description for screen readers. The id of the
    /// label must be unique on the page.
    pub(crate) fn svg(&self, label: &Label<'_>) -> String {
        if !self.panels.is_empty() {
            return panels::svg(self, label);
        }
        let plots = match &self.x_axis {
            Horizontal::Groups(names) => vec![Plot::Bar(self.bars(names))],
            _ => self.plots(&self.series),
        };
        let layout = self.layout(&plots);
        // kuva has no room for the axis name below the names of groups, so it is added here.
        let x_label = if self.groups().is_some() { "" } else { &*self.x_label };
        let layout = layout.with_x_label(x_label).with_y_label(self.y_label.as_str());
        let mut scene = match &self.right {
            None => render_multiple(plots, layout),
            Some(right) => {
                let beside = self.plots(&right.series);
                let layout = right.on(layout.with_y2_auto(&beside));
                render_twin_y(plots, beside, layout)
            }
        };
        if self.groups().is_some() {
            drop_empty_whiskers(&mut scene.elements);
        }
        let svg = SvgBackend::new().render_scene(&scene);
        let beside = self.right.iter().flat_map(|right| &right.series);
        let named = self.series.iter().chain(beside).filter(|series| !series.name.is_empty());
        let (width, body) = svg_body(&svg, label.id);
        let (body, bottom) = match self.groups() {
            Some(names) => groups::with_names(&body, names, &self.x_label),
            None => (body, HEIGHT),
        };
        let bottom = bottom.max(HEIGHT);
        let (legend, below) = legend(&named.collect::<Vec<_>>(), self.groups().is_some(), bottom);
        let (body, left) = with_axis_name_moved(body + &legend);
        complete_svg(&body, left, width, bottom + below, label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// kuva's whiskers are the only lines so wide.
    fn whiskers(values: [MarkValue; 3]) -> usize {
        let marks = values.into_iter().zip([0.0, 1.0, 2.0]);
        let series = Series {
            name: "mean".to_owned(),
            colour: 0,
            stroke: Stroke::None,
            markers: Markers::Plain,
            marks: marks.map(|(value, at)| Mark::at(at, value)).collect(),
        };
        let figure = Figure {
            x_label: String::new(),
            x_axis: Horizontal::Groups(["a", "b", "c"].map(str::to_owned).to_vec()),
            y_label: "IOPS".to_owned(),
            y_scale: Scale::FromZero,
            series: vec![series],
            right: None,
            panels: Vec::new(),
        };
        let label = Label { id: "a", title: "t", description: "d", mark: "" };
        let svg = figure.svg(&label);
        let lines = svg.split("<line").skip(1).filter_map(|rest| rest.split('>').next());
        lines.filter(|line| line.contains("stroke-width=\"1.5\"")).count()
    }

    #[test]
    fn only_bars_with_intervals_have_whiskers() {
        let (plain, missing) = (MarkValue::Known(5.0, None), MarkValue::Missing);
        let known = MarkValue::Known(4.0, Some((3.0, 5.5)));
        assert_eq!(whiskers([known, plain, missing]), 3, "a line and two caps");
        assert_eq!(whiskers([known, missing, known]), 6);
        assert_eq!(whiskers([plain, plain, missing]), 0);
    }
}
