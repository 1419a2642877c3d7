//! Answer of a test over time: start and end of its rate.

use crate::document::{Picture, Table};
use crate::section::{pts, timeline};
use crate::view::View;

/// Maximum number of rows of a time series on the first page.
const ROWS: usize = 6;

/// States the first and the last value; `None` if the plan is not a test over time, or there are
/// several targets.
pub(super) fn sentence(view: &View<'_>) -> Option<String> {
    (pts::goes_over_time(view) && !view.compares()).then(|| pts::sums(view).pop())?
}

/// The throughput over time.
pub(super) fn picture(view: &View<'_>) -> Picture {
    Picture { id: "answer".to_owned(), ..timeline::throughput_over_time(view) }
}

/// The table that the test requires; if it is long, a selection of rows including the first and the
/// last.
pub(super) fn table(view: &View<'_>) -> Option<Table> {
    let mut table = pts::tables(view).into_iter().next()?;
    let last = table.rows.len().saturating_sub(1);
    if last >= ROWS {
        let kept: Vec<usize> = (0..ROWS).map(|nth| nth * last / (ROWS - 1)).collect();
        let rows = table.rows.into_iter().enumerate();
        table.rows = rows.filter(|(at, _)| kept.contains(at)).map(|(_, row)| row).collect();
    }
    Some(table)
}
