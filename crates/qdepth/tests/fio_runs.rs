//! Accepted options of fio also run: each load completes I/Os, and jobs that end other jobs do so.

use std::fs;
use std::time::{Duration, Instant};

use crate::common::{Workspace, exclusive_turn, has_tools, points, program, sh};
use crate::fio::as_fio;
use serde_json::{Value, json};

/// Loads, each for half a second on an emulated drive.
const SHAPES: &[&str] = &[
    "--rw=read --bs=64k --zonemode=strided --zonesize=1m --zoneskip=3m --size=64m",
    "--rw=write --bs=64k --zonemode=strided --zonesize=1m --zonerange=2m --zoneskip=2m --size=64m",
    "--rw=read:-128k --bs=64k --size=64m",
    "--rw=write:-256k --bs=64k --size=64m --offset=4k",
    "--rw=write:112k --bs=16k --offset=120k --size=64m",
    "--rw=randread:8 --size=64m",
    "--rw=randwrite --bs=4k-64k --size=64m",
    "--rw=randread --bsrange=4k-64k --size=64m",
    "--rw=randrw --bssplit=4k/60:64k/40 --rwmixread=70 --size=64m",
    "--rw=randrw --bs=4k,64k --size=64m",
    "--rw=randrw --bssplit=4k/60:64k/40,128k --rwmixread=70 --rate=1m,2m --size=64m",
    "--rw=rw --bsrange=4k-8k,16k-32k --blockalign=8k,4k --verify=crc32c --size=8m",
    "--rw=randwrite --percentage_random=,50, --size=64m",
    "--rw=randread --offset=33% --offset_align=1m --size=1%",
    "--rw=randread --random_distribution=normal:20 --size=64m",
    "--rw=randread --random_distribution=zipf:1.2 --norandommap --size=64m",
    "--rw=write --bs=64m --size=256m --number_ios=2",
    "--rw=randwrite --fsync=16 --sync=dsync --size=64m",
    "--rw=randread --rate_iops=1000 --rate_process=poisson --size=64m",
    "--rw=randread --thinktime=100 --thinktime_blocks=4 --size=64m",
    "--rw=randread --ioengine=mmap --iodepth=8 --size=64m",
    "--rw=randread --steadystate=iops:2% --ss_dur=1 --size=64m --number_ios=100",
    "--rw=read --numjobs=3 --offset_increment=25% --size=1%",
    "--rw=rw --fsync=1 --flow=8 --size=4m",
    "--rw=read --numa_cpu_nodes=0,0 --size=4m",
];

#[test]
fn every_parsed_job_shape_also_runs() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    for shape in SHAPES {
        let words = format!("--name=j --filename=media\\:p3700-1600gb --runtime=500ms {shape}");
        workspace.run(&format!("fio --parse-only {words}")).expect(0);
        let made = workspace.run(&format!("fio --output-format=json --no-report {words}"));
        let document = made.expect(0).json();
        let job = &document["jobs"][0];
        let moved = |way: &str| job[way]["total_ios"].as_u64().unwrap();
        assert!(moved("read") + moved("write") > 0, "{shape}: {job:#}");
        assert_eq!(job["error"], 0, "{shape}");
    }
}

/// Exit status and figures agree with fio's.
#[test]
fn verify_only_read_detects_data_without_verify_headers() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    sh(&format!("head -c 1M /dev/urandom >{}", workspace.join("f").display())).unwrap();
    let reads = "--name=r --filename=f --size=1m --rw=read --verify=md5 --no-report";
    let made = workspace.run(&format!("fio {reads}"));
    assert!(made.expect(1).out.contains("err=84 ("));
    let writes = "--name=w --filename=g --size=1m --rw=write --verify=md5 --do_verify=0";
    let reads = reads.replace("=f ", "=g --stonewall ");
    let made = workspace.run(&format!("fio {writes} {reads}")).expect_finished();
    assert_eq!(made.out.matches("err= 0").count(), 2, "{}", made.out);
}

