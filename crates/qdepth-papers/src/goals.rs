//! Goals of the comparison.

use serde::Deserialize;

use crate::published::{Published, Use};

/// Goal for the accuracy of a group of figures.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// Stable name.
    pub id: String,
    /// Name for people.
    pub title: String,
    /// Group of figures.
    pub group: String,
    /// Use of the figures; `None` for any use.
    #[serde(rename = "use")]
    pub used: Option<Use>,
    /// Queue depth of the figures; `None` for any depth.
    pub queue_depth: Option<u32>,
    /// Largest mean absolute error, per cent.
    pub mean: f64,
    /// Largest absolute error, per cent.
    pub worst: Option<f64>,
    /// Threshold for marking a single figure, per cent.
    pub figure: f64,
    /// Accuracy that an earlier study reached, as text.
    pub study: String,
}

impl Goal {
    /// True if the goal covers the figure.
    pub fn covers(&self, published: &Published) -> bool {
        published.group == self.group
            && published.used.counts()
            && self.used.is_none_or(|used| used == published.used)
            && self.queue_depth.is_none_or(|n| published.queue_depth == n.to_string())
    }
}

/// Required shares of relations and shaded cells, per cent.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shares {
    pub(crate) relations: f64,
    pub(crate) shading: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Goals {
    pub(crate) goal: Vec<Goal>,
    pub(crate) shares: Shares,
}
