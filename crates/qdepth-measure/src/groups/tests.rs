//! Simulated campaigns: rate of wrong verdicts, and rate of detected differences.

use super::*;
use crate::permutation_test::Draw;

/// Campaigns of each case.
const CAMPAIGNS: u32 = 500;
const RUNS: usize = 10;
/// Points of a table.
const POINTS: usize = 12;

/// Model of scatter: logarithms of a table with these numbers of rows and runs, without any
/// difference.
type Scatter = fn(&mut Draw, usize, usize) -> Vec<Vec<f64>>;

/// Draws each figure independently.
fn each(rows: usize, runs: usize, mut figure: impl FnMut(usize) -> f64) -> Vec<Vec<f64>> {
    (0..rows).map(|row| (0..runs).map(|_| figure(row)).collect()).collect()
}

fn mode(draw: &mut Draw, half: f64) -> f64 {
    if draw.uniform() < 0.5 { -half } else { half }
}

const CASES: [(&str, Scatter); 9] = [
    ("independent", |draw, rows, runs| each(rows, runs, |_| 0.03 * draw.normal())),
    ("bimodal", |draw, rows, runs| each(rows, runs, |_| mode(draw, 0.03) + 0.005 * draw.normal())),
    ("far-modes", |draw, rows, runs| each(rows, runs, |_| mode(draw, 0.1) + 0.005 * draw.normal())),
    ("one-bimodal", |draw, rows, runs| {
        each(rows, runs, |row| {
            let mode = mode(draw, 0.05);
            0.005 * draw.normal() + if row == 0 { mode } else { 0.0 }
        })
    }),
    ("outliers", |draw, rows, runs| {
        each(rows, runs, |_| 0.02 * draw.normal() - if draw.uniform() < 0.05 { 0.2 } else { 0.0 })
    }),
    ("skewed", |draw, rows, runs| each(rows, runs, |_| -0.03 * (1.0 - draw.uniform()).ln())),
    ("unlike-rows", |draw, rows, runs| {
        let scale: Vec<f64> = (0..rows).map(|_| 0.02 * (0.6 * draw.normal()).exp()).collect();
        each(rows, runs, |row| scale[row] * draw.normal())
    }),
    ("whole-runs", |draw, rows, runs| {
        let run: Vec<f64> = (0..runs).map(|_| 0.02 * draw.normal()).collect();
        (0..rows).map(|_| run.iter().map(|x| x + 0.005 * draw.normal()).collect()).collect()
    }),
    ("modes-of-runs", |draw, rows, runs| {
        let run: Vec<f64> = (0..runs).map(|_| mode(draw, 0.05)).collect();
        (0..rows).map(|_| run.iter().map(|x| x + 0.005 * draw.normal()).collect()).collect()
    }),
];

/// Pooled ratios of two sides with this scatter. The first row of B is changed by `factor`.
fn table(
    draw: &mut Draw,
    scatter: Scatter,
    rows: usize,
    runs: usize,
    factor: f64,
) -> Vec<Option<Ratio>> {
    let all = scatter(draw, rows, 2 * runs);
    let figures = |side: &[f64], factor: f64| -> Vec<f64> {
        side.iter().map(|log| 1000.0 * factor * log.exp()).collect()
    };
    let row = |(index, logs): (usize, &Vec<f64>)| {
        let (a, b) = logs.split_at(runs);
        let factor = if index == 0 { factor } else { 1.0 };
        ratio(&figures(a, 1.0), &figures(b, factor), None)
    };
    pooled(&all.iter().enumerate().map(row).collect::<Vec<_>>())
}

