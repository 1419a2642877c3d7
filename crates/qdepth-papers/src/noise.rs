//! Repeatability of published figures. No model can be more accurate, so no goal demands it.

use std::collections::BTreeMap;

use crate::expression::{PointName, Quantity};
use crate::published::{Published, Use};

/// Mean disagreement between published figures that should be equal, shares (0.06 is 6 %).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Noise {
    /// Disagreement between formats that should not differ, by document and queue depth.
    formats: BTreeMap<(String, String), Mean>,
    /// Disagreement between repeated figures, by document.
    repeats: BTreeMap<String, Mean>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }
    fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

/// Pairs of formatting options that differ little except in spare capacity.
const PAIRS: [(&str, &str); 2] = [
    ("Advertised Capacity", "Maximum Capacity"),
    ("Improved Write Performance", "Maximum Write Performance"),
];

impl Noise {
    /// Computes the noise of these figures.
    pub(crate) fn from_published(published: &[Published]) -> Self {
        let mut noise = Self::default();
        for (index, figure) in published.iter().enumerate() {
            for other in &published[index + 1..] {
                noise.add_pair(figure, other);
            }
        }
        noise
    }

    fn add_pair(&mut self, figure: &Published, other: &Published) {
        let (Some(a), Some(b)) = (&figure.emulated, &other.emulated) else { return };
        if figure.document != other.document {
            return;
        }
        // Relative to the larger, so that their order does not matter.
        let difference = (figure.value() - other.value()).abs() / figure.value().max(other.value());
        if a.text() == b.text() && figure.used != Use::Given {
            self.repeats.entry(figure.document.clone()).or_default().add(difference);
        }
        let tabled = figure.location == "table" && other.location == "table";
        let pair = PAIRS.contains(&(figure.format.as_str(), other.format.as_str()));
        let same = (&figure.medium, &figure.arrangement, &figure.profile, &figure.queue_depth)
            == (&other.medium, &other.arrangement, &other.profile, &other.queue_depth);
        if tabled && pair && same && !figure.profile.is_empty() {
            let key = (figure.document.clone(), figure.queue_depth.clone());
            self.formats.entry(key).or_default().add(difference);
        }
    }

    /// Noise for this kind of figure: between formats at its queue depth, otherwise between repeats
    /// in its document; `None` if neither is known.
    pub fn at(&self, published: &Published) -> Option<f64> {
        let key = (published.document.clone(), published.queue_depth.clone());
        let formats = self.formats.get(&key).and_then(|mean| mean.value());
        let repeats = || self.repeats.get(&published.document)?.value();
        // Zero means that figures were merely copied.
        formats.or_else(repeats).filter(|noise| *noise > 0.0)
    }
}

/// Published figures as a source for evaluating relations of one section.
pub(crate) struct AsPublished<'a> {
    points: BTreeMap<(Quantity, PointName), &'a Published>,
    maxima: BTreeMap<(Quantity, Vec<PointName>), &'a Published>,
}

impl<'a> AsPublished<'a> {
    /// If a document prints a figure several times, the section's own value takes precedence, then
    /// a value that counts, then the first.
    pub(crate) fn new(published: &'a [Published], document: &str, section: &str) -> Self {
        let mut figures: Vec<&Published> =
            published.iter().filter(|p| p.document == document).collect();
        figures.sort_by_key(|p| (p.section != section, !p.used.counts()));
        let (mut points, mut maxima) = (BTreeMap::new(), BTreeMap::new());
        for figure in figures.into_iter().filter(|p| p.used != Use::Inconsistent) {
            let Some(expression) = &figure.emulated else { continue };
            if let Some(point) = expression.single_point() {
                points.entry(point).or_insert(figure);
            } else if let Some(quantity) = expression.maximum_of() {
                let sweep = expression.points().into_iter().collect();
                maxima.entry((quantity, sweep)).or_insert(figure);
            }
        }
        Self { points, maxima }
    }
}

impl crate::expression::Figures for AsPublished<'_> {
    fn point(&self, quantity: Quantity, point: &PointName) -> Option<f64> {
        self.points.get(&(quantity, point.clone())).map(|p| p.comparable())
    }
    fn maximum(&self, quantity: Quantity, points: &[PointName]) -> Option<f64> {
        let mut sweep = points.to_vec();
        sweep.sort();
        self.maxima.get(&(quantity, sweep)).map(|p| p.comparable())
    }
}
