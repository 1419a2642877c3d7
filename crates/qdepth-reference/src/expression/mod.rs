//! The language in which `reference/` says what stands beside a published figure, and what a
//! published relation means:
//!
//! ```text
//! max(rate(p3700, database, 1..512)) / max(rate(hdd-450, database, 1..512))
//! rate(p3700-raid0, database, 512) > rate(p3700, database, 512) > rate(p3700-raid1, database, 512)
//! rate(p3700, database, 1) = 10000 within 10%
//! share(rate(p3700, file-server, 1..512) <= rate(p3700-raid1, file-server, 1..512)) >= 80%
//! ```
//!
//! A point is `quantity(target, load, intensity)`. An intensity is a number, `a..b` (the powers of
//! two from a to b) or `{a, b, c}`; over several, arithmetic and comparison go element by element,
//! and a comparison holds where it holds for each.

mod evaluate;
mod lexer;
mod parser;

use std::collections::BTreeSet;
use std::fmt;

pub use evaluate::{Evaluated, Figures, Side, Standing};
pub use parser::ParseError;

/// What is asked of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Transaction rate, IO/s.
    Rate,
    /// Throughput, MB/s of 2^20 bytes.
    Throughput,
    /// Throughput, GB/s of 10^9 bytes.
    ThroughputGb,
    /// Mean service time, ms.
    Latency,
}

impl Quantity {
    const ALL: [Self; 4] = [Self::Rate, Self::Throughput, Self::ThroughputGb, Self::Latency];

    /// As written in `reference/`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Throughput => "throughput",
            Self::ThroughputGb => "throughput_gb",
            Self::Latency => "latency",
        }
    }
    /// Its unit.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Rate => "IO/s",
            Self::Throughput => "MB/s",
            Self::ThroughputGb => "GB/s",
            Self::Latency => "ms",
        }
    }
}

/// A point by name: a target of `targets.toml`, a load, an intensity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PointName {
    /// Which target.
    pub target: String,
    /// Which load profile.
    pub load: String,
    /// Outstanding I/Os of each stream, or streams, as the target says.
    pub intensity: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Max,
    Min,
    Mean,
    Spread,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arithmetic {
    Plus,
    Minus,
    Times,
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relator {
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
    Equal,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Points {
        quantity: Quantity,
        target: String,
        load: String,
        intensities: Vec<u32>,
    },
    Call {
        function: Function,
        arguments: Vec<Node>,
    },
    /// In how many of its elements a test holds, 0..=1.
    Share(Box<Test>),
    Binary {
        operator: Arithmetic,
        left: Box<Node>,
        right: Box<Node>,
    },
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    /// `a < b < c`, or `a = b = c within t`: all within a share t of the largest.
    Chain {
        sides: Vec<Node>,
        relators: Vec<Relator>,
        within: f64,
    },
    /// Each element is at least 98 % of the one before.
    Rises(Node),
    All(Vec<Test>),
}

/// A figure: what stands beside a published one.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    root: Node,
}

/// What holds or fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    test: Test,
}

impl Expression {
    /// Reads a figure.
    ///
    /// # Errors
    /// Where the text is none, with the place and what could stand there.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Ok(Self { text: text.to_owned(), root: parser::figure(text)? })
    }
    /// As written.
    pub fn text(&self) -> &str {
        &self.text
    }
    /// The points that it needs.
    pub fn points(&self) -> BTreeSet<PointName> {
        let mut points = BTreeSet::new();
        self.root.add_points(&mut points);
        points
    }
    /// The one point that it is, and what is asked of it; none where it is computed.
    pub fn single_point(&self) -> Option<(Quantity, PointName)> {
        let Node::Points { quantity, intensities, .. } = &self.root else { return None };
        let point = self.points().into_iter().next()?;
        (intensities.len() == 1).then_some((*quantity, point))
    }
    /// What it is the largest value of, over its [`points`](Self::points); none where it is
    /// something else.
    pub fn maximum_of(&self) -> Option<Quantity> {
        let Node::Call { function: Function::Max, arguments } = &self.root else { return None };
        let [Node::Points { quantity, .. }] = arguments.as_slice() else { return None };
        Some(*quantity)
    }
}

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// As [`Expression::parse`].
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Ok(Self { text: text.to_owned(), test: parser::condition(text)? })
    }
    /// As written.
    pub fn text(&self) -> &str {
        &self.text
    }
    /// The points that it needs.
    pub fn points(&self) -> BTreeSet<PointName> {
        let mut points = BTreeSet::new();
        self.test.add_points(&mut points);
        points
    }
}

impl Node {
    fn add_points(&self, points: &mut BTreeSet<PointName>) {
        match self {
            Self::Number(_) => {}
            Self::Points { target, load, intensities, .. } => {
                points.extend(intensities.iter().map(|intensity| PointName {
                    target: target.clone(),
                    load: load.clone(),
                    intensity: *intensity,
                }));
            }
            Self::Call { arguments, .. } => arguments.iter().for_each(|a| a.add_points(points)),
            Self::Share(test) => test.add_points(points),
            Self::Binary { left, right, .. } => {
                left.add_points(points);
                right.add_points(points);
            }
        }
    }
}

impl Test {
    fn add_points(&self, points: &mut BTreeSet<PointName>) {
        match self {
            Self::Chain { sides, .. } => sides.iter().for_each(|side| side.add_points(points)),
            Self::Rises(node) => node.add_points(points),
            Self::All(tests) => tests.iter().for_each(|test| test.add_points(points)),
        }
    }
}

impl Relator {
    fn symbol(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::More => ">",
            Self::MoreOrEqual => ">=",
            Self::Equal => "=",
        }
    }
}

impl fmt::Display for PointName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {}", self.target, self.load, self.intensity)
    }
}
