//! Fixed words that stand in records, plans and the reference data, in the language of a report.
//! They are stored in English, whatever the language of a report: what is stored is compared by
//! programs. Names of products, messages of the system and quotations have no entry and stay.

use super::Lang;
use super::reasons::REASONS;

/// English and Japanese; `#` stands for a number, in the order of the English.
const TERMS: &[[&str; 2]] = &[
    // Whom a fact is about, and where it was read.
    ["host", "マシン"],
    ["cpu", "CPU"],
    ["memory", "メモリ"],
    ["kernel", "カーネル"],
    ["file_system", "ファイルシステム"],
    ["EMULATED: description file", "EMULATED：記述ファイル"],
    ["calibration before the run", "計測前の校正"],
    ["written by this run before its first point", "この計測が最初の測定点の前に書き込んだ"],
    ["the emulated medium was put into this state", "エミュレーション媒体をこの状態にした"],
    ["fresh", "新品"],
    ["preconditioned", "プリコンディショニング済み"],
    ["steady", "定常状態"],
    ["yes, of unknown kind", "あり（種類は不明）"],
    ["# MB/s (#^# bytes)", "# MB/s（1 MB = #^# バイト）"],
    // Steps of a bandwidth plan.
    ["pass # of #", "パス # / #"],
    ["one target", "測定対象 1 個"],
    // Published figures: what was measured of what.
    ["transaction rate", "トランザクションレート"],
    ["throughput", "スループット"],
    ["throughput, printed as MB/s", "スループット（MB/sと印刷）"],
    ["throughput, \"very similar\" at # MB", "スループット（# MBで「very similar」）"],
    ["lowest throughput over the curve", "曲線上の最低スループット"],
    ["minimum latency", "最小レイテンシ"],
    ["quotient", "比"],
    ["quotient (best profile)", "比（最良のプロファイル）"],
    ["scaling factor", "倍率"],
    ["scalability vs # x baseline", "ベースラインの # 倍に対するスケーラビリティ"],
    ["read throughput loss", "読み取りスループットの低下"],
    ["advantage", "優位"],
    ["advantage, at least", "優位（下限）"],
    ["lead over single", "単独に対する優位"],
    ["below single", "単独からの低下"],
    ["more than single", "単独からの増加"],
    ["more than single (average", "単独からの増加（平均）"],
    ["more than single (upper bound", "単独からの増加（上限）"],
    ["less than single (upper bound", "単独からの低下（上限）"],
    ["lower than single (upper bound", "単独からの低下（上限）"],
    ["lower than Advertised Capacity, on average", "Advertised Capacityからの低下（平均）"],
    ["lower than Advertised Capacity, upper bound", "Advertised Capacityからの低下（上限）"],
    [
        "largest factor from reformatting (random, large blocks)",
        "再フォーマットによる最大の倍率（ランダム、大きなブロック）",
    ],
    [
        "increase by four processes, upper bound, clearest at # % read",
        "4 プロセスによる増加の上限（読み取り # %で最も明瞭）",
    ],
    ["factor in read responsiveness under write pressure", "書き込み負荷時の読み取り応答性の倍率"],
    ["share of the minimum latency of other media", "他の媒体の最小レイテンシに対する割合"],
    ["# kB sequential read", "# kB シーケンシャル読み取り"],
    ["# kB sequential write", "# kB シーケンシャル書き込み"],
    ["random # kB", "ランダム # kB"],
    ["random small blocks", "ランダム、小さなブロック"],
    ["random read QD# under write pressure", "書き込み負荷時のランダム読み取り（QD#）"],
    ["max", "最大"],
    ["low", "低"],
    ["high", "高"],
    // Loads and arrangements, of published figures and of diagrams.
    ["Database", "データベース"],
    ["File server", "ファイルサーバ"],
    ["File copy", "ファイルコピー"],
    ["Streaming", "ストリーミング"],
    ["Restore", "リストア"],
    ["single", "単独"],
    ["single xfs", "単独 xfs"],
    ["# independent", "独立 # 台"],
    ["# xfs each", "個別の xfs # 個"],
    ["# process", "# プロセス"],
    ["# processes", "# プロセス"],
    ["read", "読み取り"],
    ["write", "書き込み"],
    ["random", "ランダム"],
    ["# % read", "読み取り # %"],
    ["# % write", "書き込み # %"],
    ["entire area", "全容量"],
    ["formatting options", "フォーマットオプション"],
    ["outstanding I/Os per SSD", "SSD 当たりの処理待ち I/O 数"],
    ["over IOR threads", "IOR スレッド数に対して"],
    ["# MB transfers", "転送サイズ # MB"],
    ["PCIe-SSDs of various capacities", "容量の異なる PCIe-SSD"],
    ["Two PCIe-SSDs", "2 台の PCIe-SSD"],
    ["Four PCIe-SSDs", "4 台の PCIe-SSD"],
    ["Standard and entire area", "標準の測定領域と全容量"],
    ["One and four processes", "1 プロセスと 4 プロセス"],
    ["Processors", "プロセッサ"],
    ["Default and Performance settings", "Default 設定と Performance 設定"],
    // Goals, and what a study reached.
    ["calibrated", "較正"],
    ["predicted", "予測"],
    ["P# arrays", "P#のアレイ"],
    ["four drives", "4 台のドライブ"],
    ["processes", "プロセス"],
    ["ioDrive RAID # and # GB", "ioDrive RAID #および # GB"],
    ["ioDrive RAID #, RAID # and # GB, predicted", "ioDrive RAID #、RAID #、# GB、予測"],
    ["… of these at # outstanding I/Os", "…そのうち処理待ち I/O 数 #のもの"],
    ["Comparison media, reproduced, not validated", "比較用の媒体、再現（検証ではない）"],
    ["# drives, Tests # and #, by mechanism", "# 台のドライブ、Test #および #、機構による"],
    ["# drives", "# 台のドライブ"],
    ["volume layers", "ボリューム層"],
    ["# % mean", "平均 # %"],
    ["# % worst", "最大 # %"],
    ["table only", "表のみ"],
];

