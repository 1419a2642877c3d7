//! Tests from records to verdicts.

use qdepth_record::{Best, Observation, PointRecord, RunHeadline};

use super::*;
use crate::Lang;
use crate::compare::trend::trend_sentences;
use crate::document::Block;
use crate::presentation::Measured;
use crate::tests::fixture;

fn versus(
    (a, of_a): (&str, &[Measured]),
    (b, of_b): (&str, &[Measured]),
    earlier: &[Measured],
    threshold: f64,
    interim_checks: u32,
) -> Versus {
    let [of_a, of_b, earlier] = [of_a, of_b, earlier].map(documents);
    let (a, b) = (Side { name: a, runs: &of_a }, Side { name: b, runs: &of_b });
    super::versus(a, b, &earlier, threshold, interim_checks)
}

/// Runs of the fixture, with rates scaled by `factor` and by a small variation of each run.
fn group(id: &str, runs: u32, factor: f64) -> Vec<Measured> {
    let measured = |number: u32| {
        let mut run = fixture::run(1);
        run.id = format!("{id}-{number}");
        let mut points = fixture::points(1);
        let own = factor * (1.0 + 0.004 * (f64::from(number * 7 % 5) - 2.0));
        for point in &mut points {
            for direction in [&mut point.reads, &mut point.writes] {
                direction.completed = (direction.completed as f64 * own) as u64;
                direction.bytes = (direction.bytes as f64 * own) as u64;
            }
            point.intervals.clear();
            point.findings.clear();
        }
        (run, points)
    };
    (0..runs).map(measured).collect()
}

#[test]
fn groups_of_runs_get_verdicts_per_figure() {
    let (a, b) = (group("a", 8, 1.0), group("b", 8, 0.9));
    let slower = versus(("before", &a), ("after", &b), &[], 0.02, 1);
    let rates: Vec<&VersusRow> = slower.rows.iter().filter(|row| row.is_rate()).collect();
    assert!(rates.len() > 10, "{}", rates.len());
    for row in &rates {
        assert_eq!((row.verdict, row.runs), ("slower", [8, 8]), "{row:?}");
        assert!((row.ratio.unwrap() - 0.9).abs() < 0.005, "{row:?}");
    }
    let same = versus(("a", &a), ("again", &group("c", 8, 1.0)), &[], 0.02, 1);
    assert_eq!(same.count("equal"), same.rows.len());
    for lang in Lang::ALL {
        let table = versus_table(&slower, lang);
        assert_eq!(table.rows.len(), slower.rows.len());
        assert!(table.rows.iter().all(|row| row.cells.len() == table.columns.len()));
        let sentences = versus_sentences(&slower, lang);
        assert!(sentences[0].contains(&slower.count("slower").to_string()), "{sentences:?}");
        assert!(!sentences.iter().any(|sentence| sentence.contains('{')), "{sentences:?}");
    }
}

#[test]
fn single_runs_need_a_history_for_verdicts() {
    let (a, b) = (group("a", 1, 1.0), group("b", 1, 0.8));
    let alone = versus(("a", &a), ("b", &b), &[], 0.02, 1);
    assert_eq!(alone.count("inconclusive"), alone.rows.len());
    let sentences = versus_sentences(&alone, Lang::En);
    assert!(sentences[2].starts_with("One run per side"), "{sentences:?}");
    let earlier = group("e", 6, 1.0);
    let known = versus(("a", &a), ("b", &b), &earlier, 0.02, 1);
    assert_eq!(known.history_runs, 6);
    assert!(known.rows.iter().all(|row| row.figure.ends_with("_ns") || row.verdict == "slower"));
    let mut strange = earlier;
    strange.iter_mut().for_each(|(run, _)| run.plan_hash = "other".into());
    assert_eq!(versus(("a", &a), ("b", &b), &strange, 0.02, 1).history_runs, 0);
}

