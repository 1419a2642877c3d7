//! Command lines of IOR: the files that they create, and the output with the results.

use std::fs;

use crate::common::{Workspace, exclusive_turn, has_tools, pause, program, sh};
use serde_json::Value;

const MIB: u64 = 1 << 20;

/// Names and sizes of a directory's entries.
#[cfg(test)]
fn files(workspace: &Workspace, name: &str) -> Vec<(String, u64)> {
    let entries = fs::read_dir(workspace.join(name)).unwrap().map(Result::unwrap);
    let mut files: Vec<(String, u64)> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len()))
        .collect();
    files.sort();
    files
}

#[test]
fn ranks_are_spread_over_file_names_equally() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    for name in ["0", "1"] {
        fs::create_dir(workspace.join(name)).unwrap();
    }
    let line = "-a POSIX -B -e -t 1m -b 2m -s 2 -N 3 -C -F -k -o 0/f@1/f";
    let told = workspace.run(&format!("ior --no-report {line}")).expect_finished().out;
    // Rank 0 and 2 on the first name, rank 1 on the second; segments × block each.
    let name = |rank: u32| format!("f.{rank:08}");
    assert_eq!(files(&workspace, "0"), [(name(0), 4 * MIB), (name(2), 4 * MIB)]);
    assert_eq!(files(&workspace, "1"), [(name(1), 4 * MIB)]);
    for said in [
        "IOR-4.0.0: MPI Coordinated Test of Parallel I/O",
        &format!("Command line        : ior {line}"),
        "access              : file-per-process",
        "ordering inter file : constant task offset",
        "aggregate filesize  : 12 MiB",
        "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) \
         xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter",
        "\nwrite     ",
        "\nread      ",
        "Summary of all tests:",
    ] {
        assert!(told.contains(said), "`{said}` in {told}");
    }
    // Kept files can be read again, and the next writing run overwrites them.
    let read =
        workspace.run("ior --no-report -r -t 1m -b 4m -N 3 -F -k -o 0/f@1/f").expect_finished();
    assert!(read.out.contains("\nread ") && !read.out.contains("\nwrite "), "{}", read.out);
    workspace.run("ior --no-report -t 1m -b 1m -N 3 -F -o 0/f@1/f").expect_finished();
    assert_eq!((files(&workspace, "0").len(), files(&workspace, "1").len()), (0, 0));
}

#[test]
fn shared_file_contains_all_segments_of_all_ranks() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    // Like IO500's hard phase: transfers that are not aligned to blocks, in one file.
    let line = "-w -k -e -t 47008 -b 47008 -s 20 -N 4 -o shared";
    workspace.run(&format!("ior --no-report {line}")).expect_finished();
    let whole = fs::read(workspace.join("shared")).unwrap();
    assert_eq!(whole.len(), 47_008 * 20 * 4);
    let hole = whole.chunks(47_008).position(|piece| piece.iter().all(|byte| *byte == 0));
    assert_eq!(hole, None, "a piece was never written");
}

#[test]
fn ior_checks_compare_data_with_written_data() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let line = "-w -W -r -R -t 64k -b 1m -s 2 -N 2 -o f";
    let told = workspace.run(&format!("ior --no-report {line}")).expect_finished().out;
    let rows = |name: &str| told.lines().filter(|line| line.starts_with(name)).count();
    // A row in the table and one in the summary.
    assert_eq!((rows("write "), rows("read "), rows("check")), (2, 2, 0), "{told}");
    assert!(!workspace.run("show").out.contains("io-errors"));
}