/// Names of facts in Japanese beside those of the media's table. A parameter of an emulated medium
/// has none: its key is what a spelling sets it by (`@die_read_us=70`).
const FACTS: &[[&str; 2]] = &[
    ["name", "名前"],
    ["os", "OS"],
    ["hypervisor", "ハイパーバイザ"],
    ["container", "コンテナ"],
    ["product", "製品"],
    ["checked", "確認方法"],
    ["board", "基板"],
    ["bios_date", "BIOSの日付"],
    ["bios_vendor", "BIOSの製造元"],
    ["bios_version", "BIOSのバージョン"],
    ["device_tree_model", "デバイスツリーの機種"],
    ["kernel", "カーネル"],
    ["release", "リリース"],
    ["version", "バージョン"],
    ["command_line", "コマンドライン"],
    ["clock_source", "クロックソース"],
    ["io_uring_disabled", "io_uringの無効化"],
    ["aio_max_requests", "AIOの最大要求数"],
    ["dirty_ratio", "ダーティページの上限 [%]"],
    ["microcode", "マイクロコード"],
    ["sockets", "ソケット数"],
    ["cores", "コア数"],
    ["threads", "スレッド数"],
    ["online", "オンラインの CPU"],
    ["smt_active", "SMTの使用"],
    ["idle_driver", "アイドルドライバ"],
    ["idle_states", "アイドル状態"],
    ["boost", "ブースト"],
    ["no_turbo", "ターボの無効化"],
    ["governor", "ガバナ"],
    ["energy_preference", "電力性能の優先設定"],
    ["frequency_driver", "周波数ドライバ"],
    ["frequency_max_khz", "最高周波数 [kHz]"],
    ["frequency_min_khz", "最低周波数 [kHz]"],
    ["frequency_now_khz", "現在の周波数 [kHz]"],
    ["total_bytes", "全容量"],
    ["available_bytes", "利用可能"],
    ["swap_total_bytes", "スワップ"],
    ["huge_page_size_bytes", "ヒュージページのサイズ"],
    ["transparent_huge_pages", "透過的ヒュージページ"],
    ["numa_nodes", "NUMA ノード"],
    ["modules", "メモリモジュール"],
    ["type", "種類"],
    ["source", "マウント元"],
    ["options", "オプション"],
    ["devices", "デバイス"],
    ["striping", "ストライピング"],
    ["block_size_bytes", "ブロックサイズ"],
    ["logical_block_size_bytes", "論理ブロック"],
    ["wwid", "ワールドワイド名"],
    ["link_possible", "可能な接続"],
    ["temperature", "温度"],
    ["drivers", "ドライバ"],
    ["numa_node", "NUMA ノード"],
    ["queues", "キュー数"],
    ["queue_cpus", "キューの CPU"],
    ["read_only", "読み取り専用"],
    ["removable", "リムーバブル"],
    ["zoned", "ゾーン"],
    ["diskseq", "ディスクの通し番号"],
    ["polling", "ポーリング"],
    ["merges_off", "要求の結合の無効化"],
    ["completion_affinity", "完了を処理する CPUの指定"],
    ["io_statistics", "I/O 統計"],
    ["read_ahead_kib", "先読み [KiB]"],
    ["max_request_kib", "最大要求サイズ [KiB]"],
    ["optimal_io_bytes", "最適な I/O サイズ"],
    ["discard_max_bytes", "最大の破棄サイズ"],
    ["write_throttling_us", "書き込み抑制のしきい値 [µs]"],
    ["health", "健全性"],
    ["sensor_celsius", "センサ温度 [°C]"],
    ["sensor_warning_celsius", "センサの警告温度 [°C]"],
    ["sensor_critical_celsius", "センサの臨界温度 [°C]"],
    ["power_states", "電力状態"],
    ["power_saving_latency_us", "省電力で許す遅れ [µs]"],
    ["warning_celsius", "警告温度 [°C]"],
    ["critical_celsius", "臨界温度 [°C]"],
    ["power_on_hours", "通電時間 [h]"],
    ["power_cycles", "電源投入回数"],
    ["unsafe_shutdowns", "不正な電源断の回数"],
    ["media_errors", "媒体エラー数"],
    ["error_log_entries", "エラーログの件数"],
    ["available_spare_percent", "残りの予備領域 [%]"],
    ["critical_warning", "重大な警告"],
    ["read_bytes", "累計読み取りバイト数"],
    ["rotation_rpm", "回転数 [rpm]"],
    ["form_factor", "形状"],
    ["smart_passed", "SMARTの判定"],
    ["mount_point", "マウント先"],
    ["built_on", "構成要素"],
    ["kind", "種類"],
    ["level", "レベル"],
    ["members", "構成ドライブ数"],
    ["chunk_bytes", "チャンク"],
    ["metadata", "メタデータ"],
    ["state", "状態"],
    ["layout", "レイアウト"],
    ["degraded", "縮退"],
    ["paths", "パス"],
    ["volume", "ボリューム"],
    ["volume_group", "ボリュームグループ"],
    ["stripes", "ストライプ数"],
    ["stripe_bytes", "ストライプ"],
    ["preconditioned", "プリコンディショニング"],
    ["cpus_of_workers", "ワーカの CPU"],
    ["numa_nodes_of_workers", "ワーカの NUMA ノード"],
    ["engine", "エンジン"],
    ["clock", "クロック"],
];