/// A small loss does not hide a large gain, and figures that decide nothing are not listed.
#[test]
fn two_single_runs_show_largest_loss_and_gain() {
    let (mut a, mut b) = (group("a", 1, 1.0), group("b", 1, 1.0));
    let own = |points: &mut Vec<PointRecord>, factor: f64| {
        for (index, point) in points.iter_mut().enumerate() {
            let factor = if index == 0 { 1.0 / factor.sqrt() } else { factor };
            point.reads.completed = (point.reads.completed as f64 * factor) as u64;
            point.intervals = fixture::points(1)[index].intervals.clone();
        }
    };
    own(&mut a[0].1, 1.0);
    own(&mut b[0].1, 1.6);
    let alone = versus(("a", &a), ("b", &b), &[], 0.02, 1);
    let beyond = |row: &&VersusRow| row.within.is_some_and(|[low, high]| high < 1.0 || low > 1.0);
    let (first, table) = versus_on_screen(&alone, Lang::En, false);
    assert_eq!(table.rows.len(), alone.rows.iter().filter(beyond).count());
    assert!((2..alone.rows.len()).contains(&table.rows.len()), "{}", table.rows.len());
    assert!(first[0].contains("slower for") && first[0].contains("faster for"), "{first:?}");
    let (_, whole) = versus_on_screen(&alone, Lang::En, true);
    assert_eq!(whole.rows.len(), alone.rows.len());
    let same = versus(("a", &a), ("again", &a.clone()), &[], 0.02, 1);
    let (first, table) = versus_on_screen(&same, Lang::En, false);
    assert!(first[0].contains("No rate differs") && table.rows.is_empty(), "{first:?}");
    for (_, points) in a.iter_mut() {
        points.iter_mut().for_each(|point| point.intervals.clear());
    }
    let short = versus(("a", &a), ("again", &a.clone()), &[], 0.02, 1);
    let (first, _) = versus_on_screen(&short, Lang::En, false);
    assert!(first[0].contains("no rate has a CI"), "{first:?}");
}

/// Two runs per side decide nothing, but a large difference is stated and no row is too wide.
#[test]
fn two_runs_show_the_largest_difference() {
    let (a, b) = (group("a", 2, 1.0), group("b", 2, 0.66));
    let few = versus(("a", &a), ("b", &b), &[], 0.02, 1);
    let (first, table) = versus_on_screen(&few, Lang::En, true);
    assert!(first[0].starts_with("The comparison is inconclusive"), "{first:?}");
    assert!(first[1].starts_with("Largest difference: "), "{first:?}");
    assert!(table.columns.iter().any(|column| column.heading == "QD"));
    let verdicts = table.rows.iter().filter_map(|row| row.cells.last());
    assert!(verdicts.clone().all(|cell| !cell.text.contains('%')), "{:?}", table.rows);
}

#[test]
fn slower_and_faster_figures_are_both_shown() {
    let (a, mut b) = (group("a", 8, 1.0), group("b", 8, 0.95));
    for (_, points) in &mut b {
        let last = points.last_mut().unwrap();
        for direction in [&mut last.reads, &mut last.writes] {
            (direction.completed, direction.bytes) = (direction.completed * 3, direction.bytes * 3);
        }
    }
    let mixed = versus(("a", &a), ("b", &b), &[], 0.02, 1);
    let (first, _) = versus_on_screen(&mixed, Lang::En, false);
    assert!(first[0].contains(" slower: ") && first[1].contains(" faster: "), "{first:?}");
}

