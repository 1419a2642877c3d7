//! Merge rules: functions that merge one field of two records, named in the tables of fields.

use qdepth_measure::Finding;

/// Keeps the first value: all records share it, or the first one counts.
pub(crate) fn keep_first<T>(_: &mut T, _: &T) {}

/// Takes the last value.
pub(crate) fn keep_last<T: Clone>(whole: &mut T, part: &T) {
    whole.clone_from(part);
}

/// Resets the value, because it cannot be merged.
pub(crate) fn reset<T: Default>(whole: &mut T, _: &T) {
    *whole = T::default();
}

/// Leaves the rows alone: the caller merges them, because it renumbers or renames them.
pub(crate) fn keep_separate<T>(_: &mut Vec<T>, _: &[T]) {}

/// Adds findings that are not in the list yet.
pub(crate) fn add_missing(whole: &mut Vec<Finding>, part: &[Finding]) {
    for finding in part {
        if !whole.contains(finding) {
            whole.push(finding.clone());
        }
    }
}

/// Takes the larger value.
pub(crate) fn maximum<T: Ord + Copy>(whole: &mut T, part: &T) {
    *whole = (*whole).max(*part);
}

/// Takes the smaller value; of two flags, true if both are set.
pub(crate) fn minimum<T: Ord + Copy>(whole: &mut T, part: &T) {
    *whole = (*whole).min(*part);
}

/// Adds counts.
pub(crate) fn sum(whole: &mut u64, part: &u64) {
    *whole = whole.saturating_add(*part);
}

/// Adds real numbers.
pub(crate) fn sum_real(whole: &mut f64, part: &f64) {
    *whole += part;
}
