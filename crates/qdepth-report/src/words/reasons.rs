//! Phrases of records and of the reference data that tell why something is not known or not compared,
//! and the headings of the published documents. Continues the list of `terms.rs`.

/// English and Japanese; `#` stands for a number, `@` for a path or another word of the machine.
pub(super) const REASONS: &[[&str; 2]] = &[
    // Why a fact of the machine is not known.
    ["it does not say", "記載がありません"],
    ["it is empty", "内容が空です"],
    ["no CPU shows it", "どの CPUにも表示されません"],
    ["no NUMA node is shown for it", "NUMA ノードの表示がありません"],
    ["no PCIe, SATA or SAS link is shown for it", "PCIe、SATA、SASのリンクの表示がありません"],
    ["no block device is shown below it", "下位のブロックデバイスの表示がありません"],
    ["no driver is shown for it", "ドライバの表示がありません"],
    [
        "no hint of one; the machine may hide it",
        "手がかりがありません（マシンが隠している場合があります）",
    ],
    ["no idle state is listed", "アイドル状態の記載がありません"],
    ["no path is shown", "パスの表示がありません"],
    ["no sign of one", "兆候がありません"],
    ["none is described", "記述がありません"],
    ["the firmware does not say on which node it is", "ファームウェアがノードを示していません"],
    ["the firmware lists no memory module", "ファームウェアにメモリモジュールの記載がありません"],
    [
        "the kernel shows no sensor for it (drivers nvme, drivetemp)",
        "カーネルがセンサを示していません（ドライバ：nvme、drivetemp）",
    ],
    ["the mount was not found", "マウントが見つかりませんでした"],
    ["it was not looked at", "確認していません"],
    ["a recording does not hold it", "記録に含まれていません"],
    ["@ keeps no count of its wear and of what it wrote", "@は消耗と書き込み量を記録していません"],
    ["@ lists no node", "@にノードの記載がありません"],
    ["@ has no PRETTY_NAME", "@に PRETTY_NAMEがありません"],
    ["@ has no @", "@に @がありません"],
    ["smartctl says nothing of @", "smartctlに @の情報がありません"],
    ["lvs does not list @", "lvsに @の記載がありません"],
    ["lvs says no @", "lvsに @の記載がありません"],
    ["@ is not installed", "@がインストールされていません"],
    ["No such file or directory (os error 2)", "ファイルがありません"],
    ["Permission denied (os error 13)", "読み取りの権限がありません"],
    ["@ ended with 1: @", "@の実行に失敗しました（@）"],
    ["@: No such file or directory (os error 2)", "@がありません"],
    ["@: Permission denied (os error 13)", "@を読む権限がありません"],
    ["@ does not exist", "@がありません"],
    ["@ cannot be read", "@を読み取れません"],
    // Why a relation is not compared, or contradicts its document.
    [
        "the emulated host knows the two sets of settings, not their parts",
        "エミュレーションのマシンは 2 組の設定を区別しますが、個々の設定は区別しません",
    ],
    ["a definition", "定義"],
    ["how the diagrams count outstanding I/Os", "図における処理待ち I/O 数の数え方"],
    ["a rule of units, kept by the program", "単位の規則（プログラムが守っています）"],
    [
        "the same section prints # against # IO/s for Database at #",
        "同じ節に # IO/sと # IO/sが併記されています（データベース、処理待ち I/O 数 #）",
    ],
    ["how the analysis was done", "分析の方法"],
    ["a setting of the load", "負荷の設定"],
    ["the load, as emulated", "エミュレーションの負荷"],
    ["how to read the diagram", "図の読み方"],
    ["a property of the system", "システムの性質"],
    ["arithmetic on thread counts", "スレッド数の計算"],
    ["a warning", "注意事項"],
    ["the emulated media report no iostat", "エミュレーション媒体に iostatの値はありません"],
    ["an explanation", "説明"],
    [
        "# % stands beside a best value of # % at # threads",
        "# %の記述と、# %の最良値（# スレッド）が併存しています",
    ],
    ["another system", "別のシステム"],
    ["arithmetic on the data sheet", "データシートの値の計算"],
    ["arithmetic on the printed figures", "印刷された数値の計算"],
    [
        "arithmetic on the printed table; a test of the data repeats it",
        "印刷された表の計算（データの試験で確認しています）",
    ],
    [
        "a definition; the classes are compared cell by cell",
        "定義（濃淡クラスはセルごとに比較します）",
    ],
    ["a setting of the operating system", "オペレーティングシステムの設定"],
    [
        "the data sheet bounds writes by # MB/s; the table measures up to #",
        "データシートの書き込みの上限は # MB/sですが、表の値は # MB/sに達します",
    ],
    ["names the medium", "媒体の名称"],
    ["a list of servers", "サーバの一覧"],
    ["one description stands for both form factors", "両方の形状を一つの記述で表しています"],
    ["best of @ HDD", "次のうち最良：@ HDD"],
    // Headings of the published documents.
    ["Introduction and technical data", "序論、製品データ"],
    ["Measurement environment", "ベンチマーク環境"],
    ["Measurement method", "測定方法"],
    ["A single PCIe-SSD", "単独の PCIe-SSD"],
    ["A single PCIe-SSD: Random accesses", "単独の PCIe-SSD：ランダムアクセス"],
    ["A single PCIe-SSD: Sequential accesses", "単独の PCIe-SSD：シーケンシャルアクセス"],
    ["Storage capacity share under load", "負荷を与える容量の割合"],
    ["Access of several processes to a PCIe-SSD", "複数のプロセスによる PCIe-SSDへのアクセス"],
    ["Optimizing the current processor frequency", "プロセッサの動作周波数の最適化"],
    ["Comparison with other storage media", "他のストレージ媒体との比較"],
    ["Conclusion", "結論"],
    ["Technical data", "製品データ"],
    ["Administration software", "管理ソフトウェア"],
    ["PCIe-SSDs in the RAID array and individually", "RAID アレイと単独の PCIe-SSD"],
    ["Influence of nominal capacity", "公称容量の影響"],
    ["Introduction", "序論"],
    ["Hardware Architecture", "ハードウェアの構成"],
    ["Drivers and Software", "ドライバとソフトウェア"],
    ["Methodology", "測定方法"],
    ["Test # Baseline", "Test #、ベースライン"],
    ["Test # GPFS #M", "Test #、GPFS #M"],
    ["Test # # x XFS", "Test #、XFS # 個"],
];

