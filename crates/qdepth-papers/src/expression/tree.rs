//! Syntax tree of an expression: points, and operations on them.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;

/// Quantity of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// IOPS (the papers' transaction rate).
    Rate,
    /// Throughput, MB/s of 2^20 bytes.
    Throughput,
    /// Throughput, GB/s of 10^9 bytes.
    ThroughputGb,
    /// Mean latency, ms.
    Latency,
}

impl Quantity {
    pub(super) const ALL: [Self; 4] =
        [Self::Rate, Self::Throughput, Self::ThroughputGb, Self::Latency];

    /// Name in `reference/`.
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

/// Point by names: a target of `targets.toml`, a load, a queue depth.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PointName {
    /// Target.
    pub target: String,
    /// Load profile.
    pub load: String,
    /// Queue depth of each stream, or number of streams, as the target defines.
    pub intensity: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Max,
    Min,
    Mean,
    Spread,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Plus,
    Minus,
    Times,
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relator {
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
    Equal,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
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
    /// Share of elements for which a test holds, 0..=1.
    Share(Box<Test>),
    Binary {
        operator: Arithmetic,
        left: Box<Node>,
        right: Box<Node>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    /// `a < b < c`, or `a = b = c within t`: equal up to a share t of the largest.
    Chain {
        sides: Vec<Node>,
        relators: Vec<Relator>,
        within: f64,
    },
    /// Rising: each element is at least 98 % of the previous one.
    Rises(Node),
    All(Vec<Test>),
}

impl PointName {
    pub(crate) fn new(target: &str, load: &str, intensity: u32) -> Self {
        Self { target: target.to_owned(), load: load.to_owned(), intensity }
    }
}

impl Node {
    /// The points of a list, in its order.
    pub(super) fn names(&self) -> Vec<PointName> {
        let Self::Points { target, load, intensities, .. } = self else { return Vec::new() };
        intensities.iter().map(|intensity| PointName::new(target, load, *intensity)).collect()
    }

    pub(super) fn add_points(&self, points: &mut BTreeSet<PointName>) {
        match self {
            Self::Number(_) => {}
            Self::Points { .. } => points.extend(self.names()),
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
    pub(super) fn add_points(&self, points: &mut BTreeSet<PointName>) {
        match self {
            Self::Chain { sides, .. } => sides.iter().for_each(|side| side.add_points(points)),
            Self::Rises(node) => node.add_points(points),
            Self::All(tests) => tests.iter().for_each(|test| test.add_points(points)),
        }
    }
}

impl Relator {
    pub(super) fn symbol(self) -> &'static str {
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
