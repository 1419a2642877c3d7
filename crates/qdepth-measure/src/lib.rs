//! Arithmetic on measurements: units as types, the latency histogram, estimates that never travel
//! without their error, the laws every point must obey, and the doubts (findings) that remain.
//!
//! This crate never does I/O, never reads a clock and holds no `unsafe`. Time is integer
//! nanoseconds. Start with [`Nanos`], [`LatencyHistogram`] and [`Finding`].

mod estimate;
mod finding;
mod histogram;
mod laws;
mod units;

pub use estimate::{Estimate, Percentile, batch_means, percentile, reported_percentiles};
pub use finding::{Code, Finding, Grade, Severity};
pub use histogram::{CorruptHistogram, EncodedHistogram, LatencyHistogram};
pub use laws::{PointFacts, check_laws, grade};
pub use units::{Bytes, Instant, Nanos, ParseBytesError, ParseNanosError, Seed};
