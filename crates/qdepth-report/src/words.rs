//! Wording of findings, reasons, facts and phases from the catalogues.

use std::collections::BTreeMap;

use qdepth_measure::{Bytes, Code, Finding, RANK, label};
use qdepth_record::event::{PhaseStarted, PointVariant};
use qdepth_record::figures::Figures;
use qdepth_record::{Reason, phase_step};

use crate::number;

pub use qdepth_words::Lang;
pub(crate) use qdepth_words::{
    CampaignWords, CompareWords, ComparisonWords, HostWords, PtsWords, Words, counted, entry,
    fact_name, fact_source, fact_subject, fill, fill_in, in_brackets, step_title, with_subject,
    words,
};

/// Title of a load profile; for a shipped one, the title in the language of the words.
pub(crate) fn title_of(profile: &str, title: &str, in_words: &Words) -> String {
    let heading = |words: &Words| entry(words.titles, profile);
    let shipped = heading(words(Lang::default())).is_some_and(|known| known == title);
    match heading(in_words).filter(|_| shipped) {
        Some(title) => title.to_owned(),
        None => (if title.is_empty() { profile } else { title }).to_owned(),
    }
}

/// A load as text: the title of its profile, and its step if it has one.
pub fn load_in_words(lang: Lang, profile: &str, title: &str, step: &str) -> String {
    let title = title_of(profile, title, words(lang));
    if step.is_empty() {
        title
    } else {
        [title, step_title(lang, step)].join(words(lang).load_step)
    }
}

/// Variant of a comparison that a point belongs to, as text.
pub fn variant_in_words(lang: Lang, variant: &PointVariant) -> String {
    let own = words(lang).comparison;
    // Capacities are in powers of ten, as drives are sold.
    let size = in_brackets(lang, &Bytes(variant.area_bytes).for_people());
    match &*variant.of {
        "processes" if variant.parts == 1 => counted(own.processes, 1),
        "processes" => fill_in(
            own.process_of,
            &[("part", variant.part.to_string()), ("parts", variant.parts.to_string())],
        ),
        "areas" if variant.name == "full" => own.entire_area.to_owned() + &size,
        "areas" if variant.name.parse::<Bytes>().is_ok() => {
            fill_in(own.area, &[("area", number::binary_bytes(variant.area_bytes as f64))])
        }
        "areas" => fill_in(own.area, &[("area", variant.name.clone() + &size)]),
        _ => variant.name.clone(),
    }
}

/// Words of a phase before the points; unknown codes stay as they are.
pub fn phase_text(lang: Lang, started: &PhaseStarted) -> String {
    let words = words(lang);
    let Some(template) = entry(words.phase_steps, &started.step) else {
        return started.step.clone();
    };
    let word = |name: &str, text: &str| {
        let coded = phase_step::CODED.contains(&name);
        coded.then(|| entry(words.fact_codes, text)).flatten().unwrap_or(text).to_owned()
    };
    let labels = started.labels.iter().map(|(name, text)| (name.as_str(), word(name, text)));
    let values = started.values.iter();
    let values = values.map(|(name, figure)| (name.as_str(), figure_text(name, *figure)));
    fill(template, &labels.chain(values).collect())
}

/// Wording of the reason why a fact is unknown.
pub fn reason_text(reason: &Reason, lang: Lang) -> String {
    // A test checks that every code has a wording.
    let text = entry(words(lang).reason, reason.code()).unwrap_or_default();
    let values = reason.values().into_iter().map(|(name, value)| (name, value.to_owned()));
    fill(text, &values.collect())
}

/// Value of a fact as text: a sentence with its figures, a worded state code, or the value as read.
pub(crate) fn fact_value(lang: Lang, value: &str) -> String {
    let Some(read) = Figures::read(value) else { return qdepth_words::fact_value(lang, value) };
    let words = words(lang);
    // A test checks that every code has a wording.
    let template = entry(words.fact_figures, &read.code).unwrap_or_default();
    let word = |text: &str| match entry(words.fact_codes, text) {
        Some(word) => word.to_owned(),
        None => label_text(words, text),
    };
    let texts = read.texts.iter().map(|(name, text)| (name.as_str(), word(text)));
    let figures = read.figures.iter();
    let figures = figures.map(|(name, figure)| (name.as_str(), figure_text(name, *figure)));
    fill(template, &texts.chain(figures).collect())
}

