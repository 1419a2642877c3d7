//! Guard G10: a device is still the same one.

use crate::identity::DeviceIdentity;
use crate::refusal::{Guard, Refusal};
use crate::system::System;

/// Guard G10: checks that the device is still the same one.
pub(crate) fn check_same(system: &System, then: &DeviceIdentity) -> Result<(), Refusal> {
    let now = identity_now(system, then)?;
    match then.difference(&now) {
        None => Ok(()),
        Some(changed) => Err(Refusal::new(
            Guard::G10Identity,
            format!("/dev/{} is no longer the same device: {changed}", then.kernel_name),
            "The device was changed or replaced: check it, then start again",
        )),
    }
}

/// Current identity of the device, or a refusal if it is gone.
fn identity_now(system: &System, then: &DeviceIdentity) -> Result<DeviceIdentity, Refusal> {
    DeviceIdentity::read(system, then.number).ok_or_else(|| {
        Refusal::new(
            Guard::G10Identity,
            format!("/dev/{} is gone", then.kernel_name),
            "Attach the device again and start a new run",
        )
    })
}
