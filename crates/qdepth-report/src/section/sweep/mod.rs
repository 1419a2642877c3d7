//! Results over the number of outstanding I/Os: key figures, diagrams, what can be said of them.

pub(crate) mod pictures;
pub(crate) mod references;
pub(crate) mod sentences;
pub(crate) mod series;
pub(crate) mod statements;
pub(crate) mod tables;
