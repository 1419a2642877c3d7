//! What the generator itself can do on this machine, and how well it is known.

pub(crate) mod beside_fio;
pub mod calibrate;
pub mod certify;
pub mod check;
pub(crate) mod proof;
