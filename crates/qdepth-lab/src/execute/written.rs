//! Register of this run's latest writes by file, for points that verify reads.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use qdepth_workload::{BLOCKS_MAX, Generations, KNOWN_BLOCKS_MAX, Plan, Point};
use rustix::fs::fstat;

/// The writes of all points of a run in this process: a later point may read the data of an earlier
/// one.
#[derive(Default)]
pub(crate) struct Written {
    block_bytes: u64,
    end_bytes: u64,
    base: u32,
    /// End of the points whose checks depend on what the run wrote; 0 without any.
    known_end_bytes: u64,
    /// End of those that check only what the run wrote.
    only_written_end_bytes: u64,
    /// By device and inode.
    files: Mutex<BTreeMap<(u64, u64), Arc<Generations>>>,
}

impl Written {
    /// For the verifying points of a plan, all of whose requests are whole blocks.
    pub(crate) fn from_plan(plan: &Plan) -> Self {
        let verified = || plan.points.iter().filter(|point| point.verify);
        let lengths = |point: &Point| {
            let sizes = point.block_size.sizes.iter().map(|(bytes, _)| u64::from(*bytes));
            let places = [point.alignment_bytes, point.area.offset_bytes];
            let of_writes = point.own_writes.map(|own| own.alignment_bytes);
            sizes.chain(places).chain(of_writes).collect::<Vec<_>>()
        };
        let end = |counts: fn(&Point) -> bool| {
            let ends = verified().filter(|point| counts(point)).map(|point| point.area.end_bytes());
            ends.flatten().max().unwrap_or(0)
        };
        Self {
            block_bytes: verified().flat_map(lengths).fold(0, divisor),
            end_bytes: end(|_| true),
            known_end_bytes: end(|point| !point.verify_unwritten || point.verify_laid_out),
            only_written_end_bytes: end(|point| !point.verify_unwritten),
            // Different for each process that writes for the run, such as ranks and resumed runs.
            base: uuid::Uuid::new_v4().as_u128() as u32,
            files: Mutex::default(),
        }
    }

    /// The writes of a file, shared by all workers that opened it.
    pub(crate) fn of_file(&self, file: &OwnedFd) -> io::Result<Arc<Generations>> {
        let stat = fstat(file.as_fd())?;
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let writes = files.entry((stat.st_dev, stat.st_ino));
        let new = || {
            let new = Generations::new(self.block_bytes, self.end_bytes, self.base);
            Arc::new(new.knowing_written(self.known_end_bytes))
        };
        Ok(Arc::clone(writes.or_insert_with(new)))
    }

    /// Offset beyond which there are too many places to track their writes; `None` if all are
    /// tracked.
    pub(crate) fn distinguishable_to(&self) -> Option<u64> {
        let most = self.bytes_of(BLOCKS_MAX);
        (self.end_bytes > most).then_some(most)
    }

    /// Offset beyond which it is not known what the run wrote, so that some points check nothing.
    pub(crate) fn checked_to(&self) -> Option<u64> {
        let most = self.bytes_of(KNOWN_BLOCKS_MAX);
        (self.only_written_end_bytes > most).then_some(most)
    }

    fn bytes_of(&self, blocks: u64) -> u64 {
        self.block_bytes.max(8).saturating_mul(blocks)
    }
}

/// The greatest common divisor; for 0 and a number, the number.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_length_divides_every_io() {
        let block = |lengths: &[u64]| lengths.iter().copied().fold(0, divisor);
        assert_eq!(block(&[4096, 4096, 1 << 20]), 4096);
        assert_eq!(block(&[4096, 512, 0]), 512);
        assert_eq!(block(&[3000, 2000]), 1000);
        assert_eq!(block(&[]), 0);
    }
}
