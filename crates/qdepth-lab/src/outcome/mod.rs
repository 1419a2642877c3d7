//! Outcome of a point: figures, findings about them, and the stored record.

pub mod findings;
pub(crate) mod measured;
pub(crate) mod seal;
