//! Time limits for a target that does not answer. The kernel cannot end a process that waits for
//! such a target, so the process is left behind (`qdepth_linux::supervised`).

use std::sync::atomic::{AtomicBool, Ordering};

use qdepth_engine::Absence;
use qdepth_linux::{Limit, limit};
use qdepth_measure::{Instant, Nanos};
use qdepth_workload::Point;

use crate::failure::FAILED;
use crate::monitor::progress::ProgressEvent;
use crate::target::identity::Identity;
use crate::target::prepare::Real;

/// Time for workers to end after their point: engines give up a target that does not answer 8 s
/// after the end of the point.
const WORKERS_END_WITHIN: Nanos = Nanos::from_secs(13);
/// Time for an answer if I/Os of a point never completed.
const ANSWERS_WITHIN: Nanos = Nanos::from_secs(3);

/// Time for closing files without buffered data. A server may store a file when it is closed.
const CLOSED_WITHIN: Nanos = Nanos::from_secs(60);

/// Time without a completed I/O, in points that end after a number of bytes.
const COMPLETES_WITHIN: Nanos = Nanos::from_secs(300);
/// Interval for renewing this limit.
const RENEWED_EVERY: Nanos = Nanos::from_secs(30);

static HAS_NOT_ANSWERED: AtomicBool = AtomicBool::new(false);

/// Limit until the workers of a group must have ended.
pub(crate) fn unless_workers_end(group: &[Point]) -> Option<Limit> {
    let length = group.iter().map(Point::length_ns).max().unwrap_or(0);
    limit(Nanos(length) + WORKERS_END_WITHIN, FAILED, line)
}

/// Limit for points that end after a number of bytes, which an unresponsive target never reaches.
/// Renewed while I/Os complete.
pub(crate) struct UnlessStuck(Option<(Instant, Option<Limit>)>);

impl UnlessStuck {
    pub(crate) fn start(group: &[Point]) -> Self {
        let is_by_bytes = |point: &Point| point.stop.bytes > 0 || point.stop.bytes_per_stream > 0;
        let before =
            group.iter().map(|point| point.delay_ns.saturating_add(point.warm_up_ns)).max();
        let within = COMPLETES_WITHIN + Nanos(before.unwrap_or(0));
        let is_limited = qdepth_linux::can_be_left() && group.iter().any(is_by_bytes);
        Self(is_limited.then(|| (qdepth_linux::now(), limit(within, FAILED, line))))
    }

    pub(crate) fn note(&mut self, event: &ProgressEvent<'_>) {
        let (Some((since, held)), ProgressEvent::Slice(_, interval)) = (&mut self.0, event) else {
            return;
        };
        let now = qdepth_linux::now();
        let completes = interval.completed.iter().any(|count| *count > 0);
        if completes && now.since(*since) >= RENEWED_EVERY {
            (*since, *held) = (now, limit(COMPLETES_WITHIN, FAILED, line));
        }
    }
}

/// Limit for a request to a target; `None` unless a target has failed to answer before.
pub(crate) fn unless_it_answers() -> Option<Limit> {
    HAS_NOT_ANSWERED.load(Ordering::Relaxed).then(|| limit(ANSWERS_WITHIN, FAILED, line)).flatten()
}

/// Limit for closing the files of a point with direct I/O.
pub(crate) fn unless_closed() -> Option<Limit> {
    unless_it_answers().or_else(|| limit(CLOSED_WITHIN, FAILED, line))
}

/// Identity of a target whose I/Os never completed: gone. Determined without a request that could
/// block. `None` if this process cannot be left behind.
pub(crate) fn unanswering(real: &Real) -> Option<Identity> {
    if !qdepth_linux::can_be_left() {
        return None;
    }
    HAS_NOT_ANSWERED.store(true, Ordering::Relaxed);
    Some(Identity::Gone(Absence::NotThere(real.claim()?.identity.stored())))
}

fn line() -> String {
    "qdepth: the target does not respond; the finished points are in the logbook. Its I/Os end \
     when it responds or is unmounted (`umount -f`). Then measure the rest with `qdepth run \
     --resume`"
        .to_owned()
}