/// Repeats of one simulation have equal figures, which show no variation between runs.
#[test]
fn repeats_of_one_simulation_count_once() {
    let (a, mut b) = (group("a", 1, 1.0), group("b", 1, 1.1));
    let mut a: Vec<Measured> = (0..4).map(|_| a[0].clone()).collect();
    a.iter_mut().chain(&mut b).for_each(|(run, _)| run.emulated = true);
    let known = versus(("a", &a[..1]), ("b", &b), &a, 0.02, 1);
    assert_eq!((known.history_runs, known.count("inconclusive")), (0, known.rows.len()));
    let groups = versus(("a", &a), ("b", &b), &[], 0.02, 1);
    assert_eq!((groups.rows[0].runs, groups.rows[0].ratio), ([1, 1], None));
    // Two seeds may have equal figures, too.
    for side in [&mut a, &mut b] {
        let mut other = side[0].clone();
        other.0.seed = 7;
        side.truncate(1);
        side.push(other);
    }
    let seeds = versus(("a", &a), ("b", &b), &[], 0.02, 1);
    assert_eq!(seeds.rows[0].runs, [2, 2]);
    assert_eq!(seeds.count("slower") + seeds.count("faster"), 0);
    // It is not said of two runs per side that there is one.
    let (first, _) = versus_on_screen(&seeds, Lang::En, false);
    assert!(!first[0].contains("one run per side"), "{first:?}");
    // Two sides that repeat within the threshold are equal.
    let near = versus(("a", &a), ("b", &b), &[], 0.2, 1);
    assert_eq!(near.rows[0].verdict, "equal");
}

/// Most figures decide which side leads, and the largest difference of each direction is named.
#[test]
fn direction_of_most_figures_leads() {
    let (a, mut b) = (group("a", 8, 1.0), group("b", 8, 1.6));
    for (_, points) in &mut b {
        let last = points.last_mut().unwrap();
        for direction in [&mut last.reads, &mut last.writes] {
            (direction.completed, direction.bytes) = (direction.completed / 2, direction.bytes / 2);
        }
    }
    let mixed = versus(("a", &a), ("b", &b), &[], 0.02, 1);
    let sentences = versus_sentences(&mixed, Lang::En);
    assert!(sentences[0].starts_with("B is faster than A in "), "{sentences:?}");
    assert!(sentences[0].ends_with(" and slower in 2."), "{sentences:?}");
    assert!(sentences[1].starts_with("Largest difference: "), "{sentences:?}");
    assert!(sentences[2].starts_with("Largest difference in the other direction: Restore "));
    let (first, _) = versus_on_screen(&mixed, Lang::En, false);
    assert!(first[0].contains(" faster: ") && first[1].contains(" slower: "), "{first:?}");
}

/// Emulated runs with one seed are one run; the command has the logbook of its side.
#[test]
fn command_for_another_run_has_a_new_seed() {
    let (mut a, b) = (group("a", 2, 1.0), group("b", 2, 1.0));
    let command = "qdepth run quick media:null --logbook a.db --seed 1";
    let known = RunRecord::COMMAND;
    for (seed, (run, _)) in a.iter_mut().enumerate() {
        run.environment.push(Observation::new(known, Ok(command.to_owned()), "test"));
        (run.seed, run.emulated) = (4 + seed as u64, true);
    }
    let again =
        |a: &[Measured]| versus(("a", a), ("b", &b), &[], 0.02, 1).sides[0].rerun_command.clone();
    // The other side has seed 42.
    assert_eq!(again(&a).unwrap(), command.replace("--seed 1", "--seed 43"));
    a.iter_mut().for_each(|(run, _)| run.emulated = false);
    assert_eq!(again(&a).unwrap(), command);
}

/// IDs are pasted into a shell, and mean a run only in the usual logbook.
#[test]
fn command_that_compares_again_names_safe_ids() {
    let id = |number: u32| format!("01890000-0000-7000-8000-{number:012}");
    let advice = |name: &str, command: &str| {
        let (mut a, mut b) = (group("a", 1, 1.0), group("b", 1, 1.0));
        (a[0].0.id, b[0].0.id) = (name.to_owned(), id(2));
        for (run, _) in a.iter_mut().chain(&mut b) {
            let known = Observation::new(RunRecord::COMMAND, Ok(command.to_owned()), "test");
            run.environment.push(known);
        }
        let lines = versus_answer(&versus(("a", &a), ("b", &b), &[], 0.02, 1), Lang::En);
        lines.into_iter().find(|line| line.contains("qdepth compare"))
    };
    let command = "qdepth run quick /mnt/a --seed 1";
    let said = advice(&id(1), command).unwrap();
    assert!(said.ends_with("\n  qdepth compare 01890000-0000,ID 01890000-0000"), "{said}");
    assert_eq!(advice("$(reboot)", command), None);
    assert_eq!(advice(&id(1), "qdepth run quick /mnt/a --logbook b.db --seed 1"), None);
}

