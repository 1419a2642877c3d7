//! Self-tests of the load generator on this machine: its ceiling, its agreement with fio, and its
//! repeatability.

pub(crate) mod beside_fio;
pub mod calibrate;
pub mod certify;
pub mod check;
pub(crate) mod proof;
