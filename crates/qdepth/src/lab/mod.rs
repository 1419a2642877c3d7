//! Strings the stages together: words → plan → prepared targets → outcomes → logbook.

pub(crate) mod calibrate;
pub(crate) mod emulate;
pub(crate) mod execute;
pub(crate) mod prepare;
pub(crate) mod read_plan;
pub(crate) mod seal;
pub(crate) mod witnesses;
