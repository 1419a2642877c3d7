//! Tests of `qdepth host`.

use crate::common::{Workspace, program};
use serde_json::Value;

#[test]
fn replayed_machine_recording_gives_the_same_facts() {
    let bench = Workspace::new();
    let here = bench.run("host --json --record machine.txt").expect(0).json();
    assert_eq!(here["schema"]["name"], "qdepth-host");
    let facts = |document: &serde_json::Value| document["observations"].as_array().unwrap().clone();
    assert!(facts(&here).len() > 30);
    let again = bench.run("host --json --recorded machine.txt").expect(0).json();
    for (then, now) in facts(&here).iter().zip(facts(&again)) {
        // Values of statfs(2) are not in a file, so recordings lack them.
        if then["key"] != "block_size_bytes" {
            assert_eq!(*then, now);
        }
    }
    let told = bench.run("host").expect(0);
    assert!(told.out.contains("Machine") && told.out.contains("Unknown"), "{}", told.out);
}

#[test]
fn invalid_machine_recording_is_wrong_usage() {
    let bench = Workspace::new();
    bench.write("x", "what is this\n");
    let ended = bench.run("host --recorded x").expect(2);
    assert!(ended.err.contains("line 1"), "{}", ended.err);
    bench.run("host --recorded nowhere").expect(2);
}

#[test]
fn certificate_is_stored_and_named_by_later_runs() {
    let workspace = Workspace::new();
    let none = workspace.run("certify --show");
    assert!(none.status != Some(0) && none.err.contains("qdepth.db"), "{}", none.err);
    // So short that noise may fail a proof on a busy machine; a failed proof is stored too.
    let told = workspace.run("certify --duration 100ms -o page.html");
    assert!([0, 1, 5].map(Some).contains(&told.status), "{:?}: {}", told.status, told.err);
    assert!(told.out.contains("certificate") || told.out.contains("Certificate"), "{}", told.out);
    let certificate = workspace.run("certify --show --json").json();
    assert_eq!(certificate["schema"]["name"], "qdepth-certificate");
    let codes: Vec<&str> = certificate["proofs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|proof| proof["code"].as_str().unwrap())
        .collect();
    for code in ["clock", "known-rates", "known-medians", "own-rate", "intervals"] {
        assert!(codes.contains(&code), "{code}: {codes:?}");
    }
    // Compared with fio at queue depths 1 and 8, if it is installed; so short a test may be
    // inconclusive.
    let beside = certificate["proofs"].as_array().unwrap().iter().filter(|p| p["code"] == "fio");
    let beside: Vec<&Value> = beside.collect();
    assert_eq!(beside.len(), if crate::common::sh("fio --version").is_ok() { 2 } else { 0 });
    for proof in beside {
        let subject = proof["subject"].as_str().unwrap();
        assert!(subject.starts_with("fio-") && subject.contains(" × "), "{proof:#}");
        assert!(proof["why"].is_string() || proof["values"]["pairs"] == 10.0, "{proof:#}");
    }
    let id = certificate["id"].as_str().unwrap();
    let page = std::fs::read_to_string(workspace.join("page.html")).unwrap();
    assert!(page.contains(id) && page.contains("Certificate of qdepth"), "{page}");
    let words = workspace.run("certify --show").out;
    // The table fits; the sentence below it is text, which a terminal breaks.
    let mut table = words.lines().filter(|line| !line.contains(" tests "));
    assert!(table.all(|line| line.chars().count() <= 80), "{words}");
    let words = "--file-size 1MiB --profile database --queue-depth 1 --duration 100ms";
    let run = workspace.run(&format!("run . {words} --warm-up 10ms --json --no-report"));
    let run = run.expect_finished().json();
    let facts = run["environment"].as_array().unwrap();
    let fact = facts.iter().find(|fact| fact["subject"] == "certificate").expect("a fact");
    let value = fact["value"].as_str().unwrap();
    assert!(value.starts_with("proofs at=") && value.contains(&format!(" id={id} ")), "{fact}");
    workspace.run("logbook check qdepth.db").expect(0);
}

#[test]
fn calibration_reads_with_each_engine_and_changes_nothing() {
    let workspace = Workspace::new();
    let contents: Vec<u8> = (0..1_u32 << 18).flat_map(u32::to_le_bytes).collect();
    std::fs::write(workspace.join("data"), &contents).unwrap();
    let told = workspace.run("host calibrate data").expect(0);
    for engine in ["threads", "sync"] {
        assert!(told.out.lines().any(|line| line.starts_with(engine)), "{}", told.out);
    }
    assert!(told.out.contains("io_uring-passthrough cannot be used: "), "{}", told.out);
    for queue_depth in ["queue depth 1: ", "queue depth 32: "] {
        let verdict = told.out.lines().find(|line| line.starts_with(queue_depth)).unwrap();
        // On a busy machine no round may be valid; then the table has dashes, and says why.
        let none = verdict.ends_with("no round of any engine was valid")
            && told.out.contains("–: no round was valid; `qdepth host check` shows");
        let found =
            verdict.contains(" is the fastest") || verdict.contains("do not differ significantly");
        assert!(none || found, "{}", told.out);
    }
    assert_eq!(std::fs::read(workspace.join("data")).unwrap(), contents);
    let there = std::fs::read_dir(workspace.path()).unwrap().flatten();
    let names = there.map(|entry| entry.file_name().into_string().unwrap());
    // The workspace stores the command's output in the same directory.
    let left: Vec<String> = names.filter(|name| !name.starts_with('1')).collect();
    assert_eq!(left, ["data"]);

    let none = workspace.run("host calibrate nowhere").expect(3);
    assert!(none.err.contains("nowhere"), "{}", none.err);
    let emulated = workspace.run("host calibrate media:p3700-800gb").expect(2);
    assert!(emulated.err.contains("emulated"), "{}", emulated.err);
}

#[test]
fn interrupt_ends_the_whole_calibration() {
    let workspace = Workspace::new();
    std::fs::write(workspace.join("data"), vec![1_u8; 4 << 20]).unwrap();
    let (here, program) = (workspace.path().display(), program());
    let interrupted = "timeout --preserve-status -s INT 2";
    let line = format!("cd {here} && {interrupted} {program} host calibrate data; echo $?");
    assert_eq!(crate::common::sh(&line).unwrap().trim(), "130");
}
