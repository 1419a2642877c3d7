//! Recorded and composed machines (`machines/README.md`), each with its expected facts: a line for
//! every fact that was written down in advance.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]
#![expect(clippy::unwrap_used, reason = "what fails in a helper fails the test")]

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use qdepth_host::environment::{inventory, redact};
use qdepth_host::recording::Recording;
use qdepth_host::system::System;
use qdepth_record::Observation;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines")
}

fn machines() -> Vec<(String, String)> {
    let mut names: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_suffix(".machine").map(str::to_owned)
        })
        .collect();
    names.sort();
    let text = |name: &str| fs::read_to_string(folder().join(format!("{name}.machine"))).unwrap();
    names.into_iter().map(|name| (name.clone(), text(&name))).collect()
}

fn observations(text: &str) -> Vec<Observation> {
    inventory(&System::recorded(Recording::parse(text).unwrap()))
}

/// Deviation from an expected line: `SUBJECT KEY = VALUE`, `SUBJECT KEY ? part of the reason as
/// stored`, or `SUBJECT -` for a subject that must be absent.
fn differs(facts: &[Observation], line: &str) -> Option<String> {
    if let Some(subject) = line.strip_suffix(" -") {
        let there = facts.iter().any(|fact| fact.subject == subject);
        return there.then(|| format!("`{subject}` must not be there"));
    }
    let (what, is, wanted) = match (line.split_once(" = "), line.split_once(" ? ")) {
        (Some((what, wanted)), _) => (what, '=', wanted),
        (None, Some((what, wanted))) => (what, '?', wanted),
        (None, None) => return Some(format!("`{line}` expects nothing")),
    };
    let (subject, key) = what.rsplit_once(' ').unwrap();
    let found: Vec<&Observation> =
        facts.iter().filter(|fact| fact.subject == subject && fact.key == key).collect();
    match (found.as_slice(), is) {
        ([fact], '=') if fact.value.as_deref() == Ok(wanted) => None,
        ([fact], '?') if fact.value.as_ref().is_err_and(|why| why.stored().contains(wanted)) => {
            None
        }
        _ => Some(format!("wanted {line}, found {found:?}")),
    }
}

#[test]
fn every_recorded_machine_matches_its_expectation() {
    let machines = machines();
    assert!(machines.len() >= 12, "{} machines", machines.len());
    let mut wrong = Vec::new();
    for (name, text) in machines {
        let facts = observations(&text);
        let expected = fs::read_to_string(folder().join(format!("{name}.expected"))).unwrap();
        assert!(expected.lines().count() >= 5, "{name} expects next to nothing");
        let lines = expected.lines().filter_map(|line| differs(&facts, line));
        wrong.extend(lines.map(|why| format!("{name}: {why}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_fact_is_observed_twice() {
    for (name, text) in machines() {
        let mut seen = std::collections::BTreeSet::new();
        for fact in observations(&text) {
            let once = seen.insert((fact.subject.clone(), fact.key.clone()));
            assert!(once, "{name}: {} {}", fact.subject, fact.key);
        }
    }
}

#[test]
fn redacted_machine_contains_no_serial_numbers() {
    for (name, text) in machines() {
        let mut facts = observations(&text);
        let named = |fact: &Observation| matches!(&*fact.key, "serial" | "wwid" | "uuid");
        let names: Vec<String> =
            facts.iter().filter(|f| named(f)).filter_map(|f| f.value.clone().ok()).collect();
        redact(&mut facts);
        for fact in &facts {
            let value = fact.value.as_deref().unwrap_or_default();
            for secret in names.iter().filter(|secret| secret.len() >= 4) {
                assert!(!value.contains(secret.as_str()), "{name}: {fact:?} tells {secret}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Reading a recording without its end, without some lines, or with single characters lost does
    /// not panic.
    #[test]
    fn damaged_machine_recordings_parse_without_panic(
        which: prop::sample::Index,
        end: prop::sample::Index,
        holes in prop::collection::vec((any::<prop::sample::Index>(), "[ -~]{0,12}"), 0..40),
    ) {
        let machines = machines();
        let (_, text) = which.get(&machines);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.truncate(end.index(lines.len()) + 1);
        for (place, junk) in holes {
            let index = place.index(lines.len());
            let line = &mut lines[index];
            if line.starts_with("| ") {
                let at = line.char_indices().map(|(at, _)| at).nth(junk.len()).unwrap_or(2).max(2);
                line.truncate(at);
                line.push_str(&junk);
            }
        }
        if let Ok(recording) = Recording::parse(&lines.join("\n")) {
            let _ = inventory(&System::recorded(recording));
        }
    }
}
