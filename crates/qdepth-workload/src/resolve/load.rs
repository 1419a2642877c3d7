//! A load of a step.

use crate::profile::Profile;
use crate::steps::LoadSpec;

pub(crate) struct Load {
    pub(crate) profile: Profile,
    pub(crate) spec: LoadSpec,
}
