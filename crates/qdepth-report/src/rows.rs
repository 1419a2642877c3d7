//! Columns of a run that many tables of reports have.

use crate::document::{Cell, Mark, Table, text};
use crate::trace;
use crate::view::View;

pub(crate) use qdepth_document::rows::Rows;

/// Columns that depend on the run.
pub(crate) trait RunColumns<T>: Sized {
    /// Adds a column of target names, if there are several targets.
    fn targets(self, view: &View<'_>, target: impl Fn(&T) -> u32) -> Self;

    /// Adds a column with the points of each row.
    fn traced(self, view: &View<'_>, points: impl Fn(&T) -> Vec<u32>) -> Self;

    /// Adds a last column that marks every row of an emulated run, and explains struck cells.
    fn marked(self, view: &View<'_>) -> Self;

    /// Explains the dashes of a table with percentiles.
    fn explains_dashes(self, view: &View<'_>) -> Self;

    /// Data table of a picture.
    fn data(self, view: &View<'_>) -> Table;
}

impl<T> RunColumns<T> for Rows<T> {
    fn targets(self, view: &View<'_>, target: impl Fn(&T) -> u32) -> Self {
        let heading = match view.compared {
            Some(_) => view.words.comparison.variant,
            None => view.words.columns.target,
        };
        self.column(view.compares().then(|| text(heading)), |item| view.target_name(target(item)))
    }

    fn traced(self, view: &View<'_>, points: impl Fn(&T) -> Vec<u32>) -> Self {
        self.column(trace::column(view), |item| Cell::unknown(trace::text(&points(item))))
    }

    fn marked(self, view: &View<'_>) -> Self {
        self.column(view.run.emulated.then(|| text("")), |_| Cell::unknown(view.mark()))
            .noted(|cell| cell.mark == Mark::Struck, view.words.tables.struck_note)
    }

    fn explains_dashes(self, view: &View<'_>) -> Self {
        self.noted(|cell| cell.text == "–", view.words.tables.dash_note)
    }

    fn data(self, view: &View<'_>) -> Table {
        self.table(view.marked(view.words.tables.data_caption.to_owned()))
    }
}
