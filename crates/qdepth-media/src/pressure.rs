//! Write pressure: random writes at a fixed rate in addition to the measured load.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::io::Io;
use crate::ssd::Ssd;
use crate::tick::{Tick, micros};

/// Size of a write (fio script of the Optane paper: blocksize=8k).
const SIZE: u32 = 8192;

/// Drive with write pressure.
#[derive(Clone, Debug)]
pub(crate) struct Pressured {
    pub(crate) drive: Ssd,
    gap: Tick,
    next: Tick,
    positions: u64,
    random: Xoshiro256PlusPlus,
}

impl Pressured {
    pub(crate) fn new(drive: Ssd, bytes_per_s: u64, capacity: u64, seed: u64) -> Self {
        let gap = micros(f64::from(SIZE) * 1e6 / bytes_per_s as f64);
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { drive, gap, next: gap, positions: capacity / u64::from(SIZE), random }
    }

    /// Submits a request after all pressure writes that arrived earlier. The order of arrival is
    /// kept, so it does not matter that they are submitted late.
    pub(crate) fn submit(&mut self, now: Tick, io: Io) -> Tick {
        while self.next <= now {
            let position = (u128::from(self.random.next_u64()) * u128::from(self.positions)) >> 64;
            let offset = position as u64 * u64::from(SIZE);
            self.drive.submit(self.next, Io { read: false, trim: false, offset, size: SIZE });
            self.drive.completed();
            self.next += self.gap;
        }
        self.drive.submit(now, io)
    }
}
