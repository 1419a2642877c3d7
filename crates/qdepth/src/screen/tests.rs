//! The live screen on events like those of real runs, in terminals of every size.

use std::time::Duration;

use qdepth_record::event::{Interval, Machine, PointStarted, RunEvent, RunStarted, SegmentStarted};
use unicode_width::UnicodeWidthStr;

use super::lines::{Size, lines};
use super::live::{Live, Writing};

const SECOND: u64 = 1_000_000_000;

fn run(targets: &[&str], emulated: bool) -> RunEvent {
    RunEvent::RunStarted(RunStarted {
        schema_version: 1,
        run: "018f".to_owned(),
        started_at: "2026-11-23T12:00:00Z".to_owned(),
        plan: "standard".to_owned(),
        plan_hash: "0".repeat(64),
        targets: targets.iter().map(|name| (*name).to_owned()).collect(),
        emulated,
        points: 30,
        points_done: 2,
        planned_ns: 1050 * SECOND,
        may_end_early: false,
        search_ns: None,
        seed: 1,
    })
}

fn point(point: u32, target: u32) -> RunEvent {
    RunEvent::PointStarted(PointStarted {
        point,
        group: 7,
        target,
        profile: "database".to_owned(),
        profile_title: "Database".to_owned(),
        step: String::new(),
        variant: None,
        queue_depth: 8,
        streams: 1,
        offered_io_per_s: None,
        warm_up_ns: 5 * SECOND,
        duration_ns: 30 * SECOND,
        planned_before_ns: 70 * SECOND,
    })
}

fn segment() -> RunEvent {
    let (warm_up_ns, window_ns) = (5 * SECOND, 30 * SECOND);
    let planned_before_ns = 70 * SECOND;
    RunEvent::SegmentStarted(SegmentStarted { group: 7, warm_up_ns, window_ns, planned_before_ns })
}

fn interval(point: u32, second: u64) -> RunEvent {
    RunEvent::Sample(Interval {
        point,
        end_ns: second * SECOND,
        length_ns: SECOND,
        reads: 100_000 + second * 1000,
        writes: 20_000,
        read_bytes: 409_600_000,
        written_bytes: 81_920_000,
        trims: 0,
        trimmed_bytes: 0,
        latency_mean_ns: Some(99_000.0),
        response_time_mean_ns: Some(120_000_000.0),
        io_per_s_confidence_interval: (second > 3).then_some([127_000.0, 129_000.0]),
    })
}

/// Live lines of a screen, `seconds` after these events.
fn screen(events: &[RunEvent], seconds: u64, (width, height): (usize, usize)) -> Vec<String> {
    let mut live = Live::default();
    events.iter().for_each(|event| live.apply(event, Duration::ZERO));
    lines(&live, Duration::from_secs(seconds), Size { width, height })
}

fn one_load(intervals: u64) -> Vec<RunEvent> {
    let mut events = vec![run(&["/dev/nvme0n1"], false), point(2, 0), segment()];
    events.extend((1..=intervals).map(|second| interval(2, second)));
    events
}

