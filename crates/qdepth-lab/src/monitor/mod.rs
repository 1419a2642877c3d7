//! Monitoring of the machine during a point.

pub(crate) mod monitors;
pub(crate) mod pauses;
pub(crate) mod progress;
pub(crate) mod watch;
