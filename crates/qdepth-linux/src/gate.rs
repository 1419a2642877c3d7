//! A barrier that can be given up, so that no thread waits for one that could not be started.

use std::sync::{Condvar, Mutex, PoisonError};

/// Barrier for threads, reusable.
#[derive(Debug)]
pub struct Gate {
    all: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: usize,
    opened: u64,
    given_up: bool,
}

impl Gate {
    /// A barrier for this number of threads.
    pub fn new(all: usize) -> Self {
        Self { all, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits until all threads wait. Returns false if the barrier was given up.
    pub fn wait(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.waiting += 1;
        if state.waiting == self.all {
            state.waiting = 0;
            state.opened += 1;
            self.changed.notify_all();
            return !state.given_up;
        }
        let now = state.opened;
        let shut = |state: &mut State| state.opened == now && !state.given_up;
        let state = self.changed.wait_while(state, shut).unwrap_or_else(PoisonError::into_inner);
        state.opened != now
    }

    /// Releases all threads that wait now or will wait.
    pub fn give_up(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).given_up = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_pass_the_gate_repeatedly() {
        let gate = Gate::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert!((0..100).all(|_| gate.wait())));
            }
        });
    }

    #[test]
    fn abandoned_gate_releases_all_waiting_threads() {
        let gate = Gate::new(4);
        std::thread::scope(|scope| {
            let waiting: Vec<_> = (0..3).map(|_| scope.spawn(|| gate.wait())).collect();
            gate.give_up();
            assert!(waiting.into_iter().all(|thread| !thread.join().unwrap()));
        });
        assert!(!gate.wait(), "nor later");
    }
}
