//! Fits a device model to measurements of a real drive: parameters of an emulated device, the
//! uncertainty of each, and the error at held-out points.
//!
//! The input is loads and their measured results. This module knows nothing of logbooks, devices or
//! published figures. Start with [`fit`], then `search.rs`.

mod advise;
mod algebra;
mod emulate;
mod error;
mod export;
mod fitting;
mod model;
mod observed;
mod predict;
mod search;
mod start;
mod written;

pub use advise::{Determined, InformativePoint};
pub use error::FitError;
pub use export::{Export, MaximumRates, maximum_rates};
pub use fitting::{Fitted, PointError, fit};
pub use model::Kind;
pub use observed::{Observed, late_ns};
pub use predict::{Basis, Prediction, alarm_threshold, predict};
pub use written::{Provenance, description};
