//! Resumed runs: the points that they continue, the conditions that they keep, and the points that
//! they measure again.

use std::fs::{self, File};

use crate::common::{Workspace, codes, exclusive_turn, pause, points};

#[cfg(test)]
fn plan(queue_depth: &str, duration: &str) -> String {
    format!(
        "name = \"resume\"\nqueue_depth = [{queue_depth}]\nwarm_up = \"50ms\"\n\
         duration = \"{duration}\"\nfile_size = \"8MiB\"\n[[profile]]\nname = \"load\"\n\
         random = 100\nread = 100\nblock_size = \"4KiB\"\n"
    )
}

#[test]
fn active_run_cannot_be_resumed() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    workspace.write("plan.toml", &plan("1, 2", "1s"));
    let mut run = workspace.start("run plan.toml . --json --no-report");
    run.wait_for_err("MiB/s");
    let refused = workspace.run("run --resume").expect(3);
    assert!(refused.err.contains("still being measured by another process"), "{}", refused.err);
    assert!(refused.err.contains("nothing was changed"), "{}", refused.err);
    let document = run.wait().expect_finished().json();
    assert_eq!(document["run"]["state"], "complete");
    assert_eq!(points(&document).len(), 2);
    let nothing = workspace.run("run --resume").expect(2);
    assert!(nothing.err.contains("nothing to resume"), "{}", nothing.err);
    let left = fs::read_dir(workspace.path()).unwrap().flatten();
    let left: Vec<_> = left.filter(|f| f.file_name().to_string_lossy().contains("run")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn run_with_missing_target_can_be_retracted() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    workspace.write("plan.toml", &plan("1, 2", "700ms"));
    for folder in ["stays", "goes"] {
        fs::create_dir(workspace.join(folder)).unwrap();
        let mut run = workspace.start(&format!("run plan.toml {folder} --no-report"));
        run.wait_for_err("MiB/s");
        run.signal("INT");
        run.wait().expect(130);
    }
    fs::remove_dir_all(workspace.join("goes")).unwrap();
    let refused = workspace.run("run --resume").expect(3);
    for said in ["on goes", "guard G1", "qdepth retract ", "--resume"] {
        assert!(refused.err.contains(said), "{said}: {}", refused.err);
    }
    let line = refused.err.split('`').find(|part| part.starts_with("qdepth retract ")).unwrap();
    let id = line.split(' ').nth(2).unwrap();
    workspace.run(&format!("retract {id} its folder is gone")).expect(0);
    let resumed = workspace.run("run --resume --json --no-report").expect_finished().json();
    assert_eq!(resumed["run"]["state"], "complete");
    assert_eq!(resumed["targets"][0]["expression"], "stays");
}

/// Number of threads of the program in this workspace.
#[cfg(test)]
fn threads(workspace: &Workspace) -> usize {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let ours = all.filter(|process| {
        let link = |name: &str| fs::read_link(process.path().join(name)).unwrap_or_default();
        link("cwd") == workspace.path() && link("exe").ends_with("qdepth")
    });
    ours.map(|process| fs::read_dir(process.path().join("task")).map_or(0, Iterator::count)).sum()
}

/// Number of threads once it exceeds `few`, or after ten seconds.
#[cfg(test)]
fn threads_above(workspace: &Workspace, few: usize) -> usize {
    let most = (0..500).map(|_| {
        pause(20);
        threads(workspace)
    });
    most.into_iter().find(|seen| *seen > few).unwrap_or_else(|| threads(workspace))
}

#[test]
fn resumed_run_keeps_its_engine() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    workspace.write("plan.toml", &plan("40, 41", "700ms"));
    let mut run = workspace.start("run plan.toml . --engine threads");
    run.wait_for_err("plan resume");
    let seen = threads_above(&workspace, 40);
    assert!(seen > 40, "{seen} threads");
    run.signal("INT");
    run.wait().expect(130);
    let mut run = workspace.start("run --resume --json");
    run.wait_for_err("plan resume");
    let seen = threads_above(&workspace, 40);
    let document = run.wait().expect_finished().json();
    assert!(seen > 40, "{seen} threads: another engine");
    assert_eq!(points(&document).len(), 2);
    let other = workspace.run("run --resume --engine threads").expect(2);
    assert!(other.err.contains("cannot be used with"), "{}", other.err);
}

