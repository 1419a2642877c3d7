//! Guards of a block device, in their order.

use std::fs::File;
use std::os::fd::OwnedFd;

use qdepth_measure::Bytes;
use rustix::fs::OFlags;

use super::claim::{Claim, Usable};
use super::cleared::Cleared;
use super::exclusive::Use;
use super::in_use;
use super::labels::ToLabel;
use super::lower_claims;
use super::opening::{cannot_open, open_direct};
use super::writing::Writing;
use super::{signature, system_disk};
use crate::consent::{self, Consent};
use crate::identity::{Identity, check_same};
use crate::label::RESERVED_BYTES;
use crate::refusal::{Guard, Refusal};
use crate::stack::Stack;
use crate::sysfs;
use crate::system::System;
use crate::target::{BlockDevice, Inspected};

/// Asks all guards in their order. Writes nothing.
pub(super) fn clear(
    system: &System,
    target: &Inspected,
    found: &BlockDevice,
    consent: Option<&Consent>,
    writing: &Writing<'_>,
) -> Result<Cleared, Refusal> {
    let context = CheckContext::new(system, found, writing);
    context.all()?;
    let held = super::exclusive::hold(target)?;
    system.before_action("hold");
    super::others::no_writers(system, &context.stack, &target.expression)?;
    check_same(system, &found.identity)?;
    let size_bytes = bounds(found, &held)?;
    let reading = target.open(OFlags::RDONLY).map_err(|e| cannot_open(target, e))?;
    let reading = File::from(reading);
    contents(system, found, &reading, size_bytes, consent, writing)?;
    drop(reading);

    let (file, direct) = open_direct(target, OFlags::RDWR, writing.direct)?;
    super::exclusive::lock_device(&file, &target.expression, Use::Write)?;
    check_same(system, &found.identity)?;
    let claim = Claim {
        file,
        usable: Usable { offset: RESERVED_BYTES, length: usable_length(size_bytes) },
        identity: Identity::Device(found.identity.clone()),
        direct,
        writable: true,
        label: None,
        exclusive: Some(held),
    };
    let kernel_name = found.identity.kernel_name.clone();
    let device = Some(ToLabel { kernel_name, size_bytes });
    Ok(Cleared { claim, device, consent: consent.cloned() })
}

/// Inputs of the guards that need no open descriptor.
pub(super) struct CheckContext<'a> {
    system: &'a System,
    found: &'a BlockDevice,
    stack: Stack,
    writing: &'a Writing<'a>,
}

impl<'a> CheckContext<'a> {
    pub(super) fn new(
        system: &'a System,
        found: &'a BlockDevice,
        writing: &'a Writing<'a>,
    ) -> Self {
        let stack = Stack::of_device(system, &found.identity.kernel_name);
        Self { system, found, stack, writing }
    }

    /// Asks the guards that no consent overrides.
    pub(super) fn all(&self) -> Result<(), Refusal> {
        CHECKS.iter().try_for_each(|(_, check)| check(self))
    }

    fn system_disk(&self) -> Result<(), Refusal> {
        let names = self.stack.direct_devices();
        let names: Vec<String> =
            names.flat_map(|name| sysfs::overlapping(self.system, name)).collect();
        system_disk::check(self.system, &names, self.writing.results_dir)
    }

    fn exclusive(&self) -> Result<(), Refusal> {
        if !self.found.read_only {
            return lower_claims::nothing_claims(self.system, &self.stack);
        }
        Err(Refusal::new(
            Guard::G2Exclusive,
            format!("/dev/{} is read-only", self.found.identity.kernel_name),
            "Use a plan that only reads, or make the device writable (`blockdev --setrw`)",
        ))
    }
}

