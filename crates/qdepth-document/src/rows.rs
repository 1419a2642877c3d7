//! Tables built column by column, so that each heading is next to its cells.

use crate::document::{Cell, Column, Row, Table, number_in, text};
use crate::number::TimeUnit;

/// Table with one row per item.
pub struct Rows<T> {
    items: Vec<T>,
    table: Table,
}

impl<T> Rows<T> {
    /// Table of these items, without columns.
    pub fn from_items(items: impl IntoIterator<Item = T>) -> Self {
        let items: Vec<T> = items.into_iter().collect();
        let rows = vec![Row::default(); items.len()];
        Self { items, table: Table { rows, ..Table::default() } }
    }

    /// Adds a column with a cell for each item; nothing for `None`.
    pub fn column<C: Into<Cell>>(
        mut self,
        column: impl Into<Option<Column>>,
        cell: impl FnMut(&T) -> C,
    ) -> Self {
        if let Some(column) = column.into() {
            self.table.columns.push(column);
            let cells = self.items.iter().map(cell).zip(&mut self.table.rows);
            cells.for_each(|(cell, row)| row.cells.push(cell.into()));
        }
        self
    }

    /// Adds a column of text.
    pub fn text<C: Into<Cell>>(self, heading: &str, cell: impl FnMut(&T) -> C) -> Self {
        self.column(text(heading), cell)
    }

    /// Adds a column of numbers in this unit.
    pub fn number<C: Into<Cell>>(
        self,
        heading: &str,
        unit: &str,
        cell: impl FnMut(&T) -> C,
    ) -> Self {
        self.column(number_in(heading, unit), cell)
    }

    /// Adds a column of times, given in nanoseconds; a dash where the time is unknown.
    pub fn time(self, heading: &str, unit: TimeUnit, ns: impl Fn(&T) -> Option<f64>) -> Self {
        self.column(number_in(heading, unit.symbol()), |item| Cell::time(unit, ns(item)))
    }

    /// Adds a column for each key.
    pub fn each<K, C: Into<Cell>>(
        self,
        keys: impl IntoIterator<Item = K>,
        column: impl Fn(&K) -> Column,
        cell: impl Fn(&T, &K) -> C,
    ) -> Self {
        keys.into_iter().fold(self, |rows, key| rows.column(column(&key), |item| cell(item, &key)))
    }

    /// Adds columns of figures, which are struck through in rows of invalid items.
    pub fn figures(self, is_valid: impl Fn(&T) -> bool, add: impl FnOnce(Self) -> Self) -> Self {
        let from = self.table.columns.len();
        let mut all = add(self);
        for (row, item) in all.table.rows.iter_mut().zip(&all.items) {
            for cell in &mut row.cells[from..] {
                *cell = std::mem::take(cell).struck_if(!is_valid(item));
            }
        }
        all
    }

    /// Adds this note if any cell passes.
    #[must_use]
    pub fn noted(mut self, passes: impl Fn(&Cell) -> bool, note: &str) -> Self {
        if self.table.rows.iter().flat_map(|row| &row.cells).any(passes) {
            self.table = self.table.with_note(note);
        }
        self
    }

    /// Begins a group of rows with each item that passes.
    #[must_use]
    pub fn groups(mut self, opens: impl FnMut(&T) -> bool) -> Self {
        let opens = self.items.iter().map(opens);
        self.table.rows.iter_mut().zip(opens).for_each(|(row, opens)| row.opens_group = opens);
        self
    }

    /// The table, with this caption.
    pub fn table(self, caption: impl Into<String>) -> Table {
        Table { caption: caption.into(), ..self.table }
    }
}
