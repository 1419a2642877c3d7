//! Round trips: a read returns the written data.

use crate::common::{any_point, filled, histogram, interval, point, run};
use proptest::prelude::*;
use qdepth_logbook::{Logbook, LogbookError};
use qdepth_measure::{Code, Finding, Grade};
use qdepth_record::{
    Document, ExpectedRecord, IntervalRecord, PointRecord, PointSummary, RunRecord, RunState,
    TargetRecord, export_csv, export_json,
};

const ID: &str = "01890000-0000-7000-8000-000000000001";
const OTHER: &str = "01890000-0000-7000-8000-000000000002";
const END: &str = "2025-03-01T11:00:00Z";

fn fresh() -> (tempfile::TempDir, Logbook) {
    let directory = tempfile::tempdir().unwrap();
    let logbook = Logbook::open(directory.path().join("qdepth.db")).unwrap();
    (directory, logbook)
}

fn interrupted(index: u32) -> PointRecord {
    let findings = vec![Finding::invalid(Code::Interrupted)];
    PointRecord { findings, duration_ns: 5, ..point(index) }
}

#[test]
fn run_round_trip_is_lossless() {
    let (directory, mut logbook) = fresh();
    let mut expected = run(ID);
    logbook.begin_run(&expected).unwrap();
    let points: Vec<_> = [2, 0, 1].map(point).into();
    for point in &points {
        logbook.add_point(ID, point).unwrap();
    }
    let finding = Finding::remark(Code::MonitorMissing).label("monitor", "smart");
    let findings = [expected.findings[0].clone(), finding.clone()];
    logbook.end_run(ID, RunState::Complete, END, &findings).unwrap();
    drop(logbook);

    expected.state = RunState::Complete;
    expected.ended_at = Some(END.into());
    expected.findings.push(finding);
    let logbook = Logbook::open_read_only(directory.path().join("qdepth.db")).unwrap();
    assert_eq!(logbook.run(ID).unwrap(), expected);
    assert_eq!(logbook.points(ID).unwrap(), [0, 1, 2].map(point));
    let headline = logbook.runs().unwrap().remove(0);
    assert_eq!(headline.targets, ["a", "b", "c", "d"]);
    assert_eq!((headline.points_done, headline.points_planned), (3, 4));
    assert_eq!((headline.state, headline.emulated), (RunState::Complete, true));
    drop(logbook);
    let mut logbook = Logbook::open(directory.path().join("qdepth.db")).unwrap();
    assert_eq!(logbook.hold_unfinished().unwrap(), None);
}

/// Reading an unused logbook leaves no files next to it, and reading one in use leaves the writer's
/// files unchanged.
#[test]
fn reader_leaves_no_files_next_to_logbook() {
    let (directory, mut logbook) = fresh();
    let listing = || {
        let entries = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap());
        let entry = |e: std::fs::DirEntry| {
            (e.file_name().into_string().unwrap(), e.metadata().unwrap().len())
        };
        entries.map(entry).collect::<std::collections::BTreeMap<String, u64>>()
    };
    logbook.begin_run(&run("beside")).unwrap();
    let file = directory.path().join("qdepth.db");
    let in_use = listing();
    assert!(in_use["qdepth.db-wal"] > 0, "{in_use:?}");
    let reader = Logbook::open_read_only(&file).unwrap();
    assert_eq!(reader.run("beside").unwrap().id, "beside");
    drop(reader);
    assert_eq!(listing(), in_use, "its log is not taken away from a writer");
    drop(logbook);
    let at_rest = listing();
    let (first, second) =
        (Logbook::open_read_only(&file).unwrap(), Logbook::open_read_only(&file).unwrap());
    drop(first);
    assert_eq!(second.run("beside").unwrap().id, "beside");
    drop(second);
    assert_eq!(listing(), at_rest);
    assert_eq!(at_rest.keys().filter(|name| name.starts_with("qdepth.db")).count(), 1);
}

