//! Bandwidth by IOR's method, from the command line to the answer.

use std::fs;

use crate::common::{Workspace, exclusive_turn, pause, points};
use serde_json::Value;

const MIB: u64 = 1 << 20;

/// Bytes that a point moved in its window.
#[cfg(test)]
fn bytes(point: &Value) -> u64 {
    ["read_bytes", "written_bytes"].map(|kind| point[kind].as_u64().unwrap()).iter().sum()
}

#[cfg(test)]
fn points_of_profile<'a>(document: &'a Value, profile: &str) -> Vec<&'a Value> {
    points(document).iter().filter(|point| point["profile"] == profile).collect()
}

#[test]
fn each_thread_transfers_its_bytes_once_when_emulated() {
    let workspace = Workspace::new();
    let words = "--threads 1,3,6 --transfer 1MiB,16MiB --bytes-per-thread 32MiB --json";
    let document =
        workspace.run(&format!("run bandwidth media:p3700-800gb {words}")).expect(0).json();
    // 2 sizes × 3 numbers of threads × 2 passes × write and read.
    assert_eq!(points(&document).len(), 24);
    for point in points(&document) {
        let threads = point["streams"].as_u64().unwrap();
        assert_eq!(bytes(point), threads * 32 * MIB, "{point}");
        assert_eq!(point["ended_by"], "bytes", "{point}");
    }
    let told = workspace.run("show").expect(0).out;
    for said in ["Write 1 MiB", "Read 16 MiB", "MiB/s at best", "95 % of it is reached with"] {
        assert!(told.contains(said), "`{said}` in {told}");
    }
    let page = fs::read_to_string(workspace.join("qdepth-report.html")).unwrap();
    assert!(page.contains("id=\"bandwidth\"") && page.contains("bandwidth-read"));
}

#[test]
fn threads_are_spread_over_directories_and_files_deleted() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    for name in ["a", "b"] {
        fs::create_dir(workspace.join(name)).unwrap();
    }
    let words = "--threads 3 --transfer 1MiB --bytes-per-thread 2MiB --passes 1 --json";
    let document = workspace.run(&format!("run bandwidth a b {words}")).expect_finished().json();
    let streams = |profile: &str| {
        let streams = points_of_profile(&document, profile).into_iter();
        streams.map(|point| point["streams"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    // The first of two targets gets two of the three threads.
    assert_eq!((streams("baseline-write"), streams("baseline-read")), (vec![2], vec![2]));
    assert_eq!((streams("bandwidth-write"), streams("bandwidth-read")), (vec![2, 1], vec![2, 1]));
    assert!(points(&document).iter().all(|p| bytes(p) == p["streams"].as_u64().unwrap() * 2 * MIB));
    let left = |name: &str| fs::read_dir(workspace.join(name)).unwrap().count();
    assert_eq!((left("a"), left("b")), (0, 0));
    let shared = workspace.run(&format!("run bandwidth a {words} --shared-file")).expect_finished();
    assert!(points(&shared.json()).iter().all(|point| bytes(point) == 6 * MIB));
}

#[test]
fn foreign_file_in_target_directory_is_unchanged() {
    let workspace = Workspace::new();
    fs::create_dir(workspace.join("a")).unwrap();
    workspace.write("a/qdepth-bandwidth.00000000", "the only copy");
    let words = "--threads 1 --transfer 1MiB --bytes-per-thread 1MiB";
    let ended = workspace.run(&format!("run bandwidth a {words}")).expect(3);
    assert!(ended.err.contains("was not created by qdepth"), "{}", ended.err);
    let kept = fs::read_to_string(workspace.join("a/qdepth-bandwidth.00000000")).unwrap();
    assert_eq!(kept, "the only copy");
}

#[test]
fn files_of_killed_run_are_deleted_by_next() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    fs::create_dir(workspace.join("a")).unwrap();
    let words = "--threads 2 --transfer 1MiB --passes 1 --no-report";
    let running = workspace.start(&format!("run bandwidth a {words} --bytes-per-thread 1GiB"));
    for _ in 0..4000 {
        if workspace.has("a/qdepth-bandwidth.00000001") {
            break;
        }
        pause(5);
    }
    running.kill();
    assert!(workspace.has("a/qdepth-bandwidth.00000001"), "the killed run made no file");
    workspace.run(&format!("run bandwidth a {words} --bytes-per-thread 2MiB")).expect_finished();
    assert_eq!(fs::read_dir(workspace.join("a")).unwrap().count(), 0);
}

#[test]
fn invalid_bandwidth_options_are_refused_before_any_change() {
    let workspace = Workspace::new();
    for (words, said) in [
        ("run quick media:p3700-800gb --threads 3", "is not one"),
        (
            "run bandwidth media:p3700-800gb --transfer 3MiB",
            "must be a multiple of the transfer size",
        ),
        ("run bandwidth media:p3700-800gb --passes 0", "passes = 0"),
        ("run bandwidth media:p3700-800gb --area 1GiB", "Remove --area"),
        ("run bandwidth . --file-size 16MiB", "Use --bytes-per-thread"),
        ("run bandwidth . --read-only", "--read-only allows no writes"),
    ] {
        let ended = workspace.run(words).expect(2);
        assert!(ended.err.contains(said), "{words}: {}", ended.err);
    }
    assert!(!workspace.has("qdepth.db"));
}
