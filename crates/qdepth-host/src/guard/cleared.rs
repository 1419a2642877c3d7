//! A target that has passed all guards.

use std::fs::File;

use super::claim::Claim;
use super::labels::{ToLabel, put_label};
use super::writing::Writing;
use crate::consent::Consent;
use crate::refusal::Failure;

/// A target that has passed all guards. It is held, and nothing is written to it yet.
#[derive(Debug)]
pub struct Cleared {
    pub(super) claim: Claim,
    pub(super) device: Option<ToLabel>,
    pub(super) consent: Option<Consent>,
}

impl Cleared {
    /// Claims the target. A device gets a label, which is the first thing written.
    ///
    /// # Errors
    /// The failure to write the label.
    pub fn claim(mut self, writing: &Writing<'_>) -> Result<Claim, Failure> {
        if let Some(consent) = &self.consent {
            consent.note_use();
        }
        if let Some(device) = &self.device {
            let file = File::from(self.claim.file);
            self.claim.label = Some(put_label(&file, device, writing)?);
            self.claim.file = file.into();
        }
        Ok(self.claim)
    }
}