#[test]
fn unmatched_points_and_other_differences_are_shown() {
    let (a, mut b) = (group("a", 2, 1.0), group("b", 2, 1.0));
    for (run, points) in &mut b {
        points.retain(|point| point.queue_depth != 16);
        run.qdepth_version = "9.9.9".into();
        run.environment[0].value = Ok("6.9.9".into());
    }
    let comparison = versus(("a", &a), ("b", &b), &[], 0.02, 1);
    assert!(!comparison.unmatched.is_empty());
    assert!(
        comparison.unmatched.iter().all(|alone| alone.side == "a" && alone.load.queue_depth == 16)
    );
    for (lang, target) in [(Lang::En, "× 16 (target 1)"), (Lang::Ja, "× 16（測定対象 1）")]
    {
        let sentences = versus_sentences(&comparison, lang).join("\n");
        assert!(sentences.contains(target), "{sentences}");
    }
    let differs: Vec<&str> = comparison.differences.iter().map(|d| d.values[1].as_str()).collect();
    assert_eq!(differs, ["9.9.9", "6.9.9"]);
    let json: serde_json::Value = serde_json::from_str(&versus_json(&comparison)).unwrap();
    assert_eq!(json["schema"]["name"], "qdepth-compare");
}

/// Two drives in the same slot: the sides are named after the drives, and corresponding facts are
/// shown together.
#[test]
fn sides_with_different_storage_have_storage_names() {
    let (mut a, mut b) = (group("a", 2, 1.0), group("b", 2, 1.0));
    let drive = |runs: &mut Vec<Measured>, node: &str, product: &str, size: &str| {
        for (run, _) in runs {
            let target = &mut run.targets[0];
            target.name = format!("/dev/{node}");
            let fact = |key: &str, value: &str| fixture::observation(node, key, Ok(value), "here");
            target.facts = vec![fact("product", product), fact("size", size), fact("slots", "4")];
        }
    };
    drive(&mut a, "nvme0n1", "Quick 800 GB", "800");
    drive(&mut b, "nvme1n1", "Slow 400 GB", "400");
    let comparison = versus(("latest~3,latest~2", &a), ("latest~1,latest", &b), &[], 0.02, 1);
    assert_eq!(comparison.sides[1].storage, ["Slow 400 GB"]);
    let of_drive: Vec<_> = comparison
        .differences
        .iter()
        .filter(|difference| difference.subject == "target 1 nvme0n1 | nvme1n1")
        .collect();
    let keys: Vec<&str> = of_drive.iter().map(|difference| difference.key.as_str()).collect();
    assert_eq!(keys, ["product", "size"], "what is alike is not told");
    assert_eq!(of_drive[1].values, ["800", "400"]);
    assert!(
        !comparison.differences.iter().any(|difference| difference.values.contains(&String::new()))
    );
    for lang in Lang::ALL {
        let page = compose_versus(&comparison, lang);
        assert!(page.title.contains("Slow 400 GB") && page.title.contains("Quick 800 GB"));
        assert!(!page.title.contains("latest"), "{}", page.title);
        assert!(page.subtitle.contains("latest~3"), "{}", page.subtitle);
        assert!(versus_table(&comparison, lang).caption.contains("Slow 400 GB"));
    }
    drive(&mut b, "nvme1n1", "Quick 800 GB", "800");
    let same = versus(("before", &a), ("after", &b), &[], 0.02, 1);
    assert!(compose_versus(&same, Lang::En).title.contains("after"), "named as they were");
}