type Check = fn(&CheckContext<'_>) -> Result<(), Refusal>;

/// All guards that need no open descriptor, those of the system's own disk first.
pub(super) const CHECKS: [(Guard, Check); 7] = [
    (Guard::G11System, |context| context.system_disk()),
    (Guard::G4Mounts, |context| in_use::mounted(context.system, &context.stack)),
    (Guard::G5Swap, |context| in_use::swap(context.system, &context.stack)),
    (Guard::G6Backing, |context| in_use::backing(context.system, &context.stack)),
    (Guard::G3Holders, |context| in_use::holders(context.system, &context.stack)),
    (Guard::G12Shared, |context| in_use::shared(context.system, &context.stack)),
    (Guard::G2Exclusive, |context| context.exclusive()),
];

/// Guards G7 and G9: the user consented, and named what is lost.
fn contents(
    system: &System,
    found: &BlockDevice,
    reading: &File,
    size_bytes: u64,
    consent: Option<&Consent>,
    writing: &Writing<'_>,
) -> Result<(), Refusal> {
    // Signatures are read here, so that one message lists everything that is missing.
    let lost = match consent {
        Some(_) => Vec::new(),
        None => {
            signature::signatures(system, reading, &found.identity.kernel_name).unwrap_or_default()
        }
    };
    consented(system, found, consent, &lost, writing)?;
    nothing_unnamed(system, found, reading, size_bytes, consent)
}

/// Guard G9: there is a valid consent for this device. `lost` are the signatures on it.
pub(super) fn consented(
    system: &System,
    found: &BlockDevice,
    consent: Option<&Consent>,
    lost: &[String],
    writing: &Writing<'_>,
) -> Result<(), Refusal> {
    match consent {
        Some(consent) => consent.check(system, found, writing.now),
        None => Err(consent::missing(system, found, lost, writing.now)),
    }
}

/// Guard G7: the device holds nothing but signatures that the consent names, and data that qdepth
/// wrote. Remains of old contents after an earlier run of the same command need not be named.
pub(super) fn nothing_unnamed(
    system: &System,
    found: &BlockDevice,
    reading: &File,
    size_bytes: u64,
    consent: Option<&Consent>,
) -> Result<(), Refusal> {
    let name = &found.identity.kernel_name;
    let signatures = signature::signatures(system, reading, name)?;
    let named = |what: &str| consent.is_some_and(|c| c.overwrites(what));
    let is_lost = named(signature::UNKNOWN_DATA) || consent.is_some_and(Consent::is_used);
    let unnamed: Vec<&str> = signatures.iter().map(String::as_str).filter(|s| !named(s)).collect();
    if !unnamed.is_empty() {
        return Err(carries(name, &unnamed.join(", "), &unnamed));
    }
    if signatures.is_empty()
        && !is_lost
        && let Some(offset) = signature::first_data(reading, size_bytes)?
    {
        let what = format!("data of an unknown format, for example at byte {offset}");
        return Err(carries(name, &what, &[signature::UNKNOWN_DATA]));
    }
    Ok(())
}

fn carries(name: &str, what: &str, names: &[&str]) -> Refusal {
    Refusal::new(
        Guard::G7Contents,
        format!("/dev/{name} contains {what}"),
        format!("If all of it may be lost, add --overwrite-signature {}", names.join(",")),
    )
}

/// Guard G13: sysfs and the descriptor agree on the size, and there is room between the labels.
pub(super) fn bounds(found: &BlockDevice, held: &OwnedFd) -> Result<u64, Refusal> {
    let name = &found.identity.kernel_name;
    let size = rustix::fs::seek(held, rustix::fs::SeekFrom::End(0)).unwrap_or(0);
    if size != found.identity.size_bytes {
        return Err(Refusal::new(
            Guard::G10Identity,
            format!("/dev/{name} had {} B and now has {size} B", found.identity.size_bytes),
            "The device was changed or replaced: check it, then start again",
        ));
    }
    if usable_length(size) == 0 {
        return Err(Refusal::new(
            Guard::G13Bounds,
            format!(
                "/dev/{name} has {}, and 1 MiB at each end stays unused",
                Bytes(size).for_people()
            ),
            "Use a device of 4 MiB or more",
        ));
    }
    Ok(size)
}

fn usable_length(size_bytes: u64) -> u64 {
    size_bytes.saturating_sub(2 * RESERVED_BYTES) / 4096 * 4096
}