#[test]
fn runs_are_found_by_prefix_and_latest() {
    let (_directory, mut logbook) = fresh();
    assert!(matches!(logbook.run("latest"), Err(LogbookError::NoSuchRun { .. })));
    logbook.begin_run(&run(ID)).unwrap();
    logbook.begin_run(&run(OTHER)).unwrap();
    assert!(logbook.begin_run(&run(OTHER)).is_err());
    assert_eq!(logbook.run("latest").unwrap().id, OTHER);
    assert_eq!(logbook.run(ID).unwrap().id, ID);
    assert!(matches!(logbook.run("018"), Err(LogbookError::AmbiguousRun { .. })));
    for nothing in ["", "%", "x", "01890000_", "018900000"] {
        assert!(matches!(logbook.run(nothing), Err(LogbookError::NoSuchRun { .. })), "{nothing}");
    }
}

#[test]
fn run_with_all_columns_round_trips() {
    let (_directory, mut logbook) = fresh();
    let RunRecord { id, plan_hash, plan_text, .. } = run(ID);
    let targets = vec![TargetRecord { index: 0, ..filled() }];
    let expected = vec![ExpectedRecord { point: 0, ..filled() }];
    let all = RunRecord { id, plan_hash, plan_text, targets, expected, ..filled() };
    logbook.begin_run(&all).unwrap();
    assert_eq!(logbook.run(ID).unwrap(), all);
}

/// A reader's latency is the answer of such a run, and no rate is.
#[test]
fn loads_at_the_same_time_have_no_best() {
    let best = |profile: &str| {
        let (_directory, mut logbook) = fresh();
        logbook.begin_run(&run(ID)).unwrap();
        let valid = |index| PointRecord { findings: Vec::new(), ..point(index) };
        logbook.add_point(ID, &valid(0)).unwrap();
        logbook.add_point(ID, &PointRecord { profile: profile.into(), ..valid(1) }).unwrap();
        logbook.end_run(ID, RunState::Complete, END, &[]).unwrap();
        logbook.runs().unwrap()[0].best
    };
    assert!(best("database").io_per_s.is_some());
    let of_both = best("writers");
    assert_eq!((of_both.io_per_s, of_both.bytes_per_s, of_both.grades), (None, None, [2, 0, 0]));
}

#[test]
fn only_interrupted_points_can_be_superseded() {
    let (_directory, mut logbook) = fresh();
    logbook.begin_run(&run(ID)).unwrap();
    logbook.add_point(ID, &point(0)).unwrap();
    logbook.add_point(ID, &interrupted(1)).unwrap();
    logbook.end_run(ID, RunState::Interrupted, END, &[]).unwrap();
    assert!(matches!(logbook.add_point(ID, &point(2)), Err(LogbookError::NotRunning { .. })));
    assert_eq!(logbook.hold_unfinished().unwrap().unwrap().id, ID);
    assert_eq!(logbook.points_done(ID).unwrap(), [0].into());
    assert_eq!(logbook.runs().unwrap()[0].points_done, 1);
    assert_eq!(logbook.points(ID).unwrap().len(), 2);

    logbook.reopen(ID).unwrap();
    assert_eq!(logbook.run(ID).unwrap(), run(ID));
    let again = logbook.add_point(ID, &point(0));
    assert!(matches!(again, Err(LogbookError::AlreadyMeasured { index: 0, .. })));
    logbook.add_point(ID, &interrupted(1)).unwrap();
    logbook.add_point(ID, &point(1)).unwrap();
    assert_eq!(logbook.points(ID).unwrap(), [0, 1].map(point));
    assert_eq!(logbook.points_done(ID).unwrap(), [0, 1].into());

    logbook.end_run(ID, RunState::Complete, END, &[]).unwrap();
    assert!(matches!(logbook.reopen(ID), Err(LogbookError::Complete { .. })));
    assert!(matches!(logbook.add_point(ID, &point(3)), Err(LogbookError::Complete { .. })));
    let nobody = logbook.add_point("nobody", &point(3));
    assert!(matches!(nobody, Err(LogbookError::NoSuchRun { .. })));
}

