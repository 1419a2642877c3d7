//! Points that end once their rate is known, on emulated media: the same on every machine.

use crate::common::{Workspace, codes, exclusive_turn, figure, points};

const RUN: &str = "run standard media:sas-2-hdd-600gb --profile database --queue-depth 1,8";

#[test]
fn point_ends_at_precision_and_records_the_reason() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let words = format!("{RUN} --until ±2% --duration 10min --no-report");
    let document = workspace.run(&format!("{words} --json")).expect(0).json();
    for point in points(&document) {
        assert_eq!(point["ended_by"], "precision", "{point}");
        assert_eq!(point["tolerance"], 0.02);
        let seconds = point["duration_ns"].as_f64().unwrap() / 1e9;
        assert!((5.0..600.0).contains(&seconds), "{seconds}");
        let rate = point["io_per_s"].as_f64().unwrap();
        let end = |index: usize| point["confidence_interval"][index].as_f64().unwrap();
        assert!(end(0) < rate && rate < end(1) && (end(1) - end(0)) / 2.0 <= 0.0201 * rate);
        assert!(point["interim_checks"].as_u64().unwrap() >= 1);
        assert!(!codes(point).contains(&"precision-not-reached".to_owned()));
    }
    let table = workspace.run(&words).expect(0).out;
    assert!(table.contains("Ended by") && table.contains("precision"), "{table}");
    let csv = workspace.run("export --csv").expect(0).out;
    assert!(csv.lines().next().unwrap().contains("ended_by,tolerance,interim_checks"), "{csv}");
}

#[test]
fn missed_precision_is_a_finding() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let words = format!("{RUN} --until 0.1% --duration 6s --no-report --json");
    let document = workspace.run(&words).expect(0).json();
    for point in points(&document) {
        assert_eq!((&point["ended_by"], &point["interim_checks"]), (&"duration".into(), &1.into()));
        assert_eq!(figure(point, "precision-not-reached", "asked_share"), Some(0.001));
        assert_eq!(point["grade"], "B");
    }
    let fixed = workspace.run(&format!("{RUN} --duration 6s --no-report --json")).expect(0).json();
    for point in points(&fixed) {
        assert_eq!((&point["ended_by"], &point["interim_checks"]), (&"duration".into(), &0.into()));
        assert!(point["tolerance"].is_null());
        assert!(!codes(point).contains(&"precision-not-reached".to_owned()));
    }
    assert!(!workspace.run("show").expect(0).out.contains("Ended by"));
}

#[test]
fn simultaneous_loads_end_when_all_are_precise() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    workspace.write(
        "plan.toml",
        "name = \"pair\"\n[[profile]]\nname = \"quick\"\nrandom = 100\nread = 100\n\
         block_size = \"4KiB\"\n\
         [[profile]]\nname = \"slow\"\nrandom = 100\nread = 50\nblock_size = \"64KiB\"\n\
         [[step]]\ntitle = \"both\"\n\
         load = [{ profile = \"quick\", queue_depth = 8 }, { profile = \"slow\", queue_depth = 1 \
         }]\n",
    );
    let words =
        "run plan.toml media:sas-2-hdd-600gb --until 2% --duration 60min --no-report --json";
    let document = workspace.run(words).expect(0).json();
    let known: Vec<(f64, f64)> = points(&document)
        .iter()
        .map(|point| {
            assert_eq!(point["ended_by"], "precision", "{point}");
            let end = |index: usize| point["confidence_interval"][index].as_f64().unwrap();
            let share = (end(1) - end(0)) / 2.0 / point["io_per_s"].as_f64().unwrap();
            (share, point["duration_ns"].as_f64().unwrap() / 1e9)
        })
        .collect();
    assert!(known.iter().all(|(share, _)| *share <= 0.0202), "{known:?}");
    // Individually, each would be known at another time; together they end at the same time.
    assert!((known[0].1 - known[1].1).abs() < 0.2 && known[0].1 < 3600.0, "{known:?}");
}

