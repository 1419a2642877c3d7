use super::*;
use qdepth_workload::{Choices, Extent, Layout, Operation, Plan, TargetShape, resolve};

fn read(line: &str) -> Result<Mdtest, String> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    Mdtest::read(&words).map_err(|why| why.to_string())
}

fn plan(line: &str, tasks: u32) -> Plan {
    let whole = Extent { offset_bytes: 0, length_bytes: 1 << 40 };
    let shape = TargetShape { holds_files: true, ..TargetShape::whole(whole, 512) };
    resolve(&read(line).unwrap().plan(tasks), &Choices::default(), &[shape]).unwrap()
}

fn operations(plan: &Plan) -> Vec<Operation> {
    plan.points.iter().map(|point| point.operation).collect()
}

const IO500: [&str; 2] = [
    "-n 1000000 -u -L -F -P -N 1 -d DIR -x FILE -Y -W 300 -a POSIX",
    "-n 1000000 -t -w 3901 -e 3901 -P -F -N 1 -d DIR -x FILE -Y -W 300 -a POSIX",
];

#[test]
fn io500_command_lines_run_their_phases() {
    for (phase, expected) in [
        ("-C", [Operation::MakeFiles, Operation::WriteFiles]),
        ("-T", [Operation::StatFiles, Operation::StatFiles]),
        ("-E -X", [Operation::OpenFiles, Operation::VerifyFiles]),
        ("-r", [Operation::RemoveFiles, Operation::RemoveFiles]),
    ] {
        for ((line, expected), layout) in
            IO500.iter().zip(expected).zip([Layout::EntriesPerStream, Layout::SharedEntries])
        {
            let line = format!("{line} {phase}");
            let plan = plan(&line, 2);
            assert_eq!(operations(&plan), [expected], "{line}");
            let point = &plan.points[0];
            let unit = u64::from(point.block_size.max());
            assert_eq!((point.layout, point.streams, point.workers), (layout, 2, 2), "{line}");
            assert_eq!(point.stop.bytes_per_stream, 1_000_000 * unit);
            assert_eq!(point.area.length_bytes, 2_000_000 * unit);
            let creates = phase == "-C";
            assert_eq!((point.stop.catches_up, plan.keep_files), (creates, phase != "-r"));
            assert_eq!(point.fsync.at_end, creates || phase == "-r");
        }
    }
}

#[test]
fn all_phases_run_without_a_selection() {
    let plan = plan("-n 10 -i 2 -N 1 -p 3 -R", 3);
    let once = [
        Operation::MakeDirectories,
        Operation::StatDirectories,
        Operation::RemoveDirectories,
        Operation::MakeFiles,
        Operation::StatFiles,
        Operation::OpenFiles,
        Operation::RemoveFiles,
    ];
    assert_eq!(operations(&plan), once.repeat(2));
    let shifts: Vec<u32> = plan.points[..7].iter().filter_map(|point| point.rank_shift).collect();
    assert_eq!(shifts, [0, 1, 3, 0, 1, 2, 3]);
    let delayed = |point: &qdepth_workload::Point| point.delay_ns > 0;
    assert_eq!(plan.points.iter().filter(|point| delayed(point)).count(), 2);
    let random: Vec<f64> = plan.points[3..7].iter().map(|point| point.random_share).collect();
    assert_eq!(random, [0.0, 1.0, 0.0, 0.0]);
    assert!(!plan.keep_files);
}

#[test]
fn mdtest_options_accept_all_spellings() {
    let expected = read("-F -C -T -n 10 -w 4096").unwrap();
    for line in ["-FCT -n10 -w4k", "-F -CT -n=10 -w=4k", "-CTFn 10 -w 4k -z 0 -b 1 -B 0"] {
        let found = read(line).unwrap();
        assert_eq!(Mdtest { command_line: expected.command_line.clone(), ..found }, expected);
    }
    let said = read("-n 1 -t -u -G 3").unwrap().remarks;
    assert_eq!(said.len(), 1, "no data is written: {said:?}");
}

#[test]
fn unsupported_mdtest_options_are_explained() {
    for (line, expected) in [
        ("-n 10 -z 2", "-z is not supported: qdepth creates one directory"),
        ("-n 10 -a MPIIO", "use -a POSIX"),
        ("-n 10 -S", "qdepth ior"),
        ("-n 10 --novelty", "unknown option of mdtest: --novelty"),
        ("-n ten", "-n: `ten` is not a valid value"),
        ("-n", "-n needs a value"),
        ("-n 0", "-n 1000"),
        ("-n 10 -W 3 -F", "in separate runs"),
        ("-n 10 -w 8 -e 9", "-e must be at most -w"),
        ("-n 10 -w 520 -F -C", "add 16 bytes"),
        ("-n 10 -F -w 4096 -e 520 -X", "-e: the last part"),
        ("-n 10 -r -i 2", "Remove -i"),
        ("-n 10 -d a@b", "one directory"),
        ("-n 10 -p 1t", "a day"),
        ("-n 10 -i 0", "-i must be between"),
        ("out", "no argument `out`"),
    ] {
        let why = read(line).unwrap_err();
        assert!(why.contains(expected), "{line}: {why}");
    }
}

/// Two tasks with 1000 entries each: 2000 in 0.5 s and in 0.25 s.
#[test]
fn mdtest_summary_has_its_rows_and_columns() {
    let phase = |seconds| MdtestPhase { name: "File stat".to_owned(), operations: 2000, seconds };
    let run = MdtestRun {
        mdtest: read("-n 1000 -F -P -i 2 -d d").unwrap(),
        program: "qdepth-0".to_owned(),
        tasks: 2,
        phases: vec![phase(0.5), phase(0.25)],
        ..MdtestRun::default()
    };
    let text = mdtest_text(&run);
    for line in [
        "mdtest-4.1.0+qdepth-0 was launched with 2 total task(s) on 1 node(s)",
        "Command line used: mdtest '-n' '1000' '-F' '-P' '-i' '2' '-d' 'd'",
        "2 tasks, 2000 files",
        "SUMMARY rate (in ops/sec): (of 2 iterations)",
        "   Operation                     Max            Min           Mean        Std Dev",
        "   File creation                   0.000          0.000          0.000          0.000",
        "   File stat                    8000.000       4000.000       6000.000       2828.427",
        "SUMMARY time (in ms/op): (of 2 iterations)",
        "   File stat                       0.500          0.250          0.375          0.177",
        "   Tree removal                    0.000          0.000          0.000          0.000",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
    assert!(!text.contains("Directory"), "{text}");
}
