//! fio's job files from end to end: measured, told in fio's JSON and logs, held against the fields
//! of the fio that is installed, and imported.

#![expect(clippy::disallowed_methods, reason = "tests run the program as a user does")]

#[cfg(test)]
mod common;

use std::collections::BTreeMap;

use common::{Place, alone, can, sh};
use serde_json::Value;

/// Every path of a document with the kind of its value. Names that are figures (percentiles, bins)
/// count as one; names of options are the user's.
fn fields(path: &str, value: &Value, found: &mut BTreeMap<String, &'static str>) {
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

fn jobs(place: &Place, name: &str, text: &str) -> String {
    place.write(name, text)
}

#[test]
fn the_json_has_the_fields_of_the_fio_that_is_here_with_their_kinds() {
    let _alone = alone();
    if !can("fields of fio's JSON", &["fio"]) {
        return;
    }
    let place = Place::new();
    let folder = place.path().display().to_string();
    sh(&format!("dd if=/dev/urandom of={folder}/fios bs=1M count=16 status=none")).unwrap();
    let theirs = jobs(&place, "theirs.fio", &JOBS.replace("FILE", &format!("{folder}/fios")));
    let ours = jobs(&place, "ours.fio", &JOBS.replace("FILE", &format!("{folder}/ours")));
    for form in ["json", "json+"] {
        let text = sh(&format!("fio --output-format={form} {folder}/{theirs}")).unwrap();
        let real: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
        let made = place.run(&format!("fio --output-format={form} --no-report {ours}"));
        let made = made.expect_finished().json();
        let (mut wanted, mut there) = (BTreeMap::new(), BTreeMap::new());
        fields("", &real, &mut wanted);
        fields("", &made, &mut there);
        // Counters of the device are empty here, and newer versions have the start of a job.
        wanted.retain(|path, _| !path.starts_with(".disk_util["));
        there.remove(".jobs[].job_start");
        for (path, kind) in &wanted {
            assert_eq!(there.get(path), Some(kind), "{form}: {path}");
        }
        let more: Vec<&String> = there.keys().filter(|path| !wanted.contains_key(*path)).collect();
        assert!(more.is_empty(), "{form}: fio has no {more:?}");
        let (real, made) = (&real["jobs"][0], &made["jobs"][0]);
        assert_eq!(
            real["job options"].as_object().map(|o| o.len()),
            made["job options"].as_object().map(|o| o.len())
        );
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
         ioengine=libaio\ngtod_reduce=0\ntime_based\nblocksize=8k\nruntime={runtime}\nlog_avg_msec=500\n\
         [Random_Write]\nrw=randwrite\nnumjobs=8\niodepth=8\nwrite_bw_log=WPT_{n}MBs\nrate=,{}k\n\
         filename={filename}\n\
         [Random_Read]\nrw=randread\nnumjobs=1\niodepth=1\nwrite_lat_log=WPT_{n}MBs\n\
         percentile_list=99:99.9:99.99:99.999:99.9999:99.99999:99.999999:99.9999999\nfilename={filename}\n",
        125 * n
    )
}

#[test]
fn the_sixty_files_of_write_pressure_run_on_an_emulated_drive() {
    let _alone = alone();
    let place = Place::new();
    let files: Vec<String> = (10..=600)
        .step_by(10)
        .map(|n| {
            jobs(&place, &format!("{n}.fio"), &write_pressure(n, "media\\:p3700-1600gb", "100ms"))
        })
        .collect();
    let made = place.run(&format!("fio --output-format=json --no-report {}", files.join(" ")));
    let document = made.expect_finished().json();
    let groups = document["jobs"].as_array().unwrap();
    assert_eq!(groups.len(), 60);
    for (group, n) in groups.iter().zip((10..=600).step_by(10)) {
        assert_eq!(group["jobname"], "Random_Write");
        assert!(group["read"]["iops"].as_f64().unwrap() > 0.0);
        let wanted = f64::from(n) * 1000.0 * 1024.0;
        let rate = group["write"]["bw_bytes"].as_f64().unwrap();
        // A window of 100 ms holds whole requests: one of each writer either way.
        let room = 8.0 * 2.0 * 8192.0 / 0.1;
        assert!((rate - wanted).abs() <= wanted * 0.005 + room, "{n}: {rate} against {wanted}");
    }
    assert!(place.has("WPT_600MBs_bw.539.log"), "threads are numbered over all files");
}

#[test]
fn a_file_of_write_pressure_runs_and_is_told_as_one_group() {
    let _alone = alone();
    let place = Place::new();
    let text = write_pressure(10, "target", "1").replace("runtime=1", "runtime=1\nsize=64m");
    let file = jobs(&place, "wpt.fio", &text);
    let made = place.run(&format!("fio --output-format=json --no-report --json {file}"));
    made.expect_finished();
    let made = place.run(&format!("fio --output-format=json --output=out.json --no-report {file}"));
    assert_eq!(made.expect_finished().out, "");
    let text = std::fs::read_to_string(place.join("out.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let [group] = document["jobs"].as_array().unwrap().as_slice() else { panic!("{document}") };
    assert_eq!(group["job options"]["rw"], "randread", "options are those of the last job");
    assert!(group["read"]["clat_ns"]["percentile"]["100.000000"].is_number());
    let log = std::fs::read_to_string(place.join("WPT_10MBs_lat.9.log")).unwrap();
    assert_eq!(log.lines().count(), 2, "{log}");
    assert!(!place.has("target") && !place.has("qdepth-measurement-file"), "nothing is left");
    place.run("import out.json WPT_10MBs_lat.9.log").expect(0);
    let shown = place.run("show").expect(0).out;
    assert!(shown.contains("imported") || shown.contains("another program"), "{shown}");
}

#[test]
fn refusals_name_the_option_and_change_nothing() {
    let _alone = alone();
    let place = Place::new();
    let file = jobs(&place, "bad.fio", "[a]\nsize=1m\n\niodept=4\n");
    let ended = place.run(&format!("fio {file}")).expect(2);
    assert!(ended.err.contains("bad.fio:4: [a] iodept=4: "), "{}", ended.err);
    assert!(ended.err.contains("`iodepth`"), "{}", ended.err);
    assert!(!place.has("qdepth.db"));
    let ended = place.run("fio missing.fio").expect(2);
    assert!(ended.err.contains("missing.fio"), "{}", ended.err);
    place.run("fio").expect(2);
}

#[test]
fn a_converted_plan_runs_by_itself_and_a_plan_goes_out_as_a_job_file() {
    let _alone = alone();
    let place = Place::new();
    let file =
        jobs(&place, "j.fio", "[a]\nrw=randread\nbs=4k\nsize=8m\nruntime=300ms\ntime_based\n");
    let toml = place.run(&format!("fio --convert {file}")).expect(0).out;
    let plan = place.write("j.toml", &toml);
    let document = place.run(&format!("run {plan} . --json --no-report")).expect_finished().json();
    assert_eq!(document["points"].as_array().unwrap().len(), 1);
    let text = place.run("plan quick . --as-fio --area 1GiB").expect(0).out;
    let again = place.write("quick.fio", &text);
    place.run(&format!("fio --parse-only {again}")).expect(0);
    if can("the job file is fio's", &["fio"]) {
        sh(&format!("fio --parse-only {}/{again}", place.path().display())).unwrap();
    }
}

/// Example files of fio that ask for nothing that qdepth lacks.
const SUPPORTED: &[&str] = &[
    "aio-read",
    "basic-verify",
    "fio-rand-RW",
    "fio-rand-read",
    "fio-rand-write",
    "fio-seq-RW",
    "fio-seq-read",
    "fio-seq-write",
    "fixed-rate-submission",
    "fsx",
    "iometer-file-access-server",
    "jesd219",
    "poisson-rate-submission",
    "rand-zones",
    "ssd-steadystate",
    "ssd-test",
    "tiobench-example",
    "waitfor",
];

#[test]
fn pauses_and_file_sizes_move_what_fio_moves() {
    if !can("the same job in fio", &["fio"]) {
        return;
    }
    let _alone = alone();
    let place = Place::new();
    let folder = place.path().display();
    let text = "[global]\nrw=randread\nbs=4k\nfilename=FILE\nfilesize=2m\n\
                [think]\nthinktime=100us\nthinktime_blocks=16\nsize=1m\n\
                [later]\nwait_for=think\nstartdelay=100ms\nnumber_ios=100\n\
                [loops]\nstonewall\nloops=3\nbs=8k\n";
    let theirs = jobs(&place, "theirs.fio", &text.replace("FILE", &format!("{folder}/theirs")));
    let ours = jobs(&place, "ours.fio", &text.replace("FILE", &format!("{folder}/ours")));
    let text = sh(&format!("fio --output-format=json {folder}/{theirs}")).unwrap();
    let real: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let made = place.run(&format!("fio --output-format=json --no-report {ours}"));
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
fn the_examples_of_fio_become_plans_or_are_refused_at_the_right_line() {
    let Some(folder) = std::env::var_os("QDEPTH_FIO_EXAMPLES") else {
        println!("SKIPPED: the examples of fio (cargo xtask test fetches them)");
        return;
    };
    let place = Place::new();
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "fio"))
        .collect();
    files.sort();
    assert!(files.len() > 60, "{} files", files.len());
    for path in files {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let made = place.run(&format!("fio --convert {}", path.display()));
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
        let option = rest.split_once("] ").unwrap().1;
        let option_text = option.split(": ").next().unwrap();
        // An option may stand alone, as `exitall`.
        let value = option_text.split_once('=').map_or(option_text, |(_, value)| value);
        let bytes = std::fs::read(&path).unwrap();
        let written = String::from_utf8_lossy(&bytes).lines().nth(line - 1).unwrap().to_owned();
        assert!(written.contains(value), "{name}: line {line} is `{written}`, refused is {option}");
    }
}

#[test]
fn what_a_job_writes_is_read_back_and_verified() {
    let _alone = alone();
    let place = Place::new();
    let text = "[global]\nbs=4k\nsize=4m\ndirect=1\nioengine=libaio\niodepth=8\nfilename=FILE\n\
                [once]\nrw=randwrite\nverify=crc32c\n";
    let file = format!("{}/verified", place.path().display());
    let name = jobs(&place, "verify.fio", &text.replace("FILE", &file));
    let made = place.run(&format!("fio --output-format=json --no-report {name}"));
    let document = made.expect_finished().json();
    let job = &document["jobs"][0];
    for side in ["read", "write"] {
        assert_eq!(job[side]["total_ios"], 1024, "each block once: {side}");
    }
    assert_eq!(job["error"], 0);
    let mixed = jobs(&place, "mixed.fio", "[a]\nrw=randrw\nsize=1m\nverify=md5\n");
    let refused = place.run(&format!("fio {mixed}")).expect(2);
    assert!(refused.err.contains("mixed.fio:4: [a] verify=md5"), "{}", refused.err);
}
