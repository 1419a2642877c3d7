//! Latency of client and socket: measured before any client is served, with a client of qdepth and
//! a device without latency.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

use qdepth_engine::{Completions, Slot, Target};
use qdepth_measure::{LatencyHistogram, Nanos};
use qdepth_media::{MediaError, TargetExpression};
use qdepth_workload::{Direction, Request};

use crate::server::{ServeError, Server, clock, open};
use crate::wire::{REPLY_BYTES, request};

/// Request size, bytes, like the Database profile of the papers.
const BYTES: u32 = 8192;
/// Number of requests in sequence; the first `COLD` are warm-up.
const ALONE: u64 = 600;
const COLD: u64 = 100;
/// Number of requests with `IN_FLIGHT` at a time.
const TOGETHER: u64 = 6000;
const IN_FLIGHT: u64 = 32;
/// Number of reads to determine the mean latency of a device.
const READS: u64 = 200;
/// Share of the maximum rate without device latency that can be sustained with it. Above this
/// share, requests wait for the server (NBD server of a feasibility study: 81,000 of 171,000 per
/// second were three times too slow, 51,000 were not).
const SHARE: f64 = 0.3;

/// Latency of client and socket.
#[derive(Clone, Debug)]
pub struct TransportLatency {
    /// Latencies of single requests without device latency.
    pub alone: LatencyHistogram,
    /// Rate with 32 in flight, without device latency.
    pub requests_per_s: f64,
}

/// Assessment of a device before it is served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// Mean latency of the device for a single random read of 8 KiB.
    pub medium: Nanos,
    /// True if the median latency of client and socket does not exceed `medium`.
    pub fits: bool,
}

impl TransportLatency {
    /// Measures it, in a tenth of a second. `file` must be empty, and is not written.
    ///
    /// # Errors
    /// If a socket pair cannot be created or read.
    pub fn measured(file: File, awake: bool) -> Result<Self, ServeError> {
        let nothing = TargetExpression::read("media:null")?;
        let (client, ours) = UnixStream::pair()?;
        let server = Server::for_client(&nothing, ours, file)?.busy_polling(awake);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| {
                let asked = ask(client);
                stop.store(true, Ordering::Relaxed);
                asked
            });
            let served = server.serve(&stop, false);
            let asked = asking.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
            served.and(asked.map_err(ServeError::from))
        })
    }

    /// Lead of the answers: the median, because single delays are caused by the machine.
    pub fn lead(&self) -> Nanos {
        self.alone.quantile(0.5).unwrap_or(Nanos::ZERO)
    }

    /// Requests per second that the server can sustain.
    pub fn keeps_up_to(&self) -> f64 {
        self.requests_per_s * SHARE
    }

    /// Assesses if a device can be served at its own speed.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn outlook(&self, target: &TargetExpression) -> Result<Outlook, MediaError> {
        let medium = mean_read(target)?;
        Ok(Outlook { medium, fits: medium >= self.lead() })
    }
}

/// Client that sends one request at a time, then many.
fn ask(mut stream: UnixStream) -> io::Result<TransportLatency> {
    let mut answer = vec![0; REPLY_BYTES + BYTES as usize];
    let mut alone = LatencyHistogram::default();
    for number in 0..ALONE {
        let asked = clock();
        stream.write_all(&request(0, number, number * u64::from(BYTES), BYTES))?;
        stream.read_exact(&mut answer)?;
        if number >= COLD {
            alone.record(clock().saturating_sub(asked));
        }
    }
    let begun = clock();
    for number in 0..TOGETHER + IN_FLIGHT {
        if number < TOGETHER {
            stream.write_all(&request(0, number, number * u64::from(BYTES), BYTES))?;
        }
        if number >= IN_FLIGHT {
            stream.read_exact(&mut answer)?;
        }
    }
    let took = clock().saturating_sub(begun).0.max(1) as f64;
    Ok(TransportLatency { alone, requests_per_s: TOGETHER as f64 / took * 1e9 })
}

/// Mean latency of the device for a small random read with nothing else in flight.
fn mean_read(target: &TargetExpression) -> Result<Nanos, MediaError> {
    let (mut medium, capacity) = open(target)?;
    let blocks = capacity / u64::from(BYTES);
    let mut done = Completions::with_capacity(1);
    let mut sum = Nanos::ZERO;
    for number in 0..READS {
        // Distant offsets, never consecutive.
        let block = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % blocks.max(1);
        let offset = block * u64::from(BYTES);
        let begun = medium.now();
        medium.submit(Slot(0), Request { direction: Direction::Read, offset, size: BYTES });
        done.clear();
        while done.as_slice().is_empty() {
            let late = qdepth_measure::Instant(u64::MAX / 2);
            if medium.wait(late, &mut done).is_err() || medium.now() >= late {
                break;
            }
        }
        sum = Nanos(sum.0 + medium.now().since(begun).0);
    }
    Ok(Nanos(sum.0 / READS))
}