#[test]
fn lost_target_makes_the_point_unfinished() {
    let (_directory, mut logbook) = fresh();
    logbook.begin_run(&run(ID)).unwrap();
    let codes = [Code::DeviceGone, Code::TargetFailed, Code::DeviceChanged, Code::IoErrors];
    for (index, code) in (0..).zip(codes) {
        let mut lost = point(index);
        lost.findings.push(Finding::invalid(code));
        logbook.add_point(ID, &lost).unwrap();
    }
    assert_eq!(logbook.points_done(ID).unwrap(), [3].into(), "failed I/Os are a result");
    for index in 0..3 {
        logbook.add_point(ID, &point(index)).unwrap();
    }
    assert_eq!(logbook.points_done(ID).unwrap(), [0, 1, 2, 3].into());
    assert_eq!(logbook.points(ID).unwrap()[..3], [0, 1, 2].map(point));
}

#[test]
fn active_run_is_not_held_again() {
    let (directory, mut logbook) = fresh();
    let file = directory.path().join("qdepth.db");
    for id in [ID, OTHER] {
        logbook.begin_run(&run(id)).unwrap();
    }
    let mut other = Logbook::open(&file).unwrap();
    logbook.hold(OTHER).unwrap();
    // The newer run is alive, the older one is not.
    assert_eq!(other.hold_unfinished().unwrap().unwrap().id, ID);
    let mut third = Logbook::open(&file).unwrap();
    let Err(LogbookError::Alive { run }) = third.hold_unfinished() else { panic!("taken up") };
    assert_eq!(run, OTHER);
    assert!(matches!(third.hold(ID), Err(LogbookError::Alive { .. })));
    drop(logbook);
    assert_eq!(third.hold_unfinished().unwrap().unwrap().id, OTHER);
    drop((other, third));
    let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().flatten().collect();
    assert!(left.iter().all(|f| !f.file_name().to_str().unwrap().contains("running")), "{left:?}");
}

#[test]
fn finding_of_newer_version_keeps_its_code() {
    let (_directory, mut logbook) = fresh();
    logbook.begin_run(&run(ID)).unwrap();
    let newer = Finding::unknown("tired-photons", qdepth_measure::Severity::Invalid)
        .value("abandoned", 3.0);
    let doubted = PointRecord { findings: vec![newer], ..point(0) };
    logbook.add_point(ID, &doubted).unwrap();
    let points = logbook.points(ID).unwrap();
    let finding = &points[0].findings[0];
    assert_eq!((finding.code, finding.code_text()), (Code::Unknown, "tired-photons"));
    assert!((finding.values["abandoned"] - 3.0).abs() < 1e-9);
    assert_eq!(PointSummary::from_point(&points[0]).grade, Grade::C, "its weight counts");
    for text in [export_json(&run(ID), &points), export_csv(&run(ID), &points)] {
        assert!(text.contains("tired-photons"), "{text}");
    }
}

#[test]
fn leftovers_of_killed_runs_are_removed() {
    let (directory, mut logbook) = fresh();
    let left = directory.path().join("qdepth.db.running-01890000");
    let not_ours = directory.path().join("other.db.running-01890000");
    for path in [&left, &not_ours] {
        std::fs::write(path, "").unwrap();
    }
    logbook.hold(ID).unwrap();
    assert!(!left.exists() && not_ours.exists());
}

/// A row with two histograms is larger than a quarter of a page.
#[test]
fn series_is_stored_without_much_overhead() {
    let many: Vec<u64> = (0..600).map(|n| 1000 + n * n * 40).collect();
    let slice = |n| IntervalRecord { read_latency: (&histogram(&many)).into(), ..interval(n) };
    let bytes_with = |slices: u64| {
        let (directory, mut logbook) = fresh();
        logbook.begin_run(&run(ID)).unwrap();
        let intervals = (0..slices).map(slice).collect();
        logbook.add_point(ID, &PointRecord { intervals, ..point(0) }).unwrap();
        drop(logbook);
        let file = directory.path().join("qdepth.db");
        let sum = "SELECT total(length(read_latency) + length(write_latency)) FROM sample";
        let connection = rusqlite::Connection::open(&file).unwrap();
        let held: f64 = connection.query_row(sum, [], |row| row.get(0)).unwrap();
        (std::fs::metadata(&file).unwrap().len() as f64, held)
    };
    let ((without, _), (with, held)) = (bytes_with(0), bytes_with(600));
    assert!(held / 600.0 > 1000.0, "{held}: smaller rows than those of a run");
    assert!(with - without < 1.5 * held, "{} bytes for {held}", with - without);
}

