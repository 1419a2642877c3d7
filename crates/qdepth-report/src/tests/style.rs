//! One Japanese style: every text, and every report that is made of them, is held against the list
//! of terms in docs/reference/japanese-terms.md.

#![expect(clippy::disallowed_methods, reason = "tests read the sources")]

use std::collections::BTreeSet;
use std::path::Path;

use qdepth_record::RunRecord;

use crate::document::Document;
use crate::tests::fixture;
use crate::words::{Lang, words};

const TERMS: &str = include_str!("../../../../docs/reference/japanese-terms.md");

/// How a sentence may end that ends in hiragana. A noun ends in none.
const POLITE: [&str; 9] =
    ["です", "ます", "でした", "ました", "ません", "ください", "ですか", "ますか", "ましたか"];

/// What one thing is called, and what it is never called.
fn forbidden() -> Vec<(&'static str, &'static str)> {
    let rows = TERMS.lines().filter(|line| line.starts_with("| ")).skip(1);
    let cells = rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    let never = |cells: Vec<&'static str>| {
        let [_, japanese, _, never] = cells[..] else { panic!("four cells: {cells:?}") };
        never.split(", ").map(|variant| (variant, japanese)).collect::<Vec<_>>()
    };
    cells.flat_map(never).collect()
}

fn permitted() -> BTreeSet<&'static str> {
    let (_, rest) = TERMS.split_once("```\n").unwrap();
    rest.split("```").next().unwrap().split_whitespace().collect()
}

/// Names that published documents give to what they measured.
const NAMES: [&str; 4] = ["Advertised Capacity", "Maximum Capacity", "write EIO", "「standard」"];

/// Whether the text has a Japanese letter.
pub(crate) fn is_japanese(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'))
}

fn is_hiragana(c: char) -> bool {
    ('\u{3041}'..='\u{309f}').contains(&c)
}

/// A text without what its reader types and without `{names}`, which stand as `{}`.
fn bare(text: &str) -> String {
    let mut out = String::new();
    for (place, part) in text.split('`').enumerate() {
        out.push_str(if place % 2 == 0 { part } else { "{}" });
    }
    let mut parts = out.split('{');
    let mut bare = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        bare.push_str("{}");
        bare.push_str(part.split_once('}').map_or(part, |(_, rest)| rest));
    }
    bare
}

/// A sentence without what stands in brackets at its end.
fn without_brackets(sentence: &str) -> &str {
    let mut depth = 0;
    for (at, letter) in sentence.char_indices().rev() {
        match letter {
            '）' => depth += 1,
            '（' => depth -= 1,
            _ if depth == 0 => return &sentence[..at + letter.len_utf8()],
            _ => {}
        }
    }
    sentence
}

/// Sentences whose last word is a plain form: である, した, ない.
fn plain_sentences(text: &str) -> Vec<String> {
    let whole = text.replace(['[', ']'], "");
    let ends = whole.split('。');
    let count = whole.matches('。').count();
    let sentences = ends.take(count).map(without_brackets);
    let plain = |sentence: &&str| {
        sentence.ends_with(is_hiragana) && !POLITE.iter().any(|end| sentence.ends_with(end))
    };
    sentences.filter(plain).map(|sentence| format!("{sentence}。 is a plain form")).collect()
}

/// What in a text is against the list.
pub(crate) fn faults(text: &str) -> Vec<String> {
    let text = bare(text);
    let mut all: Vec<String> = forbidden()
        .into_iter()
        .filter(|(never, _)| text.contains(never))
        .map(|(never, term)| format!("{never} for {term}"))
        .collect();
    all.extend(plain_sentences(&text));
    let letters: Vec<char> = text.chars().collect();
    for three in letters.windows(3) {
        let [before, space, after] = three[..] else { continue };
        let particle = is_hiragana(after) && !is_japanese(&before.to_string());
        if space == ' ' && !"。、：）".contains(before) && (particle || after == '（')
            || space == ' ' && after == '(' && is_japanese(&before.to_string())
        {
            all.push(format!("a space before {after}"));
        }
        if is_japanese(&before.to_string()) && (space == ':' || space == '(' || space == '~') {
            all.push(format!("{space} of half width"));
        }
    }
    all
}

