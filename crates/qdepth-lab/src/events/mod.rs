//! What happens during a run, as front ends are told it, and what they ask for meanwhile.

pub mod observer;
pub(crate) mod rate_so_far;
pub mod signals;
