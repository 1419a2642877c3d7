//! From records to verdicts.

use super::*;
use crate::Lang;
use crate::fixture;

/// So many runs of the fixture, with rates scaled by `factor` and by a little of each run's own.
fn group(id: &str, runs: u32, factor: f64) -> Vec<Measured> {
    let one = |number: u32| {
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
    (0..runs).map(one).collect()
}

#[test]
fn groups_of_runs_get_a_verdict_for_each_figure() {
    let (a, b) = (group("a", 8, 1.0), group("b", 8, 0.9));
    let slower = versus(("before", &a), ("after", &b), &[], 0.02, 1);
    let rates: Vec<&VersusRow> =
        slower.rows.iter().filter(|row| !row.figure.ends_with("_ns")).collect();
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
        let said = versus_sentences(&slower, lang);
        assert!(said[0].contains(&slower.count("slower").to_string()), "{said:?}");
        assert!(!said.iter().any(|sentence| sentence.contains('{')), "{said:?}");
    }
}

#[test]
fn single_runs_tell_nothing_unless_earlier_ones_do() {
    let (a, b) = (group("a", 1, 1.0), group("b", 1, 0.8));
    let alone = versus(("a", &a), ("b", &b), &[], 0.02, 1);
    assert_eq!(alone.count("cannot-tell"), alone.rows.len());
    let said = versus_sentences(&alone, Lang::En);
    assert!(said[2].starts_with("One run a side"), "{said:?}");
    let earlier = group("e", 6, 1.0);
    let known = versus(("a", &a), ("b", &b), &earlier, 0.02, 1);
    assert_eq!(known.history_runs, 6);
    assert!(known.rows.iter().all(|row| row.figure.ends_with("_ns") || row.verdict == "slower"));
    let mut strange = earlier;
    strange.iter_mut().for_each(|(run, _)| run.plan_hash = "other".into());
    assert_eq!(versus(("a", &a), ("b", &b), &strange, 0.02, 1).history_runs, 0);
}

#[test]
fn what_has_no_partner_and_what_else_differs_is_told() {
    let (a, mut b) = (group("a", 2, 1.0), group("b", 2, 1.0));
    for (run, points) in &mut b {
        points.retain(|point| point.outstanding != 16);
        run.qdepth_version = "9.9.9".into();
        run.environment[0].value = Ok("6.9.9".into());
    }
    let told = versus(("a", &a), ("b", &b), &[], 0.02, 1);
    assert!(!told.unmatched.is_empty());
    assert!(told.unmatched.iter().all(|alone| alone.side == "a" && alone.load.contains("× 16")));
    let differs: Vec<&str> = told.differences.iter().map(|d| d.values[1].as_str()).collect();
    assert_eq!(differs, ["9.9.9", "6.9.9"]);
    let json: serde_json::Value = serde_json::from_str(&versus_json(&told)).unwrap();
    assert_eq!(json["schema"]["name"], "qdepth-compare");
}
