//! Comparison of published figures and relations with emulated ones.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::data::{Document, Reference};
use crate::expression::{Evaluated, Figures, Outcome, PointName, Quantity};
use crate::goals::Goal;
use crate::noise::{AsPublished, Noise};
use crate::plans::SectionPlan;
use crate::published::{Published, Use};
use crate::relation::{Relation, RelationUse};
use crate::shading::{Class, Shaded};
use crate::targets::{Diagram, Maxima};

/// Result of one emulated point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EmulatedPoint {
    /// IOPS (the papers' transaction rate).
    pub io_per_s: f64,
    /// Throughput, bytes per second.
    pub bytes_per_s: f64,
    /// Mean latency, ns.
    pub latency_ns: f64,
}

impl EmulatedPoint {
    /// Result of a window: completed I/Os, bytes, length of the window (ns), and sum of the
    /// latencies (ns). `None` if nothing completed.
    pub fn new(completed: u64, bytes: u64, duration_ns: u64, times_ns: u128) -> Option<Self> {
        let seconds = duration_ns as f64 / 1e9;
        (completed > 0 && duration_ns > 0).then(|| Self {
            io_per_s: completed as f64 / seconds,
            bytes_per_s: bytes as f64 / seconds,
            latency_ns: times_ns as f64 / completed as f64,
        })
    }
}

impl EmulatedPoint {
    /// Combines loads that ran at the same time: rates add up, and the latency is the mean over all
    /// I/Os. `None` without completed I/Os.
    pub fn together(points: &[Self]) -> Option<Self> {
        let sum = |value: &dyn Fn(&Self) -> f64| points.iter().map(value).sum::<f64>();
        let io_per_s = sum(&|p| p.io_per_s);
        (io_per_s > 0.0).then(|| Self {
            io_per_s,
            bytes_per_s: sum(&|p| p.bytes_per_s),
            latency_ns: sum(&|p| p.latency_ns * p.io_per_s) / io_per_s,
        })
    }
}

/// Result of every requested point, or the reason for its failure.
pub type Emulation = BTreeMap<PointName, Result<EmulatedPoint, String>>;

struct AsEmulated<'a>(&'a Emulation);

impl Figures for AsEmulated<'_> {
    fn point(&self, quantity: Quantity, point: &PointName) -> Option<f64> {
        let point = self.0.get(point)?.as_ref().ok()?;
        Some(match quantity {
            Quantity::Rate => point.io_per_s,
            Quantity::Throughput => point.bytes_per_s / f64::from(1 << 20),
            Quantity::ThroughputGb => point.bytes_per_s / 1e9,
            Quantity::Latency => point.latency_ns / 1e6,
        })
    }
}

/// Published figure with its emulated value.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedFigure {
    /// Published figure.
    pub published: Published,
    /// Emulated value; `None` if there is none or it could not be emulated.
    pub emulated: Option<f64>,
    /// emulated ÷ published − 1.
    pub error: Option<f64>,
    /// Largest permitted absolute error, a share; `None` for figures that do not count.
    pub bar: Option<f64>,
    /// Repeatability of the source here, as a share.
    pub noise: Option<f64>,
}

impl ComparedFigure {
    /// True if the error is permitted; `None` for figures that do not count. A figure without an
    /// emulated value fails.
    pub fn passes(&self) -> Option<bool> {
        let bar = self.bar?;
        Some(self.error.is_some_and(|error| error.abs() <= bar))
    }
}

/// Verdict on a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The emulated figures confirm it.
    Holds,
    /// The emulated figures do not confirm it.
    Fails,
    /// Some could not be emulated: counts as failing.
    Missing,
    /// The source contradicts itself: not counted.
    Inconsistent,
    /// Not something that figures could show: not counted.
    Given,
}

/// Published relation, evaluated on emulated and on published figures.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedRelation {
    /// Published relation.
    pub relation: Relation,
    /// Verdict.
    pub verdict: Verdict,
    /// Each of its conditions on emulated figures.
    pub emulated: Vec<Evaluated>,
    /// Each of its conditions on published figures, as far as they are printed.
    pub published: Vec<Evaluated>,
}

/// Shaded cell with its emulated class.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedShade {
    /// Published shade.
    pub shaded: Shaded,
    /// Emulated increase over the reference, a share; `None` if it could not be emulated.
    pub increase: Option<f64>,
    /// Class of the emulated increase.
    pub class: Option<Class>,
}

/// Errors of several figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ErrorsEntry")]
pub struct Errors {
    /// Figures.
    pub count: usize,
    /// Number of these that could not be emulated.
    pub missing: usize,
    /// Mean absolute error.
    pub mean: Option<f64>,
    /// Largest absolute error.
    pub worst: Option<f64>,
    /// ID of its figure.
    pub worst_at: Option<String>,
    /// Mean difference between figures of the source that should be equal.
    pub noise: Option<f64>,
}

