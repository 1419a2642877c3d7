//! Command lines as users have them, against the documented meaning.

use proptest::prelude::*;

use super::{Ior, IorRefusal, Summary};
use qdepth_workload::{
    Choices, Extent, Layout, Plan, PlanFile, RequestStream, TargetShape, resolve,
};

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn read(line: &str) -> Result<Ior, IorRefusal> {
    Ior::read(&words(line))
}

fn plan(ior: &Ior, tasks: u32) -> Plan {
    let file = ior.plan(tasks);
    let whole = Extent { offset_bytes: 0, length_bytes: 1 << 50 };
    let shape = TargetShape { holds_files: true, ..TargetShape::whole(whole, 1) };
    resolve(&file, &Choices::default(), &vec![shape; ior.names().len()]).unwrap()
}

#[test]
fn white_paper_command_line_is_parsed() {
    let ior = read("-a POSIX -B -e -t 1m -b 1m -s 10000 -N 132 -C -F -k -o 0/0@1/1@2/2").unwrap();
    assert_eq!((ior.transfer, ior.block, ior.segments), (1 << 20, 1 << 20, 10_000));
    assert!(ior.direct && ior.fsync && ior.reorder == 1 && ior.file_per_process && ior.keep);
    assert!(ior.writes && ior.reads, "neither -w nor -r: both");
    assert_eq!(ior.files, ["0/0", "1/1", "2/2"]);
    let plan = plan(&ior, 132);
    assert_eq!(plan.points.len(), 6);
    assert!(plan.points.iter().all(|point| point.streams == 44));
    assert!(plan.points.iter().all(|point| point.layout == Layout::FilePerStream));
    assert!(plan.points.iter().all(|point| point.stop.bytes_per_stream == 10_000 << 20));
}

#[test]
fn repetitions_beyond_the_limit_are_refused() {
    assert!(read("-i 1000").is_ok());
    for count in ["1001", "14k", "4294967295"] {
        let refusal = read(&format!("-i {count} -b 1g")).unwrap_err();
        assert!(refusal.to_string().contains("-i must be at most 1000"), "{count}: {refusal}");
    }
}

#[test]
fn equivalent_ior_spellings_parse_identically() {
    let expected = read("-w -r -k -t 1m -b 4m -o x").unwrap();
    for line in ["-wrk -t1m -b=4m -ox", "-k -r -w -t 1024k -b 4M -o=x"] {
        let ior = Ior { command_line: expected.command_line.clone(), ..read(line).unwrap() };
        assert_eq!(ior, expected, "{line}");
    }
    let json = read("-O summaryFormat=JSON,useO_DIRECT=1 -z -b 4m -t 1m").unwrap();
    assert!(json.summary == Summary::Json && json.direct && json.random == 1);
}

#[test]
fn unsupported_ior_options_are_refused_by_name() {
    for (line, named) in [
        ("--dryRun", "--dryRun"),
        ("-a MPIIO", "-a"),
        ("-r -R", "-w"),
        ("-w -W -D 3", "-D"),
        ("-r -R -G 0", "-G"),
        ("-c", "MPI-IO"),
        ("-U hints", "MPI-IO"),
        ("-a MMAP", "page cache"),
        ("-a DUMMY", "calibrate"),
        ("-y", "-o"),
        ("-l zebra", "zebra"),
        ("-O stoneWallingWearOut=1", "-D"),
        ("-w -D 1 -O stoneWallingStatusFile=f,stoneWallingWearOut=1", "-k"),
        ("-w -k -D 1 -O stoneWallingStatusFile=f", "stoneWallingWearOut"),
        ("-w -z -z", "-r"),
        ("-C -Z", "-Z"),
        ("-u -F -o a@b", "-u"),
        ("-O allocateBufferOnGPU=1", "memory of the host"),
        ("-O savePerOpDataCSV=f", "savePerOpDataCSV"),
        ("-O interIODelay=5", "think-time"),
        ("-O minTimeDuration=5", "minTimeDuration"),
        ("--posix.lustre.stripecount=4", "stripecount"),
        ("--randomPrefill=1m -z", "randomPrefill"),
        ("-t", "-t"),
        ("-t 0", "-t"),
        ("-t 1x", "1x"),
        ("-t 3m -b 4m", "-b"),
        ("-s 0", "-s"),
        ("file", "file"),
        ("-O novelty=1", "novelty"),
    ] {
        let refusal = read(line).unwrap_err().to_string();
        assert!(refusal.contains(named), "{line}: {refusal}");
    }
}

/// Segments of a shared file: segment k of task r lies at (k × tasks + r) × block.
#[test]
fn segments_of_a_shared_file_are_interleaved() {
    let ior = read("-w -t 4k -b 8k -s 3 -o x").unwrap();
    let plan = plan(&ior, 2);
    let point = &plan.points[0];
    assert_eq!(point.layout, Layout::SharedFile);
    let offsets = |task: u32| {
        let mut stream = RequestStream::new(point, task);
        (0..6).map(|_| stream.draw().offset >> 10).collect::<Vec<_>>()
    };
    assert_eq!(offsets(0), [0, 4, 16, 20, 32, 36]);
    assert_eq!(offsets(1), [8, 12, 24, 28, 40, 44]);
}

