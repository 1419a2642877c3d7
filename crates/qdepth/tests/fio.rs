//! fio's job files end to end: measured, printed as fio's JSON and logs, compared with the fields
//! of the installed fio, and imported.

use std::collections::BTreeMap;

use crate::common::{Workspace, exclusive_turn, has_tools, sh};
use serde_json::Value;

/// Collects the paths of a document, with the kinds of their values. Names that are numbers
/// (percentiles, bins) count as one path; names of options are the user's.
pub(crate) fn fields(path: &str, value: &Value, found: &mut BTreeMap<String, &'static str>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "real",
        Value::Number(_) => "whole",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    };
    found.insert(path.to_owned(), kind);
    match value {
        Value::Array(list) => {
            if let Some(first) = list.first() {
                fields(&format!("{path}[]"), first, found);
            }
        }
        Value::Object(object) => {
            for (name, value) in object {
                let figures = path.ends_with(".bins");
                let name = if figures { "*" } else { name };
                fields(&format!("{path}.{name}"), value, found);
            }
        }
        _ => {}
    }
}

const JOBS: &str = "[global]\nioengine=libaio\ndirect=1\nsize=16m\nruntime=1\ntime_based\n\
    filename=FILE\n[mix]\nrw=randrw\niodepth=4\nlat_percentiles=1\n\
    percentile_list=50:99:99.9:99.9999999\ndescription=a mix\n[read]\nrw=read\nbs=64k\n";

fn jobs(workspace: &Workspace, name: &str, text: &str) -> String {
    workspace.write(name, text)
}

/// True if this fio is older than the version whose formats qdepth writes.
pub(crate) fn is_older(fio: &str) -> bool {
    let told = sh(&format!("{fio} --version")).unwrap_or_default();
    let number = |text: &str| text.trim().parse::<u32>().unwrap_or(0);
    let (major, minor) = told.trim_start_matches("fio-").split_once('.').unwrap_or(("0", "0"));
    let minor = minor.split(['.', '-']).next().unwrap_or("0");
    (number(major), number(minor)) < (3, 42)
}

/// Removes fields that older versions lack, including options without a value.
pub(crate) fn forget_newer(document: &Value, there: &mut BTreeMap<String, &'static str>) {
    for name in ["job_start", "latency_target_ns", "latency_window_us"] {
        there.remove(&format!(".jobs[].{name}"));
    }
    there.retain(|path, _| !path.ends_with("_sectors"));
    let of_job = &document["jobs"][0]["job options"];
    let lists = [(".global options", &document["global options"]), (".jobs[].job options", of_job)];
    for (path, list) in lists {
        for (name, value) in list.as_object().into_iter().flatten() {
            if value == "" {
                there.remove(&format!("{path}.{name}"));
            }
        }
    }
}

#[test]
fn fio_json_has_the_fields_of_installed_fio() {
    let _alone = exclusive_turn();
    if !has_tools("fields of fio's JSON", &["fio"]) {
        return;
    }
    let workspace = Workspace::new();
    let folder = workspace.path().display().to_string();
    sh(&format!("dd if=/dev/urandom of={folder}/fios bs=1M count=16 status=none")).unwrap();
    let theirs = jobs(&workspace, "theirs.fio", &JOBS.replace("FILE", &format!("{folder}/fios")));
    let ours = jobs(&workspace, "ours.fio", &JOBS.replace("FILE", &format!("{folder}/ours")));
    for form in ["json", "json+"] {
        let text = sh(&format!("fio --output-format={form} {folder}/{theirs}")).unwrap();
        let real: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
        let made = workspace.run(&format!("fio --output-format={form} --no-report {ours}"));
        let made = made.expect_finished().json();
        let (mut wanted, mut there) = (BTreeMap::new(), BTreeMap::new());
        fields("", &real, &mut wanted);
        fields("", &made, &mut there);
        if is_older("fio") {
            forget_newer(&made, &mut there);
        }
        for (path, kind) in &wanted {
            assert_eq!(there.get(path), Some(kind), "{form}: {path}");
        }
        let more: Vec<&String> = there.keys().filter(|path| !wanted.contains_key(*path)).collect();
        assert!(more.is_empty(), "{form}: fio has no {more:?}");
        let made = &made["jobs"][0];
        for side in ["read", "write"] {
            let side = &made[side];
            let number = |name: &str| side[name].as_f64().unwrap();
            assert!((number("bw_bytes") - number("bw") * 1024.0).abs() < 1024.0);
            assert!(
                (number("iops") - number("total_ios") / number("runtime") * 1e3).abs()
                    < number("iops") * 0.01
            );
            assert_eq!(side["lat_ns"]["N"], side["total_ios"]);
        }
    }
}