/// Errors of a section's figures of one use.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "SectionEntry")]
pub struct SectionSummary {
    /// ID of the document.
    pub document: String,
    /// The section.
    pub section: String,
    /// Use of its figures.
    #[serde(rename = "use")]
    pub used: Use,
    /// Their errors.
    pub errors: Errors,
}

/// Goal with its result.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalResult {
    /// The goal.
    pub goal: Goal,
    /// The errors of its figures.
    pub errors: Errors,
    /// True if it is reached.
    pub reached: bool,
}

/// A share that must hold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ShareEntry")]
pub struct ShareResult {
    /// Number of those that hold.
    pub holding: usize,
    /// Total number.
    pub of: usize,
    /// Needed share.
    pub needed: f64,
    /// True if it is enough.
    pub reached: bool,
}

impl ShareResult {
    /// Result with `needed` as the share that must hold; without cases it is reached.
    pub(crate) fn new(holding: usize, cases: usize, needed: f64) -> Self {
        let mut result = Self { holding, of: cases, needed, reached: true };
        result.reached = result.share().is_none_or(|share| share >= needed);
        result
    }

    /// Share of cases that hold; `None` without cases.
    pub fn share(&self) -> Option<f64> {
        (self.of > 0).then(|| self.holding as f64 / self.of as f64)
    }
}

/// Complete comparison of the published data with an emulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The documents.
    pub documents: Vec<Document>,
    /// All figures, in the order of their documents.
    pub figures: Vec<ComparedFigure>,
    /// All relations.
    pub relations: Vec<ComparedRelation>,
    /// The shaded table.
    pub shaded: Vec<ComparedShade>,
    /// Errors by section and use.
    pub sections: Vec<SectionSummary>,
    /// Results of the goals for which these documents have figures.
    pub goals: Vec<GoalResult>,
    /// Relations that hold.
    pub relations_held: ShareResult,
    /// Cells of the same class of grey.
    pub shading_held: ShareResult,
    /// Plans that measured the variants of their sections.
    pub plans: Vec<SectionPlan>,
    /// Diagrams of curves to draw.
    pub diagrams: Vec<Diagram>,
    /// Diagrams of bars to show as tables.
    pub maxima: Vec<Maxima>,
    /// Emulated points.
    pub emulation: Emulation,
}

impl Comparison {
    /// True if every goal is reached.
    pub fn reached(&self) -> bool {
        self.goals.iter().all(|goal| goal.reached)
            && self.relations_held.reached
            && self.shading_held.reached
    }

    /// The errors of the figures of one use.
    pub fn errors_of(&self, used: Use) -> Errors {
        errors(self.figures.iter().filter(|figure| figure.published.used == used))
    }

    /// The emulated figure of a point.
    pub fn emulated(&self, quantity: Quantity, point: &PointName) -> Option<f64> {
        AsEmulated(&self.emulation).point(quantity, point)
    }

    /// Reasons why points could not be emulated, with their counts.
    pub fn failures(&self) -> BTreeMap<&str, usize> {
        let mut reasons = BTreeMap::new();
        for reason in self.emulation.values().filter_map(|point| point.as_ref().err()) {
            *reasons.entry(reason.as_str()).or_insert(0) += 1;
        }
        reasons
    }
}

/// Compares an emulation with the published data.
pub fn compare(reference: &Reference, emulation: Emulation) -> Comparison {
    let noise = Noise::from_published(&reference.published);
    let figures: Vec<ComparedFigure> =
        reference.published.iter().map(|p| figure(reference, &noise, &emulation, p)).collect();
    let relations: Vec<ComparedRelation> =
        reference.relations.iter().map(|r| relation(reference, &emulation, r)).collect();
    let shaded: Vec<ComparedShade> =
        reference.shaded.iter().map(|cell| shade(&emulation, cell)).collect();
    let counted =
        |r: &&ComparedRelation| !matches!(r.verdict, Verdict::Inconsistent | Verdict::Given);
    let counted = relations.iter().filter(counted).count();
    let hold = relations.iter().filter(|r| r.verdict == Verdict::Holds).count();
    let alike = shaded.iter().filter(|s| s.class == Some(s.shaded.class)).count();
    let relations_held = ShareResult::new(hold, counted, reference.shares.relations / 100.0);
    let shading_held = ShareResult::new(alike, shaded.len(), reference.shares.shading / 100.0);
    Comparison {
        documents: reference.documents.clone(),
        sections: sections(&figures),
        goals: reference.goals.iter().filter_map(|goal| goal_result(goal, &figures)).collect(),
        figures,
        relations,
        shaded,
        relations_held,
        shading_held,
        plans: reference.plans.clone(),
        diagrams: reference.diagrams.clone(),
        maxima: reference.maxima.clone(),
        emulation,
    }
}

