//! Reads under rising write load, from the command line to the answer, on emulated devices.

use crate::common::{Workspace, points};
use serde_json::Value;

/// Shortened copy of the shipped plan.
const PLAN: &str = r#"
name = "short-pressure"
title = "Responsiveness under write pressure"
warm_up = "1s"
duration = "1s"

[[profile]]
name = "reader"
title = "Single reader"
random = 100
read = 100
block_size = "8KiB"
area = { size = "full" }

[[profile]]
name = "writers"
title = "Eight writers"
random = 100
read = 0
block_size = "8KiB"
area = { size = "full" }
streams = 8

[staircase]
rising = { profile = "writers", queue_depth = 8 }
beside = [{ profile = "reader", queue_depth = 1 }]
from = "0B"
to = "600MiB"
by = "200MiB"
"#;
/// Published statement: more than 40 times the responsiveness at the highest step.
const BETTER: f64 = 40.0;

#[cfg(test)]
fn reader_means(document: &Value, target: &str) -> Vec<f64> {
    let mine = points(document).iter().filter(|point| {
        point["profile"] == "reader" && point["target"].as_str().unwrap().contains(target)
    });
    mine.map(|point| point["latency_ns"]["reads"]["mean"].as_f64().unwrap()).collect()
}

#[test]
fn optane_latency_stays_flat_while_nand_rises() {
    let workspace = Workspace::new();
    workspace.write("short.toml", PLAN);
    let media = "media:p3700-1600gb media:p4800x-375gb";
    let ended =
        workspace.run(&format!("run short.toml {media} --json --events events.jsonl")).expect(0);
    let document = ended.json();
    let (nand, optane) = (reader_means(&document, "p3700"), reader_means(&document, "p4800x"));
    println!("P3700 {nand:.0?} ns, P4800X {optane:.0?} ns");
    assert_eq!((nand.len(), optane.len()), (4, 4), "a step was not sustained");
    assert!(nand.windows(2).all(|pair| pair[1] > 1.2 * pair[0]), "{nand:?}");
    assert!(optane.iter().all(|mean| *mean < 1.5 * optane[0]), "{optane:?}");
    assert!(nand[3] > BETTER * optane[3], "{} times", nand[3] / optane[3]);

    // No rate of loads that run at the same time is the answer.
    let listed = workspace.run("list").expect(0).out;
    assert!(!listed.contains("IOPS"), "{listed}");
    // The rate of a step always has its unit, and each line its target.
    for (step, target) in [("0", "p3700"), ("200", "p3700"), ("600", "p4800x")] {
        let line = format!("Single reader {step} MiB/s, media:{target}");
        assert!(ended.err.contains(&line), "`{line}` in {}", ended.err);
    }
    let steps = |document: &Value| -> Vec<String> {
        points(document).iter().map(|point| point["step"].as_str().unwrap().to_owned()).collect()
    };
    assert!(steps(&document).iter().all(|step| step.ends_with(" MiB/s")), "{document}");
    let events = std::fs::read_to_string(workspace.join("events.jsonl")).unwrap();
    assert!(events.contains("\"step\":\"600 MiB/s\""), "{events}");
    let csv = workspace.run("export --csv").expect(0).out;
    assert!(csv.contains(",600 MiB/s,"), "{csv}");
    for told in [&ended.err, &events, &csv] {
        assert!(!told.contains("MB/s"), "{told}");
    }
    // Documents of older versions have the same loads.
    workspace.write("before.json", &ended.out.replace(" MiB/s\"", " MB/s\""));
    workspace
        .write("now.json", &ended.out.replace(document["run"]["id"].as_str().unwrap(), "other"));
    let compared = workspace.run("compare before.json now.json --json").json();
    assert_eq!(compared["unmatched"], serde_json::json!([]), "{compared:#}");
    let rows = compared["rows"].as_array().unwrap();
    let shown = |row: &Value| row["step"].as_str().unwrap().ends_with(" MiB/s");
    assert!(rows.len() >= points(&document).len() && rows.iter().all(shown), "{compared:#}");

    let told = workspace.run("show --limit mean=300us").expect(0).out;
    for said in [
        "At 600 MiB/s of writes, the highest step that all targets sustained",
        "On Intel P3700 1.6 TB, the reader's mean exceeds 300 µs between write loads of 0 and",
        "(steps 0 MiB/s and 200 MiB/s)",
        "On Intel Optane P4800X 375 GB, the reader's mean stays within 300 µs",
    ] {
        assert!(told.contains(said), "`{said}` in {told}");
    }
    let page = std::fs::read_to_string(workspace.dir.path().join("qdepth-report.html")).unwrap();
    assert!(page.contains("id=\"write-pressure\"") && page.contains("pressure-time-log"));
}

