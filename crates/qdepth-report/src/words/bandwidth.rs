//! The words of bandwidth by threads and transfer size.

use super::Counted;

#[derive(Debug)]
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

pub(super) static JAPANESE: BandwidthWords = BandwidthWords {
    section: "帯域幅",
    intro: "各スレッドは自分のバイト列を一度書き込み、測定時間内に媒体へ書き出させた後、これを読み戻す。すべての測定対象の全スレッドは同時に開始し、レートは全バイト数を、開始から最後の終了までの時間で割ったものである。複数回行った場合は最後の回を採る。",
    directions: ["書き込み", "読み取り"],
    verbs: ["書き込み", "読み取り"],
    best: "{direction}の最高値は、{threads}、転送サイズ {transfer} での {value} MB/s であり、{saturates}。",
    saturates: "その 95 % には {threads}で達する",
    saturates_between: "その 95 % には {threads}で達する (95 % 区間では {low} ~ {high})",
    saturates_from: "その 95 % には {threads}で達する (95 % 区間では {low} 以上)",
    no_interval: " (95 % 区間のないレートがある)",
    baseline: "最初の測定対象単独の{direction}は、転送サイズ {transfer} で最高 {value} MB/s であり、{targets} 個すべてを合わせると、その {targets} 倍の {percent} に達する。",
    threads: "スレッド数",
    counted: ["1 スレッド", "{n} スレッド"],
    range: "{low} ~ {high} スレッド、転送サイズ {transfers} ",
    rates_caption: "スレッド数と転送サイズによるスループット",
    rates_note: "1 MB/s は 2^20 バイト毎秒である。スレッド数は全測定対象の合計であり、各スレッドの未完了 I/O 数は 1 である。取り消し線は無効 (等級 C) を示す。",
    scaling_caption: "スケーラビリティ",
    scaling_note: "スループットを、最初の測定対象単独の最良のスレッド数での値と測定対象の数との積で割ったものである。",
    x: "スレッド数",
    y: "スループット [MB/s]",
    picture: "{direction}: スレッド数に対するスループット",
    line: "{transfer}: {first_threads} スレッドで {first} MB/s、{last_threads} スレッドで {last} MB/s。",
};
