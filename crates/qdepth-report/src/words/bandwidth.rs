//! The words of bandwidth by threads and transfer size.

use super::Counted;

pub(crate) struct BandwidthWords {
    pub(crate) section: &'static str,
    pub(crate) intro: &'static str,
    /// What writes, what reads.
    pub(crate) directions: [&'static str; 2],
    /// The same as verbs: the target writes, reads.
    pub(crate) verbs: [&'static str; 2],
    pub(crate) best: &'static str,
    pub(crate) saturates: &'static str,
    pub(crate) saturates_between: &'static str,
    pub(crate) saturates_from: &'static str,
    pub(crate) no_interval: &'static str,
    pub(crate) baseline: &'static str,
    pub(crate) threads: &'static str,
    pub(crate) counted: Counted,
    pub(crate) range: &'static str,
    pub(crate) rates_caption: &'static str,
    pub(crate) rates_note: &'static str,
    pub(crate) scaling_caption: &'static str,
    pub(crate) scaling_note: &'static str,
    pub(crate) x: &'static str,
    pub(crate) y: &'static str,
    pub(crate) picture: &'static str,
    pub(crate) line: &'static str,
}

pub(super) static ENGLISH: BandwidthWords = BandwidthWords {
    section: "Bandwidth",
    intro: "Every thread writes its bytes once, forces them out inside the measured time, and then they are read back. All threads of all targets begin together; the rate is all bytes over the time from there to the last end. Of several passes the last one counts.",
    directions: ["Write", "Read"],
    verbs: ["writes", "reads"],
    best: "{direction}: at best {value} MB/s, with {threads} and transfers of {transfer}; {saturates}.",
    saturates: "95 % of it is reached with {threads}",
    saturates_between: "95 % of it is reached with {threads} (by the 95 % intervals: {low} to {high})",
    saturates_from: "95 % of it is reached with {threads} (by the 95 % intervals: {low} or more)",
    no_interval: " (not every rate has a 95 % interval)",
    baseline: "The first target alone {direction} {value} MB/s at best with transfers of {transfer}; all {targets} together reach {percent} of {targets} times that.",
    threads: "Threads",
    counted: ["1 thread", "{n} threads"],
    range: "{low} to {high} threads and transfers of {transfers}",
    rates_caption: "Throughput by threads and transfer size",
    rates_note: "MB/s counts 2^20 bytes. Threads are those of all targets together, each with one outstanding I/O. Struck through: not valid (grade C).",
    scaling_caption: "Scalability",
    scaling_note: "Throughput over that of the first target alone at its best number of threads, times the number of targets.",
    x: "Threads",
    y: "Throughput [MB/s]",
    picture: "{direction}: throughput over threads",
    line: "{transfer}: from {first} MB/s at {first_threads} to {last} MB/s at {last_threads} threads.",
};
