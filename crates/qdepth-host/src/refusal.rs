//! Refusals and failures of this crate.

use std::fmt;
use std::path::Path;

/// Guard that refused. Its number is part of the message (`G1` to `G14`, and `G16`; G15 is in the
/// cluster) and never changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guard {
    /// The target is looked up once, and identified by what it is, not by its name.
    G1Resolve = 1,
    /// Nothing else holds the target.
    G2Exclusive = 2,
    /// No volume, array or cache is built on the device.
    G3Holders = 3,
    /// The device is mounted nowhere, in no mount namespace.
    G4Mounts = 4,
    /// It is neither swap space nor the place of a hibernated system.
    G5Swap = 5,
    /// No loop device uses it, and it is not exported.
    G6Backing = 6,
    /// It holds no data, or the user named what is lost.
    G7Contents = 7,
    /// A file was created by qdepth, or is empty.
    G8Ownership = 8,
    /// The user consented to the loss of this device.
    G9Consent = 9,
    /// It is still the inspected device.
    G10Identity = 10,
    /// It is not the disk of the system, of the results or of the program.
    G11System = 11,
    /// It has no second path.
    G12Shared = 12,
    /// All I/O stays within the target, and the file system keeps free space.
    G13Bounds = 13,
    /// Files are created only outside of system directories.
    G14Place = 14,
    /// The drive supports its erase commands, and they erase no more than was named.
    G16Purge = 16,
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "G{}", *self as u8)
    }
}

/// Refusal of a guard, before anything was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("refused by guard {guard}, nothing was changed: {found}. {remedy}{}", self.stop())]
pub struct Refusal {
    /// Guard.
    pub guard: Guard,
    /// Problem, naming the device or file; no full stop at the end.
    pub found: String,
    /// Remedy; no full stop at the end.
    pub remedy: String,
    /// Words missing on the command line, if only a consent is missing.
    pub lacks: Vec<String>,
}

impl Refusal {
    /// A refusal by `guard`.
    pub fn new(guard: Guard, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { guard, found: found.into(), remedy: remedy.into(), lacks: Vec::new() }
    }

    /// The same refusal, for a missing consent with these words.
    #[must_use]
    pub(crate) fn lacking(self, words: Vec<String>) -> Self {
        Self { lacks: words, ..self }
    }

    /// Combines two refusals that both lack a consent.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let mut lacks = self.lacks;
        lacks.extend(other.lacks);
        Self {
            guard: self.guard,
            found: format!("{}; {}", self.found, other.found),
            remedy: format!("{}\n{}", self.remedy.trim_end(), other.remedy),
            lacks,
        }
    }

    /// Full stop of the remedy; empty if the remedy ends with lines to be copied, because it would
    /// be copied, too.
    fn stop(&self) -> &'static str {
        if self.remedy.ends_with('\n') { "" } else { "." }
    }
}

/// Error for an operation that began and could not be completed.
#[derive(Debug, thiserror::Error)]
#[error("could not {doing} {thing}: {error}. {remedy}.")]
pub struct Failure {
    /// Action as an infinitive: `fill`.
    pub doing: &'static str,
    /// Object of the operation.
    pub thing: String,
    /// Error of the system. It is part of the text, and therefore not in the chain of causes.
    pub error: std::io::Error,
    /// Remedy; no full stop at the end.
    pub remedy: &'static str,
}

/// Refusal or failure; they have different exit statuses.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// Refusal: nothing was changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Failure: it began and could not be completed.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// Refusal of a file with foreign contents.
pub(crate) fn not_ours(path: &Path) -> Refusal {
    Refusal::new(
        Guard::G8Ownership,
        format!("{} was not created by qdepth, or was not filled completely", path.display()),
        "Use a directory, a new or empty file, or a plan that only reads",
    )
}
