//! `qdepth run --repeat` and `qdepth trend` as a user types them, in virtual time.

use std::collections::BTreeSet;

use crate::common::{Workspace, pause};
use serde_json::Value;

const LOAD: &str = "--profile database --queue-depth 1,8 --duration 60ms";

/// Facts of each run of a logbook by key, the oldest first.
#[cfg(test)]
fn facts(workspace: &Workspace, logbook: &str, count: usize, key: &str) -> Vec<String> {
    let fact = |run: usize| {
        let id = workspace.run(&format!("list --logbook {logbook}")).expect(0).out;
        let id = id.lines().filter_map(|line| {
            let word = line.trim_start_matches(['│', ' ']).split_whitespace().next()?;
            word.starts_with("01").then(|| word.to_owned())
        });
        let mut ids: Vec<String> = id.collect();
        // Ids begin with their time.
        ids.sort();
        let id = &ids[run];
        let run = workspace.run(&format!("export {id} --logbook {logbook}")).expect(0).json();
        let facts = run["environment"].as_array().expect("facts").clone();
        let found = facts.into_iter().find(|fact| fact["key"] == key);
        found.map_or_else(String::new, |fact| fact["value"].as_str().unwrap().to_owned())
    };
    (0..count).map(fact).collect()
}

/// A gate must tell "slower" from "nothing valid to compare".
#[test]
fn comparison_of_invalid_points_is_inconclusive() {
    let workspace = Workspace::new();
    workspace.write(
        "late.toml",
        "name = \"late\"\nprofiles = [\"p\"]\nqueue_depth = [1]\nduration = \"60ms\"\n[[profile]]\n\
         name = \"p\"\nrandom = 100\nread = 100\nblock_size = \"4KiB\"\n\
         arrivals = { kind = \"poisson\", rate = 2000000 }\n",
    );
    let sides = "media:p3700-800gb media:iodrive-320gb --no-report --logbook r.db";
    let ended = workspace.run(&format!("run late.toml {sides} --repeat 2")).expect(5);
    assert!(ended.out.contains("inconclusive") || ended.out.contains("nothing"), "{}", ended.out);
    let points = workspace.run("export latest --logbook r.db").expect(0).json();
    assert_eq!(points["points"][0]["grade"], "C");
}

#[test]
fn repeated_targets_are_measured_in_blocks_and_compared() {
    let workspace = Workspace::new();
    let words = format!(
        "run quick media:p3700-800gb media:iodrive-320gb {LOAD} --repeat 5 --seed 5 --logbook r.db"
    );
    let ended = workspace.run(&format!("{words} --json")).expect(1);
    let told = ended.json();
    assert_eq!(told["schema"]["name"], "qdepth-compare");
    assert_eq!(told["sides"][1]["name"], "media:iodrive-320gb");
    for side in 0..2 {
        assert_eq!(told["sides"][side]["runs"].as_array().unwrap().len(), 5);
    }
    let rows = told["rows"].as_array().unwrap();
    assert!(rows.len() >= 2 && rows.iter().all(|row| row["verdict"] == "slower"), "{told:#}");
    // Each block has both columns, not always in one order, and one seed for both.
    let columns = facts(&workspace, "r.db", 10, "campaign_column");
    let blocks: Vec<&[String]> = columns.chunks(2).collect();
    assert!(blocks.iter().all(|block| block[0] != block[1]), "{columns:?}");
    assert!(blocks.iter().any(|block| block != &blocks[0]), "{columns:?}");
    assert!(ended.err.contains("seed 5") && ended.err.contains("block 5"), "{}", ended.err);
    // The result equals that of `compare` on the same runs.
    let again = ended.err.lines().find_map(|line| line.strip_prefix("compare    qdepth "));
    let again =
        workspace.run(&format!("{} --logbook r.db --json", again.unwrap())).expect(1).json();
    assert_eq!(again["rows"], told["rows"]);
    // The campaign is complete, so there is nothing to resume.
    assert!(
        workspace.run("run --resume --logbook r.db").expect(2).err.contains("nothing to resume")
    );
}

