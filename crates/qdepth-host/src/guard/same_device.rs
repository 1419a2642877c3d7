//! G10: whether a device is still the one that it was.

use crate::identity::DeviceIdentity;
use crate::refusal::{Guard, Refusal};
use crate::system::System;

/// G10: the device is still the one it was.
pub(crate) fn check_same(system: &System, then: &DeviceIdentity) -> Result<(), Refusal> {
    let now = identity_now(system, then)?;
    match then.difference(&now) {
        None => Ok(()),
        Some(changed) => Err(Refusal::new(
            Guard::G10Identity,
            format!("/dev/{} is not the device it was: {changed}", then.kernel_name),
            "Start again: the device was changed or replaced",
        )),
    }
}

/// The identity of a device now, or the refusal that it is gone.
fn identity_now(system: &System, then: &DeviceIdentity) -> Result<DeviceIdentity, Refusal> {
    DeviceIdentity::read(system, then.number).ok_or_else(|| {
        Refusal::new(
            Guard::G10Identity,
            format!("/dev/{} is gone", then.kernel_name),
            "Attach the device again and start a new run",
        )
    })
}
