//! `qdepth plan`: shows what a run would do and the guards' verdicts, and touches nothing.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::common::{Workspace, consent_lines, exclusive_turn, has_tools, sh, token};

#[cfg(test)]
#[track_caller]
fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
}

#[test]
fn plan_of_directory_shows_guards_and_changes_nothing() {
    let workspace = Workspace::new();
    fs::create_dir(workspace.join("a")).unwrap();
    fs::create_dir(workspace.join("b")).unwrap();
    let when = |name: &str| fs::metadata(workspace.join(name)).unwrap().ctime_nsec();
    let before = (when("a"), when("b"));
    let words = "--area 64MiB --queue-depth 1,8 --duration 2s";
    let said = workspace.run(&format!("plan a b {words}")).expect(0).out;
    assert_contains(
        &said,
        &["20 points", "56 s", "target a: directory on", "target b: directory on"],
    );
    assert_contains(
        &said,
        &["67.1 MB to fill the measurement file; then writes for 23 s in 8 of 10 \
           points"],
    );
    assert_contains(&said, &["the amount is unknown in advance", "endurance  unknown: "]);
    assert_contains(&said, &["G14 G5 G6 G8 G13 G2 pass", "Database", "QD 1, 8"]);
    assert_eq!((when("a"), when("b")), before);
    assert!(!workspace.has("qdepth.db") && !workspace.has("qdepth-report.html"));
    let reading = workspace.run(&format!("plan a {words} --read-only")).expect(0).out;
    assert_contains(&reading, &["no point writes"]);
    fs::write(workspace.join("precious"), vec![7; 1 << 20]).unwrap();
    let refused = workspace.run("plan precious --queue-depth 1 --profile database").expect(3).out;
    assert_contains(
        &refused,
        &["G8 refuses: precious was not created by qdepth", "G2 G10 not checked"],
    );
    let system = workspace.run("plan /etc").expect(3).out;
    assert_contains(&system, &["G14 refuses: /etc is in a system directory"]);
}

#[test]
fn large_file_system_is_accepted_until_nearly_full() {
    let test = "large_file_system_is_accepted_until_nearly_full";
    let tools = ["losetup", "mkfs.ext4", "mount", "fallocate"];
    if !has_tools(test, &tools) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let node = workspace.device("image", 400 << 30).display().to_string();
    let mount = workspace.join("mount").display().to_string();
    let make = "mkfs.ext4 -q -m 0 -O ^has_journal -E lazy_itable_init=1";
    sh(&format!("{make} {node} && mkdir {mount} && mount {node} {mount}")).unwrap();
    workspace.later(format!("umount {mount}"));
    // 18 of 393 GiB are free, which is less than 5 %, then 7 GiB.
    sh(&format!("fallocate -l 375G {mount}/most")).unwrap();
    assert_contains(&workspace.run("plan quick mount --file-size 1GiB").expect(0).out, &["G13 G2"]);
    sh(&format!("fallocate -l 11G {mount}/more")).unwrap();
    let refused = workspace.run("plan quick mount --file-size 16MiB").expect(3).out;
    assert_contains(
        &refused,
        &["G13 refuses", "would leave less than 8.59 GB free", "Free some space there"],
    );
}

