//! Bytes that no storage can compress.

/// SplitMix64 (Steele, Lea, Flood 2014): one draw.
pub(crate) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Fills `bytes`, whose length is a multiple of 8, with draws.
pub(crate) fn fill(bytes: &mut [u8], state: &mut u64) {
    for word in bytes.chunks_exact_mut(8) {
        word.copy_from_slice(&split_mix(state).to_le_bytes());
    }
}