/// The rule of the write-pressure set, with a shorter time.
fn write_pressure(n: u32, filename: &str, runtime: &str) -> String {
    format!(
        "[global]\nthread\ndirect=1\ngroup_reporting\nnorandommap=1\nrandrepeat=0\nrefill_buffers\n\
         ioengine=libaio\ngtod_reduce=0\ntime_based\nblocksize=8k\nruntime={runtime}\n\
         log_avg_msec=500\n\
         [Random_Write]\nrw=randwrite\nnumjobs=8\niodepth=8\nwrite_bw_log=WPT_{n}MBs\nrate=,{}k\n\
         filename={filename}\n\
         [Random_Read]\nrw=randread\nnumjobs=1\niodepth=1\nwrite_lat_log=WPT_{n}MBs\n\
         percentile_list=99:99.9:99.99:99.999:99.9999:99.99999:99.999999:99.9999999\n\
         filename={filename}\n",
        125 * n
    )
}

#[test]
fn sixty_write_pressure_jobs_run_on_emulated_drive() {
    let _alone = exclusive_turn();
    let workspace = Workspace::new();
    let files: Vec<String> = (10..=600)
        .step_by(10)
        .map(|n| {
            jobs(
                &workspace,
                &format!("{n}.fio"),
                &write_pressure(n, "media\\:p3700-1600gb", "100ms"),
            )
        })
        .collect();
    let made = workspace.run(&format!("fio --output-format=json --no-report {}", files.join(" ")));
    let document = made.expect_finished().json();
    let groups = document["jobs"].as_array().unwrap();
    assert_eq!(groups.len(), 60);
    for (group, n) in groups.iter().zip((10..=600).step_by(10)) {
        assert_eq!(group["jobname"], "Random_Write");
        assert!(group["read"]["iops"].as_f64().unwrap() > 0.0);
        let wanted = f64::from(n) * 1000.0 * 1024.0;
        let rate = group["write"]["bw_bytes"].as_f64().unwrap();
        // A window of 100 ms contains whole I/Os: one of each writer more or less.
        let room = 8.0 * 2.0 * 8192.0 / 0.1;
        assert!((rate - wanted).abs() <= wanted * 0.005 + room, "{n}: {rate} against {wanted}");
    }
    assert!(workspace.has("WPT_600MBs_bw.539.log"), "threads are numbered over all files");
}

