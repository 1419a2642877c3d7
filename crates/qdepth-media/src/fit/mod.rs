//! A medium of one's own drive: from measured points to the parameters of an emulated medium, with
//! how well the points determine each, and an error that was found on points kept back.
//!
//! It sees loads and what was measured under them: no logbook, no device, no published result.
//! Start with [`fit`], then `search.rs`.

mod advise;
mod algebra;
mod emulate;
mod error;
mod fitting;
mod model;
mod observed;
mod predict;
mod search;
mod start;
mod written;

pub use advise::{Determined, Teaches};
pub use error::FitError;
pub use fitting::{Fitted, Missed, fit};
pub use model::Kind;
pub use observed::{Observed, late_ns};
pub use predict::{Prediction, Standing, below, predict};
pub use written::{Provenance, description};
