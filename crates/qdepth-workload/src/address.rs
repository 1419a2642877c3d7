//! Where requests go: random, sequential, or a mix, aligned, within an area, without division.

use rand_xoshiro::rand_core::Rng;

use crate::plan::Extent;

/// The rule for one stream's offsets.
#[derive(Clone, Debug)]
pub struct AddressPattern {
    area: Extent,
    alignment: u64,
    /// Random where a draw of 32 bits is below this.
    random_threshold: u64,
    cursor: u64,
}

impl AddressPattern {
    /// Offsets in `area` at whole multiples of `alignment` bytes, a `random_share` (0..=1) of them
    /// random and the others following the former request.
    pub fn new(area: Extent, alignment: u64, random_share: f64) -> Self {
        let random_threshold = (random_share * 4_294_967_296.0).round() as u64;
        Self { area, alignment, random_threshold, cursor: 0 }
    }

    /// The offset of the next request of `size` bytes: always wholly inside the area.
    #[inline]
    pub fn next(&mut self, random: &mut impl Rng, size: u64) -> u64 {
        let last = self.area.length_bytes - size;
        let draw = random.next_u64();
        let start = if (draw & 0xffff_ffff) < self.random_threshold {
            // Lemire's multiply-shift (ACM TOMACS 29:1, 2019) without the rejection step: with n
            // places the bias is below n / 2^64, under 1e-9 for an exbibyte.
            let places = u128::from(last / self.alignment + 1);
            ((u128::from(random.next_u64()) * places) >> 64) as u64 * self.alignment
        } else if self.cursor <= last {
            self.cursor
        } else {
            0
        };
        self.cursor = (start + size).next_multiple_of(self.alignment);
        self.area.offset_bytes + start
    }
}
