//! Coverage of 95 % intervals: the share that contains the truth, over processes with a known mean.
//! An element of a series is a sample of 100 ms.

#[cfg(test)]
mod draws;

use qdepth_measure::{
    Estimate, Nanos, Precision, SplitMix, Tolerance, rounds_mean, segments_mean, series_mean,
};

use draws::Draws;

const SERIES: usize = 2000;
const TRUTH: f64 = 10_000.0;

/// A process of mean 0.
#[derive(Clone, Copy, Debug)]
enum Process {
    /// First-order autoregression with this coefficient and standard deviation 1.
    Ar(f64),
    /// Noise, and below it a slow part (AR(1) 0.95, 4 s) with a sixth of the variance.
    SlowBelowNoise,
    /// A saw-tooth of ±1.5 with this period in samples, at a random phase, with noise.
    Saw(f64),
    /// Two levels 2.1 apart, the upper one for 30 % of the time: drawn for each sample, or held
    /// for three samples (upper) and seven (lower) on average.
    Bimodal { held: bool },
}

impl Process {
    fn series(self, length: usize, draws: &mut Draws) -> Vec<f64> {
        match self {
            Self::Ar(rho) => {
                let mut x = draws.normal();
                let mut next = || {
                    x = rho * x + (1.0 - rho * rho).sqrt() * draws.normal();
                    x
                };
                (0..length).map(|_| next()).collect()
            }
            Self::SlowBelowNoise => {
                let slow = Self::Ar(0.95).series(length, draws);
                slow.into_iter().map(|x| 0.4 * x + 0.9 * draws.normal()).collect()
            }
            Self::Saw(period) => {
                let phase = draws.uniform();
                // Integral of the saw-tooth from 0 to `at` periods, because a count of completions
                // is a mean over its sample.
                let whole = |at: f64| at.fract() * (at.fract() - 1.0);
                let at = |n: usize| n as f64 / period + phase;
                let tooth = |n: usize| period * (whole(at(n + 1)) - whole(at(n)));
                (0..length).map(|n| 1.5 * tooth(n) + 0.5 * draws.normal()).collect()
            }
            Self::Bimodal { held } => {
                let mut upper = draws.uniform() < 0.3;
                let mut next = || {
                    let change = if upper { 1.0 / 3.0 } else { 1.0 / 7.0 };
                    if held {
                        upper ^= draws.uniform() < change;
                    } else {
                        upper = draws.uniform() < 0.3;
                    }
                    (if upper { 1.47 } else { -0.63 }) + 0.3 * draws.normal()
                };
                (0..length).map(|_| next()).collect()
            }
        }
    }
}

/// Results over all series.
#[derive(Debug)]
struct Counted {
    /// Share of the intervals that contain the truth.
    coverage: f64,
    given: f64,
    ended: f64,
    mean_length: f64,
}

/// Counts results over random series. `measure` returns an estimate, the number of samples used,
/// and true if precision ended the measurement.
fn count(
    process: Process,
    spread: f64,
    length: usize,
    measure: impl Fn(&[f64]) -> (Estimate, usize, bool),
) -> Counted {
    let (mut held, mut given, mut ended, mut samples) = (0, 0, 0, 0);
    let mut draws = Draws(SplitMix(length as u64));
    for _ in 0..SERIES {
        let deviations = process.series(length, &mut draws);
        let series: Vec<f64> = deviations.iter().map(|x| TRUTH * (1.0 + spread * x)).collect();
        let (estimate, took, precise) = measure(&series);
        samples += took;
        ended += usize::from(precise);
        if let Some((low, high)) = estimate.interval {
            given += 1;
            held += usize::from((low..=high).contains(&TRUTH));
        }
    }
    let share = |n: usize, all: usize| n as f64 / all.max(1) as f64;
    Counted {
        coverage: share(held, given),
        given: share(given, SERIES),
        ended: share(ended, SERIES),
        mean_length: share(samples, SERIES),
    }
}

fn fixed(process: Process, length: usize) -> Counted {
    count(process, 0.08, length, |series| (series_mean(series), series.len(), false))
}

/// Measures until ±2 %, for at least 5 s.
fn until(process: Process, spread: f64, length: usize) -> Counted {
    let tolerance: Tolerance = "2%".parse().expect("a tolerance");
    count(process, spread, length, |series| {
        let mut rule = Precision::new(tolerance, Nanos::from_secs(5), series.len());
        let interval = Nanos::from_millis(100);
        let end =
            series.iter().position(|rate| rule.closed((rate / 10.0).round() as u64, interval));
        match end {
            Some(last) => (series_mean(&series[..=last]).interim(), last + 1, true),
            None => (series_mean(series), series.len(), false),
        }
    })
}

#[track_caller]
fn holds(counted: &Counted, range: std::ops::RangeInclusive<f64>) {
    assert!(range.contains(&counted.coverage), "{counted:?}");
}

