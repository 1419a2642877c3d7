//! Persistent changes in a sequence of figures.
//!
//! E-divisive (Matteson and James, "A Nonparametric Approach for Multiple Change Point Analysis of
//! Multivariate Data", JASA 109, 2014; applied to performance over builds: Daly and others, "The
//! Use of Change Point Detection to Identify Software Performance Regressions in a Continuous
//! Integration System", ICPE 2020). The algorithm splits the sequence where the distributions of
//! the two sides are farthest apart by the energy distance. It accepts the split if shuffled
//! figures are rarely as far apart, and then repeats within each side.

use crate::permutation_test::Draw;

/// Fewest figures on each side of a change: fewer cannot be distinguished from outliers.
const SIDE_MIN: usize = 3;
/// Largest number of figures that are examined. Of a longer sequence, only the last ones are.
pub const FIGURES_MAX: usize = 120;
/// Number of shuffles as extreme as the data that the level allows, which sets the number of
/// shuffles; and the fewest shuffles.
const ALARMS_EACH: f64 = 10.0;
const SHUFFLES_MIN: f64 = 199.0;

/// A persistent change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Index of the first figure after it.
    pub at: usize,
    /// Probability that shuffled figures are as far apart.
    pub p: f64,
    /// Mean of the figures from the change before it to this one.
    pub before: f64,
    /// Mean of the figures from it to the next one.
    pub after: f64,
}

/// The changes of a sequence, in its order. At most a share `level` of sequences without a change
/// gives a false alarm. That holds only if every order of the figures is equally likely: a slow
/// drift, or figures that depend on earlier ones, are reported as changes.
pub fn changes(figures: &[f64], level: f64) -> Vec<Change> {
    let skipped = figures.len().saturating_sub(FIGURES_MAX);
    let figures = &figures[skipped..];
    if figures.iter().any(|figure| !figure.is_finite()) {
        return Vec::new();
    }
    let mut found: Vec<(usize, f64)> = Vec::new();
    let mut open = vec![(0, figures.len())];
    while let Some((from, to)) = open.pop() {
        if let Some((at, p)) = change_within(&figures[from..to], level) {
            found.push((from + at, p));
            open.extend([(from, from + at), (from + at, to)]);
        }
    }
    found.sort_by_key(|(at, _)| *at);
    let ends: Vec<usize> = found.iter().map(|(at, _)| *at).chain([figures.len()]).collect();
    let mut from = 0;
    let mut listed = Vec::new();
    for ((at, p), to) in found.iter().zip(&ends[1..]) {
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let (before, after) = (mean(&figures[from..*at]), mean(&figures[*at..*to]));
        listed.push(Change { at: skipped + at, p: *p, before, after });
        from = *at;
    }
    listed
}

/// The most significant change within these figures; `None` if chance explains it.
fn change_within(figures: &[f64], level: f64) -> Option<(usize, f64)> {
    let (at, real) = farthest(figures)?;
    let shuffles = (ALARMS_EACH / level).ceil().max(SHUFFLES_MIN);
    let allowed = (level * (shuffles + 1.0)).floor();
    let mut draw = Draw::from(figures);
    let mut shuffled = figures.to_vec();
    // The actual order counts as one of the shuffles (Phipson and Smyth 2010).
    let mut far = 1.0;
    for _ in 0..shuffles as u64 {
        draw.shuffle(&mut shuffled);
        // The sum of the same numbers in another order differs in the last digits.
        if farthest(&shuffled).is_some_and(|(_, shuffled)| shuffled >= real * (1.0 - 1e-9)) {
            far += 1.0;
            if far > allowed {
                return None;
            }
        }
    }
    Some((at, far / (shuffles + 1.0)))
}

