//! A step and its loads.

use crate::profile::Profile;
use crate::steps::LoadSpec;

/// Loads that run at the same time on each target.
pub(crate) struct Step {
    pub(crate) title: String,
    pub(crate) loads: Vec<Load>,
}

pub(crate) struct Load {
    pub(crate) profile: Profile,
    pub(crate) spec: LoadSpec,
}

impl Load {
    /// Requests in flight of each stream.
    pub(crate) fn queue_depth(&self) -> u32 {
        self.profile.writers.unwrap_or(self.spec.queue_depth)
    }
}