#[test]
fn cpu_cost_comparison_needs_all_runs() {
    let costs = |comparison: &Versus| -> Vec<VersusRow> {
        comparison.rows.iter().filter(|row| row.figure == "cpu_ns_per_io").cloned().collect()
    };
    let (a, mut b) = (group("a", 12, 1.0), group("b", 12, 1.0));
    for point in b.iter_mut().flat_map(|(_, points)| points) {
        point.cpu_user_ns = point.cpu_user_ns * 5 / 4;
        point.cpu_system_ns = point.cpu_system_ns * 5 / 4;
    }
    let comparison = versus(("a", &a), ("b", &b), &[], 0.02, 1);
    let (_, points) = &a[0];
    let rows = costs(&comparison);
    assert!(rows.len() > 10, "{}", rows.len());
    for row in &rows {
        assert_eq!((row.verdict, row.runs), ("slower", [12, 12]), "{row:?}");
        assert!((row.ratio.unwrap() - 1.25).abs() < 0.001, "{row:?}");
    }
    // With one run a side, the mean is the run's value: user and system time divided by the
    // completed I/Os.
    let single = costs(&versus(("a", &a[..1]), ("b", &b[..1]), &[], 0.02, 1));
    let load = |row: &VersusRow| {
        let same = |p: &&qdepth_record::PointRecord| {
            (&p.profile, p.queue_depth, p.target)
                == (&row.load.profile, row.load.queue_depth, row.target)
        };
        points.iter().find(same).unwrap()
    };
    let point = load(&single[0]);
    let completed = point.reads.completed + point.writes.completed + point.syncs.completed;
    let cost = (point.cpu_user_ns + point.cpu_system_ns) as f64 / completed as f64;
    assert!((single[0].means[0] / cost - 1.0).abs() < 1e-9, "{:?} {cost}", single[0].means);
    // The verdicts hold for the larger table: all rows, including costs, are corrected together.
    let all: Vec<Option<Ratio>> = {
        let (a, b) = (documents(&a), documents(&b));
        let (of_a, of_b) = (figures(&a), figures(&b));
        let both = of_a.iter().flat_map(|(key, mine)| {
            let theirs = &of_b.iter().find(|(other, _)| other == key).unwrap().1;
            mine.compared()
                .into_iter()
                .map(|(name, values)| ratio(&values, &theirs.get(name).unwrap(), None))
        });
        both.collect()
    };
    assert_eq!(all.len(), comparison.rows.len());
    let expected = verdicts(&all, 0.02, 1);
    for (row, verdict) in comparison.rows.iter().zip(expected) {
        assert_eq!(row.verdict, of_b_words(row.figure, verdict), "{row:?}");
    }
    // If one run lacks the costs, or is emulated, there are no costs, but all other figures.
    let others = comparison.rows.len() - rows.len();
    let mut lacks = b.clone();
    lacks[3].1.iter_mut().for_each(|p| (p.cpu_user_ns, p.cpu_system_ns) = (0, 0));
    let comparison = versus(("a", &a), ("b", &lacks), &[], 0.02, 1);
    assert_eq!((costs(&comparison).len(), comparison.rows.len()), (0, others));
    let mut emulated = b;
    emulated[5].0.emulated = true;
    let comparison = versus(("a", &a), ("b", &emulated), &[], 0.02, 1);
    assert_eq!((costs(&comparison).len(), comparison.rows.len()), (0, others));
}

