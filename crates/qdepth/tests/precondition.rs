//! Preconditioning: writes before the first point, and their effect on an emulated device.

use std::fs;
use std::path::Path;

use crate::common::{Workspace, codes, exclusive_turn, has_tools, points, token};
use serde_json::{Value, json};

#[cfg(test)]
const MIB: u64 = 1 << 20;

/// Plan of random reads only, so that every write is preconditioning.
#[cfg(test)]
const READS: &str = "name = \"reads\"\nqueue_depth = [4]\nduration = \"200ms\"\n\
    file_size = \"32MiB\"\n[[profile]]\nname = \"reads\"\nrandom = 100\nread = 100\n\
    block_size = \"4KiB\"\n";

/// Bytes that the kernel wrote to a device.
#[cfg(test)]
fn written(device: &Path) -> u64 {
    let name = device.file_name().unwrap().to_str().unwrap();
    let stat = fs::read_to_string(format!("/sys/class/block/{name}/stat")).unwrap();
    stat.split_whitespace().nth(6).unwrap().parse::<u64>().unwrap() * 512
}

/// Facts of the run about preconditioning.
#[cfg(test)]
fn preconditioned_facts(document: &Value) -> Vec<String> {
    let facts = document["targets"].as_array().unwrap()[0]["facts"].as_array().unwrap();
    let ours = facts.iter().filter(|fact| fact["key"] == "preconditioned");
    ours.map(|fact| fact["value"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn writes_before_first_point_are_reported_as_events() {
    let workspace = Workspace::new();
    workspace.write("plan.toml", READS);
    fs::create_dir(workspace.join("there")).unwrap();
    let words = "run plan.toml there --precondition preconditioned --events e.jsonl --no-report";
    workspace.run(words).expect_finished();
    let text = fs::read_to_string(workspace.join("e.jsonl")).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let began = events.iter().position(|event| event["event"] == "run-started").unwrap();
    // A second of progress may come between, on a slow machine.
    let phases = events[..began].iter().filter(|event| event["event"] != "phase-progress");
    let told: Vec<(&str, &str, Option<u64>)> = phases
        .filter(|event| event["event"] != "message")
        .map(|event| {
            let bytes = event["bytes"].as_u64().or(event["bytes_done"].as_u64());
            (event["event"].as_str().unwrap(), event["phase"].as_str().unwrap_or(""), bytes)
        })
        .collect();
    let steps = events[..began].iter().filter(|event| event["event"] == "phase-started");
    let steps: Vec<Value> =
        steps.map(|event| json!([event["step"], event["labels"], event["values"]])).collect();
    assert_eq!(
        steps,
        [
            json!(["fill", { "directory": "there" }, {}]),
            json!([
                "passes",
                { "load": "sequential", "block_size": "128KiB" },
                { "area_bytes": 33_554_432.0, "passes": 2.0 },
            ]),
        ]
    );
    let file = Some(32 * MIB);
    let twice = Some(64 * MIB);
    assert_eq!(
        told,
        [
            ("phase-started", "provisioning", file),
            ("phase-ended", "", file),
            ("phase-started", "preconditioning", twice),
            ("phase-ended", "", twice),
        ],
        "{text}"
    );
}

#[test]
fn device_is_preconditioned_as_announced() {
    let test = "device_is_preconditioned_as_announced";
    if !has_tools(test, &["losetup"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let device = workspace.device("image", 66 * MIB);
    let toml = workspace.write("plan.toml", READS);
    let words = format!("{toml} {} --precondition steady", device.display());
    // No consent was given yet.
    let shown = workspace.run(&format!("plan {words}")).expect(3).out;
    assert!(
        shown.contains(
            "192MiB to precondition it (sequential 128KiB, 2 passes of 64MiB, then random 4KiB, 1 \
             pass of 64MiB)"
        ),
        "{shown}"
    );
    let before = written(&device);
    // It needs consent like any plan that writes, although its points only read.
    let refused = workspace.run(&format!("run {words} --no-report")).expect(3);
    assert!(refused.err.contains("G9"), "{}", refused.err);
    assert_eq!(written(&device), before);
    let lines: Vec<&str> = refused.err.lines().filter(|line| line.contains(" = ")).collect();
    let consent = workspace.write("consent", &lines.join("\n"));
    let name = token(&device);
    let document = workspace
        .run(&format!("run {words} --no-report --json --destroy {name} --consent {consent}"))
        .expect_finished()
        .json();
    // Plus labels of a few KiB, and 1 MiB at each end that the guard clears.
    let all = (written(&device) - before) as f64 / MIB as f64;
    assert!((192.0..197.0).contains(&all), "{all} MiB were written");
    let told = preconditioned_facts(&document);
    let area = 64 * MIB;
    for (told, load) in told.iter().zip([
        format!("block_size=128KiB load=sequential area_bytes={area} passes=2"),
        format!("block_size=4KiB load=random area_bytes={area} passes=1"),
    ]) {
        assert!(told.starts_with(&format!("passes {load} took_ns=")), "{told}");
    }
    assert!(!codes(&document).contains(&"medium-state-unknown".to_owned()));
    assert_eq!(points(&document).len(), 1);
}

#[test]
fn interrupt_during_preconditioning_ends_run_without_points() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let step = "[[prepare]]\nstep = \"precondition\"\nmethod = \"random\"\npasses = 100\n";
    workspace.write("plan.toml", &READS.replace("[[profile]]", &format!("{step}[[profile]]")));
    let mut run = workspace.start("run plan.toml . --no-report");
    run.wait_for_err("precondition  random 4KiB, 100 × 32 MiB, ");
    run.signal("INT");
    let ended = run.wait().expect(130);
    assert!(ended.err.contains("nothing was measured"), "{}", ended.err);
    assert!(!workspace.has("qdepth-measurement-file"), "what was made is removed");
    assert!(!workspace.run("list").expect(0).out.contains("reads"));
}

#[test]
fn emulated_device_takes_the_requested_precondition_state() {
    let workspace = Workspace::new();
    // Rate over the whole capacity (second column), and facts of the target.
    let measured = |state: &str, precondition: &str| {
        let words = format!(
            "run area media:p3700-800gb@state={state} {precondition} --profile random-4k-write \
             --queue-depth 64 --duration 1s --no-report --json"
        );
        let document = workspace.run(&words).expect_finished().json();
        (points(&document)[1]["io_per_s"].as_f64().unwrap(), preconditioned_facts(&document))
    };
    let ((fresh, nothing), (steady, said)) =
        (measured("fresh", ""), measured("fresh", "--precondition steady"));
    assert_eq!((nothing, said), (Vec::new(), vec!["steady".to_owned()]));
    assert!(fresh > 1.5 * steady, "{fresh} {steady}");
    let spelled = measured("steady", "").0;
    assert!((steady - spelled).abs() < 1e-9, "the words mean the same: {steady} {spelled}");
}

/// Fact about rounds until steady, and true if the run has a finding about them.
#[cfg(test)]
fn rounds_text(document: &Value) -> (String, bool) {
    let told = preconditioned_facts(document).into_iter().find(|told| told.starts_with("rounds "));
    let doubted = codes(document).contains(&"not-steady".to_owned());
    (told.expect("rounds are told"), doubted)
}

#[test]
fn rounds_end_with_a_verdict_instead_of_error() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    workspace.write("plan.toml", READS);
    let words = "plan.toml . --precondition until-steady --round 300ms";
    let shown = workspace.run(&format!("plan {words}")).expect(0).out;
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("64MiB, plus the writes of its rounds to precondition it"), "{shown}");
    assert!(shown.contains("until steady by qdepth's rule, 1440 rounds of 300ms"), "{shown}");
    let run = workspace.run(&format!("run {words} --no-report --json")).expect_finished();
    // The steadiness of a shared disk is unpredictable; fact and finding must agree.
    let (told, doubted) = rounds_text(&run.json());
    assert_eq!(doubted, !told.contains(" state=steady "), "{told}");
    assert!(told.contains(" rule=own ") && told.contains(" times_written="), "{told}");
    assert!(run.err.contains("round 5 "), "{}", run.err);
    assert!(!codes(&run.json()).contains(&"medium-state-unknown".to_owned()));
    let refused = workspace.run("run plan.toml . --round 1s").expect(2).err;
    assert!(refused.contains("--precondition until-steady --round"), "{refused}");
}

#[test]
fn emulated_device_is_steady_after_five_rounds() {
    let workspace = Workspace::new();
    let rounds = |rule: &str| {
        let words = format!(
            "run quick media:p3700-800gb@state=fresh --precondition {rule} --round 1s \
             --profile random-4k-write --queue-depth 64 --duration 1s --no-report --json"
        );
        let document = workspace.run(&words).expect_finished().json();
        assert!(preconditioned_facts(&document).contains(&"steady".to_owned()), "it was put there");
        rounds_text(&document)
    };
    for (rule, whose) in [("until-steady", "own"), ("until-steady-snia", "snia")] {
        let (told, doubted) = rounds(rule);
        for said in [" state=steady ", &format!(" rule={whose} "), " rounds=5 "] {
            assert!(told.contains(said), "{told}");
        }
        assert!(told.contains(" round_ns=1000000000 "), "{told}");
        assert!(!doubted, "{told}");
    }
}

#[test]
fn cyclic_rates_are_measured_with_a_finding() {
    let workspace = Workspace::new();
    // Each round begins with credits for its first 0.4 s: 16,000 I/Os a second, then 3,000.
    workspace.write(
        "volume.toml",
        "title = \"A volume\"\nkind = \"volume\"\nabout = \"a test\"\n[parameters]\n\
         capacity_gb = { value = 1, from = \"definition\" }\n\
         latency_us = { value = 800, from = \"definition\" }\n\
         io_per_s = { value = 3000, from = \"definition\" }\n\
         burst_io_per_s = { value = 16000, from = \"definition\" }\n\
         credits = { value = 5200, from = \"definition\" }\n\
         mb_s = { value = 125, from = \"definition\" }\n",
    );
    let step = "[[prepare]]\nstep = \"precondition\"\nmethod = \"until-steady\"\nround = \"1s\"\n";
    workspace.write("plan.toml", &READS.replace("[[profile]]", &format!("{step}[[profile]]")));
    let run = workspace.run("run plan.toml media:volume.toml --no-report --json").expect_finished();
    let document = run.json();
    let (told, doubted) = rounds_text(&document);
    assert!(doubted && told.contains(" state=cyclic "), "{told}");
    assert!(told.contains(" period_rounds=1"), "{told}");
    let findings = document["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["code"] == "not-steady").unwrap();
    assert_eq!(found["labels"]["state"], "cyclic");
    let period_ns = found["values"]["period_ns"].as_f64().unwrap();
    assert!((period_ns / 1e9 - 1.0).abs() < 0.05, "{found:#}");
}

/// A volume that answers 16,000 I/Os a second for its first seconds of credit, then 3,000.
#[cfg(test)]
const BURSTS: &str = "title = \"A volume\"\nkind = \"volume\"\nabout = \"a test\"\n[parameters]\n\
    capacity_gb = { value = 100, from = \"definition\" }\n\
    latency_us = { value = 800, from = \"definition\" }\n\
    io_per_s = { value = 3000, from = \"definition\" }\n\
    burst_io_per_s = { value = 16000, from = \"definition\" }\n\
    credits = { value = 39000, from = \"definition\" }\n\
    mb_s = { value = 1000, from = \"definition\" }\n";

#[test]
fn point_until_steady_reports_the_steady_rate() {
    let workspace = Workspace::new();
    workspace.write("volume.toml", BURSTS);
    let point = |profile: &str, more: &str| {
        let words = format!(
            "run quick media:volume.toml --profile {profile} --queue-depth 64 --duration 50s \
             --warm-up 100ms --no-report --json {more}"
        );
        let document = workspace.run(&words).expect_finished().json();
        document["points"][0].clone()
    };
    let rate = |point: &Value| point["io_per_s"].as_f64().unwrap();
    let seconds = |point: &Value| point["duration_ns"].as_f64().unwrap() / 1e9;
    let is_doubted = |point: &Value| {
        let all = point["findings"].as_array().unwrap();
        all.iter().any(|finding| finding["code"] == "not-steady")
    };
    // The whole window includes the burst: three seconds of 16,000 in fifty.
    let whole = point("random-4k-read", "");
    assert!((3600.0..3900.0).contains(&rate(&whole)), "{}", rate(&whole));
    for until in ["steady", "steady-snia"] {
        let steady = point("random-4k-read", &format!("--until {until}"));
        assert!((rate(&steady) / 3000.0 - 1.0).abs() < 0.01, "{until}: {}", rate(&steady));
        assert_eq!(steady["ended_by"], "steady", "{until}");
        assert!(seconds(&steady) < 25.0 && !is_doubted(&steady), "{until}: {steady:#}");
    }
    // A target that was not written twice cannot count as steady.
    let written = point("random-4k-write", "--until steady");
    assert_eq!(written["ended_by"], "duration");
    assert!((seconds(&written) - 50.0).abs() < 0.1 && is_doubted(&written), "{written:#}");
}

#[test]
fn point_until_steady_ends_early_or_has_finding() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    workspace.write("plan.toml", READS);
    let words = "plan.toml . --until steady --duration 5s --warm-up 100ms";
    let shown = workspace.run(&format!("plan {words}")).expect(0).out;
    assert!(shown.contains("until steady, at most 5s in 25 rounds"), "{shown}");
    let run = workspace.run(&format!("run {words} --no-report --json")).expect_finished().json();
    for point in run["points"].as_array().unwrap() {
        let codes: Vec<&Value> =
            point["findings"].as_array().unwrap().iter().map(|finding| &finding["code"]).collect();
        let doubted = codes.iter().any(|code| **code == "not-steady");
        let steady = point["ended_by"] == "steady";
        // A rate that oscillates has a level, and a finding about the oscillation.
        assert!(steady || doubted, "{point:#}");
        let seconds = point["duration_ns"].as_f64().unwrap() / 1e9;
        assert!(if steady { seconds < 3.0 } else { seconds > 4.9 }, "{steady} {seconds}");
        assert!(point["io_per_s"].as_f64().unwrap() > 0.0);
    }
    let refused = workspace.run("run plan.toml . --until stedy").expect(2).err;
    assert!(refused.contains("steady, steady-snia"), "{refused}");
    let short = workspace.run("run plan.toml . --until steady --duration 1s").expect(2).err;
    assert!(short.contains("need at least 5s"), "{short}");
}
