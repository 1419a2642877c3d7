//! Permutation test: the rank of a difference among all assignments of the runs to two sides.

use crate::split_mix::SplitMix;

/// Up to this number of assignments all are enumerated; for more, this number is drawn at random.
const ASSIGNMENTS_MAX: f64 = 9999.0;

/// Number of ways to assign runs to two sides of these sizes.
pub(crate) fn assignments(a: u32, b: u32) -> f64 {
    (1..=b).fold(1.0, |ways, n| ways * f64::from(a + n) / f64::from(n)).round()
}

/// Share of assignments in which the means of the two sides are at least as far apart as observed.
/// If assignments are drawn, the observed one is counted in (Phipson and Smyth, Statistical
/// Applications in Genetics and Molecular Biology 9, 2010), so that the share is never too small.
/// The draws are seeded by the figures: the same runs give the same share, in any order.
pub(crate) fn share_at_least_as_far(a: &[f64], b: &[f64]) -> f64 {
    let [a, b] = [a, b].map(|side| {
        let mut side = side.to_vec();
        side.sort_by(f64::total_cmp);
        side
    });
    let mut all: Vec<f64> = a.iter().chain(&b).copied().collect();
    let sum: f64 = all.iter().sum();
    let (of_a, of_b) = (a.len() as f64, b.len() as f64);
    let apart = |sum_a: f64| (sum_a / of_a - (sum - sum_a) / of_b).abs();
    // The sum of the same numbers in another order differs in the last digits.
    let real = apart(a.iter().sum()) * (1.0 - 1e-9);
    if assignments(a.len() as u32, b.len() as u32) <= ASSIGNMENTS_MAX {
        let (mut far, mut ways) = (0.0, 0.0);
        each_choice(&all, a.len(), 0.0, &mut |sum_a| {
            ways += 1.0;
            far += f64::from(u8::from(apart(sum_a) >= real));
        });
        return far / ways;
    }
    let mut draw = Draw::from(&all);
    let mut far = 1.0;
    for _ in 0..ASSIGNMENTS_MAX as u32 {
        for index in 0..a.len() {
            let other = index + draw.below(all.len() - index);
            all.swap(index, other);
        }
        far += f64::from(u8::from(apart(all[..a.len()].iter().sum()) >= real));
    }
    far / (ASSIGNMENTS_MAX + 1.0)
}

/// Calls `see` with the sum of each choice of `count` figures.
fn each_choice(figures: &[f64], count: usize, sum: f64, see: &mut impl FnMut(f64)) {
    if count == 0 {
        return see(sum);
    }
    for (index, figure) in figures.iter().enumerate().take(figures.len() + 1 - count) {
        each_choice(&figures[index + 1..], count - 1, sum + figure, see);
    }
}

/// Uniform draws and shuffles.
pub(crate) struct Draw(SplitMix);

impl Draw {
    #[cfg(test)]
    pub(crate) const fn new(seed: u64) -> Self {
        Self(SplitMix(seed))
    }

    /// Seeded by figures, without their last digits, which change when figures are written and read
    /// back.
    pub(crate) fn from(figures: &[f64]) -> Self {
        let mixed = figures.iter().fold(0u64, |mixed, figure| {
            let bits = u64::from((*figure as f32).to_bits());
            mixed.rotate_left(7) ^ bits.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        Self(SplitMix(mixed))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.draw()
    }

    /// Shuffles in place (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, all: &mut [T]) {
        for index in 0..all.len() {
            let other = index + self.below(all.len() - index);
            all.swap(index, other);
        }
    }

    fn below(&mut self, end: usize) -> usize {
        // The upper half of the product is uniform to within 2^-64.
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}

#[cfg(test)]
impl Draw {
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
    /// A draw of the standard normal distribution (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_permutation_tests_are_exhaustive() {
        assert!(
            (assignments(3, 3) - 20.0).abs() < 1e-9
                && (assignments(10, 10) - 184_756.0).abs() < 1e-9
        );
        // Two of 20 assignments separate the low figures from the high ones.
        let share = share_at_least_as_far(&[1.0, 2.0, 3.0], &[7.0, 8.0, 9.0]);
        assert!((share - 0.1).abs() < 1e-12, "{share}");
        assert!((share_at_least_as_far(&[5.0; 3], &[5.0; 3]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn sampled_permutations_approximate_the_exact_share() {
        let a: Vec<f64> = (0..10).map(f64::from).collect();
        let b: Vec<f64> = (0..10).map(|run| f64::from(run) + 2.5).collect();
        let (mut far, mut ways) = (0.0, 0.0);
        let all: Vec<f64> = a.iter().chain(&b).copied().collect();
        let sum: f64 = all.iter().sum();
        each_choice(&all, 10, 0.0, &mut |sum_a| {
            ways += 1.0;
            far += f64::from(u8::from((2.0 * sum_a - sum).abs() >= 25.0 - 1e-9));
        });
        let (exact, drawn) = (far / ways, share_at_least_as_far(&a, &b));
        // Four standard errors of 9,999 draws.
        let error = 4.0 * (exact * (1.0 - exact) / ASSIGNMENTS_MAX).sqrt();
        assert!((drawn - exact).abs() < error, "{drawn} and {exact}");
        assert!((drawn - share_at_least_as_far(&a, &b)).abs() < 1e-15, "the same again");
        let turned: Vec<f64> = a.iter().rev().copied().collect();
        assert!((drawn - share_at_least_as_far(&turned, &b)).abs() < 1e-15, "in another order");
        let read: Vec<f64> = b.iter().map(|run| run * (1.0 + 3.0 * f64::EPSILON)).collect();
        assert!(
            (drawn - share_at_least_as_far(&a, &read)).abs() < 1e-15,
            "and of what was written and read"
        );
    }
}