#[test]
fn invalid_precision_is_refused_before_any_change() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    for words in ["run --until 2", "run --until 0%", "run --until 90%", "run --until fast"] {
        let refused = workspace.run(words).expect(2);
        assert!(refused.err.contains("0.05% to 50%"), "{}", refused.err);
    }
    let plan = workspace.run("plan quick . --until ±2%").expect(0).out;
    assert!(plan.contains("until ±2%, at most 4s"), "{plan}");
}

#[test]
fn generator_is_calibrated_with_the_selected_engine() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    for engine in ["auto", "linux-aio", "threads"] {
        let text = workspace.run(&format!("host calibrate --engine {engine}")).expect(0).out;
        let cost = |line: &str| {
            let line =
                text.lines().find(|l| l.starts_with(line)).unwrap_or_else(|| panic!("{text}"));
            line.split_whitespace().rev().nth(1).unwrap().parse::<f64>().unwrap()
        };
        assert!(cost("read the clock") < 1e4 && cost("record a latency") < 1e4, "{text}");
        assert!(text.contains("without storage"), "{text}");
        let rates = text.lines().filter(|l| l.trim_start().starts_with(char::is_numeric)).count();
        assert!(rates >= 3, "{text}");
    }
    let run =
        "run --profile database --queue-depth 1 --duration 100ms --area 8MiB --no-report --json";
    let document = workspace.run(run).expect_finished().json();
    let facts = document["environment"].as_array().unwrap();
    let known = |key: &str| facts.iter().any(|f| f["subject"] == "generator" && f["key"] == key);
    assert!(known("clock_read_ns") && known("record_ns") && known("engine"), "{facts:?}");
}

/// Real time: two points of four segments of half a second.
#[test]
fn interleaved_segments_give_each_point_an_interval() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let words = "run quick . --profile database --queue-depth 1,8 --duration 2s --area 16MiB";
    let planned = workspace.run(&words.replace("run", "plan")).expect(0).out;
    assert!(planned.contains("2s in 4 interleaved segments"), "{planned}");
    workspace.run(&format!("{words} --no-report --json --logbook v.db"));
    let logbook = qdepth_logbook::Logbook::open_read_only(workspace.join("v.db")).unwrap();
    let run = logbook.runs().unwrap().remove(0);
    let points = logbook.points(&run.id).unwrap();
    assert_eq!(points.len(), 2);
    for point in &points {
        let gap = |pair: &[qdepth_record::IntervalRecord]| {
            pair[1].start_ns - pair[0].start_ns - pair[0].length_ns
        };
        // While one point waited, the other was measured.
        let waits: Vec<u64> = point.intervals.windows(2).map(gap).filter(|gap| *gap > 0).collect();
        assert_eq!(waits.len(), 3, "{waits:?}");
        assert!(waits.iter().all(|gap| *gap >= 150_000_000), "{waits:?}");
        assert_eq!(point.duration_ns, 2_000_000_000);
        let summary = qdepth_record::PointSummary::from_point(point);
        let rate = summary.io_per_s;
        let (low, high) = rate.interval.unwrap();
        assert!(low < rate.value && rate.value < high);
        assert_eq!(rate.degrees, 3);
        let laws = ["littles-law", "conservation", "bytes-law", "depth-not-reached"];
        let codes: Vec<&str> = point.findings.iter().map(|f| f.code_text()).collect();
        assert!(!codes.iter().any(|code| laws.contains(code)), "{codes:?}");
    }
}

#[test]
fn interrupted_points_are_measured_again_on_resume() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let words = "run quick . --profile database --queue-depth 1,8 --duration 4s --area 16MiB";
    let mut run = workspace.start(&format!("{words} --no-report --json --logbook v.db"));
    run.wait_for_err("seed");
    crate::common::pause(3500);
    run.signal("INT");
    run.wait().expect(130);
    let resumed = workspace.run("run --resume --no-report --json --logbook v.db").json();
    for point in points(&resumed) {
        assert_eq!(
            (&point["ended_by"], &point["duration_ns"]),
            (&"duration".into(), &4_000_000_000_u64.into())
        );
        assert!(point["confidence_interval"].is_array(), "{point}");
    }
    assert_eq!(points(&resumed).len(), 2);
}
