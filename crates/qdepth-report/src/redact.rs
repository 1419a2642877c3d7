//! Replaces everything that would identify a machine with pseudonyms: serial numbers, hosts, mount
//! points, files. A pseudonym is a kind and a number in the order of appearance. The same records
//! give the same pseudonyms, and nothing can be computed back from them, unlike from a hash of a
//! serial number.

use std::collections::BTreeMap;

use qdepth_measure::{Finding, RANK, label};
use qdepth_record::{Observation, PointRecord, Record, RunRecord, Stored, TargetKind};
use qdepth_words::{Lang, entry, words};

use crate::presentation::Measured;

/// Keys of facts that identify something, with the kind of the pseudonym.
const NAMING: [(&str, &str); 13] = [
    ("serial", "serial"),
    ("wwid", "wwid"),
    ("wwn", "wwid"),
    ("nguid", "wwid"),
    ("eui64", "wwid"),
    ("uuid", "uuid"),
    ("diskseq", "diskseq"),
    ("mount_point", "mount"),
    ("source", "source"),
    ("backing_file", "file"),
    ("command_line", "command-line"),
    (RunRecord::CAMPAIGN_REQUEST.1, "campaign-request"),
    ("machine_id", "machine"),
];
/// Columns of runs, targets and points that cannot contain such a name. All other texts, including
/// new ones, are searched.
const OURS: [&str; 14] = [
    "id",
    "started_at",
    "ended_at",
    "state",
    "qdepth_version",
    "plan_hash",
    "seed",
    "comparison",
    "engine_choice",
    "kind",
    "engine",
    "block_size",
    "arrivals",
    "ended_by",
];
/// Shortest name that is replaced: shorter ones occur in other words by chance.
const SHORTEST: usize = 3;

/// The run and its points with pseudonyms in all texts.
pub(crate) fn redacted(run: &RunRecord, points: &[PointRecord]) -> Measured {
    Names::from_runs(std::iter::once((run, points))).hidden(run, points)
}

/// The same for several runs: equal names get equal pseudonyms in all of them.
pub(crate) fn all_redacted(runs: &[Measured]) -> Vec<Measured> {
    let names = Names::from_runs(runs.iter().map(|(run, points)| (run, &**points)));
    runs.iter().map(|(run, points)| names.hidden(run, points)).collect()
}

/// Names with their pseudonyms, the longest first, because a path must precede its prefixes.
struct Names(Vec<(String, String)>);

