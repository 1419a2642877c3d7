//! Plans from text to points, and the statistics of their random requests.

use proptest::prelude::*;
use qdepth_measure::{Bytes, Nanos, SteadyRule};
use qdepth_workload::*;

const SHAPE: TargetShape =
    TargetShape::whole(Extent { offset_bytes: 0, length_bytes: 1 << 30 }, 512);

fn plan(text: &str) -> Result<Plan, String> {
    let file: PlanFile = toml::from_str(text).map_err(|e| e.to_string())?;
    resolve(&file, &Choices::default(), &[SHAPE]).map_err(|e| e.to_string())
}

fn resolve_profile(profile: &str) -> Result<Point, String> {
    let text = format!("name=\"t\"\nqueue_depth=[4]\n[[profile]]\nname=\"p\"\n{profile}");
    plan(&text).map(|plan| plan.points[0].clone())
}

/// Bytes that preconditioning writes to a target, without rounds until steady.
fn precondition_bytes(plan: &Plan, target: u32) -> u64 {
    let of_target = plan.precondition.iter().filter(|point| point.target == target);
    Point::bytes_together(of_target)
}

#[test]
fn io_flag_needs_its_kind_of_io() {
    let with = |more: &str| {
        let point = resolve_profile(&format!("random=100\nread=0\n{more}"));
        point.map(|point| point.io_flag)
    };
    let small = "block_size=\"16KiB\"\n";
    assert_eq!(with(small), Ok(IoFlag::None));
    let buffered = format!("{small}direct=false\n");
    assert_eq!(with(&format!("{buffered}io_flag=\"dontcache\"")), Ok(IoFlag::Dontcache));
    assert_eq!(with(&format!("{small}io_flag=\"atomic\"")), Ok(IoFlag::Atomic));
    for (more, says) in [
        (format!("{small}io_flag=\"dontcache\""), "add direct = false"),
        (format!("{buffered}io_flag=\"atomic\""), "remove direct = false"),
        ("block_size=\"12KiB\"\nio_flag=\"atomic\"".to_owned(), "powers of two"),
        (format!("{small}alignment=\"4KiB\"\nio_flag=\"atomic\""), "aligned to its size"),
    ] {
        let why = with(&more).unwrap_err();
        assert!(why.contains(says), "{more}: {why}");
    }
}

#[test]
fn sums_of_huge_areas_do_not_overflow() {
    let shape = |length_bytes| TargetShape::whole(Extent { offset_bytes: 0, length_bytes }, 4096);
    let file: PlanFile =
        toml::from_str("name=\"t\"\nprofiles=[\"database\"]\nqueue_depth=[4]").unwrap();
    let steady = Preconditioning::UntilSteady { rule: SteadyRule::Own, round: None };
    let choices = Choices { precondition: Some(steady), ..Choices::default() };
    let plan = resolve(&file, &choices, &[shape(i64::MAX as u64 - 4095)]).unwrap();
    let twice = [&plan.precondition[..], &plan.precondition[..]].concat();
    assert_eq!(Point::bytes_together(&twice), u64::MAX);
}

#[test]
fn every_shipped_plan_resolves_and_round_trips() {
    for name in shipped_plan_names() {
        let text = shipped_plan_text(name).expect("shipped");
        let mut file: PlanFile = toml::from_str(text).expect(name);
        // The default number of threads depends on the machine, so it is set here.
        if let Some(bandwidth) = &mut file.bandwidth {
            bandwidth.threads = vec![1, 2];
        }
        let large = TargetShape {
            usable: Extent { offset_bytes: 0, length_bytes: 256 << 30 },
            holds_files: name == "metadata",
            ..SHAPE
        };
        let drives = file.comparison.as_ref().is_some_and(|c| c.of == Compared::Drives);
        let targets = vec![large; if drives || name == "arrays" { 2 } else { 1 }];
        let plan = resolve(&file, &Choices::default(), &targets).expect(name);
        assert_eq!(plan.name, name);
        assert_eq!(Plan::from_text(&plan.text()).as_ref(), Ok(&plan));
    }
}

#[test]
fn different_block_size_is_added_to_title() {
    let titled = |profile: &str, size: &str| {
        let file: PlanFile =
            toml::from_str(&format!("name=\"t\"\nqueue_depth=[1]\nprofiles=[\"{profile}\"]"))
                .unwrap();
        let choices = Choices { block_size: Some(size.parse().unwrap()), ..Choices::default() };
        resolve(&file, &choices, &[SHAPE]).unwrap().points[0].profile_title.clone()
    };
    assert_eq!(titled("random-4k-read", "3KiB"), "Random 3 KiB, 100 % read");
    assert_eq!(titled("random-4k-read", "4KiB"), "Random 4 KiB, 100 % read");
    assert_eq!(titled("database", "16KiB"), "Database, 16 KiB");
}

#[test]
fn plan_with_too_many_points_is_refused_early() {
    let depths = vec!["1"; 60_000].join(",");
    let refused = |text: String| plan(&text).unwrap_err();
    let many = "at most 100000 are allowed";
    let sweep =
        format!("name=\"t\"\nprofiles=[\"database\",\"streaming\"]\nqueue_depth=[{depths}]");
    assert!(refused(sweep).contains(many));
    let own = format!(
        "name=\"t\"\n[[sweep]]\nprofile=\"database\"\nqueue_depth=[{depths}]\n[[sweep]]\n\
         profile=\"streaming\"\nqueue_depth=[{depths}]"
    );
    assert!(refused(own).contains(many));
    let steps = "[[step]]\ntitle=\"s\"\ntimes=1000\n[[step.load]]\nprofile=\"database\"\n\
                 queue_depth=1\n";
    assert!(refused(format!("name=\"t\"\n{}", steps.repeat(200))).contains(many));
}