/// False alarms over a whole table of few and of many rows and runs, and coverage of the intervals.
#[test]
fn false_alarms_over_a_table_are_within_alpha() {
    let more = std::env::var("QDEPTH_TRIES").ok().and_then(|tries| tries.parse().ok());
    let campaigns: u32 = more.unwrap_or(CAMPAIGNS);
    let wrong = |verdict: &Verdict| matches!(verdict, Verdict::Higher | Verdict::Lower);
    let share = |count: u32| f64::from(count) / f64::from(campaigns);
    // Three standard errors of a share of 5 %.
    let error = 3.0 * (0.05 * 0.95 / f64::from(campaigns)).sqrt();
    let mut results = String::new();
    for (name, scatter) in CASES {
        for (rows, runs) in [(1, 3), (POINTS, 3), (POINTS, 4), (60, 4), (POINTS, RUNS)] {
            let mut draw = Draw::new((name.len() + 100 * rows + runs) as u64);
            let (mut alarms, mut covered) = (0, 0);
            for _ in 0..campaigns {
                let same = table(&mut draw, scatter, rows, runs, 1.0);
                alarms += u32::from(verdicts(&same, 0.0, 1).iter().any(wrong));
                let first = same[0].unwrap();
                covered += u32::from(first.low <= 1.0 && 1.0 <= first.high);
            }
            let [alarms, covered] = [alarms, covered].map(share);
            let case = format!("{name}-{rows}-{runs}");
            results += &format!(" {case}-alarms={alarms:.3} {case}-coverage={covered:.3}");
            assert!(alarms <= 0.05 + error, "{name}, {rows} rows, {runs} runs: {alarms}");
            // A few runs of a model with two modes may all be in one mode: no interval has its
            // coverage then.
            let has_modes = name.contains("mod") && runs < RUNS;
            let least = if has_modes { 0.85 } else { 0.95 - error };
            assert!(covered >= least, "{name}, {rows} rows, {runs} runs: {covered}");
        }
    }
    println!("TRIES groups {campaigns}{results}");
}

/// A few runs find a loss of 10 % of one figure among many, at a scatter of 2 %.
#[test]
fn four_runs_find_a_ten_percent_loss() {
    let more = std::env::var("QDEPTH_TRIES").ok().and_then(|tries| tries.parse().ok());
    let campaigns: u32 = more.unwrap_or(CAMPAIGNS);
    let scatter: Scatter = |draw, rows, runs| each(rows, runs, |_| 0.02 * draw.normal());
    let mut results = String::new();
    for rows in [1, POINTS, 60] {
        let mut draw = Draw::new(rows as u64);
        let mut found = 0;
        for _ in 0..campaigns {
            let less = table(&mut draw, scatter, rows, 4, 0.9);
            found += u32::from(verdicts(&less, 0.02, 1)[0] == Verdict::Lower);
        }
        let found = f64::from(found) / f64::from(campaigns);
        results += &format!(" rows-{rows}={found:.3}");
        assert!(found >= 0.95, "{rows} rows: {found}");
    }
    println!("TRIES groups-power {campaigns}{results}");
}

/// Model of dependent runs: the logarithms of 2 N runs in the order of time.
type RunModel = fn(&mut Draw, usize) -> Vec<f64>;

/// First-order autoregression from run to run, 3 % in all.
fn autoregression(draw: &mut Draw, count: usize, rho: f64) -> Vec<f64> {
    let mut x = draw.normal();
    let mut next = || {
        x = rho * x + (1.0 - rho * rho).sqrt() * draw.normal();
        0.03 * x
    };
    (0..count).map(|_| next()).collect()
}

/// A trend plus noise of 2 %.
fn beside_noise(draw: &mut Draw, count: usize, at: impl Fn(f64) -> f64) -> Vec<f64> {
    (0..count).map(|run| at(run as f64) + 0.02 * draw.normal()).collect()
}

const RUN_MODELS: [(&str, RunModel); 5] = [
    ("ar-0.5", |draw, count| autoregression(draw, count, 0.5)),
    ("ar-0.9", |draw, count| autoregression(draw, count, 0.9)),
    ("saw-tooth", |draw, count| {
        // For example garbage collection every seven runs: 6 % from top to bottom.
        let phase = 7.0 * draw.uniform();
        beside_noise(draw, count, |run| 0.06 * (((run + phase) / 7.0).fract() - 0.5))
    }),
    ("drift", |draw, count| beside_noise(draw, count, |run| 0.005 * run)),
    ("days", |draw, count| {
        // The second half of the campaign ran on another day, 5 % slower.
        let first = draw.uniform() * count as f64;
        beside_noise(draw, count, |run| if run < first { 0.0 } else { -0.05 })
    }),
];

