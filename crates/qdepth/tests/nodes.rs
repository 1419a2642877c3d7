//! Ranks on two nodes: network namespaces of this machine with a cable between them, which can be
//! pulled.

#![expect(clippy::disallowed_methods, reason = "tests run the program as a user does")]

#[cfg(test)]
mod common;

use std::fs::{self, File};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use common::{Place, alone, can, pause, points, sh};
use serde_json::Value;

/// Addresses of the nodes; the first starts the ranks.
const ADDRESSES: [&str; 2] = ["10.99.7.1", "10.99.7.2"];

/// Two network namespaces and the cable between them, gone with the place.
#[cfg(test)]
struct Nodes {
    names: [String; 2],
}

#[cfg(test)]
impl Nodes {
    /// None, with the reason said, where this system cannot have them.
    fn new(test: &str, place: &Place) -> Option<Self> {
        let names = ["a", "b"].map(|end| format!("qd{}{end}", std::process::id()));
        let [a, b] = &names;
        let mut lines = Vec::new();
        for name in &names {
            place.later(format!(
                "ip netns pids {name} | xargs -r kill -KILL; ip netns delete {name}"
            ));
            lines.push(format!("ip netns add {name}"));
        }
        lines.push(format!("ip link add {a} netns {a} type veth peer name {b} netns {b}"));
        for (name, address) in names.iter().zip(ADDRESSES) {
            lines.push(format!("ip -n {name} address add {address}/24 dev {name}"));
            lines.push(format!("ip -n {name} link set lo up"));
            lines.push(format!("ip -n {name} link set {name} up"));
        }
        for line in lines {
            if let Err(why) = sh(&line) {
                println!("SKIPPED: {test}: {why}");
                return None;
            }
        }
        Some(Self { names })
    }

    /// Two ranks on each node.
    fn start(&self, place: &Place, words: &str) -> Child {
        let [a, b] = &self.names;
        let shim = place.join("libqdepth-mpi.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../qdepth-linux/shim/qdepth-mpi.c");
        sh(&format!("mpicc.openmpi -shared -fPIC -O2 -o {} {source}", shim.display())).unwrap();
        // What mpirun calls in place of ssh, with a node and a command line.
        let agent = place.join("agent");
        let enter = format!("exec ip netns exec {b} unshare --uts");
        let script =
            format!("#!/bin/sh\nshift\n{enter} sh -c 'hostname {b}; exec sh -c \"$0\"' \"$*\"\n");
        fs::write(&agent, script).unwrap();
        sh(&format!("chmod +x {}", agent.display())).unwrap();
        let [first, second] = ADDRESSES;
        let only = format!("{first}/24");
        let launch = format!(
            "exec mpirun.openmpi --allow-run-as-root --oversubscribe --mca plm_rsh_agent {} --mca btl tcp,self --mca btl_tcp_if_include {only} --mca oob_tcp_if_include {only} --host {a}:2,{second}:2 -x QDEPTH_MPI {} {words}",
            agent.display(),
            env!("CARGO_BIN_EXE_qdepth"),
        );
        let file = |name: &str| File::create(place.join(name)).unwrap();
        Command::new("ip")
            .args(["netns", "exec", a, "unshare", "--uts", "sh", "-c"])
            .arg(format!("hostname {a}; {launch}"))
            .env("QDEPTH_MPI", &shim)
            .current_dir(place.path())
            .stdout(file("mpi.out"))
            .stderr(file("mpi.err"))
            .spawn()
            .unwrap()
    }

    /// Bytes that the second node has sent over the cable.
    fn sent(&self) -> u64 {
        let name = &self.names[1];
        let line = format!("ip -n {name} -s -j link show {name}");
        let links: Value = serde_json::from_str(&sh(&line).unwrap()).unwrap();
        links[0]["stats64"]["tx"]["bytes"].as_u64().unwrap()
    }

    fn pull_the_cable(&self) {
        let name = &self.names[1];
        sh(&format!("ip -n {name} link set {name} down")).unwrap();
    }
}

#[cfg(test)]
fn said(place: &Place, name: &str) -> String {
    fs::read_to_string(place.join(name)).unwrap()
}

#[cfg(test)]
const TOOLS: &[&str] = &["mpirun.openmpi", "ip", "unshare"];

/// How often, and how much: what must be equal to a single process's.
#[cfg(test)]
fn counts(document: &Value) -> Vec<[u64; 5]> {
    let names = ["streams", "reads", "writes", "read_bytes", "written_bytes"];
    let of = |point: &Value| names.map(|name| point[name].as_u64().unwrap());
    points(document).iter().map(of).collect()
}

#[test]
fn two_nodes_count_what_one_process_counts() {
    let test = "two_nodes_count_what_one_process_counts";
    if !can(test, TOOLS) {
        return;
    }
    let (_alone, place) = (alone(), Place::new());
    let Some(nodes) = Nodes::new(test, &place) else { return };
    fs::create_dir(place.join("d")).unwrap();
    let words = "run bandwidth d --threads 3,8 --transfer 64KiB --bytes-per-thread 1MiB --json";
    let single = counts(&place.run(words).expect_finished().json());
    assert_eq!(single.len(), 8);
    let before = nodes.sent();
    let status = nodes.start(&place, words).wait().unwrap();
    let told = said(&place, "mpi.err");
    assert!(status.code().is_some_and(|code| code <= 1), "{told}");
    let document: Value = serde_json::from_str(&said(&place, "mpi.out")).unwrap();
    assert_eq!(counts(&document), single);
    assert!(told.contains("clocks: that of rank"), "{told}");
    // Two ranks give their books of eight points, each with histograms.
    let sent = nodes.sent() - before;
    assert!(sent > 10_000, "only {sent} bytes went over the cable");
    assert_eq!(fs::read_dir(place.join("d")).unwrap().count(), 0);
}

#[test]
fn a_node_without_its_cable_ends_the_point_as_failed() {
    let test = "a_node_without_its_cable_ends_the_point_as_failed";
    if !can(test, TOOLS) {
        return;
    }
    let (_alone, place) = (alone(), Place::new());
    let Some(nodes) = Nodes::new(test, &place) else { return };
    fs::create_dir(place.join("d")).unwrap();
    let words = "run bandwidth d --threads 4 --transfer 64KiB --bytes-per-thread 512MiB --no-report --logbook pulled.db";
    let mut job = nodes.start(&place, words);
    let waited = Instant::now();
    while !said(&place, "mpi.err").contains("clocks:") {
        assert!(waited.elapsed() < Duration::from_secs(60), "{}", said(&place, "mpi.err"));
        pause(10);
    }
    pause(300);
    nodes.pull_the_cable();
    // A rank is taken for dead after 5 s of silence. What mpirun does then without its other node is
    // not for us to say.
    let pulled = Instant::now();
    while !said(&place, "mpi.err").contains("of 4 is lost: it has been silent") {
        assert!(pulled.elapsed() < Duration::from_secs(20), "{}", said(&place, "mpi.err"));
        pause(20);
    }
    let _ = job.kill();
    let _ = job.wait();
    let kept = place.run("export latest --logbook pulled.db").expect(0).json();
    assert_eq!(kept["run"]["state"], "failed", "{}", said(&place, "mpi.err"));
    assert_eq!(points(&kept).last().unwrap()["ended_by"], "failure", "{kept:#}");
    let moved = |point: &Value| point["written_bytes"].as_u64().unwrap();
    assert!(points(&kept).iter().map(moved).sum::<u64>() > 0, "{kept:#}");
}
