//! Simulated campaigns: how often the verdicts are wrong, and how often they find what is there.

use super::*;
use crate::deals::Draw;

/// Campaigns of each case.
const CAMPAIGNS: u32 = 500;
const RUNS: usize = 10;
/// Points of a table.
const POINTS: usize = 12;

impl Draw {
    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
    /// Box and Muller.
    fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

/// How a run differs from the mean, as a logarithm.
type Noise = fn(&mut Draw) -> f64;

const CASES: [(&str, Noise); 4] = [
    ("independent", |draw| 0.03 * draw.normal()),
    ("bimodal", |draw| if draw.uniform() < 0.5 { -0.03 } else { 0.03 } + 0.005 * draw.normal()),
    ("outliers", |draw| 0.02 * draw.normal() - if draw.uniform() < 0.05 { 0.2 } else { 0.0 }),
    ("skewed", |draw| -0.03 * (1.0 - draw.uniform()).ln()),
];

fn runs(draw: &mut Draw, noise: Noise, factor: f64) -> Vec<f64> {
    (0..RUNS).map(|_| 1000.0 * factor * noise(draw).exp()).collect()
}

#[test]
fn verdicts_over_a_table_are_wrong_in_no_more_than_their_share() {
    let more = std::env::var("QDEPTH_TRIES").ok().and_then(|tries| tries.parse().ok());
    let campaigns: u32 = more.unwrap_or(CAMPAIGNS);
    let mut told = String::new();
    for (name, noise) in CASES {
        let mut draw = Draw(name.len() as u64);
        let (mut alarms, mut covered, mut found) = (0, 0, 0);
        for _ in 0..campaigns {
            let mut table = |factor| -> Vec<Option<Ratio>> {
                let mut one = || {
                    let (a, b) = (runs(&mut draw, noise, 1.0), runs(&mut draw, noise, factor));
                    ratio(&a, &b, None)
                };
                (0..POINTS).map(|_| one()).collect()
            };
            let same = table(1.0);
            let wrong = |verdict: &Verdict| matches!(verdict, Verdict::Higher | Verdict::Lower);
            alarms += u32::from(verdicts(&same, 0.0).iter().any(wrong));
            let first = same[0].unwrap();
            covered += u32::from(first.low <= 1.0 && 1.0 <= first.high);
            let differs = table(1.05)[0];
            found += u32::from(verdicts(&[differs], 0.0) == [Verdict::Higher]);
        }
        let share = |count: u32| f64::from(count) / f64::from(campaigns);
        let [alarms, covered, found] = [alarms, covered, found].map(share);
        told += &format!(
            " {name}-alarms={alarms:.3} {name}-coverage={covered:.3} {name}-power={found:.3}"
        );
        // Three standard errors of a share of 5 %.
        let error = 3.0 * (0.05 * 0.95 / f64::from(campaigns)).sqrt();
        assert!(alarms <= 0.05 + error, "{name}: {alarms}");
        // Rare outliers widen Welch's interval beyond what it promises: 98 %.
        let most = if name == "outliers" { 0.99 } else { 0.95 + error };
        assert!((0.95 - error..=most).contains(&covered), "{name}: {covered}");
        if name == "independent" {
            assert!(found >= 0.8, "{name}: {found}");
        }
    }
    println!("TRIES groups {campaigns}{told}");
}

#[test]
fn one_run_a_side_tells_nothing_without_a_history() {
    assert_eq!(ratio(&[100.0], &[150.0], None), None);
    assert_eq!(verdicts(&[None], 0.02), [Verdict::CannotTell { more: None }]);
    let history = Spread::of(&[100.0, 101.0, 99.0, 100.5, 99.5]).unwrap();
    let known = ratio(&[100.0], &[150.0], Some(history));
    assert_eq!(verdicts(&[known], 0.02), [Verdict::Higher]);
    let near = ratio(&[100.0], &[100.9], Some(history)).unwrap();
    assert!(near.low < 1.0 && near.high > 1.0, "{near:?}");
    assert_eq!(Spread::of(&[1.0, 2.0]), None, "two are no history");
}

#[test]
fn what_never_varies_is_equal_or_differs_for_sure() {
    let same = ratio(&[7.0, 7.0], &[7.0, 7.0], None);
    assert_eq!(verdicts(&[same], 0.02), [Verdict::Equal]);
    let other = ratio(&[7.0, 7.0], &[8.0, 8.0], None);
    assert_eq!(verdicts(&[other], 0.02), [Verdict::Higher]);
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(ratio(&[7.0, wrong], &[7.0, 7.0], None), None, "{wrong}");
    }
    assert_eq!(ratio(&[], &[1.0], None), None);
}

#[test]
fn a_small_difference_is_equal_and_a_wide_interval_says_how_many_more() {
    let near: Vec<f64> = (0..10).map(|run| 1000.0 + f64::from(run % 3)).collect();
    let nearly: Vec<f64> = near.iter().map(|figure| figure * 1.005).collect();
    assert_eq!(verdicts(&[ratio(&near, &nearly, None)], 0.02), [Verdict::Equal]);
    let wide = ratio(&[980.0, 1000.0, 1020.0], &[990.0, 1010.0, 1030.0], None);
    let [Verdict::CannotTell { more: Some(more) }] = verdicts(&[wide], 0.02)[..] else {
        panic!("{wide:?}");
    };
    assert!((10..=200).contains(&more), "{more}");
    // Three runs a side can be dealt in 20 ways only: the rarest is no proof.
    let far = ratio(&[10.0, 10.1, 10.2], &[20.0, 20.1, 20.3], None);
    let Verdict::CannotTell { more: Some(more) } = verdicts(&[far], 0.02)[0] else {
        panic!("{far:?}");
    };
    assert_eq!(more, 1);
}

#[test]
fn holm_steps_down() {
    let p = [Some(0.01), None, Some(0.04), Some(0.03), Some(0.005)];
    assert_eq!(holm(&p), [true, false, false, false, true]);
    assert_eq!(holm(&[Some(0.04)]), [true]);
}
