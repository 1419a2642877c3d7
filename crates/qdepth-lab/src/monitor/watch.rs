//! Loop of the thread that waits for the workers.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use qdepth_engine::Interval;

use crate::monitor::progress::ProgressEvent;

/// Number of samples that the screen may lag behind; further ones are dropped.
pub(crate) const SCREEN_LAG: usize = 64;

/// Passes on samples until the last worker has ended, and ticks between them.
pub(crate) fn watch(
    shown: &std::sync::mpsc::Receiver<(usize, Interval)>,
    seen: &mut dyn FnMut(ProgressEvent<'_>),
    heartbeat: &dyn Fn(),
) {
    loop {
        match shown.recv_timeout(Duration::from_millis(200)) {
            Ok((index, interval)) => seen(ProgressEvent::Slice(index, &interval)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        heartbeat();
        seen(ProgressEvent::Tick);
    }
}

pub(crate) fn bug() -> anyhow::Error {
    anyhow::anyhow!("a worker ended because of an internal error")
}
