//! Statistics of a server, and its timing accuracy.

use qdepth_measure::LatencyHistogram;

use crate::wire::{Command, Kind};

/// Served requests, and the timing accuracy.
#[derive(Clone, Debug, Default)]
pub struct Served {
    /// Clients that agreed on an export.
    pub clients: u64,
    /// Clients rejected because all slots were in use.
    pub turned_away: u64,
    /// Reads answered with success.
    pub reads: u64,
    /// Bytes of these reads.
    pub read_bytes: u64,
    /// Writes answered with success.
    pub writes: u64,
    /// Bytes of these writes.
    pub written_bytes: u64,
    /// Requests answered with an error.
    pub errors: u64,
    /// Time from the arrival of a request to its end on the device.
    pub latency: LatencyHistogram,
    /// Delay of answers after their due time.
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

    /// True if 99 % of the answers were at most 5 % of the mean service time late, or 5 µs if that
    /// is longer. `None` without requests.
    pub fn is_faithful(&self) -> Option<bool> {
        let (mean, late) = (self.latency.mean()?, self.late.quantile(0.99)?);
        Some(late.0 as f64 <= (mean * 0.05).max(5_000.0))
    }
}
