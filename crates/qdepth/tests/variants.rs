//! Variants with different preparations; on real devices they are tested in the virtual machine.

use std::fs;

use crate::common::{Workspace, points};
use serde_json::Value;

#[cfg(test)]
const PLAN: &str = r#"name = "states"
profiles = ["database"]
queue_depth = [1, 16]
duration = "300ms"
[[variant]]
name = "fresh"
target = "media:p3700-800gb@state=fresh"
[[variant]]
name = "steady"
target = "media:p3700-800gb@state=fresh"
[[variant.prepare]]
step = "precondition"
method = "random"
"#;

#[test]
fn variants_are_runs_and_columns_of_one_comparison() {
    let workspace = Workspace::new();
    workspace.write("plan.toml", PLAN);
    let shown = workspace.run("plan plan.toml").expect(0).out;
    for line in ["variant fresh, on media:p3700-800gb@state=fresh", "steady     without writing"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let document = workspace.run("run plan.toml --base steady --json").expect(0).json();
    let told: Vec<(u64, u64)> = points(&document)
        .iter()
        .map(|p| (p["variant"].as_u64().unwrap(), p["queue_depth"].as_u64().unwrap()))
        .collect();
    assert_eq!(told, [(0, 1), (0, 16), (1, 1), (1, 16)]);
    assert_eq!(document["run"]["state"], "complete");
    assert_eq!(document["run"]["comparison"]["base"], 1);
    assert_eq!(
        document,
        workspace.run("export").expect(0).json(),
        "the last run is the comparison"
    );
    let report = fs::read_to_string(workspace.join("qdepth-report.html")).unwrap();
    assert!(report.contains("fresh ÷ steady"), "the report compares");
    // Each variant is also a run of its own, measured as if there were no other.
    let listed = workspace.run("list").expect(0).out;
    let alone = listed.lines().find(|line| line.contains("states (steady)")).unwrap();
    let id = alone.split_whitespace().next().unwrap();
    let alone = workspace.run(&format!("export {id}")).expect(0).json();
    let rate = |point: &Value| point["io_per_s"].to_string();
    assert_eq!(rate(&points(&alone)[1]), rate(&points(&document)[3]));
}

#[test]
fn variants_and_combined_run_emit_events() {
    let workspace = Workspace::new();
    workspace.write("plan.toml", PLAN);
    let ended = workspace.run("run plan.toml --events e.jsonl --no-report").expect(0);
    let begin = ended.err.lines().filter(|line| line.contains(", seed ")).count();
    assert_eq!(begin, 2, "the run of all measures nothing: {}", ended.err);
    let text = fs::read_to_string(workspace.join("e.jsonl")).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = |name: &str, field: &str| -> Vec<Value> {
        let named = events.iter().filter(|event| event["event"] == name);
        named.map(|event| event[field].clone()).collect()
    };
    assert_eq!(told("variant-started", "name"), ["fresh", "steady"], "{text}");
    assert_eq!(told("run-started", "points"), [2, 2, 4], "{text}");
    assert_eq!(told("run-started", "points_done"), [0, 0, 4], "{text}");
    assert_eq!(told("run-ended", "points_done"), [2, 2, 4], "{text}");
    let last = told("run-started", "run").pop().unwrap();
    let run = workspace.run("export latest").expect(0).json();
    assert_eq!(run["run"]["id"], last, "the run of all is the newest of the logbook");
}

#[test]
fn error_in_last_variant_is_reported_before_first() {
    let workspace = Workspace::new();
    for (from, to, says) in [
        ("precondition", "dance", "dance"),
        ("method = \"random\"", "method = \"upwards\"", "upwards"),
        (
            "name = \"steady\"",
            "name = \"fresh\"",
            "the name `fresh` must not be empty or used twice",
        ),
    ] {
        workspace.write("plan.toml", &PLAN.replace(from, to));
        let refused = workspace.run("run plan.toml").expect(2);
        assert!(refused.err.contains(says), "{}", refused.err);
        assert!(!refused.err.contains("IOPS"), "nothing is measured: {}", refused.err);
    }
    workspace.write("plan.toml", PLAN);
    let refused = workspace.run("run plan.toml media:p3700-800gb").expect(2);
    assert!(refused.err.contains("Remove the targets from the command line"), "{}", refused.err);
    let refused = workspace.run("plan plan.toml --json").expect(2);
    assert!(refused.err.contains("Remove --json and --as-fio"), "{}", refused.err);
    assert!(!workspace.has("qdepth.db"), "nothing was begun");
}
