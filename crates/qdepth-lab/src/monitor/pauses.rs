//! Pauses of the load generator itself.

use qdepth_linux::Pause;
use qdepth_measure::{Instant, Nanos};

/// Lengths above which pauses are counted, the same as for gaps between completions.
const LENGTHS: [Nanos; 3] = [Nanos::from_millis(100), Nanos::from_secs(1), Nanos::from_secs(10)];

/// Pauses of the load generator in the window of a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct GeneratorPauses {
    pub(crate) longest: Nanos,
    /// Number of pauses over 100 ms, 1 s, 10 s.
    pub(crate) over: [u64; 3],
    /// Share of the time in which a worker was ready and had no CPU, for the worker that waited
    /// most.
    pub(crate) waited: f64,
}

impl GeneratorPauses {
    /// The pauses between these two moments.
    pub(crate) fn within(all: &[Pause], from: Instant, to: Instant, waited: f64) -> Self {
        let mut pauses = Self { waited, ..Self::default() };
        for pause in all {
            let length = pause.to.min(to).since(pause.from.max(from));
            pauses.longest = pauses.longest.max(length);
            for (count, limit) in pauses.over.iter_mut().zip(LENGTHS) {
                *count += u64::from(length > limit);
            }
        }
        pauses
    }

    /// Adds a later segment with this share of the total time.
    pub(crate) fn append(&mut self, later: &Self, share: f64) {
        self.longest = self.longest.max(later.longest);
        for (mine, theirs) in self.over.iter_mut().zip(later.over) {
            *mine += theirs;
        }
        self.waited += (later.waited - self.waited) * share;
    }
}