/// Wording of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingText {
    /// Title of the finding.
    pub title: String,
    /// Explanation with its figures.
    pub explanation: String,
    /// Remedy.
    pub advice: String,
}

/// Words a finding: title, explanation with its own figures, advice.
pub fn finding_text(finding: &Finding, lang: Lang) -> FindingText {
    findings_text(finding, &[], lang)
}

/// Texts of a code with all optional parts, and with the names of its values instead of values.
pub fn finding_template(code: Code, lang: Lang) -> FindingText {
    let meaning = code.meaning();
    let names = meaning.values.iter().chain(meaning.labels);
    let values = names.map(|name| (*name, format!("`{name}`"))).collect();
    let [title, explanation, advice] =
        entry(words(lang).finding, code.as_str()).unwrap_or_default();
    let [title, explanation, advice] =
        [title, explanation, advice].map(|template| fill(template, &values));
    FindingText { title, explanation, advice }
}

/// Words several findings with the same code and labels: each figure as a range from the lowest to
/// the highest.
pub(crate) fn findings_text(finding: &Finding, others: &[Finding], lang: Lang) -> FindingText {
    let words = words(lang);
    // A test checks that every code has a wording.
    let [title, explanation, advice] =
        entry(words.finding, finding.code.as_str()).unwrap_or_default();
    let mut values: BTreeMap<&str, String> = finding
        .labels
        .iter()
        .map(|(name, text)| (name.as_str(), finding_label(words, name, text)))
        .collect();
    for (name, value) in &finding.values {
        let all = others.iter().filter_map(|other| other.values.get(name)).chain([value]);
        let (low, high) =
            all.fold((*value, *value), |(low, high), next| (low.min(*next), high.max(*next)));
        let [low, high] = [low, high].map(|value| figure_text(name, value));
        let span = [("low", low.clone()), ("high", high.clone())];
        values.insert(name, if low == high { low } else { fill_in(words.findings.span, &span) });
    }
    for name in ["what", "remarks"] {
        let codes = finding.labels.get(name);
        if let Some(text) = codes.and_then(|codes| remarks_text(words, codes, &values)) {
            values.insert(name, text);
        }
    }
    let explanation = fill(explanation, &values);
    let explanation = match finding.labels.get(RANK) {
        Some(rank) => {
            fill_in(words.findings.of_rank, &[("rank", rank.clone()), ("text", explanation)])
        }
        None => explanation,
    };
    FindingText { title: title.to_owned(), explanation, advice: fill(advice, &values) }
}

/// A text of a finding: the wording of a code if the label may hold one, else the text itself.
fn finding_label(words: &Words, name: &str, text: &str) -> String {
    if label::may_be_code(name) { label_text(words, text) } else { text.to_owned() }
}

/// Wording of a code; unknown texts are returned as they are.
fn label_text(words: &Words, text: &str) -> String {
    entry(words.finding_labels, text).unwrap_or(text).to_owned()
}

/// Wording of differences from another program, with the finding's figures. `None` if the text is
/// not a code, as in logbooks of earlier versions; it is shown as it is then.
fn remarks_text(words: &Words, codes: &str, values: &BTreeMap<&str, String>) -> Option<String> {
    let sentence = |code| Some(fill(entry(words.remarks, code)?, values));
    let sentences: Option<Vec<String>> = codes.split(label::BETWEEN).map(sentence).collect();
    Some(sentences?.join(words.clause))
}

/// Range from one value to another.
pub(crate) fn span(lang: Lang, [low, high]: [String; 2]) -> String {
    fill_in(words(lang).findings.span, &[("low", low), ("high", high)])
}

