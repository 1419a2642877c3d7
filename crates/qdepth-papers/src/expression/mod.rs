//! Language of `reference/` for the emulated counterpart of a published figure, and for the meaning
//! of a published relation:
//!
//! ```text
//! max(rate(p3700, database, 1..512)) / max(rate(hdd-450, database, 1..512))
//! rate(p3700-raid0, database, 512) > rate(p3700, database, 512) > rate(p3700-raid1, database, 512)
//! rate(p3700, database, 1) = 10000 within 10%
//! share(rate(p3700, file-server, 1..512) <= rate(p3700-raid1, file-server, 1..512)) >= 80%
//! ```
//!
//! A point is `quantity(target, load, intensity)`. An intensity is a number, `a..b` (the powers of
//! two from a to b) or `{a, b, c}`. With several intensities, arithmetic and comparison work
//! element by element, and a comparison holds if it holds for every element.

mod error;
mod evaluate;
mod lexer;
mod parser;
mod tree;

use std::collections::BTreeSet;

use serde::Deserialize;

pub use error::ParseError;
pub use evaluate::{Evaluated, Figures, Outcome, Side};
use tree::{Function, Node, Test};
pub use tree::{PointName, Quantity};

/// A text of the language with its meaning, read by this function of the parser.
macro_rules! parsed {
    ($($(#[$about:meta])* $name:ident($root:ty) = $parse:path;)+) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name {
            text: String,
            root: $root,
        }

        impl $name {
            /// Parses the text.
            ///
            /// # Errors
            /// If it cannot be parsed, with the position and the expected text.
            pub fn parse(text: &str) -> Result<Self, ParseError> {
                Ok(Self { text: text.to_owned(), root: $parse(text)? })
            }
            /// Text as written.
            pub fn text(&self) -> &str {
                &self.text
            }
            /// The points that it needs.
            pub fn points(&self) -> BTreeSet<PointName> {
                let mut points = BTreeSet::new();
                self.root.add_points(&mut points);
                points
            }
        }

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                Self::parse(&text).map_err(|error| format!("`{text}`: {error}"))
            }
        }
    )+};
}

parsed! {
    /// Expression that computes the emulated counterpart of a published figure.
    Expression(Node) = parser::figure;
    /// Condition on figures, which holds or fails.
    Condition(Test) = parser::condition;
}

impl Expression {
    /// Quantity and point if the expression is a single point; `None` if it is computed.
    pub fn single_point(&self) -> Option<(Quantity, PointName)> {
        let Node::Points { quantity, intensities, .. } = &self.root else { return None };
        let point = self.points().into_iter().next()?;
        (intensities.len() == 1).then_some((*quantity, point))
    }
    /// Quantity if the expression is its maximum over [`points`](Self::points); otherwise `None`.
    pub fn maximum_of(&self) -> Option<Quantity> {
        let Node::Call { function: Function::Max, arguments } = &self.root else { return None };
        let [Node::Points { quantity, .. }] = arguments.as_slice() else { return None };
        Some(*quantity)
    }
}