#[test]
fn write_pressure_job_file_is_reported_as_group() {
    let _alone = exclusive_turn();
    let workspace = Workspace::new();
    let text = write_pressure(10, "target", "1").replace("runtime=1", "runtime=1\nsize=64m");
    let file = jobs(&workspace, "wpt.fio", &text);
    let made = workspace.run(&format!("fio --output-format=json --no-report --json {file}"));
    made.expect_finished();
    let made =
        workspace.run(&format!("fio --output-format=json --output=out.json --no-report {file}"));
    assert_eq!(made.expect_finished().out, "");
    let text = std::fs::read_to_string(workspace.join("out.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let [group] = document["jobs"].as_array().unwrap().as_slice() else { panic!("{document}") };
    assert_eq!(group["job options"]["rw"], "randread", "options are those of the last job");
    assert!(group["read"]["clat_ns"]["percentile"]["100.000000"].is_number());
    let log = std::fs::read_to_string(workspace.join("WPT_10MBs_lat.9.log")).unwrap();
    assert_eq!(log.lines().count(), 2, "{log}");
    assert!(
        !workspace.has("target") && !workspace.has("qdepth-measurement-file"),
        "nothing is left"
    );
    workspace.run("import out.json WPT_10MBs_lat.9.log").expect(0);
    let shown = workspace.run("show").expect(0).out;
    assert!(shown.contains("imported") || shown.contains("another program"), "{shown}");
}

#[test]
fn fio_refusals_name_the_option_and_change_nothing() {
    let _alone = exclusive_turn();
    let workspace = Workspace::new();
    let file = jobs(&workspace, "bad.fio", "[a]\nsize=1m\n\niodept=4\n");
    let ended = workspace.run(&format!("fio {file}")).expect(2);
    assert!(ended.err.contains("bad.fio:4: [a] iodept=4: "), "{}", ended.err);
    assert!(ended.err.contains("`iodepth`"), "{}", ended.err);
    assert!(!workspace.has("qdepth.db"));
    let ended = workspace.run("fio missing.fio").expect(2);
    assert!(ended.err.contains("missing.fio"), "{}", ended.err);
    workspace.run("fio").expect(2);
}

#[test]
fn fio_jobs_and_plans_convert_both_ways() {
    let _alone = exclusive_turn();
    let workspace = Workspace::new();
    let file =
        jobs(&workspace, "j.fio", "[a]\nrw=randread\nbs=4k\nsize=8m\nruntime=300ms\ntime_based\n");
    let toml = workspace.run(&format!("fio --convert {file}")).expect(0).out;
    let plan = workspace.write("j.toml", &toml);
    let document =
        workspace.run(&format!("run {plan} . --json --no-report")).expect_finished().json();
    assert_eq!(document["points"].as_array().unwrap().len(), 1);
    let text = workspace.run("plan quick . --as-fio --area 1GiB").expect(0).out;
    let again = workspace.write("quick.fio", &text);
    workspace.run(&format!("fio --parse-only {again}")).expect(0);
    if has_tools("the job file is fio's", &["fio"]) {
        sh(&format!("fio --parse-only {}/{again}", workspace.path().display())).unwrap();
    }
}

/// Example files of fio that qdepth supports completely.
const SUPPORTED: &[&str] = &[
    "1mbs_clients",
    "aio-read",
    "backwards-read",
    "basic-verify",
    "butterfly",
    "cmdprio-bssplit",
    "cmdprio-percentage",
    "cpp_null",
    "cross-stripe-verify",
    "dedupe-global",
    "dircreate-ioengine",
    "dirdelete-ioengine",
    "dirstat-ioengine",
    "disk-zone-profile",
    "enospc-pressure",
    "example_latency_steadystate",
    "exitwhat",
    "falloc",
    "filecreate-ioengine",
    "filedelete-ioengine",
    "filestat-ioengine",
    "fio-rand-RW",
    "fio-rand-read",
    "fio-rand-write",
    "fio-seq-RW",
    "fio-seq-read",
    "fio-seq-write",
    "fixed-rate-submission",
    "flow",
    "ftruncate",
    "fsx",
    "iometer-file-access-server",
    "jesd219",
    "latency-profile",
    "null",
    "numa",
    "poisson-rate-submission",
    "rand-zones",
    "ssd-steadystate",
    "ssd-test",
    "steadystate",
    "surface-scan",
    "tiobench-example",
    "uring-cmd-ng",
    "waitfor",
    "xnvme-compare",
    "zipf",
];

#[test]
fn think_time_and_file_sizes_transfer_like_fio() {
    if !has_tools("the same job in fio", &["fio"]) {
        return;
    }
    let _alone = exclusive_turn();
    let workspace = Workspace::new();
    let folder = workspace.path().display();
    let text = "[global]\nrw=randread\nbs=4k\nfilename=FILE\nfilesize=2m\n\
                [think]\nthinktime=100us\nthinktime_blocks=16\nsize=1m\n\
                [later]\nwait_for=think\nstartdelay=100ms\nnumber_ios=100\n\
                [loops]\nstonewall\nloops=3\nbs=8k\n";
    let theirs = jobs(&workspace, "theirs.fio", &text.replace("FILE", &format!("{folder}/theirs")));
    let ours = jobs(&workspace, "ours.fio", &text.replace("FILE", &format!("{folder}/ours")));
    let text = sh(&format!("fio --output-format=json {folder}/{theirs}")).unwrap();
    let real: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let made = workspace.run(&format!("fio --output-format=json --no-report {ours}"));
    let made = made.expect_finished().json();
    let moved = |document: &Value| -> Vec<(u64, u64)> {
        let jobs = document["jobs"].as_array().unwrap().iter();
        let read = |job: &Value, name: &str| job["read"][name].as_u64().unwrap();
        jobs.map(|job| (read(job, "total_ios"), read(job, "io_bytes"))).collect()
    };
    assert_eq!(moved(&made), moved(&real));
    assert_eq!(moved(&made), [(256, 1 << 20), (100, 409_600), (768, 6 << 20)]);
}

#[test]
fn fio_examples_are_accepted_or_refused_by_line() {
    let Some(folder) = std::env::var_os("QDEPTH_FIO_EXAMPLES") else {
        println!("SKIPPED: the examples of fio (cargo xtask test fetches them)");
        return;
    };
    let workspace = Workspace::new();
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "fio"))
        .collect();
    files.sort();
    assert!(files.len() > 60, "{} files", files.len());
    for path in files {
        let name = path.file_stem().unwrap().to_str().unwrap();
        // Option that the file's first lines prescribe.
        let more = if name == "xnvme-compare" { &["--section=default"][..] } else { &[] };
        // The folder of a checkout may contain a blank.
        let job = path.display().to_string();
        let words = [&["fio", "--convert", &*job], more].concat();
        let made = workspace.start_words(&words).wait();
        if SUPPORTED.contains(&name) {
            assert_eq!(made.status, Some(0), "{name}: {}", made.err);
            assert!(made.out.contains("[[step.load]]"), "{name}: {}", made.out);
            continue;
        }
        assert_eq!(made.status, Some(2), "{name}: {}", made.out);
        // `…/name.fio:12: [section] option=value: why`.
        let text = made.err.split_once(".fio:").unwrap_or_else(|| panic!("{name}")).1;
        let (line, rest) = text.split_once(": ").unwrap();
        let line: usize = line.parse().unwrap();
        let (section, option) = rest.split_once("] ").unwrap();
        if !option.split(": ").next().unwrap().contains('=') {
            let header = section.trim_start_matches('[');
            assert!(std::fs::read_to_string(&path).unwrap().contains(header), "{name}: {section}");
            continue;
        }
        let option_text = option.split(": ").next().unwrap();
        // An option may have no value, for example `exitall`.
        let value = option_text.split_once('=').map_or(option_text, |(_, value)| value);
        let bytes = std::fs::read(&path).unwrap();
        let written = String::from_utf8_lossy(&bytes).lines().nth(line - 1).unwrap().to_owned();
        assert!(written.contains(value), "{name}: line {line} is `{written}`, refused is {option}");
    }
}

