//! Helpers shared by tables: target columns, marks of emulated runs, data tables.

use crate::document::{Cell, Column, Row, Table, text};
use crate::view::View;

/// Column of target names, if there are several targets.
pub(crate) fn target_column(view: &View<'_>) -> Option<Column> {
    let heading = match view.compared {
        Some(_) => view.words.comparison.variant,
        None => view.words.columns.target,
    };
    view.compares().then(|| text(heading))
}

pub(crate) fn target_cell(view: &View<'_>, target: u32) -> Option<Cell> {
    view.compares().then(|| Cell::plain(view.target_name(target)))
}

/// Adds a last column that marks every row of an emulated run.
pub(crate) fn with_mark(view: &View<'_>, mut table: Table) -> Table {
    if view.run.emulated {
        table.columns.push(text(""));
        for row in &mut table.rows {
            row.cells.push(Cell::unknown(view.mark()));
        }
    }
    table
}

pub(crate) fn data_table(
    view: &View<'_>,
    columns: Vec<crate::document::Column>,
    rows: Vec<Row>,
) -> Table {
    let caption = view.marked(view.words.tables.data_caption.to_owned());
    Table { caption, columns, rows, note: String::new() }
}
