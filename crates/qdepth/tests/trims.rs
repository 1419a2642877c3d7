//! Trims of devices, files and emulated drives: the same number as fio makes of the same job, and
//! guarded like writes. Also other writes and searches of fio's jobs.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::common::{Workspace, consent_lines, exclusive_turn, has_tools, points, sh, token};
use serde_json::Value;

const MIB: u64 = 1 << 20;
const MODES: [&str; 4] = ["trim", "randtrim", "trimwrite", "randtrimwrite"];

/// I/Os and bytes of reads, writes and trims of the only job.
#[cfg(test)]
fn moved(document: &Value) -> [(u64, u64); 3] {
    let job = &document["jobs"][0];
    ["read", "write", "trim"].map(|side| {
        let figure = |name: &str| job[side][name].as_u64().unwrap();
        (figure("total_ios"), figure("io_bytes"))
    })
}

/// Bytes that the image of a device takes up.
#[cfg(test)]
fn stored(image: &Path) -> u64 {
    sh("sync").unwrap();
    std::fs::metadata(image).unwrap().blocks() * 512
}

/// Arguments that consent to the loss of a device's data, from the refusal of these arguments.
#[cfg(test)]
fn consent(workspace: &Workspace, words: &str, device: &Path) -> String {
    let refused = workspace.run(words).expect(3);
    workspace.write("consent", &consent_lines(&refused.err));
    format!("--destroy {} --consent consent", token(device))
}

