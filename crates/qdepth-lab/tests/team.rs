//! Teams of threads: all ranks start together, all messages arrive, and no rank waits for a dead
//! one.

#![expect(clippy::disallowed_methods, reason = "tests hold the group against a clock of their own")]

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::Instant;

#[cfg(test)]
mod threads;

use qdepth_lab::ranks::{Loss, RankGroup, Transport};
use threads::{ThreadTransport, threads};

#[cfg(test)]
fn now() -> u64 {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    BEGAN.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

#[cfg(test)]
fn never() -> bool {
    false
}

/// Runs every rank on its own thread, and returns their results by rank.
#[cfg(test)]
fn all<T: Send>(size: u32, rank: impl Fn(RankGroup<ThreadTransport>) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let ends = threads(size, now).into_iter();
        let running: Vec<_> = ends.map(|end| scope.spawn(|| rank(RankGroup::new(end)))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn thousand_ranks_start_together_and_exchange_data() {
    let began = now();
    let starts = all(1000, |mut group| {
        let (start, offsets) = group.start(&never).unwrap();
        if group.is_leader() {
            assert_eq!(offsets.len(), 999);
            // A process has a single clock, so the true offset is 0 and must lie within the stated
            // error.
            assert!(offsets.iter().all(|skew| skew.offset_ns.unsigned_abs() <= skew.error_ns));
            group.broadcast(b"plan");
            let given = group.gather(&never);
            for (place, bytes) in given.into_iter().enumerate() {
                assert_eq!(bytes.unwrap(), (place as u64 + 1).to_le_bytes());
            }
        } else {
            assert_eq!(group.receive(&never).unwrap(), b"plan");
            group.give(&u64::from(group.rank()).to_le_bytes());
        }
        (start, group.rank())
    });
    let (first, _) = starts[0];
    println!("1000 ranks in {} ms", (now() - began) / 1_000_000);
    // Half of the longest round trip bounds the difference of the starts.
    assert!(starts.iter().all(|(start, _)| start.abs_diff(first) < 1_000_000_000));
}

#[test]
fn other_ranks_continue_after_a_rank_exits() {
    all(4, |mut group| {
        if group.rank() == 2 {
            return;
        }
        if group.is_leader() {
            let given = group.gather(&never);
            let lost: Vec<bool> = given.iter().map(Result::is_err).collect();
            assert_eq!(lost, [false, true, false]);
            assert_eq!(group.lost().unwrap().rank, 2);
            group.broadcast(b"end");
        } else {
            group.give(b"mine");
            assert_eq!(group.receive(&never).unwrap(), b"end");
        }
    });
}

/// Transport without answers, in virtual time: waiting advances the clock.
#[cfg(test)]
struct Silent(Cell<u64>);

impl Transport for Silent {
    fn rank(&self) -> u32 {
        0
    }

    fn size(&self) -> u32 {
        4
    }

    fn send(&mut self, _: u32, _: &[u8]) -> Result<(), String> {
        Ok(())
    }

    fn poll(&mut self, _: u32) -> Result<Option<Vec<u8>>, String> {
        Ok(None)
    }

    fn now_ns(&self) -> u64 {
        self.0.get()
    }

    fn pause(&mut self, ns: u64) {
        self.0.set(self.now_ns() + ns);
    }
}

#[test]
fn silent_rank_is_lost_after_five_seconds() {
    let mut group = RankGroup::new(Silent(Cell::new(0)));
    let lost = group.start(&never).unwrap_err();
    assert!(lost.rank == 1 && matches!(lost.why, Loss::Silent(5)), "{lost}");
    let passed = group.into_transport().now_ns();
    assert!((5_000_000_000..5_200_000_000).contains(&passed), "{passed} ns");
}

/// A launcher leaves the ranks of an ended job a second, however many of them are dead.
#[test]
fn silent_ranks_share_one_timeout_after_interrupt() {
    let mut group = RankGroup::new(Silent(Cell::new(0)));
    group.start(&|| true).unwrap_err();
    assert!(group.gather(&|| true).iter().all(Result::is_err));
    let passed = group.into_transport().now_ns();
    assert!((700_000_000..800_000_000).contains(&passed), "{passed} ns");
}

#[test]
fn failing_rank_reports_its_reason() {
    all(2, |mut group| {
        if group.is_leader() {
            let lost = group.start(&never).unwrap_err();
            assert_eq!(lost.to_string(), "rank 1 of 2 is lost: no room on its disk");
        } else {
            group.fail("no room on its disk");
        }
    });
}
