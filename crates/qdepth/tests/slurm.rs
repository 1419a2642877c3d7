//! The job of docs/recipes/cluster.md under Slurm: a controller and two nodes, all processes of
//! this machine that end with the test.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::{Workspace, counts, has_tools, pause, program, sh, shim};

const PAGE: &str = include_str!("../../../docs/recipes/cluster.md");
const NODES: [&str; 2] = ["node1", "node2"];

/// Slurm configuration of two nodes that share a directory, as in a cluster; other paths are
/// separate for each node.
#[cfg(test)]
fn configuration(place: &Path) -> String {
    let host = sh("hostname -s").unwrap();
    let free = || TcpListener::bind("127.0.0.1:0").unwrap();
    // Sockets stay open until all ports are known, so that no two are equal.
    let ports = [free(), free(), free()];
    let [controller, first, second] = ports.each_ref().map(|p| p.local_addr().unwrap().port());
    let at = place.display();
    let mut text = format!(
        "ClusterName=qdepth\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={controller}\n\
         AuthType=auth/munge\nAuthInfo=socket={at}/munge.socket\nSlurmUser=root\n\
         StateSaveLocation={at}/state\nSlurmdSpoolDir={at}/spool-%n\nTmpFS={at}/tmp-%n\n\
         SlurmctldPidFile={at}/slurmctld.pid\nSlurmdPidFile={at}/%n.pid\n\
         SlurmctldLogFile={at}/slurmctld.log\nSlurmdLogFile={at}/%n.log\n\
         ProctrackType=proctrack/pgid\nTaskPlugin=task/none\n\
         JobAcctGatherType=jobacct_gather/none\n\
         MpiDefault=none\nSlurmdParameters=config_overrides\nReturnToService=2\n\
         SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
         PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
    );
    for (node, port) in NODES.iter().zip([first, second]) {
        let is_here = format!("NodeHostname={host} NodeAddr=127.0.0.1 Port={port}");
        text += &format!("NodeName={node} {is_here} CPUs=8 State=UNKNOWN\n");
    }
    text
}

/// Starts a daemon with a pid file; it ends with the workspace.
#[cfg(test)]
fn daemon(workspace: &Workspace, line: &str, pid: &str) -> Result<String, String> {
    let pid = workspace.join(pid).display().to_string();
    workspace.later(format!(
        "if [ -s {pid} ]; then pid=$(cat {pid}); kill $pid; \
         timeout 20 sh -c \"while kill -0 $pid 2>/dev/null; do sleep 0.1; done\"; fi"
    ));
    sh(line)
}

/// Starts a cluster of two idle nodes, and returns its configuration file, or the reason why this
/// system does not support it.
#[cfg(test)]
fn cluster(workspace: &Workspace) -> Result<String, String> {
    let at = workspace.path().display();
    for folder in ["state", "spool-node1", "spool-node2", "tmp-node1", "tmp-node2"] {
        fs::create_dir(workspace.join(folder)).unwrap();
    }
    fs::write(workspace.join("slurm.conf"), configuration(workspace.path())).unwrap();
    let file = format!("{at}/slurm.conf");
    sh(&format!("umask 077; head -c 1024 /dev/urandom >{at}/key"))?;
    let own = format!("--key-file={at}/key --socket={at}/munge.socket --pid-file={at}/munged.pid");
    let munged = format!("munged --force {own} --log-file={at}/munged.log --seed-file={at}/seed");
    daemon(workspace, &munged, "munged.pid")?;
    daemon(workspace, &format!("slurmctld -f {file}"), "slurmctld.pid")?;
    for node in NODES {
        daemon(workspace, &format!("slurmd -N {node} -f {file}"), &format!("{node}.pid"))?;
    }
    let began = Instant::now();
    let idle = format!("SLURM_CONF={file} sinfo --noheader --states=idle --format=%D");
    while sh(&idle)? != NODES.len().to_string() {
        if began.elapsed() > Duration::from_secs(20) {
            return Err(sh(&format!("SLURM_CONF={file} sinfo; tail -n 3 {at}/*.log"))?);
        }
        pause(100);
    }
    Ok(file)
}