#[test]
fn device_gets_as_many_trims_as_from_fio() {
    if !has_tools("trims of a device", &["fio", "losetup"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let (theirs, ours) = (workspace.device("theirs", 64 * MIB), workspace.device("ours", 64 * MIB));
    let job = "--name=a --bs=16k --size=4m --ioengine=libaio --iodepth=8 --direct=1";
    let on = |device: &Path| format!("{job} --filename={}", device.display());
    let words = format!("fio --no-report --rw=trim {}", on(&ours));
    let consented = consent(&workspace, &words, &ours);
    for mode in MODES {
        let more = if mode == "randtrim" { "--number_ios=40" } else { "--loops=2" };
        let theirs = sh(&format!("fio --output-format=json --rw={mode} {more} {}", on(&theirs)));
        let theirs: Value = serde_json::from_str(&theirs.unwrap()).unwrap();
        let words = format!(
            "fio --no-report --output-format=json --rw={mode} {more} {} {consented}",
            on(&ours)
        );
        let ours = workspace.run(&words).expect_finished().json();
        assert_eq!(moved(&ours), moved(&theirs), "{mode}");
        assert_eq!(ours["jobs"][0]["error"], 0, "{mode}");
    }
    // With io_uring, trims reach the requested queue depth.
    let job = job.replace("libaio", "io_uring");
    let words = format!(
        "fio --no-report --json --rw=randtrim {job} --filename={} {consented}",
        ours.display()
    );
    let document = workspace.run(&words).expect_finished().json();
    let point = &points(&document)[0];
    assert_eq!((&point["trims"], &point["writes"]), (&Value::from(256), &Value::from(0)));
    assert_eq!(point["latency_ns"]["trims"]["count"], 256);
    assert_eq!(document["targets"][0]["engine"], "io_uring");
}

#[test]
fn trimmed_blocks_free_space() {
    if !has_tools("room of a trimmed device", &["losetup"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let device = workspace.device("image", 64 * MIB);
    let job = format!("--bs=64k --size=32m --offset=8m --direct=1 --filename={}", device.display());
    let words = format!("fio --no-report --name=w --rw=write {job}");
    let consented = consent(&workspace, &words, &device);
    for engine in ["io_uring", "threads", "sync"] {
        workspace.run(&format!("{words} {consented}")).expect_finished();
        let full = stored(&workspace.join("image"));
        let trim = "fio --no-report --name=t --rw=trim";
        workspace.run(&format!("{trim} {job} {consented} --engine {engine}")).expect_finished();
        let left = stored(&workspace.join("image"));
        // The file system may add a block of its own.
        assert!(full - left >= 31 * MIB, "{engine}: {full} and then {left}");
    }
    let refused = workspace
        .run(&format!("fio --no-report --name=t --rw=trim {job} {consented} --engine linux-aio"));
    assert!(refused.expect(2).err.contains("linux-aio: this engine does not support trims"));
}

#[test]
fn trims_pass_the_same_guards_as_writes() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    std::fs::write(workspace.join("precious"), vec![7; 4 << 20]).unwrap();
    let job = "--name=t --rw=randtrim --bs=4k --filename=precious";
    let refused = workspace.run(&format!("fio --no-report {job}")).expect(3);
    assert!(refused.err.contains("guard G8"), "{}", refused.err);
    assert!(
        workspace
            .run(&format!("fio --no-report --readonly {job}"))
            .expect(2)
            .err
            .contains("writes")
    );
    let plan = "name = \"t\"\nqueue_depth = [1]\n[[profile]]\nname = \"t\"\nrandom = 100\n\
                read = 90\ntrim = 10\nblock_size = \"4KiB\"\n";
    workspace.write("t.toml", plan);
    workspace.run("run t.toml . --read-only --no-report --duration 100ms").expect(2);
    assert_eq!(std::fs::read(workspace.join("precious")).unwrap(), vec![7; 4 << 20]);
}

#[test]
fn own_files_and_emulated_drives_can_be_trimmed() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let plan = |read: u32, trim: &str| {
        format!(
            "name = \"t\"\nqueue_depth = [4]\nduration = \"500ms\"\nfile_size = \"16MiB\"\n\
             [[profile]]\nname = \"t\"\n\
             random = 100\nread = {read}\n{trim}\nblock_size = \"4KiB\"\n\
             area = {{ size = \"8MiB\" }}\n"
        )
    };
    workspace.write("mix.toml", &plan(50, "trim = 25"));
    workspace.write("first.toml", &plan(0, "trim_first = true"));
    workspace.write("reads.toml", &plan(50, "trim = 50"));
    let run = |words: &str| {
        let made = workspace.run(&format!("run {words} --json --no-report"));
        points(&made.expect_finished().json())[0].clone()
    };
    for target in [".", "media:p3700-1600gb"] {
        let mix = run(&format!("mix.toml {target}"));
        let count = |name: &str| mix[name].as_u64().unwrap();
        let all = count("reads") + count("writes") + count("trims");
        assert!(count("trims").abs_diff(all / 4) < all / 20, "{target}: {mix}");
        assert_eq!(count("trimmed_bytes"), count("trims") * 4096);
        assert!((mix["io_per_s"].as_f64().unwrap() - all as f64 / 0.5).abs() < all as f64 * 0.05);
        let first = run(&format!("first.toml {target}"));
        let count = |name: &str| first[name].as_u64().unwrap();
        assert!(count("trims").abs_diff(count("writes")) <= 8, "{target}: {first}");
    }
    // A drive answers reads of unmapped blocks without its dies.
    let mean = |point: &Value| point["latency_ns"]["reads"]["mean"].as_f64().unwrap();
    workspace.write("stored.toml", &plan(100, ""));
    let stored = mean(&run("stored.toml media:p3700-1600gb"));
    let nothing = mean(&run("reads.toml media:p3700-1600gb"));
    assert!(nothing < stored * 0.7, "{nothing} ns where nothing is stored, {stored} ns else");
}

#[test]
fn every_output_format_shows_trims() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let job = "fio --no-report --name=t --rw=trimwrite --bs=4k --size=1m \
               --filename=media\\:p3700-1600gb --log_avg_msec=100 --write_iops_log=t";
    let made =
        workspace.run(&format!("{job} --output-format=normal,terse,json+ --terse-version=4"));
    let text = made.expect_finished().out;
    for line in [
        "rw=trimwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B",
        "  trim: IOPS=",
        "   TRIM: bw=",
        "issued rwts: total=0,256,256,0",
        "\"trim\" : {",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let terse = text.lines().find(|line| line.starts_with("4;fio-")).expect("a line");
    let fields: Vec<&str> = terse.split(';').collect();
    // Version, program, name, group and error are followed by 41 fields for each direction.
    assert_eq!((fields[5], fields[46], fields[87]), ("0", "1024", "1024"));
    let log = std::fs::read_to_string(workspace.join("t_iops.1.log")).unwrap();
    assert!(log.lines().any(|row| row.split(", ").nth(2) == Some("2")), "{log}");
    workspace.run("report -o t.md").expect(0);
    let report = std::fs::read_to_string(workspace.join("t.md")).unwrap();
    assert!(report.contains("Trims") && report.contains("trims"), "{report}");
    // Conversely, fio's results of trims can be imported.
    workspace.run(&format!("{job} --output-format=json --output=t.json")).expect_finished();
    workspace.run("import t.json --logbook other.db").expect(0);
    let document = workspace.run("export --logbook other.db").expect(0).json();
    assert_eq!(points(&document)[0]["trims"], 256);
}

#[test]
fn deduplication_percentage_sets_number_of_duplicate_blocks() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let job = "size=4m\nrw=write\nbs=4k\niodepth=16\nioengine=libaio\ndedupe_mode=working_set\n\
               dedupe_percentage=50\ndedupe_working_set_percentage=50\n";
    for (common, least, most) in [(1, 780, 990), (0, 560, 780)] {
        let text = format!("[global]\n{job}dedupe_global={common}\n[a]\n[b]\n");
        let jobs = workspace.write("jobs.fio", &text);
        workspace.run(&format!("fio --no-report --keep {jobs}")).expect_finished();
        let file = std::fs::read(workspace.join("qdepth-measurement-file")).unwrap();
        let mut counts = std::collections::BTreeMap::new();
        file.chunks(4096).for_each(|block| *counts.entry(block).or_insert(0_u32) += 1);
        let twice: u32 = counts.values().filter(|count| **count > 1).sum();
        // 1024 draws of 512 contents, or twice 512 of 512 each: 1 - 1/e² and 1 - 1/e of them.
        assert!((least..most).contains(&twice), "{common}: {twice} of 2048");
    }
}

#[test]
fn latency_target_finds_the_deepest_queue() {
    let workspace = Workspace::new();
    let job = "fio --no-report --output-format=json --name=a --rw=randread --bs=4k --iodepth=100 \
               --ioengine=libaio --size=1g --filename=media\\:p3700-1600gb --latency_window=100ms \
               --latency_percentile=90";
    let told = |target: &str| {
        let made = workspace.run(&format!("{job} --latency_target={target}"));
        let document = made.expect_finished().json();
        let job = &document["jobs"][0];
        assert_eq!(job["latency_window"], 100_000);
        let p90 = job["read"]["clat_ns"]["percentile"]["90.000000"].as_u64().unwrap();
        (job["latency_depth"].as_u64().unwrap(), p90)
    };
    let ((few, p90), (all, _), (none, beyond)) = (told("150us"), told("1s"), told("1us"));
    assert!((2..100).contains(&few) && p90 <= 150_000, "{few}: {p90} ns");
    assert_eq!((all, none), (100, 1), "as fio: 1 where none keeps it");
    assert!(beyond > 1000);
}
