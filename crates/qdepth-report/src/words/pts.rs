//! Words of the tables that SNIA's tests ask for.

use crate::words::Lang;

#[derive(Debug)]
pub(crate) struct PtsWords {
    pub(crate) section: &'static str,
    /// Of a course over time; of a table of loads.
    pub(crate) course: &'static str,
    pub(crate) ends: &'static str,
    pub(crate) size: &'static str,
    /// Rate, throughput, latency.
    pub(crate) matrices: [&'static str; 3],
    pub(crate) matrix_note: &'static str,
    pub(crate) on: &'static str,
    pub(crate) saturation: &'static str,
    pub(crate) until: &'static str,
    pub(crate) written: &'static str,
    pub(crate) fills: &'static str,
    pub(crate) recovery: &'static str,
    pub(crate) pause: &'static str,
    pub(crate) before: &'static str,
    pub(crate) first: &'static str,
    pub(crate) last: &'static str,
    pub(crate) mean: &'static str,
    pub(crate) gain: &'static str,
    pub(crate) recovery_note: &'static str,
    pub(crate) stimulus: &'static str,
    pub(crate) at_end: &'static str,
    pub(crate) back: &'static str,
    pub(crate) stimulus_note: &'static str,
}

/// Those of a language.
pub(crate) fn pts_words(lang: Lang) -> &'static PtsWords {
    match lang {
        Lang::En => &ENGLISH,
        Lang::Ja => &JAPANESE,
    }
}

static ENGLISH: PtsWords = PtsWords {
    course: "On {target} it begins with {first} and ends with {last}, {share} of the beginning.",
    ends: "On {target} the highest value is {most} ({most_at}), the lowest {least} ({least_at}).",
    section: "By SNIA's test",
    size: "Size",
    matrices: [
        "Rate by request size and share of reads to writes",
        "Throughput by request size and share of reads to writes",
        "Latency by request size and share of reads to writes",
    ],
    matrix_note: "One round. SNIA's figures are means over five steady rounds: qdepth run … --repeat until-steady. A dash: too few samples.",
    on: "{caption}：{target}",
    saturation: "Random writes against time and bytes written",
    until: "Up to",
    written: "Written",
    fills: "Times the area",
    recovery: "Writes after pauses",
    pause: "Pause",
    before: "Without, before",
    first: "First",
    last: "Last",
    mean: "Mean",
    gain: "Mean over without",
    recovery_note: "Rates of the writes that follow each pause, beside those without a pause just before.",
    stimulus: "Before another load, under it, and after it",
    at_end: "Last tenth",
    back: "Back after",
    stimulus_note: "Back: the first hundredth of the time after the other load in which the throughput is no more than 5 % below the last tenth before it.",
};

static JAPANESE: PtsWords = PtsWords {
    course: "{target}では、最初は {first}、最後は {last}（最初の {share}）です。",
    ends: "{target}では、最高は {most}（{most_at}）、最低は {least}（{least_at}）です。",
    section: "SNIAの試験による表",
    size: "サイズ",
    matrices: [
        "要求サイズと読み書きの割合ごとのレート",
        "要求サイズと読み書きの割合ごとのスループット",
        "要求サイズと読み書きの割合ごとのレイテンシ",
    ],
    matrix_note: "1 ラウンドの値です。SNIAの値は定常状態にある 5 ラウンドの平均です（qdepth run … --repeat until-steady）。「–」は標本の不足を示します。",
    on: "{caption}：{target}",
    saturation: "時間と書き込みバイト数に対するランダム書き込みのレート",
    until: "時刻",
    written: "書き込み量",
    fills: "領域に対する倍数",
    recovery: "休止後の書き込み",
    pause: "休止",
    before: "直前の休止なし",
    first: "最初",
    last: "最後",
    mean: "平均",
    gain: "休止なしに対する平均の変化",
    recovery_note: "各休止に続く書き込みのレートと、その直前の休止なしの書き込みのレートです。",
    stimulus: "別の負荷の前、その間、その後",
    at_end: "最後の 10 分の 1",
    back: "回復までの時間",
    stimulus_note: "回復とは、別の負荷の後で、時間の 100 分の 1ごとのスループットが、その負荷の前の最後の 10 分の 1を 5 %を超えて下回らない最初の時点をいいます。",
};
