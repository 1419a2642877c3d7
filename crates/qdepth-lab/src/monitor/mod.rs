//! What is seen of the machine while a point is measured.

pub(crate) mod monitors;
pub(crate) mod sight;
pub(crate) mod standstill;
pub(crate) mod watch;
