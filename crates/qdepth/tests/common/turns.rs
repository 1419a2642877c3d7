//! Whose turn it is: tests of figures have the machine to themselves, one after the other; beside
//! the one of them, so many others run as there are CPUs. With many threads
//! (`RUST_TEST_THREADS`) those that wait keep nobody from running.

use std::cell::{Cell, RefCell};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
static OTHERS: Mutex<usize> = Mutex::new(0);
static ONE_ENDED: Condvar = Condvar::new();

thread_local! {
    static IS_ALONE: Cell<bool> = const { Cell::new(false) };
    static TURN: RefCell<Option<Turn>> = const { RefCell::new(None) };
}

/// That no other test of figures runs.
pub(crate) struct Alone(#[expect(dead_code, reason = "held")] MutexGuard<'static, ()>);

impl Drop for Alone {
    fn drop(&mut self) {
        IS_ALONE.set(false);
    }
}

/// What measures, or looks at the whole machine, waits until no other does.
pub(crate) fn alone() -> Alone {
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    IS_ALONE.set(true);
    Alone(guard)
}

/// One of those that run beside it.
struct Turn;

impl Drop for Turn {
    fn drop(&mut self) {
        *OTHERS.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        ONE_ENDED.notify_one();
    }
}

/// Waits for a turn, which lasts until the thread of the test ends. Threads that a test starts are
/// part of its turn, and have no name.
pub(super) fn turn() {
    let is_test = std::thread::current().name().is_some();
    if !is_test || IS_ALONE.get() || TURN.with_borrow(Option::is_some) {
        return;
    }
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let others = OTHERS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut others = ONE_ENDED
        .wait_while(others, |others| *others >= cpus)
        .unwrap_or_else(PoisonError::into_inner);
    *others += 1;
    TURN.set(Some(Turn));
}