const INDEPENDENT: Process = Process::Ar(0.0);
const TWO_LEVELS: Process = Process::Bimodal { held: false };
const TWO_HELD_LEVELS: Process = Process::Bimodal { held: true };

#[test]
fn fixed_duration_has_the_nominal_coverage() {
    let cases = [
        (INDEPENDENT, 30),
        (INDEPENDENT, 300),
        (Process::Ar(0.5), 300),
        (Process::Ar(0.5), 1200),
        (Process::Ar(0.9), 600),
        (Process::Ar(0.9), 1200),
        (TWO_LEVELS, 30),
        (TWO_LEVELS, 300),
        (TWO_HELD_LEVELS, 300),
        (TWO_HELD_LEVELS, 1200),
    ];
    for (process, length) in cases {
        let counted = fixed(process, length);
        println!("{process:?}, {length} samples: {counted:?}");
        holds(&counted, 0.93..=0.97);
        assert!(counted.given > 0.9, "{counted:?}");
    }
}

#[test]
fn saw_tooth_series_has_the_nominal_coverage() {
    for (period, length) in [(10.0, 300), (10.0, 3000), (33.0, 1200), (33.0, 3000)] {
        let counted = fixed(Process::Saw(period), length);
        println!("period {period}, {length} samples: {counted:?}");
        holds(&counted, 0.93..=0.97);
        assert!(counted.given > 0.99, "{counted:?}");
    }
    // Few cycles do not show how the next one would be cut, so the interval is too wide, but never
    // too narrow.
    holds(&fixed(Process::Saw(33.0), 300), 0.95..=1.0);
}

#[test]
fn duration_ended_by_precision_keeps_the_coverage() {
    let cases = [
        (INDEPENDENT, 300),
        (Process::Ar(0.5), 300),
        (Process::Ar(0.75), 300),
        (Process::Ar(0.9), 3000),
        (TWO_LEVELS, 300),
    ];
    for (process, length) in cases {
        for spread in [0.03, 0.08] {
            let counted = until(process, spread, length);
            println!("{process:?} ± {spread}, at most {length} samples: {counted:?}");
            holds(&counted, 0.93..=0.975);
        }
    }
    for spread in [0.03, 0.08] {
        let saw = until(Process::Saw(10.0), spread, 300);
        println!("saw-tooth ± {spread}: {saw:?}");
        holds(&saw, 0.93..=0.97);
        // With long levels and rare excursions, windows that miss some excursions look precise.
        // This cost is known, and documented in docs/method.
        let levels = until(TWO_HELD_LEVELS, spread, 300);
        println!("held levels ± {spread}: {levels:?}");
        holds(&levels, 0.90..=0.97);
    }
}

#[test]
fn insufficient_samples_rarely_give_an_interval() {
    let cases = [
        (Process::Ar(0.75), 30),
        (Process::Ar(0.75), 60),
        (Process::Ar(0.9), 60),
        (Process::Ar(0.9), 150),
        (Process::Ar(0.95), 150),
        (Process::Ar(0.95), 300),
        (Process::Ar(0.99), 300),
        (Process::Saw(100.0), 100),
    ];
    for (process, length) in cases {
        let counted = fixed(process, length);
        println!("{process:?}, {length} samples: {counted:?}");
        assert!(counted.given < 0.35, "{process:?} {length}: {counted:?}");
        // Relative to all windows, not only to those with an interval.
        let wrong = counted.given * (1.0 - counted.coverage);
        assert!(wrong <= 0.05, "{process:?} {length}: {counted:?}");
    }
}

#[test]
fn slow_component_below_noise_needs_long_series() {
    // Known, and documented in docs/design/0009: a lower bound, not a goal.
    for (length, least) in [(300, 0.80), (1200, 0.90), (3000, 0.93)] {
        let counted = fixed(Process::SlowBelowNoise, length);
        println!("{length} samples: {counted:?}");
        holds(&counted, least..=0.97);
    }
}

#[test]
fn two_percent_precision_takes_reasonable_time() {
    // The mean length is the cost of ±2 %; 30 s is customary.
    let calm = until(INDEPENDENT, 0.03, 300);
    assert!(calm.ended > 0.99 && calm.mean_length < 60.0, "{calm:?}");
    let rough = until(Process::Ar(0.75), 0.08, 300);
    assert!(rough.ended < 0.2, "{rough:?}");
}

/// Five interleaved segments of 800 ms, as in the plan `quick`: a sweep of six points, in random
/// order in each round, each after a warm-up of 150 to 250 ms and some overhead.
const SEGMENTS: usize = 5;
const SWEEP: usize = 6;
const OF_SEGMENT: usize = 8;
/// Longest possible length of all segments, samples.
const OF_SWEEP: usize = SEGMENTS * SWEEP * (OF_SEGMENT + 3);

