//! Signals that ask to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};

/// Ignores SIGXFSZ, so that a limit on file sizes (`RLIMIT_FSIZE`) gives an error that can be
/// reported, instead of ending the program silently. Rust's runtime already ignores SIGPIPE.
pub fn outlive_limits() -> Result<()> {
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())
        .map(|_| ())
        .context("cannot watch for signals")
}

/// Signals that ask to stop: the flag that the loop checks, and the number of the signal.
#[derive(Debug, Default)]
pub struct Signals {
    stop: Arc<AtomicBool>,
    terminated: Arc<AtomicBool>,
    hung_up: Arc<AtomicBool>,
}

impl Signals {
    /// Installs the handlers: SIGINT, SIGTERM and SIGHUP ask to stop. A second SIGINT or SIGTERM
    /// ends the program at once; not a second SIGHUP, because both the kernel and the shell send
    /// one when a terminal is closed. A SIGHUP that `nohup` ignores stays ignored.
    pub fn watch() -> Result<Self> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        use signal_hook::flag::{register, register_conditional_shutdown};
        let signals = Self::default();
        for signal in [SIGINT, SIGTERM] {
            // The order matters: the conditional shutdown must check the flag before the flag is
            // set.
            register_conditional_shutdown(signal, 128 + signal, signals.stop.clone())
                .and_then(|_| register(signal, signals.stop.clone()))
                .context("cannot watch for signals")?;
        }
        register(SIGTERM, signals.terminated.clone()).context("cannot watch for signals")?;
        if !qdepth_linux::ignores(SIGHUP) {
            for flag in [&signals.hung_up, &signals.stop] {
                register(SIGHUP, flag.clone()).context("cannot watch for signals")?;
            }
        }
        Ok(signals)
    }

    /// Flag that is true when everything must stop.
    pub fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// Number of the signal that arrived; `None` if none did.
    pub fn caught(&self) -> Option<i32> {
        let stopped = self.stop.load(Ordering::Relaxed);
        let [terminated, hung_up] =
            [&self.terminated, &self.hung_up].map(|flag| flag.load(Ordering::Relaxed));
        stopped.then_some(match (terminated, hung_up) {
            (true, _) => 15,
            (false, true) => 1,
            (false, false) => 2,
        })
    }
}
