//! The guards' verdicts for somebody who only wants to know: asked one by one, nothing is written,
//! nothing is handed out. Claims are made elsewhere, and stop at the first refusal.

use std::fs::File;

use rustix::fs::OFlags;

use super::device::{self, CHECKS, CheckContext};
use super::opening::cannot_open;
use super::same_device::check_same;
use super::{Writing, claim_read_only, exclusive, file};
use crate::consent::Consent;
use crate::refusal::{Guard, Refusal};
use crate::system::System;
use crate::target::{BlockDevice, Inspected, Kind};

/// Verdict of a guard on a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It lets it pass.
    Passes,
    /// It does not.
    Refuses(Refusal),
    /// It was not asked, since another one refused before.
    NotAsked,
}

/// Guards in the order in which they are asked, each with what it says.
pub type Verdicts = Vec<(Guard, Verdict)>;

/// The verdicts on a device or an existing file, for writing, or for reading where `writing` is
/// none. A device that is in use is not even opened; one that is not is held for the moment of
/// looking. Of a directory or an empty file [`crate::measurement_file::review`] tells.
pub fn review(
    system: &System,
    target: &Inspected,
    consent: Option<&Consent>,
    writing: Option<&Writing<'_>>,
) -> Verdicts {
    match (&target.kind, writing) {
        (Kind::BlockDevice(found), Some(writing)) => {
            device(system, target, found, consent, writing)
        }
        (_, Some(writing)) => {
            let order = [
                Guard::G14Place,
                Guard::G5Swap,
                Guard::G6Backing,
                Guard::G8Ownership,
                Guard::G2Exclusive,
                Guard::G10Identity,
            ];
            in_order(&order, file::claim(system, target, consent, writing).err())
        }
        (_, None) => {
            let order =
                [Guard::G1Resolve, Guard::G2Exclusive, Guard::G10Identity, Guard::G13Bounds];
            in_order(&order, claim_read_only(system, target, true).err())
        }
    }
}

/// Guards that are asked until the first refusal.
pub(crate) fn in_order(order: &[Guard], refusal: Option<Refusal>) -> Verdicts {
    let Some(refusal) = refusal else {
        return order.iter().map(|guard| (*guard, Verdict::Passes)).collect();
    };
    let index = order.iter().position(|guard| *guard == refusal.guard).unwrap_or(order.len());
    let mut verdicts: Verdicts =
        order[..index].iter().map(|guard| (*guard, Verdict::Passes)).collect();
    verdicts.push((refusal.guard, Verdict::Refuses(refusal)));
    verdicts.extend(order.iter().skip(index + 1).map(|guard| (*guard, Verdict::NotAsked)));
    verdicts
}

fn to_verdict(result: Result<(), Refusal>) -> Verdict {
    result.map_or_else(Verdict::Refuses, |()| Verdict::Passes)
}

fn device(
    system: &System,
    target: &Inspected,
    found: &BlockDevice,
    consent: Option<&Consent>,
    writing: &Writing<'_>,
) -> Verdicts {
    let context = CheckContext::new(system, found, writing);
    let mut verdicts: Verdicts =
        CHECKS.iter().map(|(guard, check)| (*guard, to_verdict(check(&context)))).collect();
    let opened = [Guard::G10Identity, Guard::G13Bounds, Guard::G7Contents, Guard::G9Consent];
    if verdicts.iter().any(|(_, verdict)| *verdict != Verdict::Passes) {
        verdicts.extend(opened.map(|guard| (guard, Verdict::NotAsked)));
        return verdicts;
    }
    let held = match exclusive::hold(target) {
        Ok(held) => held,
        Err(refusal) => {
            verdicts.retain(|(guard, _)| *guard != refusal.guard);
            verdicts.push((refusal.guard, Verdict::Refuses(refusal)));
            verdicts.extend(opened.map(|guard| (guard, Verdict::NotAsked)));
            return verdicts;
        }
    };
    verdicts.push((Guard::G10Identity, to_verdict(check_same(system, &found.identity))));
    verdicts.push((Guard::G13Bounds, to_verdict(device::bounds(found, &held).map(|_| ()))));
    let contents = contents(system, target, found, consent);
    let consented = device::consented(system, found, consent, &[], writing);
    verdicts.push((Guard::G7Contents, to_verdict(contents)));
    verdicts.push((Guard::G9Consent, to_verdict(consented)));
    verdicts
}

fn contents(
    system: &System,
    target: &Inspected,
    found: &BlockDevice,
    consent: Option<&Consent>,
) -> Result<(), Refusal> {
    let reading = target.open(OFlags::RDONLY).map_err(|e| cannot_open(target, e))?;
    let size_bytes = found.identity.size_bytes;
    device::nothing_unnamed(system, found, &File::from(reading), size_bytes, consent)
}
