//! Published papers: their figures and relations (`reference/`), the language that maps each figure
//! to its emulation, and pages that compare both.
//!
//! Only the command line may depend on this crate: if the emulated devices, the lab or the report
//! did, a published result could become an input of an emulation. Reports receive [`drives`] as a
//! parameter. Start with [`Reference`], then [`Expression`], then [`compare`].

mod compare;
mod data;
mod drives;
mod emulate;
mod expression;
mod figures;
mod file;
mod goals;
mod json;
mod noise;
mod phrases;
mod planned;
mod plans;
mod published;
mod relation;
mod reproduction;
mod shading;
mod targets;
mod translation;

pub use compare::{
    ComparedFigure, ComparedRelation, ComparedShade, Comparison, EmulatedPoint, Emulation, Errors,
    GoalResult, SectionSummary, ShareResult, Verdict, compare,
};
pub use data::{Document, Reference};
pub use drives::{NoSuchDrive, columns, drive, drives};
pub use emulate::{emulate, emulate_point, loads};
pub use expression::{
    Condition, Evaluated, Expression, Figures, Outcome, ParseError, PointName, Quantity, Side,
};
pub use file::DataError;
pub use goals::Goal;
pub use json::{json, json_schema};
pub use noise::Noise;
pub use planned::{Group, ReadWords, planned};
pub use plans::SectionPlan;
pub use published::{Precision, Published, Use};
pub use relation::{Relation, RelationText, RelationUse};
pub use reproduction::{compose_edition, compose_reproduction, reproduction_tables};
pub use shading::{Class, Shaded};
pub use targets::{Diagram, Intensity, Line, Maxima, Named, Target};
pub use translation::phrases_in;

#[cfg(test)]
mod tests;