/// A fixed phrase of a record or of the reference data; of phrases parted by commas each that is
/// known. What is not known stays as it is.
pub(crate) fn told(lang: Lang, text: &str) -> String {
    if lang == Lang::En {
        return text.to_owned();
    }
    if let Some(known) = known(text) {
        return known;
    }
    let parts: Vec<(&str, Option<String>)> =
        text.split(", ").map(|part| (part, known(part))).collect();
    if parts.iter().all(|(_, known)| known.is_none()) {
        return text.to_owned();
    }
    let parts = parts.into_iter().map(|(part, known)| known.unwrap_or_else(|| part.to_owned()));
    parts.collect::<Vec<_>>().join("、")
}

/// A heading of a published document; its number stays.
pub(crate) fn heading(lang: Lang, text: &str) -> String {
    let whole = told(lang, text);
    let is_number = |word: &str| word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match text.split_once(' ').filter(|(number, _)| whole == *text && is_number(number)) {
        Some((number, title)) => format!("{number} {}", told(lang, title)),
        None => whole,
    }
}

/// The name of a fact by its key; the unit goes with the value.
pub(crate) fn fact_name(lang: Lang, key: &str) -> String {
    let of = |names: &[[&'static str; 2]]| {
        names.iter().find(|[known, _]| *known == key).map(|[_, name]| *name)
    };
    match lang {
        Lang::En => key.strip_suffix("_bytes").unwrap_or(key).replace('_', " "),
        Lang::Ja => {
            let media = super::words(lang).paper.media.facts;
            of(media).or_else(|| of(FACTS)).unwrap_or(key).to_owned()
        }
    }
}

/// The Japanese of a whole phrase, with its numbers.
fn known(text: &str) -> Option<String> {
    let (masked, numbers) = masked(text);
    let mut phrases = TERMS.iter().chain(REASONS);
    let found = phrases.find(|[english, _]| *english == masked || *english == text);
    let Some([_, japanese]) = found else {
        return REASONS.iter().find_map(|[english, japanese]| named(english, japanese, text));
    };
    let mut numbers = numbers.into_iter();
    let filled = japanese.chars().map(|c| match c {
        '#' => numbers.next().unwrap_or_default().to_owned(),
        other => other.to_string(),
    });
    Some(filled.collect())
}

/// The Japanese of a phrase in which `@` stands for words of the machine.
fn named(english: &str, japanese: &str, text: &str) -> Option<String> {
    let mut parts = english.split('@');
    let mut rest = text.strip_prefix(parts.next()?)?;
    let mut names = Vec::new();
    for part in parts {
        let end = if part.is_empty() { rest.len() } else { rest.find(part)? };
        let name = &rest[..end];
        if name.is_empty() || (!part.is_empty() && name.contains(' ')) {
            return None;
        }
        names.push(name);
        rest = &rest[end + part.len()..];
    }
    let mut names = names.into_iter();
    let filled = japanese.split_inclusive('@').map(|part| match part.strip_suffix('@') {
        Some(before) => format!("{before}{}", names.next().unwrap_or_default()),
        None => part.to_owned(),
    });
    rest.is_empty().then(|| filled.collect())
}

/// A text with `#` for each number, and the numbers.
fn masked(text: &str) -> (String, Vec<&str>) {
    let (mut out, mut numbers) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let from = &rest[at..];
        let end = from.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',');
        let number = from[..end.unwrap_or(from.len())].trim_end_matches(['.', ',']);
        out.push_str(&rest[..at]);
        out.push('#');
        numbers.push(number);
        rest = &from[number.len()..];
    }
    out.push_str(rest);
    (out, numbers)
}

