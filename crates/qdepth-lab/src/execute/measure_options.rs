//! Options for measuring a group.

use qdepth_linux::EngineChoice;

use crate::Lab;
use crate::execute::written::Written;
use crate::request::Pinning;

/// Options for measuring a group.
#[derive(Clone, Copy)]
pub(crate) struct MeasureOptions<'a> {
    /// Its ranks, if it has any, share the streams of the group.
    pub(crate) lab: Lab<'a>,
    pub(crate) engine: EngineChoice,
    /// Stamp of writes that later reads verify.
    pub(crate) stamp: u64,
    /// Register of those writes, by position.
    pub(crate) written: &'a Written,
    /// Placement of workers.
    pub(crate) placement: &'a Pinning,
}
