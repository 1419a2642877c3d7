//! Comparisons of a plan: points of each column, and refused comparisons.

use qdepth_workload::*;

#[cfg(test)]
fn shape(gib: u64) -> TargetShape {
    TargetShape::whole(Extent { offset_bytes: 0, length_bytes: gib << 30 }, 512)
}

#[cfg(test)]
fn shipped(name: &str, choices: Choices, targets: &[TargetShape]) -> Result<Plan, String> {
    let file: PlanFile = toml::from_str(shipped_plan_text(name).unwrap()).unwrap();
    let queue_depth = choices.queue_depth.or(Some(vec![8]));
    let choices = Choices { queue_depth, ..choices };
    resolve(&file, &choices, targets).map_err(|error| error.to_string())
}

#[test]
fn devices_plan_has_equal_load_per_drive() {
    let choices = Choices {
        profiles: Some(vec!["database".into()]),
        queue_depth: Some(vec![1, 8]),
        arrays: 1,
        ..Choices::default()
    };
    let plan = shipped("devices", choices, &[shape(64); 4]).unwrap();
    let seen: Vec<(u32, Option<u32>, u32, u32)> =
        plan.points.iter().map(|p| (p.group, p.variant, p.target, p.queue_depth)).collect();
    let at = |group: u32, queue_depth: u32| {
        let together = (0..3).map(move |drive| (group + 1, Some(1), drive, queue_depth));
        std::iter::once((group, Some(0), 0, queue_depth)).chain(together).chain([(
            group + 2,
            Some(2),
            3,
            3 * queue_depth,
        )])
    };
    assert_eq!(seen, at(0, 1).chain(at(3, 8)).collect::<Vec<_>>());
    let seeds: Vec<u64> = plan.points[1..4].iter().map(|point| point.seed).collect();
    assert!(seeds[0] != seeds[1] && seeds[1] != seeds[2], "drives draw alike: {seeds:?}");
    assert_eq!(plan.points[0].seed, seeds[0], "the single drive draws as the first of all does");
    let comparison = plan.comparison.unwrap();
    let roles: Vec<(Role, u32, u32)> =
        comparison.variants.iter().map(|v| (v.role, v.parts, v.times)).collect();
    assert_eq!(roles, [(Role::Single, 1, 1), (Role::Together, 3, 1), (Role::Array, 1, 3)]);
}

#[test]
fn saturation_plan_adds_drives_one_by_one() {
    let plan = shipped("saturation", Choices::default(), &[shape(64); 3]).unwrap();
    let of_group = |group: &[Point]| group.iter().map(|p| p.target).collect::<Vec<_>>();
    let drives: Vec<Vec<u32>> = plan.groups().take(5).map(of_group).collect();
    assert_eq!(drives, [vec![0], vec![1], vec![2], vec![0, 1], vec![0, 1, 2]]);
    assert_eq!(plan.sweeps()[0].len(), 5, "their segments are interleaved");
    assert!(plan.points.iter().all(|point| !point.writes()));
    let alone = shipped("saturation", Choices::default(), &[shape(64)]).unwrap();
    assert_eq!(alone.comparison.unwrap().variants.len(), 1);
}

#[test]
fn process_areas_do_not_overlap() {
    let choices = Choices {
        profiles: Some(vec!["random-4k-read".into()]),
        processes: Some(vec![1, 4, 7]),
        ..Choices::default()
    };
    let plan = shipped("processes", choices, &[shape(100)]).unwrap();
    for (variant, count) in [(0, 1), (1, 4), (2, 7)] {
        let areas: Vec<Extent> =
            plan.points.iter().filter(|p| p.variant == Some(variant)).map(|p| p.area).collect();
        assert_eq!(areas.len(), count);
        let each = (32 << 30).min(((100u64 << 30) / count as u64) & !((1 << 20) - 1));
        assert!(areas.iter().all(|area| area.length_bytes == each), "{areas:?}");
        for pair in areas.windows(2) {
            assert!(pair[0].offset_bytes + pair[0].length_bytes <= pair[1].offset_bytes);
        }
        let last = areas[count - 1];
        assert!(last.offset_bytes + last.length_bytes <= 100 << 30);
    }
}

#[test]
fn area_plan_covers_standard_and_full_area() {
    let profiles = Some(vec!["random-64k-write".into()]);
    let choices = Choices { profiles: profiles.clone(), ..Choices::default() };
    let plan = shipped("area", choices.clone(), &[shape(800)]).unwrap();
    let lengths: Vec<u64> = plan.points.iter().map(|p| p.area.length_bytes >> 30).collect();
    assert_eq!(lengths, [32, 800]);
    let small = shipped("area", choices, &[shape(16)]).unwrap_err();
    assert!(small.contains("does not fit"), "{small}");
}

