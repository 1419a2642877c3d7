//! Whether this process itself stood still: stopped, starved of CPU time, or frozen with its
//! machine. A thread beats; who beats late was not running, whatever the storage did meanwhile.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use qdepth_measure::{Instant, Nanos};

use crate::clock::now;

/// From one beat to the next: fifty wake-ups a second, none of them on a worker's path.
const BEAT: Nanos = Nanos::from_millis(20);
/// A beat that is this much later than it should be was kept from coming. A sleeper on a busy
/// machine waits some milliseconds for its turn.
const LATE: Nanos = Nanos::from_millis(80);
/// Standstills that are kept of a point; more than this many is one in every second of a day.
const KEPT: usize = 86_400;

/// A stretch without a beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standstill {
    /// The last beat before it.
    pub from: Instant,
    /// The first beat after it.
    pub to: Instant,
}

/// The beating thread.
#[derive(Debug)]
pub struct Pulse {
    end: Sender<()>,
    thread: Option<JoinHandle<Vec<Standstill>>>,
}

impl Pulse {
    /// Begins to beat.
    pub fn start() -> Self {
        let (end, ended) = channel();
        let thread = std::thread::spawn(move || {
            let mut found = Vec::new();
            let mut last = now();
            let ended = || ended.recv_timeout(Duration::from_nanos(BEAT.0));
            loop {
                let answer = ended();
                let this = now();
                if this.since(last) >= BEAT + LATE && found.len() < KEPT {
                    found.push(Standstill { from: last, to: this });
                }
                last = this;
                if answer != Err(RecvTimeoutError::Timeout) {
                    return found;
                }
            }
        });
        Self { end, thread: Some(thread) }
    }

    /// Ends, and says where it stood still.
    pub fn stop(mut self) -> Vec<Standstill> {
        let _ = self.end.send(());
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

/// How long the calling thread was ready to run and waited for a CPU, since it began; none where
/// the kernel does not say.
#[expect(clippy::disallowed_methods, reason = "a file of procfs, by its one name")]
pub fn waited_for_cpu() -> Option<Nanos> {
    // Documentation/scheduler/sched-stats.rst: time on a CPU, time waiting for one, both ns, turns.
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok().map(Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pulse_that_is_not_kept_from_beating_stands_still_nowhere_long() {
        let pulse = Pulse::start();
        let end = now() + Nanos::from_millis(200);
        while now() < end {
            std::hint::spin_loop();
        }
        // On a busy machine a beat may be late; it is not late by all of the time.
        let whole = pulse.stop().iter().map(|s| s.to.since(s.from).0).sum::<u64>();
        assert!(whole <= Nanos::from_millis(250).0, "{whole}");
    }

    #[test]
    fn the_kernel_counts_what_a_thread_waits() {
        let Some(before) = waited_for_cpu() else {
            println!("SKIPPED: the_kernel_counts_what_a_thread_waits: no schedstat");
            return;
        };
        std::thread::yield_now();
        assert!(waited_for_cpu().is_some_and(|after| after >= before));
    }
}
