//! The words of a machine's tables.

use super::Lang;

/// Captions and headings.
#[derive(Debug)]
pub(crate) struct HostWords {
    pub(crate) machine: &'static str,
    pub(crate) machine_columns: [&'static str; 3],
    pub(crate) devices: &'static str,
    pub(crate) device_columns: [&'static str; 10],
    /// A link that could do more.
    pub(crate) link_of: &'static str,
    pub(crate) arrays: &'static str,
    pub(crate) array_columns: [&'static str; 5],
    pub(crate) mounts: &'static str,
    pub(crate) mount_columns: [&'static str; 5],
    pub(crate) unknown: &'static str,
    pub(crate) unknown_columns: [&'static str; 3],
    pub(crate) witnesses: &'static str,
    pub(crate) witness_at: &'static str,
    pub(crate) witness_columns: [&'static str; 7],
    pub(crate) witness_note: &'static str,
    pub(crate) all: &'static str,
    pub(crate) all_columns: [&'static str; 4],
}

impl HostWords {
    pub(crate) fn of(lang: Lang) -> &'static Self {
        match lang {
            Lang::En => &ENGLISH,
            Lang::Ja => &JAPANESE,
        }
    }
}

const ENGLISH: HostWords = HostWords {
    machine: "Machine",
    machine_columns: ["Subject", "Fact", "Value"],
    devices: "Storage devices",
    device_columns: [
        "Device",
        "Product",
        "Capacity",
        "Link",
        "Limit",
        "Queues",
        "Scheduler",
        "Write cache",
        "Temperature",
        "Used",
    ],
    link_of: "{link} (of {possible})",
    arrays: "Arrays and volumes",
    array_columns: ["Device", "Kind", "Chunk", "Name or metadata", "Built on"],
    mounts: "File systems",
    mount_columns: ["Mounted at", "Type", "On", "Options", "Striping"],
    unknown: "Unknown",
    unknown_columns: ["Subject", "Facts", "Why"],
    witnesses: "What the witnesses saw while the points ran",
    witness_at: "Outstanding or step",
    witness_columns: [
        "Device busy",
        "In flight in it",
        "Hottest",
        "CPUs busy",
        "Stolen",
        "Busiest thread",
        "Waiting for CPU",
    ],
    witness_note: "Means over the seconds of a point, warm-up included; of several devices the largest; the temperature is the highest. Stolen: by the hypervisor. Waiting: some task was ready and had no CPU.",
    all: "Every fact",
    all_columns: ["Subject", "Fact", "Value", "Source"],
};

const JAPANESE: HostWords = HostWords {
    machine: "マシン",
    machine_columns: ["対象", "項目", "値"],
    devices: "ストレージデバイス",
    device_columns: [
        "デバイス",
        "製品",
        "容量",
        "リンク",
        "上限",
        "キュー数",
        "スケジューラ",
        "書き込みキャッシュ",
        "温度",
        "消費率",
    ],
    link_of: "{link}（{possible}対応）",
    arrays: "アレイとボリューム",
    array_columns: ["デバイス", "種類", "チャンク", "名前またはメタデータ", "構成要素"],
    mounts: "ファイルシステム",
    mount_columns: ["マウント先", "種類", "デバイス", "オプション", "ストライピング"],
    unknown: "不明な事項",
    unknown_columns: ["対象", "項目", "理由"],
    witnesses: "測定中にウィットネスが見たもの",
    witness_at: "処理待ち I/O 数または段階",
    witness_columns: [
        "デバイス使用率",
        "デバイス内の処理待ち数",
        "最高温度",
        "CPU 使用率",
        "スチール",
        "最も忙しいスレッド",
        "CPU 待ち",
    ],
    witness_note: "測定点の各秒の平均（ウォームアップを含む）。デバイスが複数の場合は最大値、温度は最高値。スチールはハイパーバイザに奪われた時間。CPU 待ちは、実行可能なタスクに CPUがなかった時間。",
    all: "全項目",
    all_columns: ["対象", "項目", "値", "取得元"],
};