#[test]
fn link_keeps_files_and_later_runs_verify_them() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let fio = |job: &str| {
        let ended = as_fio(&workspace, &format!("--name=j --size=1m --bs=4k --verify=md5 {job}"));
        (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
    };
    let clean = (Some(0), String::new());
    for file in ["j.0.0", "named"] {
        let name = if file == "named" { " --filename=named" } else { "" };
        assert_eq!(fio(&format!("--rw=write --do_verify=0{name}")), clean);
        assert_eq!(workspace.join(file).metadata().unwrap().len(), (1 << 20) + 4096);
        assert_eq!(fio(&format!("--rw=read{name}")), clean);
        assert_eq!(fio(&format!("--rw=randwrite --verify_only{name}")), clean);
        let (status, says) = fio(&format!("--rw=read --verify=sha1{name}"));
        assert!(status == Some(1) && says.contains("256 reads found other data"), "{says}");
        assert_eq!(fio(&format!("--rw=randwrite{name}")), clean, "the file is qdepth's");
        let at = workspace.join(file);
        sh(&format!("printf x | dd of={} bs=1 seek=70000 conv=notrunc", at.display())).unwrap();
        let (status, says) = fio(&format!("--rw=read{name}"));
        assert!(status == Some(1) && says.contains(" 1 reads found other data"), "{says}");
        let before = fs::read(&at).unwrap();
        fio(&format!("--rw=write{name}"));
        assert!(before == fs::read(&at).unwrap(), "what others changed is not overwritten");
    }
    assert_eq!(fio("--rw=write --filename=gone --unlink=1"), clean);
    assert!(!workspace.has("gone"));
    // A shorter job leaves what the longer one wrote.
    let both = "--filename_format=k --do_verify=0 --rw=write";
    assert_eq!(fio(both), clean);
    assert_eq!(fio(&format!("{both} --size=512k")), clean);
    assert_eq!(fio("--filename_format=k --rw=read"), clean);
    assert_eq!(workspace.join("k").metadata().unwrap().len(), (1 << 20) + 4096);
}

#[test]
fn logs_without_window_have_one_row_per_io() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    for target in ["--ioengine=null", "--filename=f --rate_iops=2000", "--numjobs=2"] {
        let words = format!(
            "fio --name=j --size=1m --rw=randwrite {target} --no-report --output-format=json \
             --write_lat_log=l --write_iops_log=i --group_reporting"
        );
        let made = workspace.run(&words).expect(0).json();
        let written = made["jobs"][0]["write"]["total_ios"].as_u64().unwrap();
        let rows = |kind: &str| {
            let logs =
                (1..=2).map(|n| fs::read_to_string(workspace.join(&format!("{kind}.{n}.log"))));
            logs.flatten().map(|text| text.lines().count() as u64).sum::<u64>()
        };
        assert!(written >= 256, "{made:#}");
        assert_eq!([rows("l_lat"), rows("l_clat"), rows("i_iops")], [written; 3], "{target}");
        sh(&format!("rm {}/*.log", workspace.path().display())).unwrap();
    }
}

#[test]
fn impossible_imported_figures_are_grade_c() {
    let workspace = Workspace::new();
    for (iops, bytes, ios, grade) in [
        (1e5, 4_000_000_000_u64, 1_000_000_u64, "B"),
        (1e21, u64::MAX, u64::MAX, "C"),
        (1e5, 4_000_000_000, 2_000_000, "C"),
    ] {
        let side = serde_json::json!({
            "io_bytes": bytes, "bw_bytes": bytes / 10, "iops": iops, "runtime": 10_000,
            "total_ios": ios, "lat_ns": {"mean": 8000.0, "N": 1000},
        });
        let options = serde_json::json!({"rw": "randread", "bs": "4k", "iodepth": "1"});
        let job = serde_json::json!({"jobname": "a", "read": side, "job options": options});
        let text = serde_json::json!({"fio version": "fio-3.33", "jobs": [job]}).to_string();
        let words = format!("import {}", workspace.write("fio.json", &text));
        workspace.run(&words).expect(0);
        assert_eq!(workspace.run("export").expect(0).json()["points"][0]["grade"], grade);
    }
}