#[cfg(test)]
mod tests {
    use qdepth_reference::{Reference, Use};

    use super::*;
    use crate::words::tests::is_japanese;

    #[test]
    fn numbers_stay_where_the_sentence_has_them() {
        let told = |text| told(Lang::Ja, text);
        assert_eq!(
            told("2 × 1MiB, pass 1 of 2, one target"),
            "2 × 1MiB、パス 1 / 2、測定対象 1 個"
        );
        assert_eq!(told("4.3 % mean, 12 % worst"), "平均 4.3 %、最大 12 %");
        assert_eq!(told("2,800 MB/s (10^6 bytes)"), "2,800 MB/s（1 MB = 10^6 バイト）");
        assert_eq!(told("P3700 800GB, raid0x2"), "P3700 800GB, raid0x2", "names stay");
        assert_eq!(super::told(Lang::En, "pass 1 of 2"), "pass 1 of 2");
    }

    #[test]
    fn every_number_of_a_phrase_is_told() {
        for [english, japanese] in TERMS {
            let count = |text: &str| text.matches('#').count();
            assert_eq!(count(english), count(japanese), "{english}: {japanese}");
            assert_eq!(TERMS.iter().filter(|[other, _]| other == english).count(), 1, "{english}");
        }
        for [key, _] in FACTS {
            assert_eq!(FACTS.iter().filter(|[other, _]| other == key).count(), 1, "{key}");
        }
    }

    #[test]
    fn the_words_of_the_reference_data_are_told_in_japanese() {
        let reference = Reference::shipped().unwrap();
        let assert_told = |text: &str| assert!(is_japanese(&told(Lang::Ja, text)), "{text}");
        reference.goals.iter().for_each(|goal| assert_told(&goal.title));
        reference.diagrams.iter().for_each(|diagram| assert_told(&diagram.title));
        let counted = reference.published.iter().filter(|figure| figure.used != Use::Given);
        counted.for_each(|figure| assert_told(&figure.quantity));
    }

    #[test]
    fn a_fact_without_a_name_keeps_its_key() {
        assert_eq!(fact_name(Lang::Ja, "clock_source"), "クロックソース");
        assert_eq!(fact_name(Lang::Ja, "size_bytes"), "容量");
        assert_eq!(fact_name(Lang::Ja, "die_read_us"), "die_read_us");
        assert_eq!(fact_name(Lang::En, "die_read_us"), "die read us");
    }
}
