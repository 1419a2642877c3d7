//! Worked examples of rounds, TKperf's rule compared with SNIA's, and simulated series with a known
//! state.

use super::*;
use crate::permutation_test::Draw;

#[test]
fn snia_window_has_every_required_figure() {
    // Worked by hand: mean 20 000; line through (1..5): slope −210.
    let rounds = [20_500.0, 20_000.0, 20_300.0, 19_500.0, 19_700.0];
    let window = Window::from_rounds(&rounds).unwrap();
    assert!((window.mean - 20_000.0).abs() < 1e-9);
    assert!((window.range - 1000.0).abs() < 1e-9 && (window.range_allowed() - 4000.0).abs() < 1e-9);
    assert!((window.line.slope + 210.0).abs() < 1e-9, "{window:?}");
    assert!((window.line.intercept - 20_630.0).abs() < 1e-9, "{window:?}");
    assert!((window.slope_excursion() - 840.0).abs() < 1e-9);
    assert!((window.slope_allowed() - 2000.0).abs() < 1e-9);
    assert!(window.is_steady() && window.last == 5);
    assert_eq!(Window::from_rounds(&rounds[1..]), None, "four rounds are no window");
    assert_eq!(Window::from_rounds(&[1.0, 2.0, 0.0, 1.0, 1.0]), None);
}

#[test]
fn values_at_the_snia_limits_are_steady() {
    // Range exactly 20 % of the mean, no slope; then a hair more.
    assert!(Window::from_rounds(&[100.0, 90.0, 110.0, 100.0, 100.0]).unwrap().is_steady());
    assert!(!Window::from_rounds(&[100.0, 89.9, 110.0, 100.1, 100.0]).unwrap().is_steady());
    // A line that falls by exactly 10 % of its mean over the window; then a hair more.
    let line = |fall: f64| [0.0, 1.0, 2.0, 3.0, 4.0].map(|n| 1000.0 - fall * (n - 2.0));
    assert!(Window::from_rounds(&line(25.0)).unwrap().is_steady());
    assert!(!Window::from_rounds(&line(25.01)).unwrap().is_steady());
}

/// TKperf's `StdyState.checkSteadyState` as it is written: range over 20 % of the mean, or slope
/// times its window of 4 over 10 % of it.
fn tkperf(ys: &[f64]) -> bool {
    let n = ys.len() as f64;
    let average = ys.iter().sum::<f64>() / n;
    let xs: Vec<f64> = (0..ys.len()).map(|x| x as f64).collect();
    let (sx, sxx) = (xs.iter().sum::<f64>(), xs.iter().map(|x| x * x).sum::<f64>());
    let sxy: f64 = xs.iter().zip(ys).map(|(x, y)| x * y).sum();
    let k = (n * sxy - sx * ys.iter().sum::<f64>()) / (n * sxx - sx * sx);
    let most = ys.iter().copied().fold(f64::MIN, f64::max);
    let least = ys.iter().copied().fold(f64::MAX, f64::min);
    most - least <= average * 0.20 && (k * 4.0).abs() <= average * 0.10
}

#[test]
fn snia_verdicts_match_tkperf_in_every_round() {
    let mut draw = Draw::new(3);
    let (mut steady, mut rounds) = (0, 0);
    for series in 0..400 {
        let (height, tau) = (9.0 * draw.uniform(), 0.5 + 10.0 * draw.uniform());
        let noise = 0.12 * draw.uniform();
        let rate = |round: usize, draw: &mut Draw| {
            (1.0 + height * (-(round as f64) / tau).exp()) * (noise * draw.normal()).exp()
        };
        let all: Vec<f64> = (0..ROUNDS_MAX).map(|round| 5e4 * rate(round, &mut draw)).collect();
        let mut first = None;
        for end in WINDOW_ROUNDS..=ROUNDS_MAX {
            let theirs = tkperf(&all[end - WINDOW_ROUNDS..end]);
            let ours = Window::from_rounds(&all[..end]).unwrap().is_steady();
            assert_eq!(ours, theirs, "series {series}, round {end}");
            first = first.or(theirs.then_some(end));
            rounds += 1;
            steady += u32::from(ours);
        }
        assert_eq!(first_steady(&all).map(|window| window.last), first);
    }
    assert!(steady > 1000 && rounds - steady > 1000, "{steady} of {rounds}: both were tried");
}

