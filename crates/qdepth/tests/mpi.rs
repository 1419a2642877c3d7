//! Several ranks under mpirun: same counts as a single process, and no hang when a rank dies.

use std::fs::{self, File};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::common::{
    Workspace, counts, exclusive_turn, has_tools, pause, points, program, sh, shim,
};
use serde_json::Value;

/// The program under mpirun, with its shim compiled.
#[cfg(test)]
fn under_mpi(workspace: &Workspace, kind: &str, ranks: u32, words: &str) -> Child {
    let qdepth = program();
    launched(workspace, kind, &format!("-n {ranks} {qdepth} {words}"))
}

/// Starts a launcher of ranks, with its output in files of the workspace.
#[cfg(test)]
pub(crate) fn launch(workspace: &Workspace, kind: &str, launcher: &mut Command) -> Child {
    let file = |name: &str| File::create(workspace.join(name)).unwrap();
    // Launchers that start at the same time race for a common session folder, and one fails.
    let session = workspace.join("session");
    fs::create_dir_all(&session).unwrap();
    launcher
        .env("OMPI_MCA_orte_tmpdir_base", session)
        .env("QDEPTH_MPI", shim(workspace, kind))
        // mpirun waits this long after the death of a rank before it kills the others. The default
        // of 1 s is too short for the logbook if the disk is busy.
        .env("OMPI_MCA_odls_base_sigkill_timeout", "8")
        .current_dir(workspace.path())
        .stdout(file("mpi.out"))
        .stderr(file("mpi.err"))
        .spawn()
        .unwrap()
}

/// A launcher of this kind with these words.
#[cfg(test)]
fn launched(workspace: &Workspace, kind: &str, words: &str) -> Child {
    let freely = if kind == "openmpi" { "--oversubscribe --allow-run-as-root" } else { "" };
    let mut launcher = Command::new(format!("mpirun.{kind}"));
    launcher.args(freely.split_whitespace()).args(words.split_whitespace());
    launch(workspace, kind, &mut launcher)
}

#[cfg(test)]
pub(crate) fn read_text(workspace: &Workspace, name: &str) -> String {
    fs::read_to_string(workspace.join(name)).unwrap()
}

