//! A bar: what is asked of a figure, and what was measured, round by round.

use super::programs::median;

/// What is asked of a figure.
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

/// A figure with its goal. The name is the key of its history, and never changes its meaning.
#[derive(Clone, Debug)]
pub struct Bar {
    pub name: String,
    pub goal: Goal,
    values: Vec<f64>,
}

impl Bar {
    pub fn new(name: impl Into<String>, goal: Goal, values: Vec<f64>) -> Self {
        Self { name: name.into(), goal, values }
    }

    /// The median of the rounds.
    pub fn value(&self) -> f64 {
        median(self.values.clone())
    }

    /// Least and most of them.
    pub fn spread(&self) -> [f64; 2] {
        let least = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        [least, self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
    }

    pub fn is_met(&self) -> bool {
        self.goal.is_met(self.value())
    }
}

/// Four digits that say something, whatever the size.
pub fn digits(value: f64) -> String {
    let decimals = (3 - value.abs().max(1e-6).log10().floor() as i32).clamp(0, 6);
    format!("{value:.*}", decimals as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_held_against_the_median_of_its_rounds() {
        let bar = |goal, values: &[f64]| Bar::new("rate", goal, values.to_vec());
        assert!(bar(Goal::AtLeast(1.0), &[0.9, 1.0, 1.2]).is_met());
        assert!(!bar(Goal::AtLeast(1.0), &[0.9, 0.99, 1.2]).is_met());
        assert!(bar(Goal::AtMost(20.0), &[19.0, 25.0, 18.0]).is_met());
        assert!(!bar(Goal::AtMost(20.0), &[]).is_met(), "what was not measured is not met");
        assert_eq!(bar(Goal::AtMost(1.0), &[3.0, 2.0]).spread(), [2.0, 3.0]);
    }

    #[test]
    fn figures_have_four_digits() {
        let shown = [16.2e6, 1.01234, 0.00012345, 22.06].map(digits);
        assert_eq!(shown, ["16200000", "1.012", "0.000123", "22.06"]);
    }
}