#[test]
fn repeated_single_target_has_intervals_over_runs() {
    let workspace = Workspace::new();
    let words = format!("run quick media:p3700-800gb {LOAD} --repeat 4 --logbook r.db");
    let told = workspace.run(&format!("{words} --json --variants mine")).expect(0).json();
    assert_eq!(told["schema"]["name"], "qdepth-repeat");
    assert_eq!(told["side"]["name"], "mine");
    for row in told["rows"].as_array().unwrap() {
        let figure = |key: &str| row[key].as_f64().unwrap();
        let end = |place: usize| row["confidence_interval"][place].as_f64().unwrap();
        assert!(end(0) < figure("mean") && figure("mean") < end(1), "{row}");
        assert!(row["runs"] == 4 && figure("spread") > 0.0, "{row}");
    }
    let text = workspace.run(&format!("{words} --lang ja")).expect(0).out;
    assert!(text.contains("EMULATED") && text.contains("回の計測"), "{text}");
    assert!(!text.contains("Holm"), "without verdicts, there is nothing to correct: {text}");
}

#[test]
fn repeated_comparison_compares_its_variants() {
    let workspace = Workspace::new();
    let sides = "media:p3700-800gb raid0(media:p3700-800gb*2)";
    let words = format!("run arrays {sides} {LOAD} --variants one,both --repeat 4");
    // The status says that the runs are valid, even if the comparison is inconclusive.
    let ended = workspace.run(&format!("{words} --logbook r.db")).expect(0);
    assert!(ended.out.contains("B (both) compared with A (one)"), "{}", ended.out);
    // The rate at two queue depths, and the percentile that has enough samples.
    assert!(ended.out.contains(" of 3 figures"), "{}", ended.out);
    assert!(!ended.err.contains("qdepth compare"), "the sides share their runs: {}", ended.err);
}

#[test]
fn repeat_until_tolerance_stops_at_interim_check() {
    let workspace = Workspace::new();
    let words = |until: &str| {
        format!(
            "run quick media:p3700-800gb media:p3700-800gb {LOAD} --repeat until={until} \
             --logbook {until}.db --json"
        )
    };
    // Equal targets and a threshold of 20 %: the first interim check, after six blocks, decides.
    let told = workspace.run(&words("20%")).expect(0).json();
    assert_eq!(told["sides"][0]["runs"].as_array().unwrap().len(), 6);
    assert!(told["rows"].as_array().unwrap().iter().all(|row| row["verdict"] == "equal"));
    // The same runs give the same result without a measurement.
    assert!(
        workspace.run("run --resume --logbook 20%.db").expect(2).err.contains("nothing to resume")
    );
}

#[test]
fn killed_campaign_resumes_at_the_same_place() {
    let workspace = Workspace::new();
    let words = "run standard media:p3700-800gb media:iodrive-320gb --profile database \
                 --queue-depth 1,8 --duration 1s --repeat 3 --seed 9 --logbook k.db --json";
    let mut running = workspace.start(words);
    running.wait_for_err("block 2");
    pause(20);
    running.kill();
    // Three a side are too few for a verdict on every figure.
    let told = workspace.run("run --resume --logbook k.db --json").expect(1).json();
    let runs = |told: &Value, side: usize| told["sides"][side]["runs"].as_array().unwrap().len();
    assert_eq!((runs(&told, 0), runs(&told, 1)), (3, 3), "{told:#}");
    let whole = workspace.run(&words.replace("k.db", "w.db")).expect(1).json();
    let means = |told: &Value| -> Vec<Value> {
        told["rows"].as_array().unwrap().iter().map(|row| row["means"].clone()).collect()
    };
    assert_eq!(means(&told), means(&whole), "as if it had not been killed");
    let places = facts(&workspace, "k.db", 6, "campaign_place");
    assert_eq!(places, ["0", "1", "2", "3", "4", "5"]);
}

