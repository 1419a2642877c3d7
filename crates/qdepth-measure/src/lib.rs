//! Arithmetic on measurements: units as types, the latency histogram, estimates that never travel
//! without their error, the laws every point must obey, and the doubts (findings) that remain.
//!
//! This crate never does I/O, never reads a clock and holds no `unsafe`. Time is integer
//! nanoseconds. Start with [`Nanos`], [`LatencyHistogram`] and [`Finding`].

mod comparison;
mod credible;
mod deals;
mod estimate;
mod finding;
mod groups;
mod histogram;
mod laws;
mod resolvable;
mod scaling;
mod spectrum;
mod text;
mod units;
mod until;

pub use comparison::{fairness, quotient, skew};
pub use credible::{Credible, ParseCredibleError};
pub use estimate::{Estimate, Percentile, percentile, reported_percentiles, series_mean};
pub use finding::{Code, Finding, Grade, Severity};
pub use groups::{Ratio, Spread, Verdict, ratio, verdicts};
pub use histogram::{CorruptHistogram, EncodedHistogram, LatencyHistogram};
pub use laws::{PointFacts, check_laws, grade};
pub use resolvable::{Repeatability, repeatability};
pub use scaling::{Saturation, saturation, together};
pub use units::{Bytes, Instant, Nanos, ParseBytesError, ParseNanosError, Seed};
pub use until::{ParseToleranceError, Precision, Tolerance};
