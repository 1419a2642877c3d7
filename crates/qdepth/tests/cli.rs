//! The command line for users and scripts: usage, refusals, machine-readable output, engines, every
//! kind of load. Tests that cannot run here print `SKIPPED`.

use std::fs;

use crate::common::{Workspace, codes, exclusive_turn, has_tools, pause, points, sh, token};
use serde_json::Value;

const FILE: &str = "qdepth-measurement-file";

/// Options of a run that is over soon.
const SHORT: &str = "--area 8MiB --duration 200ms --profile database";

#[test]
fn wrong_usage_is_explained_and_creates_no_files() {
    let workspace = Workspace::new();
    workspace.write("unknown.toml", "name = \"x\"\nqueue_depth = [1]\nwarmup = \"3s\"\n");
    workspace.write("time.toml", "name = \"x\"\nqueue_depth = [1]\nduration = \"3 parsecs\"\n");
    workspace.write(
        "share.toml",
        "name = \"x\"\nqueue_depth = [1]\n[[profile]]\nname = \"a\"\nrandom = 140\nread = 100\n\
         block_size = \"8KiB\"\n",
    );
    workspace.write("step.toml", "[[prepare]]\nstep = \"partition\"\ndevice = 3\n");
    let cases: &[(&str, &[&str])] = &[
        ("host prepare step.toml", &["line 1: expected a text in quotes, found the number 3"]),
        ("run nosuch", &["`nosuch`", "`qdepth plans` lists the plans", "directory or device"]),
        ("run nosuch.toml", &["nosuch.toml", "No such file"]),
        ("run unknown.toml", &["unknown.toml", "line 3: ", "warmup", "`warm_up`"]),
        ("run time.toml", &["line 3: ", "3 parsecs", "500ms"]),
        ("run share.toml", &["profile `a`", "random = 140", "between 0 and 100"]),
        ("run --queue-depth 0", &["queue depth 0", "between 1 and 16384"]),
        ("run --queue-depth 100000", &["queue depth 100000", "between 1 and 16384"]),
        ("run --queue-depth x", &["'x'", "--queue-depth"]),
        ("run --duration 5", &["`5` is not a duration", "500ms"]),
        ("run --duration 0s", &["between 10ms and 168h"]),
        ("run --area banana", &["`banana` is not a size", "8KiB"]),
        ("run --profile nosuch", &["no profile `nosuch`", "`qdepth profiles` lists them"]),
        ("run --engine foo", &["'foo'", "io_uring, linux-aio, threads"]),
        ("run --resume", &["nothing to resume"]),
        ("run --resume .", &["cannot be used with"]),
        ("run --nosuch", &["--nosuch"]),
        ("plan --show nosuch", &["no plan or profile `nosuch`", "`qdepth plans` and"]),
        ("measure", &["measure"]),
        ("run --runtime 4", &["--runtime", "--duration", "qdepth fio"]),
        ("run --ramp_time=3", &["--warm-up", "qdepth fio"]),
        ("run . --dry-run", &["qdepth plan"]),
        ("run --bs=4k --rw=randread .", &["unexpected argument '--rw' found\n\nFor more", "tip: "]),
        ("run . --durration 5s", &["a similar argument exists: '--duration'"]),
        ("run . --duration -5s", &["'-5'", "no option accepts a negative number"]),
        ("logbook list", &["'list'", "a separate command: qdepth list"]),
        ("run . quick", &["quick is a plan, and must come before the targets: qdepth run quick ."]),
        ("predict quick --profile database", &["no device model", "`qdepth predict quick mydrive"]),
        ("predict my.toml*2 as raid7", &["no arrangement `raid7`", "as raid0"]),
        ("predict", &["no device model", "`qdepth predict mydrive.toml`"]),
        ("run quik .", &["Did you mean `quick`?", "for example: ", "run quick ."]),
        ("run raid9(media:null*2)", &["arrangement `raid9`", "run 'raid0(media:null*2)'"]),
        ("plan raid5(media:null*2)", &["at least 3", "for example: ", "raid5(media:null*3)"]),
        ("media raid5(media:null*2)", &["at least 3", "Write 'raid5(media:null*3)'"]),
        ("media raid1(media:null*2)", &["a target expression", "qdepth plan quick"]),
        ("fit-for etdc .", &["Did you mean `etcd`?", "fit-for etcd ."]),
        ("fit-for media:null", &["qdepth fit-for etcd media:null`"]),
        ("run media:null --json --events -", &["--json --events events.jsonl"]),
        ("run media:null --destroy X", &["--destroy X", "Remove this option"]),
        ("run quick . --destroy X", &["--destroy X", "a directory", "Remove this option"]),
        ("run . --consent FIFO", &["--consent FIFO", "a directory", "Remove this option"]),
        ("run --destroy X", &["--destroy X needs the device", "/dev/nvme0n1 --destroy X`"]),
        ("plan media:null --destroy X", &["--destroy X", "Remove this option"]),
        ("run media:null --report x.docx", &["must end in .html", "--report x.html"]),
        ("answer media:null --within 0s", &["above 0", "answer media:null --within 30min"]),
    ];
    for (words, says) in cases {
        let ended = workspace.run(words).expect(2);
        assert_eq!(ended.out, "", "{words}");
        for text in *says {
            assert!(ended.err.contains(text), "`{words}` does not say `{text}`: {}", ended.err);
        }
        assert!(!ended.err.contains("use '-- "), "{}", ended.err);
        for left in ["qdepth.db", "qdepth.db.reserve", "qdepth-report.html", FILE] {
            assert!(!workspace.has(left), "`{words}` leaves {left}");
        }
    }
    let ended = workspace.run("list").expect(2);
    assert!(ended.err.contains("no logbook at qdepth.db"), "{}", ended.err);
}

