//! Tests of `qdepth compare` on the command line.

use std::fs;

use crate::common::{Workspace, program};
use serde_json::Value;

/// Measures an emulated drive into a logbook, one run for each seed.
#[cfg(test)]
fn measure(workspace: &Workspace, logbook: &str, medium: &str, seeds: std::ops::Range<u32>) {
    for seed in seeds {
        workspace
            .run(&format!(
                "run quick {medium} --profile database --queue-depth 1,8 --duration 60ms \
                 --seed {seed} --logbook {logbook} --no-report"
            ))
            .expect(0);
    }
}

#[test]
fn comparison_of_two_groups_detects_real_differences_only() {
    let workspace = Workspace::new();
    measure(&workspace, "a.db", "media:p3700-800gb", 1..9);
    measure(&workspace, "b.db", "media:p3700-800gb", 11..19);
    measure(&workspace, "c.db", "media:iodrive-320gb", 21..29);
    let same = workspace.run("compare a.db:all b.db:all --threshold 20% --json").expect(0).json();
    assert_eq!(same["schema"]["name"], "qdepth-compare");
    assert_eq!(same["emulated"], true);
    let rows = same["rows"].as_array().unwrap();
    assert!(!rows.iter().any(|row| row["figure"] == "cpu_ns_per_io"), "{same:#}");
    let verdicts = |comparison: &Value| -> Vec<String> {
        let rows = comparison["rows"].as_array().unwrap().iter();
        rows.map(|row| row["verdict"].as_str().unwrap().to_owned()).collect()
    };
    assert!(verdicts(&same).len() >= 2 && verdicts(&same).iter().all(|v| v == "equal"), "{same:#}");
    let slower = workspace.run("compare a.db:all c.db:all --json").expect(1).json();
    assert!(verdicts(&slower).iter().any(|verdict| verdict == "slower"), "{slower:#}");
    let differs = slower["differences"].as_array().unwrap();
    assert!(differs.iter().any(|fact| fact["values"][1] == "media:iodrive-320gb"), "{differs:#?}");
    let words = workspace.run("compare a.db:all c.db:all").expect(1).out;
    assert!(words.contains("EMULATED") && words.contains("B is slower in"), "{words}");
    let markdown = workspace.run("compare a.db:all c.db:all --markdown").expect(1).out;
    assert!(
        markdown.contains("| Database |") && markdown.contains("\n- B is slower in "),
        "{markdown}"
    );
    // The answer comes first, with the largest loss; a logbook without a selection means all its
    // runs.
    assert!(words.lines().nth(1).unwrap().contains(" % slower: Database at QD 8, IOPS"), "{words}");
    let alone = workspace.run("compare a.db c.db").expect(1).out;
    assert_eq!(alone.lines().nth(1), words.lines().nth(1));
    let equal = workspace.run("compare a.db b.db --threshold 20%").expect(0).out;
    assert!(equal.contains("not listed (--all)") && !equal.contains("Database"), "{equal}");
    let all = workspace.run("compare a.db b.db --threshold 20% --all").expect(0).out;
    assert!(all.contains("Database"), "{all}");
}

/// A row of Markdown stays one line in a narrow terminal, and a name obeys nobody.
#[test]
fn comparison_in_markdown_is_not_wrapped() {
    let workspace = Workspace::new();
    measure(&workspace, "a.db", "media:p3700-800gb", 1..2);
    std::fs::copy(workspace.join("a.db"), workspace.join("b\u{1b}[2J.db")).unwrap();
    measure(&workspace, "b\u{1b}[2J.db", "media:p3700-800gb", 2..3);
    let output = std::process::Command::new(program())
        .args(["compare", "a.db:latest", "b\u{1b}[2J.db:latest", "--markdown"])
        .current_dir(workspace.path())
        .env("COLUMNS", "40")
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("[2J") && !told.contains('\u{1b}'), "{told}");
    let rows = told.lines().filter(|line| line.starts_with('|'));
    let widths: std::collections::BTreeSet<usize> =
        rows.map(|row| row.matches('|').count()).collect();
    assert_eq!(widths.len(), 1, "{told}");
}

/// Three runs on each side permit a verdict; single runs only a description of the difference.
#[test]
fn few_runs_get_the_strongest_justified_verdict() {
    let workspace = Workspace::new();
    measure(&workspace, "a.db", "media:p3700-800gb", 1..4);
    measure(&workspace, "c.db", "media:iodrive-320gb", 21..24);
    let three = workspace.run("compare a.db c.db").expect(1).out;
    assert!(three.contains(" % slower: Database at QD 8, IOPS"), "{three}");
    let plan = "run quick --profile database --queue-depth 32 --no-report --duration 20s";
    workspace.run(&format!("{plan} media:p3700-800gb --logbook s.db")).expect_finished();
    workspace.run(&format!("{plan} media:iodrive-320gb --logbook s.db")).expect_finished();
    let single = workspace.run("compare latest~1 latest --logbook s.db").expect(5).out;
    assert!(single.contains("Inconclusive: one run per side."), "{single}");
    assert!(single.contains(" % slower for Database at QD 32"), "{single}");
    assert!(single.contains(" --logbook s.db --seed 2"), "{single}");
}