#[test]
fn random_order_makes_each_transfer_once() {
    let ior = read("-w -z -t 4k -b 64k -F -o x").unwrap();
    let plan = plan(&ior, 1);
    let mut stream = RequestStream::new(&plan.points[0], 0);
    let mut offsets: Vec<u64> = (0..16).map(|_| stream.draw().offset >> 12).collect();
    assert_ne!(offsets, (0..16).collect::<Vec<_>>(), "in order");
    offsets.sort_unstable();
    assert_eq!(offsets, (0..16).collect::<Vec<_>>());
}

#[test]
fn plan_contains_file_names_and_keep_option() {
    let file = |line: &str| -> PlanFile {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Ior::read(&words).unwrap().plan(2)
    };
    let kept = file("-w -k -F -o a/f@b/it's");
    assert_eq!((kept.file_names, kept.keep_files), (vec!["f".to_owned(), "it's".to_owned()], true));
    assert!(!file("-w -r -o f").keep_files && file("-r -o f").keep_files);
    // A name that leads out of the directory is none.
    for name in ["../f", "..", "", "a/b"] {
        let wrong = PlanFile { file_names: vec![name.to_owned()], ..file("-w -o f") };
        let whole = Extent { offset_bytes: 0, length_bytes: 1 << 40 };
        let shape = TargetShape { holds_files: true, ..TargetShape::whole(whole, 512) };
        let refused = resolve(&wrong, &Choices::default(), &[shape]).unwrap_err().to_string();
        assert!(refused.contains("is not a valid file name"), "{refused}");
    }
}

/// The four lines of IO500 (`[ior-easy]` and `[ior-hard]`, as its program prints them with `exe`).
const IO500: [&str; 4] = [
    "--dataPacketType=timestamp -g -G -1289651723 -k -e -o ./datafiles/ior-easy/ior_file_easy \
     -C -Q 1 -O stoneWallingStatusFile=./results/ior-easy.stonewall -t 2m -b 9920000m -F -w -D 300 \
     -O stoneWallingWearOut=1 -a POSIX \
     -O saveRankPerformanceDetailsCSV=./results/ior-easy-write.csv",
    "--dataPacketType=timestamp -C -Q 1 -g -G=1911694081 -k -e -o ./datafiles/ior-hard/file \
     -O stoneWallingStatusFile=./results/ior-hard.stonewall -t 47008 -b 47008 -s 10000000 \
     -w -D 300 -a POSIX -O saveRankPerformanceDetailsCSV=./results/ior-hard-write.csv \
     -O stoneWallingWearOut=1",
    "--dataPacketType=timestamp -g -G -1289651723 -k -e -o ./datafiles/ior-easy/ior_file_easy \
     -C -Q 1 -O stoneWallingStatusFile=./results/ior-easy.stonewall -t 2m -b 9920000m \
     -F -r -R -a POSIX -O saveRankPerformanceDetailsCSV=./results/ior-easy-read.csv",
    "--dataPacketType=timestamp -C -Q 1 -g -G=1911694081 -k -e -o ./datafiles/ior-hard/file \
     -O stoneWallingStatusFile=./results/ior-hard.stonewall -t 47008 -b 47008 -s 10000000 -r -R \
     -a POSIX -O saveRankPerformanceDetailsCSV=./results/ior-hard-read.csv",
];

/// The lines of IOR's own tests of the POSIX interface: how many tasks, and the options.
pub(crate) const OWN_TESTS: [(u32, &str); 15] = [
    (2, "-a POSIX -w     -C              -k -e -i1 -m -t 100k -b 200k"),
    (2, "-a POSIX -r                     -k -e -i1 -m -t 100k -b 200k -s 10 -z -z"),
    (1, "-a POSIX -w    -z                  -F -Y -e -i1 -m -t 100k -b 2000k"),
    (1, "-a POSIX -w    -z                  -F -k -e -i2 -m -t 100k -b 200k"),
    (2, "-a POSIX -w    -z  -C             -F -k -e -i1 -m -t 100k -b 200k"),
    (2, "-a POSIX -w    -z  -C -Q 1        -F -k -e -i1 -m -t 100k -b 200k"),
    (2, "-a POSIX -r    -z  -Z -Q 2        -F -k -e -i1 -m -t 100k -b 200k"),
    (2, "-a POSIX -r    -z  -Z -Q 3 -X  13 -F -k -e -i1 -m -t 100k -b 200k"),
    (3, "-a POSIX -w    -z  -Z -Q 1 -X -13 -F    -e -i1 -m -t 100k -b 200k"),
    (2, "-a POSIX -w -z -Y -e -i1 -m -t 100k -b 200k"),
    (2, "-a POSIX -w -k -e -i1 -m -t 100k -b 200k"),
    (2, "-a POSIX -r -z-k -e -i1 -m -t 100k -b 200k"),
    (2, "-a POSIX -w -z -k -e -i1 -m -t 100k -b 200k"),
    (2, "-a POSIX -w -Z -i1 -m -t 100k -b 100k -d 0.1"),
    (2, "-e -F -t 1m -b 1m -A 328883 -O summaryFormat=JSON -O summaryFile=OUT.json"),
];

