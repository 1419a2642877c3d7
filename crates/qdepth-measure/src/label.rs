//! Codes used as texts of findings: stored as they are, and worded by the catalogues. Any other
//! text is a name, a number, or output of the system or another program.

macro_rules! codes {
    ($($(#[$meaning:meta])* $name:ident = $code:literal;)+) => {
        $($(#[$meaning])* pub const $name: &str = $code;)+
        /// The codes above.
        const ALONE: &[&str] = &[$($name),+];
    };
}

codes! {
    /// The machine was suspended while the point was measured.
    SUSPENDED = "suspended";
    /// The CPU time that the hypervisor took.
    STEAL = "cpu-steal";
    /// The kernel's counters of a device.
    DEVICE_COUNTERS = "device-counters";
    /// The kernel accepted direct I/O and did buffered I/O.
    IGNORED = "ignored-by-the-kernel";
    /// A file system accepted direct writes and wrote through the page cache.
    DIRECT_WRITES_CACHED = "direct-writes-cached";
    /// The storage is memory.
    IN_MEMORY = "in-memory";
    /// A loop device reads and writes its file through the page cache.
    LOOP_WITHOUT_DIRECT_IO = "loop-without-direct-io";
    /// Parts of a file are the same blocks of the device.
    SHARED_EXTENTS = "shared-extents";
    /// The file system stores the data compressed.
    COMPRESSED = "compressed";
    /// Errors that occurred only before or after the measured window.
    OUTSIDE = "outside-the-window";
    /// A target whose identity can no longer be read.
    NO_ANSWER = "no-answer";
    /// An emulated device stores no data, so that reads cannot be verified.
    NOTHING_TO_VERIFY = "nothing-to-verify";
    /// An emulated device completes all writes alike, so that a sync has nothing to force out.
    NOTHING_TO_FORCE = "nothing-to-force";
    /// Buffers registered with the kernel before the first request.
    REGISTERED_BUFFERS = "registered-buffers";
    /// A ring that system calls name by its registered index.
    REGISTERED_RING = "registered-ring";
    /// A ring with a single issuer, whose kernel tasks run only when it waits.
    DEFERRED_TASKS = "deferred-tasks";
    /// Requests that the kernel starts without a kernel thread.
    NEVER_BLOCKS = "never-blocks";
    /// A repeating timeout.
    REPEATING_LIMIT = "repeating-limit";
    /// A transfer inside the area that moved zero bytes.
    NOTHING_MOVED = "nothing-moved";
    /// A path at which no target answers.
    NOT_THERE = "not-there";
    /// A failed system call of an engine that affects all requests.
    CALL_FAILED = "call-failed";
    /// An engine whose threads have all ended.
    THREADS_ENDED = "threads-ended";
    /// A rank that sends no heartbeat.
    RANK_SILENT = "rank-silent";
    /// A rank that does not stop when it is asked to.
    RANK_NOT_ENDING = "rank-not-ending";
    /// A rank that MPI does not reach.
    RANK_UNREACHABLE = "rank-unreachable";
    /// A rank that reported that it cannot continue.
    RANK_FAILED = "rank-failed";
    /// An `io_uring` without features that a ring needs.
    RING_TOO_OLD = "ring-too-old";
    /// An operation that the kernel's `io_uring` does not support.
    NO_OPERATION = "no-operation";
    /// More memory than one registered buffer may hold.
    BUFFERS_TOO_LARGE = "buffers-too-large";
    /// A kernel file with unexpected contents.
    NOT_IN_ITS_FORM = "not-in-its-form";
    /// The record of a run itself.
    RUN_RECORD = "run-record";
    /// Record of a point, named by its position in the plan.
    POINT_RECORD = "point-record";
    /// Record of a point with an uncertain position, named by its row.
    POINT_ROW = "point-row";
    /// The list of a run's points.
    POINT_LIST = "point-list";
    /// The list of runs.
    RUN_LIST = "run-list";
    /// Code for an error without a code or a kernel number.
    NOT_USABLE = "not-usable";
}

/// Directions of requests.
pub const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];
/// Verdicts on rounds.
pub const ROUNDS: [&str; 5] = ["too-short", "steady", "cyclic", "drifting", "never-steady"];
/// Counts that must be equal.
pub const COUNTS: [&str; 2] = ["issued", "histogram"];
/// Figures of an imported result that other figures contradict.
pub const IMPORTED: [&str; 4] = ["io-count", "byte-count", "latency-order", "in-flight"];
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
    ALONE.iter().copied().chain(DIRECTIONS).chain(ROUNDS).chain(COUNTS).chain(IMPORTED)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{CODED, ROUNDS};
    use crate::{Code, SteadyState};

    /// Each new label must be listed here as a code or as a name, because names must never be
    /// translated.
    #[test]
    fn every_finding_label_is_code_or_name() {
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
    fn list_of_round_results_is_complete() {
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