#[test]
fn comparison_page_starts_with_the_verdict() {
    let workspace = Workspace::new();
    measure(&workspace, "a.db", "media:p3700-800gb", 1..9);
    measure(&workspace, "c.db", "media:iodrive-320gb", 21..29);
    let ended = workspace.run("compare a.db:all c.db:all -o page.html").expect(1);
    assert!(ended.out.starts_with("page.html"), "{}", ended.out);
    let page = fs::read_to_string(workspace.join("page.html")).unwrap();
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no `{text}` in the page"));
    // The verdict precedes every table and diagram.
    assert!(at("B is slower than A in") < at("<table") && at("B is slower than A in") < at("<svg"));
    let question = "Is B (Fusion-io ioDrive 320 GB) faster than A (Intel P3700 800 GB)?";
    let question = &question.replace(" GB", "\u{a0}GB");
    assert!(at(question) < at("B is slower than A in") && at("c.db:all") > 0);
    assert!(at("Database: B ÷ A (EMULATED)") > 0 && at("media:iodrive-320gb") > 0);
    let json = workspace.run("compare a.db:all c.db:all --json").expect(1).json();
    for row in json["rows"].as_array().unwrap() {
        let ratio = row["ratio"].as_f64().unwrap();
        assert!(page.contains(&format!("{ratio:.3}")), "{ratio} is not on the page");
    }
    let japanese = workspace.run("compare a.db:all c.db:all -o page.md --lang ja").expect(1).out;
    assert!(
        japanese.contains("件で低速です")
            && fs::read_to_string(workspace.join("page.md")).unwrap().contains("より高速ですか")
    );
    let ended = workspace.run("compare a.db:all c.db:all -o page.zip").expect(2);
    assert!(ended.err.contains("zip") && ended.err.contains("html"), "{}", ended.err);
    workspace.run("compare a.db:all c.db:all --json -o page.html").expect(2);
    let ended = workspace.run("compare a.db:all c.db:all -o nowhere/page.html").expect(2);
    assert!(ended.err.contains("nowhere"), "{}", ended.err);
}

#[test]
fn single_runs_are_inconclusive_with_a_reason() {
    let workspace = Workspace::new();
    measure(&workspace, "a.db", "media:p3700-800gb", 1..3);
    let ended = workspace.run("compare latest~1 latest --logbook a.db").expect(5);
    assert!(
        ended.out.contains("One run per side") && ended.out.contains("qdepth run"),
        "{}",
        ended.out
    );
    for (words, why) in [
        ("compare latest latest --logbook a.db", "on both sides"),
        ("compare latest~7 latest --logbook a.db", "has 2 runs"),
        ("compare latest~x latest --logbook a.db", "add a number"),
        ("compare latest,latest latest~1 --logbook a.db", "named twice"),
        ("compare , latest --logbook a.db", "is not a run"),
    ] {
        let ended = workspace.run(words).expect(2);
        assert!(ended.err.contains(why), "{words}: {}", ended.err);
    }
}

