//! Emulated points outside of a run, for comparison with other figures. Defines how long such a
//! point is measured. The results do not depend on the number of processors.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::Result;
use qdepth_engine::Outcome;
use qdepth_measure::Nanos;
use qdepth_media::TargetExpression;
use qdepth_workload::Point;

use crate::execute::virtual_time;
use crate::monitor::watch::bug;
use crate::target::prepare::{Prepared, emulation};

/// Virtual time before the window, many times the time that fills the write buffer of a drive.
pub const WARM_UP: Nanos = Nanos::from_millis(300);
/// Number of requests after which a window ends: the share of reads is then within 0.5 %.
const REQUESTS: u64 = 40_000;
/// Number of bytes after which a window of large requests ends, if each slot had at least twenty
/// requests.
const BYTES: u64 = 4 << 30;
const ROUNDS: u64 = 20;
/// Virtual time after which a window ends in any case.
pub const WINDOW: Nanos = Nanos::from_secs(60);

/// Bytes after which the window of a point ends.
pub fn window_bytes(point: &Point) -> u64 {
    let size = u64::from(point.block_size.max());
    let rounds = u64::from(point.in_flight_max()) * ROUNDS * size;
    (REQUESTS * size).min(BYTES.max(rounds))
}

/// Runs `work` for each item, on as many threads as there are processors. The results have no
/// particular order.
///
/// # Errors
/// If a thread panicked, which is a bug.
pub fn on_all_processors<T: Sync, R: Send>(
    all: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let some = || {
        let mut done = Vec::new();
        while let Some(item) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push(work(item));
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let parts = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(some)).collect();
        workers.into_iter().map(|w| w.join()).collect::<Vec<_>>()
    });
    let mut done = Vec::new();
    for part in parts {
        done.extend(part.map_err(|_| bug())?);
    }
    Ok(done)
}

/// Measures loads at the same time. The target of each load is the index of its emulated device.
///
/// # Errors
/// If a device cannot be opened for its load.
pub fn measure(
    media: &[TargetExpression],
    points: &[Point],
    stop: &AtomicBool,
) -> Result<Vec<Outcome>> {
    let targets = media.iter().map(|medium| emulation("".into(), medium.clone()));
    let targets = targets.collect::<Result<Vec<Prepared>>>()?;
    let measured = virtual_time::measure(&targets, points, None, None, stop, &mut |_| {})?;
    Ok(measured.into_iter().map(|result| result.outcome).collect())
}