#[test]
fn generator_calibration_is_not_a_machine_difference() {
    let fact = |subject: &str, key: &str, value: &str| Observation {
        subject: subject.to_owned(),
        key: key.to_owned(),
        value: Ok(value.to_owned()),
        source: "a test".to_owned(),
    };
    let with = |id: &str, rate: &str, engine: &str| {
        let mut all = group(id, 1, 1.0);
        all[0].0.environment.extend([
            fact("generator", "null_1_workers_32_in_flight_io_per_s", rate),
            fact("generator", "clock_read_ns", rate),
            fact("generator", "engine", engine),
            fact("certificate", "latest", rate),
        ]);
        all
    };
    let (a, b) = (with("a", "1", "io_uring"), with("b", "2", "sync"));
    let differences = versus(("a", &a), ("b", &b), &[], 0.02, 1).differences;
    let keys: Vec<&str> = differences.iter().map(|difference| difference.key.as_str()).collect();
    assert_eq!(keys, ["engine"], "{differences:?}");
}

#[test]
fn first_diagram_shows_the_figure_of_the_summary() {
    let depths = fixture::INTENSITIES.len() as u32;
    let profile = |point: &PointRecord| point.index / depths;
    let (mut a, mut b) = (group("a", 8, 1.0), group("b", 8, 1.0));
    // One run a side decides nothing about the first load, so it has no diagram.
    for side in [&mut a, &mut b] {
        for (_, points) in &mut side[1..] {
            points.retain(|point| profile(point) != 0);
        }
    }
    for point in b.iter_mut().flat_map(|(_, points)| points) {
        let factor = if profile(point) == 2 { 0.7 } else { 1.0 };
        for direction in [&mut point.reads, &mut point.writes] {
            direction.completed = (direction.completed as f64 * factor) as u64;
            direction.bytes = (direction.bytes as f64 * factor) as u64;
        }
    }
    let comparison = versus(("before", &a), ("after", &b), &[], 0.02, 1);
    let page = compose_versus(&comparison, Lang::En);
    let pictures = page.answer.iter().find_map(|block| match block {
        Block::Pictures(pictures) => Some(pictures),
        _ => None,
    });
    let title = &pictures.expect("the first page has a diagram")[0].title;
    let lead = &page.summary[1];
    assert!(lead.contains("File copy"), "{lead}");
    assert!(title.contains("File copy"), "{title}");
}

/// Headlines of the runs, the newest first.
fn lines(runs: &[Measured]) -> Vec<RunHeadline> {
    let line = |(run, points): &Measured| RunHeadline {
        id: run.id.clone(),
        started_at: run.started_at.clone(),
        ended_at: run.ended_at.clone(),
        state: run.state,
        alive: false,
        plan: run.plan_name.clone(),
        host: String::new(),
        targets: run.targets.iter().map(|target| target.name.clone()).collect(),
        points_done: points.len() as u32,
        points_planned: points.len() as u32,
        emulated: run.emulated,
        damaged: false,
        notes: Vec::new(),
        retracted: None,
        best: Best::default(),
    };
    runs.iter().rev().map(line).collect()
}

#[test]
fn runs_with_different_settings_are_omitted_from_trend() {
    let mut runs = group("r", 8, 1.0);
    for (index, (run, _)) in runs.iter_mut().enumerate() {
        let seconds = if index == 3 { 2 } else { 10 };
        run.plan_text = format!("{{\"seed\":{index},\"points\":[{{\"seed\":1,\"s\":{seconds}}}]}}");
    }
    let found = |id: &str| runs.iter().find(|(run, _)| run.id == id).cloned();
    let request = TrendRequest { plan: None, target: None, most: 100, threshold: 0.02 };
    let record = |id: &str| Ok::<_, ()>(found(id).map(|(run, _)| run));
    let trend = trend_of(&lines(&runs), &request, record, |id| Ok(found(id))).unwrap();
    assert_eq!((trend.runs.len(), trend.runs_kept, trend.different), (7, 7, 1));
    assert!(trend.runs.iter().all(|run| run.id != "r-3"));
    assert!(trend_sentences(&trend, Lang::En)[0].starts_with("1 run with other settings"));
}