#[test]
fn five_profiles_match_the_papers() {
    // docs/method/checklist.md, item 2: profile, random share, read share, request size in KiB.
    let papers = [
        ("database", 1.0, 0.67, 8),
        ("file-server", 1.0, 0.67, 64),
        ("file-copy", 1.0, 0.50, 64),
        ("streaming", 0.0, 1.0, 64),
        ("restore", 0.0, 0.0, 64),
    ];
    let plan = plan(shipped_plan_text("standard").expect("shipped")).expect("resolves");
    for (name, random, read, kib) in papers {
        let points: Vec<&Point> = plan.points.iter().filter(|p| p.profile == name).collect();
        let intensities: Vec<u32> = points.iter().map(|p| p.queue_depth).collect();
        assert_eq!(intensities, [1, 3, 8, 16, 32, 64, 128, 256, 512], "{name}");
        for point in points {
            assert_eq!((point.random_share, point.read_share), (random, read), "{name}");
            assert_eq!(point.block_size.single(), Some(kib << 10), "{name}");
            assert_eq!((point.alignment_bytes, point.direct), (4096, true), "{name}");
        }
    }
}

#[test]
fn invalid_profiles_are_refused_with_a_remedy() {
    for (profile, says) in [
        ("random=101\nread=0\nblock_size=\"4KiB\"", "between 0 and 100"),
        ("random=0\nread=0\nblock_size=\"5000\"", "512"),
        ("random=0\nread=0\nblock_size=\"8 cows\"", "not a size"),
        ("random=0\nread=0\nblock_size=\"4KiB\"\nstreams=0", "between 1 and 512"),
        ("random=0\nread=0\nblock_size=\"4KiB\"\narea={size=\"2GiB\"}", "does not fit"),
        ("random=0\nread=0\nblock_size=\"4KiB\"\narrivals={kind=\"fixed\",rate=0}", "rate"),
        ("random=0\nread=0\nblock_size=\"4KiB\"\niodepth=4", "unknown field"),
        ("random=0\nread=0\nblock_size=\"4KiB\"\nwriters=4", "writers share syncs"),
        (
            "random=0\nread=0\nblock_size=\"4KiB\"\ndurability=\"fsync\"\nfsync={kind=\"end\"}",
            "remove fsync",
        ),
    ] {
        let error = resolve_profile(profile).expect_err(profile);
        assert!(error.contains(says), "{profile}: {error}");
    }
    assert!(
        plan("name=\"t\"\nqueue_depth=[1]\nprofiles=[\"databse\"]")
            .unwrap_err()
            .contains("database")
    );
}

#[test]
fn profile_named_twice_is_refused_with_command() {
    let file: PlanFile = shipped_plan_text("quick").unwrap().parse().unwrap();
    let names = ["database", "restore", "database"].map(str::to_owned).to_vec();
    let choices = Choices { profiles: Some(names), ..Choices::default() };
    let refused = resolve(&file, &choices, &[SHAPE]).unwrap_err().to_string();
    let remedy = "it is named twice. Name it once: --profile database,restore";
    assert!(refused.contains("database") && refused.ends_with(remedy), "{refused}");
}

#[test]
fn falling_staircase_is_refused_with_options() {
    let file: PlanFile = shipped_plan_text("write-pressure").unwrap().parse().unwrap();
    let refused = |from: u64, to: u64, by: u64| {
        let [from, to, by] = [from, to, by].map(|mib| Some(Bytes::mib(mib)));
        let stairs = Stairs { from, to, by, ..Stairs::default() };
        let choices = Choices { stairs, ..Choices::default() };
        resolve(&file, &choices, &[SHAPE]).unwrap_err().to_string()
    };
    let falling = refused(300, 100, 50);
    assert!(falling.starts_with("--step-to 100MiB: the last step is below"), "{falling}");
    assert!(falling.contains("--step-from 300MiB. Try --step-to 600MiB"), "{falling}");
    let level = refused(1, 100, 0);
    assert!(level.starts_with("--step-by 0B: must be above 0. Try --step-by"), "{level}");
}

#[test]
fn unsupported_sector_size_is_refused_with_options() {
    let shape = TargetShape { block_bytes: 4096, ..SHAPE };
    for name in shipped_plan_names().filter(|name| *name != "bandwidth") {
        let file: PlanFile = shipped_plan_text(name).unwrap().parse().unwrap();
        let resolved = |choices: &Choices| resolve(&file, choices, &[shape; 2]);
        let Err(error) = resolved(&Choices::default()) else { continue };
        let text = error.to_string();
        // Comparisons need other targets.
        let Some((_, words)) = text.rsplit_once("Try --") else {
            assert!(!text.contains("block size"), "{name}: {text}");
            continue;
        };
        let (option, value) = words.split_once(' ').unwrap();
        let chosen = match option {
            "block-size" => Choices { block_size: value.parse().ok(), ..Choices::default() },
            "profile" => {
                let names = value.split(',').map(str::to_owned).collect();
                Choices { profiles: Some(names), ..Choices::default() }
            }
            _ => panic!("{name}: {text}"),
        };
        assert!(resolved(&chosen).is_ok(), "{name}: {text}");
    }
}

#[test]
fn profile_accepts_every_documented_key() {
    let point = resolve_profile(
        "title=\"T\"\napplication=\"A\"\nrandom=30\nread=67\n\
         block_size=[{size=\"4KiB\",weight=3},{size=\"64KiB\",weight=1}]\nalignment=\"4KiB\"\n\
         area={size=\"50%\",offset=\"1MiB\"}\nstreams=4\narrivals={kind=\"poisson\",rate=100.0}\n\
         compressible=25\ndirect=false\nfsync={kind=\"every\",writes=8}\n\
         reported_as=\"throughput\"",
    )
    .expect("resolves");
    assert_eq!(point.area, Extent { offset_bytes: 1 << 20, length_bytes: 1 << 29 });
    assert_eq!((point.streams, point.fsync.every_writes, point.fsync.at_end), (4, 8, true));
    assert_eq!(point.block_size.text(), "4KiB:3,64KiB:1");
    assert_eq!(point.in_flight_max(), 16);
}

