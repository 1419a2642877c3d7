//! Bottlenecks from known figures; texts of the publisher file replace all of them.

use qdepth_record::{
    ComparisonRecord, Observation, PointRecord, RunRecord, TargetRecord, VariantRecord,
};

use super::why::{Cause, Resource, cause};
use super::{by_lead, of_diagrams, of_load, recommendation};
use crate::compared::Compared;
use crate::document::Block;
use crate::paper::Paper;
use crate::presentation::Presentation;
use crate::tests::fixture;
use crate::view::View;
use crate::words::Lang;

fn fact(subject: &str, key: &str, value: &str) -> Observation {
    let (subject, key, value) = (subject.into(), key.into(), Ok(value.into()));
    Observation { subject, key, value, source: qdepth_record::source::DESCRIPTION.into() }
}

/// A drive whose parts take almost no time, except the given ones.
fn run(own: &[(&str, &str, &str)]) -> RunRecord {
    let mut run = fixture::run(1);
    let zero = [
        ("host", "read_us"),
        ("host", "write_us"),
        ("host", "us_per_kib"),
        ("drive", "command_us"),
        ("drive", "path_command_us"),
        ("drive", "path_read_us_per_kib"),
        ("drive", "path_random_read_us_per_kib"),
        ("drive", "path_write_us_per_kib"),
        ("drive", "path_gather_us"),
        ("drive", "path_mix_loss"),
        ("drive", "die_chunk_kib"),
    ];
    let is_own =
        |(subject, key): &&(&str, &str)| own.iter().any(|o| (o.0, o.1) == (*subject, *key));
    let none = zero.iter().filter(|name| !is_own(name)).map(|(s, key)| fact(s, key, "0 µs"));
    let own = own.iter().map(|(subject, key, value)| fact(subject, key, value));
    run.targets[0].facts = none.chain(own).collect();
    run
}

fn why(run: &RunRecord, points: &[PointRecord]) -> Option<Cause> {
    let presentation = Presentation::default();
    let view = View::new(run, points, None, &presentation);
    let load = view.swept().next().expect("a load");
    cause(&view, load, 0)
}

/// Points at queue depths 1, 2, 4 … with these rates, as steady as possible.
fn points(rates: &[u64]) -> Vec<PointRecord> {
    let at = |(index, rate): (usize, &u64)| {
        let counts: Vec<u64> = (0..20).map(|n| rate / 10 + n % 2).collect();
        crate::tests::refuter::record(index as u32, 0, 1 << index, &counts)
    };
    rates.iter().enumerate().map(at).collect()
}

#[test]
fn fully_busy_resource_is_the_limit() {
    // 100,000 random reads of 8 KiB per second.
    let points = points(&[50_000, 90_000, 100_000]);
    let part = |own: &[(&str, &str, &str)]| match why(&run(own), &points) {
        Some(Cause::Resource(part, share)) => Some((part, (share * 100.0).round() as u32)),
        _ => None,
    };
    assert_eq!(part(&[("drive", "command_us", "9.6 µs")]), Some((Resource::Controller, 96)));
    assert_eq!(part(&[("host", "read_us", "9.3 µs")]), Some((Resource::Process, 93)));
    // 8 KiB at 1 µs each, and 1.5 µs for more than one die.
    let path = [
        ("drive", "path_read_us_per_kib", "1 µs/KiB"),
        ("drive", "path_gather_us", "1.5 µs"),
        ("drive", "die_chunk_kib", "4 KiB"),
    ];
    assert_eq!(part(&path), Some((Resource::Path, 95)));
    // These points did not only write.
    assert_eq!(part(&[("host", "write_us", "9.6 µs")]), None);
    // 80 % utilisation is not enough to be the limit.
    assert_eq!(part(&[("drive", "command_us", "8 µs")]), None);
}

#[test]
fn littles_law_finds_limit_without_known_resources() {
    let as_fast = why(&run(&[]), &points(&[10_000, 20_000, 39_900, 79_000]));
    assert_eq!(as_fast, Some(Cause::Latency));
    let Some(Cause::Servers(served)) =
        why(&run(&[]), &points(&[10_000, 20_000, 39_000, 41_000, 41_100]))
    else {
        panic!("sixteen are tried and four are served")
    };
    assert!((served - 4.11).abs() < 0.02, "{served}");
    // Neither applies: three of four.
    assert_eq!(why(&run(&[]), &points(&[10_000, 19_000, 30_000])), None);
    // A point too short for an interval supports no claim.
    let mut short = points(&[10_000, 20_000, 39_000, 41_000, 41_100]);
    short.iter_mut().for_each(|point| point.intervals.truncate(6));
    assert_eq!(why(&run(&[]), &short), None);
}