#[cfg(test)]
mod tests {
    use qdepth_reference::Reference;

    use crate::words::Lang;
    use crate::words::terms::told;
    use crate::words::tests::is_japanese;

    #[test]
    fn reasons_are_told_with_what_they_name() {
        let told = |text: &str| told(Lang::Ja, text);
        assert_eq!(told("lvs does not list /dev/vg/a"), "lvsに /dev/vg/aの記載がありません");
        let missing = "/sys/a/b: No such file or directory (os error 2)";
        assert_eq!(told(missing), "/sys/a/bがありません");
        assert_eq!(told("PCIe 3.0 x4"), "PCIe 3.0 x4");
        assert_eq!(told("a has no model name"), "aに model nameがありません");
    }

    #[test]
    fn the_reasons_of_relations_and_the_headings_are_told_in_japanese() {
        let reference = Reference::shipped().unwrap();
        let reasons = reference.relations.iter().map(|relation| &relation.why);
        for why in reasons.filter(|why| !why.is_empty()) {
            assert!(is_japanese(&told(Lang::Ja, why)), "{why}");
        }
        let sections = reference.published.iter().map(|figure| &figure.section);
        for section in sections.filter(|section| !section.contains("Test ")) {
            assert!(is_japanese(&crate::words::heading(Lang::Ja, section)), "{section}");
        }
    }
}