#[test]
fn directories_are_created_like_fio_and_deleted() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let words = "--name=a --filename=no/folder/f --size=1m --rw=write --no-report";
    workspace.run(&format!("fio {words}")).expect_finished();
    assert!(!workspace.join("no").exists());
    workspace.run(&format!("fio {words} --keep")).expect_finished();
    assert!(workspace.join("no/folder").read_dir().unwrap().next().is_some());
}

#[test]
fn exitall_ends_other_and_later_jobs() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let text = "[global]\nbs=4k\nsize=4m\nexitall\n[short]\nrw=read\nnumber_ios=50\n\
        [long]\nrw=randread\nthinktime=10000\nexit_what=all\n[never]\nstonewall\nrw=read\n";
    let file = workspace.write("jobs.fio", text);
    let began = Instant::now();
    let made =
        workspace.run(&format!("fio --output-format=json --no-report {file}")).expect(0).json();
    assert!(began.elapsed() < Duration::from_secs(9), "the long one has ten seconds to go");
    let jobs = made["jobs"].as_array().unwrap();
    assert_eq!(jobs[0]["read"]["total_ios"], 50);
    assert!(jobs[1]["read"]["total_ios"].as_u64().unwrap() < 1024, "{jobs:#?}");
    assert!(jobs.iter().all(|job| job["jobname"] != "never"), "{jobs:#?}");
}

#[test]
fn parse_only_accepts_absent_targets_with_a_warning() {
    let workspace = Workspace::new();
    let words = "--name=a --filename=/dev/nvme77n1 --rw=randread --size=50% --offset=50%";
    let absent = workspace.run(&format!("fio --parse-only {words}")).expect(0);
    assert!(
        absent.err.contains("a run on this machine would be refused: refused by guard G1"),
        "{}",
        absent.err
    );
    let later = workspace.run("fio --parse-only --name=a --filename=later --rw=read").expect(0);
    assert!(later.err.contains("it does not exist"), "{}", later.err);
    workspace.run("fio --no-report --name=a --filename=later --rw=read").expect(2);
    fs::write(workspace.join("later"), vec![1; 1 << 20]).unwrap();
    let there = workspace.run("fio --parse-only --name=a --filename=later --rw=read").expect(0);
    assert_eq!(there.err, "");
    workspace.run("fio --no-report --name=a --filename=later --rw=read").expect(0);
    for (more, why) in [
        ("--cpus_allowed=0-x", "cpus_allowed"),
        ("--numa_cpu_nodes=0,77", "there is no node 77"),
        ("--name=b --ioengine=null", "EMULATED jobs cannot run together"),
        ("--name=b --filename=media\\:p3700-1600gb", "EMULATED jobs cannot run together"),
    ] {
        for parse_only in ["--parse-only", ""] {
            let refused =
                format!("fio --no-report {parse_only} --name=a --size=1m --rw=read {more}");
            let refused = workspace.run(&refused).expect(2);
            assert!(refused.err.contains(why), "{more}: {}", refused.err);
        }
    }
    // Reasons that depend on the machine are reported by `--parse-only`, but only the run refuses.
    fs::write(workspace.join("theirs"), vec![1; 1 << 20]).unwrap();
    for (more, why) in [
        ("--directory=no/folder", "`no/folder` is not a directory"),
        ("--filename=theirs --rw=write", "--destroy"),
        ("--filename=theirs --rw=randread --ioengine=io_uring_cmd", "io_uring-passthrough"),
    ] {
        let words = format!("--name=a --size=1m --rw=read --direct=1 {more}");
        let said = workspace.run(&format!("fio --parse-only {words}")).expect(0);
        assert!(said.err.contains(why), "{more}: {}", said.err);
        let refused = workspace.run(&format!("fio --no-report {words}"));
        assert!(matches!(refused.status, Some(2..=4)), "{more}: {refused:?}");
        assert!(refused.err.contains(why), "{more}: {}", refused.err);
    }
    let consented = "--name=a --size=1m --direct=1 --rw=write --directory=.";
    let nothing = workspace.run(&format!("fio --parse-only {consented}")).expect(0);
    assert_eq!(nothing.err.lines().count(), 1, "{}", nothing.err);
    assert!(nothing.err.contains("always filled before"), "{}", nothing.err);
    let none = workspace.run("fio --parse-only --rw=read").expect(0);
    assert!(none.err.contains("there is no job"), "{}", none.err);
}