#[test]
fn ior_summary_can_be_a_json_document() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let line = "-t 256k -b 1m -i 2 -N 2 -F -z -O summaryFormat=JSON,summaryFile=out.json -o f";
    let ended = workspace.run(&format!("ior --no-report {line}")).expect_finished();
    assert_eq!(ended.out, "");
    let text = fs::read_to_string(workspace.join("out.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let results = document["tests"][0]["Results"].as_array().unwrap();
    let names: Vec<&str> = results.iter().map(|a| a["access"].as_str().unwrap()).collect();
    assert_eq!(names, ["write", "read", "write", "read"], "one after the other, as IOR's main");
    let test = &document["tests"][0];
    assert_eq!(test["Options"]["tasks"], 2);
    assert_eq!(test["Parameters"]["randomOffset"], 1);
    assert!(test["Capacity"].as_str().unwrap().ends_with("iB"), "{test}");
    let write = &results[0];
    let (rate, total) = (write["bwMiB"].as_f64().unwrap(), write["totalTime"].as_f64().unwrap());
    assert!((rate * total - 2.0).abs() < 1e-6, "2 MiB in {total} s is not {rate} MiB/s");
}

#[test]
fn ior_never_overwrites_foreign_files() {
    let workspace = Workspace::new();
    workspace.write("f", "the only copy");
    let ended = workspace.run("ior -w -o f").expect(3);
    assert!(ended.err.contains("nothing was changed"), "{}", ended.err);
    assert_eq!(fs::read_to_string(workspace.join("f")).unwrap(), "the only copy");
    for (line, said) in [
        ("ior --novelty", "--novelty"),
        ("ior -r -R -o f", "add -w"),
        ("ior -r -o absent", "absent"),
        ("ior -o no/such/file", "no/such"),
    ] {
        let ended = workspace.run(line).expect(2);
        assert!(ended.err.contains(said), "{line}: {}", ended.err);
    }
}

#[test]
fn resumed_ior_run_keeps_names_and_files() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let line = "-w -k -e -t 4k -b 8m -s 16 -i 40 -N 2 -F -o f";
    let mut run = workspace.start(&format!("ior --no-report {line}"));
    run.wait_for_err("MiB/s");
    run.signal("INT");
    run.wait().expect(130);
    // Foreign files with the names of ours: none of them is touched.
    workspace.write("qdepth-bandwidth.00000000", "the only copy");
    let mut again = workspace.start("run --resume --no-report");
    again.wait_for_err("plan ior");
    again.wait_for_err("MiB/s");
    again.signal("INT");
    again.wait().expect(130);
    let left = files(&workspace, ".").into_iter().map(|(name, _)| name);
    let left: Vec<String> = left.filter(|name| name.starts_with(['f', 'q'])).collect();
    assert_eq!(left, ["f.00000000", "f.00000001", "qdepth-bandwidth.00000000", "qdepth.db"]);
}