/// Exit status and output of the program with this cache directory, under mpirun or alone.
#[cfg(test)]
fn with_cache(workspace: &Workspace, cache: &str, launcher: &str, words: &str) -> (i32, String) {
    let line = format!("{launcher} {} {words} 2>&1", program());
    let output = Command::new("sh")
        .args(["-c", &line])
        .env("XDG_CACHE_HOME", workspace.join(cache))
        .current_dir(workspace.path())
        .output()
        .unwrap();
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn mpi_shim_is_loaded_only_from_user_cache() {
    let test = "mpi_shim_is_loaded_only_from_user_cache";
    if !has_tools(test, &["mpirun.openmpi", "mpicc.openmpi"]) {
        return;
    }
    let workspace = Workspace::new();
    fs::create_dir(workspace.join("d")).unwrap();
    let mpirun = "mpirun.openmpi --oversubscribe --allow-run-as-root -n 2";
    let run = "run bandwidth d --threads 2 --transfer 64KiB --bytes-per-thread 64KiB --no-report";
    let (status, none) = with_cache(&workspace, "cache", mpirun, run);
    assert!(status > 1 && none.contains("qdepth host mpi"), "{status}: {none}");
    assert!(!workspace.has("cache"), "looking for it makes nothing");
    let make = "host mpi --mpicc mpicc.openmpi";
    let (status, made) = with_cache(&workspace, "cache", "env", make);
    assert_eq!(status, 0, "{made}");
    let shim = workspace.join("cache/qdepth").join(concat!(
        "libqdepth-mpi-",
        env!("CARGO_PKG_VERSION"),
        ".so"
    ));
    assert!(made.contains(&*shim.to_string_lossy()), "{made}");
    let mode = |path: &std::path::Path| {
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions()) & 0o7777
    };
    assert_eq!((mode(&shim), mode(shim.parent().unwrap())), (0o755, 0o700));
    let beside = std::path::Path::new(env!("CARGO_BIN_EXE_qdepth")).parent().unwrap();
    assert!(!beside.join("libqdepth-mpi.so").exists(), "nothing lies beside the program");
    // On a busy machine it may end with a finding, and status 1.
    let (status, ran) = with_cache(&workspace, "cache", mpirun, run);
    assert!(status <= 1 && ran.contains("clocks: the clock of rank"), "{status}: {ran}");
    // The new shim replaces the older one.
    let (status, again) = with_cache(&workspace, "cache", "env", make);
    assert_eq!(status, 0, "{again}");
    // A file that another user may have placed there is neither loaded nor replaced.
    let refused = |why: &str| {
        for (launcher, words) in [(mpirun, run), ("env", make)] {
            let (status, said) = with_cache(&workspace, "cache", launcher, words);
            let refused = status > 1 && said.contains(why) && !said.contains("clocks:");
            assert!(refused, "{words} ended with {status}: {said}");
        }
    };
    let at = shim.display();
    sh(&format!("chmod 666 {at}")).unwrap();
    refused("users other than its owner");
    sh(&format!("chmod 755 {at}; chown 65534 {at}")).unwrap();
    refused("user 65534");
    sh(&format!("chown 0 {at}; chmod 777 {}", workspace.join("cache/qdepth").display())).unwrap();
    refused("users other than its owner");
    sh(&format!(
        "cd {} && chmod 700 qdepth && chown 65534 qdepth",
        workspace.join("cache").display()
    ))
    .unwrap();
    refused("user 65534");
    // A cache that cannot be written to.
    fs::write(workspace.join("file"), "").unwrap();
    let (status, said) = with_cache(&workspace, "file", "env", make);
    assert!(status > 1 && said.contains("file"), "{status}: {said}");
}

