//! Errors of fits and predictions.

use crate::MediaError;
use thiserror::Error;

/// Error of a fit or a prediction.
#[derive(Debug, Error)]
pub enum FitError {
    /// Too few measured points.
    #[error(
        "points with a single load: {have}, but a device model needs {need}. Measure \
         them with `qdepth run fit TARGET` (`fit-read` writes nothing)"
    )]
    TooFew {
        /// Usable points.
        have: usize,
        /// Required points.
        need: usize,
    },
    /// No point can be held out, so the error of the model would be unknown.
    #[error(
        "valid points with a single load: {have}, but none lies between two others of its \
         profile, so none can be held out to estimate the error of the model. Measure valid points \
         at three queue depths or more, for example `qdepth run fit TARGET --queue-depth 1,2,4`"
    )]
    NoneBetween {
        /// Usable points.
        have: usize,
    },
    /// No parameters of this kind reproduce the points.
    #[error("no device model of the kind `{kind}` can serve these loads: {why}")]
    NoMedium {
        /// Name of the kind.
        kind: String,
        /// Reason.
        why: String,
    },
    /// The device model cannot be opened for a load.
    #[error(transparent)]
    Media(#[from] MediaError),
    /// `stop` was set.
    #[error("interrupted")]
    Interrupted,
}