#[test]
fn reader_never_writes() {
    let (directory, mut logbook) = fresh();
    logbook.begin_run(&run(ID)).unwrap();
    let path = directory.path().join("qdepth.db");
    let mut reader = Logbook::open_read_only(&path).unwrap();
    assert!(reader.add_point(ID, &point(0)).is_err());
    logbook.add_point(ID, &point(0)).unwrap();
    assert_eq!(reader.points(ID).unwrap().len(), 1);
    let missing = Logbook::open_read_only(directory.path().join("other.db"));
    assert!(matches!(missing, Err(LogbookError::Missing { .. })));
}

#[test]
fn summary_is_computed_from_the_facts() {
    let summary = PointSummary::from_point(&point(0));
    assert!((summary.io_per_s.value - 100.0 / 3.0).abs() < 1e-9);
    let (low, high) = summary.io_per_s.interval.expect("a steady series");
    assert!(low < summary.io_per_s.value && summary.io_per_s.value < high);
    assert!((summary.mib_per_s - 100.0 * 8192.0 / 3.0 / 1_048_576.0).abs() < 1e-9);
    assert_eq!(summary.latency.all.count, 100);
    assert_eq!(summary.latency.all.min_ns, Some(1001));
    assert_eq!(summary.response_time.reads.count, 2);
    assert_eq!(summary.response_time.writes, summary.latency.writes);
    assert_eq!((summary.failed, summary.grade), (15, Grade::C));
    assert!((summary.mean_in_flight.unwrap() - 32.0).abs() < 1e-6);
    assert!((summary.cpu_user_ns_per_io.unwrap() - 0.15).abs() < 1e-12);
}

#[test]
fn point_without_ios_has_no_nan() {
    let empty = PointRecord { in_flight_integral_ns: f64::NAN, ..PointRecord::default() };
    let summary = PointSummary::from_point(&empty);
    assert!(summary.io_per_s.value.abs() < f64::MIN_POSITIVE);
    assert_eq!((summary.mean_in_flight, summary.cpu_user_ns_per_io), (None, None));
    let json = export_json(&run(ID), &[empty]);
    let read: Document = serde_json::from_str(&json).unwrap();
    assert_eq!(read.points[0].latency_ns.all.mean, None);
}

#[test]
fn csv_cell_is_never_a_formula() {
    let mut evil = run(ID);
    evil.targets[0].name = "=HYPERLINK(\"http://x\")".into();
    let risky = PointRecord { profile: "@x".into(), arrivals: "+1,\n2".into(), ..point(0) };
    let text = export_csv(&evil, &[risky, PointRecord::default()]);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    let cell = |row: usize, name: &str| {
        let column = header.iter().position(|each| each == name).expect(name);
        rows[row][column].to_owned()
    };
    assert_eq!(cell(0, "target"), "'=HYPERLINK(\"http://x\")");
    assert_eq!(cell(0, "profile"), "'@x");
    assert_eq!(cell(0, "arrivals"), "'+1,\n2");
    assert_eq!(cell(0, "emulated"), "true");
    assert_eq!(cell(0, "latency_ns_all_min"), "1001");
    assert_ne!(cell(0, "latency_ns_all_p50"), "");
    assert_eq!(cell(0, "latency_ns_all_p99"), "");
    assert_eq!(cell(1, "latency_ns_all_mean"), "");
    assert_eq!(cell(0, "findings"), "hung buffered");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_point_round_trips_and_is_exported(point in any_point()) {
        let (_directory, mut logbook) = fresh();
        let run = run(ID);
        logbook.begin_run(&run).unwrap();
        logbook.add_point(ID, &point).unwrap();
        let back = logbook.points(ID).unwrap();
        prop_assert_eq!(&back, &vec![point]);
        let json = export_json(&run, &back);
        let document: Document = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&document, &qdepth_record::document(&run, &back));
        prop_assert_eq!(export_csv(&run, &back).is_empty(), false);
    }
}
