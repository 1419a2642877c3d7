//! Monitoring of the machine during a point.

pub(crate) mod monitors;
pub(crate) mod sight;
pub(crate) mod standstill;
pub(crate) mod watch;
