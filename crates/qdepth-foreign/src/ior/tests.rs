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
    let file: PlanFile = toml::from_str(&ior.plan(tasks)).unwrap();
    let whole = Extent { offset_bytes: 0, length_bytes: 1 << 50 };
    let shape = TargetShape { holds_files: true, ..TargetShape::whole(whole, 1) };
    resolve(&file, &Choices::default(), &vec![shape; ior.names().len()]).unwrap()
}

#[test]
fn the_white_papers_line_is_read() {
    let ior = read("-a POSIX -B -e -t 1m -b 1m -s 10000 -N 132 -C -F -k -o 0/0@1/1@2/2").unwrap();
    assert_eq!((ior.transfer, ior.block, ior.segments), (1 << 20, 1 << 20, 10_000));
    assert!(ior.direct && ior.fsync && ior.reorder && ior.file_per_process && ior.keep);
    assert!(ior.writes && ior.reads, "neither -w nor -r: both");
    assert_eq!(ior.files, ["0/0", "1/1", "2/2"]);
    let plan = plan(&ior, 132);
    assert_eq!(plan.points.len(), 6);
    assert!(plan.points.iter().all(|point| point.streams == 44));
    assert!(plan.points.iter().all(|point| point.layout == Layout::FilePerStream));
    assert!(plan.points.iter().all(|point| point.stop.bytes_per_stream == 10_000 << 20));
}

#[test]
fn spellings_of_one_command_line_are_one() {
    let expected = read("-w -r -k -t 1m -b 4m -o x").unwrap();
    for line in ["-wrk -t1m -b=4m -ox", "-k -r -w -t 1024k -b 4M -o=x"] {
        let ior = Ior { command_line: expected.command_line.clone(), ..read(line).unwrap() };
        assert_eq!(ior, expected, "{line}");
    }
    let json = read("-O summaryFormat=JSON,useO_DIRECT=1 -z -b 4m -t 1m").unwrap();
    assert!(json.summary == Summary::Json && json.direct && json.random);
}

#[test]
fn what_cannot_be_followed_is_named() {
    for (line, named) in [
        ("-f script", "-f"),
        ("--dryRun", "--dryRun"),
        ("-a MPIIO", "-a"),
        ("-r -R", "-w"),
        ("-w -W -D 3", "-D"),
        ("-E", "-E"),
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
fn in_random_order_each_transfer_is_made_once() {
    let ior = read("-w -z -t 4k -b 64k -F -o x").unwrap();
    let plan = plan(&ior, 1);
    let mut stream = RequestStream::new(&plan.points[0], 0);
    let mut offsets: Vec<u64> = (0..16).map(|_| stream.draw().offset >> 12).collect();
    assert_ne!(offsets, (0..16).collect::<Vec<_>>(), "in order");
    offsets.sort_unstable();
    assert_eq!(offsets, (0..16).collect::<Vec<_>>());
}

#[test]
fn the_plan_says_names_and_whether_files_stay() {
    let file = |line: &str| -> PlanFile {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        toml::from_str(&Ior::read(&words).unwrap().plan(2)).unwrap()
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
        assert!(refused.contains("is no name of a file"), "{refused}");
    }
}

proptest! {
    #[test]
    fn no_words_make_it_panic(words in prop::collection::vec(r"-{0,2}[a-zA-Z0-9=@,.é-]{0,6}", 0..8)) {
        if let Ok(ior) = Ior::read(&words) {
            let text = ior.plan(3);
            prop_assert!(toml::from_str::<PlanFile>(&text).is_ok(), "{text}");
        }
    }
}
