//! Detection of pauses of this process: stopped, starved of CPU time, or frozen with its machine. A
//! thread beats; a late beat means that the process did not run, independent of the storage.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use qdepth_measure::{Instant, Nanos};

use crate::clock::now;

/// Interval between two beats: fifty wake-ups per second, none of them in a worker.
const BEAT: Nanos = Nanos::from_millis(20);
/// Delay of a beat from which it counts as a pause. On a busy machine, a sleeping thread waits some
/// milliseconds for a CPU.
const LATE: Nanos = Nanos::from_millis(80);
/// Largest number of pauses that are kept per point: one in every second of a day.
const KEPT: usize = 86_400;

/// A pause of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The last beat before the pause.
    pub from: Instant,
    /// The first beat after the pause.
    pub to: Instant,
}

/// The beating thread.
#[derive(Debug)]
pub struct Pulse {
    end: Sender<()>,
    thread: Option<JoinHandle<Vec<Pause>>>,
}

impl Pulse {
    /// Starts the thread.
    pub fn start() -> Self {
        let (end, ended) = channel();
        let thread = std::thread::spawn(move || {
            let mut beats = Beats { last: now(), found: Vec::new() };
            loop {
                let answer = ended.recv_timeout(Duration::from_nanos(BEAT.0));
                beats.add(now());
                if answer != Err(RecvTimeoutError::Timeout) {
                    return beats.found;
                }
            }
        });
        Self { end, thread: Some(thread) }
    }

    /// Stops the thread, and returns the pauses.
    pub fn stop(mut self) -> Vec<Pause> {
        let _ = self.end.send(());
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

/// The last beat, and the pauses so far.
struct Beats {
    last: Instant,
    found: Vec<Pause>,
}

impl Beats {
    fn add(&mut self, this: Instant) {
        if this.since(self.last) >= BEAT + LATE && self.found.len() < KEPT {
            self.found.push(Pause { from: self.last, to: this });
        }
        self.last = this;
    }
}

/// Time that the calling thread was ready but had no CPU, since its start; `None` if the kernel
/// does not report it.
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
    fn only_late_beats_are_pauses() {
        let at = |ms| Instant(0) + Nanos::from_millis(ms);
        let mut beats = Beats { last: at(0), found: Vec::new() };
        for ms in [20, 41, 140, 240, 260, 1_260, 1_280] {
            beats.add(at(ms));
        }
        let late =
            [(140, 240), (260, 1_260)].map(|(from, to)| Pause { from: at(from), to: at(to) });
        assert_eq!(beats.found, late);
    }

    #[test]
    fn pauses_lie_between_start_and_stop() {
        let before = now();
        let pulse = Pulse::start();
        while now() < before + Nanos::from_millis(50) {
            std::hint::spin_loop();
        }
        let found = pulse.stop();
        let after = now();
        assert!(found.iter().all(|still| before <= still.from && still.to <= after), "{found:?}");
        assert!(found.is_sorted_by(|earlier, later| earlier.to <= later.from), "{found:?}");
    }

    #[test]
    fn cpu_wait_time_is_read_from_schedstat() {
        let Some(before) = waited_for_cpu() else {
            println!("SKIPPED: cpu_wait_time_is_read_from_schedstat: no schedstat");
            return;
        };
        std::thread::yield_now();
        assert!(waited_for_cpu().is_some_and(|after| after >= before));
    }
}
