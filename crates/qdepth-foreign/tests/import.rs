//! Results of other programs: imported fields, and robustness of the readers, which must not panic
//! or hang on any bytes.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use qdepth_foreign::{Imported, Remark, import};
use qdepth_logbook::Logbook;
use qdepth_record::{PointSummary, RunState};

fn read(name: &str, text: &str) -> Vec<Imported> {
    import(&[(name.to_owned(), text.as_bytes().to_vec())]).expect("a result")
}

fn near(value: f64, wanted: f64) -> bool {
    (value - wanted).abs() <= 1e-9 * wanted.abs()
}

/// Job in fio's JSON, reduced to the fields on which scripts rely.
fn job(name: &str, elapsed: u64, ios: u64) -> String {
    format!(
        r#"{{"jobname":"{name}","groupid":0,"error":0,"elapsed":{elapsed},
        "job options":{{"rw":"randread","bs":"8k","iodepth":"16","filename":"/dev/nvme0n1"}},
        "read":{{"io_bytes":{bytes},"bw":1,"iops":1.0,"runtime":2000,"total_ios":{ios},"short_ios":1,
          "clat_ns":{{"min":90,"max":4000,"mean":100.0,"stddev":1.0,"N":{ios},
             "percentile":{{"50.000000":100,"99.000000":300,"99.900000":900,"99.990000":1900}}}},
          "lat_ns":{{"min":100,"max":5000,"mean":120.5,"stddev":1.0,"N":{ios}}}}},
        "write":{{"io_bytes":0,"runtime":0,"total_ios":0,"lat_ns":{{"min":0,"max":0,"mean":0.0,"stddev":0.0,"N":0}}}},
        "sync":{{"total_ios":0,"lat_ns":{{"min":0,"max":0,"mean":0.0,"stddev":0.0,"N":0}}}},
        "usr_cpu":1.5,"sys_cpu":3.0}}"#,
        bytes = ios * 8192
    )
}

fn document(timestamp: u64, jobs: &[String]) -> String {
    format!(
        r#"{{"fio version":"fio-3.33","timestamp":{timestamp},"global options":{{"direct":"1"}},"jobs":[{}],"disk_util":[]}}"#,
        jobs.join(",")
    )
}

#[test]
fn fio_result_keeps_figures_and_source() {
    let text = format!(
        "fio: a warning\nfio: {{ not json\n{}\n",
        document(1_795_278_896, &[job("a", 2, 10_000)])
    );
    let runs = read("fio.json", &text);
    assert_eq!(runs.len(), 1);
    assert_eq!((runs[0].program.as_str(), runs[0].version.as_str()), ("fio", "fio-3.33"));
    assert_eq!(runs[0].started_at.as_deref(), Some("2026-11-21T16:34:54Z"));
    assert_eq!(runs[0].targets, ["/dev/nvme0n1"]);
    let point = &runs[0].points[0];
    assert_eq!((point.queue_depth, point.block_size.as_str(), point.direct), (16, "8k", true));
    let summary = PointSummary::from_point(point);
    assert!(near(summary.io_per_s.value, 5000.0));
    assert!(near(summary.mib_per_s, 5000.0 * 8.0 / 1024.0));
    let times = &summary.latency.all;
    assert_eq!((times.count, times.min_ns, times.max_ns), (10_000, Some(90), Some(4000)));
    // The mean is that of the completion latency, like the percentiles.
    assert_eq!(times.mean_ns, Some(100.0));
    assert_eq!(runs[0].remarks, [Remark::CompletionLatency]);
    // 99.99 has one sample beyond it, so it is not reported.
    let named: Vec<u64> = times.percentiles.iter().map(|p| p.value.0).collect();
    assert_eq!(named, [100, 300, 900]);
}

#[test]
fn status_snapshots_merge_but_separate_runs_do_not() {
    let snapshots = [(1000, 1, 10), (1001, 2, 20), (1002, 3, 30)]
        .map(|(time, elapsed, ios)| document(time, &[job("a", elapsed, ios)]));
    let runs = read("status.json", &snapshots.concat());
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].points[0].reads.completed, 30);
    let apart = document(1000, &[job("a", 1, 10)]) + "\n" + &document(5000, &[job("a", 1, 20)]);
    assert_eq!(read("two.json", &apart).len(), 2);
}