#[test]
fn fio_job_verifies_its_written_data() {
    let _alone = exclusive_turn();
    let workspace = Workspace::new();
    let text = "[global]\nbs=4k\nsize=4m\ndirect=1\nioengine=libaio\niodepth=8\nfilename=FILE\n\
                [once]\nrw=randwrite\nverify=crc32c\n";
    let file = format!("{}/verified", workspace.path().display());
    let name = jobs(&workspace, "verify.fio", &text.replace("FILE", &file));
    let made = workspace.run(&format!("fio --output-format=json --no-report {name}"));
    let document = made.expect_finished().json();
    let job = &document["jobs"][0];
    for side in ["read", "write"] {
        assert_eq!(job[side]["total_ios"], 1024, "each block once: {side}");
    }
    assert_eq!(job["error"], 0);
    let mixed = jobs(
        &workspace,
        "mixed.fio",
        "[a]\nrw=randrw\nsize=2m\niodepth=4\nioengine=libaio\nverify=md5\nruntime=1\ntime_based\n",
    );
    let made =
        workspace.run(&format!("fio --output-format=json --no-report {mixed}")).expect(0).json();
    assert_eq!(made["jobs"][0]["error"], 0, "places that nothing wrote are held against nothing");
}

/// Runs the program through a link named `fio`.
pub(crate) fn as_fio(workspace: &Workspace, words: &str) -> std::process::Output {
    let link = workspace.join("bin/fio");
    if !link.exists() {
        std::fs::create_dir_all(workspace.join("bin")).expect("a folder");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_qdepth"), &link).expect("a link");
    }
    let shell = format!(
        "cd {} && PATH={}:$PATH; fio {words}",
        workspace.path().display(),
        workspace.join("bin").display()
    );
    std::process::Command::new("sh").args(["-c", &shell]).output().expect("a shell")
}