#[test]
fn plan_edited_during_campaign_has_no_effect() {
    let workspace = Workspace::new();
    let plan = |queue_depth: &str| {
        let text = format!(
            "name = \"mine\"\nprofiles = [\"database\"]\nqueue_depth = [{queue_depth}]\n\
             duration = \"1s\"\n"
        );
        workspace.write("plan.toml", &text);
    };
    plan("1, 8");
    let words = "run plan.toml media:p3700-800gb media:iodrive-320gb --repeat 3 --seed 9 \
                 --logbook e.db --json";
    let mut running = workspace.start(words);
    running.wait_for_err("block 2");
    running.kill();
    plan("2");
    let told = workspace.run("run --resume --logbook e.db --json").expect(1).json();
    let rows = told["rows"].as_array().unwrap();
    let loads: BTreeSet<u64> = rows.iter().map(|r| r["queue_depth"].as_u64().unwrap()).collect();
    assert_eq!(Vec::from_iter(loads), [1, 8], "{told:#}");
    for side in 0..2 {
        assert_eq!(told["sides"][side]["runs"].as_array().unwrap().len(), 3, "{told:#}");
    }
}

#[test]
fn invalid_repeat_options_are_wrong_usage() {
    let workspace = Workspace::new();
    for (words, why) in [
        ("run quick media:p3700-800gb --repeat 0", "must be 1 to 1000"),
        ("run quick media:p3700-800gb --repeat until=2", "is not a tolerance"),
        ("run --resume --repeat 3", "--repeat"),
        ("run quick media:p3700-800gb --repeat 3 --report x.pdf", "qdepth report RUN RUN -o x.pdf"),
        (
            "run quick media:p3700-800gb media:p3700-800gb media:p3700-800gb --repeat 3 --json",
            "two at a time",
        ),
        (
            "run quick media:p3700-800gb media:p3700-800gb --variants a --repeat 3",
            "1 name for 2 targets",
        ),
    ] {
        let ended = workspace.run(words).expect(2);
        assert!(ended.err.contains(why), "{words}: {}", ended.err);
    }
    assert!(!workspace.has("qdepth.db"), "nothing was measured");
}

#[test]
fn change_of_target_is_found_at_its_position() {
    let workspace = Workspace::new();
    let measure = |seed: u32| {
        let words = format!(
            "run quick media:drive.toml@exponential=1 {LOAD} --seed {seed} --no-report --logbook \
             t.db"
        );
        workspace.run(&words).expect(0);
    };
    workspace.write("drive.toml", &server(1000, 100));
    (1..=3).for_each(measure);
    assert!(workspace.run("trend --logbook t.db").expect(5).out.contains("(runs: 3)"));
    (4..=10).for_each(measure);
    workspace.write("drive.toml", &server(1000, 130));
    (11..=20).for_each(measure);
    let told = workspace.run("trend quick --logbook t.db --json").expect(1).json();
    assert_eq!((told["plan"].as_str(), &told["emulated"]), (Some("quick"), &Value::from(true)));
    let rates = told["rows"].as_array().unwrap().iter().filter(|row| row["figure"] == "io_per_s");
    let rates: Vec<&Value> = rates.collect();
    assert_eq!(rates.len(), 2);
    for row in rates {
        let changes = row["changes"].as_array().unwrap();
        assert_eq!(changes.len(), 1, "{row:#}");
        let at = changes[0]["run"].as_u64().unwrap();
        assert!(changes[0]["verdict"] == "slower" && at.abs_diff(10) <= 1, "{row:#}");
        assert_eq!(changes[0]["run_id"], told["runs"][at as usize]["id"]);
    }
    let text = workspace.run("trend --logbook t.db").expect(1).out;
    assert!(text.contains("slower (") && text.contains('█'), "{text}");
    workspace.run("trend --logbook t.db -o trend.html").expect(1);
    let page = std::fs::read_to_string(workspace.join("trend.html")).unwrap();
    assert!(!page.contains("faster in 0"), "{page}");
    for part in ["Did quick on", "Permanently slower in", "Largest change: ", "<svg", "EMULATED"] {
        assert!(page.contains(part), "{part}");
    }
    // The page lists the runs by number and id.
    assert!(
        told["runs"]
            .as_array()
            .unwrap()
            .iter()
            .all(|run| page.contains(run["id"].as_str().unwrap()))
    );
    // A JSON document cannot be combined with a page.
    let both = workspace.run("trend --logbook t.db --json -o both.html").expect(2);
    assert!(both.out.is_empty() && both.err.contains("--json"), "{}", both.err);
    let mixed = workspace.run("trend --logbook t.db -o -").expect(2);
    assert!(
        mixed.out.is_empty() && mixed.err.contains("Name a file for the page"),
        "{}",
        mixed.err
    );
    workspace.run("trend --logbook t.db -o seite.md --lang ja").expect(1);
    assert!(
        std::fs::read_to_string(workspace.join("seite.md")).unwrap().contains("持続的に低速化")
    );
    let unknown = workspace.run("trend standard --logbook t.db").expect(2).err;
    assert!(unknown.contains("has no complete run of plan `standard`"), "{unknown}");
    let elsewhere = workspace.run("trend quick /nowhere --logbook t.db").expect(2).err;
    assert!(elsewhere.contains("there are runs of it on"), "{elsewhere}");
}

