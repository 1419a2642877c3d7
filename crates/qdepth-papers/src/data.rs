//! The reference data (`reference/`), embedded in the program.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use flate2::read::GzDecoder;
use serde::Deserialize;

use crate::expression::PointName;
use crate::file::{DataError, list, rows, whole};
use crate::goals::{Goal, Goals, Shares};
use crate::plans::SectionPlan;
use crate::published::{self, Published};
use crate::relation::{self, Relation};
use crate::shading::Shaded;
use crate::targets::{Diagram, Diagrams, Maxima, Target};
use crate::translation;

/// A published document.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Short name, as typed on the command line.
    pub id: String,
    /// Key of the source from which its figures were taken.
    pub source: String,
    /// Title.
    pub title: String,
    /// Titles in other languages, by language tag.
    #[serde(skip)]
    pub(crate) titles: BTreeMap<&'static str, String>,
}

impl Document {
    /// Title in the language of this BCP 47 tag; English if there is no translation.
    pub fn title_in(&self, tag: &str) -> &str {
        self.titles.get(tag).unwrap_or(&self.title)
    }
}

/// Published data of all documents, or of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Documents.
    pub documents: Vec<Document>,
    /// Figures, in the order of their documents.
    pub published: Vec<Published>,
    /// Relations.
    pub relations: Vec<Relation>,
    /// Cells of the shaded table.
    pub shaded: Vec<Shaded>,
    /// Names of targets.
    pub targets: Vec<Target>,
    /// Plans of sections.
    pub plans: Vec<SectionPlan>,
    /// Diagrams of curves.
    pub diagrams: Vec<Diagram>,
    /// Diagrams of bars.
    pub maxima: Vec<Maxima>,
    /// Goals.
    pub goals: Vec<Goal>,
    pub(crate) shares: Shares,
}

/// Id of the document with the shaded table.
const SHADED_IN: &str = "iodrive";

macro_rules! shipped {
    ($name:literal) => {
        &unpacked(include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".gz")))
    };
}

/// Text of a file that the build compressed.
fn unpacked(file: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).expect("the build packed UTF-8");
    text
}

impl Reference {
    /// Reads all embedded data.
    ///
    /// # Errors
    /// If a file is damaged: a bug, which a test of this crate finds first.
    pub fn shipped() -> Result<Self, DataError> {
        let mut documents: Vec<Document> = list("documents.toml", shipped!("documents.toml"))?;
        let mut relations = relation::read(shipped!("relations.toml"))?;
        for (tag, text) in translation::FILES {
            translate(tag, text, &mut documents, &mut relations)?;
        }
        let Diagrams { diagram, maxima } = whole("diagrams.toml", shipped!("diagrams.toml"))?;
        let Goals { goal, shares } = whole("goals.toml", shipped!("goals.toml"))?;
        Ok(Self {
            documents,
            published: published::read(shipped!("published.csv"))?,
            relations,
            shaded: rows("shading.csv", shipped!("shading.csv"))?,
            targets: list("targets.toml", shipped!("targets.toml"))?,
            plans: list("plans.toml", shipped!("plans.toml"))?,
            diagrams: diagram,
            maxima,
            goals: goal,
            shares,
        })
    }

    /// Loads that are not shipped profiles: TOML in the format of a plan's profiles.
    pub fn loads_text() -> &'static str {
        include_str!("../../../reference/loads.toml")
    }

    /// Reduces the data to one document.
    ///
    /// # Errors
    /// If the document does not exist.
    pub fn of_document(mut self, name: &str) -> Result<Self, DataError> {
        if !self.documents.iter().any(|document| document.id == name) {
            let known: Vec<&str> = self.documents.iter().map(|d| d.id.as_str()).collect();
            let known = known.join(", ");
            return Err(DataError(format!("there is no document `{name}`; there are: {known}")));
        }
        self.documents.retain(|document| document.id == name);
        self.published.retain(|published| published.document == name);
        self.relations.retain(|relation| relation.document == name);
        self.diagrams.retain(|diagram| diagram.document == name);
        self.plans.retain(|plan| plan.document == name);
        self.maxima.retain(|maxima| maxima.document == name);
        if name != SHADED_IN {
            self.shaded.clear();
        }
        Ok(self)
    }

    /// Reduces the data to the figures that count and are emulated with this device alone, singly
    /// or in several copies (array, processes, layers).
    #[must_use]
    pub fn of_medium(mut self, medium: &str) -> Self {
        let is_of = |name: &str| self.target(name).is_some_and(|t| t.is_of(medium));
        let beside = |p: &Published| {
            let points = p.emulated.as_ref().map(crate::Expression::points).unwrap_or_default();
            p.used.counts() && points.iter().all(|point| is_of(&point.target))
        };
        self.published = self.published.iter().filter(|p| beside(p)).cloned().collect();
        self.relations.clear();
        self.shaded.clear();
        self.diagrams.clear();
        self.maxima.clear();
        self
    }

    /// Target with this name in expressions.
    pub fn target(&self, name: &str) -> Option<&Target> {
        self.targets.iter().find(|target| target.name == name)
    }

    /// All points that the comparison needs, without duplicates.
    pub fn points(&self) -> BTreeSet<PointName> {
        let figures = self.published.iter().filter_map(|p| p.emulated.as_ref());
        let shaded = self.shaded.iter().flat_map(|s| [&s.emulated, &s.reference]);
        let mut points: BTreeSet<PointName> =
            figures.chain(shaded).flat_map(crate::Expression::points).collect();
        let conditions = self.relations.iter().flat_map(|relation| &relation.holds);
        points.extend(conditions.flat_map(crate::Condition::points));
        for diagram in &self.diagrams {
            for line in &diagram.lines {
                points.extend(diagram.intensities.iter().map(|at| diagram.point(line, *at)));
            }
        }
        for maxima in &self.maxima {
            for load in &maxima.loads {
                points.extend(maxima.targets.iter().flat_map(|t| maxima.points(load, t)));
            }
        }
        points
    }
}

/// Adds the translations of a file to documents and relations.
///
/// # Errors
/// If it translates something that does not exist, or is not of the expected form.
pub(crate) fn translate(
    tag: &'static str,
    text: &str,
    documents: &mut [Document],
    relations: &mut [Relation],
) -> Result<(), DataError> {
    let bad = |what| DataError(format!("reference/translations/{tag}.toml: {what}"));
    let translated = translation::read(tag, text)?;
    for (id, title) in translated.documents {
        let document = documents.iter_mut().find(|document| document.id == id);
        let document = document.ok_or_else(|| bad(format!("there is no document `{id}`")))?;
        document.titles.insert(tag, title);
    }
    for (id, statement) in translated.relations {
        let relation = relations.iter_mut().find(|relation| relation.id == id);
        let relation = relation.ok_or_else(|| bad(format!("there is no relation `{id}`")))?;
        relation.statements.insert(tag, statement);
    }
    Ok(())
}
