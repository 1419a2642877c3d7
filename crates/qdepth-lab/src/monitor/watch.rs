//! Watches the workers from the thread that waits for them.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use qdepth_engine::Interval;

use crate::monitor::sight::Sight;

/// Intervals that the screen may lag behind; later ones are not shown.
pub(crate) const SCREEN_LAG: usize = 64;

/// Shows slices until the last worker has ended, and between them that time has passed.
pub(crate) fn watch(
    shown: &std::sync::mpsc::Receiver<(usize, Interval)>,
    seen: &mut dyn FnMut(Sight<'_>),
    heartbeat: &dyn Fn(),
) {
    loop {
        match shown.recv_timeout(Duration::from_millis(200)) {
            Ok((index, interval)) => seen(Sight::Slice(index, &interval)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        heartbeat();
        seen(Sight::Tick);
    }
}

pub(crate) fn bug() -> anyhow::Error {
    anyhow::anyhow!("a worker ended by a bug of qdepth")
}
