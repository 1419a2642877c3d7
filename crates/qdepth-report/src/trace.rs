//! Points of the run behind a figure, by index in the plan, as in `qdepth export`.

use crate::document::{Align, Column};
use crate::view::{Point, View};

/// Indices of a point; for a column of a comparison, those of its drives or processes.
pub(crate) fn point_indices(view: &View<'_>, point: &Point<'_>) -> Vec<u32> {
    match view.compared.and_then(|compared| compared.cell(point.record)) {
        Some(cell) => cell.parts.iter().map(|part| part.index).collect(),
        None => vec![point.record.index],
    }
}

/// Indices of several points, in their order.
pub(crate) fn of_all<'p, 'a: 'p>(
    view: &View<'_>,
    points: impl IntoIterator<Item = &'p Point<'a>>,
) -> Vec<u32> {
    points.into_iter().flat_map(|point| point_indices(view, point)).collect()
}

/// Indices as text, for example `4, 49`; consecutive ones as a range, for example `4–7`.
pub(crate) fn text(points: &[u32]) -> String {
    let follow = |a: &u32, b: &u32| a.checked_add(1) == Some(*b);
    let stretch = |points: &[u32]| match points {
        [point] => point.to_string(),
        [first, second] => format!("{first}, {second}"),
        [first, .., last] => format!("{first}–{last}"),
        [] => String::new(),
    };
    points.chunk_by(follow).map(stretch).collect::<Vec<_>>().join(", ")
}

/// Column of point numbers.
pub(crate) fn column(view: &View<'_>) -> Column {
    let heading = view.words.columns.point.to_owned();
    Column { heading, unit: String::new(), align: Align::Places, rank: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn point_numbers_are_listed_with_ranges() {
        assert_eq!(text(&[]), "");
        assert_eq!(text(&[7]), "7");
        assert_eq!(text(&[7, 8]), "7, 8");
        assert_eq!(text(&[4, 5, 6, 7, 49, 3, u32::MAX]), "4–7, 49, 3, 4294967295");
    }
}