#[test]
fn writers_with_shared_syncs_replace_queue_depth() {
    let text = "name=\"t\"\nqueue_depth=[1,2,4]\n[[profile]]\nname=\"log\"\nrandom=0\nread=0\n\
                block_size=\"4KiB\"\ndurability=\"fdatasync\"\nwriters=16";
    let resolved = plan(text).expect("resolves");
    let [point] = resolved.points.as_slice() else { panic!("{} points", resolved.points.len()) };
    assert_eq!((point.queue_depth, point.fsync.data_only), (16, true));
    // The command line takes precedence over both.
    let file: PlanFile = toml::from_str(text).expect("a plan");
    let choices = Choices { queue_depth: Some(vec![3, 5]), ..Choices::default() };
    let plan = resolve(&file, &choices, &[SHAPE]).expect("resolves");
    assert_eq!(plan.points.iter().map(|p| p.queue_depth).collect::<Vec<_>>(), [3, 5]);
}

/// A newcomer's first run takes at most two and a half minutes, with enough segments for a 95 %
/// interval of each point.
#[test]
fn quick_plan_is_short_with_intervals() {
    let quick = plan(shipped_plan_text("quick").expect("shipped")).expect("resolves");
    assert!(quick.duration_ns() <= 150_000_000_000, "{}", quick.duration_ns());
    assert!(quick.points.iter().all(|p| p.stop.interleaved_segments == 5));
}

#[test]
fn segments_alternate_within_a_sweep() {
    let quick = plan(shipped_plan_text("quick").expect("shipped")).expect("resolves");
    let sweeps: Vec<usize> = quick.sweeps().iter().map(Vec::len).collect();
    assert_eq!(sweeps, [6; 5]);
    let point = &quick.points[0];
    let segments: Vec<Point> = (0..5).map(|number| point.segment(number)).collect();
    let measured: u64 = segments.iter().map(|segment| segment.stop.duration_ns).sum();
    assert_eq!(measured, point.stop.duration_ns);
    let warm_ups: Vec<u64> =
        segments.iter().map(|segment| segment.warm_up_ns / 1_000_000).collect();
    assert!(warm_ups.iter().all(|ms| (150..250).contains(ms)), "{warm_ups:?}");
    assert!(warm_ups.iter().any(|ms| *ms != warm_ups[0]), "{warm_ups:?}");
    // A sequential load continues at another offset, not over data that a cache may still hold.
    let streaming = quick.points.iter().find(|p| p.profile == "streaming").expect("streams");
    let first = |number: u32| RequestStream::new(&streaming.segment(number), 0).draw().offset;
    let mut firsts: Vec<u64> = (0..5).map(first).collect();
    assert!(firsts.iter().all(|offset| offset.is_multiple_of(4096)));
    firsts.sort_unstable();
    firsts.dedup();
    assert_eq!(firsts.len(), 5);
    assert_eq!(
        RequestStream::new(&streaming.in_one_go(), 0).draw().offset,
        streaming.area.offset_bytes
    );
}

#[test]
fn short_segments_alternate_over_the_whole_plan() {
    let first = plan(shipped_plan_text("first").expect("shipped")).expect("resolves");
    assert_eq!(first.sweeps().iter().map(Vec::len).collect::<Vec<_>>(), [4]);
    assert!(first.duration_ns() <= 4_000_000_000, "{}", first.duration_ns());
    let segments: Vec<Point> = first
        .points
        .iter()
        .flat_map(|point| (0..point.stop.interleaved_segments).map(|number| point.segment(number)))
        .collect();
    assert_eq!(segments.len(), 16);
    assert!(segments.iter().all(|segment| segment.stop.duration_ns == 200_000_000));
    let warm_ups: Vec<f64> =
        segments.iter().map(|segment| segment.warm_up_ns as f64 / 1e6).collect();
    assert!(warm_ups.iter().all(|ms| (37.5..62.5).contains(ms)), "{warm_ups:?}");
    // No other plan changed: unset fields are not in the hashed text.
    for name in shipped_plan_names().filter(|name| *name != "first") {
        assert!(!shipped_plan_text(name).expect("shipped").contains("segment_warm_up"), "{name}");
    }
    let quick = plan(shipped_plan_text("quick").expect("shipped")).expect("resolves");
    assert!(!quick.text().contains("segment_warm_up"));
}

#[test]
fn point_too_short_for_segments_is_not_divided() {
    let with = |words: &str, choices: &Choices| {
        let text = format!("name=\"t\"\nprofiles=[\"database\"]\nqueue_depth=[1,8]\n{words}");
        let file: PlanFile = toml::from_str(&text).expect("a plan");
        resolve(&file, choices, &[SHAPE])
    };
    let segments = |words: &str, choices: &Choices| {
        let plan = with(words, choices).expect("resolves");
        (plan.points[0].stop.interleaved_segments, plan.sweeps().len())
    };
    let usual = Choices::default();
    assert_eq!(segments("interleaved_segments=6\nduration=\"30s\"", &usual), (6, 1));
    assert_eq!(segments("interleaved_segments=6\nduration=\"2s\"", &usual), (4, 1));
    assert_eq!(segments("interleaved_segments=6\nduration=\"1900ms\"", &usual), (1, 2));
    assert_eq!(segments("duration=\"30s\"", &usual), (1, 2));
    let until = Choices { until: "2%".parse().ok(), ..Choices::default() };
    assert_eq!(segments("interleaved_segments=6\nduration=\"30s\"", &until), (1, 2));
    assert!(
        with("interleaved_segments=3", &usual).is_err()
            && with("interleaved_segments=21", &usual).is_err()
    );
    let short = |duration: &str| {
        format!("interleaved_segments=6\nsegment_warm_up=\"20ms\"\nduration=\"{duration}\"")
    };
    assert_eq!(segments(&short("300ms"), &usual), (6, 1));
    assert_eq!(segments(&short("260ms"), &usual), (5, 1));
    assert_eq!(segments(&short("199ms"), &usual), (1, 2));
    for (wrong, says) in [
        ("segment_warm_up=\"50ms\"", "needs `interleaved_segments`"),
        ("interleaved_segments=4\nsegment_warm_up=\"19ms\"", "must be between 20ms and 1min"),
        ("interleaved_segments=4\nsegment_warm_up=\"61s\"", "must be between 20ms and 1min"),
    ] {
        let why = with(wrong, &usual).expect_err("refused").to_string();
        assert!(why.contains(says), "{wrong}: {why}");
    }
}