#[test]
fn every_load_has_an_explanation_in_both_languages() {
    for lang in Lang::ALL {
        for targets in [1, 2] {
            let (run, points) = (fixture::run(targets), fixture::points(targets));
            let presentation = Presentation::from(lang);
            let view = View::new(&run, &points, None, &presentation);
            let mut texts: Vec<String> =
                view.swept().flat_map(|load| of_load(&view, load)).collect();
            assert!(texts.len() >= 5, "{texts:?}");
            let Some(Block::SumUp { sentences, .. }) = of_diagrams(&view) else { panic!("a box") };
            assert!((1..=2).contains(&sentences.len()), "{sentences:?}");
            texts.extend(sentences);
            let recommended = recommendation(&view);
            assert!(recommended.iter().any(|block| matches!(block, Block::Table(_))));
            texts.extend(recommended.into_iter().filter_map(|block| match block {
                Block::Paragraph(text) => Some(text),
                _ => None,
            }));
            for text in texts {
                assert!(!text.contains(['{', '}', '[', ']']), "{text}");
                assert!(text.ends_with(['.', '。']), "{text}");
            }
        }
    }
}

#[test]
fn texts_of_paper_file_take_precedence() {
    let paper = Paper::from_toml(
        "recommendation = { en = \"Take both.\\n\\nOr none.\", ja = \"両方です。\" }\n\
         [sum-up]\ndiagrams = \"All is well.\"\n",
    );
    let presentation = Presentation { paper: paper.unwrap(), ..Presentation::default() };
    let (run, points) = (fixture::run(1), fixture::points(1));
    let view = View::new(&run, &points, None, &presentation);
    let own = ["Take both.", "Or none."].map(|text| Block::Paragraph(text.to_owned()));
    assert_eq!(recommendation(&view), own);
    let Some(Block::SumUp { sentences, .. }) = of_diagrams(&view) else { panic!("a box") };
    assert_eq!(sentences, ["All is well."]);
}

/// A lead of 0.5 % is certain for steady rates, but no reason to choose a drive.
#[test]
fn negligible_lead_is_no_choice() {
    let leads = |more: u64| {
        let first = points(&[100_000, 200_000]);
        let second = points(&[100_000 + more, 200_000 + 2 * more]).into_iter();
        let second = second.map(|point| PointRecord { target: 1, index: point.index + 2, ..point });
        let points: Vec<PointRecord> = first.into_iter().chain(second).collect();
        let (run, presentation) = (fixture::run(2), Presentation::default());
        by_lead(&View::new(&run, &points, None, &presentation)).len()
    };
    assert_eq!([500, 2_000, 5_000].map(leads), [0, 0, 1]);
}

/// A rate alone recommends neither a smaller drive nor a stripe.
#[test]
fn choice_states_lost_capacity_and_redundancy() {
    let advice = |expression: &str, size: &str| {
        let first = points(&[100_000, 200_000]);
        let second = points(&[150_000, 300_000]).into_iter();
        let second = second.map(|point| PointRecord { target: 1, index: point.index + 2, ..point });
        let points: Vec<PointRecord> = first.into_iter().chain(second).collect();
        let mut run = fixture::run(2);
        run.targets[0].facts = vec![fact("drive", "capacity_gb", "320 GB")];
        run.targets[1].facts = vec![fact("drive", "capacity_gb", size)];
        run.targets[1].expression = expression.to_owned();
        let presentation = Presentation::default();
        let view = View::new(&run, &points, None, &presentation);
        match recommendation(&view).swap_remove(0) {
            Block::Paragraph(text) => text,
            other => panic!("{other:?}"),
        }
    };
    let smaller = advice("media:drive", "224 GB");
    assert!(smaller.contains("has 224 GB of capacity, nvme0n1 has 320 GB"), "{smaller}");
    let striped = advice("raid0(media:drive*2)", "320 GB");
    assert!(
        striped
            .ends_with("nvme1n1 has no redundancy: if one of its drives fails, all data is lost.")
    );
    let same = advice("media:drive", "320 GB");
    assert!(same.starts_with("Choose nvme1n1") && !same.contains("capacity"), "{same}");
}

