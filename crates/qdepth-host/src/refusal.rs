//! Refusals and failures of this crate.

use std::fmt;
use std::path::Path;

/// Guard that refused. Its number is part of the message and never changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guard {
    /// The target is found once, by what it is and not by its name.
    G1Resolve,
    /// Nobody else holds the target.
    G2Exclusive,
    /// No volume, array or cache is built on the device.
    G3Holders,
    /// The device is mounted nowhere, in no mount namespace.
    G4Mounts,
    /// It is neither swap space nor the place of a hibernated system.
    G5Swap,
    /// It backs no loop device and is exported to nobody.
    G6Backing,
    /// It carries no data, or the user named what is lost.
    G7Contents,
    /// A file is one that we made, or empty.
    G8Ownership,
    /// The user consented to the loss of this very device.
    G9Consent,
    /// It is still the device that was looked at.
    G10Identity,
    /// It is not the disk of the system, of the results or of the program.
    G11System,
    /// It is not reached by a second path.
    G12Shared,
    /// All I/O stays within the target, and the file system keeps room.
    G13Bounds,
    /// Files are made only where measuring belongs.
    G14Place,
    /// A drive erases with its own commands no more than was named, and says that it has them.
    G16Purge,
}

impl Guard {
    /// `G1` to `G14`, and `G16`, as printed; G15 is the cluster's.
    pub const fn number(self) -> &'static str {
        match self {
            Self::G1Resolve => "G1",
            Self::G2Exclusive => "G2",
            Self::G3Holders => "G3",
            Self::G4Mounts => "G4",
            Self::G5Swap => "G5",
            Self::G6Backing => "G6",
            Self::G7Contents => "G7",
            Self::G8Ownership => "G8",
            Self::G9Consent => "G9",
            Self::G10Identity => "G10",
            Self::G11System => "G11",
            Self::G12Shared => "G12",
            Self::G13Bounds => "G13",
            Self::G14Place => "G14",
            Self::G16Purge => "G16",
        }
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.number())
    }
}

/// A no, given before anything was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("refused by guard {guard}, nothing was changed: {found}. {remedy}{}", self.stop())]
pub struct Refusal {
    /// Guard.
    pub guard: Guard,
    /// Problem, naming the device or file; no full stop at the end.
    pub found: String,
    /// Remedy; no full stop at the end.
    pub remedy: String,
    /// The words that the command line lacks, where a consent is all that is missing.
    pub lacks: Vec<String>,
}

impl Refusal {
    /// A refusal by `guard`.
    pub fn new(guard: Guard, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { guard, found: found.into(), remedy: remedy.into(), lacks: Vec::new() }
    }

    /// The same, for want of a consent that these words would be.
    #[must_use]
    pub(crate) fn lacking(self, words: Vec<String>) -> Self {
        Self { lacks: words, ..self }
    }

    /// Two refusals that both want a consent as one.
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

    /// Lines to be copied end without a full stop, or it would be copied with them.
    fn stop(&self) -> &'static str {
        if self.remedy.ends_with('\n') { "" } else { "." }
    }
}

/// Something that began and could not end.
#[derive(Debug, thiserror::Error)]
#[error("could not {doing} {thing}: {error}. {remedy}.")]
pub struct Failure {
    /// Action as an infinitive: `fill`.
    pub doing: &'static str,
    /// To what.
    pub thing: String,
    /// Error of the system; part of the text, and so not of the chain of causes.
    pub error: std::io::Error,
    /// Remedy; no full stop at the end.
    pub remedy: &'static str,
}

/// Either of the two ways not to succeed; they have different exit statuses.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// Nothing was changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It began and could not end.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// The refusal of a file with contents of somebody else.
pub(crate) fn not_ours(path: &Path) -> Refusal {
    Refusal::new(
        Guard::G8Ownership,
        format!("{} was not made by qdepth, or was not filled to its end", path.display()),
        "Give a directory, a new or empty file, or a plan that only reads",
    )
}
