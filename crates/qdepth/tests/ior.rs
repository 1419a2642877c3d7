//! Command lines of IOR: the files that they make, and the words in which results are told.

#![expect(clippy::disallowed_methods, reason = "tests run the program as a user does")]

#[cfg(test)]
mod common;

use std::fs;

use common::{Place, alone, can, sh};
use serde_json::Value;

const MIB: u64 = 1 << 20;

/// Names and sizes of what is in a directory.
#[cfg(test)]
fn files(place: &Place, name: &str) -> Vec<(String, u64)> {
    let entries = fs::read_dir(place.join(name)).unwrap().map(Result::unwrap);
    let mut files: Vec<(String, u64)> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len()))
        .collect();
    files.sort();
    files
}

#[test]
fn ranks_are_spread_over_the_names_and_each_has_its_bytes() {
    let (_alone, place) = (alone(), Place::new());
    for name in ["0", "1"] {
        fs::create_dir(place.join(name)).unwrap();
    }
    let line = "-a POSIX -B -e -t 1m -b 2m -s 2 -N 3 -C -F -k -o 0/f@1/f";
    let told = place.run(&format!("ior --no-report {line}")).expect_finished().out;
    // Rank 0 and 2 on the first name, rank 1 on the second; segments × block each.
    let name = |rank: u32| format!("f.{rank:08}");
    assert_eq!(files(&place, "0"), [(name(0), 4 * MIB), (name(2), 4 * MIB)]);
    assert_eq!(files(&place, "1"), [(name(1), 4 * MIB)]);
    for said in [
        "IOR-4.0.0: MPI Coordinated Test of Parallel I/O",
        &format!("Command line        : ior {line}"),
        "access              : file-per-process",
        "ordering inter file : constant task offset",
        "aggregate filesize  : 12 MiB",
        "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter",
        "\nwrite     ",
        "\nread      ",
        "Summary of all tests:",
    ] {
        assert!(told.contains(said), "`{said}` in {told}");
    }
    // What was kept may be read again, and is written anew by the next that writes.
    let read = place.run("ior --no-report -r -t 1m -b 4m -N 3 -F -k -o 0/f@1/f").expect_finished();
    assert!(read.out.contains("\nread ") && !read.out.contains("\nwrite "), "{}", read.out);
    place.run("ior --no-report -t 1m -b 1m -N 3 -F -o 0/f@1/f").expect_finished();
    assert_eq!((files(&place, "0").len(), files(&place, "1").len()), (0, 0));
}

#[test]
fn a_shared_file_holds_all_segments_of_all_ranks() {
    let (_alone, place) = (alone(), Place::new());
    // As IO500's hard phase: transfers that no block divides, one file.
    let line = "-w -k -e -t 47008 -b 47008 -s 20 -N 4 -o shared";
    place.run(&format!("ior --no-report {line}")).expect_finished();
    let whole = fs::read(place.join("shared")).unwrap();
    assert_eq!(whole.len(), 47_008 * 20 * 4);
    let hole = whole.chunks(47_008).position(|piece| piece.iter().all(|byte| *byte == 0));
    assert_eq!(hole, None, "a piece was never written");
}

#[test]
fn checks_read_everything_back_and_hold_it_against_what_was_written() {
    let (_alone, place) = (alone(), Place::new());
    let line = "-w -W -r -R -t 64k -b 1m -s 2 -N 2 -o f";
    let told = place.run(&format!("ior --no-report {line}")).expect_finished().out;
    let rows = |name: &str| told.lines().filter(|line| line.starts_with(name)).count();
    // A row in the table and one in the summary.
    assert_eq!((rows("write "), rows("read "), rows("check")), (2, 2, 0), "{told}");
    assert!(!place.run("show").out.contains("io-errors"));
}

