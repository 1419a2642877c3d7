//! What is taken back on a real machine, and is busy at first.

#[cfg(test)]
#[expect(dead_code, reason = "no test file uses all of it")]
mod common;

use std::fs::{self, File};
use std::time::Duration;

use common::{Bench, is_root, sh};
use qdepth_host::prepare::journal::Journal;
use qdepth_host::prepare::{Action, Condition, Node, Place, Tool, Undo, Undone, undo_all};

#[test]
fn a_mount_that_is_busy_for_a_moment_is_taken_back() {
    if !is_root() {
        println!("SKIPPED: a_mount_that_is_busy_for_a_moment_is_taken_back: not root");
        return;
    }
    let bench = Bench::new();
    let place = bench.fresh("mount");
    fs::create_dir(&place).unwrap();
    let at = place.display().to_string();
    sh(&format!("mount -t tmpfs qdepth-test {at}")).unwrap();
    bench.later(format!("! mountpoint -q {at} || umount -l {at}"));
    let held = File::create(place.join("held")).unwrap();
    let path = bench.fresh("undo.jsonl");
    let mut journal = Journal::open(&path).unwrap();
    let at = Place::try_from(at).unwrap();
    let device = Node::try_from("/dev/none".to_owned()).unwrap();
    let action = Action::run(Tool::Umount, [(&at).into()]);
    journal.intend(&Undo::new(Condition::Mounted { at, device }, action)).unwrap();
    let (sender, told) = std::sync::mpsc::channel();
    let system = bench.system.clone();
    let undoing = std::thread::spawn(move || {
        let _ = sender.send(undo_all(&system, &mut journal).unwrap());
    });
    // While it is held it is tried again and again, and not given up.
    assert!(told.recv_timeout(Duration::from_millis(700)).is_err(), "given up while it is held");
    drop(held);
    let told = told.recv_timeout(Duration::from_secs(30)).unwrap();
    undoing.join().unwrap();
    assert!(matches!(told.as_slice(), [Undone::Done(_)]), "{told:?}");
    assert!(!path.exists(), "the journal goes with its last entry");
}