/// Both sides of a table of one figure: interleaved in blocks of random order, as a campaign
/// measures them, or one side after the other.
fn sides(draw: &mut Draw, model: RunModel, factor: f64, interleaved: bool) -> [Vec<f64>; 2] {
    let all = model(draw, 2 * RUNS);
    let mut sides = [Vec::new(), Vec::new()];
    for (index, noise) in all.iter().enumerate() {
        let side = if interleaved { index % 2 } else { index / RUNS };
        sides[side].push(1000.0 * noise.exp());
    }
    if interleaved {
        for block in 0..RUNS {
            if draw.uniform() < 0.5 {
                let [a, b] = &mut sides;
                std::mem::swap(&mut a[block], &mut b[block]);
            }
        }
    }
    sides[1].iter_mut().for_each(|figure| *figure *= factor);
    sides
}

#[test]
fn correlated_interleaved_runs_keep_false_alarms_within_alpha() {
    let more = std::env::var("QDEPTH_TRIES").ok().and_then(|tries| tries.parse().ok());
    let campaigns: u32 = more.unwrap_or(CAMPAIGNS);
    let mut results = String::new();
    for (name, model) in RUN_MODELS {
        let mut draw = Draw::new(name.len() as u64);
        let (mut alarms, mut covered, mut found, mut in_turn) = (0, 0, 0, 0);
        let wrong = |verdict: &Verdict| matches!(verdict, Verdict::Higher | Verdict::Lower);
        for _ in 0..campaigns {
            let mut table = |factor, interleaved| -> Vec<Option<Ratio>> {
                let mut drawn = || {
                    let [a, b] = sides(&mut draw, model, factor, interleaved);
                    ratio(&a, &b, None)
                };
                pooled(&(0..POINTS).map(|_| drawn()).collect::<Vec<_>>())
            };
            let same = table(1.0, true);
            alarms += u32::from(verdicts(&same, 0.0, 1).iter().any(wrong));
            let first = same[0].unwrap();
            covered += u32::from(first.low <= 1.0 && 1.0 <= first.high);
            let differs = table(1.05, true)[0];
            found += u32::from(verdicts(&[differs], 0.0, 1) == [Verdict::Higher]);
            in_turn += u32::from(verdicts(&table(1.0, false), 0.0, 1).iter().any(wrong));
        }
        let share = |count: u32| f64::from(count) / f64::from(campaigns);
        let [alarms, covered, found, in_turn] = [alarms, covered, found, in_turn].map(share);
        results += &format!(
            " {name}-alarms={alarms:.3} {name}-coverage={covered:.3} {name}-power={found:.3} \
             {name}-in-turn={in_turn:.3}"
        );
        let error = 3.0 * (0.05 * 0.95 / f64::from(campaigns)).sqrt();
        assert!(alarms <= 0.05 + error, "{name}: {alarms}");
        // Correlation within a block can only make the interval wider than necessary.
        assert!(covered >= 0.95 - error, "{name}: {covered}");
    }
    println!("TRIES groups-in-blocks {campaigns}{results}");
}