#[test]
fn unsustained_step_is_marked_and_ends_the_sweep() {
    let workspace = Workspace::new();
    let steep = PLAN.replace("600MiB", "4000MiB").replace("200MiB", "1000MiB");
    workspace.write("steep.toml", &steep);
    let told = workspace.run("run steep.toml media:p3700-1600gb --no-report").expect(0).out;
    assert!(told.contains("not sustained"), "{told}");
    assert!(told.contains("1,000 MiB/s") && !told.contains("2,000 MiB/s"), "{told}");
}

#[test]
fn invalid_latency_limit_is_refused_before_any_change() {
    let workspace = Workspace::new();
    // The option is refused for plans without reads under rising writes.
    for line in ["run quick media:p3700-1600gb", "run disk-mark media:p3700-1600gb"] {
        let refused = workspace.run(&format!("{line} --no-report --limit p99=1ms")).expect(2).err;
        assert!(refused.contains("--limit does not apply to plan"), "{refused}");
    }
    let measured = Workspace::new();
    measured.run("run first media:p3700-1600gb --no-report").expect_finished();
    for line in ["show latest", "report latest -o limits.html"] {
        let refused = measured.run(&format!("{line} --limit p99=1ms")).expect(2).err;
        assert!(refused.contains("--limit does not apply to"), "{refused}");
    }
    let refused = workspace.run("run write-pressure media:p3700-1600gb --limit p99.9").expect(2);
    assert!(refused.err.contains("p99.9=2ms"), "{}", refused.err);
    assert!(!workspace.dir.path().join("qdepth.db").exists());
}

#[test]
fn sweep_of_single_step_has_a_report() {
    let workspace = Workspace::new();
    // On a disk, the reader has too few I/Os for a line over time.
    let words = "run write-pressure media:generic-7200rpm-hdd --duration 60ms --warm-up 10ms";
    let ended = workspace.run(words).expect_finished();
    assert!(!ended.err.contains("internal error"), "{}", ended.err);
    assert!(workspace.has("qdepth-report.html"));
}

#[test]
fn isolation_plan_prints_rise_next_to_writes() {
    let workspace = Workspace::new();
    let short = "--duration 200ms --warm-up 20ms --no-report";
    let ran = workspace.run(&format!("run isolation media:p3700-800gb {short}"));
    let screen = ran.expect_finished();
    let text = format!("{}{}", screen.out, screen.err);
    assert!(text.contains("isolated within"), "{text}");
    workspace.run("report latest --format md -o isolation.md").expect(0);
    let page = std::fs::read_to_string(workspace.join("isolation.md")).unwrap();
    let within = |step: &str| -> f64 {
        let (_, rest) = page.split_once(&format!("{step} on Intel P3700 800 GB: ")).unwrap();
        let (share, _) = rest.strip_prefix("isolated within ").unwrap().split_once(" %").unwrap();
        share.replace(',', "").parse().unwrap()
    };
    let (free, limited) = (within("Next to writes"), within("Next to writes of at most 100 MiB/s"));
    assert!(limited < free / 2.0 && limited > 0.0, "{limited} {free}");
    assert!(page.contains("95 % CI of the rise"), "{page}");
}
