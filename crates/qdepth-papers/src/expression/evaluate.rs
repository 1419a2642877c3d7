//! Evaluation of expressions and conditions.

use super::tree::{Arithmetic, Function, Node, PointName, Quantity, Relator, Test};
use super::{Condition, Expression};

/// Largest decrease between neighbours that still counts as rising, a share.
const RISES_TOLERANCE: f64 = 0.02;

/// Source of figures for an evaluation.
pub trait Figures {
    /// The figure of a point; `None` if it is not known.
    fn point(&self, quantity: Quantity, point: &PointName) -> Option<f64>;

    /// Figure that is known only for the whole list, for example a printed maximum.
    fn maximum(&self, quantity: Quantity, points: &[PointName]) -> Option<f64> {
        let _ = (quantity, points);
        None
    }
}

/// Result of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// True for every element with known figures, and at least one is known.
    Holds,
    /// False for at least one element.
    Fails,
    /// No required figure is known.
    Unknown,
}

/// One side of a comparison, at the element that decides.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// Relation to the previous side, for example `<`; empty for the first side.
    pub relator: &'static str,
    /// Its value.
    pub value: Option<f64>,
}

/// Value of a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// Result.
    pub outcome: Outcome,
    /// True if every required figure is known.
    pub complete: bool,
    /// Sides of the deciding comparison: at its first failing element, or its first element if none
    /// fails.
    pub sides: Vec<Side>,
}

/// One value, or one for each queue depth; `None` for an unknown figure.
type Values = Vec<Option<f64>>;
type Truths = Vec<Option<bool>>;

impl Expression {
    /// Evaluates the expression; `None` if a figure is missing or the value is not finite.
    pub fn value(&self, figures: &impl Figures) -> Option<f64> {
        let values = self.root.values(figures);
        let [value] = values.as_slice() else { return None };
        value.filter(|value| value.is_finite())
    }
}

impl Condition {
    /// Evaluates the condition on these figures.
    pub fn evaluate(&self, figures: &impl Figures) -> Evaluated {
        let truths = self.root.truths(figures);
        let fails = truths.contains(&Some(false));
        let outcome = match (fails, truths.contains(&Some(true))) {
            (true, _) => Outcome::Fails,
            (false, true) => Outcome::Holds,
            (false, false) => Outcome::Unknown,
        };
        let complete = !truths.contains(&None) && !truths.is_empty();
        Evaluated { outcome, complete, sides: self.root.sides(figures) }
    }
}

impl Node {
    fn values(&self, figures: &impl Figures) -> Values {
        match self {
            Self::Number(number) => vec![Some(*number)],
            Self::Points { quantity, .. } => {
                let points = self.names();
                points.iter().map(|point| figures.point(*quantity, point)).collect()
            }
            Self::Call { function, arguments } => {
                if let (Function::Max, [Self::Points { quantity, .. }]) =
                    (function, arguments.as_slice())
                {
                    let known = figures.maximum(*quantity, &arguments[0].names());
                    if known.is_some() {
                        return vec![known];
                    }
                }
                let all: Values = arguments.iter().flat_map(|a| a.values(figures)).collect();
                vec![all.into_iter().collect::<Option<Vec<f64>>>().and_then(|v| function.apply(&v))]
            }
            Self::Share(test) => {
                let known: Vec<bool> = test.truths(figures).into_iter().flatten().collect();
                let holding = known.iter().filter(|truth| **truth).count();
                vec![(!known.is_empty()).then(|| holding as f64 / known.len() as f64)]
            }
            Self::Binary { operator, left, right } => {
                let (left, right) = (left.values(figures), right.values(figures));
                zip_values(&left, &right, |a, b| Some(operator.apply(a?, b?)))
            }
        }
    }
}

/// Combines two lists element by element; a single value combines with every element. Lists of
/// different lengths give an empty result.
fn zip_values<T: Copy, R>(left: &[T], right: &[T], join: impl Fn(T, T) -> R) -> Vec<R> {
    match (left, right) {
        ([single], many) => many.iter().map(|other| join(*single, *other)).collect(),
        (many, [single]) => many.iter().map(|other| join(*other, *single)).collect(),
        (a, b) if a.len() == b.len() => a.iter().zip(b).map(|(a, b)| join(*a, *b)).collect(),
        _ => Vec::new(),
    }
}

