//! `qdepth host` as a user runs it.

#![expect(clippy::disallowed_methods, reason = "tests run the program as a user does")]

#[cfg(test)]
mod common;

use common::Place;

#[test]
fn a_recorded_machine_tells_what_the_machine_told() {
    let bench = Place::new();
    let here = bench.run("host --json --record machine.txt").expect(0).json();
    assert_eq!(here["schema"]["name"], "qdepth-host");
    let facts = |document: &serde_json::Value| document["observations"].as_array().unwrap().clone();
    assert!(facts(&here).len() > 30);
    let again = bench.run("host --json --recorded machine.txt").expect(0).json();
    for (then, now) in facts(&here).iter().zip(facts(&again)) {
        // What statfs(2) says is no file's text, and not held.
        if then["key"] != "block_size_bytes" {
            assert_eq!(*then, now);
        }
    }
    let told = bench.run("host").expect(0);
    assert!(told.out.contains("Machine") && told.out.contains("Unknown"), "{}", told.out);
}

#[test]
fn what_is_no_recording_is_wrong_usage() {
    let bench = Place::new();
    bench.write("x", "what is this\n");
    let ended = bench.run("host --recorded x").expect(2);
    assert!(ended.err.contains("line 1"), "{}", ended.err);
    bench.run("host --recorded nowhere").expect(2);
}