#[test]
fn mpi_ranks_count_the_same_as_one_process() {
    if !has_tools("mpi_ranks_count_the_same_as_one_process", &["mpirun.openmpi", "mpirun.mpich"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    fs::create_dir(workspace.join("d")).unwrap();
    let words = "run bandwidth d --threads 3,8 --transfer 64KiB --bytes-per-thread 1MiB --json";
    let single = counts(&workspace.run(words).expect_finished().json());
    assert_eq!(single.len(), 8);
    for (kind, ranks) in [("openmpi", 2), ("openmpi", 4), ("openmpi", 8), ("mpich", 4)] {
        let status = under_mpi(&workspace, kind, ranks, words).wait().unwrap();
        let told = read_text(&workspace, "mpi.err");
        assert!(status.code().is_some_and(|code| code <= 1), "{kind} {ranks}: {told}");
        let document: Value = serde_json::from_str(&read_text(&workspace, "mpi.out")).unwrap();
        assert_eq!(counts(&document), single, "{kind}, {ranks} ranks");
        assert!(told.contains("clocks: the clock of rank"), "{told}");
        assert_eq!(fs::read_dir(workspace.join("d")).unwrap().count(), 0, "{kind} {ranks}");
    }
}

#[test]
fn live_figures_cover_all_ranks() {
    if !has_tools("live_figures_cover_all_ranks", &["mpirun.openmpi"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    fs::create_dir(workspace.join("d")).unwrap();
    let words = "run bandwidth d --threads 3 --transfer 16KiB --bytes-per-thread 48MiB \
                 --events e.jsonl --json";
    let status = under_mpi(&workspace, "openmpi", 3, words).wait().unwrap();
    let told = read_text(&workspace, "mpi.err");
    assert!(status.code().is_some_and(|code| code <= 1), "{told}");
    let document: Value = serde_json::from_str(&read_text(&workspace, "mpi.out")).unwrap();
    let events: Vec<Value> = read_text(&workspace, "e.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let named = |name: &str| events.iter().filter(|e| e["event"] == name).collect::<Vec<_>>();
    for point in points(&document) {
        let slices = named("sample").into_iter().filter(|slice| slice["point"] == point["index"]);
        let (mut live, mut last) = (0, 0);
        for slice in slices {
            live += counts_of(slice);
            assert!(slice["end_ns"].as_u64().unwrap() > last, "in the order of time: {slice}");
            last = slice["end_ns"].as_u64().unwrap();
        }
        let all = counts_of(point);
        // A sample that arrives while the screen lags is lost for the screen only.
        assert!(live <= all && live * 20 >= all * 19, "{live} of {all} I/Os were told");
    }
    let machines = named("machine");
    assert!(!machines.is_empty(), "{} events", events.len());
    let busy = |e: &&&Value| e["values"]["cpu busy_share"].as_f64().is_some_and(|b| b <= 1.0);
    assert!(machines.iter().all(|machine| busy(&machine)), "{machines:?}");
    let hosts: Vec<&Value> = machines.iter().map(|machine| &machine["host"]).collect();
    assert!(hosts.windows(2).all(|pair| pair[0] == pair[1]), "one machine: {hosts:?}");
    assert!(machines.iter().any(|machine| machine["io_per_s"].as_f64() > Some(0.0)));
}

/// I/Os of a point of a document.
#[cfg(test)]
fn counts_of(point: &Value) -> u64 {
    ["reads", "writes"].map(|name| point[name].as_u64().unwrap()).iter().sum()
}

#[test]
fn shared_file_is_written_by_all_ranks() {
    if !has_tools("shared_file_is_written_by_all_ranks", &["mpirun.openmpi"]) {
        return;
    }
    let workspace = Workspace::new();
    let words = "ior --no-report -e -k -t 64k -b 128k -s 4 -o shared";
    let status = under_mpi(&workspace, "openmpi", 4, words).wait().unwrap();
    let told = read_text(&workspace, "mpi.out");
    assert!(status.code().is_some_and(|code| code <= 1), "{}", read_text(&workspace, "mpi.err"));
    assert!(told.contains("tasks               : 4"), "{told}");
    let whole = fs::read(workspace.join("shared")).unwrap();
    assert_eq!(whole.len(), (4 * 4 * 128) << 10);
    assert!(whole.chunks(64 << 10).all(|piece| piece.iter().any(|byte| *byte != 0)));
}

/// Asserts that the run of a team that lost a rank has failed in its last point and keeps its
/// earlier data. A slow machine may notice the loss only after the first point.
#[cfg(test)]
pub(crate) fn ended_as_failed(workspace: &Workspace, logbook: &str) {
    let kept = workspace.run(&format!("export latest --logbook {logbook}")).expect(0).json();
    assert_eq!(kept["run"]["state"], "failed", "{logbook}: {}", read_text(workspace, "mpi.err"));
    assert_eq!(points(&kept).last().unwrap()["ended_by"], "failure", "{kept:#}");
    let moved = |point: &Value| point["written_bytes"].as_u64().unwrap();
    assert!(points(&kept).iter().map(moved).sum::<u64>() > 0, "{kept:#}");
}

/// Waits for the ranks of a job to begin; fails if it ends before.
#[cfg(test)]
fn until_measured(workspace: &Workspace, job: &mut Child) {
    while !read_text(workspace, "mpi.err").contains("clocks:") {
        let ended = job.try_wait().unwrap();
        assert_eq!(ended, None, "before it began: {}", read_text(workspace, "mpi.err"));
        pause(10);
    }
}

/// Bytes that a process has written to storage.
#[cfg(test)]
fn written(pid: &str) -> u64 {
    let counters = fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
    let line = counters.lines().find_map(|line| line.strip_prefix("write_bytes: ")).unwrap();
    line.parse().unwrap()
}

#[test]
fn killed_rank_fails_the_point() {
    if !has_tools("killed_rank_fails_the_point", &["mpirun.openmpi", "pgrep"]) {
        return;
    }
    let _alone = exclusive_turn();
    // Most of its time mpirun waits for the ranks that are left.
    for moments in (0..20_u64).collect::<Vec<_>>().chunks(10) {
        std::thread::scope(|scope| {
            for moment in moments {
                scope.spawn(|| kill_a_rank(*moment));
            }
        });
    }
}

/// Kills one of four ranks at one of twenty moments of the first point, of which each rank writes
/// 128 MiB.
#[cfg(test)]
fn kill_a_rank(moment: u64) {
    let workspace = Workspace::new();
    fs::create_dir(workspace.join("d")).unwrap();
    let words = "run bandwidth d --threads 4 --transfer 64KiB --bytes-per-thread 128MiB \
                 --no-report --logbook killed.db";
    let mut job = under_mpi(&workspace, "openmpi", 4, words);
    until_measured(&workspace, &mut job);
    let children = sh(&format!("pgrep -P {}", job.id())).unwrap();
    let ranks: Vec<&str> = children.lines().collect();
    while written(ranks[0]) < (1 + moment * 5) << 20 {
        pause(1);
    }
    let victim = ranks[1 + moment as usize % 3];
    sh(&format!("kill -KILL {victim}")).unwrap();
    let began = Instant::now();
    while job.try_wait().unwrap().is_none() {
        let waited = began.elapsed();
        assert!(waited < Duration::from_secs(20), "hangs: {}", read_text(&workspace, "mpi.err"));
        pause(20);
    }
    ended_as_failed(&workspace, "killed.db");
}

/// Interrupting all ranks is not a loss of ranks: the run is kept, and reports the interruption.
#[test]
fn interrupt_of_all_ranks_is_not_a_failure() {
    if has_tools("interrupt_of_all_ranks_is_not_a_failure", &["mpirun.openmpi", "pgrep"]) {
        interrupted(3);
    }
}

/// For example if a user interrupts the one process that shows output.
#[test]
fn interrupt_of_leader_is_not_a_failure() {
    if has_tools("interrupt_of_leader_is_not_a_failure", &["mpirun.openmpi", "pgrep"]) {
        interrupted(1);
    }
}

/// Run of three ranks, of which the first `ranks` are interrupted.
#[cfg(test)]
fn interrupted(ranks: usize) {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    workspace.write("plan.toml", &reading(4).replace("bytes_per_stream = \"4MiB\"\n", ""));
    fs::write(workspace.join("file"), vec![1; 16 << 20]).unwrap();
    let words = "run plan.toml file --no-report --logbook stopped.db";
    let mut job = under_mpi(&workspace, "openmpi", 3, words);
    until_measured(&workspace, &mut job);
    pause(1500);
    let children = sh(&format!("pgrep -P {}", job.id())).unwrap();
    let first: Vec<&str> = children.lines().take(ranks).collect();
    sh(&format!("kill -INT {}", first.join(" "))).unwrap();
    job.wait().unwrap();
    let kept = workspace.run("export latest --logbook stopped.db").expect(0).json();
    let said = read_text(&workspace, "mpi.err");
    assert_eq!(kept["run"]["state"], "interrupted", "{said}");
}

/// A problem on the machine of a rank without the logbook becomes a finding with the rank's name.
#[test]
fn stopped_rank_is_found_and_named() {
    if !has_tools("stopped_rank_is_found_and_named", &["mpirun.openmpi", "pgrep"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    fs::create_dir(workspace.join("d")).unwrap();
    let words = "run bandwidth d --threads 2 --transfer 64KiB --bytes-per-thread 96MiB --json";
    let mut job = under_mpi(&workspace, "openmpi", 2, words);
    until_measured(&workspace, &mut job);
    let children = sh(&format!("pgrep -P {}", job.id())).unwrap();
    let follower = children.lines().nth(1).unwrap().to_owned();
    while written(&follower) < 4 << 20 {
        pause(1);
    }
    sh(&format!("kill -STOP {follower}")).unwrap();
    pause(1500);
    sh(&format!("kill -CONT {follower}")).unwrap();
    let status = job.wait().unwrap();
    assert_eq!(status.code(), Some(1), "{}", read_text(&workspace, "mpi.err"));
    let document: Value = serde_json::from_str(&read_text(&workspace, "mpi.out")).unwrap();
    let stopped: Vec<&Value> = points(&document)
        .iter()
        .flat_map(|point| point["findings"].as_array().unwrap())
        .filter(|finding| finding["code"] == "generator-stopped")
        .collect();
    let of_follower = |finding: &&&Value| {
        finding["labels"]["rank"].as_str().is_some_and(|rank| rank.starts_with("1 ("))
    };
    let found = stopped.iter().find(of_follower).unwrap_or_else(|| panic!("{stopped:?}"));
    assert!(found["values"]["longest_ns"].as_f64() > Some(1e9), "{found}");
}

#[test]
fn guard_refusal_on_one_rank_stops_all_ranks() {
    let name = "guard_refusal_on_one_rank_stops_all_ranks";
    if !has_tools(name, &["mpirun.openmpi"]) {
        return;
    }
    let workspace = Workspace::new();
    for node in ["a", "b"] {
        fs::create_dir_all(workspace.join(node).join("d")).unwrap();
    }
    // Like two nodes that see different storage under one name.
    let foreign = workspace.join("b/d/qdepth-bandwidth.00000000");
    fs::write(&foreign, "the only copy").unwrap();
    let qdepth = program();
    let words = "run bandwidth d --threads 2 --transfer 64KiB --bytes-per-thread 1MiB --no-report";
    let on = |node: &str, ranks: u32| {
        format!("-n {ranks} --wdir {} {qdepth} {words}", workspace.join(node).display())
    };
    let status =
        launched(&workspace, "openmpi", &format!("{} : {}", on("a", 2), on("b", 1))).wait();
    let told = read_text(&workspace, "mpi.err");
    assert_eq!(status.unwrap().code(), Some(3), "{told}");
    assert!(told.contains("rank 2 of 3: refused by guard G8, nothing was changed"), "{told}");
    assert_eq!(fs::read_to_string(foreign).unwrap(), "the only copy");
    assert_eq!(fs::read_dir(workspace.join("a/d")).unwrap().count(), 0);
}

/// Plan that only reads, on this number of streams.
#[cfg(test)]
fn reading(streams: u32) -> String {
    format!(
        "name = \"reading\"\nqueue_depth = [4]\nwarm_up = \"0s\"\nduration = \"60s\"\n\
         bytes_per_stream = \"4MiB\"\n[[profile]]\nname = \"load\"\nrandom = 100\nread = 100\n\
         block_size = \"4KiB\"\nstreams = {streams}\ndirect = false\n"
    )
}

#[test]
fn ranks_share_files_only_for_reading() {
    let name = "ranks_share_files_only_for_reading";
    if !has_tools(name, &["mpirun.openmpi"]) {
        return;
    }
    let workspace = Workspace::new();
    workspace.write("plan.toml", &reading(4));
    fs::write(workspace.join("file"), vec![1; 16 << 20]).unwrap();
    let words = "run plan.toml file --json --no-report";
    let single = counts(&workspace.run(words).expect_finished().json());
    assert_eq!(single, [[4, 4096, 0, 16 << 20, 0]]);
    let status = under_mpi(&workspace, "openmpi", 3, words).wait().unwrap();
    let told = read_text(&workspace, "mpi.err");
    assert!(status.code().is_some_and(|code| code <= 1), "{told}");
    let document: Value = serde_json::from_str(&read_text(&workspace, "mpi.out")).unwrap();
    assert_eq!(counts(&document), single, "{told}");
    for (words, why) in [
        ("run quick file", "a process that writes to a file or device locks it"),
        ("run quick .", "only one process can create and fill a measurement file"),
        ("run plan.toml file --cpus 0", "pin the ranks with the launcher"),
        ("run --resume", "a run with several ranks cannot be resumed"),
        (
            "answer file --profile random-4k-read --at p99=1ms --read-only --logbook none.db",
            "only one process can search for a rate",
        ),
    ] {
        let status = under_mpi(&workspace, "openmpi", 2, words).wait().unwrap();
        let told = read_text(&workspace, "mpi.err");
        assert_eq!(status.code(), Some(2), "{words}: {told}");
        assert!(told.contains(why), "{words}: {told}");
    }
    assert_eq!(fs::read(workspace.join("file")).unwrap(), vec![1; 16 << 20]);
    assert!(!workspace.has("none.db"), "a run was begun before it was refused");
}

#[test]
fn virtual_time_is_independent_of_rank_count() {
    if !has_tools("virtual_time_is_independent_of_rank_count", &["mpirun.openmpi"]) {
        return;
    }
    let workspace = Workspace::new();
    let words = "run latency media:p3700-800gb --duration 50ms --json --no-report";
    let single = workspace.run(words).expect(0).json();
    let status = under_mpi(&workspace, "openmpi", 3, words).wait().unwrap();
    assert_eq!(status.code(), Some(0), "{}", read_text(&workspace, "mpi.err"));
    let document: Value = serde_json::from_str(&read_text(&workspace, "mpi.out")).unwrap();
    assert_eq!(document["run"]["plan_hash"], single["run"]["plan_hash"]);
    assert_eq!(counts(&document), counts(&single));
}

#[test]
fn mpi_of_another_launcher_is_refused() {
    let name = "mpi_of_another_launcher_is_refused";
    if !has_tools(name, &["mpirun.openmpi", "mpicc.mpich"]) {
        return;
    }
    let workspace = Workspace::new();
    fs::create_dir(workspace.join("d")).unwrap();
    let words = "run bandwidth d --threads 2 --transfer 64KiB --bytes-per-thread 64KiB --no-report";
    let mut job = Command::new("mpirun.openmpi");
    let job = job.args(["--oversubscribe", "--allow-run-as-root", "-n", "2"]);
    let job = job.arg(env!("CARGO_BIN_EXE_qdepth")).args(words.split(' '));
    let status = launch(&workspace, "mpich", job).wait().unwrap();
    let told = read_text(&workspace, "mpi.err");
    assert_eq!(status.code(), Some(2), "{told}");
    assert!(told.contains("started 2 ranks, but MPI sees 1"), "{told}");
    assert!(!workspace.has("qdepth.db") && fs::read_dir(workspace.join("d")).unwrap().count() == 0);
}

/// Each phase in a run of its own, on the entries of the next rank, as in IO500.
#[test]
fn mpi_mdtest_phases_share_kept_entries() {
    if !has_tools("mpi_mdtest_phases_share_kept_entries", &["mpirun.openmpi", "mpicc.openmpi"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let entries = |name: &str| match fs::read_dir(workspace.join(name)) {
        Ok(all) => all.count(),
        Err(_) => 0,
    };
    for (options, directories) in [
        ("-u -w 3901 -e 3901", &["d/qdepth-mdtest.00000000", "d/qdepth-mdtest.00000001"][..]),
        ("-w 3901 -e 3901", &["d/qdepth-mdtest"]),
    ] {
        for (phases, rows, kept) in [
            ("-C -Y", "creation", 40),
            ("-T", "stat", 40),
            ("-E -X", "read", 40),
            ("-r", "removal", 0),
            ("", "creation stat read removal", 0),
        ] {
            let words =
                format!("mdtest --no-report -n 20 -L -F -P -N 1 -d d -a POSIX {options} {phases}");
            let status = under_mpi(&workspace, "openmpi", 2, &words).wait().unwrap();
            let text = read_text(&workspace, "mpi.out");
            assert!(status.success(), "{words}: {}", read_text(&workspace, "mpi.err"));
            assert!(text.contains("2 tasks, 40 files"), "{text}");
            for row in rows.split(' ') {
                let row = text.lines().find(|line| line.contains(&format!("File {row} "))).unwrap();
                assert!(!row.contains(" 0.000          0.000"), "{words}: {text}");
            }
            let found: usize = directories.iter().map(|name| entries(name)).sum();
            assert_eq!(found, kept, "{words}");
        }
        assert_eq!(entries("d"), 0);
    }
}