/// The split with the farthest sides, and their distance. `None` if there are too few figures, or
/// all are equal.
fn farthest(figures: &[f64]) -> Option<(usize, f64)> {
    let count = figures.len();
    if count < 2 * SIDE_MIN {
        return None;
    }
    // Sums of distances within the left side, between the sides, and within the right side, updated
    // as the split moves to the right.
    let distances =
        |figure: f64, to: &[f64]| to.iter().map(|other| (figure - other).abs()).sum::<f64>();
    let (mut left, mut between, mut right) = (0.0, 0.0, 0.0);
    for (index, figure) in figures.iter().enumerate() {
        right += distances(*figure, &figures[index + 1..]);
    }
    let mut best: Option<(usize, f64)> = None;
    for (index, figure) in figures.iter().enumerate() {
        let (to_left, to_right) =
            (distances(*figure, &figures[..index]), distances(*figure, &figures[index + 1..]));
        left += to_left;
        right -= to_right;
        between += to_right - to_left;
        let (m, n) = ((index + 1) as f64, (count - index - 1) as f64);
        if index + 1 < SIDE_MIN || count - index - 1 < SIDE_MIN {
            continue;
        }
        let energy =
            2.0 * between / (m * n) - 2.0 * left / (m * (m - 1.0)) - 2.0 * right / (n * (n - 1.0));
        let apart = m * n / (m + n) * energy;
        if best.is_none_or(|(_, most)| apart > most) {
            best = Some((index + 1, apart));
        }
    }
    best.filter(|(_, apart)| *apart > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(draw: &mut Draw, count: usize) -> Vec<f64> {
        (0..count).map(|_| 100.0 * (0.03 * draw.normal()).exp()).collect()
    }

    #[test]
    fn step_change_is_found_at_its_position() {
        let mut draw = Draw::new(1);
        let mut figures = noise(&mut draw, 20);
        figures.extend(noise(&mut draw, 15).iter().map(|figure| figure * 0.8));
        figures.extend(noise(&mut draw, 12).iter().map(|figure| figure * 1.1));
        let found = changes(&figures, 0.01);
        assert_eq!(found.iter().map(|change| change.at).collect::<Vec<_>>(), [20, 35]);
        assert!((found[0].before / 100.0 - 1.0).abs() < 0.03, "{found:?}");
        assert!((found[0].after / 80.0 - 1.0).abs() < 0.03, "{found:?}");
        assert!((found[1].after / 110.0 - 1.0).abs() < 0.03, "{found:?}");
        assert_eq!(found, changes(&figures, 0.01), "the same figures tell the same");
    }

    #[test]
    fn unchanged_series_raise_few_false_alarms() {
        let tries = std::env::var("QDEPTH_TRIES").ok().and_then(|tries| tries.parse().ok());
        let tries: u32 = tries.unwrap_or(300);
        let mut results = String::new();
        type Process = fn(&mut Draw) -> f64;
        let processes: [(&str, Process); 3] = [
            ("independent", |draw| 0.03 * draw.normal()),
            ("two-modes", |draw| if draw.uniform() < 0.5 { 0.97 } else { 1.03 }),
            ("outliers", |draw| {
                0.02 * draw.normal() - if draw.uniform() < 0.05 { 0.3 } else { 0.0 }
            }),
        ];
        for (name, process) in processes {
            let mut draw = Draw::new(7);
            let (mut alarms, mut found) = (0, 0);
            for _ in 0..tries {
                let same: Vec<f64> = (0..30).map(|_| process(&mut draw)).collect();
                alarms += u32::from(!changes(&same, 0.05).is_empty());
                let step = |(run, figure): (usize, &f64)| figure + 0.05 * f64::from(run >= 20);
                let differs: Vec<f64> = same.iter().enumerate().map(step).collect();
                let near = |change: &Change| change.at.abs_diff(20) <= 2;
                found += u32::from(changes(&differs, 0.05).iter().any(near));
            }
            let share = |count: u32| f64::from(count) / f64::from(tries);
            let error = 3.0 * (0.05 * 0.95 / f64::from(tries)).sqrt();
            assert!(share(alarms) <= 0.05 + error, "{name}: {}", share(alarms));
            results +=
                &format!(" {name}-alarms={:.3} {name}-found={:.3}", share(alarms), share(found));
            if name == "independent" {
                assert!(share(found) >= 0.7, "{results}");
            }
        }
        println!("TRIES changes {tries}{results}");
    }

    #[test]
    fn few_or_equal_figures_have_no_change() {
        assert_eq!(changes(&[], 0.05), []);
        assert_eq!(changes(&[1.0, 1.0, 9.0, 9.0], 0.05), []);
        assert_eq!(changes(&[5.0; 40], 0.05), []);
        assert_eq!(changes(&[f64::NAN; 40], 0.05), []);
        // Three figures a side can be ordered in 20 ways. One of them is not significant at 5 %,
        // because its mirror image is equally far apart.
        assert_eq!(changes(&[1.0, 1.0, 1.0, 9.0, 9.0, 9.0], 0.05), []);
    }
}