/// A figure of a finding with the unit from its name.
fn figure_text(name: &str, value: f64) -> String {
    match name {
        _ if name.ends_with("_ns") => number::duration(value),
        _ if name == "bytes" || name.ends_with("_bytes") => number::binary_bytes(value),
        _ if name.ends_with("mib_per_s") => format!("{} MiB/s", number::three_digits(value)),
        _ if name.ends_with("io_per_s") => format!("{} IOPS", number::three_digits(value)),
        "difference" | "drift" => number::percent(value),
        _ if name.ends_with("share") => number::percent(value),
        _ if (value - value.round()).abs() < 1e-9 => number::thousands(value, 0),
        _ => number::three_digits(value),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "tests read the profiles")]

    use std::collections::BTreeSet;

    use qdepth_record::event::Phase;
    use qdepth_record::{PhaseStep, figures, source};

    use super::*;
    use crate::tests::japanese::is_japanese;

    /// Languages whose texts are checked here; there may be others.
    const SPOKEN: [Lang; 2] = [Lang::En, Lang::Ja];

    #[test]
    fn every_finding_code_has_text() {
        let mut codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        codes.sort_unstable();
        let worded: Vec<&str> =
            words(Lang::default()).finding.iter().map(|(code, _)| *code).collect();
        assert_eq!(worded, codes);
    }

    #[test]
    fn reason_texts_use_only_their_own_values() {
        let mut codes: Vec<&str> = Reason::ALL.iter().map(|(code, ..)| *code).collect();
        codes.sort_unstable();
        for lang in Lang::ALL {
            let worded: Vec<&str> = words(lang).reason.iter().map(|(code, _)| *code).collect();
            assert_eq!(worded, codes, "{}", lang.tag());
        }
        for (code, values, _) in Reason::ALL {
            let text = entry(words(Lang::default()).reason, code).unwrap();
            let missing: Vec<&str> = names(text).filter(|name| !values.contains(name)).collect();
            assert!(missing.is_empty(), "`{code}` has no {missing:?}");
        }
    }

    #[test]
    fn reason_is_translated_into_report_language() {
        let failed = |message: &str| Reason::ToolFailed {
            tool: "lvs".to_owned(),
            status: "5".to_owned(),
            message: message.to_owned(),
        };
        assert_eq!(reason_text(&failed("no right"), Lang::En), "`lvs` ended with 5: no right");
        assert_eq!(reason_text(&failed(""), Lang::En), "`lvs` ended with 5");
        assert_eq!(
            reason_text(&failed("no right"), Lang::Ja),
            "`lvs`は終了状態 5で終わりました：no right"
        );
        let stated = Reason::read("No such file or directory (os error 2)");
        let text = "No such file or directory (os error 2)";
        assert_eq!(SPOKEN.map(|lang| reason_text(&stated, lang)), [text, text]);
    }

    /// The `{names}` in a text.
    fn names(text: &str) -> impl Iterator<Item = &str> {
        text.split('{').skip(1).filter_map(|rest| rest.split('}').next())
    }

    #[test]
    fn finding_texts_use_only_their_own_values() {
        for code in Code::ALL {
            let row = code.meaning();
            let all = entry(words(Lang::default()).finding, code.as_str()).unwrap();
            let has = |name: &&str| [row.values, row.labels].concat().contains(name);
            let missing: Vec<&str> =
                all.into_iter().flat_map(names).filter(|name| !has(name)).collect();
            assert!(missing.is_empty(), "`{code}` has no {missing:?} in the table of codes");
        }
    }

    #[test]
    fn every_fact_source_code_has_text() {
        for lang in Lang::ALL {
            let known: Vec<&str> = words(lang).fact_sources.iter().map(|(code, _)| *code).collect();
            let mut codes = source::ALL;
            codes.sort_unstable();
            assert_eq!(known, codes, "{}", lang.tag());
        }
    }

    #[test]
    fn value_texts_use_all_and_only_their_figures() {
        for lang in Lang::ALL {
            let words = words(lang);
            assert_eq!(words.fact_figures.len(), figures::ALL.len(), "{}", lang.tag());
            for (code, texts, figures) in figures::ALL {
                let template = entry(words.fact_figures, code).unwrap();
                let all: BTreeSet<&str> = [texts, figures].concat().into_iter().collect();
                assert_eq!(names(template).collect::<BTreeSet<_>>(), all, "{code}");
            }
            assert_eq!(words.fact_codes.len(), figures::CODES.len(), "{}", lang.tag());
            let lacks = |code: &&str| entry(words.fact_codes, code).is_none();
            assert_eq!(figures::CODES.iter().find(|code| lacks(code)), None);
        }
    }

    #[test]
    fn phase_texts_use_all_and_only_their_values() {
        for lang in Lang::ALL {
            let words = words(lang);
            assert_eq!(words.phase_steps.len(), phase_step::ALL.len(), "{}", lang.tag());
            for (code, labels, values) in phase_step::ALL {
                let template = entry(words.phase_steps, code).unwrap();
                let all: BTreeSet<&str> = [labels, values].concat().into_iter().collect();
                assert_eq!(names(template).collect::<BTreeSet<_>>(), all, "{code}");
            }
        }
    }

    #[test]
    fn phase_steps_are_translated_but_old_text_kept() {
        let translations = |step: PhaseStep| {
            let started = PhaseStarted::new(Phase::Preconditioning, step, None);
            SPOKEN.map(|lang| phase_text(lang, &started))
        };
        let rounds = PhaseStep::new(phase_step::ROUNDS)
            .label("load", "random")
            .label("block_size", "4KiB")
            .label("rule", "own")
            .value("area_bytes", f64::from(1 << 30))
            .value("rounds", 25.0)
            .value("round_ns", 6e10);
        let [en, ja] = translations(rounds);
        assert_eq!(
            en,
            "random 4KiB over 1 GiB until steady by qdepth's rule, 25 rounds of 60 s at most"
        );
        assert_eq!(
            ja,
            "ランダム 4KiB、1 GiBに定常状態（独自の基準）まで、60 sのラウンドを最大 25 回"
        );
        let setting = |step: PhaseStep| step.label("path", "/sys/a").label("value", "none");
        let [en, ja] = translations(setting(PhaseStep::new(phase_step::SETTING)));
        assert_eq!([&*en, &*ja], ["/sys/a: none", "/sys/a：none"]);
        let before = PhaseStep::new(phase_step::SETTING).label("before", "bfq");
        assert_eq!(translations(setting(before))[0], "/sys/a: bfq → none");
        let old = "random 4KiB, 2 passes of 1GiB";
        assert_eq!(translations(PhaseStep::new(old)), [old, old]);
    }

    #[test]
    fn variant_label_distinguishes_equal_points() {
        let translations = |compared: &str, name: &str, parts: u32| {
            let variant = PointVariant {
                of: compared.to_owned(),
                name: name.to_owned(),
                part: 2,
                parts,
                area_bytes: 1 << 35,
            };
            SPOKEN.map(|lang| variant_in_words(lang, &variant))
        };
        for (column, [en, ja]) in [
            (translations("processes", "4", 4), ["process 2 of 4", "プロセス 2/4"]),
            (translations("processes", "1", 1), ["1 process", "1 プロセス"]),
            (translations("areas", "32GiB", 1), ["area 32 GiB", "領域 32 GiB"]),
            (translations("areas", "full", 1), ["entire capacity (34.4 GB)", "全容量（34.4 GB）"]),
            (translations("areas", "50%", 1), ["area 50% (34.4 GB)", "領域 50%（34.4 GB）"]),
            (translations("drives", "mine", 3), ["mine", "mine"]),
        ] {
            assert_eq!(column, [en, ja]);
        }
    }

    #[test]
    fn fact_values_are_translated_but_old_text_kept() {
        let passes = Figures::new(figures::PASSES)
            .text("load", "random")
            .text("block_size", "4KiB")
            .figure("passes", 2.0)
            .figure("area_bytes", f64::from(1 << 30))
            .figure("took_ns", 9e10);
        let translations = |value: &str| SPOKEN.map(|lang| fact_value(lang, value));
        let [en, ja] = translations(&passes.stored());
        assert_eq!(en, "random 4KiB, 2 × 1 GiB in 90 s");
        assert_eq!(ja, "ランダム 4KiB、1 GiB × 2 回、所要時間 90 s");
        let rounds = Figures::new(figures::ROUNDS)
            .text("load", "random")
            .text("block_size", "4KiB")
            .text("state", label::ROUNDS[1])
            .text("rule", "snia")
            .figure("rounds", 5.0)
            .figure("round_ns", 6e10)
            .figure("io_per_s", 45_210.0)
            .figure("range_share", 0.121);
        let [en, ja] = translations(&rounds.stored());
        let sentence =
            "random 4KiB: steady by SNIA's rule after 5 rounds of 60 s: 45,200 IOPS, range 12 %";
        assert_eq!(en, sentence);
        assert!(ja.contains("SNIAの基準") && ja.contains("定常"), "{ja}");
        for old in ["random 4KiB, 1 pass of 64GiB in 3 min", "preconditioned by hand"] {
            assert_eq!(translations(old), [old, old]);
        }
        assert_eq!(translations("steady")[1], "定常状態");
    }

    #[test]
    fn every_coded_finding_label_has_text() {
        for lang in Lang::ALL {
            let known = words(lang).finding_labels;
            let lacks: Vec<&str> =
                label::all().filter(|code| entry(known, code).is_none()).collect();
            assert!(lacks.is_empty(), "{}: {lacks:?}", lang.tag());
            assert_eq!(known.len(), label::all().count(), "{}: words of no code", lang.tag());
        }
        let suspended = Finding::invalid(Code::ClockDrift).label("why", label::SUSPENDED);
        assert!(finding_text(&suspended, Lang::Ja).explanation.contains("サスペンド"));
        let unsteady = Finding::remark(Code::NotSteady).label("state", label::ROUNDS[2]);
        let explanation = finding_text(&unsteady, Lang::En).explanation;
        assert!(explanation.contains("it is cyclic"), "{explanation}");
        let named = Finding::invalid(Code::BackgroundWork).label("device", "md127");
        assert!(finding_text(&named, Lang::Ja).explanation.contains("md127"));
    }

    #[test]
    fn remarks_are_translated_but_old_text_kept() {
        let not_literal = |what: &str| Finding::remark(Code::NotLiteral).label("what", what);
        let worded = |finding: &Finding| SPOKEN.map(|lang| finding_text(finding, lang).explanation);
        let longer = not_literal("file-not-extended").value("bytes", f64::from(1 << 20));
        let [en, ja] = worded(&longer);
        assert!(en.ends_with(": it is not extended: the load ends at its end, at 1 MiB."), "{en}");
        assert!(ja.contains("（1 MiB）で") && !ja.contains("file-not-extended"), "{ja}");
        let [en, ja] = worded(&not_literal("directory-not-there").label("name", "a/b"));
        assert!(en.contains("`a/b` is not a directory") && ja.contains("`a/b`"), "{en} {ja}");
        let old = "each file has the mean length";
        assert!(worded(&not_literal(old)).iter().all(|text| text.contains(old)));

        let imported = |remarks: &str| Finding::remark(Code::Imported).label("remarks", remarks);
        let [en, ja] = worded(&imported("total-latency; mixed-stands-as-reads"));
        assert!(en.contains("(latency is fio's total latency; reads and writes were"), "{en}");
        assert!(ja.contains("fioの総レイテンシ、読み取りと"), "{ja}");
        let old = "latency is fio's total latency; reads and writes stand as reads";
        assert!(worded(&imported(old)).iter().all(|text| text.contains(old)));
    }

    #[test]
    fn target_failures_are_translated_but_old_text_kept() {
        let explanations =
            |finding: &Finding| SPOKEN.map(|lang| finding_text(finding, lang).explanation);
        let gone = Finding::invalid(Code::DeviceGone)
            .label("evidence", label::NOTHING_MOVED)
            .label("direction", "write")
            .value("size_bytes", 4096.0)
            .value("offset_bytes", 1_048_576.0);
        let [en, ja] = explanations(&gone);
        let sentence = "a transfer within the area moved 0 bytes (writes, 4 KiB at 1 MiB)";
        assert!(en.contains(sentence), "{en}");
        assert!(ja.contains("（書き込み、1 MiBから 4 KiB）") && is_japanese(&ja), "{ja}");
        let call = Finding::invalid(Code::TargetFailed)
            .label("why", label::CALL_FAILED)
            .label("call", "io_uring_enter")
            .label("error", "EIO");
        let [en, ja] = explanations(&call);
        assert!(en.contains("a system call of the engine failed (io_uring_enter, EIO)"), "{en}");
        assert!(ja.contains("io_uring_enter、EIO") && !ja.contains("failed"), "{ja}");
        let fallback = Finding::remark(Code::EngineFallback)
            .label("engine", "linux-aio")
            .label("refused", "io_uring")
            .label("operation", "IORING_OP_FSYNC")
            .label("why", label::NO_OPERATION);
        let [en, ja] = explanations(&fallback);
        assert!(en.contains("io_uring, IORING_OP_FSYNC (the kernel does not support it)"), "{en}");
        assert!(ja.contains("io_uring、IORING_OP_FSYNC（カーネルにない）"), "{ja}");
        for (code, name, old) in [
            (Code::DeviceGone, "evidence", "a write of 4096 B at 0 transferred nothing"),
            (Code::TargetFailed, "why", "io_uring_enter: Input/output error (os error 5)"),
            (Code::EngineFallback, "why", "io_uring: Operation not permitted (os error 1)"),
        ] {
            let old_finding = Finding::invalid(code).label(name, old);
            assert!(explanations(&old_finding).iter().all(|text| text.contains(old)), "{old}");
        }
    }

    /// A directory named `random`, and a volume named `steady`.
    #[test]
    fn name_equal_to_a_code_is_not_translated() {
        let fill = PhaseStep::new(phase_step::FILL).label("directory", "random");
        let started = PhaseStarted::new(Phase::Provisioning, fill, None);
        let finding = Finding::invalid(Code::BackgroundWork).label("device", "steady");
        for lang in Lang::ALL {
            assert_eq!(phase_text(lang, &started), "random");
            let text = finding_text(&finding, lang);
            assert!(text.explanation.contains("steady"), "{}", text.explanation);
        }
    }

    /// The value of a key at the start of a line.
    fn value<'t>(text: &'t str, key: &str) -> Option<&'t str> {
        let lines =
            text.lines().filter_map(|line| line.strip_prefix(key)?.trim().strip_prefix('='));
        lines.map(|value| value.trim().trim_matches('"')).next()
    }

    #[test]
    fn every_shipped_profile_has_a_translated_title() {
        let shipped = [include_str!("../../../plans/write-pressure.toml")];
        let shipped = shipped.iter().flat_map(|plan| plan.split("[[profile]]").skip(1));
        let profiles = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles");
        let files = std::fs::read_dir(profiles).unwrap().map(|file| file.unwrap().path());
        let mut texts: Vec<String> =
            files.map(|file| std::fs::read_to_string(file).unwrap()).collect();
        texts.extend(shipped.map(str::to_owned));
        assert!(texts.len() > 15, "{} profiles were found", texts.len());
        for text in &texts {
            let (name, title) = (value(text, "name").unwrap(), value(text, "title").unwrap());
            // A name, not a text.
            if title == "JESD219" {
                continue;
            }
            let in_lang = |lang| entry(words(lang).titles, name).unwrap();
            assert_eq!(in_lang(Lang::En), title, "{name}");
            assert!(is_japanese(in_lang(Lang::Ja)), "{name}");
        }
    }
}