/// A file that shrinks during reads returns no bytes, like a device that was removed.
#[cfg(test)]
fn loses_its_target(queue_depth: &str, status: i32) {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    workspace.write("plan.toml", &plan(queue_depth, "600ms"));
    fs::write(workspace.join("file"), vec![1; 8 << 20]).unwrap();
    let mut run = workspace.start("run plan.toml file --no-report");
    run.wait_for_err("plan resume");
    pause(300);
    let file = File::options().write(true).open(workspace.join("file")).unwrap();
    file.set_len(0).unwrap();
    let ended = run.wait().expect(status);
    let stored = workspace.run("export").expect(0).json();
    assert_eq!(stored["run"]["state"], "failed", "{}", ended.err);
    assert!(codes(&points(&stored)[0]).contains(&"device-gone".to_owned()), "{stored:#}");
    assert!(workspace.run("list").expect(0).out.contains("0/"), "it is not counted as done");
    fs::write(workspace.join("file"), vec![1; 8 << 20]).unwrap();
    let whole = workspace.run("run --resume --json --no-report").expect_finished().json();
    assert_eq!(whole["run"]["state"], "complete");
    assert_eq!(points(&whole).len(), queue_depth.split(',').count());
    for point in points(&whole) {
        let found = codes(point);
        assert!(!found.contains(&"device-gone".to_owned()), "{found:?}");
        assert!(found.contains(&"resumed".to_owned()), "{found:?}");
    }
}

#[test]
fn point_with_lost_target_is_measured_again() {
    loses_its_target("4", 1);
}

#[test]
fn run_with_lost_target_resumes_at_same_point() {
    loses_its_target("4, 8", 4);
}

/// True if this process ignores SIGHUP, which its children inherit.
fn ignores_hangup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(ignored.trim(), 16).unwrap() & 1 != 0
}

/// A closed terminal or connection sends SIGHUP.
#[test]
fn run_stopped_by_hangup_leaves_no_file() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    workspace.write("plan.toml", &plan("1, 2", "2s"));
    let mut run = workspace.start("run plan.toml . --no-report");
    run.wait_for_err("plan resume");
    pause(300);
    // From the kernel and from the shell.
    run.signal("HUP");
    run.signal("HUP");
    if ignores_hangup() {
        println!("SIGHUP is ignored here, as under nohup");
        run.wait().expect_finished();
        return;
    }
    run.wait().expect(129);
    assert!(!workspace.has("qdepth-measurement-file"));
    assert!(workspace.run("list").expect(0).out.contains("interrupted"));
    workspace.run("run --resume --no-report").expect_finished();
}

/// Logbook whose only run was stopped in its first point.
#[cfg(test)]
fn stopped(workspace: &Workspace) -> Vec<u8> {
    workspace.write("plan.toml", &plan("1, 2", "2s"));
    let mut run = workspace.start("run plan.toml . --no-report");
    run.wait_for_err("plan resume");
    pause(300);
    run.signal("INT");
    run.wait().expect(130);
    fs::read(workspace.join("qdepth.db")).unwrap()
}

/// Copy of the file with all occurrences of these bytes replaced.
#[cfg(test)]
fn replaced(file: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut file = file.to_vec();
    let places: Vec<usize> =
        (0..file.len()).filter(|at| file[*at..].starts_with(from.as_bytes())).collect();
    assert!(!places.is_empty(), "{from}");
    for place in places {
        file[place..place + to.len()].copy_from_slice(to.as_bytes());
    }
    file
}

#[test]
fn altered_plan_is_not_resumed() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let whole = stopped(&workspace);
    for (from, to) in [
        ("\"offset_bytes\": 0", "\"offset_bytes\": 9"),
        ("\"length_bytes\": 8388608", "\"length_bytes\": 9388608"),
        ("\"target\": 0", "\"target\": 7"),
        ("\"read_share\": 1.0", "\"read_share\": 0.0"),
    ] {
        fs::write(workspace.join("qdepth.db"), replaced(&whole, from, to)).unwrap();
        let refused = workspace.run("run --resume --no-report").expect(4);
        assert!(refused.err.contains("cannot be resumed"), "{to}: {}", refused.err);
        assert!(refused.err.contains("qdepth logbook check"), "{to}: {}", refused.err);
        let checked = workspace.run("logbook check").expect(1);
        assert!(checked.out.contains(": run: run, plan"), "{to}: {}", checked.out);
        assert!(workspace.run("list").expect(0).out.contains("damaged"), "{to}");
        assert!(workspace.run("show").expect(1).out.contains("damaged"), "{to}");
    }
    fs::write(workspace.join("qdepth.db"), &whole).unwrap();
    assert!(workspace.run("logbook check").expect(0).out.contains("intact: 1 run,"));
    workspace.run("run --resume --no-report").expect_finished();
}
