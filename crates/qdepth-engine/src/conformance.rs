//! Conformance rules of [`Target`]: one test suite for every target, emulated and real.

use qdepth_measure::{Instant, Nanos};
use qdepth_workload::{Direction, Request};

use crate::target::{Completions, Slot, Target};

/// Conformance rule that a target broke.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Broken(String);

fn law(holds: bool, what: impl FnOnce() -> String) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(Broken(what())) }
}

/// Checks the rules with up to `slots` requests of 4 KiB in flight; reads stay within `area` bytes.
///
/// # Errors
/// The first rule that the target breaks, as a sentence.
pub fn check<T: Target + ?Sized>(target: &mut T, slots: u32, area: u64) -> Result<(), Broken> {
    waiting_alone_ends_in_time(target)?;
    for depth in [1, 2, slots / 2, slots] {
        each_slot_completes_once(target, depth.clamp(1, slots), area)?;
    }
    nothing_is_left(target)
}

/// Largest delay after `until` of a real target's `wait` on a busy machine.
const SLACK: Nanos = Nanos::from_millis(500);

fn waiting_alone_ends_in_time<T: Target + ?Sized>(target: &mut T) -> Result<(), Broken> {
    let mut done = Completions::with_capacity(1);
    let before = target.now();
    let until = before + Nanos::from_millis(2);
    target.wait(until, &mut done).map_err(|e| Broken(e.to_string()))?;
    let after = target.now();
    law(done.as_slice().is_empty(), || {
        "a completion came though nothing was submitted".to_owned()
    })?;
    law(after >= until && after <= until + SLACK, || {
        format!("wait({until:?}) from {before:?} returned at {after:?}")
    })
}

fn each_slot_completes_once<T: Target + ?Sized>(
    target: &mut T,
    depth: u32,
    area: u64,
) -> Result<(), Broken> {
    let mut done = Completions::with_capacity(depth as usize);
    let mut issued = vec![None; depth as usize];
    let (mut former, mut left, mut to_submit) = (target.now(), depth * 8, depth * 8);
    for slot in 0..depth {
        submit(target, slot, area, to_submit, &mut issued);
        to_submit -= 1;
    }
    let limit = target.now() + Nanos::from_secs(60);
    while left > 0 {
        let now = target.now();
        law(now >= former, || format!("time went back from {former:?} to {now:?}"))?;
        law(now < limit, || format!("{left} requests did not complete within a minute"))?;
        former = now;
        done.clear();
        target.wait(limit, &mut done).map_err(|e| Broken(e.to_string()))?;
        let after = target.now_after(done.as_slice().len());
        let returned = target.now();
        law(after >= former && after <= returned, || {
            format!("{after:?} after completions lies outside {former:?} to {returned:?}")
        })?;
        for completion in done.as_slice() {
            let slot = completion.slot.0;
            let stamp = issued.get_mut(slot as usize).and_then(Option::take);
            let stamp: Instant = stamp
                .ok_or_else(|| Broken(format!("slot {slot} completed without being submitted")))?;
            law(completion.at >= stamp && completion.at <= returned, || {
                format!(
                    "slot {slot}: submitted {stamp:?}, stamped {:?}, returned {returned:?}",
                    completion.at
                )
            })?;
            law(after >= completion.at, || format!("{after:?} before {:?}", completion.at))?;
            law(completion.result == 4096, || {
                format!("slot {slot} returned {}", completion.result)
            })?;
            left -= 1;
            if to_submit > 0 {
                submit(target, slot, area, to_submit, &mut issued);
                to_submit -= 1;
            }
        }
    }
    Ok(())
}

fn submit<T: Target + ?Sized>(
    target: &mut T,
    slot: u32,
    area: u64,
    number: u32,
    issued: &mut [Option<Instant>],
) {
    issued[slot as usize] = Some(target.now());
    let offset = (u64::from(number) * 4096) % area;
    target.submit(Slot(slot), Request { direction: Direction::Read, offset, size: 4096 });
}

fn nothing_is_left<T: Target + ?Sized>(target: &mut T) -> Result<(), Broken> {
    let mut done = Completions::with_capacity(16);
    let until = target.now() + Nanos::from_millis(5);
    target.wait(until, &mut done).map_err(|e| Broken(e.to_string()))?;
    law(done.as_slice().is_empty(), || "a completion came twice".to_owned())
}
