//! Rules for merging a field of several records: keywords of the tables of fields.

use qdepth_measure::Finding;

/// Value that all share, or that of the first.
pub(crate) fn first<T>(_: &mut T, _: &T) {}

/// Value of the last one.
pub(crate) fn last<T: Clone>(whole: &mut T, part: &T) {
    whole.clone_from(part);
}

/// Value that cannot be merged.
pub(crate) fn nothing<T: Default>(whole: &mut T, _: &T) {
    *whole = T::default();
}

/// Rows that whoever joins records numbers or names anew.
pub(crate) fn apart<T>(_: &mut Vec<T>, _: &[T]) {}

/// Adds findings that are not there yet.
pub(crate) fn added(whole: &mut Vec<Finding>, part: &[Finding]) {
    for finding in part {
        if !whole.contains(finding) {
            whole.push(finding.clone());
        }
    }
}

/// The larger one.
pub(crate) fn most<T: Ord + Copy>(whole: &mut T, part: &T) {
    *whole = (*whole).max(*part);
}

/// The smaller one; of two flags whether both are set.
pub(crate) fn least<T: Ord + Copy>(whole: &mut T, part: &T) {
    *whole = (*whole).min(*part);
}

/// Sum of counts.
pub(crate) fn sum(whole: &mut u64, part: &u64) {
    *whole = whole.saturating_add(*part);
}

/// Sum of real numbers.
pub(crate) fn sum_real(whole: &mut f64, part: &f64) {
    *whole += part;
}