impl Names {
    fn from_runs<'a>(runs: impl Iterator<Item = (&'a RunRecord, &'a [PointRecord])>) -> Self {
        let mut found: Vec<(String, &str)> = Vec::new();
        for (run, points) in runs {
            let findings = points.iter().flat_map(|point| &point.findings).chain(&run.findings);
            let ranks = findings.filter_map(|finding| finding.labels.get(RANK));
            found.extend(ranks.map(|rank| (rank.clone(), "rank")));
            let media = run.expected.iter().map(|expected| &expected.medium);
            let expressions = run.targets.iter().map(|target| &target.expression);
            found.extend(expressions.chain(media).flat_map(|text| paths_in(text)));
            let facts = run.targets.iter().flat_map(|target| &target.facts);
            for seen in run.environment.iter().chain(facts) {
                found.extend(naming(seen).map(|(value, kind)| (value.to_owned(), kind)));
            }
            for target in &run.targets {
                if matches!(target.kind, TargetKind::Directory | TargetKind::File) {
                    found.push((target.expression.clone(), "path"));
                }
            }
        }
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        let mut all: Vec<(String, String)> = Vec::new();
        for (value, kind) in found {
            let known = all.iter().any(|(other, _)| *other == value);
            if known || value.len() < SHORTEST {
                continue;
            }
            let count = counts.entry(kind).or_default();
            *count += 1;
            all.push((value, format!("{kind}-{count}")));
        }
        all.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        Self(all)
    }

    fn hide(&self, text: &mut String) {
        for (value, pseudonym) in &self.0 {
            if text.contains(value.as_str()) {
                *text = text.replace(value.as_str(), pseudonym);
            }
        }
    }

    fn hidden(&self, run: &RunRecord, points: &[PointRecord]) -> Measured {
        let (mut run, mut points) = (run.clone(), points.to_vec());
        self.hide_in_run(&mut run);
        for point in &mut points {
            self.hide_in_columns(point);
            self.hide_findings(&mut point.findings);
        }
        (run, points)
    }

    fn hide_in_run(&self, run: &mut RunRecord) {
        self.hide_in_columns(run);
        run.environment.iter_mut().for_each(|seen| self.hide_in(seen));
        for target in &mut run.targets {
            self.hide_in_columns(target);
            target.facts.iter_mut().for_each(|seen| self.hide_in(seen));
        }
        run.expected.iter_mut().for_each(|expected| self.hide_in_columns(expected));
        for variant in run.comparison.iter_mut().flat_map(|compared| &mut compared.variants) {
            self.hide(&mut variant.name);
        }
        self.hide_findings(&mut run.findings);
    }

    /// Replaces names in all columns of a record, except those that cannot contain any.
    fn hide_in_columns<R: Record>(&self, record: &mut R) {
        for column in R::columns().filter(|column| !OURS.contains(&column.name)) {
            let Stored::Text(text) = (column.get)(record) else { continue };
            let mut text = text.into_owned();
            self.hide(&mut text);
            // A column that rejects the new text holds one of qdepth's own words.
            let _ = (column.set)(record, Stored::Text(text.into()));
        }
    }

    fn hide_in(&self, seen: &mut Observation) {
        self.hide(&mut seen.subject);
        self.hide(&mut seen.source);
        match &mut seen.value {
            Ok(text) => self.hide(text),
            Err(why) => why.values_mut().into_iter().for_each(|text| self.hide(text)),
        }
    }

    fn hide_findings(&self, findings: &mut [Finding]) {
        for finding in findings {
            let labels = finding.labels.iter_mut();
            let named = labels.filter(|(name, text)| !label::may_be_code(name) || !is_worded(text));
            named.for_each(|(_, text)| self.hide(text));
        }
    }
}

/// True for codes of findings, which are never replaced, whatever the targets are named.
fn is_worded(text: &str) -> bool {
    let words = words(Lang::default());
    let known =
        |code| entry(words.finding_labels, code).is_some() || entry(words.remarks, code).is_some();
    text.split(label::BETWEEN).all(known)
}

/// Paths in a target expression, for example of a device model in
/// `raid0(media:/home/me/drive.toml*2)`.
fn paths_in(expression: &str) -> impl Iterator<Item = (String, &'static str)> {
    let parts = expression.split(|c: char| ":(),*?&= ".contains(c));
    parts.filter(|part| part.contains('/')).map(|part| (part.to_owned(), "path"))
}