/// I/Os of each job in a document of fio's format.
fn requests(document: &Value) -> Vec<f64> {
    let jobs = document["jobs"].as_array().expect("jobs").iter();
    let count = |job: &Value, way: &str| job[way]["total_ios"].as_f64().expect("a count");
    jobs.map(|job| count(job, "read") + count(job, "write")).collect()
}

#[test]
fn flow_jobs_issue_ios_by_weight_like_fio() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let text = "[global]\nfilename=FILE\nsize=16m\nbs=4k\nioengine=libaio\ndirect=1\niodepth=4\n\
        norandommap\nrw=randread\ntime_based\nruntime=1\nflow_sleep=1000\n\
        [many]\nflow=8\n[few]\nflow=1\n[untied]\niodepth=1\n";
    let file = workspace.join("area");
    fs::write(&file, vec![1; 16 << 20]).unwrap();
    let file = file.display().to_string();
    let check = |document: &Value, who: &str, (least, most): (f64, f64)| {
        let [many, few, untied] = requests(document)[..] else { panic!("{document:#}") };
        assert!(many > 100.0 && untied > 100.0, "{who}: {document:#}");
        assert!(many / few > least && many / few < most, "{who}: {many} and {few}");
    };
    for (number, target) in [file.as_str(), "media\\:p3700-1600gb"].into_iter().enumerate() {
        let jobs = workspace.write(&format!("{number}.fio"), &text.replace("FILE", target));
        let made = workspace.run(&format!("fio --output-format=json --no-report {jobs}"));
        check(&made.expect_finished().json(), target, (7.2, 8.8));
    }
    if has_tools("the same jobs in fio", &["fio"]) {
        let jobs = workspace.write("fio.fio", &text.replace("FILE", &file));
        let jobs = workspace.join(&jobs);
        let told = sh(&format!("fio --output-format=json {}", jobs.display())).unwrap();
        let real: Value = serde_json::from_str(&told[told.find('{').unwrap()..]).unwrap();
        // Its jobs end one after the other, so the last runs without the others.
        check(&real, "fio", (4.0, 100.0));
    }
}

#[test]
fn flows_require_single_file_jobs() {
    let workspace = Workspace::new();
    let words = "--name=a --rw=randread --size=1m --filename=x";
    let made =
        workspace.run(&format!("fio --convert {words} --flow=3 --flow_id=2 --flow_sleep=50"));
    let plan = made.expect(0).out;
    assert!(plan.contains("flow = { group = 2, weight = 3, pause = \"50us\" }"), "{plan}");
    let without =
        workspace.run(&format!("fio --convert {words} --flow=0 --flow_sleep=50")).expect(0);
    assert!(!without.out.contains("flow"), "{}", without.out);
    for (more, why) in [("--flow=1001", "between 0 and 1000"), ("--flow=-1", "between 0 and 1000")]
    {
        let refused = workspace.run(&format!("fio --convert {words} {more}")).expect(2);
        assert!(refused.err.contains(why), "{}", refused.err);
    }
    let several = "fio --convert --name=a --flow=1 --size=1m --iodepth=2 --ioengine=libaio \
                   --filename=/dev/x:/dev/y";
    let refused = workspace.run(several).expect(2);
    assert!(refused.err.contains("one job per file"), "{}", refused.err);
}

