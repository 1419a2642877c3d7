//! The plans after SNIA's tests: complete in virtual time, shortened in a directory.

use crate::common::{Workspace, points};

/// Plans with their numbers of points and shortening options. Pauses of `pts-hir` do not depend on
/// `--duration`, so it runs in virtual time only.
#[cfg(test)]
const PLANS: [(&str, usize, &str); 6] = [
    ("pts-iops", 56, "50ms"),
    ("pts-throughput", 4, "100ms"),
    ("pts-latency", 9, "100ms"),
    ("pts-wsat", 1, "500ms"),
    ("pts-xsr", 3, "200ms"),
    ("pts-hir", 36, "200ms"),
];

#[test]
fn every_pts_plan_runs_on_emulated_device() {
    let workspace = Workspace::new();
    for (plan, count, duration) in PLANS {
        let words =
            format!("run {plan} media:p3700-800gb --duration {duration} --no-report --json");
        let document = workspace.run(&words).expect_finished().json();
        let all = points(&document);
        assert_eq!(all.len(), count, "{plan}");
        let rates = all.iter().map(|point| point["io_per_s"].as_f64().unwrap());
        assert!(rates.into_iter().all(|rate| rate > 0.0), "{plan}");
    }
}

#[test]
fn every_pts_plan_without_pauses_runs_in_directory() {
    let workspace = Workspace::new();
    for (plan, count, duration) in PLANS.iter().filter(|(plan, ..)| *plan != "pts-hir") {
        let words =
            format!("run {plan} . --duration {duration} --file-size 64MiB --no-report --json");
        let document = workspace.run(&words).expect_finished().json();
        assert_eq!(points(&document).len(), *count, "{plan}");
    }
}

/// Pauses are not measured, and what follows them is: 5 s of writes each.
#[test]
fn idle_recovery_plan_pauses_before_each_write_point() {
    let workspace = Workspace::new();
    let words = "run pts-hir media:sas-2-ssd-400gb --no-report --json";
    let document = workspace.run(words).expect_finished().json();
    let all = points(&document);
    let after =
        all.iter().filter(|point| point["step"].as_str().unwrap().starts_with("after 50 s"));
    let after: Vec<_> = after.collect();
    assert_eq!(after.len(), 6);
    for point in after {
        assert_eq!(point["duration_ns"].as_u64(), Some(5_000_000_000), "{point:#}");
    }
}

/// The figures of a line that begins with these words, without marks of thousands.
#[cfg(test)]
fn line(out: &str, head: &str) -> Vec<f64> {
    let line = out.lines().find(|line| line.starts_with(head));
    let rest = line.unwrap_or_else(|| panic!("{head}: {out}"))[head.len()..].replace(',', "");
    rest.split_whitespace().map_while(|word| word.parse().ok()).collect()
}

#[test]
fn pts_tables_contain_the_snia_figures() {
    let workspace = Workspace::new();
    let run = |plan: &str, duration: &str| {
        let words = format!("run {plan} media:p3700-800gb --duration {duration} --no-report");
        let out = workspace.run(&words).expect_finished().out;
        assert!(out.contains("EMULATED"), "{out}");
        (out, workspace.run("export").expect_finished().json())
    };
    let near = |told: f64, known: &serde_json::Value| {
        let known = known.as_f64().unwrap();
        assert!((told / known - 1.0).abs() < 0.006, "{told} for {known}");
    };
    let (out, document) = run("pts-iops", "50ms");
    let told = line(&out, "4 KiB ");
    let writes = points(&document).iter().filter(|point| point["block_size"] == "4KiB");
    let rates: Vec<_> = writes.map(|point| point["io_per_s"].clone()).collect();
    assert_eq!((told.len(), rates.len()), (7, 7), "{out}");
    told.into_iter().zip(&rates).for_each(|(told, known)| near(told, known));
    let (out, _) = run("pts-latency", "100ms");
    // No command prints a matrix of several rounds.
    assert!(out.contains("five steady rounds") && !out.contains("--repeat"), "{out}");
    for figure in ["Mean", "p99.999", "Max"] {
        assert!(out.contains(&format!("512 B, {figure}")), "{out}");
    }
    // In the first tenth of a shorter point, the throughput is not steady.
    let (out, document) = run("pts-xsr", "2s");
    near(line(&out, "stimulus, Random 8 ")[0], &points(&document)[1]["mib_per_s"]);
    // The device recovers at once: the second sample of 100 ms has the full rate.
    assert!(out.lines().any(|line| line.starts_with("after") && line.contains("200 ms")), "{out}");
    let (out, document) = run("pts-hir", "200ms");
    let all = points(&document);
    let told = line(&out, "50 s ");
    near(told[1], &all[all.len() - 7]["io_per_s"]);
    assert!(out.contains("no pause changes the rate of the writes after it"), "{out}");
    // The pause is the plan's, whatever its steps are called.
    let own = include_str!("../../../plans/pts-hir.toml").replace("\"after ", "\"rested ");
    workspace.write("own.toml", &own);
    let (renamed, _) = run("own.toml", "200ms");
    assert_eq!(line(&renamed, "50 s "), told);
    let (out, document) = run("pts-wsat", "5s");
    let rows = out.lines().filter(|line| line.contains("B ") && line.ends_with("EMULATED"));
    assert_eq!(rows.count(), 25, "{out}");
    assert_eq!(points(&document).len(), 1);
}