/// Factor between the numbers of samples of successive interim checks: each check may be the wrong
/// one.
const CHECK_FACTOR: f64 = 1.25;

/// The verdict of the first interim check that finds a level, as in a run; else that of the last
/// check.
fn run(series: &[f64], least: usize) -> (SteadyState, f64) {
    let mut end = least.max(SAMPLES_MIN);
    loop {
        let seen = steadiness(&series[..end.min(series.len())], least);
        if seen.state.has_level() || end >= series.len() {
            return (seen.state, seen.level);
        }
        end = (end as f64 * CHECK_FACTOR) as usize + 1;
    }
}

fn tries(standard: u32) -> u32 {
    std::env::var("QDEPTH_TRIES").ok().and_then(|t| t.parse().ok()).unwrap_or(standard)
}

#[test]
fn slow_decline_is_not_steady_before_its_end() {
    let cliffs = tries(150);
    let mut draw = Draw::new(11);
    let (mut levels_found, mut biased, mut worst, mut by_snia) = (0u32, 0u32, 0.0f64, 0u32);
    for _ in 0..cliffs {
        let height = 1.0 + 8.0 * draw.uniform();
        let tau = 3.0 * 100f64.powf(draw.uniform());
        let length = (20.0 * tau) as usize + 100;
        let rate = |n: usize, draw: &mut Draw| {
            (1.0 + height * (-(n as f64) / tau).exp()) * (1.0 + 0.02 * draw.normal())
        };
        let series: Vec<f64> = (0..length).map(|n| rate(n, &mut draw)).collect();
        // Number of samples in which the load writes everything twice.
        let (state, level) = run(&series, (2.0 * tau) as usize);
        if state.has_level() {
            levels_found += 1;
            biased += u32::from((level - 1.0).abs() > 0.05);
            worst = worst.max((level - 1.0).abs());
        }
        let snia = first_steady(&series).map_or(0.0, |window| window.mean - 1.0);
        by_snia += u32::from(snia.abs() > 0.05);
    }
    println!(
        "TRIES steady-cliffs {cliffs} claims={levels_found} biased={biased} worst={worst:.3} \
         biased-by-snia={by_snia}"
    );
    assert!(f64::from(biased) <= 0.01 * f64::from(levels_found), "{biased} of {levels_found}");
    assert!(f64::from(levels_found) >= 0.95 * f64::from(cliffs), "{levels_found} of {cliffs}");
    assert!(by_snia > cliffs / 2, "what SNIA's rule alone does: {by_snia}");
}

/// True if a state is correct for the series.
type IsRight = fn(SteadyState) -> bool;
type Process = fn(&mut Draw, usize) -> Vec<f64>;

const STEADY: [(&str, Process); 3] = [
    ("noise-2", |draw, n| (0..n).map(|_| 1.0 + 0.02 * draw.normal()).collect()),
    ("noise-10", |draw, n| (0..n).map(|_| 1.0 + 0.1 * draw.normal()).collect()),
    ("ar-0.5", |draw, n| {
        let mut x = 0.0;
        let mut next = || {
            x = 0.5 * x + 0.75f64.sqrt() * draw.normal();
            1.0 + 0.04 * x
        };
        (0..n).map(|_| next()).collect()
    }),
];

