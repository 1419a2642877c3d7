//! Bar charts in groups, with their text alternative and data table.

use qdepth_measure::Estimate;

use crate::document::{Cell, Picture, Row, number_in, text};
use crate::figure::{Figure, Horizontal, Mark, MarkValue, Markers, Scale, Series, Stroke};
use crate::number::rounded;
use crate::section::table_parts::data_table;
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
}

impl Bars {
    pub(crate) fn picture(self, view: &View<'_>) -> Picture {
        let Self { id, title, x_label, y_label, unit, groups, names, rows } = self;
        let mark = |at: usize, bar: &Option<Bar>| match bar {
            Some(Bar { value, points }) => {
                let value = MarkValue::Known(value.value, value.interval);
                Mark { at: at as f64, value, points: points.clone() }
            }
            None => Mark::at(at as f64, MarkValue::Missing),
        };
        let series = names.iter().enumerate().map(|(colour, name)| Series {
            name: name.clone(),
            colour,
            stroke: Stroke::None,
            markers: Markers::Plain,
            marks: rows.iter().enumerate().map(|(at, row)| mark(at, &row[colour])).collect(),
        });
        let between = view.words.list[0];
        let values = [("groups", groups.join(between)), ("columns", names.join(between))];
        let mut heads = vec![text("")];
        heads.extend(names.iter().map(|name| number_in(name, unit)));
        let cell =
            |bar: &Option<Bar>| Cell::or_dash(bar.as_ref().map(|bar| rounded(&bar.value).joined()));
        let row = |(title, row): (&String, &Vec<Option<Bar>>)| {
            let cells = std::iter::once(Cell::head(&**title)).chain(row.iter().map(cell));
            Row { cells: cells.collect(), opens_group: false }
        };
        Picture {
            id,
            title: view.marked(title),
            description: fill_in(view.words.comparison.bars_description, &values),
            data: data_table(view, heads, groups.iter().zip(&rows).map(row).collect()),
            origin: view.origin(),
            figure: Figure {
                x_label,
                y_label,
                y_scale: Scale::FromZero,
                series: series.collect(),
                x_axis: Horizontal::Groups(groups),
                right: None,
                panels: Vec::new(),
            },
        }
    }
}