#[test]
fn mixed_reads_and_writes_have_separate_block_sizes() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let words = "--name=a --size=32m --rw=randrw --rwmixread=75 --bs=4k,64k --ioengine=libaio \
                 --direct=1 --iodepth=4 --norandommap --rate_iops=600,200 --runtime=1 --time_based";
    let folder = workspace.path().display();
    let check = |document: &Value, who: &str| {
        let job = &document["jobs"][0];
        let number = |way: &str, name: &str| job[way][name].as_f64().unwrap();
        for (way, size, rate) in [("read", 4096.0, 600.0), ("write", 65536.0, 200.0)] {
            let (requests, bytes) = (number(way, "total_ios"), number(way, "io_bytes"));
            assert!((bytes / requests - size).abs() < 1e-6, "{who} {way}: {bytes} in {requests}");
            // qdepth draws the direction of each of 800 I/Os.
            assert!((number(way, "iops") / rate - 1.0).abs() < 0.2, "{who} {way}: {job:#}");
        }
    };
    let ours = format!("fio --output-format=normal,json --no-report {words} --filename");
    let made = workspace.run(&format!("{ours} media\\:p3700-1600gb")).expect(0);
    let document = made.out.lines().skip_while(|line| *line != "{").collect::<Vec<_>>().join("\n");
    let end = document.rfind("\n}").unwrap();
    check(&serde_json::from_str(&document[..end + 2]).unwrap(), "ours");
    let header = "rw=randrw, bs=(R) 4096B-4096B, (W) 64.0KiB-64.0KiB, (T) 64.0KiB-64.0KiB";
    assert!(made.out.contains(header), "{}", made.out);
    if has_tools("the same job in fio", &["fio"]) {
        let words = words.replace("--name=a", &format!("--name=a --filename={folder}/theirs"));
        let told = sh(&format!("fio --output-format=normal,json {words}")).unwrap();
        assert!(told.contains(header), "{told}");
        let document = told.lines().skip_while(|line| *line != "{").collect::<Vec<_>>().join("\n");
        let end = document.rfind("\n}").unwrap();
        check(&serde_json::from_str(&document[..end + 2]).unwrap(), "fio");
    }
}

