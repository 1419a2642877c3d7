//! The whole program on emulated devices: EMULATED is on every page, row and file.

use std::process::{Command, Output};

#[cfg(test)]
fn qdepth(folder: &std::path::Path, words: &[&str]) -> Output {
    #[expect(clippy::disallowed_methods, reason = "the test runs the program as a user would")]
    let mut command = Command::new(env!("CARGO_BIN_EXE_qdepth"));
    command.args(words).current_dir(folder).output().expect("it starts")
}

#[cfg(test)]
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn emulated_run_is_marked_in_every_output() {
    let folder = tempfile::tempdir().unwrap();
    let words =
        ["run", "quick", "media:p3700-800gb", "--duration", "100ms", "--profile", "database"];
    let output = qdepth(folder.path(), &words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    let is_row = |line: &&str| line.trim_start().starts_with(|first: char| first.is_ascii_digit());
    let rows = table.lines().filter(is_row);
    assert_eq!(rows.clone().count(), 6, "{table}");
    assert!(rows.clone().all(|row| row.contains("EMULATED")), "{table}");
    let report = std::fs::read_to_string(folder.path().join("qdepth-report.html")).unwrap();
    assert!(report.contains("EMULATED"));
    let json = text(&qdepth(folder.path(), &["export"]).stdout);
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["run"]["emulated"], true);
    let shown = text(&qdepth(folder.path(), &["show"]).stdout);
    assert!(shown.contains("EMULATED"), "{shown}");
}

#[test]
fn same_emulated_run_twice_gives_same_figures() {
    let run = || {
        let folder = tempfile::tempdir().unwrap();
        let words = [
            "run",
            "quick",
            "raid0(media:iodrive-320gb/improved-write*2)",
            "--duration",
            "200ms",
            "--queue-depth",
            "1,16",
            "--no-report",
            "--json",
        ];
        let document: serde_json::Value =
            serde_json::from_slice(&qdepth(folder.path(), &words).stdout).unwrap();
        let points = document["points"].as_array().unwrap().clone();
        let figures = |p: &serde_json::Value| format!("{} {}", p["io_per_s"], p["latency_ns"]);
        points.iter().map(figures).collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}

#[test]
fn unknown_device_model_suggests_the_nearest_name() {
    let folder = tempfile::tempdir().unwrap();
    let output = qdepth(folder.path(), &["run", "quick", "media:p3700-80gb"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("Did you mean `p3700-800gb`"));
    let output = qdepth(folder.path(), &["run", "quick", ".", "media:p3700-800gb"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(!folder.path().join("qdepth.db").exists());
}

#[test]
fn device_models_show_the_source_of_each_number() {
    let folder = tempfile::tempdir().unwrap();
    let list = text(&qdepth(folder.path(), &["media"]).stdout);
    assert!(list.contains("p3700-800gb") && list.contains("improved-write"), "{list}");
    let described = text(&qdepth(folder.path(), &["media", "p3700-800gb"]).stdout);
    assert!(described.contains("[calibrated]") && described.contains("[data sheet"), "{described}");
    assert!(
        described.contains("(calibrated against): mean ") && described.contains("(predicted, "),
        "{described}"
    );
    // All of the disk's figures were fitted, and a null device has nothing to be compared with.
    let disk = text(&qdepth(folder.path(), &["media", "sas-2-hdd-600gb"]).stdout);
    assert!(disk.contains("[calibrated]") && !disk.contains("by hand"), "{disk}");
    assert!(disk.contains("error of 5 published figures (reproduced, not validated"), "{disk}");
    assert!(list.lines().all(|line| line.chars().count() <= 80), "{list}");
    let null = text(&qdepth(folder.path(), &["media", "null"]).stdout);
    assert!(null.contains("error: unknown"), "{null}");
    // The list, each device's page and the facts of a run state how the device model was checked.
    assert!(described.contains("checked: published figures"), "{described}");
    for mark in ["Compared with published", "From data sheets", "A class of", "Exact by"] {
        assert!(list.contains(mark), "{mark}: {list}");
    }
    let line =
        ["run", "quick", "media:aws-gp3-3000", "--profile", "database", "--queue-depth", "1"];
    let run = qdepth(folder.path(), &[&line[..], &["--json", "--no-report"]].concat());
    let document: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    let said = document["targets"].to_string();
    assert!(said.contains("\"data-sheet-only\""), "{said}");
}

const MINE: &str = "title = \"My drive\"\nlike = \"p3700-800gb\"\n[parameters]\n\
                    capacity_gb = { value = 100, from = \"its label\" }\n\
                    die_read_us = { value = 90, from = \"guess\" }\n";

#[test]
fn device_model_file_is_usable_as_target() {
    let folder = tempfile::tempdir().unwrap();
    let write = |text: &str| std::fs::write(folder.path().join("mine.toml"), text).unwrap();
    let run = || {
        let load =
            ["--profile", "database", "--queue-depth", "1", "--duration", "100ms", "--no-report"];
        qdepth(
            folder.path(),
            &[&["run", "quick", "raid0(media:./mine.toml*2)"], &load[..]].concat(),
        )
    };
    write(MINE);
    let output = run();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let shown = text(&qdepth(folder.path(), &["media", "./mine.toml"]).stdout);
    assert!(shown.contains("My drive (EMULATED)") && shown.contains("[its label]"), "{shown}");
    for (wrong, says) in [
        (MINE.replace("die_read_us", "die_reed_us"), "Did you mean `die_read_us`"),
        (MINE.replace("= 100", "= -1"), "capacity_gb"),
        (MINE.replace("p3700-800gb", "p3700-80gb"), "Did you mean `p3700-800gb`"),
        (MINE.replace("title", "titel"), "titel"),
    ] {
        write(&wrong);
        let output = run();
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains(says), "{}", text(&output.stderr));
    }
    std::fs::remove_file(folder.path().join("mine.toml")).unwrap();
    assert!(
        text(&run().stderr).contains("cannot read the file ./mine.toml: No such file"),
        "{}",
        text(&run().stderr)
    );
}

#[test]
fn plan_file_can_name_its_targets() {
    let folder = tempfile::tempdir().unwrap();
    let plan = "name = \"mine\"\nprofiles = [\"database\"]\nqueue_depth = [1]\n\
                duration = \"50ms\"\n\
                [[target]]\nmedium = \"p3700-800gb\"\narray = \"raid0\"\nmembers = 2\n\
                [[target]]\nmedium = \"p4800x-375gb\"\narea = \"16GiB\"\n";
    std::fs::write(folder.path().join("plan.toml"), plan).unwrap();
    let words = ["run", "plan.toml", "--no-report", "--json"];
    let document: serde_json::Value =
        serde_json::from_slice(&qdepth(folder.path(), &words).stdout).unwrap();
    let targets = document["targets"].as_array().unwrap();
    let spelled: Vec<_> = targets.iter().map(|target| target["expression"].clone()).collect();
    assert_eq!(spelled, ["raid0(media:p3700-800gb*2)", "media:p4800x-375gb @area=16GiB"]);
    let wrong = plan.replace("members = 2", "members = 200");
    std::fs::write(folder.path().join("plan.toml"), wrong).unwrap();
    let output = qdepth(folder.path(), &words);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("between 1 and 64"), "{}", text(&output.stderr));
}