pub(crate) fn out(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Line without its figures, so that the output of two programs can be compared.
pub(crate) fn form(line: &str) -> String {
    let mut text = String::new();
    for letter in line.chars() {
        let letter = if letter.is_ascii_digit() { '9' } else { letter };
        let goes_on =
            (letter == '9' && text.ends_with(['9', '.'])) || (letter == '.' && text.ends_with('9'));
        if !goes_on {
            text.push(letter);
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn program_named_fio_prints_and_exits_like_fio() {
    let _alone = exclusive_turn();
    if !has_tools("the text of fio", &["fio"]) {
        return;
    }
    let workspace = Workspace::new();
    let text = "[mix]\nrw=randrw\nioengine=libaio\niodepth=4\nsize=4m\nruntime=2\ntime_based\n\
                fsync=16\nlat_percentiles=1\ndescription=a mix\n\
                [two]\nstonewall\nrw=read\nbs=64k\nsize=2m\nnumjobs=2\ngroup_reporting\n";
    let name = jobs(&workspace, "text.fio", text);
    let ours = as_fio(&workspace, &name);
    assert_eq!(ours.status.code(), Some(0), "{}", String::from_utf8_lossy(&ours.stderr));
    assert_eq!(String::from_utf8_lossy(&ours.stderr), "", "nothing on the standard error");
    let findings = workspace.run(&format!("fio --no-report {name}")).expect_finished().err;
    assert!(findings.contains("qdepth: grade B (buffered): "), "{findings}");
    let quiet = workspace.run(&format!("fio --no-report --qdepth-quiet {name}"));
    let quiet = quiet.expect_finished().err;
    assert!(!quiet.contains("qdepth: grade "), "{quiet}");
    let theirs = sh(&format!("cd {} && fio {name}", workspace.path().display())).unwrap();
    let key = |line: &str| {
        let line = form(line.trim_start()).replace("/syncfs", "");
        line.split(['=', '(', '|']).next().unwrap_or("").trim().to_owned()
    };
    // qdepth does not measure slat, and the classes of latency that occur differ between runs.
    let left_out = |line: &str| {
        ["slat", "lat", "|", "mix: Laying", "two: Laying", "bw", "iops"]
            .iter()
            .any(|word| line.trim_start().starts_with(word))
            || line.contains("percentiles")
            || line.contains("Laying out")
            || line.contains("fio-")
            || line.trim().is_empty()
    };
    let keys = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !left_out(line)).map(key).collect()
    };
    assert_eq!(keys(&out(&ours)), keys(&theirs));
    // Lines that must agree apart from their figures.
    for start in ["issued rwts", "IO depths", "submit", "complete", "latency", "cpu"] {
        let find = |text: &str| {
            let line = text.lines().find(|line| line.trim_start().starts_with(start));
            form(line.unwrap_or_else(|| panic!("{start}: {text}")))
        };
        let ours = find(&out(&ours));
        // Older versions print times without a unit.
        let ours = if is_older("fio") { ours.replace("9ns", "9") } else { ours };
        assert_eq!(ours, find(&theirs));
    }
    let bad = as_fio(&workspace, "--name=a --bs=zz --size=1m");
    assert_eq!(bad.status.code(), Some(1));
    assert_eq!(out(&as_fio(&workspace, "--version")).trim(), "fio-3.42");
    assert_eq!(as_fio(&workspace, "").status.code(), Some(1));
}

#[test]
fn terse_lines_have_the_fields_of_installed_fio() {
    let _alone = exclusive_turn();
    if !has_tools("terse lines of fio", &["fio"]) {
        return;
    }
    let workspace = Workspace::new();
    let words = "--name=a --rw=randrw --bs=4k --size=1m --ioengine=libaio --iodepth=2 \
                 --description=words --percentile_list=50:99";
    for version in 2..=5 {
        let more = format!("{words} --minimal --terse-version={version}");
        let ours = out(&as_fio(&workspace, &more));
        let folder = workspace.path().display().to_string();
        let theirs = sh(&format!("cd {folder} && fio {more}")).unwrap();
        let fields = |text: &str| -> Vec<String> {
            let line = text.lines().find(|line| line.starts_with(&version.to_string())).unwrap();
            line.trim().split(';').map(str::to_owned).collect()
        };
        let (ours, theirs) = (fields(&ours), fields(&theirs));
        assert_eq!(ours.len(), theirs.len(), "version {version}: {ours:?} {theirs:?}");
        for (place, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            let kind = |field: &str| match form(field).replace("-9", "9") {
                figure if figure.starts_with("9%=") => figure,
                figure if figure.ends_with('%') => "share".to_owned(),
                figure if figure.chars().all(|c| c == '9') => "figure".to_owned(),
                text => text,
            };
            if place != 1 {
                assert_eq!(kind(ours), kind(theirs), "version {version}, field {place}");
            }
        }
    }
}

#[test]
fn create_only_fills_new_files_and_keeps_others() {
    let workspace = Workspace::new();
    workspace.write("theirs", "dear");
    workspace.write("empty", "");
    let line = "fio --name=a --create_only=1 --size=1m --filename=";
    for name in ["theirs", "empty", "new/deep/file"] {
        workspace.run(&format!("{line}{name}")).expect(0);
    }
    let length = |name: &str| std::fs::metadata(workspace.join(name)).expect(name).len();
    assert_eq!(std::fs::read(workspace.join("theirs")).unwrap(), b"dear");
    for name in ["empty", "new/deep/file"] {
        assert!(length(name) >= 1 << 20, "{name}");
    }
    std::os::unix::fs::symlink("theirs", workspace.join("link")).unwrap();
    workspace.run(&format!("{line}link")).expect(0);
    assert_eq!(std::fs::read(workspace.join("theirs")).unwrap(), b"dear");
}

#[test]
fn every_fio_option_is_answered() {
    if !has_tools("the options of fio", &["fio"]) {
        return;
    }
    let workspace = Workspace::new();
    let listed =
        sh("fio --cmdhelp=all; for e in libaio io_uring pvsync2; do fio --enghelp=$e; done");
    let names: Vec<String> = listed
        .unwrap()
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, _)| name.trim().to_owned())
        .filter(|name| !name.is_empty() && !name.contains(' '))
        .collect();
    assert!(names.len() > 180, "{} options", names.len());
    let ours = workspace.run("fio --cmdhelp").expect(0).out;
    for name in names {
        let said = ours.lines().any(|line| line.split(':').next().map(str::trim) == Some(&name));
        // The list has the main names; a question for an alias prints the line of its option.
        let answer = |name| workspace.run(&format!("fio --cmdhelp={name}")).expect_finished().out;
        assert!(said || answer(&name).contains(": "), "{name} is passed over");
    }
}

