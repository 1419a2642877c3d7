//! Verdicts of all guards, for users who want to know them: each guard is asked, nothing is
//! written, and no descriptor is returned. Claims are made elsewhere, and stop at the first
//! refusal.

use std::fs::File;

use rustix::fs::OFlags;

use super::device::{self, CHECKS, CheckContext};
use super::opening::cannot_open;
use super::{Writing, claim_read_only, exclusive, file};
use crate::consent::Consent;
use crate::identity::check_same;
use crate::refusal::{Failure, Guard, Problem, Refusal};
use crate::system::System;
use crate::target::{BlockDevice, Inspected, Kind};

/// Verdict of one guard on a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Passed.
    Passes,
    /// Refused.
    Refuses(Refusal),
    /// Not asked, because an earlier guard refused.
    NotAsked,
}

/// Guards with their verdicts, in the order in which they are asked.
pub type Verdicts = Vec<(Guard, Verdict)>;

/// Verdicts on a device or an existing file, for writing, or for reading if `writing` is `None`. A
/// device in use is not even opened; any other is held for a moment. For a directory or an empty
/// file, use [`crate::measurement_file::review`].
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

/// Verdicts of guards that are asked in this order up to the first refusal.
fn in_order(order: &[Guard], refusal: Option<Refusal>) -> Verdicts {
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

/// Verdicts of guards that are asked in this order, and the cleared target if none refused.
///
/// # Errors
/// If they could not be asked.
pub(crate) fn verdicts<T>(
    order: &[Guard],
    cleared: Result<T, Problem>,
) -> Result<(Verdicts, Option<T>), Failure> {
    match cleared {
        Ok(cleared) => Ok((in_order(order, None), Some(cleared))),
        Err(Problem::Refused(refusal)) => Ok((in_order(order, Some(refusal)), None)),
        Err(Problem::Failed(failure)) => Err(failure),
    }
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
