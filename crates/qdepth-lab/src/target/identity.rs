//! Guard G10: checks before and after every point that a target is still the claimed one.

use qdepth_engine::Absence;
use qdepth_host::Refusal;
use qdepth_host::guard::Claim;
use qdepth_host::identity::Identity as Known;
use qdepth_host::system::System;
use qdepth_measure::label;

use crate::target::prepare::Real;

/// State of a target's identity.
pub(crate) enum Identity {
    /// Unchanged.
    Same,
    /// The target was removed or detached. Its points fail; those of other targets continue.
    Gone(Absence),
    /// Another device or file has taken its place, or its size has changed.
    Changed(Changed),
}

impl Identity {
    pub(crate) fn check(system: &System, real: &Real) -> Self {
        let Some(claim) = real.claim() else { return Self::Same };
        match claim.check_identity(system) {
            Ok(()) => Self::Same,
            Err(_) if claim.is_gone(system) => {
                Self::Gone(Absence::NotThere(claim.identity.stored()))
            }
            Err(refusal) => {
                Self::Changed(Changed::new(claim, claim.identity_now(system).as_ref(), refusal))
            }
        }
    }
}

/// The target is not the one that was claimed.
#[derive(Clone, Debug)]
pub(crate) struct Changed {
    /// Claimed identity and current identity, language-neutral.
    pub(crate) was: String,
    pub(crate) is: String,
    /// The same difference for people.
    found: String,
    remedy: String,
}

impl Changed {
    fn new(claim: &Claim, now: Option<&Known>, refusal: Refusal) -> Self {
        let Refusal { found, remedy, .. } = refusal;
        let is = now.map_or_else(|| label::NO_ANSWER.to_owned(), Known::stored);
        Self { was: claim.identity.stored(), is, found, remedy }
    }
}

impl std::fmt::Display for Changed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}. {}", self.found, self.remedy)
    }
}

impl std::error::Error for Changed {}
