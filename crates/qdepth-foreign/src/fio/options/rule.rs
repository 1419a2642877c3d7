//! Support for each option.

use crate::remark::Remark;

/// Support for an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::fio) enum Rule {
    /// Read, and done.
    Honoured,
    /// Cannot change a figure here, or is told with the figures; what is done.
    Remarked(Remark),
    /// Says what is so anyway.
    Silent,
    /// Accepted only with one of these values, which ask for what is so anyway; else why not.
    Only(&'static [&'static str], &'static str),
    /// Cannot be done; why, and what can.
    Refused(&'static str),
}