#[test]
fn clients_are_separate_and_their_sum_is_omitted() {
    let client = |host: &str, name: &str| {
        job(name, 2, 10).replacen('{', &format!(r#"{{"hostname":"{host}","port":8765,"#), 1)
    };
    let text = document(1000, &[]).replace(
        r#""jobs":[]"#,
        &format!(
            r#""client_stats":[{},{},{}]"#,
            client("one", "a"),
            client("two", "a"),
            client("", "All clients")
        ),
    );
    let runs = read("clients.json", &text);
    assert_eq!(runs[0].targets, ["one:/dev/nvme0n1", "two:/dev/nvme0n1"]);
    assert_eq!(runs[0].points.len(), 2);
}

#[test]
fn microseconds_of_old_fio_become_nanoseconds() {
    let text = document(1000, &[job("a", 2, 100)]).replace("lat_ns", "lat");
    let summary = PointSummary::from_point(&read("old.json", &text)[0].points[0]);
    assert_eq!(summary.latency.reads.mean_ns, Some(100_000.0));
    assert_eq!(summary.latency.reads.max_ns, Some(4_000_000));
}

/// JSON of a job of this fio version that read `bytes` (in its own unit) at 4096 KiB/s for two
/// seconds.
fn old(version: &str, bytes: u64, more: &str) -> String {
    format!(
        r#"{{"fio version":"{version}","timestamp":1000,"jobs":[{{"jobname":"a","elapsed":2,
        "read":{{"io_bytes":{bytes},"bw":4096,"iops":1024.0,"runtime":2000{more},
          "lat":{{"min":50,"max":900,"mean":75.5,"stddev":1.0}}}}}}]}}"#
    )
}

