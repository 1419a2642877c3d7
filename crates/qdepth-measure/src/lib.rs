//! Statistics of measurements: units as types, the latency histogram, estimates with their
//! uncertainty, consistency checks for every point, and findings.
//!
//! This crate does no I/O, reads no clock and has no `unsafe` code. Time is integer nanoseconds.
//! Start with [`Nanos`], [`LatencyHistogram`] and [`Finding`].

mod answer;
mod changes;
mod code;
mod comparison;
mod estimate;
mod finding;
mod groups;
mod histogram;
pub mod label;
mod laws;
mod limit;
mod limiting_part;
pub mod pattern;
mod permutation_test;
mod required_percentile;
mod requirement;
mod resolvable;
mod rounds;
mod scaling;
mod settling;
mod spectrum;
mod split_mix;
pub mod stamp;
mod steady;
mod text;
mod units;
mod until;

pub use answer::{Answer, Probe, Probed, Search};
pub use changes::{Change, FIGURES_MAX, changes};
pub use code::{Code, Meaning, Severity, Subject};
pub use comparison::{fairness, quotient, shade, skew};
pub use estimate::{
    Estimate, Percentile, percentile, reported_percentiles, rounds_mean, segments_mean, series_mean,
};
pub use finding::{Finding, Grade, RANK};
pub use groups::{Ratio, Spread, Verdict, mean_over_runs, pooled, ratio, verdicts};
pub use histogram::{CorruptHistogram, EncodedHistogram, LatencyHistogram};
pub use laws::{BelowFile, PointFacts, check_laws};
pub use limit::{Limit, Statistic, UnknownLimit, percentile_name};
pub use limiting_part::{DriveLink, DriveRate, LimitingPart, limiting_part};
pub use required_percentile::{ParseRequiredPercentileError, RequiredPercentile};
pub use requirement::{Met, Part, Requirement};
pub use resolvable::{Repeatability, repeatability};
pub use rounds::{SteadyRounds, SteadyRule, SteadyVerdict};
pub use scaling::{Saturation, saturation, together};
pub use settling::{Sample, Settled, Settling, SettlingFigure, SettlingSamples, Slice};
pub use split_mix::SplitMix;
pub use steady::{
    Line, ROUNDS_MAX, Steadiness, SteadyState, WINDOW_ROUNDS, Window, first_steady, steadiness,
};
pub use units::{Bytes, Instant, Nanos, ParseBytesError, ParseNanosError, Seed};
pub use until::{EarlyEnd, ParseEarlyEndError, ParseToleranceError, Precision, Tolerance};
