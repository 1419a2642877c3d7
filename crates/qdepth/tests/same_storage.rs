//! A run resumes only on the storage on which it began, and reports where its points are if its
//! logbook is taken away.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::common::{Ended, Workspace, has_tools, pause, points, sh};

const MIB: u64 = 1 << 20;

#[cfg(test)]
fn plan(workspace: &Workspace) {
    workspace.write(
        "plan.toml",
        "name = \"other\"\nqueue_depth = [1, 2]\nwarm_up = \"50ms\"\nduration = \"500ms\"\n\
         file_size = \"8MiB\"\n[[profile]]\nname = \"load\"\nrandom = 100\nread = 100\n\
         block_size = \"4KiB\"\n",
    );
}

/// Begins a run on a target and interrupts it.
#[cfg(test)]
fn interrupted(workspace: &Workspace, target: &str) {
    let mut run = workspace.start(&format!("run plan.toml {target} --no-report"));
    run.wait_for_err("MiB/s");
    run.signal("INT");
    run.wait().expect(130);
}

#[cfg(test)]
fn refused(workspace: &Workspace, what: &str) {
    let ended = workspace.run("run --resume --no-report").expect(3);
    for said in ["is not the storage that the run began on", "G10", what, "qdepth retract"] {
        assert!(ended.err.contains(said), "{said}: {}", ended.err);
    }
}

#[cfg(test)]
fn resumed(workspace: &Workspace) -> Ended {
    workspace.run("run --resume --json --no-report").expect_finished()
}

#[cfg(test)]
fn full(path: &Path) {
    let bytes: Vec<u8> = (0..8 * MIB).map(|at| ((at * 2_654_435_761) >> 13) as u8).collect();
    fs::write(path, bytes).unwrap();
    sh("sync").unwrap();
}

#[test]
fn run_does_not_resume_in_another_directory() {
    let workspace = Workspace::new();
    plan(&workspace);
    for name in ["a", "b"] {
        fs::create_dir(workspace.join(name)).unwrap();
    }
    symlink("a", workspace.join("link")).unwrap();
    interrupted(&workspace, "link");
    fs::remove_file(workspace.join("link")).unwrap();
    symlink("b", workspace.join("link")).unwrap();
    refused(&workspace, "inode");
    fs::remove_file(workspace.join("link")).unwrap();
    symlink("a", workspace.join("link")).unwrap();
    assert_eq!(points(&resumed(&workspace).json()).len(), 2);
    assert_eq!(fs::read_dir(workspace.join("b")).unwrap().count(), 0);
}

#[test]
fn run_does_not_resume_in_changed_file() {
    let workspace = Workspace::new();
    plan(&workspace);
    let data = workspace.join("data");
    for way in ["emptied", "moved", "exchanged"] {
        full(&data);
        interrupted(&workspace, "data --read-only");
        match way {
            "emptied" => {
                let file = fs::File::options().write(true).open(&data).unwrap();
                file.set_len(0).unwrap();
                file.set_len(8 * MIB).unwrap();
                refused(&workspace, "B are now");
            }
            "moved" => {
                // The second half becomes the first, wherever the other half is placed.
                let file = data.display();
                let cut = sh(&format!("fallocate --collapse-range -o 0 -l 4M {file}"));
                if let Err(why) = cut {
                    println!("SKIPPED: a file that was moved: {why}");
                    assert_eq!(points(&resumed(&workspace).json()).len(), 2);
                    continue;
                }
                sh(&format!("head -c 4M {file} >{file}.half && cat {file}.half >>{file} && sync"))
                    .unwrap();
                refused(&workspace, "other blocks");
            }
            _ => {
                fs::rename(&data, workspace.join("old")).unwrap();
                full(&data);
                refused(&workspace, "is not the storage");
            }
        }
        let list = workspace.run("list --json").expect(0).json();
        let id = list["runs"][0]["id"].as_str().unwrap().to_owned();
        workspace.run(&format!("retract {id} other storage")).expect(0);
    }
}

#[test]
fn run_does_not_resume_on_another_device() {
    let test = "run_does_not_resume_on_another_device";
    if !has_tools(test, &["losetup", "mkfs.ext4"]) {
        return;
    }
    let workspace = Workspace::new();
    plan(&workspace);
    let image = |name: &str| -> PathBuf {
        let path = workspace.join(name);
        sh(&format!("truncate -s 64M {0} && mkfs.ext4 -q {0}", path.display())).unwrap();
        path
    };
    // Device nodes are never detached and reused: another test could take them.
    let (first, other) = (image("first"), image("other"));
    let (node, twin, again) =
        (workspace.attach(&first), workspace.attach(&other), workspace.attach(&first));
    let link = workspace.join("disk");
    let lead_to = |node: &Path| {
        let _ = fs::remove_file(&link);
        symlink(node, &link).unwrap();
    };
    lead_to(&node);
    interrupted(&workspace, "disk --read-only");
    lead_to(&twin);
    refused(&workspace, "storage below it");
    lead_to(&again);
    assert_eq!(points(&resumed(&workspace).json()).len(), 2, "the same file again");

    let place = workspace.join("place");
    fs::create_dir(&place).unwrap();
    sh(&format!("mount {} {}", node.display(), place.display())).unwrap();
    // A ring that is being torn down keeps the file system busy for a moment.
    let at = place.display();
    let unmount =
        format!("for i in $(seq 50); do umount {at} && break; sleep 0.1; done; ! mountpoint {at}");
    workspace.later(unmount.clone());
    interrupted(&workspace, "place");
    sh(&unmount).unwrap();
    refused(&workspace, "began on");
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
    sh(&format!("mount {} {}", node.display(), place.display())).unwrap();
    assert_eq!(points(&resumed(&workspace).json()).len(), 2, "the same file system again");
}

