//! Every word that a report prints, by language. A language is one [`Words`] value and one table
//! of finding texts: the compiler counts them, so none can be forgotten.

mod answer;
mod bandwidth;
mod campaign;
mod comparison;
mod english;
mod explain;
mod finding;
mod finding_ja;
mod host;
mod japanese;
mod paper;
mod pressure;
mod pts;
mod reasons;
mod reproduction;
#[cfg(test)]
pub(crate) mod style;
mod terms;
#[cfg(test)]
mod tests;
mod timeline;

use std::collections::BTreeMap;

use qdepth_measure::Finding;

use crate::number;

pub(crate) use answer::AnswerWords;
pub(crate) use bandwidth::BandwidthWords;
pub(crate) use campaign::CampaignWords;
pub(crate) use comparison::ComparisonWords;
pub(crate) use explain::ExplainWords;
pub(crate) use host::HostWords;
pub(crate) use paper::{LabelWords, PaperWords};
pub(crate) use pressure::PressureWords;
pub(crate) use pts::{PtsWords, pts_words};
pub(crate) use reproduction::ReproductionWords;
pub(crate) use terms::{fact_name, heading, told};
pub(crate) use timeline::TimelineWords;

/// A language of reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Japanese.
    Ja,
}

impl Lang {
    /// Every language there is.
    pub const ALL: [Self; 2] = [Self::En, Self::Ja];

    /// Its BCP 47 tag.
    pub fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Ja => "ja",
        }
    }
}

/// A finding in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingText {
    /// What kind of doubt, in a few words.
    pub title: String,
    /// What was found, with its figures.
    pub explanation: String,
    /// What to do about it.
    pub advice: String,
}

/// Words a finding: title, explanation from its own figures, advice.
pub fn finding_text(finding: &Finding, lang: Lang) -> FindingText {
    findings_text(finding, &[], lang)
}

/// Words a finding and others of its code and labels: each figure from its lowest to its highest.
pub(crate) fn findings_text(finding: &Finding, others: &[Finding], lang: Lang) -> FindingText {
    let [title, explanation, advice] = match lang {
        Lang::En => finding::english(finding.code),
        Lang::Ja => finding_ja::japanese(finding.code),
    };
    let mut values: BTreeMap<&str, String> =
        finding.labels.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    for (name, value) in &finding.values {
        let all = others.iter().filter_map(|other| other.values.get(name)).chain([value]);
        let (low, high) =
            all.fold((*value, *value), |(low, high), next| (low.min(*next), high.max(*next)));
        let [low, high] = [low, high].map(|value| figure_text(name, value));
        let span = [("low", low.clone()), ("high", high.clone())];
        values.insert(name, if low == high { low } else { say(words(lang).findings.span, &span) });
    }
    FindingText {
        title: title.to_owned(),
        explanation: fill(explanation, &values),
        advice: fill(advice, &values),
    }
}

/// A figure of a finding with the unit that its name carries.
fn figure_text(name: &str, value: f64) -> String {
    match name {
        _ if name.ends_with("_ns") => number::duration(value),
        _ if name == "bytes" || name.ends_with("_bytes") => number::binary_bytes(value),
        _ if name.ends_with("mib_per_s") => format!("{} MiB/s", number::three_digits(value)),
        _ if name.ends_with("io_per_s") => format!("{} IO/s", number::three_digits(value)),
        "difference" | "drift" => number::percent(value),
        _ if name.ends_with("share") => number::percent(value),
        _ if (value - value.round()).abs() < 1e-9 => number::thousands(value, 0),
        _ => number::three_digits(value),
    }
}

/// Puts values for `{name}`. A part in `[` `]` is left out where a value in it is missing, so that
/// a finding of an older version, with fewer figures, still reads well.
pub(crate) fn fill(template: &str, values: &BTreeMap<&str, String>) -> String {
    let mut out = String::new();
    for (index, part) in template.split('[').enumerate() {
        if index == 0 {
            out.push_str(&fill_plain(part, values).unwrap_or_default());
            continue;
        }
        let (optional, rest) = part.split_once(']').unwrap_or((part, ""));
        out.push_str(&fill_plain(optional, values).unwrap_or_default());
        out.push_str(&fill_plain(rest, values).unwrap_or_default());
    }
    out
}

fn fill_plain(part: &str, values: &BTreeMap<&str, String>) -> Option<String> {
    let mut out = String::new();
    for (index, piece) in part.split('{').enumerate() {
        if index == 0 {
            out.push_str(piece);
            continue;
        }
        let (name, rest) = piece.split_once('}')?;
        out.push_str(values.get(name)?);
        out.push_str(rest);
    }
    Some(out)
}

