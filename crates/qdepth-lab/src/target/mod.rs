//! From the name of a target to storage that may be measured: consent, claim, files, and how to
//! undo them.

pub mod consent;
pub(crate) mod identity;
pub(crate) mod left_behind;
pub(crate) mod memory;
pub mod preparation;
pub mod prepare;
pub mod preview;
pub(crate) mod reach;
pub mod would_refuse;
