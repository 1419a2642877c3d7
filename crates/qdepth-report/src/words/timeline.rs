//! The words of the diagrams over the time of a run.

#[derive(Debug)]
pub(crate) struct TimelineWords {
    pub(crate) section: &'static str,
    pub(crate) intro: &'static str,
    pub(crate) intro_alone: &'static str,
    pub(crate) x: &'static str,
    pub(crate) course: &'static str,
    pub(crate) throughput_title: &'static str,
    pub(crate) throughput_description: &'static str,
    pub(crate) witness_title: &'static str,
    pub(crate) witness_description: &'static str,
    pub(crate) busy: &'static str,
    pub(crate) busy_y: &'static str,
    pub(crate) heat: &'static str,
    pub(crate) heat_y: &'static str,
    pub(crate) from: &'static str,
    pub(crate) busiest: &'static str,
    pub(crate) hottest: &'static str,
}

pub(super) static ENGLISH: TimelineWords = TimelineWords {
    section: "Over time",
    intro: "All points in the order of their measurement, each with its warm-up, which has no throughput; the time between points is left out. The second diagram has, over the same time, what the machine itself said of the devices, once a second.",
    intro_alone: "All points in the order of their measurement, each with its warm-up, which has no throughput; the time between points is left out.",
    x: "measured time [s]",
    course: "The throughput of {target} lies between {low} MiB/s and {high} MiB/s over the run and ends at {last} MiB/s.",
    throughput_title: "Throughput over time",
    throughput_description: "Line diagram of the throughput over the time of the run, a stretch for each point.",
    witness_title: "Utilisation and temperature of the devices over time",
    witness_description: "Line diagram over the time of the run: the share of each second in which a device was busy, and its temperature where it could be read.",
    busy: "{device}, utilisation",
    busy_y: "Utilisation [%]",
    heat: "{device}, temperature",
    heat_y: "Temperature [°C]",
    from: "From",
    busiest: "Utilisation",
    hottest: "Highest temperature",
};

pub(super) static JAPANESE: TimelineWords = TimelineWords {
    section: "時間経過",
    intro: "全測定点を測定順に、それぞれのウォームアップ（スループットは示しません）とともに並べたものです。測定点の間の時間は省きました。第二の図は、同じ時間軸上で、マシン自身が 1 秒ごとに示したデバイスの状態です。",
    intro_alone: "全測定点を測定順に、それぞれのウォームアップ（スループットは示しません）とともに並べたものです。測定点の間の時間は省きました。",
    x: "測定時間 [s]",
    course: "{target}のスループットは、計測を通して {low}～{high} MiB/sの範囲にあり、最後は {last} MiB/sです。",
    throughput_title: "スループットの時間経過",
    throughput_description: "計測の時間に対するスループットの折れ線図。測定点ごとに一区間です。",
    witness_title: "デバイスの使用率と温度の時間経過",
    witness_description: "計測の時間に対する折れ線図。各 1 秒のうちデバイスが動作していた割合と、読み取れた場合はその温度です。",
    busy: "{device}、使用率",
    busy_y: "使用率 [%]",
    heat: "{device}、温度",
    heat_y: "温度 [°C]",
    from: "開始",
    busiest: "使用率",
    hottest: "最高温度",
};
