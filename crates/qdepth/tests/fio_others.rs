//! Jobs of fio without random offsets: traces, compared with the installed fio, and operations on
//! directory entries and file sizes, which leave nothing behind.

use crate::common::{Workspace, has_tools, sh};
use serde_json::Value;

/// Reads, writes and runtime (ms) of the first job.
fn requests_by_way(document: &Value) -> (u64, u64, u64) {
    let job = &document["jobs"][0];
    let number = |way: &str, name: &str| job[way][name].as_u64().unwrap();
    assert_eq!(job["error"], 0, "{job:#}");
    (number("read", "total_ios"), number("write", "total_ios"), number("read", "runtime"))
}

fn ours(workspace: &Workspace, words: &str) -> Value {
    workspace.run(&format!("fio --output-format=json --no-report {words}")).expect_finished().json()
}

#[test]
fn fio_trace_replays_the_recorded_ios_and_times() {
    if !has_tools("a trace of fio", &["fio"]) {
        return;
    }
    let workspace = Workspace::new();
    let folder = workspace.path().display();
    let record = "--name=rec --filename=seen --size=1m --rw=randrw --rate_iops=400 --bs=4k";
    sh(&format!("cd {folder} && fio {record} --write_iolog=log > /dev/null")).unwrap();
    let replay = "--name=r --read_iolog=log --replay_redirect=there --ioengine=libaio --iodepth=8";
    sh(&format!("cd {folder} && dd if=/dev/urandom of=there bs=1M count=1 status=none")).unwrap();
    let text = sh(&format!("cd {folder} && fio --output-format=json {replay}")).unwrap();
    let theirs: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    // On a new file, because an existing one would need consent.
    let replay = replay.replace("there", "made");
    let made = requests_by_way(&ours(&workspace, &replay));
    let real = requests_by_way(&theirs);
    assert_eq!((made.0, made.1), (real.0, real.1), "requests of the trace");
    // 256 I/Os, 400 a second in each direction: 0.32 s as recorded.
    assert!((280..600).contains(&made.2), "{} ms as recorded", made.2);
    let slow = requests_by_way(&ours(&workspace, &format!("{replay} --replay_time_scale=50")));
    assert!(slow.2 > made.2 * 3 / 2, "{} ms at half the speed, {} ms else", slow.2, made.2);
    let fast = requests_by_way(&ours(&workspace, &format!("{replay} --replay_no_stall=1")));
    assert_eq!((fast.0, fast.1), (real.0, real.1));
    assert!(!workspace.has("made"), "what was made for it is gone");
    // On an emulated drive time is exact.
    let words = replay.replace("made", "media\\:p3700-1600gb");
    assert_eq!(requests_by_way(&ours(&workspace, &words)).0, real.0);
}

#[test]
fn directory_entry_engines_leave_no_entries() {
    let workspace = Workspace::new();
    for kind in ["filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete"] {
        let words = format!("--name=e --ioengine={kind} --nrfiles=40 --numjobs=2");
        let document = ours(&workspace, &words);
        for job in document["jobs"].as_array().unwrap() {
            assert_eq!(job["read"]["total_ios"], 40, "{kind}: {job:#}");
            assert_eq!(job["error"], 0, "{kind}");
        }
        // A second pass finds nothing left to remove.
        let twice =
            workspace.run(&format!("fio --output-format=json --no-report {words} --loops=2"));
        let (failed, status) =
            (matches!(kind, "filedelete" | "dirdelete" | "dircreate"), twice.status);
        assert_eq!(status, Some(i32::from(failed)), "{kind}: {}", twice.err);
        let left: Vec<_> = std::fs::read_dir(workspace.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            // Leaves out the logbook and the program's output.
            .filter(|name| ![".out", ".err"].iter().any(|end| name.ends_with(end)))
            .filter(|name| !name.starts_with("qdepth.db"))
            .collect();
        assert!(left.is_empty(), "{kind}: {left:?}");
    }
    let emulated = "fio --no-report --name=e --ioengine=filestat --directory=media\\:p3700-1600gb";
    assert_ne!(workspace.run(emulated).status, Some(0));
}

/// Directories in the workspace.
fn folders(workspace: &Workspace) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(workspace.path()).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).collect()
}