#[test]
fn file_of_user_is_refused_and_unchanged() {
    let workspace = Workspace::new();
    // As large as requested: only the content is a reason to refuse it.
    workspace.write("precious", &"the only copy\n".repeat(1 << 20));
    workspace.write(FILE, &"mine, for all its name\n".repeat(1 << 20));
    for (target, file) in [("precious", "precious"), (FILE, FILE), (".", FILE)] {
        let before = fs::read(workspace.join(file)).unwrap();
        let ended =
            workspace.run(&format!("run {target} {SHORT} --queue-depth 1 --json")).expect(3);
        assert!(ended.err.contains("refused by guard G8, nothing was changed"), "{}", ended.err);
        assert!(ended.err.contains("Use a directory") || target == ".", "{}", ended.err);
        assert_eq!(ended.out, "");
        assert_eq!(fs::read(workspace.join(file)).unwrap(), before);
    }
    assert!(!workspace.has("qdepth-report.html"));
    // A file for which there is no space is also refused before anything is created.
    workspace.run(&format!("run . --file-size 999TiB {SHORT} --queue-depth 1")).expect(3);
    assert!(!workspace.has("qdepth.db"), "a refusal changes nothing");
}

#[test]
fn device_is_refused_without_consent_and_unchanged() {
    let test = "device_is_refused_without_consent_and_unchanged";
    if !has_tools(test, &["losetup", "mkfs.ext4", "mount", "sha256sum"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let device = workspace.device("image", 64 << 20);
    let node = device.display().to_string();
    let sum = |node: &str| sh(&format!("sha256sum < {node}")).unwrap();
    let run = |more: &str, guard: &str, says: &str| {
        let before = sum(&node);
        let ended =
            workspace.run(&format!("run {node} {SHORT} --queue-depth 1 --json {more}")).expect(3);
        let refused = format!("refused by guard {guard}, nothing was changed");
        assert!(ended.err.contains(&refused) && ended.err.contains(says), "{}", ended.err);
        assert_eq!(ended.out, "");
        assert_eq!(sum(&node), before, "{node} was written by `{more}`");
        assert!(!workspace.has("qdepth.db"), "a refusal changes nothing");
    };
    // Reasons that no consent removes come before the instructions for consent.
    workspace.write("notes.txt", "no logbook");
    let ended = workspace.run(&format!("run {node} {SHORT} --queue-depth 1 --logbook notes.txt"));
    assert!(ended.err.contains("notes.txt") && !ended.err.contains("--destroy"), "{}", ended.err);
    let name = token(&node);
    let right = format!("--destroy {name}");
    run("", "G9", &right);
    run("--destroy /dev/null:5", "G9", &right);
    run(&right, "G9", "no terminal");
    let expired = format!(
        "destroy = \"{name}\"\nsize_bytes = {0}\nexpires = \"2020-01-01T00:00:00Z\"\n",
        64 << 20
    );
    workspace.write("expired", &expired);
    run(&format!("{right} --consent expired"), "G9", "the consent expires at 2020");
    sh(&format!(
        "mkfs.ext4 -q {node} && mkdir {0}/mount && mount -o ro {node} {0}/mount && sync",
        workspace.path().display()
    ))
    .unwrap();
    workspace.later(format!("umount {}/mount", workspace.path().display()));
    // Reasons that no consent removes come before the instructions for consent.
    run(&right, "G4", "is mounted on");
    run("--destroy yes", "G4", "is mounted on");
    let told = workspace.run(&format!("run {node} --destroy yes")).expect(3).err;
    assert!(!told.contains("add --destroy"), "{told}");
    workspace.write("later", &expired.replace("2020-01-01T00:00:00Z", &in_an_hour()));
    run(&format!("{right} --consent later"), "G4", "is mounted on");
}

#[cfg(test)]
fn in_an_hour() -> String {
    sh("date -u -d '1 hour' +%Y-%m-%dT%H:%M:%SZ").unwrap()
}

#[test]
fn device_is_read_without_consent_and_unchanged() {
    let test = "device_is_read_without_consent_and_unchanged";
    if !has_tools(test, &["losetup", "sha256sum"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    sh(&format!("head -c 33554432 /dev/urandom > {}", workspace.join("image").display())).unwrap();
    let device = workspace.attach(&workspace.join("image"));
    let before = sh(&format!("sha256sum < {}", device.display())).unwrap();
    let words = "--read-only --duration 300ms --queue-depth 1,8 --json";
    let ended = workspace.run(&format!("run {} {words}", device.display())).expect_finished();
    let document = ended.json();
    assert!(!points(&document).is_empty());
    for point in points(&document) {
        assert_eq!(point["writes"], 0);
        assert!(point["reads"].as_u64().unwrap() > 0, "{point:#}");
        lawful(point);
    }
    assert_eq!(document["targets"][0]["kind"], "block-device");
    let after = sh(&format!("sha256sum < {}", device.display())).unwrap();
    assert_eq!(after, before);
}

#[test]
fn shipped_plans_and_profiles_are_accepted_as_files() {
    let workspace = Workspace::new();
    for name in ["standard", "quick", "latency"] {
        let shown = workspace.run(&format!("plan --show {name}")).expect(0).out;
        workspace.write("shown.toml", &shown);
        let ours = workspace.run(&format!("plan {name} . --area 64MiB --json")).expect(0).json();
        let theirs = workspace.run("plan shown.toml . --area 64MiB --json").expect(0).json();
        assert_eq!(ours, theirs, "{name}");
    }
    for name in ["database", "file-server", "file-copy", "streaming", "restore"] {
        let shown = workspace.run(&format!("plan --show {name}")).expect(0).out;
        // A profile goes into a plan under [[profile]].
        let plan = format!("name = \"own\"\nqueue_depth = [1]\n[[profile]]\n{shown}");
        workspace.write("own.toml", &plan);
        workspace.run("plan own.toml . --area 64MiB").expect(0);
    }
    workspace.run("schema plan").expect(0).json();
    workspace.run("schema run").expect(0).json();
    assert!(!workspace.has("qdepth.db"), "plan touches nothing");
}

/// Asserts that a point has no finding about violated laws (Little's law, conservation).
#[cfg(test)]
#[track_caller]
fn lawful(point: &Value) {
    for law in ["littles-law", "conservation", "bytes-law", "io-errors", "target-failed", "hung"] {
        assert!(!codes(point).iter().any(|code| code == law), "{law}: {point:#}");
    }
}

#[cfg(test)]
#[track_caller]
fn is_number(value: &Value, path: &str) {
    let found = value.pointer(path).unwrap_or(&Value::Null);
    assert!(found.is_number(), "{path} is {found}");
}

/// Asserts the fields on which scripts may rely.
#[cfg(test)]
fn promised(document: &Value) {
    for path in ["/schema/name", "/run/id", "/run/plan_hash", "/run/seed", "/run/version"] {
        assert!(document.pointer(path).is_some_and(Value::is_string), "{path}");
    }
    is_number(document, "/schema/version");
    assert_eq!(document["run"]["emulated"], false);
    assert_eq!(document["run"]["plan_hash"].as_str().map(str::len), Some(64));
    for point in points(document) {
        for path in ["/target", "/profile"] {
            assert!(point.pointer(path).is_some_and(Value::is_string), "{path}");
        }
        for path in ["/queue_depth", "/io_per_s", "/mib_per_s", "/reads", "/writes", "/duration_ns"]
        {
            is_number(point, path);
        }
        for time in ["latency_ns", "response_time_ns"] {
            for direction in ["reads", "writes", "all"] {
                for figure in ["min", "mean", "max"] {
                    is_number(point, &format!("/{time}/{direction}/{figure}"));
                }
                let percentiles = point[time][direction]["percentiles"].as_object().unwrap();
                assert!(percentiles.contains_key("50"), "{percentiles:?}");
                assert!(percentiles.values().all(Value::is_u64));
                assert!(percentiles.keys().all(|name| name.parse::<f64>().is_ok()));
            }
        }
        is_number(point, "/cpu_ns_per_io/user");
        is_number(point, "/cpu_ns_per_io/system");
        if !point["confidence_interval"].is_null() {
            is_number(point, "/confidence_interval/0");
            is_number(point, "/confidence_interval/1");
        }
        assert!(["A", "B", "C"].contains(&point["grade"].as_str().unwrap()));
        for finding in point["findings"].as_array().unwrap() {
            assert!(finding["code"].is_string() && finding["severity"].is_string());
        }
    }
}

#[test]
fn json_output_has_the_documented_fields() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let words = "--area 8MiB --profile database --queue-depth 1,8 --duration 1s";
    let first = workspace.run(&format!("run . {words} --json --seed 7")).expect_finished().json();
    promised(&first);
    assert_eq!(points(&first).len(), 2);
    points(&first).iter().for_each(lawful);
    assert!(workspace.has("qdepth-report.html") && !workspace.has(FILE));
    assert_eq!(first, workspace.run("export --json").expect(0).json());
    let again =
        workspace.run(&format!("run . {SHORT} --queue-depth 1 --json --seed 7 --no-report"));
    let same = workspace.run(&format!("run . {SHORT} --queue-depth 1 --json --seed 7 --no-report"));
    let other =
        workspace.run(&format!("run . {SHORT} --queue-depth 1 --json --seed 8 --no-report"));
    let [again, same, other] =
        [again, same, other].map(|e| e.expect_finished().json()["run"]["plan_hash"].clone());
    assert_eq!(again, same, "same plan, same seed");
    assert_ne!(again, other, "another seed");
    let csv = workspace.run("export --csv").expect(0).out;
    assert_eq!(csv.lines().count(), 2, "{csv}");
    assert_eq!(workspace.run("list").expect(0).out.matches("complete").count(), 4);
    workspace.run("show").expect(0);
}

#[test]
fn measurement_file_is_deleted_without_keep() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let words = format!("run . {SHORT} --queue-depth 1 --no-report");
    let ended = workspace.run(&words).expect_finished();
    assert!(ended.out.contains("Database"), "the table: {}", ended.out);
    assert!(!workspace.has(FILE));
    workspace.run(&format!("{words} --keep")).expect_finished();
    let kept = fs::metadata(workspace.join(FILE)).unwrap();
    workspace.run(&format!("{words} --keep")).expect_finished();
    use std::os::unix::fs::MetadataExt;
    assert_eq!(fs::metadata(workspace.join(FILE)).unwrap().ino(), kept.ino(), "it is used again");
    fs::remove_file(workspace.join(FILE)).unwrap();

    // Interrupted while filling: no file remains, and the logbook has no measured run.
    let run = workspace.start("run . --area 4GiB --duration 1s --queue-depth 1 --json");
    pause(300);
    run.signal("INT");
    let ended = run.wait();
    assert!(!workspace.has(FILE), "{}", ended.err);
    assert_eq!(ended.status, Some(130), "{}", ended.err);
}

#[test]
fn targets_are_measured_in_sequence() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    fs::create_dir(workspace.join("a")).unwrap();
    fs::create_dir(workspace.join("b")).unwrap();
    let document = workspace.run(&format!("run a b {SHORT} --queue-depth 1,2 --json"));
    let document = document.expect_finished().json();
    let names: Vec<&str> =
        points(&document).iter().map(|p| p["target"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 4);
    assert_eq!(document["targets"].as_array().unwrap().len(), 2);
    assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), 2, "{names:?}");
    assert!(!workspace.has(&format!("a/{FILE}")) && !workspace.has(&format!("b/{FILE}")));
}

