//! A target whose pages leave the page cache after each pass over its area.

use std::num::NonZeroU64;
use std::os::fd::OwnedFd;

use qdepth_engine::{Completions, CpuTime, Shard, Slot, Target, TargetFailure};
use qdepth_measure::Instant;
use qdepth_workload::{Distribution, Extent, Point, Request};
use rustix::fs::{Advice, fadvise, fdatasync};
use rustix::io::Errno;

/// Writes back the pages of a point's area, and drops them from the page cache.
///
/// # Errors
/// If the write-back fails.
pub(super) fn drop_pages(file: &OwnedFd, point: &Point) -> rustix::io::Result<()> {
    match fdatasync(file) {
        Ok(()) | Err(Errno::ROFS | Errno::INVAL) => drop_clean(file, area(point)),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// The area of a point; of a file of its own, all.
fn area(point: &Point) -> Extent {
    if point.layout.makes_files() { Extent::default() } else { point.area }
}

fn drop_clean(file: &OwnedFd, area: Extent) {
    // Without effect on a file system that keeps no pages.
    let _ = fadvise(file, area.offset_bytes, NonZeroU64::new(area.length_bytes), Advice::DontNeed);
}

/// True if a point drops its pages again after each pass. As in fio, requests at random places
/// without a random map are one pass, however long it is, unless the job has several loops, which
/// end by bytes.
pub(super) fn drops_again(point: &Point) -> bool {
    let wraps = point.random_share <= 0.0 || point.distribution == Distribution::EachOnce;
    point.drop_cache && (wraps || point.stop.bytes_per_stream > 0)
}

/// Drops the area's pages whenever its requests have moved as many bytes as the area has, like fio
/// at the end of a pass. Pages that are not written back stay.
pub(super) struct Dropping<'a> {
    inner: &'a mut dyn Target,
    file: OwnedFd,
    area: Extent,
    pass_bytes: u64,
    /// Bytes until the end of the pass.
    left: u64,
}

impl<'a> Dropping<'a> {
    pub(super) fn new(inner: &'a mut dyn Target, file: OwnedFd, shard: &Shard<'_>) -> Self {
        let area = area(shard.point);
        let share = u64::from(shard.streams.end - shard.streams.start);
        let part = shard.point.area.length_bytes / u64::from(shard.point.streams.max(1));
        let pass_bytes = part.saturating_mul(share);
        Self { inner, file, area, pass_bytes, left: pass_bytes }
    }
}

impl Target for Dropping<'_> {
    fn now(&mut self) -> Instant {
        self.inner.now()
    }

    fn submit(&mut self, slot: Slot, request: Request) {
        if self.left == 0 {
            drop_clean(&self.file, self.area);
            self.left = self.pass_bytes;
        }
        self.left = self.left.saturating_sub(request.size.into());
        self.inner.submit(slot, request);
    }

    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        self.inner.wait(until, done)
    }

    fn now_after(&mut self, taken: usize) -> Instant {
        self.inner.now_after(taken)
    }

    fn cpu_time(&mut self) -> CpuTime {
        self.inner.cpu_time()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::calibrate::null_point;

    #[test]
    fn pages_stay_while_random_places_repeat() {
        let mut point = null_point().unwrap();
        point.drop_cache = true;
        (point.random_share, point.distribution) = (1.0, Distribution::Uniform);
        assert!(!drops_again(&point));
        point.block_size.sizes = vec![(4096, 1), (8192, 1)];
        assert!(!drops_again(&point), "several sizes");
        point.stop.bytes_per_stream = 1 << 20;
        assert!(drops_again(&point));
        point.stop.bytes_per_stream = 0;
        point.distribution = Distribution::EachOnce;
        assert!(drops_again(&point));
        (point.random_share, point.distribution) = (0.0, Distribution::Uniform);
        assert!(drops_again(&point));
        point.drop_cache = false;
        assert!(!drops_again(&point));
    }
}