#[test]
fn the_summary_may_be_one_json_document() {
    let (_alone, place) = (alone(), Place::new());
    let line = "-t 256k -b 1m -i 2 -N 2 -F -z -O summaryFormat=JSON,summaryFile=out.json -o f";
    let ended = place.run(&format!("ior --no-report {line}")).expect_finished();
    assert_eq!(ended.out, "");
    let text = fs::read_to_string(place.join("out.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let results = document["tests"][0]["Results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for repetition in results {
        let names: Vec<&str> =
            repetition.as_array().unwrap().iter().map(|a| a["access"].as_str().unwrap()).collect();
        assert_eq!(names, ["write", "read"]);
    }
    let write = &results[0][0];
    let (rate, total) = (write["bwMiB"].as_f64().unwrap(), write["totalTime"].as_f64().unwrap());
    assert!((rate * total - 2.0).abs() < 1e-6, "2 MiB in {total} s is not {rate} MiB/s");
}

#[test]
fn nothing_of_somebody_else_is_overwritten() {
    let place = Place::new();
    place.write("f", "the only copy");
    let ended = place.run("ior -w -o f").expect(3);
    assert!(ended.err.contains("nothing was changed"), "{}", ended.err);
    assert_eq!(fs::read_to_string(place.join("f")).unwrap(), "the only copy");
    for (line, said) in [
        ("ior --novelty", "--novelty"),
        ("ior -r -R -o f", "add -w"),
        ("ior -r -o absent", "absent"),
        ("ior -o no/such/file", "no/such"),
    ] {
        let ended = place.run(line).expect(2);
        assert!(ended.err.contains(said), "{line}: {}", ended.err);
    }
}

#[test]
fn a_run_that_is_taken_up_again_keeps_its_names_and_its_files() {
    let (_alone, place) = (alone(), Place::new());
    let line = "-w -k -e -t 4k -b 8m -s 16 -i 40 -N 2 -F -o f";
    let mut run = place.start(&format!("ior --no-report {line}"));
    run.says("MiB/s");
    run.signal("INT");
    run.wait().expect(130);
    // Whatever else is called as ours would be: none of it is touched.
    place.write("qdepth-bandwidth.00000000", "the only copy");
    let mut again = place.start("run --resume --no-report");
    again.says("plan ior");
    again.says("MiB/s");
    again.signal("INT");
    again.wait().expect(130);
    let left = files(&place, ".").into_iter().map(|(name, _)| name);
    let left: Vec<String> = left.filter(|name| name.starts_with(['f', 'q'])).collect();
    assert_eq!(left, ["f.00000000", "f.00000001", "qdepth-bandwidth.00000000", "qdepth.db"]);
}

/// A file that a run kept is overwritten by the next, until somebody else has it.
#[test]
fn a_kept_file_that_became_somebody_elses_is_left() {
    let test = "a_kept_file_that_became_somebody_elses_is_left";
    if !can(test, &["losetup"]) {
        return;
    }
    let (_alone, place) = (alone(), Place::new());
    let line = "ior --no-report -- -w -k -t 64k -b 1m -o kept";
    place.run(line).expect_finished();
    place.run(line).expect_finished();
    let refused = |guard: &str, says: &str| {
        let before = std::fs::read(place.join("kept")).unwrap();
        let ended = place.run(line).expect(3);
        assert!(ended.err.contains(guard) && ended.err.contains(says), "{}", ended.err);
        assert_eq!(std::fs::read(place.join("kept")).unwrap(), before);
    };
    let writer = std::fs::File::options().append(true).open(place.join("kept")).unwrap();
    refused("G2", "is open for writing");
    drop(writer);
    let device = sh(&format!("losetup -f --show {}", place.join("kept").display())).unwrap();
    refused("G6", "loop");
    sh(&format!("losetup -d {device}")).unwrap();
    place.run(line).expect_finished();
    let kept = place.join("kept");
    sh(&format!("printf precious | dd of={} conv=notrunc status=none", kept.display())).unwrap();
    refused("G8", "somebody wrote to it");
    // Copies and links of what was kept are as little ours as what was altered.
    sh(&format!("rm {0} && cp --preserve=all /etc/hostname {0}", kept.display())).unwrap();
    refused("G8", "was not made by qdepth");
}