#[test]
fn every_engine_measures() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    for engine in ["io_uring", "linux-aio", "threads"] {
        let words = format!("run . {SHORT} --queue-depth 1,8 --engine {engine} --json --no-report");
        let ended = workspace.run(&words);
        if engine == "io_uring" && ended.err.contains("io_uring") && ended.status == Some(4) {
            println!("SKIPPED: every_engine_measures: {engine}: {}", ended.err.trim());
            continue;
        }
        let document = ended.expect_finished().json();
        assert_eq!(document["targets"][0]["engine"], engine);
        for point in points(&document) {
            lawful(point);
            let (in_flight, asked) = (&point["mean_in_flight"], &point["queue_depth"]);
            println!("{engine}: {asked} asked, {in_flight} in flight, {} IOPS", point["io_per_s"]);
        }
    }
}

#[test]
fn unsupported_engine_is_refused_with_a_reason() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    for (engine, why) in [
        ("io_uring-passthrough", ". is not an NVMe namespace, so it does not accept NVMe commands"),
        ("io_uring-passthrough-polled", "poll"),
        // The temporary directory may be in memory or on a device.
        ("io_uring-polled", "poll"),
    ] {
        let ended = workspace.run(&format!("run . {SHORT} --engine {engine} --no-report"));
        if ended.status == Some(0) && engine == "io_uring-polled" {
            println!("SKIPPED: a refusal to poll: the drive here has poll queues");
            continue;
        }
        assert_eq!(ended.status, Some(3), "{engine}: {}", ended.err);
        assert!(ended.err.contains(why) && ended.err.contains("nothing was changed"));
        assert!(!workspace.has(FILE), "{engine}: a file was made");
    }
}