#[test]
fn plan_of_device_shows_guards_and_changes_nothing() {
    let test = "plan_of_device_shows_guards_and_changes_nothing";
    if !has_tools(test, &["losetup", "mkfs.ext4", "mount", "sha256sum"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let node = workspace.device("image", 64 << 20).display().to_string();
    let sum = || sh(&format!("sha256sum < {node}")).unwrap();
    let zeros = sum();
    let said = workspace.run(&format!("plan quick {node}")).expect(3).out;
    assert_contains(&said, &["block device", "67.1 MB", "writes for"]);
    assert_contains(&said, &["G9 refuses", &format!("--destroy {}", token(&node))]);
    assert_contains(&said, &["G11 G4 G5 G6 G3 G12 G2 G10 G13 G7 pass"]);
    assert_eq!(sum(), zeros);
    sh(&format!("mkfs.ext4 -q {node}")).unwrap();
    let written = sum();
    let said = workspace.run(&format!("plan quick {node}")).expect(3).out;
    assert_contains(
        &said,
        &["G7 refuses", "contains ext4", "--overwrite-signature ext4", "G9 refuses"],
    );
    // Consent is checked as in a run: the named device passes, another name does not.
    let refused = workspace.run(&format!("run quick {node}")).expect(3).err;
    let consent = workspace.write("consent", &consent_lines(&refused));
    let name = token(&node);
    let words = format!("--destroy {name} --consent {consent}");
    let said = workspace.run(&format!("plan quick {node} {words}")).expect(3).out;
    assert_contains(&said, &["G7 refuses", "contains ext4"]);
    assert!(!said.contains("G9 refuses"), "{said}");
    let all = format!("plan quick {node} {words} --overwrite-signature ext4");
    assert_contains(&workspace.run(&all).expect(0).out, &["G10 G13 G7 G9 pass"]);
    let typed = format!("plan quick {node} --destroy {name} --overwrite-signature ext4");
    assert_contains(&workspace.run(&typed).expect(0).out, &["G10 G13 G7 G9 pass"]);
    let ended = workspace.run(&format!("plan quick {node} --destroy WRONG")).expect(3);
    assert_contains(&ended.err, &["`WRONG` is not consent for", "nothing was changed"]);
    assert_eq!(sum(), written);
    let at = workspace.join("at");
    fs::create_dir(&at).unwrap();
    sh(&format!("mount {node} {}", at.display())).unwrap();
    workspace.later(format!("umount {}", at.display()));
    let said = workspace.run(&format!("plan quick {node}")).expect(3).out;
    assert_contains(&said, &["G4 refuses", "G10 G13 G7 G9 not checked"]);
    let said = workspace.run(&format!("plan quick {node} --read-only")).expect(0).out;
    assert_contains(&said, &["no point writes", "not used", "G1 G2 G10 G13 pass"]);
}

#[test]
fn foreseeable_failures_are_reported_before_any_measurement() {
    let workspace = Workspace::new();
    let words = "--area 8MiB --queue-depth 1 --profile database --duration 100ms";
    for report in ["nowhere/report.html", "."] {
        let ended = workspace.run(&format!("run . {words} --report {report}")).expect(2);
        assert_contains(&ended.err, &["report cannot be written", report, "--no-report"]);
    }
    let ended = workspace.run(&format!("run . {words} --logbook nowhere/q.db")).expect(2);
    assert_eq!(ended.err.matches("there is no directory nowhere").count(), 1, "{}", ended.err);
    assert!(!workspace.has("qdepth.db") && !workspace.has("qdepth-measurement-file"));
    assert_contains(
        &workspace.run(&format!("plan . {words}")).expect(0).out,
        &[": 1 point, 1 s and"],
    );
}

/// Options with a value that no shipped plan has.
const CHOICES: &[(&str, &str)] = &[
    ("queue-depth", "3"),
    ("profile", "random-8k-read"),
    ("duration", "7s"),
    ("warm-up", "3s"),
    ("until", "±3%"),
    ("area", "2GiB"),
    ("block-size", "12KiB"),
    ("step-from", "200MiB"),
    ("step-to", "900MiB"),
    ("step-by", "150MiB"),
    ("reader-rate", "77"),
    ("until-credible", "p99"),
    ("precondition", "preconditioned"),
    ("read-only", ""),
    ("seed", "77"),
    ("processes", "1,3"),
    ("variants", "a,b"),
    ("base", "b"),
    ("array", "media:p3700-800gb"),
    ("threads", "1,3"),
    ("transfer", "2MiB"),
    ("bytes-per-thread", "96MiB"),
    ("passes", "5"),
    ("round", "20s"),
    ("limit", "p99=1ms"),
    ("at", "p99=3ms"),
    ("at", "p99.9=1ms --within 3m"),
];

/// Options without effect on a plan, each with the reason.
const UNCHANGED: &[(&str, &str)] = &[
    // It reads only already, as `fit-read` does.
    ("first", "read-only"),
    // It limits only what the report shows.
    ("write-pressure", "limit"),
    ("saturation", "read-only"),
    ("fit-read", "read-only"),
];

#[test]
fn options_without_effect_on_plan_are_refused() {
    let workspace = Workspace::new();
    let drive = "media:p3700-800gb";
    let mut ignored = Vec::new();
    // Emulated devices have no directories.
    for plan in qdepth_workload::shipped_plan_names().filter(|plan| *plan != "metadata") {
        let targets = match plan {
            "devices" => format!("{drive}*2"),
            "arrays" => format!("{drive} raid0({drive}*2)"),
            "media-comparison" => format!("{drive} media:sas-2-ssd-400gb"),
            _ => drive.to_owned(),
        };
        let line = format!("plan {plan} {targets} --json");
        let usual = workspace.run(&line).expect(0).out;
        for (name, value) in CHOICES {
            let ended = workspace.run(&format!("{line} --{name} {value}"));
            let is_refused = ended.status == Some(2) && ended.err.lines().count() <= 4;
            if !is_refused && (ended.status != Some(0) || ended.out == usual) {
                ignored.push((plan, *name));
            }
        }
    }
    assert_eq!(ignored, UNCHANGED);
}

#[test]
fn wrong_preparation_names_step_and_choices() {
    let workspace = Workspace::new();
    let step = "[[prepare]]\nstep = \"purge\"\ndevice = \"/dev/none\"\nmethod = \"burn\"\n";
    workspace.write("own.toml", &format!("name = \"own\"\nprofiles = [\"database\"]\n{step}"));
    let ended = workspace.run("plan own.toml media:null").expect(2);
    let says = "step 1 of the preparation: unknown value `burn`. Use one of: discard, format";
    assert!(ended.err.contains(says), "{}", ended.err);
}