/// [`fill`] with the values written beside the names.
pub(crate) fn say(template: &str, values: &[(&str, String)]) -> String {
    fill(template, &values.iter().cloned().collect())
}

/// Words with a number `{n}` in them: the form for one, and that for any other number. A language
/// without the difference says both alike.
pub(crate) type Counted = [&'static str; 2];

/// The form of the words that suits the number, with the number in it.
pub(crate) fn counted([one, other]: Counted, n: usize) -> String {
    let form = if n == 1 { one } else { other };
    say(form, &[("n", number::count(n as u64))])
}

/// What stands behind something in brackets.
pub(crate) fn aside(lang: Lang, text: &str) -> String {
    match lang {
        Lang::En => format!(" ({text})"),
        Lang::Ja => format!("（{text}）"),
    }
}

/// A text with what it is about before it.
pub(crate) fn about(lang: Lang, subject: &str, text: &str) -> String {
    match lang {
        Lang::En => format!("{subject}: {text}"),
        Lang::Ja => format!("{subject}：{text}"),
    }
}

/// The words of a language.
pub(crate) fn words(lang: Lang) -> &'static Words {
    match lang {
        Lang::En => &english::WORDS,
        Lang::Ja => &japanese::WORDS,
    }
}

/// Every fixed word of a report. `{name}` stands for a value (see [`fill`]).
#[derive(Debug)]
pub(crate) struct Words {
    /// Between sentences.
    pub(crate) gap: &'static str,
    /// Between parts of a sentence that have commas of their own.
    pub(crate) clause: &'static str,
    /// Between the items of a list, and before its last.
    pub(crate) list: [&'static str; 2],
    /// A day: `{year}`, `{month}`, `{day}`.
    pub(crate) date: &'static str,
    pub(crate) title: &'static str,
    pub(crate) subtitle: &'static str,
    pub(crate) footer: &'static str,
    pub(crate) emulated: [&'static str; 2],
    pub(crate) retracted: [&'static str; 2],
    pub(crate) states: [[&'static str; 2]; 5],
    pub(crate) nothing_missing: &'static str,
    pub(crate) facts: FactWords,
    pub(crate) kinds: [&'static str; 4],
    pub(crate) sections: SectionWords,
    pub(crate) summary: SummaryWords,
    pub(crate) columns: ColumnWords,
    pub(crate) tables: TableWords,
    pub(crate) pictures: PictureWords,
    pub(crate) findings: FindingWords,
    pub(crate) method: &'static [[&'static str; 2]],
    pub(crate) not_checked: &'static str,
    pub(crate) nothing_measured: &'static str,
    pub(crate) applications: &'static [[&'static str; 2]],
    pub(crate) comparison: &'static ComparisonWords,
    /// Titles of the shipped profiles, by name.
    pub(crate) titles: &'static [[&'static str; 2]],
    pub(crate) paper: &'static PaperWords,
    pub(crate) explain: &'static ExplainWords,
    pub(crate) pressure: &'static PressureWords,
    pub(crate) bandwidth: &'static BandwidthWords,
    pub(crate) campaign: &'static CampaignWords,
    pub(crate) timeline: &'static TimelineWords,
    pub(crate) reproduction: &'static ReproductionWords,
    pub(crate) answer: &'static AnswerWords,
}

#[derive(Debug)]
pub(crate) struct FactWords {
    pub(crate) target: &'static str,
    pub(crate) area: &'static str,
    pub(crate) started: &'static str,
    pub(crate) ended: &'static str,
    pub(crate) state: &'static str,
    pub(crate) points: &'static str,
    pub(crate) version: &'static str,
    pub(crate) version_value: &'static str,
    pub(crate) run: &'static str,
    pub(crate) plan: &'static str,
    pub(crate) plan_hash: &'static str,
    pub(crate) seed: &'static str,
    pub(crate) reproduce: &'static str,
}

#[derive(Debug)]
pub(crate) struct SectionWords {
    pub(crate) key_figures: &'static str,
    pub(crate) diagrams: &'static str,
    pub(crate) points: &'static str,
    pub(crate) findings: &'static str,
    pub(crate) environment: &'static str,
    pub(crate) parameters: &'static str,
    pub(crate) method: &'static str,
    pub(crate) reproduce: &'static str,
}

