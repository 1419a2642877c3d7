//! Ranks on four hosts, started by mpirun over ssh: same counts as a single process, also when a
//! host is lost. A host is a namespace for network, name and clock on this machine, with an SSH
//! server of its own.

use std::fs::{self, File};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::common::{Workspace, counts, has_tools, pause, points, program, sh};
use crate::mpi::{ended_as_failed, launch, read_text};
use serde_json::Value;

const HOSTS: usize = 4;
/// Difference between the clocks of a host and its predecessor, s.
const CLOCKS_APART: usize = 1000;
const TOOLS: [&str; 6] = ["mpirun.openmpi", "ip", "unshare", "ssh", "ssh-keygen", "/usr/sbin/sshd"];

/// The hosts, and the switch that connects them, removed with the workspace.
#[cfg(test)]
struct Hosts {
    names: Vec<String>,
    /// Program that mpirun starts instead of ssh, with options.
    agent: String,
    servers: Vec<Child>,
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for server in &mut self.servers {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

#[cfg(test)]
impl Hosts {
    /// `None`, with the reason printed, if this system does not support them.
    fn new(test: &str, workspace: &Workspace) -> Option<Self> {
        if !has_tools(test, &TOOLS) {
            return None;
        }
        static GROUPS: AtomicU32 = AtomicU32::new(0);
        let group = format!("q{}{}", std::process::id(), GROUPS.fetch_add(1, Relaxed));
        let names: Vec<String> = (1..=HOSTS).map(|host| format!("{group}h{host}")).collect();
        let folder = workspace.path().display();
        for name in names.iter().chain([&group]) {
            workspace.later(format!(
                "ip netns pids {name} | xargs -r kill -KILL; ip netns delete {name}"
            ));
        }
        let mut lines = vec![
            format!("ip netns add {group} && ip -n {group} link add name switch type bridge"),
            format!("ip -n {group} link set switch up"),
            format!("cd {folder} && ssh-keygen -q -t ed25519 -N '' -f key && mkdir -p /run/sshd"),
        ];
        for (host, name) in (1..).zip(&names) {
            lines.extend([
                format!("ip netns add {name} && ip -n {name} link set lo up"),
                format!("ip link add name cable netns {name} type veth peer p{host} netns {group}"),
                format!("ip -n {group} link set p{host} master switch up"),
                format!("ip -n {name} address add {}/24 dev cable", address(host)),
                format!("ip -n {name} link set cable up"),
            ]);
        }
        for line in lines {
            if let Err(why) = sh(&line) {
                println!("SKIPPED: {test}: {why}");
                return None;
            }
        }
        let agent = format!(
            "ssh -q -i {folder}/key -o BatchMode=yes -o StrictHostKeyChecking=no -o \
             UserKnownHostsFile=/dev/null"
        );
        let mut hosts = Self { names, agent, servers: Vec::new() };
        for host in 1..=HOSTS {
            let server = hosts.serve(host, workspace);
            hosts.servers.push(server);
        }
        Some(hosts)
    }

    /// Starts the SSH server of a host, and waits until it answers.
    fn serve(&self, host: usize, workspace: &Workspace) -> Child {
        let (name, address, folder) =
            (&self.names[host - 1], address(host), workspace.path().display());
        let server = format!(
            "hostname {name}; exec /usr/sbin/sshd -D -f /dev/null -h {folder}/key -E \
             {folder}/sshd.{host} -o ListenAddress={address} -o PidFile=none -o UsePAM=no -o \
             StrictModes=no -o PermitRootLogin=yes -o AuthorizedKeysFile={folder}/key.pub"
        );
        let apart = (host * CLOCKS_APART).to_string();
        let started = Command::new("ip")
            .args(["netns", "exec", name, "unshare", "--uts", "--fork"])
            .args(["--time", "--monotonic", &apart, "sh", "-c", &server])
            .stdin(Stdio::null())
            .stdout(File::create(workspace.join("sshd.out")).unwrap())
            .stderr(File::create(workspace.join("sshd.err")).unwrap())
            .spawn()
            .unwrap();
        let login = format!("ip netns exec {name} {} {address} hostname", self.agent);
        let began = Instant::now();
        while sh(&login).as_deref() != Ok(name) {
            let log = fs::read_to_string(workspace.join(&format!("sshd.{host}")));
            assert!(began.elapsed() < Duration::from_secs(20), "{:?}: {log:?}", sh(&login));
            pause(50);
        }
        started
    }

    /// Runs this command line on a host, as a user who logs in.
    fn login(&self, host: usize, line: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[host - 1]]);
        command.args(self.agent.split_whitespace()).args([&address(host), line]);
        command
    }

