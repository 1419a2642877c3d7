//! Tables built column by column, so that each heading is next to its cells.

use crate::document::{Cell, Column, Row, Table, text};
use crate::trace;
use crate::view::View;

/// Table with one row per item.
pub(crate) struct Rows<T> {
    items: Vec<T>,
    table: Table,
}

impl<T> Rows<T> {
    pub(crate) fn from_items(items: impl IntoIterator<Item = T>) -> Self {
        let items: Vec<T> = items.into_iter().collect();
        let rows = vec![Row::default(); items.len()];
        Self { items, table: Table { rows, ..Table::default() } }
    }

    /// Adds a column with a cell for each item; nothing for `None`.
    pub(crate) fn column(
        mut self,
        column: impl Into<Option<Column>>,
        cell: impl FnMut(&T) -> Cell,
    ) -> Self {
        if let Some(column) = column.into() {
            self.table.columns.push(column);
            let cells = self.items.iter().map(cell);
            self.table.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.cells.push(cell));
        }
        self
    }

    /// Adds a column for each key.
    pub(crate) fn each<K>(
        self,
        keys: impl IntoIterator<Item = K>,
        column: impl Fn(&K) -> Column,
        cell: impl Fn(&T, &K) -> Cell,
    ) -> Self {
        keys.into_iter().fold(self, |rows, key| rows.column(column(&key), |item| cell(item, &key)))
    }

    /// Adds columns of figures, which are struck through in rows of invalid items.
    pub(crate) fn figures(
        self,
        is_valid: impl Fn(&T) -> bool,
        add: impl FnOnce(Self) -> Self,
    ) -> Self {
        let from = self.table.columns.len();
        let mut all = add(self);
        for (row, item) in all.table.rows.iter_mut().zip(&all.items) {
            for cell in &mut row.cells[from..] {
                *cell = std::mem::take(cell).struck_if(!is_valid(item));
            }
        }
        all
    }

    /// Begins a group of rows with each item that passes.
    pub(crate) fn groups(mut self, opens: impl FnMut(&T) -> bool) -> Self {
        let opens = self.items.iter().map(opens);
        self.table.rows.iter_mut().zip(opens).for_each(|(row, opens)| row.opens_group = opens);
        self
    }

    /// Adds a column of target names, if there are several targets.
    pub(crate) fn targets(self, view: &View<'_>, target: impl Fn(&T) -> u32) -> Self {
        let heading = match view.compared {
            Some(_) => view.words.comparison.variant,
            None => view.words.columns.target,
        };
        self.column(view.compares().then(|| text(heading)), |item| {
            Cell::plain(view.target_name(target(item)))
        })
    }

    /// Adds a column with the points of each row.
    pub(crate) fn traced(self, view: &View<'_>, points: impl Fn(&T) -> Vec<u32>) -> Self {
        self.column(trace::column(view), |item| Cell::unknown(trace::text(&points(item))))
    }

    /// Adds a last column that marks every row of an emulated run.
    pub(crate) fn marked(self, view: &View<'_>) -> Self {
        self.column(view.run.emulated.then(|| text("")), |_| Cell::unknown(view.mark()))
    }

    pub(crate) fn table(self, caption: impl Into<String>) -> Table {
        Table { caption: caption.into(), ..self.table }
    }

    /// Data table of a picture.
    pub(crate) fn data(self, view: &View<'_>) -> Table {
        self.table(view.marked(view.words.tables.data_caption.to_owned()))
    }
}