#[test]
fn io_priorities_reach_the_kernel() {
    if !has_tools("requests of who may not be first", &["setpriv"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    fs::write(workspace.join("area"), vec![1; 16 << 20]).unwrap();
    let drop = "setpriv --bounding-set=-sys_nice,-sys_admin";
    let program = program();
    let words = format!(
        "--filename=area --size=16m --rw=randread --bssplit=4k/50:8k/50 --norandommap --direct=1 \
         --iodepth=8 --runtime=500ms --time_based --logbook {}",
        workspace.join("l.db").display()
    );
    // Few may use the real-time class: the kernel refuses the I/Os with it, and no others.
    for (engine, asked, share) in [
        ("libaio", "--cmdprio_percentage=20", 0.2),
        ("io_uring", "--cmdprio_percentage=20,70 --prio=6", 0.2),
        ("io_uring", "--cmdprio_bssplit=4k/30/1/3:4k/50/2/1:8k/0,4k/99", 0.15),
        ("libaio", "--cmdprio_percentage=100 --cmdprio_class=2 --cmdprio=7", 0.0),
        ("libaio", "--prioclass=3 --cmdprio_percentage=40", 0.4),
    ] {
        let told = sh(&format!(
            "cd {} && {drop} {program} fio --output-format=json --no-report {words} --name=a \
             --ioengine={engine} {asked} || true",
            workspace.path().display()
        ));
        let told = told.expect("a shell");
        let document: Value = serde_json::from_str(&told).expect(&told);
        let job = &document["jobs"][0];
        let kept = workspace.run("export latest --logbook l.db").expect(0).json();
        let errors = kept["points"][0]["errors"].as_array().unwrap();
        assert!(errors.iter().all(|error| error["errno"] == 1), "EPERM: {errors:?}");
        let failed: f64 = errors.iter().map(|error| error["count"].as_f64().unwrap()).sum();
        let all = failed + job["read"]["total_ios"].as_f64().unwrap();
        assert!(all > 500.0, "{engine} {asked}: {job:#}");
        assert!((failed / all - share).abs() < 0.06, "{engine} {asked}: {failed} of {all}");
        assert_eq!(job["error"], if share > 0.0 { 1 } else { 0 }, "{job:#}");
    }
    let first = sh(&format!(
        "cd {} && {drop} {program} fio --no-report {words} --name=a --ioengine=psync --prioclass=1",
        workspace.path().display()
    ));
    let refused = first.unwrap_err();
    assert!(refused.contains("the kernel refused the priority"), "{refused}");
}

#[test]
fn priorities_without_effect_are_refused() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let medium = "--name=a --filename=media\\:p3700-1600gb --size=1m --runtime=500ms --rw=randread";
    let made = workspace.run(&format!("fio --no-report {medium} --prioclass=2 --prio=3")).expect(2);
    assert!(made.err.contains("does not support priorities"), "{}", made.err);
    let words = "--name=a --size=1m --rw=randread";
    for (more, why) in [
        ("--cmdprio_percentage=10", "libaio and io_uring"),
        ("--ioengine=libaio --cmdprio_percentage=110", "between 0 and 100"),
        ("--ioengine=libaio --cmdprio_percentage=1 --cmdprio_bssplit=4k/1", "not together"),
        ("--ioengine=libaio --cmdprio_bssplit=4k/1/2", "64k/25/1/0"),
        ("--prio=8", "between 0 and 7"),
        ("--prioclass=4", "1, 2 or 3"),
    ] {
        let refused = workspace.run(&format!("fio --convert {words} {more}")).expect(2);
        assert!(refused.err.contains(why), "{more}: {}", refused.err);
    }
}

#[test]
fn job_below_minimum_rate_ends_like_fio() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let slow = "--rw=randread --size=16m --thinktime=50ms --time_based --runtime=20";
    let words = format!("--name=a --filename=media\\:p3700-1600gb {slow}");
    let behind =
        "--name=b --stonewall --filename=media\\:p3700-1600gb --rw=read --size=1m --bs=64k";
    for (asked, said) in [
        ("--rate_min=1m", "a: rate_min=1048576B/s not met, got 81"),
        ("--rate_iops_min=100 --ratecycle=500", "a: rate_iops_min=100 not met, got "),
        ("--rate_iops_min=,1000,", ""),
        ("--rate_iops_min=10", ""),
    ] {
        let made = workspace
            .run(&format!("fio --no-report --output-format=json {words} {asked} {behind}"));
        let kept = said.is_empty();
        assert_eq!(made.status, Some(i32::from(!kept)), "{asked}: {}", made.err);
        assert!(made.err.contains(said), "{asked}: {}", made.err);
        let document = made.json();
        let field = |job: usize, name: &str| document["jobs"][job][name].clone();
        assert_eq!(field(0, "error"), if kept { 0 } else { 5 }, "{asked}");
        let time = document["jobs"][0]["read"]["runtime"].as_u64().unwrap();
        let until = if asked.contains("cycle") { 2_500 } else { 3_000 };
        let until = if kept { 20_000 } else { until };
        assert!((until..until + 200).contains(&time), "{asked}: {time}");
        // The jobs after it run nevertheless.
        assert_eq!(
            (field(1, "error"), field(1, "read")["total_ios"].as_u64()),
            (0.into(), Some(16))
        );
    }
    let above = "--name=a --size=1m --rw=read --rate=64k --rate_min=128k";
    let refused = workspace.run(&format!("fio --parse-only {above}")).expect(2);
    let why = "rate_min=128k: refused: must not be above rate=";
    assert!(refused.err.contains(why), "{}", refused.err);
}

