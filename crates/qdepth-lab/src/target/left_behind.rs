//! Time limits for a target that does not answer. The kernel cannot end a process that waits for
//! such a target, so the process is left behind (`qdepth_linux::supervised`).

use std::sync::atomic::{AtomicBool, Ordering};

use qdepth_engine::{Absence, FINAL_SYNC};
use qdepth_linux::{Limit, limit};
use qdepth_measure::Nanos;
use qdepth_workload::Point;

use crate::failure::FAILED;
use crate::target::identity::Identity;
use crate::target::prepare::Real;

/// Time for workers to end after their point: engines give up a target that does not answer 8 s
/// after the end of the point.
const WORKERS_END_WITHIN: Nanos = Nanos::from_secs(13);
/// Time for an answer if I/Os of a point never completed.
const ANSWERS_WITHIN: Nanos = Nanos::from_secs(3);

static HAS_NOT_ANSWERED: AtomicBool = AtomicBool::new(false);

/// Limit until the workers of a group must have ended.
pub(crate) fn unless_workers_end(group: &[Point]) -> Option<Limit> {
    let length = |point: &Point| {
        let sync = if point.fsync.at_end { FINAL_SYNC.0 } else { 0 };
        point.delay_ns.saturating_add(point.length_ns()).saturating_add(sync)
    };
    let longest = group.iter().map(length).max().unwrap_or(0);
    limit(Nanos(longest) + WORKERS_END_WITHIN, FAILED, line)
}

/// Limit for a request to a target; `None` unless a target has failed to answer before.
pub(crate) fn unless_it_answers() -> Option<Limit> {
    HAS_NOT_ANSWERED.load(Ordering::Relaxed).then(|| limit(ANSWERS_WITHIN, FAILED, line)).flatten()
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