impl Function {
    fn apply(self, values: &[f64]) -> Option<f64> {
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let value = match self {
            Self::Max => largest,
            Self::Min => smallest,
            Self::Mean => values.iter().sum::<f64>() / values.len() as f64,
            Self::Spread => largest / smallest - 1.0,
        };
        value.is_finite().then_some(value)
    }
}

impl Arithmetic {
    fn apply(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Plus => left + right,
            Self::Minus => left - right,
            Self::Times => left * right,
            Self::Over => left / right,
        }
    }
}

impl Relator {
    fn holds(self, left: f64, right: f64, within: f64) -> bool {
        match self {
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::More => left > right,
            Self::MoreOrEqual => left >= right,
            Self::Equal => (left - right).abs() <= within * left.abs().max(right.abs()),
        }
    }
}

impl Test {
    fn truths(&self, figures: &impl Figures) -> Truths {
        match self {
            Self::All(tests) => {
                let both = |a: Option<bool>, b: Option<bool>| match (a, b) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                };
                let all = tests.iter().map(|test| test.truths(figures));
                all.reduce(|a, b| zip_values(&a, &b, both)).unwrap_or_default()
            }
            Self::Rises(node) => {
                let values = node.values(figures);
                let known: Vec<f64> = values.iter().copied().flatten().collect();
                let step = |pair: &[f64]| Some(pair[1] >= pair[0] * (1.0 - RISES_TOLERANCE));
                let mut truths: Truths = known.windows(2).map(step).collect();
                truths.resize(values.len().saturating_sub(1), None);
                truths
            }
            Self::Chain { sides, relators, within } => {
                let values: Vec<Values> = sides.iter().map(|side| side.values(figures)).collect();
                evaluate_chain(&values, relators, *within)
            }
        }
    }

    /// Sides of the deciding comparison.
    fn sides(&self, figures: &impl Figures) -> Vec<Side> {
        match self {
            Self::All(tests) => {
                let fails = |test: &&Self| test.truths(figures).contains(&Some(false));
                let decides = tests.iter().find(fails).or(tests.first());
                decides.map_or_else(Vec::new, |test| test.sides(figures))
            }
            Self::Rises(node) => {
                let known: Vec<f64> = node.values(figures).into_iter().flatten().collect();
                let falls = known.windows(2).find(|p| p[1] < p[0] * (1.0 - RISES_TOLERANCE));
                let shown = match (falls, known.as_slice()) {
                    (Some(pair), _) => vec![pair[0], pair[1]],
                    (None, [first, .., last]) => vec![*first, *last],
                    _ => Vec::new(),
                };
                let side = |(index, value): (usize, f64)| Side {
                    relator: if index == 0 { "" } else { "…" },
                    value: Some(value),
                };
                shown.into_iter().enumerate().map(side).collect()
            }
            Self::Chain { sides, relators, within } => {
                let values: Vec<Values> = sides.iter().map(|side| side.values(figures)).collect();
                let truths = evaluate_chain(&values, relators, *within);
                let failing = truths.iter().position(|truth| *truth == Some(false));
                let index = failing.or(truths.iter().position(Option::is_some)).unwrap_or(0);
                let symbols = std::iter::once("").chain(relators.iter().map(|r| r.symbol()));
                let at = |values: &Values| values.get(index).or(values.first()).copied().flatten();
                let sides = values.iter().zip(symbols);
                sides.map(|(values, relator)| Side { relator, value: at(values) }).collect()
            }
        }
    }
}

/// Evaluates a chain of comparisons. Sides joined by `=` are compared pairwise, not only with their
/// neighbours: three curves that drift apart step by step are not equal.
fn evaluate_chain(values: &[Values], relators: &[Relator], within: f64) -> Truths {
    let compare = |left: usize, right: usize, relator: Relator| {
        zip_values(&values[left], &values[right], |a, b| Some(relator.holds(a?, b?, within)))
    };
    let mut all: Vec<Truths> = Vec::new();
    for (left, relator) in relators.iter().enumerate() {
        all.push(compare(left, left + 1, *relator));
        let run = relators[left..].iter().take_while(|r| **r == Relator::Equal).count();
        all.extend((left + 2..=left + run).map(|right| compare(left, right, Relator::Equal)));
    }
    let length = all.iter().map(Vec::len).max().unwrap_or(0);
    let at = |index: usize| {
        let mut known = None;
        for truths in &all {
            match truths.get(index).or(truths.first()).copied().flatten() {
                Some(false) => return Some(false),
                Some(true) => known = Some(true),
                None => return None,
            }
        }
        known
    };
    (0..length).map(at).collect()
}