#[test]
fn job_ends_at_steady_state_like_fio() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let words = "--name=a --filename=media\\:p3700-1600gb --rw=randread --size=16m --time_based \
                 --runtime=60 --rate_iops=1000";
    for (asked, ss, line) in [
        ("--ss=iops:5% --ss_dur=3", "iops:5.000000%", ", iops mean dev=0."),
        (
            "--ss=bw_slope:1% --ss_dur=4 --ss_ramp=2 --ss_interval=500ms",
            "bw_slope:1.000000%",
            "bw slope=0.000%",
        ),
        ("--ss=lat:1000000 --ss_dur=5", "lat:1000000.000000", "lat mean dev="),
    ] {
        let forms = "--output-format=normal,json";
        let made = workspace.run(&format!("fio --no-report {forms} {words} {asked}")).expect(0);
        let told = made.out.lines().find(|line| line.starts_with("  steadystate  :")).unwrap();
        assert!(told.contains("attained=yes, bw=") && told.contains(line), "{told}");
        let document =
            &made.out[made.out.find("\n{").unwrap()..=made.out.rfind("\n}").unwrap() + 1];
        let document: Value = serde_json::from_str(document).unwrap();
        let job = &document["jobs"][0];
        let steady = &job["steadystate"];
        assert_eq!((&steady["ss"], &steady["attained"]), (&ss.into(), &1.into()), "{steady:#}");
        let seconds =
            steady["duration"].as_u64().unwrap() + if asked.contains("ramp") { 2 } else { 0 };
        let ms = job["read"]["runtime"].as_u64().unwrap();
        assert!((1000 * seconds..1000 * seconds + 150).contains(&ms), "{ms}: {steady:#}");
        let samples = steady["data"]["iops"].as_array().unwrap();
        assert_eq!(samples.len() as u64, if asked.contains("interval") { 8 } else { seconds });
        assert!(
            samples.iter().all(|ios| (980..1020).contains(&ios.as_u64().unwrap())),
            "{steady:#}"
        );
    }
    // Several clones are reported as their sum, and they continue.
    let several = format!(
        "fio --output-format=json --no-report {words} --runtime=6 --numjobs=2 \
        --group_reporting --ss=iops:5% --ss_dur=3"
    );
    let job = workspace.run(&several).expect(0).json()["jobs"][0].clone();
    assert_eq!(
        (&job["read"]["runtime"], &job["steadystate"]["attained"]),
        (&6000.into(), &1.into())
    );
    let mean = job["steadystate"]["data"]["iops_mean"].as_u64().unwrap();
    assert!((1_990..2_010).contains(&mean), "{job:#}");
    let refused =
        workspace.run("fio --parse-only --name=a --size=1m --ss=iops --ss_dur=3").expect(2);
    assert!(refused.err.contains("needs a limit"), "{}", refused.err);
}

/// On many file systems, `io_uring` passes buffered writes to a thread of the kernel: a job of
/// `psync` would get a tenth of its rate.
#[test]
fn synchronous_fio_engines_make_blocking_calls() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    for (words, engine) in [
        ("fio --name=a --ioengine=psync", "sync"),
        ("fio --name=a", "sync"),
        ("fio --name=a --ioengine=mmap", "mmap"),
        ("fio --name=a --ioengine=mmap --direct=1", "sync"),
        ("fio --name=a --ioengine=libaio", "linux-aio"),
        ("fio --name=b --rw=read --size=1m --stonewall --name=a --ioengine=mmap", "sync"),
        ("ior --no-report -w -r -t 64k -b 1m -o shared --", "sync"),
    ] {
        let words = match words.split_once(" --name") {
            Some(_) => format!("{words} --rw=randrw --bs=4k --size=1m --loops=2 --no-report"),
            None => words.trim_end_matches(" --").to_owned(),
        };
        workspace.run(&words).expect_finished();
        let document = workspace.run("export latest").expect(0).json();
        assert_eq!(document["targets"][0]["engine"], engine, "{words}");
        assert!(points(&document).iter().all(|point| point["errors"] == json!([])), "{words}");
    }
}

