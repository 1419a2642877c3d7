//! What a field of several records as one is: words of the tables of fields.

use qdepth_measure::Finding;

/// What all have alike, or what is of the first.
pub(crate) fn first<T>(_: &mut T, _: &T) {}

/// What the last one has.
pub(crate) fn last<T: Clone>(whole: &mut T, part: &T) {
    whole.clone_from(part);
}

/// What is of one each.
pub(crate) fn nothing<T: Default>(whole: &mut T, _: &T) {
    *whole = T::default();
}

/// Rows that whoever joins records numbers or names anew.
pub(crate) fn apart<T>(_: &mut Vec<T>, _: &[T]) {}

/// Of those that are not there yet.
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

/// Of counts.
pub(crate) fn sum(whole: &mut u64, part: &u64) {
    *whole = whole.saturating_add(*part);
}

/// Of real numbers.
pub(crate) fn sum_real(whole: &mut f64, part: &f64) {
    *whole += part;
}