#[derive(Debug)]
pub(crate) struct SummaryWords {
    pub(crate) measured: &'static str,
    pub(crate) points_measured: Counted,
    pub(crate) points_of: &'static str,
    pub(crate) nothing: &'static str,
    pub(crate) maxima: &'static str,
    pub(crate) maximum: &'static str,
    pub(crate) maximum_on: &'static str,
    pub(crate) maximum_is: &'static str,
    pub(crate) maximum_of_many: &'static str,
    pub(crate) from_to: &'static str,
    pub(crate) on: &'static str,
    pub(crate) latency_of: &'static str,
    pub(crate) range: &'static str,
    pub(crate) single: &'static str,
    pub(crate) latency: &'static str,
    pub(crate) no_result: &'static str,
    pub(crate) more: &'static str,
    pub(crate) service_time: &'static str,
    pub(crate) response_time: &'static str,
    pub(crate) all_a: Counted,
    pub(crate) no_cause: &'static str,
    pub(crate) emulated_run: &'static str,
    pub(crate) graded: &'static str,
    pub(crate) no_points: &'static str,
    pub(crate) doubts: &'static str,
    pub(crate) doubt: &'static str,
    pub(crate) points: Counted,
    pub(crate) missing: Counted,
    pub(crate) emulated: &'static str,
    pub(crate) run_doubts: &'static str,
    pub(crate) expected: &'static str,
    pub(crate) below: Counted,
}

#[derive(Debug)]
pub(crate) struct ColumnWords {
    pub(crate) profile: &'static str,
    pub(crate) target: &'static str,
    pub(crate) outstanding: &'static str,
    pub(crate) maximum: &'static str,
    pub(crate) half_width: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) rate: &'static str,
    pub(crate) throughput: &'static str,
    pub(crate) mean: &'static str,
    pub(crate) minimum: &'static str,
    pub(crate) maximum_time: &'static str,
    pub(crate) cpu: &'static str,
    pub(crate) point: &'static str,
    pub(crate) time: &'static str,
    pub(crate) ended_by: &'static str,
    pub(crate) expected: &'static str,
    pub(crate) of_expected: &'static str,
    /// By duration, precision, bytes, the user, a failure.
    pub(crate) ended: [&'static str; 6],
    pub(crate) grade: &'static str,
    pub(crate) direction: &'static str,
    pub(crate) reads: &'static str,
    pub(crate) writes: &'static str,
    pub(crate) trims: &'static str,
    pub(crate) mean_at_lowest: &'static str,
    pub(crate) mean_at_maximum: &'static str,
    pub(crate) rate_at_lowest: &'static str,
    pub(crate) access: &'static str,
    pub(crate) random: &'static str,
    pub(crate) sequential: &'static str,
    pub(crate) share_random: &'static str,
    pub(crate) read_share: &'static str,
    pub(crate) write_share: &'static str,
    pub(crate) trim_share: &'static str,
    pub(crate) request_size: &'static str,
    pub(crate) arrivals: &'static str,
    pub(crate) by_step: &'static str,
    pub(crate) closed: &'static str,
    pub(crate) application: &'static str,
    pub(crate) subject: &'static str,
    pub(crate) fact: &'static str,
    pub(crate) value: &'static str,
    pub(crate) source: &'static str,
    pub(crate) unknown: &'static str,
}

#[derive(Debug)]
pub(crate) struct TableWords {
    pub(crate) key_caption: &'static str,
    pub(crate) key_note: &'static str,
    pub(crate) quotient_caption: &'static str,
    pub(crate) quotient_note: &'static str,
    pub(crate) profile_caption: &'static str,
    pub(crate) points_caption: &'static str,
    pub(crate) points_note: &'static str,
    pub(crate) directions_caption: &'static str,
    pub(crate) environment_caption: &'static str,
    pub(crate) parameters_caption: &'static str,
    pub(crate) data_caption: &'static str,
    pub(crate) load_title: &'static str,
    pub(crate) streams: Counted,
    pub(crate) target_fallback: &'static str,
}

#[derive(Debug)]
pub(crate) struct PictureWords {
    pub(crate) intro: &'static str,
    pub(crate) rate_title: &'static str,
    pub(crate) throughput_title: &'static str,
    pub(crate) latency_title: &'static str,
    pub(crate) x: &'static str,
    pub(crate) rate_y: &'static str,
    pub(crate) throughput_y: &'static str,
    pub(crate) latency_y: &'static str,
    pub(crate) mean: &'static str,
    pub(crate) rate_description: &'static str,
    pub(crate) rate_line: &'static str,
    pub(crate) latency_description: &'static str,
    pub(crate) latency_line: &'static str,
    pub(crate) gaps: Counted,
    pub(crate) not_drawn: &'static str,
}

#[derive(Debug)]
pub(crate) struct FindingWords {
    pub(crate) none: &'static str,
    pub(crate) invalid: &'static str,
    pub(crate) remark: &'static str,
    pub(crate) whole_run: &'static str,
    pub(crate) place: &'static str,
    pub(crate) place_on: &'static str,
    pub(crate) many: &'static str,
    pub(crate) span: &'static str,
}