/// The value of a fact that identifies something, and its kind.
fn naming(seen: &Observation) -> Option<(&str, &'static str)> {
    let value = seen.value.as_deref().ok()?;
    if seen.subject == "host" && matches!(&*seen.key, "name" | "hostname") {
        return Some((value, "host"));
    }
    let (_, kind) = NAMING.iter().find(|(key, _)| *key == seen.key)?;
    Some((value, kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;
    use crate::{Presentation, compose, html};

    fn secret_run() -> RunRecord {
        let mut run = fixture::run(2);
        let fact = |subject: &str, key: &str, value: &str| Observation {
            subject: subject.into(),
            key: key.into(),
            value: Ok(value.into()),
            source: format!("/srv/secret/{key}"),
        };
        run.environment.push(fact("host", "name", "db7.example.org"));
        run.targets[0].facts.push(fact("nvme0n1", "serial", "S4EWNX0M123456"));
        run.targets[1].facts.push(fact("nvme1n1", "serial", "S4EWNX0M999999"));
        run.targets[1].facts.push(fact("file_system", "mount_point", "/srv/secret"));
        run.targets[1].kind = TargetKind::Directory;
        run.targets[1].expression = "/srv/secret/bench".into();
        run.targets[1].name = "/srv/secret/bench on db7.example.org".into();
        run.findings.push(
            Finding::remark(qdepth_measure::Code::MonitorMissing)
                .label("why", "no S4EWNX0M123456")
                .label(RANK, "3 (node9.secret.net)"),
        );
        run.expected.push(qdepth_record::ExpectedRecord {
            point: 0,
            medium: "raid0(media:/home/jane/drive.toml*2)".to_owned(),
            io_per_s: 1000.0,
            bytes_per_s: 4e6,
            mean_ns: 1e6,
            below_io_per_s: None,
        });
        run
    }

    #[test]
    fn redacted_report_has_consistent_pseudonyms_without_names() {
        let (run, points) = (secret_run(), fixture::points(2));
        for lang in Lang::ALL {
            let presentation = Presentation { redact: true, ..Presentation::from(lang) };
            let page = html(&compose(&run, &points, presentation)).unwrap();
            for secret in
                ["S4EWNX0M", "db7", "example.org", "/srv/secret", "bench on", "jane", "node9"]
            {
                assert!(!page.contains(secret), "{secret}");
            }
            for pseudonym in ["serial-1", "serial-2", "host-1", "path-1"] {
                assert!(page.contains(pseudonym), "{pseudonym}");
            }
        }
        let open = html(&compose(&run, &points, Lang::En)).unwrap();
        assert!(open.contains("S4EWNX0M123456"), "without it they stand there");
    }

    /// The relative path `files` is also the beginning of a code.
    #[test]
    fn redaction_keeps_codes_equal_to_target_names() {
        let mut run = fixture::run(1);
        run.targets[0].kind = TargetKind::Directory;
        run.targets[0].expression = "files".into();
        let finding = |what: &str| {
            Finding::remark(qdepth_measure::Code::NotLiteral)
                .label("option", "a.fio:3: [files] registerfiles")
                .label("what", what)
        };
        run.findings = vec![finding("files-registered"), finding("in files, as it was called")];
        let (redacted, _) = redacted(&run, &[]);
        let label = |number: usize, name: &str| redacted.findings[number].labels[name].clone();
        assert_eq!(label(0, "what"), "files-registered");
        assert_eq!(label(0, "option"), "a.fio:3: [path-1] registerpath-1");
        assert_eq!(label(1, "what"), "in path-1, as it was called");
        run.targets[0].expression = "steady".into();
        let steady = Finding::remark(qdepth_measure::Code::NotSteady);
        run.findings = vec![steady.label("target", "steady").label("state", "steady")];
        let (redacted, _) = super::redacted(&run, &[]);
        let labels = &redacted.findings[0].labels;
        assert_eq!((&*labels["target"], &*labels["state"]), ("path-1", "steady"));
    }

    #[test]
    fn campaign_request_is_redacted_and_not_printed() {
        let mut run = fixture::run(1);
        let (subject, key) = RunRecord::CAMPAIGN_REQUEST;
        run.environment.push(Observation {
            subject: subject.into(),
            key: key.into(),
            value: Ok("{\"targets\":[\"/home/jane/other\"]}".into()),
            source: "qdepth run --repeat".into(),
        });
        let (redacted, _) = redacted(&run, &[]);
        let seen = redacted.environment.last().unwrap();
        assert_eq!(seen.value.as_deref(), Ok("campaign-request-1"));
        let page = html(&compose(&run, &fixture::points(1), Lang::En)).unwrap();
        assert!(!page.contains("jane"), "what the program resumes is nothing to read");
    }

    #[test]
    fn redaction_keeps_the_hash_of_results() {
        let (run, points) = (secret_run(), fixture::points(2));
        let hash = |redact| {
            let document =
                compose(&run, &points, Presentation { redact, ..Presentation::default() });
            document.facts.last().unwrap().value.clone()
        };
        assert_eq!(hash(true), hash(false));
        assert_eq!(hash(true).len(), 64);
    }
}
