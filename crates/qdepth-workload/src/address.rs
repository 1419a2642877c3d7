//! Where requests go: random, sequential, or a mix, aligned, within an area, without division.

use rand_xoshiro::rand_core::Rng;

use crate::distribution::{Distribution, Placement};
use crate::plan::Extent;

/// The rule for one stream's offsets.
#[derive(Clone, Debug)]
pub struct AddressPattern {
    area: Extent,
    alignment: u64,
    /// Random where a draw of 32 bits is below this.
    random_threshold: u64,
    /// Where the former request ended.
    end: u64,
    /// Places that a request of the former size may begin at, and that size: a division a size
    /// and not a request.
    places: u64,
    size: u64,
    distribution: Distribution,
    /// Made for the number of places at hand; none where each is alike.
    placement: Option<Box<Placement>>,
}

impl AddressPattern {
    /// Offsets in `area` at whole multiples of `alignment` bytes, a `random_share` (0..=1) of them
    /// random and the others following the former request.
    pub fn new(area: Extent, alignment: u64, random_share: f64) -> Self {
        let random_threshold = (random_share * 4_294_967_296.0).round() as u64;
        Self {
            area,
            alignment,
            random_threshold,
            end: 0,
            places: 0,
            size: u64::MAX,
            distribution: Distribution::Uniform,
            placement: None,
        }
    }

    /// The same with random accesses that fall by `distribution`.
    #[must_use]
    pub fn with(self, distribution: Distribution) -> Self {
        Self { distribution, ..self }
    }

    /// The offset of the next request of `size` bytes: always wholly inside the area. The lower 32
    /// bits of `draw` say whether it is random.
    #[inline]
    pub fn next(&mut self, draw: u64, random: &mut impl Rng, size: u64) -> u64 {
        if size != self.size {
            self.size = size;
            self.places = (self.area.length_bytes - size) / self.alignment + 1;
            if self.distribution != Distribution::Uniform {
                let placement = Placement::new(self.distribution, self.places, random);
                self.placement = Some(Box::new(placement));
            }
        }
        let start = if (draw & 0xffff_ffff) >= self.random_threshold {
            self.following()
        } else if let Some(placement) = &mut self.placement {
            placement.draw(random) * self.alignment
        } else {
            // Lemire's multiply-shift (ACM TOMACS 29:1, 2019) without the rejection step: with n
            // places the bias is below n / 2^64, under 1e-9 for an exbibyte.
            let product = u128::from(random.next_u64()) * u128::from(self.places);
            (product >> 64) as u64 * self.alignment
        };
        self.end = start + size;
        self.area.offset_bytes + start
    }

    #[inline]
    fn following(&self) -> u64 {
        let aligned = if self.alignment.is_power_of_two() {
            (self.end + self.alignment - 1) & !(self.alignment - 1)
        } else {
            self.end.next_multiple_of(self.alignment)
        };
        if aligned + self.size <= self.area.length_bytes { aligned } else { 0 }
    }
}