fn in_segments(series: &[f64], draws: &mut Draws) -> Estimate {
    let mut at = 0;
    let mut means = Vec::new();
    for _ in 0..SEGMENTS {
        let turn = (draws.uniform() * SWEEP as f64) as usize;
        for place in 0..SWEEP {
            at += 1 + (draws.uniform() * 3.0) as usize;
            if place == turn {
                means.push(series[at..at + OF_SEGMENT].iter().sum::<f64>() / OF_SEGMENT as f64);
            }
            at += OF_SEGMENT;
        }
    }
    segments_mean(&means)
}

fn interleaved(process: Process, change: impl Fn(usize, &mut Draws) -> f64) -> Counted {
    let draws = std::cell::RefCell::new(Draws(SplitMix(7)));
    count(process, 0.08, OF_SWEEP, |series| {
        let draws = &mut *draws.borrow_mut();
        let each = series.iter().enumerate();
        let changed: Vec<f64> = each.map(|(n, x)| x + TRUTH * change(n, draws)).collect();
        (in_segments(&changed, draws), SEGMENTS * OF_SEGMENT, false)
    })
}

#[test]
fn segments_cover_fluctuations_shorter_than_a_segment() {
    let cases = [
        INDEPENDENT,
        Process::Ar(0.5),
        Process::Ar(0.9),
        Process::Ar(0.95),
        Process::SlowBelowNoise,
        TWO_LEVELS,
        TWO_HELD_LEVELS,
    ];
    // A cycle about as long as a segment gives a bimodal distribution of means: known, and
    // documented in docs/method.
    let saws = [Process::Saw(10.0), Process::Saw(33.0), Process::Saw(66.0)];
    for process in cases.into_iter().chain(saws) {
        let counted = interleaved(process, |_, _| 0.0);
        println!("{process:?} in segments: {counted:?}");
        let least = match process {
            Process::Saw(_) => 0.87,
            // Means over few periods at either level have a skewed distribution.
            Process::Bimodal { held: true } => 0.92,
            _ => 0.93,
        };
        holds(&counted, least..=0.975);
        assert!((counted.given - 1.0).abs() < 1e-12, "{counted:?}");
    }
}

#[test]
fn segments_cover_drift_and_outliers() {
    // The truth is the mean over the whole time, with a change of 20 % from beginning to end.
    let length = OF_SWEEP as f64;
    let drift = interleaved(Process::Ar(0.5), |n, _| 0.2 * (n as f64 / length - 0.5));
    println!("drift: {drift:?}");
    // One sample of ten is 30 % slower; the truth is the mean of all.
    let outliers =
        interleaved(INDEPENDENT, |_, draws| 0.03 - if draws.uniform() < 0.1 { 0.3 } else { 0.0 });
    println!("outliers: {outliers:?}");
    let rare =
        interleaved(INDEPENDENT, |_, draws| 0.005 - if draws.uniform() < 0.01 { 0.5 } else { 0.0 });
    println!("rare outliers: {rare:?}");
    holds(&drift, 0.93..=1.0);
    holds(&outliers, 0.93..=0.97);
    holds(&rare, 0.93..=0.97);
}

/// Consecutive rounds of a point that ends when steady, each after a warm-up of 200 ms: twelve
/// samples of 100 ms, from a point of 30 s.
fn in_rounds(process: Process, rounds: usize) -> Counted {
    count(process, 0.08, rounds * 14, |series| {
        let rounds: Vec<&[f64]> = series.chunks(14).map(|round| &round[2..]).collect();
        let means = rounds.iter().map(|round| round.iter().sum::<f64>() / round.len() as f64);
        (rounds_mean(&means.collect::<Vec<_>>(), &rounds.concat()), series.len(), false)
    })
}

#[test]
fn rounds_cover_fluctuations_shorter_than_a_round() {
    for rounds in [5, 12] {
        for process in [INDEPENDENT, Process::Ar(0.5), TWO_LEVELS, TWO_HELD_LEVELS] {
            let counted = in_rounds(process, rounds);
            println!("{process:?} in {rounds} rounds: {counted:?}");
            holds(&counted, 0.93..=0.985);
            assert!(counted.given > 0.8, "{counted:?}");
        }
        // Autocorrelation over 1 and 2 s: comparing rounds alone would give a coverage of 85 and 72
        // %.
        for process in [Process::Ar(0.9), Process::Ar(0.95)] {
            let counted = in_rounds(process, rounds);
            println!("{process:?} in {rounds} rounds: {counted:?}");
            assert!(counted.given < 0.25, "{counted:?}");
        }
    }
    // This process cannot be detected in so short a time, as in a series without rounds.
    let counted = in_rounds(Process::SlowBelowNoise, 12);
    println!("slow below noise: {counted:?}");
    assert!(counted.coverage > 0.8, "{counted:?}");
}