#[test]
fn byte_units_of_old_fio_versions_are_recognized() {
    for (version, said, more) in [
        ("fio-2.0.8", 8192, ""),
        ("fio-2.2.10", 8192, r#","total_ios":2048"#),
        ("", 8192, ""),
        ("fio-2.99", 8 << 20, r#","io_kbytes":8192"#),
        ("fio-2.99", 8 << 20, ""),
        ("fio-3.1", 8 << 20, r#","total_ios":2048"#),
    ] {
        let runs = read("old.json", &old(version, said, more));
        let reads = &runs[0].points[0].reads;
        assert_eq!((reads.bytes, reads.completed), (8 << 20, 2048), "{version} {said}");
        let stated = reads.stated.as_ref().expect("latencies in microseconds");
        assert_eq!((stated.mean_ns, stated.max_ns), (Some(75_500.0), Some(900_000)));
        // Expected values come from the rate and time in the file itself.
        let summary = PointSummary::from_point(&runs[0].points[0]);
        assert!(near(summary.mib_per_s, 4.0) && near(summary.io_per_s.value, 1024.0), "{version}");
    }
    let files = [("unclear.json".to_owned(), old("fio-2.1", 123_456, "").into_bytes())];
    let why = qdepth_foreign::import(&files).expect_err("neither unit").to_string();
    assert!(why.contains("fio-2.1") && why.contains("its unit is unknown"), "{why}");
}

#[test]
fn mixed_and_completion_latency_results_get_remarks() {
    let text = document(1000, &[job("a", 2, 100)]);
    let together = text.replace("\"read\":", "\"mixed\":").replace("\"write\":", "\"other\":");
    let run = &read("mixed.json", &together)[0];
    assert_eq!(run.points[0].reads.completed, 100);
    assert!(run.remarks.contains(&Remark::MixedStandsAsReads), "{:?}", run.remarks);
    let run = &read("clat.json", &text.replace("\"lat_ns\"", "\"qlat_ns\""))[0];
    assert_eq!(run.points[0].reads.stated.as_ref().and_then(|s| s.mean_ns), Some(100.0));
    assert!(run.remarks.contains(&Remark::CompletionLatency), "{:?}", run.remarks);
}

#[test]
fn latency_logs_become_distributions_or_means() {
    let singles: String =
        (1..=1000).map(|n| format!("{}, {}, 0, 4096, 0\n", n, 1000 + n)).collect();
    let runs = read("x_lat.1.log", &singles);
    let summary = PointSummary::from_point(&runs[0].points[0]);
    assert_eq!((runs[0].points[0].profile.as_str(), summary.latency.reads.count), ("x 1", 1000));
    assert!(near(summary.io_per_s.value, 1000.0));
    assert!(summary.latency.reads.percentiles.len() >= 3);
    let files = [
        ("d/y_lat.2.log", "500, 2000, 1, 0, 0\n1000, 4000, 1, 0, 0\n"),
        ("d/y_iops.2.log", "500, 100, 1, 0, 0\n1000, 300, 1, 0, 0\n"),
        ("d/y_bw.2.log", "500, 400, 1, 0, 0\n1000, 1200, 1, 0, 0\n"),
        ("d/y_clat.2.log", "500, 1, 1, 0, 0\n"),
    ]
    .map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
    let runs = import(&files).expect("logs");
    let point = &runs[0].points[0];
    let summary = PointSummary::from_point(point);
    assert_eq!((runs.len(), point.writes.completed, point.writes.bytes), (1, 200, 800 << 10));
    assert!(near(summary.io_per_s.value, 200.0));
    assert_eq!(summary.latency.writes.mean_ns, Some(3000.0));
}

const IOMETER: &str = "'Test Type,Test Description\r\n0,\r\n'Version\r\n1.1.0 \r\n'Time Stamp\r\n\
2014-06-27 12:00:05:123\r\n'Access specifications\r\n\
'Access specification name,default assignment\r\n\
8 KiB 67% read,0\r\n'size,% of size,% reads,% random,delay,burst,align,reply\r\n\
8192,100,67,100,0,1,0,0\r\n\
'End access specifications\r\n'Results\r\n'Target Type,Target Name,Access Specification Name,# \
Managers,# Workers,# Disks,IOps,Read IOps,Write IOps,MBps (Binary),Average Response Time,Average \
Read Response Time,Average Write Response Time,Maximum Read Response Time,Maximum Write Response \
Time,Errors,Bytes Read,Bytes Written,Read I/Os,Write I/Os,Queue Depth\r\n\
ALL,All,8 KiB 67% read,1,1,1,1000,670,330,7.8,1.5,1.0,2.5,30,60,0,164659200,81100800,20100,9900,\
8\r\n\
DISK,sdb,8 KiB 67% read,,,,1000,670,330,7.8,1.5,1.0,2.5,30,60,0,164659200,81100800,20100,9900,\
8\r\n";

#[test]
fn iometer_result_is_parsed_by_column_names() {
    let runs = read("results.csv", IOMETER);
    assert_eq!((runs[0].program.as_str(), runs[0].version.as_str()), ("Iometer", "1.1.0"));
    assert_eq!(runs[0].started_at.as_deref(), Some("2014-06-27T12:00:05Z"));
    let [point] = runs[0].points.as_slice() else { panic!("{} points", runs[0].points.len()) };
    assert_eq!((point.queue_depth, point.duration_ns), (8, 30_000_000_000));
    assert!(near(point.read_share, 0.67) && near(point.random_share, 1.0));
    let summary = PointSummary::from_point(point);
    assert!(near(summary.io_per_s.value, 1000.0));
    assert_eq!(summary.latency.reads.mean_ns, Some(1e6));
    assert_eq!(summary.latency.writes.max_ns, Some(60_000_000));
    let mean = summary.latency.all.mean_ns.expect("a mean");
    assert!(near(mean, 1.0e6 * 0.67 + 2.5e6 * 0.33), "{mean}");
}

#[test]
fn imported_run_is_stored_and_marked() {
    let directory = tempfile::tempdir().unwrap();
    let mut logbook = Logbook::open(directory.path().join("qdepth.db")).unwrap();
    let imported = &read("results.csv", IOMETER)[0];
    let id = "01920000-0000-7000-8000-0000000000aa";
    let run = imported.record(id, "2026-11-21T18:00:00Z", "0.1.0");
    logbook.begin_run(&run).unwrap();
    for point in &imported.points {
        logbook.add_point(id, point).unwrap();
    }
    logbook.end_run(id, RunState::Complete, "2026-11-21T18:00:00Z", &[]).unwrap();
    assert_eq!(logbook.points(id).unwrap(), imported.points);
    let mark = &logbook.run(id).unwrap().findings[0];
    assert_eq!(mark.code.as_str(), "imported");
    assert_eq!(mark.labels["program"], "Iometer");
    assert_eq!(mark.labels["version"], "1.1.0");
    assert_eq!(imported.points[0].findings[0].code.as_str(), "imported");
}

#[test]
fn truncated_fio_result_names_the_place() {
    let whole = document(5, &[job("j", 1000, 100)]);
    let cut = &whole[..whole.len() / 2];
    let file = ("r.json".to_owned(), cut.as_bytes().to_vec());
    let error = import(&[file]).expect_err("cut in the middle").to_string();
    assert!(error.contains("damaged or incomplete") && error.contains("line"), "{error}");
}

#[test]
fn non_result_files_are_refused_by_name() {
    for (name, text) in
        [("a.json", ""), ("b.json", "{}"), ("c.csv", "a,b\n1,2\n"), ("x_lat.log", "1, 2\n")]
    {
        let error = import(&[(name.to_owned(), text.as_bytes().to_vec())]).expect_err(name);
        assert!(error.to_string().starts_with(name), "{error}");
    }
}

fn try_it(name: &str, bytes: &[u8]) {
    let Ok(runs) = import(&[(name.to_owned(), bytes.to_vec())]) else { return };
    for run in &runs {
        let _ = run.record("id", "now", "0");
        for point in &run.points {
            let summary = PointSummary::from_point(point);
            assert!(summary.io_per_s.value.is_finite() && summary.mib_per_s.is_finite());
        }
    }
}

const NAMES: [&str; 3] = ["x.json", "x_lat.1.log", "x.csv"];

#[test]
fn import_corpus_is_parsed_without_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import_corpus");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("the corpus") {
        let bytes = fs::read(entry.expect("an entry").path()).expect("a file");
        for name in NAMES {
            try_it(name, &bytes);
        }
        count += 1;
    }
    assert!(count >= 6, "{count} files");
}

/// Valid text with bytes inserted, removed or changed.
fn damaged(text: &str, cuts: &[(usize, u8, u8)]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for (place, byte, kind) in cuts {
        let place = place % bytes.len().max(1);
        match kind % 3 {
            0 => bytes.insert(place, *byte),
            1 if !bytes.is_empty() => drop(bytes.remove(place)),
            _ if !bytes.is_empty() => bytes[place] = *byte,
            _ => {}
        }
    }
    bytes
}

proptest! {
    #[test]
    fn damaged_results_parse_without_panic(
        which in 0usize..3,
        cuts in prop::collection::vec((any::<usize>(), any::<u8>(), any::<u8>()), 0..12),
    ) {
        let good = [
            document(1000, &[job("a", 2, 100), job("b", 2, 0)]),
            "100, 200, 0, 4096, 0\n200, 300, 1, 4096, 0\n".repeat(20),
            IOMETER.to_owned(),
        ];
        try_it(NAMES[which], &damaged(&good[which], &cuts));
    }

    #[test]
    fn numbers_of_any_size_parse_without_panic(
        numbers in prop::collection::vec("-?[0-9]{1,25}(\\.[0-9]{1,4})?(e[0-9]{1,3})?", 6),
    ) {
        let text = document(1000, &[job("a", 2, 100)]);
        let mut parts = text.split("100");
        let mut spoilt = parts.next().unwrap_or("").to_owned();
        for (part, number) in parts.zip(numbers.iter().cycle()) {
            spoilt = spoilt + number + part;
        }
        try_it("x.json", spoilt.as_bytes());
        let rows: String = numbers.chunks(4).map(|row| row.join(", ") + "\n").collect();
        try_it("x_bw.1.log", rows.as_bytes());
    }

    #[test]
    fn any_result_bytes_parse_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for name in NAMES {
            try_it(name, &bytes);
        }
    }
}

#[test]
fn file_with_too_many_results_is_refused() {
    let row = "ALL,All,4K,1,1,1,100.5,67,33\n";
    let head = "'Results\n'Target Type,Target Name,Access Specification Name,# Managers,# \
                Workers,# Disks,IOps,Read IOps,Write IOps\n";
    let file = |rows: usize| {
        let text = format!("{head}{}'End Test\n", row.repeat(rows));
        qdepth_foreign::import(&[("results.csv".to_owned(), text.into_bytes())])
    };
    assert_eq!(file(500).expect("taken")[0].points.len(), 500);
    let refused = file(100_000).expect_err("refused").to_string();
    assert!(refused.contains("more than 500 results"), "{refused}");
}
