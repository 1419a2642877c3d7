//! What came of a point: measured figures, the findings about them, and the record that is kept.

pub mod findings;
pub(crate) mod measured;
pub(crate) mod seal;