#[test]
fn fio_run_writes_several_formats_and_logs() {
    let _alone = exclusive_turn();
    let workspace = Workspace::new();
    let words = "--name=a --filename='media\\:p3700-1600gb' --rw=randrw --bs=4k --iodepth=4 \
                 --ioengine=libaio --direct=1 --runtime=300ms --time_based --size=1g \
                 --log_avg_msec=100 --write_hist_log=h --log_hist_msec=100 \
                 --unified_rw_reporting=mixed";
    let made = out(&as_fio(&workspace, &format!("{words} --output-format=terse,json+,normal")));
    let terse = made.lines().position(|line| line.starts_with("3;fio-")).expect(&made);
    let json = made.lines().position(|line| line == "{").expect(&made);
    let normal = made.lines().position(|line| line.starts_with("a: (groupid=0, jobs=1)"));
    assert!(terse < json && json < normal.expect(&made), "in the order of fio");
    assert!(made.contains("  mixed: IOPS=") && made.contains("  MIXED: bw="), "{made}");
    assert!(made.contains("\"mixed\" : {") && !made.contains("\"read\" : {"), "{made}");
    let log = std::fs::read_to_string(workspace.join("h_clat_hist.1.log")).unwrap();
    let row: Vec<u64> =
        log.lines().next().unwrap().split(", ").map(|c| c.parse().unwrap()).collect();
    assert_eq!((row.len(), row[2]), (3 + 1856, 4096), "time, direction, size and every class");
    let counted: u64 = log
        .lines()
        .flat_map(|row| row.split(", ").skip(3).map(|count| count.parse::<u64>().unwrap()))
        .sum();
    let sorted = as_fio(&workspace, &format!("{words} --output-format=json"));
    let document: Value = serde_json::from_str(&out(&sorted)).unwrap();
    assert_eq!(document["jobs"][0]["mixed"]["total_ios"], counted, "the same seed, virtual time");
}