/// Runs a command line under Slurm; returns its exit status and output.
#[cfg(test)]
fn under(workspace: &Workspace, file: &str, kind: &str, line: &str) -> (Option<i32>, String) {
    let output = Command::new("timeout")
        .args(["240", "sh", "-c", line])
        .env("SLURM_CONF", file)
        // The nodes are on one machine: some ranks would take its memory for shared, and others
        // not.
        .env("OMPI_MCA_btl", "tcp,self")
        .env("OMPI_MCA_btl_tcp_if_include", "lo")
        .env("QDEPTH_MPI", shim(workspace, kind))
        .env(
            "PATH",
            format!("{}/bin:{}", workspace.path().display(), std::env::var("PATH").unwrap()),
        )
        .current_dir(workspace.path())
        .output()
        .unwrap();
    let said = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
    (output.status.code(), said.concat())
}

/// Script of the page, with the reader's names replaced by those of the test.
#[cfg(test)]
fn script(workspace: &Workspace) -> String {
    let from = PAGE.find("#!/bin/bash").unwrap();
    let script = PAGE[from..].split("```").next().unwrap();
    let mut script = script.to_owned();
    for (theirs, ours) in [
        ("/lustre/scratch/$USER", workspace.join("d").display().to_string()),
        (
            "--bytes-per-thread 4GiB",
            "--threads 3,8 --transfer 64KiB --bytes-per-thread 1MiB".into(),
        ),
    ] {
        assert!(script.contains(theirs), "{theirs} is not in the script: {script}");
        script = script.replace(theirs, &ours);
    }
    script
}

#[test]
fn documented_slurm_job_counts_like_one_process() {
    let test = "documented_slurm_job_counts_like_one_process";
    let tools = ["munged", "slurmctld", "slurmd", "sbatch", "mpicc.openmpi", "mpicc.mpich"];
    if !has_tools(test, &tools) {
        return;
    }
    let workspace = Workspace::new();
    let file = match cluster(&workspace) {
        Ok(file) => file,
        Err(why) => {
            println!("SKIPPED: {test}: Slurm does not start: {}", why.replace('\n', "; "));
            return;
        }
    };
    for folder in ["d", "bin"] {
        fs::create_dir(workspace.join(folder)).unwrap();
    }
    let qdepth = program();
    // A machine without environment modules has all commands of the page but one.
    fs::write(workspace.join("bin/module"), "#!/bin/sh\n").unwrap();
    sh(&format!("cd {} && chmod +x module && ln -s {qdepth} .", workspace.join("bin").display()))
        .unwrap();
    let words = "run bandwidth d --threads 3,8 --transfer 64KiB --bytes-per-thread 1MiB";
    let single = counts(&workspace.run(&format!("{words} --json")).expect_finished().json());
    assert_eq!(single.len(), 8);

    workspace.write("job.sh", &script(&workspace));
    let submit = "sbatch --wait --nodes=2 --ntasks-per-node=2 --output=job.out job.sh";
    let (status, said) = under(&workspace, &file, "openmpi", submit);
    let told = fs::read_to_string(workspace.join("job.out")).unwrap_or_default();
    assert!(status.is_some_and(|code| code <= 1), "{said}{told}");
    let clocks = told.lines().filter(|line| line.contains("clocks: the clock of rank"));
    assert!(clocks.count() > 0, "{told}");
    let kept = workspace.run("export latest --logbook bandwidth.db").expect(0).json();
    assert_eq!(counts(&kept), single, "{told}");

    // Results are read from the logbook, because srun may truncate long output.
    let line = format!("srun --mpi=pmi2 --nodes=2 --ntasks=4 qdepth {words} --logbook mpich.db");
    let (status, said) = under(&workspace, &file, "mpich", &line);
    assert!(status.is_some_and(|code| code <= 1), "{said}");
    let kept = workspace.run("export latest --logbook mpich.db").expect(0).json();
    assert_eq!(counts(&kept), single, "{said}");

    // Without a protocol, MPI would consider each rank alone, and each would measure everything.
    let unknown = format!("srun --nodes=2 --ntasks=4 qdepth {words} --logbook none.db");
    let (status, said) = under(&workspace, &file, "mpich", &unknown);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("started 4 ranks, but MPI sees 1"), "{said}");
    assert!(!workspace.has("none.db"));
    assert_eq!(fs::read_dir(workspace.join("d")).unwrap().count(), 0);
}
