//! Why no medium can be made.

use qdepth_media::MediaError;
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
        /// How many are needed.
        need: usize,
    },
    /// No set of parameters of the kind comes near the points.
    #[error("no medium of the kind `{kind}` answers these loads: {why}")]
    NoMedium {
        /// Name of the kind.
        kind: String,
        /// What was tried.
        why: String,
    },
    /// The medium cannot be opened under a load.
    #[error(transparent)]
    Media(#[from] MediaError),
    /// It was stopped.
    #[error("interrupted")]
    Interrupted,
}
