//! Whether a target is still the one that was claimed (G10), asked before every point and after it.

use qdepth_host::Refusal;
use qdepth_host::guard::Claim;
use qdepth_host::system::System;

use crate::prepare::Real;

/// What became of a target.
pub(crate) enum Identity {
    /// Nothing: it is what was claimed.
    Same,
    /// It was pulled or detached. Its points fail; those of others go on.
    Gone(String),
    /// Another device or file stands in its place, or it has another size.
    Changed(Changed),
}

impl Identity {
    pub(crate) fn check(system: &System, real: &Real) -> Self {
        let Some(claim) = real.claim() else { return Self::Same };
        match claim.check_identity(system) {
            Ok(()) => Self::Same,
            Err(_) if claim.is_gone(system) => Self::Gone(format!("{} is gone", claim.identity)),
            Err(found) => Self::Changed(Changed::new(claim, found)),
        }
    }
}

/// The target is not the one that was claimed.
#[derive(Clone, Debug)]
pub(crate) struct Changed {
    pub(crate) was: String,
    pub(crate) is: String,
    remedy: String,
}

impl Changed {
    fn new(claim: &Claim, refusal: Refusal) -> Self {
        let Refusal { found, remedy, .. } = refusal;
        Self { was: claim.identity.to_string(), is: found, remedy }
    }
}

impl std::fmt::Display for Changed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}. {}", self.is, self.remedy)
    }
}

impl std::error::Error for Changed {}
