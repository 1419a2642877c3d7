//! Signals that ask to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};

/// From now on a limit on the size of files (`RLIMIT_FSIZE`) answers with an error that can be
/// told, where its signal would end the program without a word. Others cannot be: SIGPIPE is
/// ignored by the language's runtime already.
pub fn outlive_limits() -> Result<()> {
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())
        .map(|_| ())
        .context("cannot watch for signals")
}

/// The signal that asked to stop: its number, and the flag that the loop looks at.
#[derive(Debug, Default)]
pub struct Signals {
    stop: Arc<AtomicBool>,
    terminated: Arc<AtomicBool>,
}

impl Signals {
    /// From now on SIGINT and SIGTERM ask to stop; the second one ends the program at once.
    pub fn watch() -> Result<Self> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        use signal_hook::flag::{register, register_conditional_shutdown};
        let signals = Self::default();
        for signal in [SIGINT, SIGTERM] {
            // The order matters: the shutdown looks at the flag before it is set.
            register_conditional_shutdown(signal, 128 + signal, signals.stop.clone())
                .and_then(|_| register(signal, signals.stop.clone()))
                .context("cannot watch for signals")?;
        }
        register(SIGTERM, signals.terminated.clone()).context("cannot watch for signals")?;
        Ok(signals)
    }

    /// Flag that is true when everything must stop.
    pub fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// The number of the signal that came, if one came.
    pub fn caught(&self) -> Option<i32> {
        let stopped = self.stop.load(Ordering::Relaxed);
        let terminated = self.terminated.load(Ordering::Relaxed);
        stopped.then_some(if terminated { 15 } else { 2 })
    }
}