#[test]
fn entries_of_killed_run_are_deleted_by_next() {
    let workspace = Workspace::new();
    let words = "fio --no-report --name=e --nrfiles=200";
    let run = workspace
        .start(&format!("{words} --ioengine=filestat --time_based --runtime=60 --numjobs=2"));
    let is_filled = |path: &std::path::PathBuf| path.read_dir().is_ok_and(|all| all.count() == 200);
    let began = std::time::Instant::now();
    while folders(&workspace).iter().filter(|path| is_filled(path)).count() < 2 {
        assert!(began.elapsed().as_secs() < 30, "{:?}", folders(&workspace));
        std::thread::yield_now();
    }
    // Files of a live run stay.
    workspace.run(&format!("{words} --ioengine=dircreate")).expect(0);
    let left = folders(&workspace);
    assert!(left.len() == 2 && left.iter().all(is_filled), "{left:?}");
    run.kill();
    let attribute = format!("getfattr -n user.qdepth-made-by {}", left[0].display());
    if sh(&attribute).is_err() && has_tools("the mark of who made a directory", &["getfattr"]) {
        println!("SKIPPED: entries that a kill left (the file system has no attributes)");
        return;
    }
    // A directory with a foreign file keeps all of its files.
    std::fs::write(left[0].join("mine"), "mine").unwrap();
    workspace.run(&format!("{words} --ioengine=filecreate")).expect(0);
    assert_eq!(folders(&workspace), [left[0].clone()]);
    assert_eq!(left[0].read_dir().unwrap().count(), 201);
    std::fs::remove_file(left[0].join("mine")).unwrap();
    workspace.run(&format!("{words} --ioengine=filecreate")).expect(0);
    assert!(folders(&workspace).is_empty());
}

#[test]
fn read_after_truncate_and_fallocate_covers_whole_file() {
    let workspace = Workspace::new();
    let text = "[global]\nfilename=f\nsize=4m\nbs=4k\n[cut]\nioengine=ftruncate\nrw=randwrite\n\
                number_ios=100\nnorandommap\n[room]\nstonewall\nioengine=falloc\nrw=write\n\
                [all]\nstonewall\nioengine=psync\nrw=read\n";
    let file = workspace.write("ends.fio", text);
    let made = workspace.run(&format!("fio --output-format=json --no-report {file}"));
    if made.status != Some(0) && made.out.contains("\"error\" : 95") {
        println!("SKIPPED: room reserved in a file (the file system reserves none)");
        return;
    }
    let document = made.expect_finished().json();
    let jobs = document["jobs"].as_array().unwrap();
    let count = |job: usize, way: &str| jobs[job][way]["total_ios"].as_u64().unwrap();
    assert_eq!((count(0, "write"), count(1, "write"), count(2, "read")), (100, 1024, 1024));
    assert!(!workspace.has("f"));
}

#[test]
fn refused_group_of_jobs_leaves_no_file() {
    let workspace = Workspace::new();
    let foreign = workspace.write("foreign", &"mine".repeat(1 << 18));
    let words = format!(
        "--size=64m --rw=write --bs=64k --name=a --filename=z/new --name=b --filename={foreign} \
         --size=1m"
    );
    let ended = crate::fio::as_fio(&workspace, &words);
    assert_eq!(ended.status.code(), Some(1));
    assert!(!workspace.has("z"));
    assert_eq!(std::fs::metadata(workspace.join("foreign")).unwrap().len(), 1 << 20);
}

#[test]
fn trace_and_compressed_log_have_all_ios() {
    let workspace = Workspace::new();
    let words = "--name=w --filename=media\\:p3700-1600gb --size=64k --rw=read --write_iolog=t \
                 --write_bw_log=c --log_store_compressed=1";
    ours(&workspace, words);
    let trace = std::fs::read_to_string(workspace.join("t")).unwrap();
    assert!(trace.starts_with("fio version 3 iolog\n0 media:p3700-1600gb add\n"), "{trace}");
    assert_eq!(trace.matches(" read ").count(), 16, "{trace}");
    let log = workspace.run("fio --inflate-log=c_bw.1.log.fz").expect(0).out;
    assert_eq!(log.lines().count(), 16, "{log}");
    workspace.run("fio --inflate-log=t").expect(4);
}
