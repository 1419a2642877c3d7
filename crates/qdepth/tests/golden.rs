//! Figures that are independent of the machine must not change unnoticed: every shipped plan on
//! emulated devices, fio's formats, the numbers of reports and the reproduction of the papers, each
//! by a hash of its content. `QDEPTH_WRITE_REFERENCE=1` rewrites `golden.txt`; CHANGELOG.md must
//! then state the reason, with the hash of the new file that the test prints.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::common::Workspace;
use crate::reproduce::WHOLE;

/// Serialises the writes of concurrent tests.
static WRITING: Mutex<()> = Mutex::new(());

/// Hashes by name.
type Hashes = BTreeMap<String, String>;

#[cfg(test)]
fn hash(text: &str) -> String {
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Removes fields that depend on machine, time or build.
#[cfg(test)]
fn without(mut value: Value, names: &[&str]) -> Value {
    match &mut value {
        Value::Object(map) => {
            map.retain(|name, _| !names.contains(&name.as_str()));
            map.values_mut().for_each(|inner| *inner = without(inner.take(), names));
        }
        Value::Array(all) => all.iter_mut().for_each(|inner| *inner = without(inner.take(), names)),
        _ => {}
    }
    value
}

/// Arguments that run a shipped plan on emulated devices for a short time.
#[cfg(test)]
fn words(plan: &str) -> String {
    let short = "--duration 20ms --warm-up 5ms";
    match plan {
        "arrays" => format!("media:p3700-800gb raid0(media:p3700-800gb*2) {short}"),
        "devices" => format!("media:p3700-800gb*2 {short}"),
        "saturation" => format!("media:p3700-800gb*3 {short}"),
        "media-comparison" => format!("media:p3700-800gb media:sas-2-ssd-400gb {short}"),
        "bandwidth" => "media:p3700-800gb --bytes-per-thread 16MiB --threads 1,2".to_owned(),
        _ => format!("media:p3700-800gb {short}"),
    }
}

/// Appends the numbers of a document, in order.
#[cfg(test)]
fn numbers(value: &Value, all: &mut String) {
    match value {
        Value::Number(number) => drop(write!(all, "{number} ")),
        Value::Array(inner) => inner.iter().for_each(|inner| numbers(inner, all)),
        Value::Object(inner) => inner.values().for_each(|inner| numbers(inner, all)),
        _ => {}
    }
}

/// Numbers in the tables of a report. Only rows with the mark count, which is every row.
#[cfg(test)]
fn of_tables(markdown: &str) -> String {
    let rows = markdown.lines().filter(|line| line.starts_with('|') && line.contains("EMULATED"));
    let figure = |c: char| c.is_ascii_digit() || ".,".contains(c);
    let cells = rows.flat_map(|row| row.split(|c: char| !figure(c)));
    let cells = cells.filter(|cell| cell.contains(|c: char| c.is_ascii_digit()));
    cells.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
fn read(workspace: &Workspace, name: &str) -> String {
    std::fs::read_to_string(workspace.join(name)).unwrap()
}

/// Compares hashes with the file, or writes them into it.
#[cfg(test)]
fn are_as_before(found: &Hashes) {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden.txt");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    let mut known: Hashes = pairs.map(|(name, hash)| (name.to_owned(), hash.to_owned())).collect();
    let changed = |(name, hash): &(&String, &String)| known.get(*name) != Some(*hash);
    let changed: Vec<&str> = found.iter().filter(changed).map(|(name, _)| name.as_str()).collect();
    if std::env::var_os("QDEPTH_WRITE_REFERENCE").is_some() {
        known.extend(found.clone());
        let lines = known.iter().map(|(name, hash)| format!("{name} {hash}\n"));
        std::fs::write(&path, lines.collect::<String>()).unwrap();
        return;
    }
    assert!(
        changed.is_empty(),
        "other figures than before: {changed:?}. Where they change on purpose, \
         QDEPTH_WRITE_REFERENCE=1 writes tests/golden.txt anew, and CHANGELOG.md says why"
    );
}

#[test]
fn every_shipped_plan_reproduces_its_golden_figures() {
    let workspace = Workspace::new();
    let mut found = Hashes::new();
    // Emulated devices have no directories.
    for plan in qdepth_workload::shipped_plan_names().filter(|plan| *plan != "metadata") {
        let line = format!("run {plan} {} --no-report --json", words(plan));
        let ended = workspace.run(&line);
        // Requirements on syncs are inconclusive on an emulated device.
        let document =
            if ended.status == Some(5) { ended.json() } else { ended.expect_finished().json() };
        let names = ["id", "environment", "started_at", "ended_at", "version"];
        let figures = without(document, &names);
        found.insert(format!("plan:{plan}"), hash(&figures.to_string()));
    }
    assert!(found.len() >= 28, "{found:?}");
    are_as_before(&found);
}

#[test]
fn report_numbers_match_the_golden_hashes() {
    let workspace = Workspace::new();
    let mut found = Hashes::new();
    for plan in ["quick", "arrays", "bandwidth", "write-pressure", "pts-iops"] {
        workspace.run(&format!("run {plan} {} --no-report --json", words(plan))).expect_finished();
        workspace.run("report latest --format json -o figures.json").expect(0);
        workspace.run("report latest --format md -o report.md").expect(0);
        let figures: Value = serde_json::from_str(&read(&workspace, "figures.json")).unwrap();
        let mut all = of_tables(&read(&workspace, "report.md"));
        assert!(all.len() > 200, "{plan}: {all}");
        numbers(&figures["figures"], &mut all);
        found.insert(format!("report:{plan}"), hash(&all));
    }
    are_as_before(&found);
}

#[test]
fn fio_jobs_reproduce_their_golden_figures() {
    let workspace = Workspace::new();
    let common = "--ioengine=null --size=1G --runtime=1 --time_based --output-format=json";
    let mut found = Hashes::new();
    for (name, job) in [
        ("mixed", "--rw=randrw --bs=4k --iodepth=8"),
        ("sizes", "--rw=randread --bssplit=4k/60:64k/40 --iodepth=4 --numjobs=2"),
        ("paced", "--rw=write --bs=128k --rate_iops=200"),
        ("trims", "--rw=randtrim --bs=64k --iodepth=2"),
    ] {
        let document = workspace.run(&format!("fio --name={name} {job} {common}")).expect(0).json();
        // Fields with times of the machine's clock instead of virtual time.
        let moments = ["timestamp", "timestamp_ms", "time", "job_start", "elapsed", "fio version"];
        let figures = without(document, &moments);
        found.insert(format!("fio:{name}"), hash(&figures.to_string()));
    }
    are_as_before(&found);
}

#[test]
fn paper_reproductions_match_the_golden_hash() {
    let found = Hashes::from([("reproduce".to_owned(), hash(&WHOLE.to_string()))]);
    are_as_before(&found);
}

/// New hashes must be mentioned in the changelog.
#[test]
fn changelog_names_the_current_golden_hash() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let mark = &hash(&text("tests/golden.txt"))[..8];
    let changelog = text("../../CHANGELOG.md");
    let line = format!("golden {mark}");
    assert!(
        changelog.contains(&line),
        "say in CHANGELOG.md, under *Changed results*, which figures changed and why: ({line})"
    );
}
