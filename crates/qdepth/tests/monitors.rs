//! Monitors of a point: a second load on the same device, and heat in an emulated drive.

use crate::common::{Workspace, codes, exclusive_turn, figure, has_tools, points};

/// Plan of 2000 random reads a second, to which another process adds 20.
const PLAN: &str = r#"name = "NAME"
queue_depth = [64]
duration = "DURATION"
warm_up = "100ms"
[[profile]]
name = "reads"
random = 100
read = 100
block_size = "4KiB"
arrivals = { kind = "fixed", rate = RATE }
area = { size = "full" }
"#;

#[cfg(test)]
fn plan(workspace: &Workspace, name: &str, rate: u32, duration: &str) -> String {
    let text = PLAN.replace("NAME", name).replace("RATE", &rate.to_string());
    workspace.write(&format!("{name}.toml"), &text.replace("DURATION", duration))
}

#[test]
fn only_runs_with_foreign_io_have_the_finding() {
    let _alone = exclusive_turn();
    if !has_tools("foreign I/O on a loop device", &["losetup"]) {
        return;
    }
    let workspace = Workspace::new();
    let device = workspace.device("image", 64 << 20);
    let (ours, theirs) =
        (plan(&workspace, "ours", 2000, "2s"), plan(&workspace, "theirs", 20, "6s"));
    let run = |logbook: &str| {
        let words =
            format!("run {ours} {} --json --no-report --logbook {logbook}", device.display());
        workspace.run(&words).expect_finished().json()
    };
    for trial in 0..3 {
        let quiet = run(&format!("quiet{trial}.db"));
        let point = &points(&quiet)[0];
        assert!(!codes(point).contains(&"foreign-io".to_owned()), "{point:#}");
        assert!(point["monitors"].as_array().unwrap().len() > 4, "{point:#}");
        let words = format!("run {theirs} {} --no-report --logbook other.db", device.display());
        let other = workspace.start(&words);
        crate::common::pause(1500);
        let disturbed = run(&format!("disturbed{trial}.db"));
        other.signal("INT");
        other.wait();
        let share = figure(&points(&disturbed)[0], "foreign-io", "share");
        assert!(share.is_some_and(|share| (0.007..0.013).contains(&share)), "{share:?}");
    }
}

/// Document 000's drive in an enclosure that does not cool it.
#[test]
fn overheated_drive_raises_finding_and_can_end_run() {
    let workspace = Workspace::new();
    let plan = "name = \"hot\"\nqueue_depth = [32, 1]\nduration = \"20s\"\n[[profile]]\n\
                name = \"writes\"\nrandom = 0\nread = 0\nblock_size = \"128KiB\"\n";
    workspace.write("hot.toml", plan);
    let run = |cooling: &str, more: &str| {
        let words = format!("run hot.toml media:p3700-800gb{cooling} --no-report --json {more}");
        workspace.run(&words)
    };
    let cool = run("", "").expect(0).json();
    assert!(!points(&cool).iter().any(|p| codes(p).contains(&"throttled".to_owned())));
    let hot = run("@limit_c=55@thermal_seconds=2", "").expect(1).json();
    let first = &points(&hot)[0];
    assert!(
        figure(first, "throttled", "transitions").is_some_and(|times| times >= 1.0),
        "{first:#}"
    );
    assert_eq!(first["grade"], "C");
    let ended = run("@limit_c=55@thermal_seconds=2", "--stop-on-throttle").expect(4);
    assert!(ended.err.contains("--stop-on-throttle is set"), "{}", ended.err);
    assert_eq!(
        points(&workspace.run("export").expect(0).json()).len(),
        1,
        "the measured points are kept"
    );
}

#[cfg(test)]
const READS: &str = "name = \"still\"\nqueue_depth = [4]\nduration = \"6s\"\nwarm_up = \"100ms\"\n\
                     file_size = \"8MiB\"\n[[profile]]\nname = \"reads\"\nrandom = 100\n\
                     read = 100\n\
                     block_size = \"4KiB\"\n";

/// A stopped load generator raises its own finding, not one about pauses of the storage.
#[test]
fn stopped_generator_is_not_a_storage_stall() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    workspace.write("still.toml", READS);
    let mut run = workspace.start("run still.toml . --json --no-report");
    run.wait_for_err("plan still");
    crate::common::pause(2500);
    run.signal("STOP");
    crate::common::pause(2000);
    run.signal("CONT");
    let document = run.wait().expect(1).json();
    let point = &points(&document)[0];
    let longest = figure(point, "generator-stopped", "longest_ns");
    assert!(longest.is_some_and(|longest| (1.9e9..3.5e9).contains(&longest)), "{point:#}");
    // On a busy machine the storage may pause too, but not for the two seconds.
    let blamed = figure(point, "stall", "over_1s").is_some_and(|pauses| pauses > 0.0);
    assert!(!blamed, "blamed: {point:#}");
    let blamed = figure(point, "stall", "longest_ns").unwrap_or(0.0);
    assert!(blamed < 1e9, "the storage is blamed for {blamed} ns: {point:#}");
    assert_eq!(point["grade"], "C");
}

#[test]
fn undisturbed_generator_has_no_stop_finding() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    workspace.write("still.toml", READS);
    let document = workspace.run("run still.toml . --json --no-report").expect_finished().json();
    let point = &points(&document)[0];
    let longest = figure(point, "generator-stopped", "longest_ns");
    assert_eq!(longest, None, "an undisturbed run stood still: {point:#}");
}