/// Latin words that are not on the list.
fn latin(text: &str) -> Vec<String> {
    let permitted = permitted();
    let text = bare(text);
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_/.-".contains(c);
    let words = text.split(|c: char| !is_word(c)).map(|word| word.trim_matches(['.', '-', '/']));
    let words = words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()));
    words.filter(|word| !permitted.contains(word)).map(str::to_owned).collect()
}

/// The texts of a file, a line of which holds whole ones: a catalogue, or a source of ours.
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
fn every_japanese_text_keeps_the_list_of_terms() {
    let house = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = ["../qdepth-words/text/ja.toml", "../qdepth-web/src/words.rs"];
    let files = files.map(|file| house.join(file));
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
fn what_is_against_the_style_is_found() {
    let of = |text: &str| faults(text).len() + latin(text).len();
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
        assert!(of(wrong) > 0, "{wrong}");
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

/// The words of the English texts, which have no place in a Japanese report.
fn english() -> BTreeSet<String> {
    let texts = format!("{:#?}", words(Lang::En));
    let texts = bare(&texts.split('"').skip(1).step_by(2).collect::<Vec<_>>().join("\n"));
    let words = texts.split(|c: char| !c.is_ascii_alphabetic());
    let words = words.filter(|word| word.len() > 1 && word.chars().any(|c| c.is_ascii_lowercase()));
    words.map(str::to_lowercase).collect()
}

/// A document as the text that its reader sees, without pictures, what is to be typed, and what is
/// quoted of English documents: their titles and names.
fn shown(document: &Document) -> Vec<String> {
    let mut page = crate::markdown(document, "figures").0;
    let sources = qdepth_reference::Reference::shipped().unwrap().documents;
    for quoted in sources.iter().map(|source| &*source.title).chain(NAMES) {
        page = page.replace(quoted, "");
    }
    let mut in_code = false;
    let lines = page.lines().filter(|line| {
        let fence = line.starts_with("```");
        in_code ^= fence;
        !fence && !in_code && !line.starts_with("![")
    });
    let cells = lines.flat_map(|line| line.split('|'));
    let plain = |cell: &str| cell.replace("**", "").replace(['\\', '~'], "");
    cells.map(|cell| plain(cell.trim().trim_start_matches(['#', '>', '-', '*']).trim())).collect()
}

/// Reports of one target and of many, with doubts, of steps, of several runs, and of an edition.
fn documents() -> Vec<Document> {
    let of = |targets, troubled: bool| {
        let points = fixture::points(targets);
        let points = if troubled { fixture::troubled(points) } else { points };
        crate::compose(&fixture::run(targets), &points, Lang::Ja)
    };
    let run = |id: &str| {
        let run = RunRecord { id: id.to_owned(), ..fixture::run(2) };
        (run, fixture::points(2))
    };
    vec![
        of(1, false),
        of(2, true),
        of(7, false),
        crate::compose_campaign(&[run("a"), run("b")], Lang::Ja),
        crate::section::pressure::tests::example(Lang::Ja),
        crate::reproduction::tests::edition(Lang::Ja),
    ]
}

#[test]
fn no_report_leaves_the_style_of_its_texts() {
    let (english, permitted) = (english(), permitted());
    let mut wrong = Vec::new();
    for document in documents() {
        for line in shown(&document).iter().filter(|line| is_japanese(line)) {
            wrong.extend(faults(line).into_iter().map(|fault| format!("{fault}: {line}")));
            let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || "-_/.:@".contains(c)));
            let left = words.filter(|w| !permitted.contains(w) && english.contains(*w));
            wrong.extend(left.map(|word| format!("{word} is English: {line}")));
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