#[test]
fn hash_changes_with_every_field() {
    let base = plan(shipped_plan_text("quick").expect("shipped")).expect("resolves");
    let mut other = base.clone();
    other.points[3].area.length_bytes -= 4096;
    assert_ne!(base.hash(), other.hash());
    assert_eq!(base.hash().len(), 64);
}

proptest! {
    #[test]
    fn ios_stay_aligned_within_their_streams_area(
        random in 0.0f64..=100.0, read in 0.0f64..=100.0, streams in 1u32..8, seed in any::<u64>(),
        align_kib in 1u64..9, offset_mib in 0u64..4,
    ) {
        let mut point = resolve_profile(&format!(
            "random={random}\nread={read}\nstreams={streams}\nalignment=\"{align_kib}KiB\"\n\
             block_size=[{{size=\"4KiB\",weight=3}},{{size=\"64KiB\",weight=1}}]\n\
             area={{size=\"4MiB\",offset=\"{}KiB\"}}", offset_mib * align_kib * 64,
        )).expect("resolves");
        point.seed = seed;
        let mut seen = Vec::new();
        for number in 0..streams {
            let mut stream = RequestStream::new(&point, number);
            let (mut low, mut high) = (u64::MAX, 0);
            for _ in 0..500 {
                let r = stream.draw();
                prop_assert_eq!((r.offset - point.area.offset_bytes) % point.alignment_bytes, 0);
                low = low.min(r.offset);
                high = high.max(r.offset + u64::from(r.size));
            }
            prop_assert!(low >= point.area.offset_bytes);
            prop_assert!(high <= point.area.offset_bytes + point.area.length_bytes);
            seen.push((low, high));
        }
        for pair in seen.windows(2) {
            prop_assert!(pair[0].1 <= pair[1].0, "streams overlap: {:?}", seen);
        }
    }

    #[test]
    fn read_share_is_kept(read in 0.0f64..=1.0, seed in any::<u64>()) {
        let profile = "random=100\nread=0\nblock_size=\"4KiB\"";
        let mut point = resolve_profile(profile).expect("resolves");
        (point.read_share, point.seed) = (read, seed);
        let mut stream = RequestStream::new(&point, 0);
        let n = 20_000;
        let reads = (0..n).filter(|_| stream.draw().direction == Direction::Read).count();
        // Six standard deviations of a binomial.
        let slack = 6.0 * (read * (1.0 - read) / f64::from(n)).sqrt() + 1e-9;
        prop_assert!((reads as f64 / f64::from(n) - read).abs() <= slack);
    }

    #[test]
    fn any_plan_text_parses_without_panic(text in ".{0,200}") {
        let _ = plan(&text);
    }
}

#[test]
fn sequential_load_covers_area_in_order_and_repeats() {
    let mut point = resolve_profile("random=0\nread=100\nblock_size=\"64KiB\"").expect("resolves");
    point.area = Extent { offset_bytes: 1 << 20, length_bytes: 256 << 10 };
    let mut stream = RequestStream::new(&point, 0);
    let offsets: Vec<u64> = (0..6).map(|_| (stream.draw().offset - (1 << 20)) >> 16).collect();
    assert_eq!(offsets, [0, 1, 2, 3, 0, 1]);
}

#[test]
fn random_offsets_are_uniform() {
    let mut point = resolve_profile("random=100\nread=100\nblock_size=\"4KiB\"").expect("resolves");
    point.area = Extent { offset_bytes: 0, length_bytes: 64 * 4096 };
    let mut stream = RequestStream::new(&point, 0);
    let mut hits = [0f64; 64];
    for _ in 0..64_000 {
        hits[(stream.draw().offset / 4096) as usize] += 1.0;
    }
    let chi2: f64 = hits.iter().map(|h| (h - 1000.0).powi(2) / 1000.0).sum();
    // 63 degrees of freedom: 99.99 % lie below 112.
    assert!(chi2 < 112.0, "{chi2}");
}

#[test]
fn late_arrivals_do_not_shift_the_schedule() {
    use qdepth_measure::Instant;
    let start = Instant(1000);
    let mut fixed = Schedule::new(Arrivals::Fixed { rate: 1e6 }, start, 1).expect("open");
    assert_eq!(fixed.next(), Instant(2000));
    assert_eq!(fixed.due(Instant(5500)), 4);
    fixed.advance();
    assert_eq!(fixed.next(), Instant(3000));
    let mut paced = Schedule::new(Arrivals::Paced { rate: 1e6 }, start, 1).expect("paced");
    paced.advance_from(Instant(50_500));
    assert_eq!(paced.next(), Instant(50_500), "the next is due at once, the missed 48 never");
    paced.advance_from(Instant(50_500));
    assert_eq!(paced.next(), Instant(51_500));
}

#[test]
fn poisson_gaps_have_exponential_mean_and_variance() {
    use qdepth_measure::Instant;
    let mut schedule = Schedule::new(Arrivals::Poisson { rate: 1e5 }, Instant(0), 3).expect("open");
    let (mut former, n, mut sum, mut square) = (0u64, 100_000, 0f64, 0f64);
    for _ in 0..n {
        let gap = (schedule.next().0 - former) as f64;
        former = schedule.next().0;
        sum += gap;
        square += gap * gap;
        schedule.advance();
    }
    let mean = sum / f64::from(n);
    let deviation = (square / f64::from(n) - mean * mean).sqrt();
    assert!(
        (mean / 1e4 - 1.0).abs() < 0.02 && (deviation / 1e4 - 1.0).abs() < 0.02,
        "{mean} {deviation}"
    );
}

#[test]
fn payload_has_the_requested_compressibility() {
    let mut buffer = vec![1u8; 64 << 10];
    fill(&mut buffer, Payload { compressible_share: 0.25, ..Payload::default() }, 9);
    let zeros = buffer.iter().filter(|b| **b == 0).count() as f64 / buffer.len() as f64;
    assert!((zeros - 0.25 - 0.75 / 256.0).abs() < 0.005, "{zeros}");
    assert!(buffer[..4096] != buffer[4096..8192], "no two blocks alike");
}

const TWO: &str = "[[profile]]\nname=\"reader\"\nrandom=100\nread=100\nblock_size=\"4KiB\"\n\
                   [[profile]]\nname=\"writers\"\nrandom=100\nread=0\nblock_size=\"8KiB\"\n\
                   streams=8\n";

