//! Capability of the load generator on this machine, and its uncertainty.

pub(crate) mod beside_fio;
pub mod calibrate;
pub mod certify;
pub mod check;
pub(crate) mod proof;
