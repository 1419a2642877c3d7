//! Events of a run for front ends, and requests of front ends to it.

pub mod observer;
pub(crate) mod rate_so_far;
pub mod signals;