const NEVER: [(&str, Process, IsRight); 4] = [
    (
        "fall",
        |draw, n| (0..n).map(|k| 0.995f64.powi(k as i32) + 0.01 * draw.normal()).collect(),
        |state| matches!(state, SteadyState::Drifting { rises: false }),
    ),
    (
        "rise",
        |draw, n| (0..n).map(|k| 1.0 + 0.01 * k as f64 + 0.01 * draw.normal()).collect(),
        |state| matches!(state, SteadyState::Drifting { rises: true }),
    ),
    (
        "random-walk",
        |draw, n| {
            let mut x = 0.0f64;
            let mut next = || {
                x += 0.05 * draw.normal();
                x.exp()
            };
            (0..n).map(|_| next()).collect()
        },
        |state| !state.has_level(),
    ),
    (
        // The last half holds less than two cycles.
        "wave",
        |draw, n| {
            let phase = TAU * draw.uniform();
            let at = |k: usize| 1.0 + 0.25 * (phase + TAU * k as f64 / 60.0).sin();
            (0..n).map(|k| at(k) + 0.02 * draw.normal()).collect()
        },
        |state| !state.has_level(),
    ),
];

#[test]
fn only_steady_processes_are_accepted_as_steady() {
    let count = tries(60);
    let share = |found: usize| found as f64 / f64::from(count);
    let mut draw = Draw::new(5);
    let (mut results, mut all_claimed) = (String::new(), 0.0);
    for (name, process) in STEADY {
        let accepted = (0..count).filter(|_| run(&process(&mut draw, 200), 40).0.has_level());
        let accepted = accepted.count();
        results += &format!(" {name}-accepted={:.3}", share(accepted));
        assert!(share(accepted) >= 0.95, "{name}: {accepted} of {count}");
    }
    for (name, process, is_right) in NEVER {
        let states: Vec<SteadyState> =
            (0..count).map(|_| run(&process(&mut draw, 200), 60).0).collect();
        let claimed = states.iter().filter(|state| state.has_level()).count();
        let right = states.iter().filter(|state| is_right(**state)).count();
        results += &format!(" {name}-claimed={:.3}", share(claimed));
        assert!(share(right) >= 0.9, "{name}: {right} of {count}");
        all_claimed += claimed as f64;
    }
    println!("TRIES never-steady {count}{results}");
    // A random walk sometimes stays near one place; one in a hundred may be called steady.
    let all = 4.0 * f64::from(count);
    assert!(all_claimed <= 0.01 * all + 3.0 * (0.01 * all).sqrt(), "{all_claimed} of {all}");
}

#[test]
fn cycle_is_found_with_its_period() {
    let mut draw = Draw::new(9);
    for period in [5.0, 12.0, 17.3] {
        let tooth = |n: usize| (n as f64 / period).fract() - 0.5;
        let rate = |n: usize, draw: &mut Draw| 1.0 + 0.4 * tooth(n) + 0.02 * draw.normal();
        let series: Vec<f64> = (0..300).map(|n| rate(n, &mut draw)).collect();
        let seen = steadiness(&series, 100);
        let SteadyState::Cyclic { period: found } = seen.state else {
            panic!("{period}: {seen:?}")
        };
        assert!((found / period - 1.0).abs() < 0.03, "{found} of {period}");
        let mean = series.iter().sum::<f64>() / 300.0;
        assert!((seen.level / mean - 1.0).abs() < 0.01, "{seen:?}");
    }
    // A cycle around a falling level is not cyclic.
    let falls = |n: usize| (2.0 - 0.004 * n as f64) * (1.0 + 0.2 * (n as f64 / 2.0).sin());
    let series: Vec<f64> = (0..300).map(falls).collect();
    assert_eq!(steadiness(&series, 100).state, SteadyState::Drifting { rises: false });
}

#[test]
fn short_or_zero_series_is_too_short() {
    assert_eq!(steadiness(&[1.0; 19], 0).state, SteadyState::TooShort);
    assert_eq!(steadiness(&[1.0; 50], 51).state, SteadyState::TooShort);
    assert_eq!(steadiness(&[0.0; 50], 0).state, SteadyState::TooShort);
    assert_eq!(steadiness(&[f64::NAN; 50], 0).state, SteadyState::TooShort);
    assert_eq!(steadiness(&[7.0; 50], 0).state, SteadyState::Steady);
    assert_eq!(steadiness(&[], 0).state, SteadyState::TooShort);
}
