//! Japanese style: every text, and every report made of them, is compared with the list of terms in
//! crates/qdepth-words/japanese-terms.md.

#![expect(clippy::disallowed_methods, reason = "tests read the sources")]

use std::path::Path;

use qdepth_record::RunRecord;

use crate::document::Document;
use crate::tests::fixture;
use crate::tests::japanese::{bare, faults, faults_of_all, is_japanese, permitted};
use crate::words::Lang;

/// Latin words that are not on the list.
fn latin(text: &str) -> Vec<String> {
    let permitted = permitted();
    let text = bare(text);
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_/.-".contains(c);
    let words = text.split(|c: char| !is_word(c)).map(|word| word.trim_matches(['.', '-', '/']));
    let words = words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()));
    words.filter(|word| !permitted.contains(word)).map(str::to_owned).collect()
}

/// Texts in a file whose lines hold complete texts: a catalogue, or a source file.
fn literals(file: &Path) -> Vec<String> {
    let source = std::fs::read_to_string(file).unwrap();
    let lines = source.lines().filter(|line| !line.trim_start().starts_with(['#', '/']));
    let strings = lines.flat_map(|line| {
        let line = line.replace("\\\"", "”").replace("\\u{a0}", " ").replace("\\u00A0", " ");
        line.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()
    });
    strings.filter(|text| is_japanese(text)).collect()
}

#[test]
fn every_japanese_text_uses_the_listed_terms() {
    let house = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![house.join("../qdepth-words/text/ja.toml")];
    // Plans and profiles contain their own texts.
    for folder in ["../../plans", "../../profiles"] {
        let entries = std::fs::read_dir(house.join(folder)).unwrap();
        files.extend(entries.map(|entry| entry.unwrap().path()));
    }
    let mut wrong = Vec::new();
    let mut texts = 0;
    for file in &files {
        for text in literals(file) {
            texts += 1;
            let latin = latin(&text).into_iter().map(|word| format!("{word} is not on the list"));
            let name = file.file_name().unwrap().to_string_lossy();
            wrong.extend(
                faults(&text).into_iter().chain(latin).map(|f| format!("{name}: {f}: {text}")),
            );
        }
    }
    assert!(texts > 900, "{texts} texts were read");
    assert!(wrong.is_empty(), "{} of {texts}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn style_checker_finds_violations_only() {
    let count = |text: &str| faults(text).len() + latin(text).len();
    for wrong in [
        "測定した。",
        "値は 3 桁である[（例）]。",
        "最大値がない。",
        "{target} の最大値",
        "最大値 (平均)",
        "注記: なし",
        "未完了 I/O 数",
        "レイテンシー",
        "ファイルサーバー",
        "2 台の link",
    ] {
        assert!(count(wrong) > 0, "{wrong}");
    }
    for right in [
        "全 120 点を測定しました。",
        "90.4 倍高速でした[（両方の区間）]。",
        "{target}の最大値（平均）：処理待ち I/O 数 1～128",
        "取り消し線は無効（等級 C）。`qdepth list`を参照してください。",
    ] {
        assert_eq!(faults(right), Vec::<String>::new(), "{right}");
        assert_eq!(latin(right), Vec::<String>::new(), "{right}");
    }
}

/// Rows of a table of a page, with their first two cells, which may hold several terms.
fn terms(page: &str) -> Vec<(Vec<&str>, &str)> {
    let rows = page.lines().filter(|line| line.starts_with("| ")).skip(1);
    let cells = rows.filter_map(|row| {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        Some((cells.next()?.split([',', '(', ')']).map(str::trim).collect(), cells.next()?))
    });
    cells.collect()
}

#[test]
fn glossary_uses_the_listed_japanese_terms() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let [glossary, list] = ["GLOSSARY.md", "crates/qdepth-words/japanese-terms.md"]
        .map(|name| std::fs::read_to_string(root.join(name)).unwrap());
    let (words, list) = (terms(&glossary), terms(&list));
    assert!(words.len() > 60 && list.len() > 40);
    let mut wrong: Vec<String> = Vec::new();
    for (names, japanese) in &words {
        wrong.extend(faults(japanese).into_iter().map(|fault| format!("{names:?}: {fault}")));
        for (listed, term) in &list {
            let same = names.len() == 1 && names == listed;
            if same && japanese != term {
                wrong.push(format!("{names:?}: {japanese} for {term}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Reports of one target and of several, with findings, of steps, and of several runs.
fn documents() -> Vec<Document> {
    let composed = |targets, troubled: bool| {
        let points = fixture::points(targets);
        let points = if troubled { fixture::troubled(points) } else { points };
        crate::compose(&fixture::run(targets), &points, Lang::Ja)
    };
    let run = |id: &str| {
        let run = RunRecord { id: id.to_owned(), ..fixture::run(2) };
        (run, fixture::points(2))
    };
    vec![
        composed(1, false),
        composed(2, true),
        composed(7, false),
        crate::compose_campaign(&[run("a"), run("b")], Lang::Ja),
        crate::section::pressure::tests::example(Lang::Ja),
    ]
}

#[test]
fn reports_follow_the_japanese_style() {
    let wrong = faults_of_all(&documents(), &[]);
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
