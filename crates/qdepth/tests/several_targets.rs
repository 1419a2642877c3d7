//! Several targets in one run: a refusal of one leaves all of them untouched.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::common::{Workspace, exclusive_turn, has_tools, sh, token};

const SHORT: &str = "--area 8MiB --duration 100ms --profile database --queue-depth 1";

/// Time of the last change of a directory's entries.
#[cfg(test)]
fn changed(workspace: &Workspace, name: &str) -> (i64, i64) {
    let meta = fs::metadata(workspace.join(name)).unwrap();
    (meta.ctime(), meta.ctime_nsec())
}

#[test]
fn refusal_of_later_file_changes_no_earlier_target() {
    let workspace = Workspace::new();
    fs::create_dir(workspace.join("a")).unwrap();
    workspace.write("precious", &"the only copy\n".repeat(1 << 20));
    let before = changed(&workspace, "a");
    let ended = workspace.run(&format!("run a precious {SHORT}")).expect(3);
    assert!(ended.err.contains("refused by guard G8, nothing was changed"), "{}", ended.err);
    assert_eq!(changed(&workspace, "a"), before, "something was made in a and taken away again");
}

#[test]
fn refusal_of_later_target_leaves_first_device_unlabelled() {
    let test = "refusal_of_later_target_leaves_first_device_unlabelled";
    if !has_tools(test, &["losetup", "sha256sum"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let node = workspace.device("image", 64 << 20).display().to_string();
    workspace.write("precious", &"the only copy\n".repeat(1 << 20));
    let sum = || sh(&format!("sha256sum < {node}")).unwrap();
    let before = sum();
    let name = token(&node);
    let consent = workspace.write(
        "consent",
        &format!(
            "destroy = \"{name}\"\nsize_bytes = {}\nexpires = \"{}\"\n",
            64 << 20,
            sh("date -u -d '+1 hour' +%Y-%m-%dT%H:%M:%SZ").unwrap()
        ),
    );
    let words = format!("{SHORT} --destroy {name} --consent {consent} --no-report");
    workspace.run(&format!("run {node} precious {words}")).expect(3);
    assert_eq!(sum(), before, "{node} was written to");
    workspace.run(&format!("run {node} {words}")).expect_finished();
    assert_ne!(sum(), before, "alone it would have been");
}

#[test]
fn free_space_is_checked_for_all_targets_together() {
    let test = "free_space_is_checked_for_all_targets_together";
    if !has_tools(test, &["mount"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    fs::create_dir(workspace.join("small")).unwrap();
    let at = workspace.join("small").display().to_string();
    sh(&format!("mount -t tmpfs -o size=40M qdepth-test {at}")).unwrap();
    // The kernel tears a ring down some time after its process ends, and holds the file until then.
    workspace
        .later(format!("for n in 1 2 3 4 5; do umount {at} && exit 0; sleep 0.3; done; exit 1"));
    sh(&format!("mkdir {at}/a {at}/b")).unwrap();
    let words = "--area 16MiB --duration 100ms --profile database --queue-depth 1 --no-report";
    let ended = workspace.run(&format!("run small/a small/b {words}")).expect(3);
    assert!(ended.err.contains("refused by guard G13, nothing was changed"), "{}", ended.err);
    assert_eq!(sh(&format!("ls {at}/a")).unwrap(), "");
    // Individually, each target has enough space (memory lacks direct I/O, so points are invalid).
    workspace.run(&format!("run small/b {words}")).expect_finished();
}

#[test]
fn target_with_two_names_is_wrong_usage() {
    let workspace = Workspace::new();
    fs::create_dir(workspace.join("a")).unwrap();
    std::os::unix::fs::symlink("a", workspace.join("also-a")).unwrap();
    let ended = workspace.run(&format!("run a also-a {SHORT}")).expect(2);
    assert!(ended.err.contains("a and also-a are the same target"), "{}", ended.err);
    assert!(!workspace.has("qdepth.db"));
}