    /// Two ranks on each host, started from the first.
    fn start(&self, workspace: &Workspace, words: &str) -> Child {
        let all: Vec<String> = (1..=HOSTS).map(|host| format!("{}:2", address(host))).collect();
        let folder = workspace.path().display();
        let line = format!(
            "cd {folder} && export QDEPTH_MPI={folder}/libqdepth-mpi-openmpi.so \
             OMPI_MCA_orte_tmpdir_base={folder}/session && exec mpirun.openmpi \
             --allow-run-as-root --oversubscribe --enable-recovery --mca \
             odls_base_sigkill_timeout 8 --mca plm_rsh_agent '{}' --mca btl tcp,self --mca \
             btl_tcp_if_include cable --mca oob_tcp_if_include cable --host {} -x QDEPTH_MPI {} \
             {words}",
            self.agent,
            all.join(","),
            program()
        );
        launch(workspace, "openmpi", &mut self.login(1, &line))
    }

    /// Bytes that a host has sent over its cable.
    fn sent(&self, host: usize) -> u64 {
        let line = format!("ip -n {} -s -j link show cable", self.names[host - 1]);
        let links: Value = serde_json::from_str(&sh(&line).unwrap()).unwrap();
        links[0]["stats64"]["tx"]["bytes"].as_u64().unwrap()
    }

    fn pull_the_cable(&self, host: usize) {
        sh(&format!("ip -n {} link set cable down", self.names[host - 1])).unwrap();
    }

    /// Kills the two ranks of a host.
    fn kill_ranks(&self, host: usize) {
        let line = format!(
            "ip netns pids {} | xargs -r ps -o pid=,args= -p | grep '[0-9] {} ' | awk '{{print \
             $1}}' | xargs -r kill -KILL",
            self.names[host - 1],
            program()
        );
        sh(&line).unwrap();
    }
}

/// Address of a host, which counts from 1.
fn address(host: usize) -> String {
    format!("10.99.7.{host}")
}

/// Waits until the ranks are connected and about to begin.
#[cfg(test)]
fn until_begun(workspace: &Workspace) {
    let began = Instant::now();
    while !read_text(workspace, "mpi.err").contains("clocks:") {
        let errors = read_text(workspace, "mpi.err");
        assert!(began.elapsed() < Duration::from_secs(60), "{errors}");
        pause(10);
    }
}

#[test]
fn mpi_nodes_count_the_same_as_one_process() {
    let workspace = Workspace::new();
    let test = "mpi_nodes_count_the_same_as_one_process";
    let Some(hosts) = Hosts::new(test, &workspace) else { return };
    fs::create_dir(workspace.join("d")).unwrap();
    let words = "run bandwidth d --threads 3,8 --transfer 64KiB --bytes-per-thread 1MiB --json";
    let single = counts(&workspace.run(words).expect_finished().json());
    assert_eq!(single.len(), 8);
    let before = hosts.sent(2);
    let status = hosts.start(&workspace, words).wait().unwrap();
    let errors = read_text(&workspace, "mpi.err");
    assert!(status.code().is_some_and(|code| code <= 1), "{errors}");
    let document: Value = serde_json::from_str(&read_text(&workspace, "mpi.out")).unwrap();
    assert_eq!(counts(&document), single);
    // The clocks of the first and the last host are 3,000 s apart.
    assert!(errors.contains("differs most from that of rank 0, by +3000000"), "{errors}");
    // Two ranks give their results of eight points, each with histograms.
    let sent = hosts.sent(2) - before;
    assert!(sent > 10_000, "only {sent} bytes went over the cable");
    assert_eq!(fs::read_dir(workspace.join("d")).unwrap().count(), 0);
}