#[test]
fn interim_checks_keep_false_alarms_within_alpha() {
    const INTERIM_CHECKS: [usize; 5] = [6, 9, 14, 20, 30];
    let more = std::env::var("QDEPTH_TRIES").ok().and_then(|tries| tries.parse().ok());
    let campaigns: u32 = more.unwrap_or(CAMPAIGNS / 2);
    let mut draw = Draw::new(13);
    let (mut alarms, mut equal, mut blocks) = (0, 0, 0);
    for _ in 0..campaigns {
        let noise = |draw: &mut Draw| 1000.0 * (0.015 * draw.normal()).exp();
        let mut all = vec![[Vec::new(), Vec::new()]; POINTS];
        for (check, runs) in INTERIM_CHECKS.into_iter().enumerate() {
            for side in all.iter_mut().flatten() {
                side.resize_with(runs, || noise(&mut draw));
            }
            let ratios: Vec<_> = all.iter().map(|[a, b]| ratio(a, b, None)).collect();
            let ratios = pooled(&ratios);
            let judged = verdicts(&ratios, 0.02, INTERIM_CHECKS.len() as u32);
            let open = judged.iter().any(|verdict| matches!(verdict, Verdict::CannotTell { .. }));
            if !open || check + 1 == INTERIM_CHECKS.len() {
                blocks += runs;
                let wrong =
                    |verdict: &&Verdict| matches!(verdict, Verdict::Higher | Verdict::Lower);
                alarms += u32::from(judged.iter().any(|verdict| wrong(&verdict)));
                equal += u32::from(judged.iter().all(|verdict| *verdict == Verdict::Equal));
                break;
            }
        }
    }
    let share = |count: u32| f64::from(count) / f64::from(campaigns);
    let mean = blocks as f64 / f64::from(campaigns);
    println!(
        "TRIES groups-until {campaigns} alarms={:.3} all-equal={:.3} blocks={mean:.1}",
        share(alarms),
        share(equal)
    );
    let error = 3.0 * (0.05 * 0.95 / f64::from(campaigns)).sqrt();
    assert!(share(alarms) <= 0.05 + error, "{}", share(alarms));
}

#[test]
fn single_runs_need_a_history_for_a_verdict() {
    assert_eq!(ratio(&[100.0], &[150.0], None), None);
    assert_eq!(verdicts(&[None], 0.02, 1), [Verdict::CannotTell { more: None }]);
    let history = Spread::from_figures(&[100.0, 101.0, 99.0, 100.5, 99.5]).unwrap();
    let known = ratio(&[100.0], &[150.0], Some(history));
    assert_eq!(verdicts(&[known], 0.02, 1), [Verdict::Higher]);
    let near = ratio(&[100.0], &[100.9], Some(history)).unwrap();
    assert!(near.low < 1.0 && near.high > 1.0, "{near:?}");
    assert_eq!(Spread::from_figures(&[1.0, 2.0]), None, "two are no history");
}

#[test]
fn constant_figures_are_equal_or_different() {
    let same = ratio(&[7.0, 7.0], &[7.0, 7.0], None);
    assert_eq!(verdicts(&[same], 0.02, 1), [Verdict::Equal]);
    let other = ratio(&[7.0, 7.0], &[8.0, 8.0], None);
    assert_eq!(verdicts(&[other], 0.02, 1), [Verdict::Higher]);
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(ratio(&[7.0, wrong], &[7.0, 7.0], None), None, "{wrong}");
    }
    assert_eq!(ratio(&[], &[1.0], None), None);
}

#[test]
fn wide_interval_states_the_number_of_further_runs() {
    let near: Vec<f64> = (0..10).map(|run| 1000.0 + f64::from(run % 3)).collect();
    let nearly: Vec<f64> = near.iter().map(|figure| figure * 1.005).collect();
    assert_eq!(verdicts(&[ratio(&near, &nearly, None)], 0.02, 1), [Verdict::Equal]);
    let wide = ratio(&[980.0, 1000.0, 1020.0], &[990.0, 1010.0, 1030.0], None);
    let [Verdict::CannotTell { more: Some(more) }] = verdicts(&[wide], 0.02, 1)[..] else {
        panic!("{wide:?}");
    };
    assert!((10..=200).contains(&more), "{more}");
    // Two runs a side may be in two modes by chance; three runs a side that are far apart are not.
    let two = ratio(&[10.0, 10.1], &[20.0, 20.1], None);
    assert_eq!(verdicts(&pooled(&[two]), 0.02, 1), [Verdict::CannotTell { more: Some(1) }]);
    let three = ratio(&[10.0, 10.1, 10.2], &[20.0, 20.1, 20.3], None);
    assert_eq!(verdicts(&pooled(&[three]), 0.02, 1), [Verdict::Higher]);
}

#[test]
fn holm_rejects_only_below_stepwise_thresholds() {
    let p = [Some(0.01), None, Some(0.04), Some(0.03), Some(0.005)];
    assert_eq!(holm(&p, ALPHA), [true, false, false, false, true]);
    assert_eq!(holm(&[Some(0.04)], ALPHA), [true]);
}
