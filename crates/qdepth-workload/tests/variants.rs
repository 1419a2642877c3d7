//! Plans whose columns are differently prepared storage.

use qdepth_workload::*;

const SHAPE: TargetShape =
    TargetShape::whole(Extent { offset_bytes: 0, length_bytes: 1 << 30 }, 512);

const PLAN: &str = r#"
name = "forms"
profiles = ["database"]
queue_depth = [1, 8]
[[prepare]]
step = "setting"
path = "/sys/x"
value = "1"
[[variant]]
name = "xfs"
target = "/mnt/x"
prepare = [{ step = "mount", at = "/mnt/x", device = "/dev/x" }]
[[variant]]
name = "raw"
target = "/dev/x"
"#;

#[cfg(test)]
fn alone(text: &str, choices: &Choices) -> Result<Vec<(PlanFile, Choices)>, String> {
    let file: PlanFile = toml::from_str(text).map_err(|error| error.to_string())?;
    file.alone(choices).map_err(|error| error.to_string())
}

#[test]
fn variants_are_separate_plans_and_one_comparison() {
    let choices = Choices { base: Some("raw".into()), ..Choices::default() };
    let file: PlanFile = toml::from_str(PLAN).unwrap();
    let parts = alone(PLAN, &choices).unwrap();
    let plans: Vec<Plan> =
        parts.iter().map(|(file, choices)| resolve(file, choices, &[SHAPE]).unwrap()).collect();
    let steps: Vec<usize> = plans.iter().map(|plan| plan.prepare.len()).collect();
    assert_eq!(steps, [2, 1], "those of the plan, then its own");
    assert_eq!(plans[1].name, "forms (raw)");
    let seeds = |plan: &Plan| plan.points.iter().map(|point| point.seed).collect::<Vec<_>>();
    assert_eq!(seeds(&plans[0]), seeds(&plans[1]), "each is asked for the same");
    let plan = side_by_side(&file, &choices, plans).unwrap();
    let told: Vec<_> = plan
        .points
        .iter()
        .map(|p| (p.index, p.group, p.variant, p.target, p.queue_depth))
        .collect();
    assert_eq!(
        told,
        [
            (0, 0, Some(0), 0, 1),
            (1, 1, Some(0), 0, 8),
            (2, 2, Some(1), 1, 1),
            (3, 3, Some(1), 1, 8)
        ]
    );
    assert!(plan.prepares(), "so it is not resumed");
    let comparison = plan.comparison.as_ref().unwrap();
    assert_eq!((comparison.base, comparison.variants[0].prepare.len()), (1, 2));
    assert_eq!(Plan::from_text(&plan.text()).as_ref(), Ok(&plan));
}

#[test]
fn preconditioning_of_variants_keeps_its_order() {
    let step = "prepare = [{ step = \"precondition\", method = \"random\" }]";
    let text = "name=\"t\"\nprofiles=[\"database\"]\nqueue_depth=[1]\n[[variant]]\nname=\"a\"\n\
                target=\"a\"\nSTEP\n[[variant]]\nname=\"b\"\ntarget=\"b\"\nSTEP\n";
    let text = text.replace("STEP", step);
    let file: PlanFile = toml::from_str(&text).unwrap();
    let parts = alone(&text, &Choices::default()).unwrap();
    let plans = parts.iter().map(|(file, choices)| resolve(file, choices, &[SHAPE]).unwrap());
    let plan = side_by_side(&file, &Choices::default(), plans.collect()).unwrap();
    let told: Vec<_> = plan.precondition.iter().map(|p| (p.index, p.group, p.target)).collect();
    assert_eq!(told, [(0, 0, 0), (1, 1, 1)]);
    let of_second = plan.precondition.iter().filter(|point| point.target == 1);
    assert_eq!(of_second.map(Point::bytes_of_streams).sum::<u64>(), 1 << 30);
}

#[test]
fn incomparable_variants_are_refused() {
    let none = Choices::default();
    assert_eq!(alone("name=\"t\"\nprofiles=[\"database\"]", &none).unwrap().len(), 0);
    let two = PLAN.replace("name = \"raw\"", "name = \"xfs\"");
    let single = PLAN.split("[[variant]]\nname = \"raw\"").next().unwrap();
    let steps = format!("{PLAN}[[step]]\ntitle = \"s\"\nload = []\n");
    let areas = format!("{PLAN}[comparison]\nof = \"areas\"\n");
    let target = format!("{PLAN}[[target]]\npath = \"x\"\n");
    for (text, says) in [
        (two.as_str(), "the name `xfs` must not be empty or used twice"),
        (single, "at least two variants"),
        (&steps, "without steps"),
        (&areas, "of = \"targets\""),
        (&target, "each variant names its own target"),
    ] {
        let refused = alone(text, &none).unwrap_err();
        assert!(refused.contains(says), "{refused}");
    }
    let names = Choices { variants: Some(vec!["a".into()]), ..Choices::default() };
    assert!(alone(PLAN, &names).unwrap_err().contains("remove --variants"));
    let file: PlanFile = toml::from_str(PLAN).unwrap();
    let base = Choices { base: Some("zfs".into()), ..Choices::default() };
    let plans: Vec<Plan> = alone(PLAN, &base)
        .unwrap()
        .iter()
        .map(|(file, choices)| resolve(file, choices, &[SHAPE]).unwrap())
        .collect();
    let refused = side_by_side(&file, &base, plans).unwrap_err().to_string();
    assert!(refused.contains("no such variant"), "{refused}");
}
