//! The words of a paper of several runs.

#[derive(Debug)]
pub(crate) struct CampaignWords {
    pub(crate) runs: super::Counted,
    pub(crate) run: &'static str,
    pub(crate) of_run: &'static str,
    pub(crate) label: &'static str,
    pub(crate) subtitle: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) result: &'static str,
    /// The mark where only some runs are emulated, and what it means.
    pub(crate) partly: [&'static str; 2],
    pub(crate) banner: &'static str,
    pub(crate) section: &'static str,
    /// Heading of the diagrams with the curves of several runs, and what they show.
    pub(crate) side_by_side: [&'static str; 2],
    pub(crate) caption: &'static str,
    pub(crate) note: &'static str,
    pub(crate) grades: &'static str,
    pub(crate) id: &'static str,
    pub(crate) differences: &'static str,
    pub(crate) reproduce: &'static str,
}

pub(super) static ENGLISH: CampaignWords = CampaignWords {
    runs: ["1 run", "{n} runs"],
    run: "Run {n}",
    of_run: "{name} ({run})",
    label: "{run}: plan “{plan}”, {targets}",
    subtitle: "{first}[ to {last}] · {runs} · qdepth {version}",
    summary: "{runs} with {points}, begun on {first}[ to {last}], are told together: the method once, then the results of each.",
    result: "{label}. {results}",
    partly: [
        "PARTLY EMULATED",
        "In {runs} time and storage were invented by a model of a medium; no number of these runs was measured on a device.",
    ],
    banner: "{runs}: {text}",
    section: "Runs",
    side_by_side: [
        "Runs side by side",
        "Loads that several runs measured, with one curve for each target of each run; of the latency the mean. The runs did not follow one another directly: what else changed between them changes the curves too. Percentiles, and the points of each value, stand in the chapters of the runs.",
    ],
    caption: "The runs of this paper",
    note: "“qdepth show ID” prints a run, “qdepth export ID” all of its figures.",
    grades: "Grade A / B / C",
    id: "Id begins",
    differences: "Where the runs saw different things",
    reproduce: "To repeat these runs",
};

pub(super) static JAPANESE: CampaignWords = CampaignWords {
    runs: ["1 件の計測", "{n} 件の計測"],
    run: "計測 {n}",
    of_run: "{name}（{run}）",
    label: "{run}：測定プラン「{plan}」、{targets}",
    subtitle: "{first}[ ～ {last}] · {runs} · qdepth {version}",
    summary: "{first}[から {last}まで]に開始した {runs}、{points}をまとめて示します。測定方法は一度だけ述べ、続いて各計測の結果を示します。",
    result: "{label}。{results}",
    partly: [
        "一部 EMULATED",
        "{runs}では、時間とストレージは媒体のモデルが作り出したものであり、実機で測定した数値はありません。",
    ],
    banner: "{runs}：{text}",
    section: "計測一覧",
    side_by_side: [
        "計測の比較",
        "複数の計測に共通する負荷について、各計測の測定対象ごとに 1 本の曲線を示します。レイテンシは平均です。計測は続けて行われたものではないため、計測の間に変わった他の条件も曲線に影響します。パーセンタイルと各値の測定点は、各計測の章に示します。",
    ],
    caption: "本書の計測",
    note: "「qdepth show ID」は計測を、「qdepth export ID」はそのすべての数値を出力します。",
    grades: "等級 A / B / C",
    id: "IDの先頭",
    differences: "計測の間で異なる環境",
    reproduce: "計測の再現",
};
