//! From a name to a target that may be measured: consent, claim, file, and how to undo it.

pub mod consent;
pub(crate) mod identity;
pub(crate) mod left_behind;
pub(crate) mod memory;
pub mod preparation;
pub mod prepare;
pub mod preview;
pub(crate) mod reach;
pub mod would_refuse;
