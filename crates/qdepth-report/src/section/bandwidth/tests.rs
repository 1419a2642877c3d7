//! Tests from hand-made records to table, scaling and sentences.

use qdepth_record::{DirectionRecord, PointRecord, RunRecord};

use crate::compose;
use crate::document::Mark;
use crate::html;
use crate::point_tables;
use crate::summary_sentences;
use crate::tests::fixture;
use crate::words::Lang;

const MIB: u64 = 1 << 20;

/// A write of `mib` MB in `seconds` seconds.
fn write(group: u32, name: &str, target: u32, threads: u32, mib: u64, seconds: u64) -> PointRecord {
    PointRecord {
        index: group * 2 + target,
        group,
        step: format!("{threads} threads"),
        target,
        profile: name.into(),
        profile_title: "Write".into(),
        block_size: "1MiB".into(),
        block_size_mean_bytes: MIB as f64,
        reported_as_throughput: true,
        arrivals: "closed".into(),
        queue_depth: 1,
        streams: threads,
        workers: threads,
        direct: true,
        duration_ns: seconds * 1_000_000_000,
        writes: DirectionRecord { completed: mib, bytes: mib * MIB, ..DirectionRecord::default() },
        ..PointRecord::default()
    }
}

fn run(targets: u32) -> RunRecord {
    RunRecord { plan_name: "bandwidth".into(), ..fixture::run(targets) }
}

#[test]
fn bandwidth_sums_targets_to_last_end_per_pass() {
    let points = [
        write(0, "baseline-write", 0, 2, 1000, 1),
        write(1, "bandwidth-write", 0, 2, 9000, 1),
        write(1, "bandwidth-write", 1, 2, 9000, 1),
        // The second pass: 3,000 MB; the slower target took 2 s.
        write(2, "bandwidth-write", 0, 2, 1500, 1),
        write(2, "bandwidth-write", 1, 2, 1500, 2),
    ];
    let run = run(2);
    let tables = point_tables(&run, &points, Lang::En);
    assert_eq!(tables.len(), 2);
    let row = |table: usize| {
        let cells = tables[table].rows[0].cells.iter();
        cells.map(|cell| cell.text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(row(0), ["4", "1,500", "–"]);
    assert_eq!(row(1), ["4", "75.0", "–"]);
    let summary = summary_sentences(&run, &points, Lang::En).join(" ");
    assert!(
        summary.contains("Write: 1,500 MiB/s at best, with 4 threads and a transfer size of 1 MiB"),
        "{summary}"
    );
    assert!(summary.contains("all 2 together reach 75"), "{summary}");
    let page = html(&compose(&run, &points, Lang::En)).unwrap();
    assert!(page.contains("id=\"bandwidth\"") && page.contains("bandwidth-write"));
    assert!(
        page.contains("<td class=\"points unknown\">4, 5</td>"),
        "the points of the second pass"
    );
}

#[test]
fn invalid_bandwidth_point_is_struck_and_never_best() {
    let mut broken = write(1, "bandwidth-write", 0, 4, 900, 1);
    broken.findings.push(qdepth_measure::Finding::invalid(qdepth_measure::Code::IoErrors));
    let points = [write(0, "bandwidth-write", 0, 1, 100, 1), broken];
    let run = run(1);
    let table = &point_tables(&run, &points, Lang::En)[0];
    assert_eq!(table.rows[1].cells[1].mark, Mark::Struck);
    let summary = summary_sentences(&run, &points, Lang::En).join(" ");
    assert!(summary.contains("100 MiB/s at best, with 1 thread and"), "{summary}");
}

/// The table and the sentence count the same threads, whatever the transfer size.
#[test]
fn sufficient_threads_agree_in_table_and_sentence() {
    let large = |threads: u32, group: u32, mib: u64| PointRecord {
        block_size: "4MiB".into(),
        block_size_mean_bytes: (4 * MIB) as f64,
        ..write(group, "bandwidth-write", 0, threads, mib, 1)
    };
    let points = [
        write(0, "bandwidth-write", 0, 1, 970, 1),
        write(1, "bandwidth-write", 0, 2, 980, 1),
        large(1, 2, 500),
        large(2, 3, 1000),
    ];
    let document = compose(&run(1), &points, Lang::En);
    let said = &document.summary[0];
    assert!(said.contains("95 % of it is reached with 1 thread and a transfer size of"), "{said}");
    let Some(crate::document::Block::Table(table)) = document.answer.last() else { panic!() };
    assert_eq!(table.rows[0].cells[4].text, "1 (1 MiB)");
}

#[test]
fn unlike_drives_have_no_scaling() {
    let points = [
        write(0, "baseline-write", 0, 2, 1000, 1),
        write(1, "bandwidth-write", 0, 2, 1500, 1),
        write(1, "bandwidth-write", 1, 2, 1500, 1),
    ];
    let mut run = run(2);
    for (target, product) in run.targets.iter_mut().zip(["Slow", "Quick"]) {
        target.facts = vec![fixture::observation("drive", "product", Ok(product), "here")];
    }
    assert_eq!(point_tables(&run, &points, Lang::En).len(), 1, "rates, and no scaling");
    let summary = summary_sentences(&run, &points, Lang::En).join(" ");
    assert!(summary.contains("all 2 together reach 3.00 times that."), "{summary}");
    assert!(!summary.contains("of 2 times"), "{summary}");
}

#[test]
fn runs_are_compared_with_the_first() {
    let single = (run(1), vec![write(0, "bandwidth-write", 0, 2, 1000, 1)]);
    let parts = [0, 1].map(|target| write(0, "bandwidth-write", target, 2, 900, 1));
    let several = (run(2), parts.to_vec());
    let document = crate::compose_campaign(&[single, several], Lang::En);
    let text = &document.summary[1];
    assert!(text.contains("writes 1.80 times as much as Run 1"), "{text}");
    let [crate::Block::Pictures(_), crate::Block::Table(table)] = &document.answer[..] else {
        panic!("{:?}", document.answer);
    };
    let last: Vec<&str> = table.rows[1].cells.iter().map(|cell| &*cell.text).collect();
    assert_eq!(last[2..4], ["1,800", "1.80"]);
}