#[test]
fn io500_command_lines_become_plans() {
    for line in IO500 {
        let ior = read(line).unwrap_or_else(|why| panic!("{line}: {why}"));
        assert!(ior.keep && ior.fsync && ior.signature.is_some() && ior.ranks_file.is_some());
        assert_eq!(ior.wear_out, ior.writes);
        let mut ior = Ior { pairs: Some(12), ..ior };
        let read_back = plan(&ior, 4);
        assert_eq!(read_back.stamp, ior.signature.map(u64::from));
        let point = &read_back.points[0];
        assert!(point.verify, "{line}");
        assert_eq!(point.stop.catches_up, ior.writes);
        assert_eq!(point.stop.bytes_per_stream, 12 * ior.transfer);
        // With room for a hundred, the deadline still decides.
        ior.pairs = None;
        ior.fit(100 * ior.transfer + 7);
        assert_eq!(ior.pairs, ior.writes.then_some(100));
        assert_eq!(ior.remarks.iter().any(|(option, _)| option == "-b"), ior.writes);
    }
}

#[test]
fn ior_test_command_lines_become_plans() {
    for (tasks, line) in OWN_TESTS {
        let mut ior = read(line).unwrap_or_else(|why| panic!("{line}: {why}"));
        if ior.random > 1 {
            ior.existing_bytes = Some(ior.block);
        }
        for part in ior.parts() {
            let plan = plan(&part, tasks);
            assert_eq!(plan.points.len(), 1 + usize::from(part.writes && part.reads), "{line}");
            let suffix =
                if line.contains("-m") { format!(".{}", part.repetition) } else { "".into() };
            assert_eq!(plan.file_suffix, suffix, "{line}");
        }
    }
    assert_eq!(read(OWN_TESTS[3].1).unwrap().parts().len(), 2);
}

#[test]
fn ior_script_becomes_a_test_per_run() {
    let text = "# before it nothing counts\nfsync=7\n\tIOR  START\napi=posix\nwriteFile =1\n \
                fileperproc=1 # a comment\nblockSize=16,transferSize=8\nRUN\nblockSize=32\nrun\n\
                readfile=1\nsetTimeStampSignature=7\n  ior stop\nblockSize=64\n";
    let base = read("-f script -o file -k").unwrap();
    let tests = base.tests_of("script", text).unwrap();
    let summary =
        |test: &Ior| (test.block, test.writes, test.reads, test.file_per_process, test.keep);
    let all: Vec<_> = tests.iter().map(summary).collect();
    assert_eq!(all[0], (16, true, false, true, true));
    assert_eq!(all[1], (32, true, false, true, true));
    // Settings behind the last RUN are a test, too.
    assert_eq!(all[2..], [(32, true, true, true, true)]);
    let wrong = base.tests_of("script", "IOR START\n\napi=dummy\nRUN\nIOR STOP").unwrap_err();
    assert!(wrong.to_string().starts_with("script, line 3: IOR's option -O api dummy"), "{wrong}");
}

#[test]
fn file_names_and_repetitions_match_ior() {
    let ior = read("-w -F -m -i 3 -o a/f@b/g").unwrap();
    let parts = ior.parts();
    assert_eq!(parts.len(), 3);
    assert_eq!(parts[2].file_name("f", 1), "f.00000001.2");
    let mut own = read("-w -F -u -o a/f").unwrap();
    assert_eq!(own.own_directories(2), ["a/0", "a/1"]);
    assert_eq!(own.files, ["a/0/f", "a/1/f"]);
    assert_eq!(read("-w -u -o a/f").unwrap().own_directories(2), [""; 0], "of a file for each");
    assert_eq!(read("-e=0 -k=1 -v=3 -w").unwrap().verbose, 3);
    assert_eq!(read("-w -G 4294967295 -l r").unwrap().signature, Some(u32::MAX));
}

proptest! {
    #[test]
    fn any_ior_words_parse_without_panic(
        words in prop::collection::vec(r"-{0,2}[a-zA-Z0-9=@,.é-]{0,6}", 0..8),
    ) {
        if let Ok(ior) = Ior::read(&words) {
            let plan = ior.plan(3);
            let text = plan.to_toml().unwrap();
            prop_assert_eq!(text.parse::<PlanFile>(), Ok(plan), "{}", text);
        }
    }
}
