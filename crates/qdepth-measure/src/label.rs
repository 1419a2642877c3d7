//! Codes used as texts of findings: stored as they are, and worded by the catalogues. Any other
//! text is a name, a number, or output of the system or another program.

/// The machine was suspended while the point was measured.
pub const SUSPENDED: &str = "suspended";
/// The CPU time that the hypervisor took.
pub const STEAL: &str = "cpu-steal";
/// The kernel's counters of a device.
pub const DEVICE_COUNTERS: &str = "device-counters";
/// The kernel accepted direct I/O and did buffered I/O.
pub const IGNORED: &str = "ignored-by-the-kernel";
/// A file system accepted direct writes and wrote through the page cache.
pub const DIRECT_WRITES_CACHED: &str = "direct-writes-cached";
/// The storage is memory.
pub const IN_MEMORY: &str = "in-memory";
/// A loop device reads and writes its file through the page cache.
pub const LOOP_WITHOUT_DIRECT_IO: &str = "loop-without-direct-io";
/// Parts of a file are the same blocks of the device.
pub const SHARED_EXTENTS: &str = "shared-extents";
/// The file system stores the data compressed.
pub const COMPRESSED: &str = "compressed";
/// Errors that occurred only before or after the measured window.
pub const OUTSIDE: &str = "outside-the-window";
/// A target whose identity can no longer be read.
pub const NO_ANSWER: &str = "no-answer";
/// An emulated device stores no data, so that reads cannot be verified.
pub const NOTHING_TO_VERIFY: &str = "nothing-to-verify";
/// An emulated device completes all writes alike, so that a sync has nothing to force out.
pub const NOTHING_TO_FORCE: &str = "nothing-to-force";
/// Buffers registered with the kernel before the first request.
pub const REGISTERED_BUFFERS: &str = "registered-buffers";
/// A ring that system calls name by its registered index.
pub const REGISTERED_RING: &str = "registered-ring";
/// A ring with a single issuer, whose kernel tasks run only when it waits.
pub const DEFERRED_TASKS: &str = "deferred-tasks";
/// Requests that the kernel starts without a kernel thread.
pub const NEVER_BLOCKS: &str = "never-blocks";
/// A repeating timeout.
pub const REPEATING_LIMIT: &str = "repeating-limit";
/// A transfer inside the area that moved zero bytes.
pub const NOTHING_MOVED: &str = "nothing-moved";
/// A path at which no target answers.
pub const NOT_THERE: &str = "not-there";
/// A failed system call of an engine that affects all requests.
pub const CALL_FAILED: &str = "call-failed";
/// An engine whose threads have all ended.
pub const THREADS_ENDED: &str = "threads-ended";
/// A rank that sends no heartbeat.
pub const RANK_SILENT: &str = "rank-silent";
/// A rank that does not stop when it is asked to.
pub const RANK_NOT_ENDING: &str = "rank-not-ending";
/// A rank that MPI does not reach.
pub const RANK_UNREACHABLE: &str = "rank-unreachable";
/// A rank that reported that it cannot continue.
pub const RANK_FAILED: &str = "rank-failed";
/// An `io_uring` without features that a ring needs.
pub const RING_TOO_OLD: &str = "ring-too-old";
/// An operation that the kernel's `io_uring` does not support.
pub const NO_OPERATION: &str = "no-operation";
/// More memory than one registered buffer may hold.
pub const BUFFERS_TOO_LARGE: &str = "buffers-too-large";
/// A kernel file with unexpected contents.
pub const NOT_IN_ITS_FORM: &str = "not-in-its-form";
/// The record of a run itself.
pub const RUN_RECORD: &str = "run-record";
/// Record of a point, named by its position in the plan.
pub const POINT_RECORD: &str = "point-record";
/// Record of a point with an uncertain position, named by its row.
pub const POINT_ROW: &str = "point-row";
/// The list of a run's points.
pub const POINT_LIST: &str = "point-list";
/// The list of runs.
pub const RUN_LIST: &str = "run-list";
/// Code for an error without a code or a kernel number.
pub const NOT_USABLE: &str = "not-usable";
/// Directions of requests.
pub const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];
/// Verdicts on rounds.
pub const ROUNDS: [&str; 5] = ["too-short", "steady", "cyclic", "drifting", "never-steady"];
/// Counts that must be equal.
pub const COUNTS: [&str; 2] = ["issued", "histogram"];
/// Separator between codes in one text.
pub const BETWEEN: &str = "; ";

/// Labels whose text may be a code.
const CODED: [&str; 15] = [
    "code",
    "direction",
    "errors",
    "evidence",
    "feature",
    "is",
    "law",
    "monitor",
    "parts",
    "record",
    "remarks",
    "rule",
    "state",
    "what",
    "why",
];

/// True if the text of this label may be a code. Other labels hold names given by users, the kernel
/// or other programs: a directory named `steady` is not a state.
pub fn may_be_code(label: &str) -> bool {
    CODED.contains(&label)
}

/// Every code.
pub fn all() -> impl Iterator<Item = &'static str> {
    let alone = [
        SUSPENDED,
        STEAL,
        DEVICE_COUNTERS,
        IGNORED,
        DIRECT_WRITES_CACHED,
        IN_MEMORY,
        LOOP_WITHOUT_DIRECT_IO,
        SHARED_EXTENTS,
        COMPRESSED,
        OUTSIDE,
        NO_ANSWER,
        NOTHING_TO_VERIFY,
        NOTHING_TO_FORCE,
        REGISTERED_BUFFERS,
        REGISTERED_RING,
        DEFERRED_TASKS,
        NEVER_BLOCKS,
        REPEATING_LIMIT,
        NOTHING_MOVED,
        NOT_THERE,
        CALL_FAILED,
        THREADS_ENDED,
        RANK_SILENT,
        RANK_NOT_ENDING,
        RANK_UNREACHABLE,
        RANK_FAILED,
        RING_TOO_OLD,
        NO_OPERATION,
        BUFFERS_TOO_LARGE,
        NOT_IN_ITS_FORM,
        RUN_RECORD,
        POINT_RECORD,
        POINT_ROW,
        POINT_LIST,
        RUN_LIST,
        NOT_USABLE,
    ];
    alone.into_iter().chain(DIRECTIONS).chain(ROUNDS).chain(COUNTS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{CODED, ROUNDS};
    use crate::{Code, SteadyState};

    /// Each new label must be listed here as a code or as a name, because names must never be
    /// translated.
    #[test]
    fn every_label_of_a_finding_is_a_code_or_a_name() {
        const NAMED: [&str; 23] = [
            "call",
            "counter",
            "cpus",
            "device",
            "engine",
            "error",
            "file",
            "file_system",
            "lost_rank",
            "medium",
            "message",
            "name",
            "node",
            "operation",
            "processes",
            "option",
            "program",
            "refused",
            "target",
            "unit",
            "version",
            "was",
            "rank",
        ];
        let known: BTreeSet<&str> =
            Code::ALL.iter().flat_map(|c| c.meaning().labels).copied().collect();
        let decided: BTreeSet<&str> = CODED.into_iter().chain(NAMED).collect();
        assert_eq!(decided.len(), CODED.len() + NAMED.len(), "one or the other");
        let open: Vec<&&str> = known.difference(&decided).collect();
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn rounds_come_to_nothing_else() {
        let all = [
            SteadyState::TooShort,
            SteadyState::Steady,
            SteadyState::Cyclic { period: 3.0 },
            SteadyState::Drifting { rises: true },
            SteadyState::NeverSteady,
        ];
        assert_eq!(all.map(SteadyState::as_str), ROUNDS);
    }
}
