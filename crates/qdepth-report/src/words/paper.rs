//! The words of the white paper around the figures, and of the sentences beside its diagrams.

#[derive(Debug)]
pub(crate) struct PaperWords {
    pub(crate) labels: LabelWords,
    /// Media, best practice, conclusion, literature, contact.
    pub(crate) sections: [&'static str; 5],
    pub(crate) introduction: &'static str,
    pub(crate) results_hash: &'static str,
    pub(crate) link_limit: &'static str,
    pub(crate) data_sheet: &'static str,
    pub(crate) left_out: super::Counted,
    pub(crate) contact: &'static str,
    pub(crate) disclaimer: &'static str,
    pub(crate) concluded: &'static str,
    pub(crate) media: MediaWords,
    pub(crate) practice: PracticeWords,
    pub(crate) course: CourseWords,
}

#[derive(Debug)]
pub(crate) struct LabelWords {
    pub(crate) kind: &'static str,
    /// Table, figure, contents, summary, document history, page.
    pub(crate) document: [&'static str; 6],
    /// Version, date, changes.
    pub(crate) history: [&'static str; 3],
}

#[derive(Debug)]
pub(crate) struct MediaWords {
    pub(crate) caption: &'static str,
    pub(crate) note: &'static str,
    pub(crate) yes_no: [&'static str; 2],
    /// Keys of facts, with names; in the order of the table.
    pub(crate) facts: &'static [[&'static str; 2]],
}

#[derive(Debug)]
pub(crate) struct PracticeWords {
    pub(crate) loads: &'static str,
    pub(crate) enough: &'static str,
    pub(crate) changes: &'static str,
    pub(crate) nothing: &'static str,
    /// Governor, clock source, hypervisor: name and advice.
    pub(crate) machine: [[&'static str; 2]; 3],
    pub(crate) link: [&'static str; 2],
}

#[derive(Debug)]
pub(crate) struct CourseWords {
    pub(crate) who: &'static str,
    /// As it stands, about, just under, just over.
    pub(crate) said: [&'static str; 4],
    pub(crate) quantities: [&'static str; 2],
    pub(crate) single: &'static str,
    pub(crate) level: &'static str,
    pub(crate) rises: &'static str,
    pub(crate) evenly: &'static str,
    pub(crate) falls: &'static str,
    pub(crate) open: &'static str,
    pub(crate) plateau: &'static str,
    pub(crate) drops: &'static str,
    pub(crate) alike: &'static str,
    pub(crate) above: &'static str,
    pub(crate) within: &'static str,
    pub(crate) latency: &'static str,
    pub(crate) latency_single: &'static str,
}

pub(super) static ENGLISH: PaperWords = PaperWords {
    labels: LabelWords {
        kind: "White paper",
        document: [
            "Table",
            "Figure",
            "Contents",
            "Abstract",
            "Document history",
            "Page {page} ({pages})",
        ],
        history: ["Version", "Date", "Changes"],
    },
    sections: [
        "Technical data of the media",
        "Best practice",
        "Conclusion",
        "Literature",
        "Contact",
    ],
    introduction: "Introduction",
    results_hash: "Results (SHA-256 of the CSV export)",
    link_limit: "limit of the connection",
    data_sheet: "{name}: data-sheet maximum",
    left_out: [
        "1 line is left out; the HTML report and `qdepth plan --json` have it",
        "{n} lines are left out; the HTML report and `qdepth plan --json` have them",
    ],
    contact: "qdepth: github.com/qdepth/qdepth",
    disclaimer: "The figures hold for the configuration stated here. Other machines, media of other firmware or wear, and other settings give other figures. Product names may be trademarks of their owners.",
    concluded: "{maxima}.",
    media: MediaWords {
        caption: "Technical data, as read from the media",
        note: "Capacities of media count in powers of ten (1 TB = 10^12 bytes); rates in powers of two (1 MB/s = 2^20 bytes per second). The practical limit is what the connection carries of data after its own overhead.",
        yes_no: ["yes", "no"],
        facts: &[
            ["model", "Model"],
            ["vendor", "Vendor"],
            ["serial", "Serial number"],
            ["firmware", "Firmware"],
            ["size_bytes", "Capacity"],
            ["capacity_bytes", "Capacity"],
            ["capacity_gb", "Capacity"],
            ["spare_gb", "Spare capacity"],
            ["dies", "Dies of flash"],
            ["block_bytes", "Logical block"],
            ["link_mb_s", "Limit of the connection"],
            ["ambient_c", "Ambient temperature"],
            ["limit_c", "Temperature at which it slows down"],
            ["watts_idle", "Power, idle"],
            ["watts_write", "Power, writing"],
            ["formatted_bytes", "Formatted capacity"],
            ["interface", "Interface"],
            ["link", "Connection"],
            ["link_limit_bytes_per_s", "Practical limit of the connection"],
            ["rotational", "Rotating medium"],
            ["logical_block_bytes", "Logical block"],
            ["physical_block_bytes", "Physical block"],
            ["write_cache", "Write cache"],
            ["scheduler", "I/O scheduler"],
            ["queue_requests", "Requests in the kernel's queue"],
            ["endurance", "Endurance"],
            ["endurance_bytes", "Endurance, bytes written"],
            ["written_bytes", "Bytes written in its life"],
            ["percentage_used", "Endurance used, %"],
            ["temperature_celsius", "Temperature, °C"],
            ["temperature_warning_celsius", "Temperature of warning, °C"],
            ["temperature_critical_celsius", "Critical temperature, °C"],
            ["wear", "State of wear"],
            ["format", "Format"],
        ],
    },
    practice: PracticeWords {
        loads: "More outstanding I/Os than are needed for the rate only lengthen the wait. These numbers are worth their latency:",
        enough: "{outstanding} outstanding I/Os give at least {share} of the maximum; the mean latency is {latency} there, and {top_latency} at the maximum ({top} outstanding).",
        changes: "What limits these results or their value as evidence, and what to change:",
        nothing: "Nothing was found on this machine that limits the results and could be changed.",
        machine: [
            [
                "CPU frequency",
                "The governor is “{value}”: the clock follows the load, which lengthens short latencies and varies rates. Set it to “performance” while latency or rate matters.",
            ],
            [
                "Clock source",
                "The kernel reads the time from “{value}”, which costs more per I/O than the processor's own counter (“tsc”). Look in the kernel's log for why that was given up.",
            ],
            [
                "Virtual machine",
                "The machine runs below a hypervisor ({value}): its host shares CPU and storage with others. For figures of a device measure on the metal, or give the machine CPUs and a device of its own.",
            ],
        ],
        link: [
            "Connection",
            "{target} moved up to {value} MB/s of the {limit} MB/s that its connection can carry in practice: the connection is the limit. A wider or faster slot would show more.",
        ],
    },
    course: CourseWords {
        who: "{target}: ",
        said: [
            "{value} {unit}",
            "about {value} {unit}",
            "just under {value} {unit}",
            "just over {value} {unit}",
        ],
        quantities: ["the transaction rate", "the throughput"],
        single: "At {first_at} outstanding, {quantity} is {first}.",
        level: "Over all numbers of outstanding I/Os, from {first_at} to {last_at}, {quantity} stays within {share}, at {largest} at most.",
        rises: "With {first_at} outstanding, {quantity} is {first}; it rises[ {evenly}] to {largest} at {largest_at}.",
        evenly: "with every step",
        falls: "With {first_at} outstanding, {quantity} is {first}, its largest value; at {last_at} it has fallen to {last}.",
        open: "With {first_at} outstanding, {quantity} is {first}, at {last_at} it is {last}; the largest value, {largest}, is at {largest_at}. The intervals bear no more than that.",
        plateau: "From {from} on it stays within {share} of the maximum: more load adds only latency.",
        drops: "Beyond, it falls to {last} at {last_at}.",
        alike: "The {n} targets differ by less than {share} at every load: there is no appreciable difference.",
        above: "The maximum of {best} is {quotient} times that of {worst} (at least {least} times, with both intervals at their unfavourable ends).",
        within: "The maxima of the targets do not differ by more than their intervals.",
        latency: "The mean latency is {first} with {first_at} outstanding and {last} with {last_at}[, where one I/O in a thousand takes longer than {tail}].",
        latency_single: "The mean latency is {first} with {first_at} outstanding[; one I/O in a thousand takes longer than {tail}].",
    },
};

pub(super) static JAPANESE: PaperWords = PaperWords {
    labels: LabelWords {
        kind: "ホワイトペーパー",
        document: ["表", "図", "目次", "概要", "文書履歴", "{page} / {pages} ページ"],
        history: ["版", "日付", "変更内容"],
    },
    sections: ["媒体の技術データ", "ベストプラクティス", "結論", "参考文献", "問い合わせ先"],
    introduction: "はじめに",
    results_hash: "結果 (CSV 出力の SHA-256)",
    link_limit: "接続の上限",
    data_sheet: "{name}: データシートの最大値",
    left_out: [
        "1 行を省略 (HTML レポートおよび `qdepth plan --json` に全文がある)",
        "{n} 行を省略 (HTML レポートおよび `qdepth plan --json` に全文がある)",
    ],
    contact: "プロジェクト qdepth: github.com/qdepth/qdepth",
    disclaimer: "数値は、本書に示す構成についてのものである。計算機、ファームウェア、媒体の使用状態、設定が異なれば、数値も異なる。製品名は、それぞれの所有者の商標である場合がある。",
    concluded: "{maxima}である。",
    media: MediaWords {
        caption: "媒体から読み取った技術データ",
        note: "媒体の容量は 10 のべき乗 (1 TB = 10^12 バイト)、レートは 2 のべき乗 (1 MB/s = 2^20 バイト毎秒) で数える。接続の実用上限とは、接続自体のオーバーヘッドを除いてデータを運べる量である。",
        yes_no: ["はい", "いいえ"],
        facts: &[
            ["model", "機種"],
            ["vendor", "製造元"],
            ["serial", "シリアル番号"],
            ["firmware", "ファームウェア"],
            ["size_bytes", "容量"],
            ["capacity_bytes", "容量"],
            ["capacity_gb", "容量"],
            ["spare_gb", "予備容量"],
            ["dies", "フラッシュのダイ数"],
            ["block_bytes", "論理ブロック"],
            ["link_mb_s", "接続の上限"],
            ["ambient_c", "周囲温度"],
            ["limit_c", "性能を落とす温度"],
            ["watts_idle", "電力 (待機時)"],
            ["watts_write", "電力 (書き込み時)"],
            ["formatted_bytes", "フォーマット後の容量"],
            ["interface", "インターフェース"],
            ["link", "接続"],
            ["link_limit_bytes_per_s", "接続の実用上限"],
            ["rotational", "回転媒体"],
            ["logical_block_bytes", "論理ブロック"],
            ["physical_block_bytes", "物理ブロック"],
            ["write_cache", "書き込みキャッシュ"],
            ["scheduler", "I/O スケジューラー"],
            ["queue_requests", "カーネルキューの要求数"],
            ["endurance", "耐久性"],
            ["endurance_bytes", "耐久性 (書き込みバイト数)"],
            ["written_bytes", "累計書き込みバイト数"],
            ["percentage_used", "消費した耐久性 [%]"],
            ["temperature_celsius", "温度 [°C]"],
            ["temperature_warning_celsius", "警告温度 [°C]"],
            ["temperature_critical_celsius", "臨界温度 [°C]"],
            ["wear", "使用状態"],
            ["format", "フォーマット"],
        ],
    },
    practice: PracticeWords {
        loads: "レートに必要な数を超える未完了 I/O は、待ち時間を延ばすだけである。レイテンシーに見合う数は次のとおりである。",
        enough: "未完了 I/O 数 {outstanding} で最大値の {share} 以上に達する。このときの平均レイテンシーは {latency} であり、最大値 (未完了 I/O 数 {top}) では {top_latency} である。",
        changes: "結果またはその証拠としての価値を制限する要因と、変更すべき点は次のとおりである。",
        nothing: "この計算機には、結果を制限し、かつ変更できる要因は見つからなかった。",
        machine: [
            [
                "CPU 周波数",
                "ガバナーは「{value}」であり、クロックが負荷に追従するため、短いレイテンシーが延び、レートが変動する。レイテンシーやレートが重要な間は「performance」に設定する。",
            ],
            [
                "クロックソース",
                "カーネルは時刻を「{value}」から読み取っており、プロセッサー自身のカウンター (tsc) より I/O 当たりのコストが大きい。tsc が使われなくなった理由をカーネルのログで調べる。",
            ],
            [
                "仮想マシン",
                "この計算機はハイパーバイザー ({value}) の下で動作しており、そのホストは CPU とストレージを他者と共有する。デバイスの値を得るには、物理マシンで測定するか、専用の CPU とデバイスを割り当てる。",
            ],
        ],
        link: [
            "接続",
            "{target} は、接続が実用上運べる {limit} MB/s のうち最大 {value} MB/s を転送しており、接続が上限となっている。より広い、またはより速いスロットであれば、さらに高い値を示す。",
        ],
    },
    course: CourseWords {
        who: "{target}: ",
        said: [
            "{value}\u{a0}{unit}",
            "約 {value}\u{a0}{unit}",
            "{value}\u{a0}{unit}\u{a0}弱",
            "{value}\u{a0}{unit}\u{a0}強",
        ],
        quantities: ["トランザクションレート", "スループット"],
        single: "未完了 I/O 数 {first_at} において、{quantity}は {first} である。",
        level: "{quantity}は、未完了 I/O 数 {first_at} から {last_at} までの全範囲で {share} 以内の差にとどまり、最大で {largest} である。",
        rises: "{quantity}は、未完了 I/O 数 {first_at} で {first} であり、[{evenly}]増加して {largest_at} で {largest} に達する。",
        evenly: "段階ごとに",
        falls: "{quantity}は、未完了 I/O 数 {first_at} での {first} が最大であり、{last_at} では {last} に低下する。",
        open: "{quantity}は、未完了 I/O 数 {first_at} で {first}、{last_at} で {last} であり、最大値は {largest_at} での {largest} である。区間から言えるのはここまでである。",
        plateau: "{from} 以降は最大値から {share} 以内にとどまり、負荷を増やしてもレイテンシーが延びるだけである。",
        drops: "それを超えると、{last_at} で {last} まで低下する。",
        alike: "{n} 個の測定対象の差は、どの負荷でも {share} 未満であり、有意な差はない。",
        above: "{best} の最大値は {worst} の {quotient} 倍である (両方の区間の不利な端をとっても {least} 倍以上)。",
        within: "測定対象の最大値の差は、その区間を超えない。",
        latency: "平均レイテンシーは、未完了 I/O 数 {first_at} で {first}、{last_at} で {last} である[。後者では、1,000 回に 1 回の I/O が {tail} を超える]。",
        latency_single: "平均レイテンシーは、未完了 I/O 数 {first_at} で {first} である[。1,000 回に 1 回の I/O が {tail} を超える]。",
    },
};