#[test]
fn media_comparison_measures_latency_at_depth_1() {
    let plan = shipped("media-comparison", Choices::default(), &[shape(64)]).unwrap();
    let at_one: Vec<&str> =
        plan.points.iter().filter(|p| p.queue_depth == 1).map(|p| p.profile.as_str()).collect();
    assert_eq!(at_one, ["latency-read", "latency-write"]);
    assert_eq!(plan.points.len(), 7);
}

#[test]
fn variants_alternate_at_each_load_and_depth() {
    let lengths = |plan: &Plan| -> Vec<usize> { plan.sweeps().iter().map(Vec::len).collect() };
    let at = |name: &str, choices: Choices, targets: usize| {
        let queue_depth = Some(vec![2, 32]);
        let profiles = Some(vec!["database".into(), "streaming".into()]);
        let choices = Choices { queue_depth, profiles, ..choices };
        shipped(name, choices, &vec![shape(64); targets]).unwrap()
    };
    let plan = at("media-comparison", Choices::default(), 3);
    assert_eq!(lengths(&plan), [3; 4]);
    let sweeps = plan.sweeps();
    let of_first = sweeps[0].iter().map(|group| (group[0].variant, group[0].queue_depth));
    assert_eq!(of_first.collect::<Vec<_>>(), [(Some(0), 2), (Some(1), 2), (Some(2), 2)]);
    // An array is compared at the queue depth of one of its drives, and interleaved with it.
    let arrays = at("devices", Choices { arrays: 1, ..Choices::default() }, 5);
    assert_eq!(lengths(&arrays), [3; 4]);
    let in_flight = |place: usize| arrays.sweeps()[0][place][0].queue_depth;
    assert_eq!((in_flight(0), in_flight(1), in_flight(2)), (2, 2, 8));
    // A single column next to published drives is swept like any other target.
    assert_eq!(lengths(&at("media-comparison", Choices::default(), 1)), [2, 2]);
}

#[test]
fn variant_names_and_base_come_from_user() {
    let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    let choices = Choices {
        variants: names(&["single", "RAID 1", "RAID 0"]),
        base: Some("RAID 1".into()),
        ..Choices::default()
    };
    let comparison = shipped("arrays", choices, &[shape(64); 3]).unwrap().comparison.unwrap();
    assert_eq!(comparison.variants[2].name, "RAID 0");
    assert_eq!(comparison.base, 1);
    let choices = Choices { base: Some("3".into()), ..Choices::default() };
    assert_eq!(shipped("arrays", choices, &[shape(64); 3]).unwrap().comparison.unwrap().base, 2);
    for (variants, base, says) in [
        (names(&["single", "RAID 1"]), None, "names 2 variants, but there are 3"),
        (names(&["a", "b", "a"]), None, "the name `a` must not be empty or used twice"),
        (names(&["a", "b", "c"]), Some("d"), "the variants are a (or 1), b (or 2), c (or 3)"),
        (None, Some("4"), "the variants are 1, 2, 3"),
    ] {
        let choices = Choices { variants, base: base.map(str::to_owned), ..Choices::default() };
        let said = shipped("arrays", choices, &[shape(64); 3]).unwrap_err();
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn invalid_comparison_is_refused_with_a_reason() {
    let plain = Choices::default;
    for (plan, choices, targets, says) in [
        ("devices", plain(), 1, "one drive is named"),
        ("arrays", plain(), 1, "one target is named"),
        ("devices", Choices { arrays: 1, ..plain() }, 2, "one drive is named"),
        ("processes", plain(), 2, "2 are named"),
        ("processes", Choices { processes: Some(vec![4]), ..plain() }, 1, "two numbers"),
        ("processes", Choices { processes: Some(vec![1, 0]), ..plain() }, 1, "0 processes"),
        ("saturation", Choices { arrays: 1, ..plain() }, 3, "--array applies to other"),
        ("saturation", plain(), 129, "129 drives are named: at most 128"),
        ("area", Choices { area: Some("1GiB".into()), ..plain() }, 1, "--area"),
        ("standard", Choices { base: Some("1".into()), ..plain() }, 1, "--base needs a plan"),
        (
            "quick",
            Choices { processes: Some(vec![1, 4]), ..plain() },
            1,
            "--processes needs a plan",
        ),
    ] {
        let said = shipped(plan, choices, &vec![shape(64); targets]).unwrap_err();
        assert!(said.contains(says), "{plan}: {said}");
    }
}

#[test]
fn plan_without_comparison_has_no_comparison_keys() {
    let plan = shipped("standard", Choices::default(), &[shape(64)]).unwrap();
    assert!(!plan.text().contains("comparison") && !plan.text().contains("variant"));
}