/// The next run overwrites a kept file, unless somebody else has changed it.
#[test]
fn kept_file_with_foreign_changes_is_not_overwritten() {
    let test = "kept_file_with_foreign_changes_is_not_overwritten";
    if !has_tools(test, &["losetup"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let line = "ior --no-report -- -w -k -t 64k -b 1m -o kept";
    workspace.run(line).expect_finished();
    workspace.run(line).expect_finished();
    let refused = |guard: &str, says: &str| {
        let before = std::fs::read(workspace.join("kept")).unwrap();
        let ended = workspace.run(line).expect(3);
        assert!(ended.err.contains(guard) && ended.err.contains(says), "{}", ended.err);
        assert_eq!(std::fs::read(workspace.join("kept")).unwrap(), before);
    };
    let writer = std::fs::File::options().append(true).open(workspace.join("kept")).unwrap();
    refused("G2", "is open for writing");
    drop(writer);
    let device = sh(&format!("losetup -f --show {}", workspace.join("kept").display())).unwrap();
    refused("G6", "loop");
    sh(&format!("losetup -d {device}")).unwrap();
    workspace.run(line).expect_finished();
    let kept = workspace.join("kept");
    sh(&format!("printf precious | dd of={} conv=notrunc status=none", kept.display())).unwrap();
    refused("G8", "the data at byte 0 is not qdepth's");
    // Copies of kept files and links to them are foreign, like altered files.
    sh(&format!("rm {0} && cp --preserve=all /etc/hostname {0}", kept.display())).unwrap();
    refused("G8", "was not created by qdepth");
}

/// The four command lines of IO500's phases, with a stonewall of a second: the read phases check
/// the data of the write phases, up to the number in the status file.
#[test]
fn io500_command_lines_run_unchanged() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    for name in ["results", "datafiles/ior-easy", "datafiles/ior-hard"] {
        fs::create_dir_all(workspace.join(name)).unwrap();
    }
    let easy = "--dataPacketType=timestamp -g -G -1289651723 \
                -k -e -o ./datafiles/ior-easy/ior_file_easy -C -Q 1 \
                -O stoneWallingStatusFile=./results/ior-easy.stonewall -t 2m -b 9920000m -F";
    let hard = "--dataPacketType=timestamp -C -Q 1 -g -G=1911694081 \
                -k -e -o ./datafiles/ior-hard/file \
                -O stoneWallingStatusFile=./results/ior-hard.stonewall -t 47008 -b 47008 \
                -s 10000000";
    let run = |name: &str, line: &str| {
        let csv = format!("-O saveRankPerformanceDetailsCSV=./results/{name}.csv");
        let told = workspace.run(&format!("ior --no-report -- {line} {csv} -N 2")).expect(0);
        assert!(!told.err.contains("io-errors"), "{}", told.err);
        let rows = fs::read_to_string(workspace.join(&format!("results/{name}.csv"))).unwrap();
        assert_eq!(rows.lines().count(), 3, "a row for each rank: {rows}");
        told.out
    };
    for (name, line, transfer) in [("easy", easy, 2 * MIB), ("hard", hard, 47_008)] {
        let wears = "-w -D 1 -O stoneWallingWearOut=1 -a POSIX";
        let told = run(&format!("ior-{name}-write"), &format!("{line} {wears}"));
        assert!(told.contains("\nstonewalling pairs accessed min: "), "{told}");
        let status =
            fs::read_to_string(workspace.join(&format!("results/ior-{name}.stonewall"))).unwrap();
        let pairs: u64 = status.trim().parse().unwrap();
        // All ranks wrote the same number of transfers, which determines the length of the files.
        let bytes: u64 =
            files(&workspace, &format!("datafiles/ior-{name}")).iter().map(|f| f.1).sum();
        assert_eq!(bytes, 2 * pairs * transfer, "{told}");
        let told = run(&format!("ior-{name}-read"), &format!("{line} -r -R -a POSIX"));
        assert!(told.contains("\nread ") && !told.contains("\nwrite "), "{told}");
        let read: f64 = told
            .lines()
            .rev()
            .nth(1)
            .unwrap()
            .split_whitespace()
            .rev()
            .nth(2)
            .unwrap()
            .parse()
            .unwrap();
        assert!(
            (read * MIB as f64 - bytes as f64).abs() <= MIB as f64 / 10.0,
            "{read} MiB of {bytes} B"
        );
    }
    // After a foreign write the data no longer match the signature of `-G`.
    sh(&format!(
        "printf precious | dd of={} bs=1 seek=99999 conv=notrunc status=none",
        workspace.join("datafiles/ior-hard/file").display()
    ))
    .unwrap();
    let ended = workspace.run(&format!("ior --no-report -- {hard} -r -R -N 2")).expect(1);
    assert!(ended.err.contains("io-errors"), "{}", ended.err);
    sh(&format!("rm -r {}", workspace.join("datafiles").display())).unwrap();
}

/// Command lines of IOR's own tests (testing/basic-tests.sh and complex-tests.sh of hpc/ior) for
/// the POSIX interface, in order, through a link named `ior`.
#[test]
fn ior_test_command_lines_run_unchanged() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    sh(&format!("ln -s {} {}", program(), workspace.join("ior").display())).unwrap();
    workspace.write(
        "nodes.conf",
        "IOR START\nreorderTasksConstant=1\nrepetitions=1\n\
         segmentCount=1\n\
         verbose=0\nfsync=0\ncheckWrite=1\nblockSize=16\nsetTimeStampSignature=1511817315\n\
         checkRead=0\n\
         readFile=1\nfilePerProc=0\nwriteFile=1\ntransferSize=16\nintraTestBarriers=0\n\nRUN\n\
         IOR STOP\n",
    );
    let lines = [
        (2, "-a POSIX -w -C -k -e -i1 -m -t 100k -b 200k", 1),
        (2, "-a POSIX -r -k -e -i1 -m -t 100k -b 200k -s 10 -z -z", 1),
        (1, "-a POSIX -w -z -F -Y -e -i1 -m -t 100k -b 2000k", 1),
        (1, "-a POSIX -w -z -F -k -e -i2 -m -t 100k -b 200k", 2),
        (2, "-a POSIX -w -z -C -F -k -e -i1 -m -t 100k -b 200k", 1),
        (2, "-a POSIX -w -z -C -Q 1 -F -k -e -i1 -m -t 100k -b 200k", 1),
        (2, "-a POSIX -r -z -Z -Q 2 -F -k -e -i1 -m -t 100k -b 200k", 1),
        (2, "-a POSIX -r -z -Z -Q 3 -X 13 -F -k -e -i1 -m -t 100k -b 200k", 1),
        (3, "-a POSIX -w -z -Z -Q 1 -X -13 -F -e -i1 -m -t 100k -b 200k", 1),
        (2, "-a POSIX -w -z -Y -e -i1 -m -t 100k -b 200k", 1),
        (2, "-a POSIX -w -k -e -i1 -m -t 100k -b 200k", 1),
        (2, "-a POSIX -r -z-k -e -i1 -m -t 100k -b 200k", 1),
        (2, "-a POSIX -w -z -k -e -i1 -m -t 100k -b 200k", 1),
        (2, "-a POSIX -w -Z -i1 -m -t 100k -b 100k -d 0.1", 1),
        (2, "-a POSIX -f nodes.conf", 2),
    ];
    for (tasks, line, rows) in lines {
        let words = format!("{line} -N {tasks} -o {}", workspace.join("f").display());
        let ended = sh(&format!("cd {} && ./ior {words}", workspace.join(".").display()));
        let told = ended.unwrap_or_else(|why| panic!("{line}: {why}"));
        let is_row = |line: &&str| {
            (line.starts_with("write ") || line.starts_with("read ")) && !line.contains("POSIX")
        };
        assert_eq!(told.lines().filter(is_row).count(), rows, "{line}: {told}");
    }
}

