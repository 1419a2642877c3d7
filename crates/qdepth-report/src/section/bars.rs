//! Bar charts in groups, with their text alternative and data table.

use qdepth_measure::Estimate;

use crate::document::{Cell, Picture, number_in};
use crate::figure::{Figure, Horizontal, Mark, MarkValue, Markers, Scale, Series, Stroke};
use crate::number::rounded;
use crate::rows::{Rows, RunColumns as _};
use crate::view::View;
use crate::words::fill_in;

/// A bar with its value and the points behind it.
pub(crate) struct Bar {
    pub(crate) value: Estimate,
    pub(crate) points: Vec<u32>,
}

/// Contents of a bar chart.
pub(crate) struct Bars {
    pub(crate) id: String,
    pub(crate) title: String,
    /// Label below the groups.
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    /// Unit of the values; empty if they have none.
    pub(crate) unit: &'static str,
    /// Titles of the groups.
    pub(crate) groups: Vec<String>,
    /// Names of the bars of a group.
    pub(crate) names: Vec<String>,
    /// Bars of each group by name; `None` if the value is unknown.
    pub(crate) rows: Vec<Vec<Option<Bar>>>,
    /// True if the data table has a column with the points of each group.
    pub(crate) traced: bool,
}

impl Bars {
    pub(crate) fn picture(self, view: &View<'_>) -> Picture {
        let Self { id, title, x_label, y_label, unit, groups, names, rows, traced } = self;
        let mark = |at: usize, bar: &Option<Bar>| match bar {
            Some(Bar { value, points }) => {
                let value = MarkValue::Known(value.value, value.interval);
                Mark { at: at as f64, value, points: points.clone() }
            }
            None => Mark::at(at as f64, MarkValue::Missing),
        };
        let series = names.iter().enumerate().map(|(colour, name)| {
            let marks = rows.iter().enumerate().map(|(at, row)| mark(at, &row[colour]));
            Series::new(&**name, colour, marks).drawn(Stroke::None, Markers::Plain)
        });
        let between = view.words.list[0];
        let values = [("groups", groups.join(between)), ("columns", names.join(between))];
        let data = Rows::from_items(groups.iter().zip(&rows))
            .text("", |(title, _)| Cell::head(&**title))
            .each(
                names.iter().enumerate(),
                |(_, name)| number_in(name, unit),
                |(_, row), (index, _)| {
                    Cell::or_dash(row[*index].as_ref().map(|bar| rounded(&bar.value).joined()))
                },
            );
        let data = if traced {
            let points =
                |bar: &Option<Bar>| bar.as_ref().map_or_else(Vec::new, |b| b.points.clone());
            data.traced(view, |(_, row)| row.iter().flat_map(points).collect())
        } else {
            data
        };
        Picture {
            id,
            title: view.marked(title),
            description: fill_in(view.words.comparison.bars_description, &values),
            data: data.data(view),
            origin: view.origin(),
            figure: Figure::new(
                (&x_label, Horizontal::Groups(groups.clone())),
                (y_label, Scale::FromZero),
                series,
            ),
        }
    }
}
