//! Results over queue depth: key figures, diagrams, and claims about them.

pub(crate) mod pictures;
pub(crate) mod references;
pub(crate) mod sentences;
pub(crate) mod series;
pub(crate) mod statements;
pub(crate) mod tables;