#[test]
fn staircase_becomes_steps_of_simultaneous_loads() {
    let plan = plan(&format!(
        "name=\"t\"\n{TWO}[staircase]\nrising={{profile=\"writers\",queue_depth=8}}\n\
         beside=[{{profile=\"reader\",queue_depth=1}}]\nfrom=\"0B\"\nto=\"200MiB\"\nby=\"100MiB\""
    ))
    .expect("resolves");
    let rows: Vec<_> =
        plan.points.iter().map(|p| (p.group, p.step.as_str(), p.profile.as_str())).collect();
    assert_eq!(
        rows,
        [
            (0, "0 MB/s", "reader"),
            (1, "100 MB/s", "reader"),
            (1, "100 MB/s", "writers"),
            (2, "200 MB/s", "reader"),
            (2, "200 MB/s", "writers"),
        ]
    );
    // 100 MiB/s over 8 streams of 8 KiB: the paper's 12.5 MiB/s each.
    assert_eq!(plan.points[2].arrivals, Arrivals::Fixed { rate: 1600.0 });
    assert!(plan.ends_when_not_followed);
    assert_eq!(plan.groups().map(<[Point]>::len).collect::<Vec<_>>(), [1, 2, 2]);
    assert_eq!(plan.duration_ns(), 3 * 33_000_000_000);
}

#[test]
fn only_simultaneous_targets_share_a_group() {
    let text =
        |targets: &str| format!("name=\"t\"\nqueue_depth=[1,2]\ntargets=\"{targets}\"\n{TWO}");
    let groups = |targets: &str| {
        let file: PlanFile = toml::from_str(&text(targets)).expect("reads");
        let plan = resolve(&file, &Choices::default(), &[SHAPE, SHAPE]).expect("resolves");
        assert!(plan.points.iter().enumerate().all(|(n, p)| p.index as usize == n));
        plan.points.iter().map(|p| (p.group, p.target)).collect::<Vec<_>>()
    };
    let together: Vec<_> = (0..4).flat_map(|group| [(group, 0), (group, 1)]).collect();
    assert_eq!(groups("together"), together);
    let in_turn: Vec<_> = (0..8).map(|group| (group, group / 4)).collect();
    assert_eq!(groups("in-turn"), in_turn);
}

#[test]
fn invalid_steps_are_refused_with_a_remedy() {
    let stairs = |from: &str, to: &str, by: &str, profile: &str| {
        plan(&format!(
            "name=\"t\"\n{TWO}[staircase]\nrising={{profile=\"{profile}\",queue_depth=8}}\n\
             from=\"{from}\"\nto=\"{to}\"\nby=\"{by}\""
        ))
        .unwrap_err()
    };
    assert!(stairs("2MiB", "1MiB", "1MiB", "writers").contains("last step"));
    assert!(stairs("0B", "1MiB", "0B", "writers").contains("above 0"));
    assert!(stairs("0B", "1TiB", "1B", "writers").contains("10000"));
    assert!(stairs("0B", "1MiB", "1MiB", "writer").contains("reader, writers"));
    let queue_depth = Choices { queue_depth: Some(vec![4]), ..Choices::default() };
    let file: PlanFile =
        toml::from_str(shipped_plan_text("write-pressure").expect("shipped")).expect("reads");
    let error = resolve(&file, &queue_depth, &[SHAPE]).unwrap_err().to_string();
    assert!(error.contains("the steps of plan"), "{error}");
    assert!(
        resolve_profile("random=0\nread=0\nblock_size=\"4KiB\"\nstreams=2\nworkers=3").is_err()
    );
    // Shares by weight and equal amounts contradict each other.
    let load = "profile=\"reader\",queue_depth=2,bytes_per_stream=\"1GiB\",catches_up=true";
    let step = |more: &str| {
        plan(&format!("name=\"t\"\n{TWO}[[step]]\ntitle=\"s\"\nload=[{{{load}{more}}}]"))
    };
    assert_eq!(step("").map(|plan| plan.points.len()), Ok(1));
    let both = step(",flow={weight=2}").unwrap_err();
    assert!(both.contains("use one of them"), "{both}");
}