#[test]
fn task_directories_and_repetition_files_match_ior() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    fs::create_dir(workspace.join("d")).unwrap();
    workspace.run("ior --no-report -- -w -k -F -u -N 2 -t 64k -b 128k -o d/f").expect(0);
    assert_eq!(files(&workspace, "d/0"), [("f.00000000".to_owned(), 128 << 10)]);
    assert_eq!(files(&workspace, "d/1"), [("f.00000001".to_owned(), 128 << 10)]);
    // A directory that did not exist is removed with its files.
    fs::create_dir(workspace.join("e")).unwrap();
    fs::create_dir(workspace.join("e/0")).unwrap();
    workspace.run("ior --no-report -- -w -F -u -N 2 -t 64k -b 128k -o e/f").expect(0);
    assert!(workspace.has("e/0") && !workspace.has("e/1"));
    let line = "ior --no-report -- -w -k -F -m -i 2 -A 4 -N 1 -t 64k -b 128k -o r";
    let told = workspace.run(line).expect(0).out;
    let names: Vec<String> = files(&workspace, ".").into_iter().map(|(name, _)| name).collect();
    assert!(names.contains(&"r.00000000.0".to_owned()), "{names:?}");
    assert!(names.contains(&"r.00000000.1".to_owned()), "{names:?}");
    assert!(told.lines().any(|line| line.ends_with("POSIX      4")), "{told}");
    // The second repetition is numbered like IOR's, and waiting does not count as its time.
    let told = workspace.run("ior --no-report -- -w -d 1 -t 64k -b 128k -o late").expect(0).out;
    let row = told.lines().find(|line| line.starts_with("write ")).unwrap();
    let total: f64 = row.split_whitespace().nth(8).unwrap().parse().unwrap();
    assert!(total < 0.9, "{told}");
    for (line, said) in [
        ("ior --no-report -- -M 99% -w -t 64k -b 64k -o m", "-M takes"),
        ("ior -- -r -R -G 7 -k -O stoneWallingStatusFile=absent -o r", "absent"),
        ("ior -- -f absent", "absent"),
    ] {
        let ended = workspace.run(line);
        assert!(ended.err.contains(said), "{line}: {}", ended.err);
    }
    assert!(workspace.run("ior -- -h").expect(0).out.contains("-O stoneWallingStatusFile=FILE"));
}

#[test]
fn foreign_bytes_between_repetitions_are_kept() {
    use std::os::unix::fs::FileExt;

    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let run = workspace.start("ior --no-report -- -w -k -E -i 2 -d 4 -t 64k -b 128k -o kept");
    let kept = workspace.join("kept");
    while fs::metadata(&kept).map_or(0, |found| found.len()) < 128 << 10 {
        pause(20);
    }
    pause(1000);
    let foreign = [b'x'; 4096];
    fs::OpenOptions::new().write(true).open(&kept).unwrap().write_all_at(&foreign, 8192).unwrap();
    let ended = run.wait();
    assert_ne!(ended.status, Some(0), "{}", ended.err);
    assert!(
        ended.err.contains("kept was created by qdepth, but was changed since"),
        "{}",
        ended.err
    );
    let mut now = [0; 4096];
    fs::File::open(&kept).unwrap().read_exact_at(&mut now, 8192).unwrap();
    assert_eq!(now, foreign);
}
