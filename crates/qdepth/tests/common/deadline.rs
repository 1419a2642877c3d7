//! Deadline of a test's turn. A test that never ends would withhold the results of all others:
//! whoever waits for the suite would see neither a count nor a name.

use std::io::Write as _;
use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Time limit of a test. The longest takes 200 s on a quiet machine.
const LONGEST: Duration = Duration::from_secs(900);

static RUNNING: Mutex<Vec<(String, Instant)>> = Mutex::new(Vec::new());
static WATCH: Once = Once::new();

/// Deadline of the test on this thread, lifted when the value is dropped.
pub(super) struct Deadline {
    test: String,
}

impl Deadline {
    pub(super) fn starts() -> Self {
        WATCH.call_once(|| drop(thread::spawn(watch)));
        let test = thread::current().name().unwrap_or("a thread without a name").to_owned();
        running(|tests| tests.push((test.clone(), Instant::now())));
        Self { test }
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        running(|tests| {
            let ended = tests.iter().position(|(test, _)| *test == self.test);
            ended.map(|at| tests.swap_remove(at));
        });
    }
}

fn running<T>(work: impl FnOnce(&mut Vec<(String, Instant)>) -> T) -> T {
    work(&mut RUNNING.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Ends the process with the name of the first test that passes its deadline.
fn watch() {
    loop {
        thread::sleep(Duration::from_secs(1));
        let late = running(|tests| {
            let late = tests.iter().find(|(_, begun)| begun.elapsed() > LONGEST);
            late.map(|(test, _)| test.clone())
        });
        if let Some(test) = late {
            // Not `println!`, whose output the test harness captures.
            let line = format!("test {test} ... FAILED: it has not ended after {LONGEST:?}\n");
            let _ = std::io::stdout().write_all(line.as_bytes());
            std::process::abort();
        }
    }
}