#[test]
fn comparison_side_accepts_filters() {
    let workspace = Workspace::new();
    measure(&workspace, "a.db", "media:p3700-800gb", 1..4);
    for seed in 11..14 {
        workspace
            .run(&format!(
                "run quick media:iodrive-320gb --profile database --queue-depth 1 --duration 60ms \
                 --seed {seed} --logbook a.db --no-report"
            ))
            .expect(0);
        workspace.run("note latest after:x+y --logbook a.db").expect(0);
    }
    let day = workspace.run("list --logbook a.db --json").expect(0).json()["runs"][0]["started_at"]
        .as_str()
        .unwrap()[..10]
        .to_owned();
    let runs = |words: &str| -> [usize; 2] {
        let told = workspace.run(&format!("compare {words} --json"));
        let told: Value =
            serde_json::from_str(&told.out).unwrap_or_else(|_| panic!("{}", told.err));
        [0, 1].map(|side| told["sides"][side]["runs"].as_array().unwrap().len())
    };
    let iodrive = "plan=quick+target=media:iodrive";
    assert_eq!(runs(&format!("target=p3700 {iodrive} --logbook a.db")), [3, 3]);
    assert_eq!(runs("a.db:target=media:p3700-800gb a.db:note=AFTER:x+y"), [3, 3]);
    assert_eq!(
        runs(&format!("target=p3700+since={day}+until={day} note=x+note=y --logbook a.db")),
        [3, 3]
    );
    // Retracted runs are left out.
    workspace.run("retract latest wrong cable --logbook a.db").expect(0);
    assert_eq!(runs(&format!("a.db:target=p3700 a.db:{iodrive}")), [3, 2]);
    for (asked, why) in [
        (
            "plan=quik",
            "a.db has 6 runs, 5 of them complete and not retracted; plans: quick; `qdepth list \
             --logbook",
        ),
        ("note=afterwards", "notes: after:x+y;"),
        ("target=nvme", "targets: media:iodrive-320gb (EMULATED), media:p3700-800gb (EMULATED);"),
        ("plan=quick+until=2001-01-01", "days: "),
        ("disk=media:x", "`disk` is not a filter; use plan=, note=, since="),
        ("plan=quick+disk=x", "`disk` is not a filter"),
        ("a.db:disk=x", "`disk` is not a filter"),
        ("Plan=quick", "`Plan` is not a filter"),
        ("since=2026-02-30", "`2026-02-30` is not a date; use YYYY-MM-DD"),
        ("until=yesterday", "`yesterday` is not a date"),
        ("plan=quick+plan=area", "plan= is given twice"),
        ("plan=", "plan= needs a value"),
        ("plan=quick", "on both sides"),
    ] {
        let ended = workspace.run(&format!("compare {asked} plan=quick --logbook a.db")).expect(2);
        assert!(ended.err.contains(why), "{asked}: {}", ended.err);
    }
    let last = workspace.run("list --logbook a.db --json").expect(0).json();
    let whole = last["runs"].as_array().unwrap();
    assert_eq!(whole.len(), 6);
    for run in whole.iter().filter(|run| run["retracted"].is_null()) {
        if run["targets"][0].as_str().unwrap().contains("iodrive") {
            let id = run["id"].as_str().unwrap();
            workspace.run(&format!("retract {id} all wrong --logbook a.db")).expect(0);
        }
    }
    let ended = workspace.run("compare target=p3700 target=iodrive --logbook a.db").expect(2);
    assert!(ended.err.contains("3 runs match, but none of them is complete"), "{}", ended.err);
}

#[test]
fn comparison_side_accepts_exported_files() {
    let workspace = Workspace::new();
    measure(&workspace, "a.db", "media:p3700-800gb", 1..9);
    measure(&workspace, "c.db", "media:iodrive-320gb", 21..29);
    let exported = |logbook: &str| -> String {
        let runs = workspace.run(&format!("list --logbook {logbook} --json")).expect(0).json();
        let runs = runs["runs"].as_array().unwrap().iter().enumerate();
        let names = runs.map(|(number, run)| {
            let name = format!("{logbook}-{number}.json");
            let id = run["id"].as_str().unwrap();
            let text = workspace.run(&format!("export {id} --logbook {logbook}")).expect(0).out;
            workspace.write(&name, &text);
            name
        });
        names.collect::<Vec<_>>().join(",")
    };
    let (a, c) = (exported("a.db"), exported("c.db"));
    let by_logbook = workspace.run("compare a.db:all c.db:all --json").expect(1).json();
    let by_file = workspace.run(&format!("compare {a} {c} --json")).expect(1).json();
    let [of_files, of_logbooks] =
        [&by_file, &by_logbook].map(|told| told["rows"].as_array().unwrap().clone());
    assert_eq!(of_files.len(), of_logbooks.len());
    for (of_file, of_logbook) in of_files.iter().zip(&of_logbooks) {
        for (key, value) in of_logbook.as_object().unwrap() {
            // A number may change in its last digits when it is written and read.
            let [here, there] = [&of_file[key], value].map(|value| match value {
                Value::Array(all) => all.iter().map(|each| each.as_f64()).collect(),
                other => vec![other.as_f64()],
            });
            let close = |(here, there): (&Option<f64>, &Option<f64>)| match (here, there) {
                (Some(here), Some(there)) => (here - there).abs() <= 1e-9 * there.abs(),
                (here, there) => here == there,
            };
            assert!(here.iter().zip(&there).all(close), "{key}: {of_file} {of_logbook}");
            let is_text = value.is_string();
            assert!(!is_text || of_file[key] == *value, "{key}: {of_file} {of_logbook}");
        }
    }
    assert_eq!(by_file["emulated"], true);
    // The command recorded in a file is not printed: files are not trusted.
    assert!(by_logbook["sides"][0]["rerun_command"].is_string(), "{by_logbook:#}");
    assert!(by_file["sides"][0]["rerun_command"].is_null(), "{by_file:#}");
    let first = a.split(',').next().unwrap();
    let twice = workspace.run(&format!("compare {first} {first}")).expect(2).err;
    assert!(twice.contains("on both sides"), "{twice}");
    // An incomplete export is not accepted as a run.
    let text = fs::read_to_string(workspace.join(first)).unwrap();
    for (from, to, why) in [
        ("\"version\": 1", "\"version\": 99", "its format is 99"),
        ("\"state\": \"complete\"", "\"state\": \"running\"", "only complete runs"),
        ("\"qdepth-run\"", "\"qdepth-compare\"", "it is a `qdepth-compare`"),
        ("\"io_per_s\": ", "\"io_per_hour\": ", "io_per_s"),
        ("\"target\": \"", "\"target\": \"another ", "a target that the document does not list"),
    ] {
        assert!(text.contains(from), "{from}");
        workspace.write("forged.json", &text.replacen(from, to, 1));
        let ended = workspace.run(&format!("compare forged.json {c}")).expect(2);
        assert!(ended.err.contains(why), "{why}: {}", ended.err);
    }
    workspace.write("cut.json", &text[..text.len() / 2]);
    workspace.run(&format!("compare cut.json {c}")).expect(2);
    let missing = workspace.run(&format!("compare missing.json {c}")).expect(2).err;
    assert!(missing.contains("missing.json"), "{missing}");
}

