//! `qdepth host` as a user runs it.

mod common;

use common::qdepth;

#[test]
fn a_recorded_machine_tells_what_the_machine_told() {
    let folder = tempfile::tempdir().unwrap();
    let here = qdepth(folder.path(), &["host", "--json", "--record", "machine.txt"]).expect(0).json();
    assert_eq!(here["schema"]["name"], "qdepth-host");
    let facts = |document: &serde_json::Value| document["observations"].as_array().unwrap().clone();
    assert!(facts(&here).len() > 30);
    let again = qdepth(folder.path(), &["host", "--json", "--recorded", "machine.txt"]).expect(0).json();
    for (then, now) in facts(&here).iter().zip(facts(&again)) {
        // What statfs(2) says is no file's text, and not held.
        if then["key"] != "block_size_bytes" {
            assert_eq!(*then, now);
        }
    }
    let told = qdepth(folder.path(), &["host"]).expect(0);
    assert!(told.out.contains("Machine") && told.out.contains("Unknown"), "{}", told.out);
}

#[test]
fn what_is_no_recording_is_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("x"), "what is this\n").unwrap();
    let ended = qdepth(folder.path(), &["host", "--recorded", "x"]).expect(2);
    assert!(ended.err.contains("line 1"), "{}", ended.err);
    qdepth(folder.path(), &["host", "--recorded", "nowhere"]).expect(2);
}
