//! A certificate as a table for the terminal, and as a page.

use qdepth_record::{CertificateRecord, ProofOutcome, ProofRecord};

use crate::compose::{fact, literal};
use crate::document::{Block, Cell, Cover, Document, Section, Table, text};
use crate::number::{percent, thousands, three_digits};
use crate::rows::Rows;
use crate::section::date;
use crate::words::{self, Lang, entry, fill_in, reason_text, words};

/// Table of the proofs, one row each.
pub fn certificate_table(certificate: &CertificateRecord, lang: Lang) -> Table {
    let words = words(lang).certificate;
    let [outcome_head, test, result, threshold] = words.heads.map(text);
    let proofs = certificate.proofs.iter().map(|proof| (proof, proof_cells(lang, proof)));
    Rows::from_items(proofs)
        .column(outcome_head, |(proof, _)| {
            let outcome = words.outcomes[proof.outcome as usize];
            match proof.outcome {
                ProofOutcome::Failed => Cell::alarm(outcome),
                _ => Cell::plain(outcome),
            }
        })
        .column(test, |(_, [test, ..])| Cell::head(&**test))
        .column(result, |(_, [_, result, _])| Cell::plain(&**result))
        .column(threshold, |(_, [.., threshold])| Cell::plain(&**threshold))
        .table(words.caption)
}

/// Test, result and threshold.
fn proof_cells(lang: Lang, proof: &ProofRecord) -> [String; 3] {
    let words = words(lang).certificate;
    let why = proof.why.as_ref().map(|why| reason_text(&why.into(), lang));
    let Some([what, found, bar]) = entry(words.proofs, &proof.code) else {
        return [proof.code.clone(), why.unwrap_or_default(), String::new()];
    };
    let is_rate = proof.code == "own-rate";
    // Lost samples are only mentioned if there are any.
    let lost = |(name, value): &(&String, &f64)| *name != "samples_lost" || **value > 0.0;
    let mut values: Vec<(&str, String)> = proof
        .values
        .iter()
        .filter(lost)
        .map(|(name, value)| shown(is_rate, name, *value))
        .collect();
    values.push(("subject", proof.subject.clone()));
    let found = why.unwrap_or_else(|| fill_in(found, &values));
    [fill_in(what, &values), found, fill_in(bar, &values)]
}

/// A value of a proof, with its name and printed form.
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

/// A share in per cent; below a thousandth with four decimals.
fn share(value: f64) -> String {
    if value > 0.0 && value < 0.001 { format!("{:.4} %", value * 100.0) } else { percent(value) }
}

