//! Block sizes of a load: those of its profile, or the one that is chosen over them.

use qdepth_measure::Bytes;

use super::choices::Choices;
use crate::profile::{Profile, SizeSpec};
use crate::size::SizeMix;

/// Largest request: its bytes are counted in 32 bits, in which one value means none.
pub(super) const SIZE_MAX: u64 = u32::MAX as u64 - 1;

/// The request sizes of the profile, or the one that is chosen over it.
pub(super) fn chosen_sizes(
    profile: &Profile,
    choices: &Choices,
    block: u64,
) -> Result<SizeMix, String> {
    sizes(&chosen_spec(profile, choices), block)
}

fn chosen_spec(profile: &Profile, choices: &Choices) -> SizeSpec {
    let chosen = choices.block_size.map(|size| SizeSpec::One(size.to_string()));
    chosen.unwrap_or_else(|| profile.block_size.clone())
}

/// Why targets with this logical block size do not support the request sizes; `None` if they do.
pub(super) fn unsupported_sizes(
    profile: &Profile,
    choices: &Choices,
    block: u64,
) -> Option<String> {
    let list = listed(&chosen_spec(profile, choices)).ok()?;
    Some(unsupported(&list, block)?.0)
}

fn listed(spec: &SizeSpec) -> Result<Vec<(Bytes, u32)>, String> {
    match spec {
        SizeSpec::One(text) => Ok(vec![(text.parse::<Bytes>().map_err(|e| e.to_string())?, 1)]),
        SizeSpec::Mix(mix) => Ok(mix.iter().map(|m| (m.size, m.weight)).collect()),
    }
}

/// Why a size is not supported, and the next valid one.
fn unsupported(list: &[(Bytes, u32)], block: u64) -> Option<(String, Bytes)> {
    let invalid = |size: &Bytes| size.0 == 0 || size.0 > SIZE_MAX || !size.0.is_multiple_of(block);
    let size = list.iter().map(|(size, _)| *size).find(invalid)?;
    let decimal = size.0 > 0 && size.0.is_multiple_of(1000);
    let hint = if decimal { "; 1 KB is 1,000 bytes, 1 KiB is 1,024" } else { "" };
    let why = format!(
        "block size {size}: must be a multiple of {} on this target, and less than 4GiB{hint}",
        Bytes(block)
    );
    let most = SIZE_MAX / block * block;
    Some((why, Bytes(size.0.clamp(1, most).div_ceil(block) * block)))
}

pub(super) fn sizes(spec: &SizeSpec, block: u64) -> Result<SizeMix, String> {
    let list = listed(spec)?;
    if list.is_empty() {
        return Err("block_size must not be an empty list".to_owned());
    }
    if let Some((why, valid)) = unsupported(&list, block) {
        return Err(format!("{why}. Try --block-size {valid}"));
    }
    if let Some((_, weight)) = list.iter().find(|(_, weight)| !(1..=1_000_000).contains(weight)) {
        return Err(format!("weight {weight}: must be between 1 and 1000000"));
    }
    Ok(SizeMix { sizes: list.iter().map(|(size, weight)| (size.0 as u32, *weight)).collect() })
}