#[test]
fn steady_state_point_has_rounds_and_no_precision() {
    let text = |more: &str| {
        format!(
            "name=\"s\"\nqueue_depth=[1]\nwarm_up=\"1s\"\nduration=\"50s\"\n{more}\n[[profile]]\n\
             name=\"mine\"\nrandom=100\nread=100\nblock_size=\"4KiB\"\n"
        )
    };
    let plan = |more: &str, choices: &Choices| {
        let file = toml::from_str::<PlanFile>(&text(more)).expect("reads");
        resolve(&file, choices, &[SHAPE]).map_err(|error| error.to_string())
    };
    let chosen = |until: &str| Choices { until: until.parse().ok(), ..Choices::default() };
    for (more, choices, rule) in [
        ("until=\"steady\"", Choices::default(), SteadyRule::Own),
        ("until=\"steady-snia\"", Choices::default(), SteadyRule::Snia),
        ("until=\"±2%\"", chosen("steady"), SteadyRule::Own),
    ] {
        let resolved = plan(more, &choices).expect("resolves");
        let point = &resolved.points[0];
        assert_eq!(
            (point.stop.steady, point.stop.until, point.stop.interleaved_segments),
            (Some(rule), None, 1)
        );
        assert_eq!(Plan::from_text(&resolved.text()), Ok(resolved.clone()));
        // 25 rounds of 2 s; later rounds have the warm-up of a segment.
        let rounds = [0, 1, 24].map(|number| point.steady_round(number));
        assert_eq!(rounds.each_ref().map(|round| round.stop.duration_ns), [2_000_000_000; 3]);
        assert_eq!(
            rounds.each_ref().map(|round| round.warm_up_ns),
            [1_000_000_000, 200_000_000, 200_000_000]
        );
        assert_eq!(point.total_warm_up_ns(), 1_000_000_000 + 24 * 200_000_000);
        assert!(rounds[1].seed != rounds[2].seed);
    }
    for (more, why) in [
        ("until=\"steady\"\nbytes=\"1GiB\"", "remove the other ends"),
        ("until=\"steady\"\nbytes_per_stream=\"1GiB\"", "remove the other ends"),
    ] {
        let error = plan(more, &Choices::default()).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
    let short = Choices { duration: "4s".parse().ok(), ..chosen("steady") };
    let error = plan("", &short).unwrap_err();
    assert!(error.contains("need at least 5s"), "{error}");
    assert!(!plan("", &Choices::default()).expect("resolves").text().contains("steady"));
}

#[test]
fn precision_option_overrides_plan_and_is_stored() {
    let text = r#"
        name = "precise"
        queue_depth = [1]
        until = "±2%"
        [[profile]]
        name = "mine"
        random = 100
        read = 100
        block_size = "4KiB"
    "#;
    let file = |text: &str| toml::from_str::<PlanFile>(text).expect("reads");
    let plan = |text: &str, choices: &Choices| resolve(&file(text), choices, &[SHAPE]);
    let until = plan(text, &Choices::default()).expect("resolves").points[0].stop.until;
    assert_eq!(until, Some(Until { share: 0.02, least_ns: 5_000_000_000 }));
    let shorter =
        Choices { until: "5%".parse().ok(), duration: "3s".parse().ok(), ..Choices::default() };
    let resolved = plan(text, &shorter).expect("resolves");
    assert_eq!(resolved.points[0].stop.until, Some(Until { share: 0.05, least_ns: 3_000_000_000 }));
    assert_eq!(Plan::from_text(&resolved.text()), Ok(resolved));
    // Plans of older versions lack the field, and keep their hash.
    let without =
        plan(&text.replace("until = \"±2%\"", ""), &Choices::default()).expect("resolves");
    assert!(!without.text().contains("until"));
    let workers = text.replace("random = 100", "random = 100\nstreams = 2\nworkers = 2");
    let of_two = plan(&workers, &Choices::default()).expect("resolves").points.remove(0);
    assert_eq!((of_two.workers, of_two.stop.until), (2, until));
    assert!(toml::from_str::<PlanFile>(&text.replace("±2%", "2")).is_err());
}

#[test]
fn poisson_gaps_pass_a_kolmogorov_smirnov_test() {
    use qdepth_measure::Instant;
    for (rate, seed) in [(10.0, 1), (1e3, 2), (1e5, 3), (1e6, 4)] {
        let mut schedule =
            Schedule::new(Arrivals::Poisson { rate }, Instant(0), seed).expect("open");
        let (mut former, n) = (0u64, 20_000);
        let mut gaps: Vec<f64> = (0..n)
            .map(|_| {
                let gap = (schedule.next().0 - former) as f64;
                former = schedule.next().0;
                schedule.advance();
                gap
            })
            .collect();
        gaps.sort_by(f64::total_cmp);
        // Gaps are whole nanoseconds, so the distribution is compared half a nanosecond later.
        let law = |gap: f64| 1.0 - (-rate * (gap + 0.5) / 1e9).exp();
        let distance = (gaps.iter().enumerate())
            .map(|(i, gap)| {
                let (below, above) = (i as f64 / n as f64, (i + 1) as f64 / n as f64);
                (law(*gap) - below).abs().max((above - law(*gap)).abs())
            })
            .fold(0.0, f64::max);
        // 99.9 % of true samples stay below 1.95 / √n (Kolmogorov's limit law).
        assert!(distance * f64::from(n).sqrt() < 1.95, "rate {rate}: {distance}");
    }
}

#[test]
fn simultaneous_loads_on_target_need_equal_cache_mode() {
    let two = |direct: &str, target: u32| {
        plan(&format!(
            "name=\"x\"\n[[profile]]\nname=\"a\"\nrandom=100\nread=100\nblock_size=\"4KiB\"\n\
             [[profile]]\nname=\"b\"\nrandom=100\nread=100\nblock_size=\"4KiB\"\n\
             direct={direct}\n\
             [[step]]\ntitle=\"one\"\nload=[{{profile=\"a\",queue_depth=1}},\
             {{profile=\"b\",queue_depth=1,target={target}}}]\n"
        ))
    };
    assert!(two("true", 1).is_ok());
    let refused = two("false", 1).expect_err("one descriptor cannot be both");
    assert!(refused.contains("`a` and `b`"), "{refused}");
}

#[test]
fn command_line_overrides_steps_reader_size_and_samples() {
    let text = qdepth_workload::shipped_plan_text("write-pressure").expect("shipped");
    let file: PlanFile = toml::from_str(text).expect("reads");
    let choices = Choices {
        stairs: Stairs {
            from: Some(Bytes(10 << 20)),
            to: Some(Bytes(30 << 20)),
            by: Some(Bytes(20 << 20)),
            reader_rate: Some(1000.0),
        },
        block_size: Some(Bytes(4096)),
        until_credible: "99.9".parse().ok(),
        duration: Some(Nanos::from_secs(2)),
        ..Choices::default()
    };
    let made = resolve(&file, &choices, &[SHAPE]).expect("resolves");
    let titles: Vec<&str> = made.points.iter().map(|point| point.step.as_str()).collect();
    assert_eq!(titles, ["10 MB/s", "10 MB/s", "30 MB/s", "30 MB/s"]);
    for point in &made.points {
        assert_eq!(point.block_size, SizeMix::fixed(4096));
        // Both may take forty times the duration; only the reader waits for samples.
        assert_eq!(point.stop.duration_ns, 80_000_000_000);
        let waits = point.stop.samples.map(|samples| (samples.count, samples.least_ns));
        assert_eq!(waits, (!point.writes()).then_some((10_000, 2_000_000_000)));
    }
    assert_eq!(made.points[0].offered_io_per_s(), Some(1000.0));
    assert!(made.points[0].queue_depth > 1, "an open loop does not wait for an answer");
    let sweep: PlanFile =
        toml::from_str(qdepth_workload::shipped_plan_text("quick").expect("shipped"))
            .expect("reads");
    let refused = resolve(&sweep, &choices, &[SHAPE]);
    assert!(matches!(refused, Err(ResolveError::NoStaircase(_))), "{refused:?}");
}

#[test]
fn preconditioning_of_every_target_precedes_the_points() {
    let file: PlanFile =
        toml::from_str("name=\"t\"\nprofiles=[\"database\"]\nqueue_depth=[4]").expect("a plan");
    let steady =
        Choices { precondition: Some(Preconditioning::State(Wear::Steady)), ..Choices::default() };
    let plan = resolve(&file, &steady, &[SHAPE, SHAPE]).expect("resolves");
    let told = plan.precondition.iter().map(|p| (&*p.profile, p.group, p.target));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [("sequential", 0, 0), ("sequential", 0, 1), ("random", 1, 0), ("random", 1, 1)]
    );
    assert_eq!(precondition_bytes(&plan, 1), 3 << 30);
    assert!(plan.precondition.iter().all(|p| p.area == SHAPE.usable && p.read_share == 0.0));
    assert_eq!(plan.wear(), Some(Wear::Steady));
    assert_eq!(plan.points.len(), 2, "its points are as before");
    assert_eq!(Plan::from_text(&plan.text()).as_ref(), Ok(&plan));
    let half = Choices {
        precondition: Some(Preconditioning::State(Wear::Preconditioned)),
        ..Choices::default()
    };
    let plan = resolve(&file, &half, &[SHAPE]).expect("resolves");
    assert_eq!((precondition_bytes(&plan, 0), plan.wear()), (2 << 30, Some(Wear::Preconditioned)));
    let reading = "name=\"t\"\nqueue_depth=[4]\n[[profile]]\nname=\"r\"\nrandom=100\nread=100\n\
                   block_size=\"4KiB\"";
    let reading: PlanFile = toml::from_str(reading).expect("a plan");
    assert_eq!(needs_writing(&reading, &Choices::default()), Ok(WrittenTargets::Only([].into())));
    assert_eq!(
        needs_writing(&reading, &half),
        Ok(WrittenTargets::Each),
        "a plan that reads writes first"
    );
}

