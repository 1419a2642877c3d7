//! `qdepth answer`: the highest rate at a latency limit, on emulated devices and a file.

use crate::common::Workspace;

const DRIVE: &str = "media:p3700-800gb";

#[test]
fn answer_appears_in_text_json_and_exit_status() {
    let workspace = Workspace::new();
    for (limits, status, answer, says) in [
        ("p99=1ms", 0, "rate", " meets p99 ≤ 1 ms up to "),
        ("p50=1s,p99=1ms", 0, "rate", "; p99 ≤ 1 ms is reached first"),
        ("p90=1us", 1, "never", " does not meet p90 ≤ 1 µs at any rate"),
    ] {
        let line = format!("answer {DRIVE} --profile random-4k-read --at {limits} --no-report");
        let ended = workspace.run(&line).expect(status);
        assert!(ended.out.contains(says), "{limits}: {}", ended.out);
        let (table, _) = ended.out.split_once("Open loop with random").unwrap();
        let rows = || table.trim_end().lines().rev().take_while(|line| !line.contains('─'));
        assert!(rows().count() > 5 && rows().all(|row| row.ends_with("EMULATED")), "{table}");
        let document = workspace.run("export latest").expect(0).json();
        let found = &document["answers"][0];
        assert_eq!(found["answer"], answer, "{limits}");
        if answer == "rate" {
            let [low, high] = [0, 1].map(|end| found["confidence_interval"][end].as_f64().unwrap());
            let rate = found["io_per_s"].as_f64().unwrap();
            assert!(low < rate && rate < high && high - low <= 0.04 * rate, "{found}");
            // A point below the answer meets the limit, and a point above does not.
            let keeps = |point: &&serde_json::Value| {
                let p99 = point["response_time_ns"]["reads"]["percentiles"]["99"].as_f64().unwrap();
                p99 <= 1e6
            };
            let offered = |point: &serde_json::Value| point["offered_io_per_s"].as_f64();
            let points = document["points"].as_array().unwrap();
            let open = || points.iter().filter(|point| offered(point).is_some());
            let far_below = |point: &&serde_json::Value| offered(point).unwrap() < 0.8 * low;
            let far_above = |point: &&serde_json::Value| offered(point).unwrap() > 1.25 * high;
            assert!(open().filter(far_below).all(|point| keeps(&point)), "{rate}");
            assert!(!open().filter(far_above).any(|point| keeps(&point)), "{rate}");
            assert!(open().filter(far_below).count() > 0, "{rate}");
        }
        // The list has the answer, not the rate of the closed loop.
        let listed = workspace.run("list --json --limit 1").expect(0).json();
        let best = listed["runs"][0]["best"]["io_per_s"].as_f64();
        let rate = found["io_per_s"].as_f64().filter(|_| answer == "rate").map(f64::floor);
        assert_eq!(best, rate, "{limits}");
        let shown = workspace.run("list --limit 1").expect(0).out.contains(" IOPS ");
        assert_eq!(shown, rate.is_some(), "{limits}");
        workspace.run("report latest --format md -o report.md").expect(0);
        let report = std::fs::read_to_string(workspace.join("report.md")).unwrap();
        assert!(report.contains(says), "{report}");
    }
}

#[test]
fn invalid_answer_options_are_refused_with_a_remedy() {
    let workspace = Workspace::new();
    for (line, says) in [
        (
            format!("answer standard {DRIVE}"),
            "plan `standard` does not search for the highest rate",
        ),
        (format!("run quick {DRIVE} --at p99=1ms"), " answer media:p3700-800gb --at p99.9=1ms`"),
        (format!("answer {DRIVE} --at mean=1ms"), "a limit of a percentile, for example p99.9=1ms"),
        (format!("answer {DRIVE} --profile database,restore"), "one load profile"),
        (format!("answer {DRIVE} --at soon"), "is not a limit"),
    ] {
        let ended = workspace.run(&line).expect(2);
        assert!(ended.err.contains(says), "{line}: {}", ended.err);
    }
}

#[test]
fn search_is_announced_with_its_time_limit() {
    let workspace = Workspace::new();
    let line = format!("{DRIVE} --profile random-4k-read --at p99=1ms --within 5m");
    let planned = workspace.run(&format!("plan answer {line}")).expect(0).out;
    assert!(planned.contains(", then a search of at most 5 min"), "{planned}");
    let ended = workspace.run(&format!("answer {line} --events e.jsonl --no-report"));
    assert!(ended.err.contains(", then a search of at most 5 min, seed 1"), "{}", ended.err);
    let events = std::fs::read_to_string(workspace.join("e.jsonl")).unwrap();
    assert!(events.contains("\"search_ns\":300000000000"), "{events}");
}
