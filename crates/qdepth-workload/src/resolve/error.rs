//! Why a plan cannot be made.

use thiserror::Error;

/// Why a plan cannot be made.
#[derive(Debug, Error, PartialEq)]
pub enum ResolveError {
    /// A name that is no profile.
    #[error("there is no profile `{name}`{meant}")]
    NoSuchProfile {
        /// Name as written.
        name: String,
        /// Sentences on similar and known names.
        meant: String,
    },
    /// A value outside its limits.
    #[error("profile `{profile}`: {what}")]
    Value {
        /// In which profile.
        profile: String,
        /// Problem and remedy.
        what: String,
    },
    /// Other intensities for a plan of steps.
    #[error(
        "the steps of plan `{0}` fix the queue depths. To change them, write your own plan file; \
         `qdepth plan --show {0}` prints this one"
    )]
    NotASweep(String),
    /// Invalid comparison.
    #[error("{0}")]
    Comparison(String),
    /// Invalid steps of a staircase.
    #[error("{0}")]
    Staircase(String),
    /// Steps for a plan that has no staircase.
    #[error(
        "plan `{0}` has no write-load steps, so --step-from, --step-to, --step-by and \
         --reader-rate do not apply. Use the plan `write-pressure`"
    )]
    NoStaircase(String),
    /// Loads on one target at the same time that differ in `direct`.
    #[error(
        "`{0}` and `{1}` run at the same time on one target, but only one of them uses direct I/O. \
         Use the same `direct` for both, or put them in two steps"
    )]
    Direct(String, String),
    /// A plan without points.
    #[error("nothing would be measured: {0}")]
    Empty(String),
    /// A shipped file that cannot be read: a bug.
    #[error("the shipped profile `{0}` cannot be read: {1}")]
    Shipped(String, String),
}