#[test]
fn practice_names_loads_that_process_limits() {
    let run = run(&[("host", "read_us", "9.3 µs")]);
    let points = points(&[50_000, 90_000, 100_000]);
    let presentation = Presentation::default();
    let view = View::new(&run, &points, None, &presentation);
    let title = &view.swept().next().expect("a load").title;
    let practice = format!("{:?}", crate::section::paper::practice::practice(&view));
    assert!(practice.contains(&format!("Under {title}, this process is busy")), "{practice}");
}

/// The area follows from the load, so a smaller one is not recommended for its higher rate.
#[test]
fn smaller_area_is_no_choice() {
    let of_area = |variant: u32, rates: &[u64]| {
        let own = points(rates).into_iter().enumerate().map(move |(group, point)| PointRecord {
            index: point.index + variant * 8,
            group: group as u32 + variant * 8,
            variant: Some(variant),
            ..point
        });
        own.collect::<Vec<_>>()
    };
    let all = [of_area(0, &[100_000, 200_000]), of_area(1, &[50_000, 100_000])].concat();
    let leads = |of: &str| {
        let variant = |name: &str| VariantRecord {
            name: name.into(),
            role: String::new(),
            target: 0,
            parts: 1,
            times: 1,
        };
        let mut run = fixture::run(1);
        run.comparison = Some(ComparisonRecord {
            of: of.into(),
            variants: ["32GiB", "full"].map(variant).into(),
            base: 0,
            base_above: false,
            shaded: false,
            latency_profiles: Vec::new(),
            published: Vec::new(),
        });
        let compared = Compared::from_run(&run, &all, &[]);
        let presentation = Presentation::default();
        by_lead(&View::new(&run, &all, compared.as_ref(), &presentation)).len()
    };
    assert_eq!(["targets", "areas"].map(leads), [1, 0]);
}

/// A column of several drives, each at queue depths 1, 2 and 4 with these rates.
fn together(drives: u32, rates: &[u64]) -> Vec<PointRecord> {
    let mut all = Vec::new();
    for (group, queue_depth) in [1, 2, 4].into_iter().enumerate() {
        for drive in 0..drives {
            let counts: Vec<u64> = (0..20).map(|n| rates[group] / 10 + n % 2).collect();
            let point =
                crate::tests::refuter::record(all.len() as u32, drive, queue_depth, &counts);
            all.push(PointRecord { variant: Some(0), group: group as u32, ..point });
        }
    }
    all
}

#[test]
fn equal_drives_share_the_limiting_resource() {
    let mut run = run(&[("drive", "command_us", "9.6 µs")]);
    run.targets[0].facts.push(fact("drive", "product", "Drive"));
    for index in 1..3 {
        run.targets.push(TargetRecord { index, ..run.targets[0].clone() });
    }
    run.comparison = Some(ComparisonRecord {
        of: "drives".into(),
        variants: vec![VariantRecord {
            name: String::new(),
            role: "together".into(),
            target: 0,
            parts: 3,
            times: 1,
        }],
        base: 0,
        base_above: false,
        shaded: false,
        latency_profiles: Vec::new(),
        published: Vec::new(),
    });
    let why = |run: &RunRecord| {
        let points = together(3, &[50_000, 90_000, 100_000]);
        let compared = Compared::from_run(run, &points, &[]);
        let presentation = Presentation::default();
        let view = View::new(run, &points, compared.as_ref(), &presentation);
        let load = view.swept().next().expect("a load");
        cause(&view, load, 0)
    };
    // 300,000 per second are 100,000 per controller.
    let Some(Cause::Resource(Resource::Controller, share)) = why(&run) else {
        panic!("{:?}", why(&run))
    };
    assert!((share - 0.96).abs() < 0.01, "{share}");
    // No claim is made about drives that differ.
    run.targets[2].facts.retain(|fact| fact.key != "product");
    run.targets[2].facts.push(fact("drive", "product", "Another"));
    assert_eq!(why(&run), None);
}

#[test]
fn process_limit_of_array_is_on_screen() {
    let mut run = run(&[("host", "read_us", "9.3 µs")]);
    run.targets[0].expression = "raid0(media:drive*4)".to_owned();
    let points = points(&[50_000, 90_000, 100_000]);
    assert!(matches!(why(&run, &points), Some(Cause::Resource(Resource::Process, _))));
    let sentence = crate::on_screen(&run, &points, Lang::En).sentence;
    assert!(
        sentence.contains("The process that issues the I/Os, and not the storage"),
        "{sentence}"
    );
}