/// One profile for each thing that a load may be.
const LOADS: &str = r#"
name = "loads"
queue_depth = [4]
warm_up = "100ms"
duration = "500ms"
file_size = "16MiB"

[[profile]]
name = "fixed"
random = 100
read = 100
block_size = "4KiB"
arrivals = { kind = "fixed", rate = 500 }

[[profile]]
name = "poisson"
random = 100
read = 50
block_size = "4KiB"
arrivals = { kind = "poisson", rate = 500 }

[[profile]]
name = "paced"
random = 100
read = 100
block_size = "4KiB"
arrivals = { kind = "paced", rate = 300 }

[[profile]]
name = "mixed"
random = 50
read = 50
block_size = [{ size = "4KiB", weight = 3 }, { size = "64KiB", weight = 1 }]

[[profile]]
name = "streams"
random = 0
read = 50
block_size = "64KiB"
streams = 4
area = { size = "50%", offset = "4MiB" }

[[profile]]
name = "small"
random = 100
read = 100
block_size = "512"
alignment = "512"

[[profile]]
name = "flushed"
random = 100
read = 0
block_size = "4KiB"
fsync = { kind = "every", writes = 8 }

[[profile]]
name = "buffered"
random = 0
read = 0
block_size = "64KiB"
direct = false
compressible = 50
fsync = { kind = "end" }

