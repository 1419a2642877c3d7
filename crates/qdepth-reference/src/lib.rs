//! The only crate that knows what was published: the figures and relations of `reference/`, the
//! small language that says which emulated figure stands beside each, and the comparison.
//!
//! Media must not use this crate, so that no published result is ever an input of an emulation:
//! the compiler keeps that promise. Nothing here measures. Start with [`Reference`], then
//! [`Expression`], then [`compare`].

mod compare;
mod data;
mod error;
mod expression;
mod goals;
mod json;
mod noise;
mod plans;
mod published;
mod relation;
mod shading;
mod targets;
mod translation;

pub use compare::{
    ComparedFigure, ComparedRelation, ComparedShade, Comparison, EmulatedPoint, Emulation, Errors,
    GoalResult, SectionSummary, ShareResult, Verdict, compare,
};
pub use data::{Document, Reference};
pub use error::DataError;
pub use expression::{
    Condition, Evaluated, Expression, Figures, ParseError, PointName, Quantity, Side, Standing,
};
pub use goals::Goal;
pub use json::{json, json_schema};
pub use noise::Noise;
pub use plans::SectionPlan;
pub use published::{Precision, Published, Use};
pub use relation::{Relation, RelationText, RelationUse};
pub use shading::{Class, Shaded};
pub use targets::{Diagram, Intensity, Line, Maxima, Named, Target};
pub use translation::phrases_in;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod translation_tests;