#[test]
fn node_without_network_fails_the_point() {
    let workspace = Workspace::new();
    let test = "node_without_network_fails_the_point";
    let Some(hosts) = Hosts::new(test, &workspace) else { return };
    fs::create_dir(workspace.join("d")).unwrap();
    let words = "run bandwidth d --threads 8 --transfer 64KiB --bytes-per-thread 256MiB \
                 --no-report --logbook pulled.db";
    let mut job = hosts.start(&workspace, words);
    until_begun(&workspace);
    pause(300);
    hosts.pull_the_cable(3);
    // A rank counts as dead after 5 s of silence. How mpirun then handles its other nodes is
    // outside of our control.
    let pulled = Instant::now();
    let errors = || read_text(&workspace, "mpi.err");
    while !errors().contains(&format!("for 5 s (on {})", hosts.names[2])) {
        assert!(pulled.elapsed() < Duration::from_secs(20), "{}", errors());
        pause(20);
    }
    let _ = job.kill();
    let _ = job.wait();
    ended_as_failed(&workspace, "pulled.db");
}

/// Hosts that die or lose their network at drawn moments (`QDEPTH_TRIES`): no stored point has a
/// wrong sum. Open MPI may then abort all ranks, also the leader, even with recovery: such a run
/// counts as killed, and keeps its points.
#[test]
fn lost_hosts_never_cause_a_wrong_sum() {
    let tries = std::env::var("QDEPTH_TRIES").ok().and_then(|text| text.parse().ok()).unwrap_or(2);
    let workspace = Workspace::new();
    fs::create_dir(workspace.join("d")).unwrap();
    let words = "run bandwidth d --threads 8 --transfer 64KiB --bytes-per-thread 8MiB --no-report";
    let single = counts(&workspace.run(&format!("{words} --json")).expect_finished().json());
    let (mut failed, mut named) = (0, 0);
    for number in 0..tries {
        let workspace = Workspace::new();
        let test = "lost_hosts_never_cause_a_wrong_sum";
        let Some(hosts) = Hosts::new(test, &workspace) else { return };
        fs::create_dir(workspace.join("d")).unwrap();
        let mut job = hosts.start(&workspace, &format!("{words} --logbook lost.db"));
        until_begun(&workspace);
        pause(number * 397 % 2000);
        let host = 2 + number as usize % (HOSTS - 1);
        match number % 2 {
            0 => hosts.kill_ranks(host),
            _ => hosts.pull_the_cable(host),
        }
        let began = Instant::now();
        while job.try_wait().unwrap().is_none() && began.elapsed() < Duration::from_secs(15) {
            pause(20);
        }
        let _ = job.kill();
        let _ = job.wait();
        let kept = workspace.run("export latest --logbook lost.db").expect(0).json();
        let whole = |point: &&Value| point["ended_by"] != "failure";
        for point in points(&kept).iter().filter(whole) {
            let document = serde_json::json!({ "points": [point] });
            let index = point["index"].as_u64().unwrap() as usize;
            assert_eq!(counts(&document)[0], single[index], "{number}: {point:#}");
        }
        failed += u64::from(kept["run"]["state"] == "failed");
        named += u64::from(read_text(&workspace, "mpi.err").contains(&hosts.names[host - 1]));
    }
    println!("TRIES lost-hosts {tries} wrong=0 failed={failed} named={named}");
}