/// Two results of fio, which need not be imported first.
#[test]
fn comparison_side_accepts_fio_results() {
    let workspace = Workspace::new();
    let job = "--name=j --filename=probe --size=1m --rw=randread --bs=4k --time_based --runtime=1 \
               --output-format=json";
    for name in ["before.json", "after.json"] {
        crate::common::sh(&format!(
            "cd {} && fio {job} --output={name}",
            workspace.path().display()
        ))
        .unwrap();
    }
    let told = workspace.run("compare before.json after.json --json").expect(5).json();
    let rows = told["rows"].as_array().unwrap();
    let rate = rows.iter().find(|row| row["figure"] == "io_per_s").unwrap();
    let text = fs::read_to_string(workspace.join("before.json")).unwrap();
    let theirs: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let theirs = theirs["jobs"][0]["read"]["iops"].as_f64().unwrap();
    let ours = rate["means"][0].as_f64().unwrap();
    assert!((ours / theirs - 1.0).abs() < 0.01, "{ours} for {theirs}");
    assert_eq!(told["sides"][0]["runs"][0], "before.json#1");
    workspace.write("other.json", "{\"title\": 1}");
    let ended = workspace.run("compare other.json after.json").expect(2);
    assert!(ended.err.contains("is not a known result"), "{}", ended.err);
}

#[test]
fn run_names_have_one_meaning_in_all_commands() {
    let workspace = Workspace::new();
    measure(&workspace, "a.db", "media:p3700-800gb", 1..3);
    let at = "--logbook a.db";
    let id = |name: &str| {
        let document = workspace.run(&format!("export {name} {at}")).expect(0).json();
        document["run"]["id"].as_str().unwrap().to_owned()
    };
    let (last, before) = (id("latest"), id("latest~1"));
    assert_ne!(last, before);
    assert_eq!(id("latest~0"), last);
    workspace.run(&format!("export latest~1 latest --csv {at}")).expect(0);
    workspace.run(&format!("report latest~1 {at} -o before.html")).expect(0);
    let noted = workspace.run(&format!("note latest~1 firmware {at}")).expect(0);
    assert!(noted.err.contains(&before), "{}", noted.err);
    let shown = workspace.run(&format!("show latest~1 {at}")).expect(0).out;
    assert!(shown.contains("note: firmware"), "{shown}");
    assert!(workspace.run(&format!("retract latest~1 busy {at}")).expect(0).err.contains(&before));
    for words in ["show", "export", "report", "steady", "note"] {
        for (name, why) in [("latest~7", "has 2 runs"), ("latest~x", "add a number")] {
            let words = format!("{words} {name} {}{at}", if words == "note" { "x " } else { "" });
            let ended = workspace.run(&words).expect(2);
            assert!(ended.err.contains(why), "{words}: {}", ended.err);
        }
    }
}

#[test]
fn empty_note_and_empty_reason_are_refused() {
    let workspace = Workspace::new();
    measure(&workspace, "qdepth.db", "media:p3700-800gb", 1..2);
    for (verb, why) in [("note", "the note is empty"), ("retract", "the reason is missing")] {
        for text in ["", " \t"] {
            let refused = std::process::Command::new(env!("CARGO_BIN_EXE_qdepth"))
                .args([verb, "latest", text])
                .current_dir(workspace.path())
                .output()
                .unwrap();
            let err = String::from_utf8_lossy(&refused.stderr);
            assert_eq!(refused.status.code(), Some(2), "{verb} `{text}`: {err}");
            assert!(err.contains(why) && err.contains(&format!("qdepth {verb} latest '")), "{err}");
        }
    }
    let shown = workspace.run("show").expect(0).out;
    assert!(!shown.contains("RETRACTED") && !shown.contains("note:"), "{shown}");
}
