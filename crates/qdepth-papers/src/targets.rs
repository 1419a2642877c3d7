//! Names of emulated targets in expressions, and published diagrams.

use serde::Deserialize;

use crate::expression::{PointName, Quantity};

/// Unit of a point's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Intensity {
    /// Outstanding I/Os of each stream; each independent part of the target has one stream.
    #[default]
    Outstanding,
    /// Streams with one outstanding I/O each.
    Streams,
}

/// An emulated target by name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Name in expressions.
    pub name: String,
    /// Expression of the command line.
    pub expression: String,
    /// Unit of a point's number.
    #[serde(default)]
    pub intensity: Intensity,
}

impl Target {
    /// True if the expression contains this device and no other.
    pub(crate) fn is_of(&self, medium: &str) -> bool {
        let end = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
        let mut named = self.expression.split("media:").skip(1);
        let is = |rest: &str| rest.split(end).next() == Some(medium);
        named.next().is_some_and(is) && named.all(is)
    }
}

fn default_times() -> u32 {
    1
}

/// Published diagram, to be redrawn with emulated curves.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Diagram {
    /// Id of its document.
    pub document: String,
    /// Section of the document.
    pub section: String,
    /// Title.
    pub title: String,
    /// Quantity of the vertical axis.
    pub quantity: Quantity,
    /// Load profile.
    pub load: String,
    /// Places on the horizontal axis.
    pub intensities: Vec<u32>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line of a diagram.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Name for people.
    pub name: String,
    /// Target.
    pub target: String,
    /// Factor from the axis to the target's queue depth: 4 if the axis counts the depth of one
    /// drive of four.
    #[serde(default = "default_times")]
    pub times: u32,
}

/// A published diagram of bars: the largest transaction rate of each load on each target. Its
/// values were not printed, so it is shown as a table of emulated ones.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Maxima {
    /// Id of its document.
    pub document: String,
    /// Section of the document.
    pub section: String,
    /// Title.
    pub title: String,
    /// The loads, a row each.
    pub loads: Vec<Named>,
    /// The targets, a column each.
    pub targets: Vec<Named>,
}

/// Display name of a load or target.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// Name for people.
    pub name: String,
    /// Name of the load or target in expressions.
    pub of: String,
}

impl Maxima {
    /// Points whose largest rate is the value of a cell: queue depths 1 to 512.
    pub fn points(&self, load: &Named, target: &Named) -> Vec<PointName> {
        (0..10).map(|exponent| PointName::new(&target.of, &load.of, 1 << exponent)).collect()
    }
}

impl Diagram {
    /// Point of a line at this place of the horizontal axis.
    pub(crate) fn point(&self, line: &Line, intensity: u32) -> PointName {
        PointName::new(&line.target, &self.load, intensity * line.times)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Diagrams {
    pub(crate) diagram: Vec<Diagram>,
    #[serde(default)]
    pub(crate) maxima: Vec<Maxima>,
}