#[test]
fn trend_reads_only_the_newest_requested_runs() {
    let mut runs = group("r", 9, 1.0);
    for (index, (run, points)) in runs.iter_mut().enumerate() {
        "/mnt/d1".clone_into(&mut run.targets[0].expression);
        "d1 (ext4 on vda)".clone_into(&mut run.targets[0].name);
        // One run lacks a load, and one is of another target.
        if index == 4 {
            points.pop();
        }
        if index == 6 {
            "/mnt/other/d1".clone_into(&mut run.targets[0].expression);
        }
    }
    let read = std::cell::RefCell::new(Vec::new());
    let found = |id: &str| runs.iter().find(|(run, _)| run.id == id);
    let trend_for = |target: Option<&str>, most: usize| {
        read.borrow_mut().clear();
        let request = TrendRequest { plan: None, target, most, threshold: 0.02 };
        let record = |id: &str| Ok::<_, ()>(found(id).map(|(run, _)| run.clone()));
        let measured = |id: &str| {
            read.borrow_mut().push(id.to_owned());
            // Removed since the list was read.
            Ok(found(id).filter(|_| id != "r-7").cloned())
        };
        trend_of(&lines(&runs), &request, record, measured).unwrap()
    };
    let ids = |trend: &Trend| trend.runs.iter().map(|run| run.id.clone()).collect::<Vec<_>>();
    let all = trend_for(Some("/mnt/d1"), 100);
    assert_eq!(ids(&all), ["r-0", "r-1", "r-2", "r-3", "r-4", "r-5", "r-8"]);
    assert_eq!((all.runs_kept, ids(&trend_for(None, 100))), (7, ids(&all)));
    assert!(ids(&trend_for(Some("/mnt"), 100)).is_empty());
    // The displayed name may match several targets.
    assert_eq!(ids(&trend_for(Some("d1 (ext4 on vda)"), 100)).len(), 8);
    // Every figure equals that of its run alone.
    assert!(all.rows.len() > 10);
    for row in &all.rows {
        for (run, value) in all.runs.iter().zip(&row.values) {
            let whole = documents(std::slice::from_ref(found(&run.id).unwrap()));
            let of_run = figures(&whole).into_iter().find(|(key, _)| {
                (&key.load.profile, &key.load.step, key.load.queue_depth, key.target)
                    == (&row.load.profile, &row.load.step, row.load.queue_depth, row.target)
            });
            let known = of_run.and_then(|(_, all)| Some(all.get(row.figure)?[0]));
            assert_eq!(*value, known, "{} of {}", row.figure, run.id);
        }
    }
    assert!(all.rows.iter().any(|row| row.values.contains(&None)));
    let newest = trend_for(Some("/mnt/d1"), 6);
    assert_eq!((ids(&newest).len(), newest.runs_kept), (6, 7));
    assert_eq!(*read.borrow(), ["r-8", "r-7", "r-5", "r-4", "r-3", "r-2", "r-1"]);
    for (lang, words) in [(Lang::En, "newest 6 of 7 runs"), (Lang::Ja, "7 件のうち、最新の 6 件")]
    {
        assert!(trend_sentences(&newest, lang)[0].contains(words));
        // How many runs are needed, and the rate of false alarms.
        assert_eq!(trend_sentences(&all, lang).len(), 2);
    }
}

#[test]
fn differences_that_follow_from_others_are_omitted() {
    let (mut a, mut b) = (group("a", 1, 1.0), group("b", 1, 1.0));
    for (side, own) in [(&mut a, "7 µs"), (&mut b, "8 µs")] {
        for (run, _) in side {
            run.emulated = true;
            run.seed = own[..1].parse().unwrap();
            run.plan_hash = own.into();
            run.targets[0].expression = format!("media:{own}");
            run.targets[0].facts = vec![fixture::observation("drive", "read_us", Ok(own), "here")];
        }
    }
    let notes = versus_notes(&versus(("a", &a), ("b", &b), &[], 0.02, 1), Lang::En);
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].contains("run plan: 7 µs (seed 7) in A, 8 µs (seed 8) in B"), "{notes:?}");
}