/// The outcome as a sentence.
pub fn certificate_sentence(certificate: &CertificateRecord, lang: Lang) -> String {
    let words = words(lang).certificate;
    let count = |outcome| certificate.count(outcome);
    let failed = certificate.proofs.iter().filter(|p| p.outcome == ProofOutcome::Failed);
    let which: Vec<String> = failed.map(|proof| proof_cells(lang, proof)[0].clone()).collect();
    let index = match certificate.outcome {
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
    fill_in(words.answers[index], &values)
}

/// Head of a certificate in two lines: title, then time and machine.
pub fn certificate_head(certificate: &CertificateRecord, lang: Lang) -> [String; 2] {
    let words = words(lang).certificate;
    let or_unknown = |text: &str| if text.is_empty() { words.unknown } else { text }.to_owned();
    let values = [
        ("version", certificate.version.clone()),
        ("host", or_unknown(&certificate.host)),
        ("kernel", or_unknown(&certificate.kernel)),
        ("at", date::moment(&certificate.at, words::words(lang))),
    ];
    [words.title, words.subtitle].map(|template| fill_in(template, &values))
}

/// Composes the certificate as a page.
pub fn compose_certificate(certificate: &CertificateRecord, lang: Lang) -> Document {
    let words = words(lang).certificate;
    let [title, subtitle] = certificate_head(certificate, lang);
    let values = [&certificate.host, &certificate.kernel, &certificate.cpu, &certificate.version];
    let facts = words.facts.iter().zip(values).filter(|(_, value)| !value.is_empty());
    let facts = facts.map(|(name, value)| fact(name, value.as_str()));
    let id = literal(words.facts[4], certificate.id.as_str());
    let means = vec![Block::Paragraph(words.means.to_owned())];
    Document {
        lang,
        cover: Cover { kind: words.kind.to_owned(), ..Cover::default() },
        title,
        subtitle,
        summary: vec![certificate_sentence(certificate, lang)],
        answer: vec![Block::Table(certificate_table(certificate, lang))],
        facts: facts.chain([id]).collect(),
        sections: vec![Section::new("proofs", words.section, means)],
        footer: words::words(lang).footer.to_owned(),
        ..Document::default()
    }
}

#[cfg(test)]
mod tests {
    use qdepth_record::Reason;

    use super::*;

    fn certificate(outcomes: &[ProofOutcome]) -> CertificateRecord {
        let proof = |((code, _), outcome): (&(&str, [&str; 3]), &ProofOutcome)| {
            let names = ["share", "seconds", "io_per_s", "ratio", "low", "high"];
            let counts = ["samples_lost", "samples", "pairs", "count", "bar"];
            let tried = *outcome != ProofOutcome::NotTried;
            let names = names.iter().chain(&counts).filter(|name| tried || **name == "bar");
            ProofRecord {
                code: (*code).to_owned(),
                subject: "this".to_owned(),
                outcome: *outcome,
                values: names.map(|name| ((*name).to_owned(), 0.25)).collect(),
                why: (!tried).then(|| (&Reason::NoQuotient {}).into()),
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
            proofs: words(Lang::En)
                .certificate
                .proofs
                .iter()
                .zip(outcomes.iter().cycle())
                .map(proof)
                .collect(),
        }
    }

    #[test]
    fn every_proof_is_shown_in_both_languages() {
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
                    let why = proof.why.as_ref().map(|why| reason_text(&why.into(), lang));
                    let shown = row.cells[2].text.contains(why.as_deref().unwrap_or("25"))
                        || proof.code == "own-rate"
                        || proof.code == "fio";
                    assert!(shown, "{row:?}");
                }
            }
        }
        let mut open = certificate(&[NotTried]);
        let [low, high] = ["0.74", "1.20"].map(str::to_owned);
        for (why, expected) in [
            (
                Reason::TooFewSamples { count: "7".to_owned() },
                "7 samples are too few; use a longer --duration",
            ),
            (
                Reason::TooUneven { low, high },
                "this file system varies too much: qdepth ÷ fio is between 0.74 and 1.20",
            ),
            (Reason::Stated { text: "of an earlier version".to_owned() }, "of an earlier version"),
        ] {
            open.proofs[0].why = Some((&why).into());
            let found = |lang| certificate_table(&open, lang).rows[0].cells[2].text.clone();
            assert_eq!(found(Lang::En), expected);
            let japanese = found(Lang::Ja);
            assert!(!japanese.contains("too") && !japanese.contains("the"), "{japanese}");
        }
        // A certificate fits on one page: the first page has its title, its time, and all proofs.
        let document = compose_certificate(&certificate(&[Passed]), Lang::En);
        assert_eq!(document.cover.kind, "Certificate");
        assert!(document.subtitle.starts_with("2026-01-02 03:04"), "{}", document.subtitle);
        let first = [Block::Table(certificate_table(&certificate(&[Passed]), Lang::En))];
        assert_eq!(document.answer, first);
        let failed = certificate(&[Passed, Failed]);
        let sentence = certificate_sentence(&failed, Lang::En);
        assert!(sentence.starts_with("3 of 7 tests FAILED: agreement with fio"), "{sentence}");
        assert!(sentence.contains("Do not publish"), "{sentence}");
    }
}