#[test]
fn repeated_step_has_numbered_titles() {
    let steps = |times: &str| {
        let step =
            format!("[[step]]\ntitle=\"s\"\n{times}load=[{{profile=\"database\",queue_depth=2}}]");
        plan(&format!("name=\"t\"\nprofiles=[\"database\"]\n{step}"))
    };
    let three = steps("times=3\n").expect("resolves");
    let titles = three.points.iter().map(|point| &*point.step);
    assert_eq!(titles.collect::<Vec<_>>(), ["s 1/3", "s 2/3", "s 3/3"]);
    assert_ne!(three.points[0].seed, three.points[1].seed);
    assert_eq!(steps("").expect("resolves").points[0].step, "s");
    for times in ["times=0\n", "times=20000\n"] {
        let refused = steps(times).expect_err("refused");
        assert!(refused.contains("between 1 and 10000"), "{refused}");
    }
}

#[test]
fn snia_plans_match_the_specification() {
    let points =
        |name: &str| plan(shipped_plan_text(name).expect("shipped")).expect("resolves").points;
    let asked = |name: &str| -> Vec<(u32, f64, u64, u32)> {
        let shape = |p: &Point| {
            (p.block_size.max(), p.read_share, p.stop.duration_ns / 1_000_000_000, p.queue_depth)
        };
        points(name).iter().map(shape).collect()
    };
    let (kib, mib) = (1 << 10, 1 << 20);
    let throughput = [(mib, 1.0), (mib, 0.0), (128 * kib, 1.0), (128 * kib, 0.0)];
    assert_eq!(asked("pts-throughput"), throughput.map(|(size, read)| (size, read, 60, 32)));
    let sizes = [8 * kib, 4 * kib, 512];
    let latency = [1.0, 0.65, 0.0].iter().flat_map(|read| sizes.map(|size| (size, *read, 60, 1)));
    assert_eq!(asked("pts-latency"), latency.collect::<Vec<_>>());
    let iops = points("pts-iops");
    assert_eq!(iops.len(), 56);
    assert!(iops.iter().all(|p| p.random_share >= 1.0 && p.stop.duration_ns == 60_000_000_000));
    assert_eq!(
        asked("pts-xsr"),
        [(mib, 0.0, 1800, 32), (8 * kib, 0.0, 1800, 32), (mib, 0.0, 1800, 32)]
    );
    let shares = points("pts-xsr").iter().map(|p| p.random_share).collect::<Vec<_>>();
    assert_eq!(shares, [0.0, 1.0, 0.0]);
    let hir = points("pts-hir");
    for pause in [5, 10, 15, 25, 50] {
        let after = |p: &&Point| p.delay_ns == pause * 1_000_000_000;
        let after: Vec<&Point> = hir.iter().filter(after).collect();
        assert_eq!(after.len(), 6, "{pause} s");
        assert!(after.iter().all(|p| p.stop.duration_ns == 5_000_000_000), "{pause} s");
    }
    let continuous = hir.iter().filter(|p| p.delay_ns == 0);
    assert_eq!(continuous.map(|p| p.stop.duration_ns).collect::<Vec<_>>(), [60_000_000_000; 6]);
    assert!(hir.iter().all(|p| p.read_share <= 0.0 && p.random_share >= 1.0));
}

#[test]
fn steady_state_rounds_follow_the_sequential_writes() {
    let file: PlanFile =
        toml::from_str("name=\"t\"\nprofiles=[\"database\"]\nqueue_depth=[4]").expect("a plan");
    let until = |rule, round| Choices {
        precondition: Some(Preconditioning::UntilSteady { rule, round }),
        // Duration of the points, not of the preconditioning before them.
        duration: Some(Nanos::from_secs(2)),
        ..Choices::default()
    };
    for (rule, round, seconds, rounds) in
        [(SteadyRule::Own, None, 60, 1440), (SteadyRule::Snia, Some(Nanos::from_secs(10)), 10, 25)]
    {
        let plan = resolve(&file, &until(rule, round), &[SHAPE]).expect("resolves");
        let [first, last] = plan.precondition.as_slice() else { panic!("{plan:?}") };
        assert_eq!((first.bytes_of_streams(), first.stop.until_steady), (2 << 30, None));
        assert_eq!(last.stop.until_steady, Some(UntilSteady { rule, rounds }));
        assert_eq!((last.bytes_of_streams(), last.stop.duration_ns), (0, seconds * 1_000_000_000));
        assert_eq!((&*last.profile, last.area), ("random", SHAPE.usable));
        assert_eq!(precondition_bytes(&plan, 0), 2 << 30, "those of the rounds are not known");
        assert_eq!(plan.wear(), Some(Wear::Steady));
        assert_eq!(Plan::from_text(&plan.text()).as_ref(), Ok(&plan));
        assert_ne!(last.round(0).seed, last.round(1).seed);
    }
}

