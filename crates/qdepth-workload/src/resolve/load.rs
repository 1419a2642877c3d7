//! A load of a step.

use crate::profile::Profile;
use crate::steps::LoadSpec;

pub(crate) struct Load {
    pub(crate) profile: Profile,
    pub(crate) spec: LoadSpec,
}

impl Load {
    /// Requests in flight of each stream.
    pub(crate) fn outstanding(&self) -> u32 {
        self.profile.writers.unwrap_or(self.spec.outstanding)
    }
}
