//! Emulated points that no run is made of: figures that are put beside others. How long such a
//! point is measured is told here; what comes out depends on no number of processors.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::Result;
use qdepth_engine::Outcome;
use qdepth_measure::Nanos;
use qdepth_media::TargetExpression;
use qdepth_workload::Point;

use crate::execute::virtual_time;
use crate::target::prepare::{Prepared, emulation};

/// Virtual time before the window: many times what fills the write buffer of a drive.
pub const WARM_UP: Nanos = Nanos::from_millis(300);
/// A window ends after this many requests: the share of reads is then within 0.5 %.
const REQUESTS: u64 = 40_000;
/// Large requests end it after this many bytes, but not before each slot had twenty.
const BYTES: u64 = 4 << 30;
const ROUNDS: u64 = 20;
/// … or after so long.
pub const WINDOW: Nanos = Nanos::from_secs(60);

/// Bytes after which the window of a point ends.
pub fn window_bytes(point: &Point) -> u64 {
    let size = u64::from(point.request_size.max());
    let rounds = u64::from(point.in_flight_max()) * ROUNDS * size;
    (REQUESTS * size).min(BYTES.max(rounds))
}

/// Does the work for each, in as many threads as there are processors; in any order.
///
/// # Errors
/// If one of them panicked: a bug.
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
        done.extend(part.map_err(|_| anyhow::anyhow!("a worker ended by a bug of qdepth"))?);
    }
    Ok(done)
}

/// Measures loads at the same time, each on the medium that its target is the index of.
///
/// # Errors
/// If a medium cannot be opened for its load.
pub fn measure(
    media: &[TargetExpression],
    points: &[Point],
    stop: &AtomicBool,
) -> Result<Vec<Outcome>> {
    let targets = media.iter().map(|medium| emulation("".into(), medium.clone()));
    let targets = targets.collect::<Result<Vec<Prepared>>>()?;
    let measured = virtual_time::measure(&targets, points, None, stop, &mut |_| {})?;
    Ok(measured.into_iter().map(|result| result.outcome).collect())
}