[[profile]]
name = "cached"
random = 100
read = 100
block_size = "4KiB"
direct = false
"#;

#[test]
fn every_load_type_gives_consistent_points() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    workspace.write("loads.toml", LOADS);
    let document = workspace.run("run loads.toml . --json --no-report").expect_finished().json();
    let point = |name: &str| points(&document).iter().find(|p| p["profile"] == name).unwrap();
    assert_eq!(points(&document).len(), 9);
    for point in points(&document) {
        println!("{} {} {:?}", point["profile"], point["io_per_s"], codes(point));
        lawful(point);
        assert!(point["io_per_s"].as_f64().unwrap() > 0.0);
    }
    for (name, rate, within) in [("fixed", 500.0, 0.05), ("poisson", 500.0, 0.3)] {
        // If the load generator was stopped, overdue I/Os are issued at once, and the point has a
        // finding.
        if codes(point(name)).contains(&"generator-stopped".to_owned()) {
            continue;
        }
        let said = point(name)["io_per_s"].as_f64().unwrap();
        assert!((said - rate).abs() < rate * within, "{name}: {said} IOPS of {rate}");
    }
    // A paced load does not make up for I/Os missed on a busy machine.
    let paced = point("paced")["io_per_s"].as_f64().unwrap();
    assert!((150.0..=306.0).contains(&paced), "paced: {paced} IOPS of 300");
    let response = |name: &str| point(name)["response_time_ns"]["all"]["mean"].as_f64().unwrap();
    let service = |name: &str| point(name)["latency_ns"]["all"]["mean"].as_f64().unwrap();
    assert!(response("poisson") >= service("poisson"));
    let bytes = |name: &str| {
        let point = point(name);
        let bytes =
            point["read_bytes"].as_u64().unwrap() + point["written_bytes"].as_u64().unwrap();
        bytes as f64 / (point["reads"].as_u64().unwrap() + point["writes"].as_u64().unwrap()) as f64
    };
    assert!((bytes("mixed") / (19.0 * 1024.0) - 1.0).abs() < 0.15, "{}", bytes("mixed"));
    assert_eq!(point("streams")["streams"], 4);
    assert!(point("flushed")["syncs"].as_u64().unwrap() > 0);
    assert_eq!(point("buffered")["syncs"], 1);
    for (name, direct) in [("buffered", false), ("cached", false), ("mixed", true)] {
        assert_eq!(point(name)["direct"], direct, "{name}");
        assert_eq!(codes(point(name)).contains(&"buffered".to_owned()), !direct);
    }
}