/// `uncached=1`: the pages leave the page cache; `atomic=1` is refused where nothing is atomic.
#[test]
fn flags_of_fio_transfers_reach_the_kernel() {
    let test = "flags_of_fio_transfers_reach_the_kernel";
    if !has_tools(test, &["losetup", "mkfs.ext4", "fincore"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let device = workspace.device("image", 64 << 20);
    let node = device.display();
    sh(&format!("mkfs.ext4 -q {node}")).unwrap();
    let at = workspace.mounted(&device, "", "at");
    let place = at.display();
    fs::write(at.join("data"), vec![7; 8 << 20]).unwrap();
    let cached = || -> u64 {
        let pages = sh(&format!("fincore -n -b -o RES {place}/data")).unwrap();
        pages.trim().parse().unwrap()
    };
    let read = "--name=r --filename=at/data --rw=read --bs=64k --size=8m --no-report";
    for (more, engine) in [("", "psync"), ("--uncached=1", "pvsync2"), ("--uncached=1", "io_uring")]
    {
        sh(&format!("sync && echo 1 >/proc/sys/vm/drop_caches && test -e {place}/data")).unwrap();
        let ended = workspace.run(&format!("fio {read} --ioengine={engine} {more}"));
        if ended.err.contains("RWF_DONTCACHE") {
            return println!("SKIPPED: {test}: {}", ended.err);
        }
        ended.expect_finished();
        match more {
            "" => assert!(cached() >= 8 << 20, "{}", cached()),
            _ => assert!(cached() < 1 << 20, "{engine}: {}", cached()),
        }
    }
    // Pages of earlier runs do not serve a job, as in fio: the device is read again.
    let stat = format!("/sys/class/block/{}/stat", node.to_string().trim_start_matches("/dev/"));
    let sectors =
        || -> u64 { sh(&format!("awk '{{print $3}}' {stat}")).unwrap().trim().parse().unwrap() };
    for (more, is_cached) in [("--invalidate=0", true), ("", false), ("--loops=3", false)] {
        sh(&format!("cat {place}/data >/dev/null")).unwrap();
        let before = sectors();
        workspace.run(&format!("fio {read} --ioengine=psync {more}")).expect_finished();
        let read = sectors() - before;
        // Each pass reads all of the file.
        let passes = if more == "--loops=3" { 3 } else { 1 };
        let least = 16384 * passes;
        assert!(if is_cached { read < 2000 } else { read >= least }, "`{more}`: {read} sectors");
    }
    // Advice about one job does not outlast it: without advice, the kernel reads ahead.
    let one = "--filename=at/data --bs=4k --size=8m --number_ios=1 --ioengine=psync";
    let random = format!("--name=a {one} --rw=randread --stonewall");
    let plain = format!("--name=b {one} --rw=read --stonewall --fadvise_hint=0");
    workspace.run(&format!("fio --no-report {random} {plain}")).expect_finished();
    assert!(cached() > 8 << 10, "{} bytes are cached", cached());
    let atomic = "--atomic=1 --rw=randwrite --bs=4k --size=4m --no-report";
    let refused = workspace.run(&format!("fio --name=w {atomic}")).expect(2);
    assert!(refused.err.contains("needs ioengine="), "{}", refused.err);
    let refused = workspace.run(&format!("fio --name=w --directory=at {atomic} --ioengine=libaio"));
    assert!(refused.err.contains("the storage reports none"), "{}", refused.err);
    let refused = workspace.run("run quick at --engine mmap --no-report").expect(2);
    assert!(refused.err.contains("Add `direct = false`"), "{}", refused.err);
    let refused = workspace.run("run quick at --engine sync --no-report").expect(2);
    assert!(refused.err.contains("512 I/Os in flight per worker"), "{}", refused.err);
    let uncached = "--name=w --directory=at --rw=randread --bs=4k --size=4m --uncached=1";
    let engine = "--ioengine=pvsync2 --engine threads";
    let refused = workspace.run(&format!("fio {uncached} {engine} --no-report")).expect(2);
    assert!(refused.err.contains("passes no io_flag"), "{}", refused.err);
    assert!(!workspace.has("at/w.0.0"), "nothing is created before a refusal");
}