#[test]
fn run_with_removed_logbook_keeps_points_and_fails() {
    for way in ["moved", "removed"] {
        let workspace = Workspace::new();
        plan(&workspace);
        let mut run = workspace.start("run plan.toml . --no-report --logbook book.db");
        run.wait_for_err("MiB/s");
        pause(20);
        let book = workspace.join("book.db");
        match way {
            "moved" => fs::rename(&book, workspace.join("elsewhere.db")).unwrap(),
            _ => fs::remove_file(&book).unwrap(),
        }
        let ended = run.wait().expect(4);
        assert!(ended.err.contains("was moved, replaced or removed"), "{}", ended.err);
        let line = ended.err.split("--logbook ").nth(1).unwrap();
        let copy = line.split('`').next().unwrap();
        let document = workspace.run(&format!("export latest --logbook {copy}")).expect(0).json();
        assert!(!points(&document).is_empty(), "{way}");
        assert!(!workspace.has("qdepth-measurement-file"), "{way}");
    }
}

/// Interleaved points are stored together at the end: the first error must not lose the others.
#[test]
fn all_measured_points_are_rescued() {
    let workspace = Workspace::new();
    workspace.write(
        "together.toml",
        "name = \"x\"\nqueue_depth = [1, 8]\nwarm_up = \"0s\"\nduration = \"2s\"\n\
         interleaved_segments = 4\nprofiles = [\"database\"]\n",
    );
    let words = "run together.toml . --area 8MiB --no-report --logbook book.db";
    let mut run = workspace.start(words);
    run.wait_for_err("point ");
    fs::remove_file(workspace.join("book.db")).unwrap();
    let ended = run.wait().expect(4);
    let copy = ended.err.split("--logbook ").nth(1).unwrap().split('`').next().unwrap();
    let document = workspace.run(&format!("export latest --logbook {copy}")).expect(0).json();
    assert_eq!(points(&document).len(), 2, "{}", ended.err);
}

/// Accidents that can happen to a long run.
#[cfg(test)]
const ACCIDENTS: [&str; 5] =
    ["killed", "logbook moved", "logbook removed", "exchanged", "led away"];

/// Run of four points on a link to a file, with an accident after this number of ms. Returns the
/// number of reported points, and the end of the program.
#[cfg(test)]
fn struck(workspace: &Workspace, accident: &str, after_ms: u64) -> (usize, Ended) {
    let run = workspace.start("run plan.toml link --read-only --no-report --logbook book.db");
    pause(after_ms);
    let path = |name| workspace.join(name);
    match accident {
        "logbook moved" => drop(fs::rename(path("book.db"), path("moved.db"))),
        "logbook removed" => drop(fs::remove_file(path("book.db"))),
        "exchanged" => {
            fs::rename(path("data"), path("old")).unwrap();
            full(&path("data"));
        }
        _ => {}
    }
    let ended = if ["killed", "led away"].contains(&accident) { run.kill() } else { run.wait() };
    (ended.err.lines().filter(|line| line.contains("MiB/s")).count(), ended)
}

/// Number of points in a logbook; 0 if it has no run.
#[cfg(test)]
fn stored(workspace: &Workspace, logbook: &str) -> usize {
    let ended = workspace.run(&format!("export latest --logbook {logbook}"));
    if ended.status == Some(0) { points(&ended.json()).len() } else { 0 }
}

#[test]
fn accident_loses_no_point_and_never_switches_storage() {
    let tries = std::env::var("QDEPTH_TRIES").ok().and_then(|text| text.parse().ok());
    let tries: u64 = tries.unwrap_or(10);
    let mut reported = 0;
    for number in 0..tries {
        let accident = ACCIDENTS[(number % 5) as usize];
        // Multiples of the golden ratio spread the moments over the length of a run.
        let after_ms = (number * 1483) % 2400 + 100;
        let workspace = Workspace::new();
        plan(&workspace);
        let plan = fs::read_to_string(workspace.join("plan.toml")).unwrap();
        workspace
            .write("plan.toml", &plan.replace("[1, 2]", "[1, 2, 3, 4]").replace("500ms", "100ms"));
        full(&workspace.join("data"));
        symlink("data", workspace.join("link")).unwrap();
        let (points, ended) = struck(&workspace, accident, after_ms);
        reported += points;
        let what = format!("{accident} after {after_ms} ms, {points} reported: {}", ended.err);
        if accident == "killed" && workspace.has("book.db") {
            fs::copy(workspace.join("book.db"), workspace.join("copy.db")).unwrap();
            assert!(stored(&workspace, "copy.db") >= points, "{what}");
        }
        if accident == "led away" {
            full(&workspace.join("other"));
            fs::remove_file(workspace.join("link")).unwrap();
            symlink("other", workspace.join("link")).unwrap();
        }
        let copy = ended.err.split("--logbook ").nth(1).and_then(|line| line.split('`').next());
        let books = ["book.db", "moved.db"].into_iter().chain(copy);
        let kept = books.map(|book| stored(&workspace, book)).max().unwrap_or(0);
        let has_finished = matches!(ended.status, Some(0 | 1));
        let was_removed_later = accident == "logbook removed" && has_finished && points == 4;
        assert!(kept >= points || was_removed_later, "{kept} kept: {what}");
        if !has_finished && ["exchanged", "led away"].contains(&accident) {
            let again = workspace.run("run --resume --no-report --logbook book.db");
            assert!(again.status >= Some(2), "resumed: {}\n{what}", again.err);
            assert_eq!(stored(&workspace, "book.db"), kept, "{what}");
        }
    }
    println!("TRIES accidents {tries} points-reported={reported} lost=0 resumed-elsewhere=0");
}