fn many_loads(count: u32) -> Vec<RunEvent> {
    let names: Vec<String> =
        (0..count).map(|n| format!("/mnt/a/long/path/to/storage/測定対象{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut events = vec![run(&names, false)];
    events.extend((0..count).map(|n| point(2 + n, n)));
    events.push(segment());
    events.extend((0..count).flat_map(|n| (1..=9).map(move |second| interval(2 + n, second))));
    events
}

#[test]
fn each_phase_is_shown_with_its_progress() {
    for (seconds, wanted) in [
        (0, "warm-up  0 s of 5 s  not recorded"),
        (3, "warm-up  3 s of 5 s"),
        (5, "measuring  0 s of 30 s"),
        (17, "measuring  12 s of 30 s"),
        (36, "draining  waiting for I/Os in flight"),
    ] {
        let shown = screen(&one_load(0), seconds, (79, 24));
        assert!(shown[0].contains("Database, QD 8  point 3 of 30  /dev/nvme0n1"), "{shown:?}");
        assert!(shown[1].starts_with(wanted), "{seconds}: {shown:?}");
    }
    let left = |seconds| screen(&one_load(0), seconds, (79, 24)).pop().unwrap();
    assert!(left(0).contains("2 of 30 points  16:20 left  this load 0:35"), "{}", left(0));
    assert!(left(17).contains("16:03 left  this load 0:18"), "{}", left(17));
    assert!(screen(&[], 1, (79, 24)).is_empty(), "nothing between what is told");
}

#[test]
fn search_points_are_counted_separately() {
    let mut events = one_load(0);
    for event in &mut events {
        match event {
            RunEvent::RunStarted(run) => run.search_ns = Some(1800 * SECOND),
            RunEvent::PointStarted(point) => point.point = 30,
            _ => {}
        }
    }
    let shown = screen(&events, 0, (79, 24));
    assert!(shown[0].contains("search, point 31"), "{shown:?}");
    let last = shown.last().unwrap();
    assert!(last.contains("2 points  at most 46:20 left"), "{last}");
}

#[test]
fn live_figures_show_response_time_and_confidence() {
    let early = screen(&one_load(3), 8, (79, 24)).join("\n");
    assert!(early.contains("123,000") && early.contains("120.000 ms"), "{early}");
    assert!(!early.contains("95 %") && !early.contains("0.099"), "{early}");
    let late = screen(&one_load(9), 14, (79, 24)).join("\n");
    assert!(late.contains("128,000") && late.contains("±0.8 %"), "{late}");
    assert!(late.contains('█') && late.contains("last minute"), "{late}");
}

#[test]
fn each_simultaneous_load_has_a_line_within_limits() {
    let few = screen(&many_loads(3), 14, (119, 40));
    assert!(few[0].contains("Database, QD 8, 3 at once  points 3 to 5 of 30"), "{few:?}");
    assert_eq!(few.iter().filter(|line| line.contains("129,000")).count(), 3, "{few:?}");
    assert!(few.iter().any(|line| line == "together 387,000 IOPS"), "{few:?}");
    for height in [1, 2, 10, 24, 40] {
        let many = screen(&many_loads(200), 14, (79, height));
        assert!(many.len() <= 18 && (height < 8 || many.len() < height), "{height}: {many:?}");
        assert!(many.iter().any(|line| line.contains("more not shown")), "{many:?}");
    }
}

#[test]
fn total_is_a_dash_before_the_first_sample() {
    let mut events = many_loads(3);
    let first = events.iter().position(|event| matches!(event, RunEvent::Sample(_))).unwrap();
    events.truncate(first);
    for seconds in [0, 3, 14] {
        let shown = screen(&events, seconds, (79, 24)).join("\n");
        assert!(shown.contains("together – IOPS") && !shown.contains("-0"), "{shown}");
    }
    // One load reports first, and it may report no I/O.
    let mut nothing = interval(2, 1);
    if let RunEvent::Sample(interval) = &mut nothing {
        (interval.reads, interval.writes) = (0, 0);
    }
    events.push(nothing);
    let shown = screen(&events, 6, (79, 24)).join("\n");
    assert!(shown.contains("together 0 IOPS") && !shown.contains("-0"), "{shown}");
}

fn machine(number: u32) -> RunEvent {
    let values = [
        ("cpu busy_share", 0.344),
        ("cpu steal_share", 0.012),
        ("nvme0n1 celsius", 41.4),
        ("nvme0n1 io_per_s", 7.0),
    ];
    RunEvent::Machine(Machine {
        host: format!("node{number}"),
        io_per_s: 5000.0,
        bytes_per_s: 20_480_000.0,
        values: values.map(|(name, value)| (name.to_owned(), value)).into(),
    })
}

#[test]
fn each_machine_shows_load_and_drive_temperature() {
    let with = |machines: u32, size| {
        let events = [one_load(2), (0..machines).map(machine).collect()].concat();
        screen(&events, 8, size)
    };
    let alone = with(1, (79, 24));
    assert!(alone.contains(&"CPU 34 %  steal 1.2 %  nvme0n1 41 °C".to_owned()), "{alone:?}");
    let two = with(2, (79, 24));
    let of_two = "node1  5,000 IOPS  19.5 MiB/s  CPU 34 %  steal 1.2 %  nvme0n1 41 °C".to_owned();
    assert!(two.contains(&of_two), "{two:?}");
    for height in [2, 10, 24, 40] {
        let many = with(64, (39, height));
        assert!(many.len() <= 15 && (height < 10 || many.len() < height), "{height}: {many:?}");
        assert!(many.iter().any(|line| line.contains("more machines not shown")), "{many:?}");
    }
}

#[test]
fn preparation_without_writes_has_no_figures() {
    let writing = Writing {
        phase: "preparing",
        what: "mount /dev/md0".to_owned(),
        bytes: None,
        written: 0,
        since: Duration::ZERO,
    };
    let live = Live { writing: Some(writing), ..Live::default() };
    let size = Size { width: 80, height: 24 };
    assert_eq!(lines(&live, Duration::from_secs(2), size), ["preparing  mount /dev/md0"]);
}

#[test]
fn live_lines_fit_every_terminal_width() {
    let writing = Some(Writing {
        phase: "preparing",
        what: "filling the measurement file in /mnt/a/long/path/to/some/storage".to_owned(),
        bytes: Some(4 << 30),
        written: 1 << 30,
        since: Duration::ZERO,
    });
    let writing = Live { writing, ..Live::default() };
    for width in 1..=200 {
        let size = Size { width, height: 24 };
        let mut all = lines(&writing, Duration::from_secs(2), size);
        if width >= 60 {
            assert!(all[0].starts_with("preparing  filling"), "{all:?}");
            assert!(all[1].contains("1.07 GB of 4.29 GB"), "{all:?}");
            assert!(all[1].contains("0:06 left"), "{all:?}");
        }
        for events in [one_load(0), one_load(70), many_loads(3), many_loads(40)] {
            let shown = screen(&events, 14, (width, 24));
            if width >= 20 && events.len() > 20 {
                assert!(shown.iter().any(|line| line.contains(",000")), "{width}: {shown:?}");
            }
            all.extend(shown);
        }
        for line in all {
            assert!(line.width() <= width, "{width}: {} of `{line}`", line.width());
            assert!(!line.contains(['\n', '\u{1b}']), "{line}");
        }
    }
}

#[test]
fn emulated_run_is_marked_and_uses_virtual_time() {
    let mut events = one_load(4);
    events[0] = run(&["media:p3700-800gb"], true);
    for width in [39, 79, 119] {
        // Virtual time counts, not the wall clock.
        let shown = screen(&events, 900, (width, 24));
        assert!(shown[0].starts_with("EMULATED"), "{shown:?}");
        assert!(shown[1].starts_with("measuring  4 s of 30 s"), "{shown:?}");
    }
}

#[test]
fn finished_points_are_listed_above_if_space_permits() {
    let mut live = Live::default();
    one_load(2).iter().for_each(|event| live.apply(event, Duration::ZERO));
    (0..60).for_each(|n| {
        live.print_above(format!("Database × {n} 1000 IOPS and more words than fit"))
    });
    for (width, height) in [(79, 24), (39, 20), (20, 3), (1, 1)] {
        let shown = lines(&live, Duration::from_secs(8), Size { width, height });
        let own = screen(&one_load(2), 8, (width, height));
        assert!(shown.len() <= (height - 1).max(own.len()), "{height}: {shown:?}");
        assert_eq!(shown[shown.len() - own.len()..], own);
        assert!(height < 20 || shown.iter().any(|line| line.contains("× 59")), "{shown:?}");
    }
}

#[test]
fn last_minute_chart_continues_across_sequential_loads() {
    let mut events = one_load(9);
    let again = |event: &RunEvent| match event {
        RunEvent::PointStarted(point) => {
            RunEvent::PointStarted(PointStarted { point: 3, group: 8, ..point.clone() })
        }
        RunEvent::SegmentStarted(segment) => {
            RunEvent::SegmentStarted(SegmentStarted { group: 8, ..segment.clone() })
        }
        other => other.clone(),
    };
    let next: Vec<RunEvent> = events[1..3].iter().map(again).collect();
    events.extend(next);
    events.push(interval(3, 1));
    let shown = screen(&events, 8, (119, 24)).join("\n");
    let bars = shown.chars().filter(|c| ('▁'..='█').contains(c) && !"█░".contains(*c)).count();
    let full = shown.lines().find(|line| line.contains("121,000")).unwrap().matches('█').count();
    assert_eq!(bars + full, 10, "{shown}");
}

#[test]
fn control_characters_in_target_names_are_removed() {
    let mut events = one_load(2);
    events[0] = run(&["evil\u{1b}[2Jname\nin two lines"], false);
    let shown = screen(&events, 9, (119, 24)).join("\n");
    assert!(!shown.contains('\u{1b}') && shown.contains("evil"), "{shown}");
}
