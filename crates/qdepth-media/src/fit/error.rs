//! Why no medium can be made.

use crate::MediaError;
use thiserror::Error;

/// Why a medium cannot be made from points, or a load not be predicted.
#[derive(Debug, Error)]
pub enum FitError {
    /// Too little was measured.
    #[error(
        "{have} points of one load at a time were measured, and a medium needs {need}: measure \
         with `qdepth run fit TARGET` (`fit-read` writes nothing)"
    )]
    TooFew {
        /// Usable points.
        have: usize,
        /// Number of needed points.
        need: usize,
    },
    /// None of the points can be kept back, so that nothing would say what the medium is worth.
    #[error(
        "{have} points of one load at a time were valid, and none of them lies between two others \
         of its profile, so that none can be kept back to say what a medium is worth: measure with \
         at least three intensities at which points are valid, for example `qdepth run fit TARGET \
         --queue-depth 1,2,4`"
    )]
    NoneBetween {
        /// Usable points.
        have: usize,
    },
    /// No set of parameters of the kind comes near the points.
    #[error("no medium of the kind `{kind}` answers these loads: {why}")]
    NoMedium {
        /// Name of the kind.
        kind: String,
        /// Attempted fit.
        why: String,
    },
    /// The medium cannot be opened under a load.
    #[error(transparent)]
    Media(#[from] MediaError),
    /// It was stopped.
    #[error("interrupted")]
    Interrupted,
}
