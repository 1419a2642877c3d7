//! Scheduling of tests. Tests of texts and counts run first, two more at a time than there are
//! CPUs, because they wait for storage. Then tests of figures run, each alone on the machine. With
//! as many threads as tests (`RUST_TEST_THREADS`, set by `cargo xtask test`) these are two phases.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::deadline::Deadline;

/// Quiet time without new tests before the first test of figures begins, because the threads of
/// tests start one after the other.
const QUIET: Duration = Duration::from_millis(500);

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
static SHARED_TURNS: Mutex<SharedTurns> = Mutex::new(SharedTurns { running: 0, waiting: 0 });
/// True once a test of figures has begun.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
static ONE_ENDED: Condvar = Condvar::new();

thread_local! {
    static IS_ALONE: Cell<bool> = const { Cell::new(false) };
    static TURN: RefCell<Option<Turn>> = const { RefCell::new(None) };
}

/// Counts of the tests that may run together.
struct SharedTurns {
    running: usize,
    waiting: usize,
}

/// Guard of a test that runs alone.
pub(crate) struct ExclusiveTurn {
    _turn: MutexGuard<'static, ()>,
    _deadline: Deadline,
    begun: CpuTime,
}

impl Drop for ExclusiveTurn {
    /// A failure prints the steal time: `cargo xtask test` discards the failure if the hypervisor
    /// took the CPUs.
    fn drop(&mut self) {
        IS_ALONE.set(false);
        if std::thread::panicking() {
            println!("{TEST_OF_FIGURES}: {:.1} % stolen", self.begun.stolen_percent());
        }
    }
}

/// Prefix of the line that a failed test of figures prints; xtask/src/suite.rs reads it.
const TEST_OF_FIGURES: &str = "TEST OF FIGURES";

/// CPU time of the machine since boot, in ticks.
struct CpuTime {
    whole: u64,
    stolen: u64,
}

impl CpuTime {
    /// Reads the current values; zero if the kernel does not report them.
    fn now() -> Self {
        let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let line = stat.lines().next().unwrap_or_default();
        let ticks: Vec<u64> =
            line.split_whitespace().skip(1).filter_map(|word| word.parse().ok()).collect();
        // Fields: user, nice, system, idle, iowait, irq, softirq, steal; guest time is included in
        // user.
        let whole = ticks.iter().take(8).sum();
        Self { whole, stolen: ticks.get(7).copied().unwrap_or(0) }
    }

    #[expect(clippy::cast_precision_loss, reason = "a share of ticks")]
    fn stolen_percent(&self) -> f64 {
        let now = Self::now();
        let whole = now.whole.saturating_sub(self.whole).max(1);
        100.0 * now.stolen.saturating_sub(self.stolen) as f64 / whole as f64
    }
}

/// Waits until no other test runs or is waiting. For tests that compare figures with a known truth.
pub(crate) fn exclusive_turn() -> ExclusiveTurn {
    // A turn that this thread already has is released first.
    TURN.set(None);
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let quiet = if HAS_BEGUN.load(Ordering::Relaxed) { Duration::ZERO } else { QUIET };
    let mut since = Instant::now();
    loop {
        let shared = SHARED_TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.running + shared.waiting > 0 {
            since = Instant::now();
        } else if since.elapsed() >= quiet {
            break;
        }
        drop(shared);
        super::pause(20);
    }
    HAS_BEGUN.store(true, Ordering::Relaxed);
    IS_ALONE.set(true);
    ExclusiveTurn { _turn: guard, _deadline: Deadline::starts(), begun: CpuTime::now() }
}

/// Turn of a test that may run next to others.
struct Turn {
    _deadline: Deadline,
}

impl Drop for Turn {
    fn drop(&mut self) {
        SHARED_TURNS.lock().unwrap_or_else(PoisonError::into_inner).running -= 1;
        ONE_ENDED.notify_one();
    }
}

/// Waits for a turn, which lasts until the test's thread ends. Threads that a test starts are
/// unnamed and belong to its turn.
pub(super) fn turn() {
    let is_test = std::thread::current().name().is_some();
    if !is_test || IS_ALONE.get() || TURN.with_borrow(Option::is_some) {
        return;
    }
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut shared = SHARED_TURNS.lock().unwrap_or_else(PoisonError::into_inner);
    shared.waiting += 1;
    let mut shared = ONE_ENDED
        .wait_while(shared, |shared| shared.running > cpus + 1)
        .unwrap_or_else(PoisonError::into_inner);
    shared.waiting -= 1;
    shared.running += 1;
    drop(shared);
    TURN.set(Some(Turn { _deadline: Deadline::starts() }));
}
