//! Events with texts of a language in addition to their codes, for the live page.

use qdepth_record::RunEvent;
use qdepth_record::event::PointStarted;
use qdepth_report::{Lang, finding_text, load_in_words, phase_text, variant_in_words};
use qdepth_words::{with_subject, words};

/// Adds the field `words` to an event that has a text: a phase, the load of a new point, or a
/// finding.
pub(crate) fn with_words(line: String, lang: Lang) -> String {
    let words = match serde_json::from_str(&line) {
        Ok(RunEvent::PhaseStarted(started)) => phase_text(lang, &started),
        Ok(RunEvent::PointStarted(point)) => load(&point, lang),
        Ok(RunEvent::FindingRaised(raised)) => {
            let text = finding_text(&(&raised).into(), lang);
            with_subject(lang, &text.title, &text.explanation)
        }
        _ => return line,
    };
    let words = serde_json::Value::from(words);
    match line.strip_suffix('}') {
        Some(fields) => format!("{fields},\"words\":{words}}}"),
        None => line,
    }
}

/// Load of a point with its queue depth, and its column in a comparison.
fn load(point: &PointStarted, lang: Lang) -> String {
    let load = load_in_words(lang, &point.profile, &point.profile_title, &point.step);
    let load = format!("{load} × {}", point.queue_depth);
    match &point.variant {
        Some(variant) => [load, variant_in_words(lang, variant)].join(words(lang).load_step),
        None => load,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text of an event.
    fn words(line: &str, lang: Lang) -> String {
        let line = with_words(line.to_owned(), lang);
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        event["words"].as_str().unwrap_or_default().to_owned()
    }

    #[test]
    fn point_and_finding_events_are_translated() {
        let started = r#"{"event":"point-started","point":0,"group":0,"target":0,"profile":"database","profile_title":"Database","step":"before 1/2","queue_depth":1,"streams":1,"offered_io_per_s":null,"warm_up_ns":0,"duration_ns":1,"planned_before_ns":0}"#;
        assert_eq!(words(started, Lang::En), "Database, before 1/2 × 1");
        assert_eq!(words(started, Lang::Ja), "データベース、前 1/2 × 1");
        let column = r#"{"of":"processes","name":"4","part":2,"parts":4,"area_bytes":4096}"#;
        let of_column =
            started.replace("\"streams\"", &format!("\"variant\":{column},\"streams\""));
        assert_eq!(words(&of_column, Lang::En), "Database, before 1/2 × 1, process 2 of 4");
        assert_eq!(words(&of_column, Lang::Ja), "データベース、前 1/2 × 1、プロセス 2/4");
        let raised = r#"{"event":"finding-raised","point":null,"code":"io-errors","severity":"invalid","values":{"failed":3.0,"share":null},"labels":{"errors":"write EIO 3"}}"#;
        assert!(words(raised, Lang::En).starts_with("I/Os failed: I/Os ended with an error: 3"));
        let text = words(raised, Lang::Ja);
        assert!(text.contains("write EIO 3") && !text.contains("failed"), "{text}");
        let newer = raised.replace("io-errors", "of-tomorrow");
        assert!(words(&newer, Lang::En).contains("`of-tomorrow`"), "{}", words(&newer, Lang::En));
    }

    #[test]
    fn phase_events_are_translated() {
        let started = r#"{"event":"phase-started","phase":"preconditioning","step":"passes","values":{"area_bytes":67108864.0,"passes":2.0},"labels":{"load":"random","block_size":"4KiB"},"bytes":134217728}"#;
        assert_eq!(words(started, Lang::En), "random 4KiB, 2 × 64 MiB");
        assert_eq!(words(started, Lang::Ja), "ランダム 4KiB、64 MiB × 2 回");
        let made = r#"{"event":"phase-started","phase":"provisioning","step":"fill","labels":{"directory":"/mnt/a b"},"bytes":1}"#;
        assert!(words(made, Lang::Ja).contains("/mnt/a b"), "{}", words(made, Lang::Ja));
    }

    #[test]
    fn other_and_truncated_events_are_unchanged() {
        for line in
            ["{\"event\":\"run-ended\",\"state\":\"complete\",\"points_done\":3}", "{\"ev", ""]
        {
            assert_eq!(with_words(line.to_owned(), Lang::Ja), line);
        }
    }
}