#[test]
fn preconditioning_step_must_be_last_and_complete() {
    let with = |steps: &str| {
        plan(&format!("name=\"t\"\nprofiles=[\"database\"]\nqueue_depth=[4]\n{steps}"))
    };
    let prepared =
        with("[[prepare]]\nstep=\"precondition\"\nmethod=\"one-pass\"").expect("resolves");
    assert_eq!(prepared.precondition[0].distribution, Distribution::EachOnce);
    assert_eq!((precondition_bytes(&prepared, 0), prepared.prepare.len()), (1 << 30, 0));
    let step = "[[prepare]]\nstep=\"precondition\"\nmethod=\"sequential\"\n";
    let mount = "[[prepare]]\nstep=\"mount\"\nat=\"/m\"\ndevice=\"/dev/x\"\n";
    assert_eq!(with(&format!("{mount}{step}")).expect("resolves").prepare.len(), 1);
    for (steps, says) in [
        (format!("{step}{mount}"), "the last step"),
        (format!("{step}passes=0"), "between 1 and 100"),
        (format!("{step}speed=1"), "unknown field `speed`"),
        (step.replace("sequential", "upwards"), "one-pass"),
        (format!("{step}rounds=9"), "`until-steady`"),
        (step.replace("sequential", "until-steady\"\nrounds=4\nrule=\"own"), "between 5 and 10000"),
        (step.replace("sequential", "until-steady\"\npasses=4\nrule=\"own"), "remove `passes`"),
        (step.replace("sequential", "until-steady\"\nrule=\"ours"), "snia"),
    ] {
        let refused = with(&steps).expect_err("refused");
        assert!(refused.contains(says), "{steps}: {refused}");
    }
    let file: PlanFile =
        toml::from_str(&format!("name=\"t\"\nprofiles=[\"streaming\"]\nqueue_depth=[4]\n{step}"))
            .expect("a plan");
    let read_only = Choices { read_only: true, ..Choices::default() };
    let refused = resolve(&file, &read_only, &[SHAPE]).expect_err("refused").to_string();
    assert!(refused.contains("only reads"), "{refused}");
}

/// Text of a plan in which one value, of its first point or its own, is changed.
fn altered(pointer: &str, value: serde_json::Value) -> String {
    let resolved = plan(shipped_plan_text("quick").expect("shipped")).expect("resolves");
    let mut text: serde_json::Value = serde_json::from_str(&resolved.text()).expect("JSON");
    *text.pointer_mut(pointer).expect(pointer) = value;
    text.to_string()
}

#[test]
fn altered_plan_text_is_rejected() {
    use serde_json::json;
    let max = u64::MAX;
    for (pointer, value) in [
        ("/points/0/area/offset_bytes", json!(max)),
        ("/points/0/area/length_bytes", json!(max)),
        ("/points/0/area/offset_bytes", json!(i64::MAX)),
        ("/points/0/area/length_bytes", json!(0)),
        ("/points/0/area/length_bytes", json!(512)),
        ("/points/0/index", json!(7)),
        ("/points/0/alignment_bytes", json!(0)),
        ("/points/0/streams", json!(0)),
        ("/points/0/streams", json!(u32::MAX)),
        ("/points/0/queue_depth", json!(0)),
        ("/points/0/workers", json!(0)),
        ("/points/0/workers", json!(1000)),
        ("/points/0/random_share", json!(1.5)),
        ("/points/0/read_share", json!(-0.1)),
        ("/points/0/payload/compressible_share", json!(2.0)),
        ("/points/0/block_size/sizes", json!([])),
        ("/points/0/block_size/sizes", json!([[0, 1]])),
        ("/points/0/block_size/sizes", json!([[4096, u32::MAX], [4096, 2]])),
        ("/points/0/warm_up_ns", json!(max)),
        ("/points/0/stop/duration_ns", json!(max)),
        ("/points/0/stop/duration_ns", json!(-1)),
        ("/points/0/arrivals", json!({"kind": "fixed", "rate": 0.0})),
        ("/points/0/arrivals", json!({"kind": "think-time", "time_ns": 1, "requests": 0})),
        ("/version", json!(2)),
        ("/points", json!(3)),
    ] {
        let text = altered(pointer, value.clone());
        assert!(Plan::from_text(&text).is_err(), "{pointer} = {value} is taken");
    }
}

#[test]
fn stored_plan_must_match_its_hash() {
    let plan = plan(shipped_plan_text("quick").expect("shipped")).expect("resolves");
    let (text, hash) = (plan.text(), plan.hash());
    assert_eq!(Plan::stored(&text, &hash), Ok(plan));
    let other = text.replacen("\"direct\": true", "\"direct\": false", 1);
    assert_ne!(other, text);
    let refused = Plan::stored(&other, &hash).expect_err("refused");
    assert!(refused.contains("not the one that was measured"), "{refused}");
}

#[test]
fn plan_must_fit_its_targets() {
    let within = |offset_bytes, length_bytes| TargetShape {
        usable: Extent { offset_bytes, length_bytes },
        ..SHAPE
    };
    let plan = plan(shipped_plan_text("quick").expect("shipped")).expect("resolves");
    let end = plan.points.iter().filter_map(|point| point.area.end_bytes()).max().expect("points");
    assert_eq!(plan.fits(&[within(0, end)]), Ok(()));
    assert!(plan.fits(&[within(0, end - 1)]).is_err());
    // The first MiB of a device is kept for its label.
    assert!(plan.fits(&[within(1 << 20, end)]).is_err());
    assert!(plan.fits(&[]).is_err_and(|why| why.contains("there are only 0")));
    assert!(plan.fits(&[within(0, u64::MAX)]).is_err(), "an end beyond any offset");
}
