//! Words of a comparison of two groups of runs.

use crate::words::Lang;

pub(super) struct Words {
    pub(super) caption: &'static str,
    pub(super) profile: &'static str,
    pub(super) target: &'static str,
    pub(super) outstanding: &'static str,
    pub(super) figure: &'static str,
    pub(super) quotient: &'static str,
    pub(super) interval: &'static str,
    pub(super) verdict: &'static str,
    /// Faster, slower, equal, cannot tell, and the last with a number of runs.
    pub(super) verdicts: [&'static str; 5],
    /// Rate, throughput, mean and 99th percentile of the latency.
    pub(super) figures: [&'static str; 4],
    pub(super) summary: &'static str,
    pub(super) nothing: &'static str,
    pub(super) single: &'static str,
    pub(super) history: &'static str,
    pub(super) repeat: &'static str,
    pub(super) differs: &'static str,
    pub(super) unknown: &'static str,
    pub(super) alone: &'static str,
    pub(super) note: &'static str,
}

const EN: Words = Words {
    caption: "B ({b}) beside A ({a})",
    profile: "Load profile",
    target: "Target",
    outstanding: "Outstanding I/Os",
    figure: "Figure",
    quotient: "B ÷ A",
    interval: "95 %",
    verdict: "B is",
    verdicts: [
        "faster",
        "slower",
        "equal within {threshold}",
        "cannot tell",
        "cannot tell: about {n} more runs a side",
    ],
    figures: ["IO/s", "MiB/s", "mean latency, µs", "p99 latency, µs"],
    summary: "Of {of} figures B is slower in {slower}, faster in {faster}, equal within {threshold} in {equal}; of {open} it cannot be told.",
    nothing: "No load was measured validly on both sides: there is nothing to compare.",
    single: "One run a side: how far such runs differ by themselves is not known, and fewer than three earlier runs of the plan on these targets are in the logbook. Samples within a run do not tell it.",
    history: "One run a side: how far such runs differ by themselves is taken from {n} earlier runs of the plan.",
    repeat: "Repeat a side with: {command}",
    differs: "Differs besides: {what}: {a} in A, {b} in B",
    unknown: "not known",
    alone: "Only in {side}: {load}",
    note: "The run is the unit of each interval. Verdicts hold over the whole table (Holm, 5 %).",
};

const JA: Words = Words {
    caption: "A（{a}）に対する B（{b}）",
    profile: "負荷プロファイル",
    target: "対象",
    outstanding: "処理待ち I/O 数",
    figure: "指標",
    quotient: "B ÷ A",
    interval: "95 %",
    verdict: "B の判定",
    verdicts: [
        "高速",
        "低速",
        "{threshold} 以内で同等",
        "判定不能",
        "判定不能（片側あと約 {n} 回の測定が必要）",
    ],
    figures: ["IO/s", "MiB/s", "平均レイテンシ µs", "p99 レイテンシ µs"],
    summary: "{of} 件の指標のうち、B は {slower} 件で低速、{faster} 件で高速、{equal} 件で {threshold} 以内で同等です。{open} 件は判定できません。",
    nothing: "両側で有効に測定された負荷がないため、比較できません。",
    single: "片側 1 回の測定です。同じ測定を繰り返したときのばらつきが分からず、同じプランと対象の過去の測定もログブックに 3 回分ありません。1 回の測定内のサンプルからは分かりません。",
    history: "片側 1 回の測定です。繰り返しのばらつきは、同じプランの過去 {n} 回の測定から求めました。",
    repeat: "次のコマンドで測定を繰り返してください: {command}",
    differs: "ほかの相違点: {what}: A は {a}、B は {b}",
    unknown: "不明",
    alone: "{side} のみ: {load}",
    note: "各区間の単位は 1 回の測定です。判定は表全体で有効です（Holm 法、5 %）。",
};

pub(super) fn words(lang: Lang) -> &'static Words {
    match lang {
        Lang::En => &EN,
        Lang::Ja => &JA,
    }
}
