//! A run goes on only on the storage that it began on, and says where its points are if its logbook
//! is taken away.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::common::{Ended, Workspace, can, pause, points, sh};

const MIB: u64 = 1 << 20;

#[cfg(test)]
fn plan(workspace: &Workspace) {
    workspace.write(
        "plan.toml",
        "name = \"other\"\noutstanding = [1, 2]\nwarm_up = \"50ms\"\nduration = \"500ms\"\n\
         file_size = \"8MiB\"\n[[profile]]\nname = \"load\"\nrandom = 100\nread = 100\n\
         request_size = \"4KiB\"\n",
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
fn a_run_does_not_go_on_in_another_directory() {
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
fn a_run_does_not_go_on_in_a_file_that_was_emptied_moved_or_exchanged() {
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
                let (data, other) = (data.display(), workspace.join("other"));
                sh(&format!("cp {data} {data}.bytes && fallocate -p -l 8M {data} && sync"))
                    .unwrap();
                full(&other);
                sh(&format!("dd if={data}.bytes of={data} conv=notrunc,fsync")).unwrap();
                refused(&workspace, "another place");
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
fn a_run_does_not_go_on_on_another_loop_device_or_mount() {
    let test = "a_run_does_not_go_on_on_another_loop_device_or_mount";
    if !can(test, &["losetup", "mkfs.ext4"]) {
        return;
    }
    let workspace = Workspace::new();
    plan(&workspace);
    let image = |name: &str| -> PathBuf {
        let path = workspace.join(name);
        sh(&format!("truncate -s 64M {0} && mkfs.ext4 -q {0}", path.display())).unwrap();
        path
    };
    // A node is never detached and taken again: another test could come between.
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
    // A ring that is being taken down keeps the file system busy for a moment.
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
fn a_run_whose_logbook_is_taken_away_keeps_its_points_and_fails() {
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