/// A description of one server.
#[cfg(test)]
fn server(capacity_gb: u32, service_us: u32) -> String {
    format!(
        "title = \"A drive\"\nkind = \"servers\"\nabout = \"a test\"\n[parameters]\n\
         capacity_gb = {{ value = {capacity_gb}, from = \"definition\" }}\n\
         service_us = {{ value = {service_us}, from = \"definition\" }}\n\
         servers = {{ value = 1, from = \"definition\" }}\n"
    )
}

#[test]
fn point_is_steady_after_two_writes_of_area() {
    let workspace = Workspace::new();
    workspace.write("drive.toml", &server(1, 20));
    let run = |duration: &str| {
        let words = format!(
            "run pts-wsat media:drive.toml@exponential=1 --duration {duration} --logbook s.db \
             --no-report"
        );
        workspace.run(&words).expect(0);
    };
    // 200 MB a second: 1 GB is written once in five seconds.
    run("6s");
    let short = workspace.run("steady --logbook s.db --round 1s").expect(5).out;
    assert!(short.contains("too short") && short.contains("EMULATED"), "{short}");
    run("15s");
    let told = workspace.run("steady --logbook s.db --round 1s --json").expect(0).json();
    let point = &told["points"][0];
    assert_eq!(
        (&told["schema"]["name"], &point["state"]),
        (&"qdepth-steady".into(), &"steady".into())
    );
    assert_eq!(point["rounds"].as_array().unwrap().len(), 15);
    assert!((point["level"].as_f64().unwrap() / 50_000.0 - 1.0).abs() < 0.01, "{point:#}");
    let window = &point["snia"];
    assert_eq!((&window["steady"], &window["last_round"]), (&true.into(), &5.into()));
    let figure = |value: &Value| value.as_f64().unwrap();
    assert!((figure(&window["range"][1]) / figure(&window["mean"]) - 0.2).abs() < 1e-9);
    assert!(workspace.run("steady --logbook s.db --round 0s").expect(2).err.contains("--round"));
}

#[test]
fn repeated_rounds_end_when_five_are_steady() {
    let workspace = Workspace::new();
    workspace.write("drive.toml", &server(1, 20));
    let words = "run pts-iops media:drive.toml@exponential=1 --duration 50ms --repeat until-steady \
                 --logbook p.db";
    let told = workspace.run(&format!("{words} --json")).expect(0).json();
    let rounds = told["rounds"].as_array().unwrap();
    assert_eq!((rounds.len(), &rounds[0]["profile_title"]), (1, &"Random 4 KiB, 0/100".into()));
    assert_eq!(rounds[0]["rates"].as_array().unwrap().len(), 5);
    assert_eq!(rounds[0]["window"]["steady"], true);
    let rates = told["rows"].as_array().unwrap().iter().filter(|row| row["figure"] == "io_per_s");
    assert_eq!(rates.count(), 56, "eight sizes and seven mixes");
    let two = workspace.run(&format!("{words} media:p3700-800gb")).expect(2);
    assert!(two.err.contains("Name one"), "{}", two.err);
}

/// A run killed at its start leaves an empty logbook.
#[test]
fn campaign_starts_in_an_empty_logbook() {
    let workspace = Workspace::new();
    workspace.write("qdepth.db", "");
    let words = format!("run quick media:p3700-800gb {LOAD} --repeat 2");
    workspace.run(&words).expect_finished();
    let list = workspace.run("list --json").expect(0).json();
    assert_eq!(list["runs"].as_array().unwrap().len(), 2);
}
