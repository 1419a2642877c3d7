//! The plans after SNIA's tests: in virtual time as they are, and in a directory in little time.

#![expect(clippy::disallowed_methods, reason = "tests run the program as a user does")]

#[cfg(test)]
mod common;

use common::{Place, alone, points};

/// How many points each has, and in how little time it is tried here. The pauses of `pts-hir` do not
/// get shorter with `--duration`: it is tried in virtual time alone.
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
fn each_runs_on_an_emulated_medium() {
    let place = Place::new();
    for (plan, count, duration) in PLANS {
        let words =
            format!("run {plan} media:p3700-800gb --duration {duration} --no-report --json");
        let document = place.run(&words).expect_finished().json();
        let all = points(&document);
        assert_eq!(all.len(), count, "{plan}");
        let rates = all.iter().map(|point| point["io_per_s"].as_f64().unwrap());
        assert!(rates.into_iter().all(|rate| rate > 0.0), "{plan}");
    }
}

#[test]
fn each_that_has_no_pauses_runs_in_a_directory() {
    let (_alone, place) = (alone(), Place::new());
    for (plan, count, duration) in PLANS.iter().filter(|(plan, ..)| *plan != "pts-hir") {
        let words =
            format!("run {plan} . --duration {duration} --file-size 64MiB --no-report --json");
        let document = place.run(&words).expect_finished().json();
        assert_eq!(points(&document).len(), *count, "{plan}");
    }
}

/// Pauses are not measured, and what follows them is: 5 s of writes each.
#[test]
fn idle_recovery_waits_before_each_of_its_writes() {
    let place = Place::new();
    let words = "run pts-hir media:sas-2-ssd-400gb --no-report --json";
    let document = place.run(words).expect_finished().json();
    let all = points(&document);
    let after =
        all.iter().filter(|point| point["step"].as_str().unwrap().starts_with("after 50 s"));
    let after: Vec<_> = after.collect();
    assert_eq!(after.len(), 6);
    for point in after {
        assert_eq!(point["duration_ns"].as_u64(), Some(5_000_000_000), "{point:#}");
    }
}