fn figure(
    reference: &Reference,
    noise: &Noise,
    emulation: &Emulation,
    published: &Published,
) -> ComparedFigure {
    let emulated = published.emulated.as_ref().and_then(|e| e.value(&AsEmulated(emulation)));
    // The strictest goal that covers the figure sets its threshold.
    let bars = reference.goals.iter().filter(|goal| goal.covers(published)).map(|g| g.figure);
    let bar = bars.reduce(f64::min).map(|percent| percent / 100.0);
    ComparedFigure {
        emulated,
        error: emulated.map(|e| e / published.value() - 1.0).filter(|e| e.is_finite()),
        bar,
        noise: published.used.counts().then(|| noise.at(published)).flatten(),
        published: published.clone(),
    }
}

fn relation(reference: &Reference, emulation: &Emulation, relation: &Relation) -> ComparedRelation {
    let as_published =
        AsPublished::new(&reference.published, &relation.document, &relation.section);
    let emulated: Vec<Evaluated> =
        relation.holds.iter().map(|c| c.evaluate(&AsEmulated(emulation))).collect();
    let verdict = match relation.used {
        RelationUse::Inconsistent => Verdict::Inconsistent,
        RelationUse::Given => Verdict::Given,
        RelationUse::Held if emulated.iter().any(|e| e.outcome == Outcome::Fails) => Verdict::Fails,
        RelationUse::Held if !emulated.iter().all(|e| e.complete) => Verdict::Missing,
        RelationUse::Held => Verdict::Holds,
    };
    ComparedRelation {
        verdict,
        emulated,
        published: relation.holds.iter().map(|c| c.evaluate(&as_published)).collect(),
        relation: relation.clone(),
    }
}

fn shade(emulation: &Emulation, cell: &Shaded) -> ComparedShade {
    let figures = AsEmulated(emulation);
    let both = cell.emulated.value(&figures).zip(cell.reference.value(&figures));
    let increase = both.map(|(value, reference)| value / reference - 1.0);
    ComparedShade { shaded: cell.clone(), increase, class: increase.map(Class::from_increase) }
}

fn errors<'a>(figures: impl Iterator<Item = &'a ComparedFigure>) -> Errors {
    let mut out = Errors::default();
    let (mut sum, mut noises) = (0.0, Vec::new());
    for figure in figures {
        out.count += 1;
        noises.extend(figure.noise);
        let Some(error) = figure.error.map(f64::abs) else {
            out.missing += 1;
            continue;
        };
        sum += error;
        if out.worst.is_none_or(|worst| error > worst) {
            out.worst = Some(error);
            out.worst_at = Some(figure.published.id.clone());
        }
    }
    let known = out.count - out.missing;
    out.mean = (known > 0).then(|| sum / known as f64);
    out.noise = (!noises.is_empty()).then(|| noises.iter().sum::<f64>() / noises.len() as f64);
    out
}

fn sections(figures: &[ComparedFigure]) -> Vec<SectionSummary> {
    let mut locations: Vec<(&str, &str)> = Vec::new();
    let counting = || figures.iter().filter(|f| f.published.used.counts());
    for figure in counting() {
        let location = (figure.published.document.as_str(), figure.published.section.as_str());
        if !locations.contains(&location) {
            locations.push(location);
        }
    }
    let uses = [Use::Calibrated, Use::Predicted, Use::ReproducedNotValidated, Use::Tabled];
    let mut all = Vec::new();
    for (document, section) in locations {
        for used in uses {
            let belongs = |f: &&ComparedFigure| {
                let p = &f.published;
                (p.document.as_str(), p.section.as_str(), p.used) == (document, section, used)
            };
            let errors = errors(counting().filter(belongs));
            if errors.count > 0 {
                let (document, section) = (document.to_owned(), section.to_owned());
                all.push(SectionSummary { document, section, used, errors });
            }
        }
    }
    all
}

/// Result of a goal; `None` if these documents have no figure for it.
fn goal_result(goal: &Goal, figures: &[ComparedFigure]) -> Option<GoalResult> {
    let errors = errors(figures.iter().filter(|figure| goal.covers(&figure.published)));
    if errors.count == 0 {
        return None;
    }
    let mean = errors.mean.is_some_and(|mean| mean * 100.0 <= goal.mean);
    let worst = match (goal.worst, errors.worst) {
        (Some(bar), Some(worst)) => worst * 100.0 <= bar,
        (bar, _) => bar.is_none(),
    };
    let reached = errors.missing == 0 && mean && worst;
    Some(GoalResult { goal: goal.clone(), errors, reached })
}
