//! A target that every guard has let pass.

use std::fs::File;

use super::claim::Claim;
use super::labels::{Unlabelled, put_label};
use super::writing::Writing;
use crate::identity::Identity;
use crate::refusal::Failure;
use crate::seal::{DeviceSeal, Seal};
use crate::system::System;

/// A target that every guard has let pass, held, with nothing written to it yet.
#[derive(Debug)]
pub struct Cleared {
    pub(super) claim: Claim,
    pub(super) system: System,
    pub(super) unlabelled: Option<Unlabelled>,
}

impl Cleared {
    /// Takes it: a device that bears no label of ours gets one, which is the first thing written.
    ///
    /// # Errors
    /// The failure to write the label.
    pub fn claim(mut self, writing: &Writing<'_>) -> Result<Claim, Failure> {
        if let Some(device) = &self.unlabelled {
            let file = File::from(self.claim.file);
            self.claim.label = Some(put_label(&file, device, writing)?);
            self.claim.file = file.into();
        }
        if let (Identity::Device(device), Some(label)) = (&self.claim.identity, &self.claim.label) {
            let (device, label) = (device.clone(), label.clone());
            let file = self.claim.file.try_clone().map_err(|source| Failure {
                doing: "hold",
                thing: format!("/dev/{}", device.kernel_name),
                source,
                remedy: "Raise the limit of open files (`ulimit -n`)",
            })?;
            let seal = DeviceSeal { system: self.system, device, file, label };
            self.claim.seal = Some(Seal::of_device(seal));
        }
        Ok(self.claim)
    }
}
