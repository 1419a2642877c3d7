//! Statistics of a server, and its timing accuracy.

use qdepth_measure::LatencyHistogram;

use crate::wire::{Command, Kind};

/// Served requests, and the timing accuracy.
#[derive(Clone, Debug, Default)]
pub struct Served {
    /// Clients that agreed on an export.
    pub clients: u64,
    /// Clients that found all places taken.
    pub turned_away: u64,
    /// Reads answered with success.
    pub reads: u64,
    /// Bytes of them.
    pub read_bytes: u64,
    /// Writes answered with success.
    pub writes: u64,
    /// Bytes of them.
    pub written_bytes: u64,
    /// Requests answered with an error.
    pub errors: u64,
    /// From arrival to the end that the medium decided on.
    pub service_time: LatencyHistogram,
    /// By how much answers were put down later than the medium decided.
    pub late: LatencyHistogram,
}

impl Served {
    pub(crate) fn count(&mut self, command: &Command, success: bool) {
        match command.kind {
            _ if !success => self.errors += 1,
            Kind::Read => {
                self.reads += 1;
                self.read_bytes += u64::from(command.length);
            }
            Kind::Write => {
                self.writes += 1;
                self.written_bytes += u64::from(command.length);
            }
            Kind::Flush | Kind::Trim | Kind::Disconnect | Kind::Unknown => {}
        }
    }

    /// True if nearly all answers left on time: 99 % of them at most 5 % of the mean service time
    /// late, or 5 µs if that is longer. `None` without requests.
    pub fn is_faithful(&self) -> Option<bool> {
        let (mean, late) = (self.service_time.mean()?, self.late.quantile(0.99)?);
        Some(late.0 as f64 <= (mean * 0.05).max(5_000.0))
    }
}
