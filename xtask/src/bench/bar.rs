//! Benchmark figure with its goal and the values of all rounds.

use super::programs::median;

/// Goal for a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

impl Goal {
    pub fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(goal) => value >= goal,
            Self::AtMost(goal) => value <= goal,
        }
    }
}

impl std::fmt::Display for Goal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AtLeast(goal) => write!(f, "≥ {goal}"),
            Self::AtMost(goal) => write!(f, "≤ {goal}"),
        }
    }
}

/// Figure with its goal. The name is the key of the figure's history, so its meaning must never
/// change.
#[derive(Clone, Debug)]
pub struct Benchmark {
    pub name: String,
    pub goal: Goal,
    values: Vec<f64>,
}

impl Benchmark {
    pub fn new(name: impl Into<String>, goal: Goal, values: Vec<f64>) -> Self {
        Self { name: name.into(), goal, values }
    }

    /// Median of the rounds.
    pub fn value(&self) -> f64 {
        median(self.values.clone())
    }

    /// Smallest and largest value of the rounds.
    pub fn spread(&self) -> [f64; 2] {
        let least = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        [least, self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
    }

    pub fn is_met(&self) -> bool {
        self.goal.is_met(self.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_held_against_the_median_of_its_rounds() {
        let benchmark = |goal, values: &[f64]| Benchmark::new("rate", goal, values.to_vec());
        assert!(benchmark(Goal::AtLeast(1.0), &[0.9, 1.0, 1.2]).is_met());
        assert!(!benchmark(Goal::AtLeast(1.0), &[0.9, 0.99, 1.2]).is_met());
        assert!(benchmark(Goal::AtMost(20.0), &[19.0, 25.0, 18.0]).is_met());
        assert!(!benchmark(Goal::AtMost(20.0), &[]).is_met(), "what was not measured is not met");
    }
}
