//! A certificate of the instrument: a table for the terminal, and the same as one page.

use qdepth_record::{CertificateRecord, ProofOutcome, ProofRecord};

use crate::compose::{fact, literal};
use crate::document::{Block, Cell, Cover, Document, Row, Section, Table};
use crate::number::{percent, thousands, three_digits};
use crate::tables::text;
use crate::words::{self, Lang, say};

struct Words {
    title: &'static str,
    subtitle: &'static str,
    /// All passed; some failed; some were not tried and none failed.
    answers: [&'static str; 3],
    caption: &'static str,
    heads: [&'static str; 4],
    /// Passed, not tried, failed.
    outcomes: [&'static str; 3],
    /// Code, what it proves, what was found, its bar.
    proofs: [[&'static str; 4]; 7],
    unknown: &'static str,
    section: &'static str,
    means: &'static str,
    facts: [&'static str; 5],
}

const EN: Words = Words {
    title: "Certificate of qdepth {version} on {host}",
    subtitle: "{at}, Linux {kernel}",
    answers: [
        "All {n} proofs passed: on this machine, with this version, the instrument measures rightly.",
        "{failed} of {n} proofs FAILED: {which}. Do not publish figures of this machine before the cause is known.",
        "{passed} of {n} proofs passed, none failed; {open} could not be tried.",
    ],
    caption: "Proofs of the instrument",
    heads: ["Outcome", "Proof", "Found", "Bar"],
    outcomes: ["passed", "not tried", "FAILED"],
    proofs: [
        [
            "clock",
            "our clock against the kernel's",
            "{share} apart over {seconds} s",
            "within {bar}",
        ],
        [
            "known-rates",
            "known rates of a scripted medium",
            "{share} off at most, 1 to 512 in flight",
            "within {bar}",
        ],
        [
            "known-medians",
            "known medians of a scripted medium",
            "{share} off at most, 1 to 512 in flight",
            "within {bar}",
        ],
        [
            "own-rate",
            "own rate, {subject}",
            "{io_per_s} IO/s[; {samples_lost} of {samples} samples gave nothing]",
            "at least {bar} IO/s",
        ],
        [
            "fio",
            "agreement with fio on {subject}",
            "qdepth ÷ fio: {ratio} ({low} to {high}), {pairs} pairs",
            "1 ± {bar} within the interval",
        ],
        [
            "intervals",
            "95 % intervals on this machine's noise",
            "{share} of {count} hold the mean",
            "at least {bar}",
        ],
        [
            "same-against-same",
            "the same against the same (A/A)",
            "{share} of {count} comparisons exclude 1",
            "at most {bar}",
        ],
    ],
    unknown: "unknown",
    section: "What was proved",
    means: "Each proof has a bar that it can miss. A proof that could not be tried says nothing of the instrument. How each is made: docs/method/measuring.md.",
    facts: ["Machine", "Kernel", "CPU", "qdepth", "Certificate"],
};

const JA: Words = Words {
    title: "{host}における qdepth {version}の検定書",
    subtitle: "{at}、Linux {kernel}",
    answers: [
        "{n} 項目の検定すべてに合格しました。このマシンとこのバージョンで、測定器は正しく動作しています。",
        "{n} 項目のうち {failed} 項目が不合格です：{which}。原因が分かるまで、このマシンの測定値を公開しないでください。",
        "{n} 項目のうち {passed} 項目に合格し、不合格はありません。{open} 項目は実施できませんでした。",
    ],
    caption: "測定器の検定",
    heads: ["結果", "検定", "測定値", "基準"],
    outcomes: ["合格", "未実施", "不合格"],
    proofs: [
        ["clock", "カーネルの時計との一致", "{seconds} 秒間の差 {share}", "{bar} 以内"],
        [
            "known-rates",
            "既知の媒体でのレート",
            "処理待ち I/O 数 1～512での最大の差 {share}",
            "{bar} 以内",
        ],
        [
            "known-medians",
            "既知の媒体での中央値",
            "処理待ち I/O 数 1～512での最大の差 {share}",
            "{bar} 以内",
        ],
        [
            "own-rate",
            "{subject} 自体のレート",
            "{io_per_s} IO/s[（{samples} 回中 {samples_lost} 回は値なし）]",
            "{bar} IO/s 以上",
        ],
        [
            "fio",
            "{subject}での fioとの一致",
            "qdepth ÷ fio：{ratio}（{low}～{high}）、{pairs} 組",
            "区間が 1 ± {bar}と重なる",
        ],
        [
            "intervals",
            "このマシンのばらつきでの 95 % 区間",
            "{count} 区間のうち {share}が平均を含む",
            "{bar} 以上",
        ],
        [
            "same-against-same",
            "同一対象どうしの比較（A/A）",
            "{count} 回の比較のうち {share}が 1を除外",
            "{bar} 以下",
        ],
    ],
    unknown: "不明",
    section: "検定の内容",
    means: "各検定には不合格となりうる基準があります。実施できなかった検定からは、測定器について何も言えません。各検定の方法は docs/method/measuring.mdにあります。",
    facts: ["マシン", "カーネル", "CPU", "qdepth", "検定書"],
};

fn words(lang: Lang) -> &'static Words {
    match lang {
        Lang::En => &EN,
        Lang::Ja => &JA,
    }
}

/// The proofs, a row each.
pub fn certificate_table(certificate: &CertificateRecord, lang: Lang) -> Table {
    let words = words(lang);
    let row = |proof: &ProofRecord| {
        let outcome = outcome(words, proof.outcome);
        let outcome = match proof.outcome {
            ProofOutcome::Failed => Cell::alarm(outcome),
            _ => Cell::plain(outcome),
        };
        let [what, found, bar] = told(words, proof);
        let cells = vec![outcome, Cell::head(what), Cell::plain(found), Cell::plain(bar)];
        Row { cells, ..Row::default() }
    };
    Table {
        caption: words.caption.to_owned(),
        columns: words.heads.iter().map(|head| text(head)).collect(),
        rows: certificate.proofs.iter().map(row).collect(),
        note: String::new(),
    }
}

fn outcome(words: &Words, outcome: ProofOutcome) -> &'static str {
    words.outcomes[match outcome {
        ProofOutcome::Passed => 0,
        ProofOutcome::NotTried => 1,
        ProofOutcome::Failed => 2,
    }]
}

/// What a proof is of, what was found, and its bar.
fn told(words: &Words, proof: &ProofRecord) -> [String; 3] {
    let known = words.proofs.iter().find(|[code, ..]| *code == proof.code);
    let Some([_, what, found, bar]) = known else {
        return [proof.code.clone(), proof.why.clone().unwrap_or_default(), String::new()];
    };
    let is_rate = proof.code == "own-rate";
    // Samples that were all there need no word.
    let lost = |(name, value): &(&String, &f64)| *name != "samples_lost" || **value > 0.0;
    let mut values: Vec<(&str, String)> = proof
        .values
        .iter()
        .filter(lost)
        .map(|(name, value)| shown(is_rate, name, *value))
        .collect();
    values.push(("subject", proof.subject.clone()));
    let found = proof.why.clone().unwrap_or_else(|| say(found, &values));
    [say(what, &values), found, say(bar, &values)]
}

/// A value of a proof with its name, as it is printed.
fn shown(is_rate: bool, name: &str, value: f64) -> (&str, String) {
    let text = match name {
        "bar" if is_rate => thousands(value, 0),
        "share" | "bar" => share(value),
        "ratio" | "low" | "high" => format!("{value:.3}"),
        "count" | "pairs" | "samples" | "samples_lost" | "io_per_s" => thousands(value, 0),
        _ => three_digits(value),
    };
    (name, text)
}

/// A share; one below a thousandth with the digits that it has.
fn share(value: f64) -> String {
    if value > 0.0 && value < 0.001 { format!("{:.4} %", value * 100.0) } else { percent(value) }
}

/// The answer in a sentence.
pub fn certificate_sentence(certificate: &CertificateRecord, lang: Lang) -> String {
    let words = words(lang);
    let count = |outcome| certificate.count(outcome);
    let failed = certificate.proofs.iter().filter(|p| p.outcome == ProofOutcome::Failed);
    let which: Vec<String> = failed.map(|proof| told(words, proof)[0].clone()).collect();
    let place = match certificate.outcome {
        ProofOutcome::Passed => 0,
        ProofOutcome::Failed => 1,
        ProofOutcome::NotTried => 2,
    };
    let values = [
        ("n", certificate.proofs.len().to_string()),
        ("passed", count(ProofOutcome::Passed).to_string()),
        ("failed", count(ProofOutcome::Failed).to_string()),
        ("open", count(ProofOutcome::NotTried).to_string()),
        ("which", which.join(words::words(lang).list[0])),
    ];
    say(words.answers[place], &values)
}

/// Title, and below it when and where: two lines.
pub fn certificate_head(certificate: &CertificateRecord, lang: Lang) -> [String; 2] {
    let words = words(lang);
    let or_unknown = |text: &str| if text.is_empty() { words.unknown } else { text }.to_owned();
    let values = [
        ("version", certificate.version.clone()),
        ("host", or_unknown(&certificate.host)),
        ("kernel", or_unknown(&certificate.kernel)),
        ("at", certificate.at.clone()),
    ];
    [words.title, words.subtitle].map(|template| say(template, &values))
}

/// Composes the certificate as a page.
pub fn compose_certificate(certificate: &CertificateRecord, lang: Lang) -> Document {
    let words = words(lang);
    let [title, subtitle] = certificate_head(certificate, lang);
    let values = [&certificate.host, &certificate.kernel, &certificate.cpu, &certificate.version];
    let facts = words.facts.iter().zip(values).filter(|(_, value)| !value.is_empty());
    let facts = facts.map(|(name, value)| fact(name, value.as_str()));
    let id = literal(words.facts[4], certificate.id.as_str());
    let section = Section {
        id: "proofs".to_owned(),
        title: words.section.to_owned(),
        blocks: vec![
            Block::Table(certificate_table(certificate, lang)),
            Block::Paragraph(words.means.to_owned()),
        ],
    };
    Document {
        lang,
        cover: Cover::default(),
        title,
        subtitle,
        mark: String::new(),
        banners: Vec::new(),
        question: String::new(),
        summary: vec![certificate_sentence(certificate, lang)],
        answer: Vec::new(),
        facts: facts.chain([id]).collect(),
        sections: vec![section],
        footer: words::words(lang).footer.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(outcomes: &[ProofOutcome]) -> CertificateRecord {
        let proof = |(words, outcome): (&[&str; 4], &ProofOutcome)| {
            let names = ["share", "seconds", "io_per_s", "ratio", "low", "high"];
            let counts = ["samples_lost", "samples", "pairs", "count", "bar"];
            let tried = *outcome != ProofOutcome::NotTried;
            let names = names.iter().chain(&counts).filter(|name| tried || **name == "bar");
            ProofRecord {
                code: words[0].to_owned(),
                subject: "this".to_owned(),
                outcome: *outcome,
                values: names.map(|name| ((*name).to_owned(), 0.25)).collect(),
                why: (!tried).then(|| "nothing to try it with".to_owned()),
            }
        };
        CertificateRecord {
            schema: CertificateRecord::form(),
            id: "01900000-0000-7000-8000-000000000000".to_owned(),
            at: "2026-01-02T03:04:05Z".to_owned(),
            version: "1.2.3".to_owned(),
            host: String::new(),
            kernel: "6.18".to_owned(),
            cpu: "a CPU".to_owned(),
            outcome: outcomes.iter().copied().max().unwrap(),
            proofs: EN.proofs.iter().zip(outcomes.iter().cycle()).map(proof).collect(),
        }
    }

    #[test]
    fn every_proof_is_told_whole_in_both_languages_whatever_came_of_it() {
        use ProofOutcome::{Failed, NotTried, Passed};
        for outcomes in [&[Passed][..], &[Passed, Failed], &[NotTried, Passed], &[Failed]] {
            let certificate = certificate(outcomes);
            for lang in [Lang::En, Lang::Ja] {
                let document = compose_certificate(&certificate, lang);
                let text = format!("{document:?}");
                assert!(!text.contains('{') || !text.contains("{share}"), "{text}");
                let table = certificate_table(&certificate, lang);
                for (row, proof) in table.rows.iter().zip(&certificate.proofs) {
                    assert!(row.cells.iter().all(|cell| !cell.text.is_empty()), "{row:?}");
                    let why = proof.why.as_deref().unwrap_or("25");
                    let shown = row.cells[2].text.contains(why)
                        || proof.code == "own-rate"
                        || proof.code == "fio";
                    assert!(shown, "{row:?}");
                }
            }
        }
        let failed = certificate(&[Passed, Failed]);
        let sentence = certificate_sentence(&failed, Lang::En);
        assert!(sentence.starts_with("3 of 7 proofs FAILED: known rates"), "{sentence}");
        assert!(sentence.contains("Do not publish"), "{sentence}");
    }

    #[test]
    fn both_languages_have_the_same_proofs_with_the_same_figures() {
        let names = |text: &str| {
            let mut all: Vec<&str> =
                text.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect();
            all.sort_unstable();
            all.join(" ")
        };
        for (en, ja) in EN.proofs.iter().zip(&JA.proofs) {
            assert_eq!(en[0], ja[0]);
            en.iter().zip(ja).for_each(|(en, ja)| assert_eq!(names(en), names(ja), "{en} / {ja}"));
        }
        EN.answers.iter().zip(JA.answers).for_each(|(en, ja)| assert_eq!(names(en), names(ja)));
    }
}
