//! How the workers of a group measure.

use qdepth_linux::EngineChoice;

use crate::crew::Crew;
use crate::observer::Observer;
use crate::placed::Place;
use crate::written::Written;

/// How the workers of a group measure.
#[derive(Clone, Copy)]
pub(crate) struct Manner<'a> {
    pub(crate) engine: EngineChoice,
    /// What writes are stamped with that are verified.
    pub(crate) stamp: u64,
    /// Those writes, place by place.
    pub(crate) written: &'a Written,
    /// Where workers are kept.
    pub(crate) place: Place<'a>,
    /// The ranks that share its streams, where there are several.
    pub(crate) crew: Option<&'a Crew>,
    pub(crate) observer: &'a dyn Observer,
}
