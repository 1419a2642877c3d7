//! Addresses of requests: random, sequential, or a mix, aligned, within an area, without division.

use rand_xoshiro::rand_core::Rng;

use crate::cover::Cover;
use crate::distribution::{Distribution, Placement};
use crate::layout::Extent;

/// The rule for one stream's offsets.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressPattern {
    area: Extent,
    alignment: u64,
    /// An access is random if 32 drawn bits are below this.
    random_threshold: u64,
    /// Start of the previous request, as if it had the current size: its end minus that size.
    former: u64,
    /// Number of start positions for the size of the previous request, and that size: one division
    /// for each new size instead of one for each request.
    positions: u64,
    size: u64,
    /// Placement for each size, with the size; empty if all positions are equally likely.
    placements: Vec<(u64, Placement)>,
    /// Map of the blocks that random accesses of several sizes have covered.
    cover: Option<Cover>,
    /// Index of the previous size.
    current: usize,
    /// True if sequential requests move towards the start of the area. Such a pattern is not
    /// [plain](Self::is_plain).
    pub(crate) backwards: bool,
}

impl AddressPattern {
    /// Offsets in `area` at whole multiples of `alignment` bytes, a `random_share` (0..=1) of them
    /// random and the others following the previous request.
    pub(crate) fn new(area: Extent, alignment: u64, random_share: f64) -> Self {
        let random_threshold = (random_share * 4_294_967_296.0).round() as u64;
        Self { area, alignment, random_threshold, ..Self::default() }
    }

    /// Adds a distribution of the random accesses of these sizes. Popular positions are nearly the
    /// same for each size.
    #[must_use]
    pub(crate) fn with(
        mut self,
        distribution: &Distribution,
        sizes: impl Iterator<Item = u64>,
        random: &(impl Rng + Clone),
    ) -> Self {
        let sizes: Vec<u64> = sizes.collect();
        if *distribution == Distribution::EachOnce && sizes.len() > 1 {
            self.cover =
                Cover::new(self.alignment, (self.area.length_bytes / self.alignment).max(1));
        } else if *distribution != Distribution::Uniform {
            let placement = |size: u64| {
                let positions = self.position_count(size);
                (size, Placement::new(distribution.clone(), positions, &mut random.clone()))
            };
            self.placements = sizes.into_iter().map(placement).collect();
        }
        self
    }

    fn position_count(&self, size: u64) -> u64 {
        self.area.length_bytes.saturating_sub(size) / self.alignment + 1
    }

    /// The offset and size of the next request of at most `size` bytes: always wholly inside the
    /// area. The lower 32 bits of `draw` decide whether it is random. Only a map of covered blocks
    /// shortens requests.
    #[inline(always)]
    pub(crate) fn next(&mut self, draw: u64, random: &mut impl Rng, size: u32) -> (u64, u32) {
        let random_access = (draw & 0xffff_ffff) < self.random_threshold;
        if random_access && let Some(cover) = &mut self.cover {
            let (start, bytes) = cover.draw(random, size.into());
            self.settle(bytes);
            self.former = start;
            return (self.area.offset_bytes + start, bytes as u32);
        }
        (self.next_of_size(draw, random, size.into()), size)
    }

    #[inline(always)]
    fn next_of_size(&mut self, draw: u64, random: &mut impl Rng, size: u64) -> u64 {
        if size != self.size {
            self.settle(size);
        }
        let random_access = (draw & 0xffff_ffff) < self.random_threshold;
        if random_access && let Some((_, placement)) = self.placements.get_mut(self.current) {
            let start = placement.draw(random) * self.alignment;
            self.former = start;
            return self.area.offset_bytes + start;
        }
        if self.backwards && !random_access {
            self.former = self.preceding();
            return self.area.offset_bytes + self.former;
        }
        self.next_alike(draw, random)
    }

    /// Sets the size of the following requests.
    pub(crate) fn settle(&mut self, size: u64) {
        self.former = self.end().wrapping_sub(size);
        self.size = size;
        self.positions = self.position_count(size);
        self.current =
            self.placements.iter().position(|(of_size, _)| *of_size == size).unwrap_or(0);
    }

    /// Starts the sequential requests at a position drawn with 64 random bits.
    pub(crate) fn begin_at(&mut self, draw: u64) {
        let positions = self.position_count(self.size);
        let position = ((u128::from(draw) * u128::from(positions)) >> 64) as u64;
        self.former = (position * self.alignment).wrapping_sub(self.size);
    }

    /// Begins new passes of all distributions.
    pub(crate) fn restart(&mut self, random: &mut impl Rng) {
        self.placements.iter_mut().for_each(|(_, placement)| placement.restart(random));
        self.cover.iter_mut().for_each(Cover::restart);
    }

    /// Start of the area.
    pub(crate) fn begin(&self) -> u64 {
        self.area.offset_bytes
    }

    /// True if all positions are equally likely, and sequential requests move towards the end of
    /// the area.
    pub(crate) fn is_plain(&self) -> bool {
        self.placements.is_empty() && self.cover.is_none() && !self.backwards
    }

    /// Offset of the next request of the size that [`settle`](Self::settle) has set. Random
    /// positions are equally likely, and sequential requests move towards the end of the area.
    #[inline(always)]
    pub(crate) fn next_alike(&mut self, draw: u64, random: &mut impl Rng) -> u64 {
        let start = if (draw & 0xffff_ffff) < self.random_threshold {
            // Lemire's multiply-shift (ACM TOMACS 29:1, 2019) without the rejection step: with n
            // positions the bias is below n / 2^64, under 1e-9 for an exbibyte.
            let product = u128::from(random.next_u64()) * u128::from(self.positions);
            (product >> 64) as u64 * self.alignment
        } else {
            self.following()
        };
        self.former = start;
        self.area.offset_bytes + start
    }

    /// End of the previous request.
    #[inline]
    fn end(&self) -> u64 {
        self.former.wrapping_add(self.size)
    }

    /// Start of the next request of a backwards pattern: one alignment before the previous request,
    /// or the last position if nothing is before it or there was no request.
    fn preceding(&self) -> u64 {
        let last = (self.positions - 1) * self.alignment;
        let before = self.former.checked_sub(self.alignment);
        before.filter(|before| *before <= last).unwrap_or(last)
    }

    #[inline]
    fn following(&self) -> u64 {
        let end = self.end();
        let aligned = if self.alignment.is_power_of_two() {
            (end + self.alignment - 1) & !(self.alignment - 1)
        } else {
            end.next_multiple_of(self.alignment)
        };
        if aligned + self.size <= self.area.length_bytes { aligned } else { 0 }
    }
}