#[test]
fn workers_use_chosen_cpus_and_refuse_unknown_cpus() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let words =
        "run --profile database --queue-depth 1 --duration 100ms --area 8MiB --no-report --json";
    let document = workspace.run(&format!("{words} --cpus 0")).expect_finished().json();
    let facts = document["environment"].as_array().unwrap();
    let chosen = facts.iter().find(|fact| fact["key"] == "cpus_of_workers").unwrap();
    assert_eq!((&chosen["value"], &chosen["source"]), (&"0".into(), &"--cpus".into()));
    let refused = workspace.run(&format!("{words} --cpus 0,4000")).expect(3);
    assert!(refused.err.contains("no CPU 4000"), "{}", refused.err);
    for wrong in ["--cpus 1-", "--cpus 0,0", "--cpus 0 --no-pin"] {
        workspace.run(&format!("{words} {wrong}")).expect(2);
    }
}

#[test]
fn unknown_names_are_wrong_usage_in_every_command() {
    let workspace = Workspace::new();
    workspace.run("run quick media:null --duration 10ms --no-report").expect_finished();
    for name in ["there", "notes.db"] {
        fs::create_dir(workspace.join(name)).unwrap();
    }
    workspace.write("garbage.db", "garbage");
    workspace.write("broken.toml", "name = \"x");
    let run = "run quick media:null --duration 10ms";
    let wrong = [
        "run nosuch".to_owned(),
        "run quick nosuch".to_owned(),
        "run nosuch.toml media:null".to_owned(),
        "run broken.toml media:null".to_owned(),
        "run quick media:nosuch".to_owned(),
        format!("{run} --profile nosuch"),
        format!("{run} --queue-depth 0"),
        format!("{run} --no-such-option"),
        format!("{run} --logbook garbage.db"),
        format!("{run} --logbook notes.db"),
        format!("{run} --logbook nosuch/x.db"),
        format!("{run} --report there"),
        format!("{run} --report nosuch/x.html"),
        format!("{run} --events there"),
        format!("{run} --events nosuch/x"),
        "run --resume --logbook garbage.db".to_owned(),
        "run --resume --logbook nosuch.db".to_owned(),
        "plan quick nosuch".to_owned(),
        "list --logbook garbage.db".to_owned(),
        "show nosuch".to_owned(),
        "show --logbook nosuch.db".to_owned(),
        "compare nosuch latest".to_owned(),
        "report nosuch".to_owned(),
        "export nosuch".to_owned(),
        "retract nosuch why".to_owned(),
    ];
    for words in wrong {
        let ended = workspace.run(&words);
        assert_eq!(ended.status, Some(2), "`{words}`: {}", ended.err);
    }
    workspace.write("paper.toml", "version = \"1\"\norganization = \"ACME\"\n");
    let ended = workspace.run("report --paper paper.toml").expect(2);
    assert!(ended.err.contains("line 2: unknown field `organization`. Did you mean"), "{ended:?}");
    // Usage is valid (a system path), but a guard refuses it.
    for words in ["run quick /etc", "run quick /dev/null", "run quick . --file-size 1000TiB"] {
        let ended = workspace.run(words);
        assert_eq!(ended.status, Some(3), "`{words}`: {}", ended.err);
    }
}
