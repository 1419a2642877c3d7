//! Machine output: one JSON document (`docs/json.md`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{AnswerEntry, answers};
use crate::compared::{ComparedEntry, entries};
use crate::point::{FindingEntry, PointEntry, PointRecord, Shown, entry, finding_entry};
use crate::record::{
    ObservationEntry, RunEntry, RunRecord, TargetEntry, observation, run_entry, target_entry,
};

use crate::required::{RequiredEntry, required};

/// Name of the format, in `schema.name`.
const NAME: &str = "qdepth-run";
/// Version of the format, in `schema.version`. It rises when a field is removed or changes its
/// meaning, but not for new fields.
const VERSION: u32 = 1;

/// The whole document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// Format of the document.
    pub schema: DocumentSchema,
    /// The run.
    pub run: RunEntry,
    /// Facts of the machine.
    pub environment: Vec<ObservationEntry>,
    /// The targets, by index.
    pub targets: Vec<TargetEntry>,
    /// The points in the order of the plan.
    pub points: Vec<PointEntry>,
    /// Variants of the comparison at every load and queue depth; empty without a comparison.
    pub compared: Vec<ComparedEntry>,
    /// Highest rate at the plan's latency limits, by target; absent if the plan asks for none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<AnswerEntry>,
    /// Requirements of the plan, and whether they are met; empty without requirements.
    #[serde(default)]
    pub required: Vec<RequiredEntry>,
    /// Findings about the run as a whole.
    pub findings: Vec<FindingEntry>,
}

/// Name and version of the format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentSchema {
    /// `qdepth-run`, or `qdepth-host` for a machine.
    pub name: String,
    /// Version of the format, currently 1.
    pub version: u32,
}

impl Document {
    /// Reads a document that [`export_json`] of this or an older version wrote.
    ///
    /// # Errors
    /// Why the text is not such a document, or cannot provide figures.
    pub fn read(text: &str) -> Result<Self, String> {
        let form: Form = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let DocumentSchema { name, version } = form.schema;
        if name != NAME {
            return Err(format!("it is a `{name}`, not a `{NAME}`"));
        }
        if version > VERSION {
            return Err(format!(
                "its format is {version}; this version of qdepth supports {VERSION}"
            ));
        }
        let document: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let unknown = |point: &&PointEntry| document.target_of(point).is_none();
        match document.points.iter().find(unknown) {
            Some(point) => {
                Err(format!("point {} has a target that the document does not list", point.index))
            }
            None => Ok(document),
        }
    }

    /// The target of a point.
    pub fn target_of(&self, point: &PointEntry) -> Option<&TargetEntry> {
        self.targets.iter().find(|target| target.name == point.target)
    }

    /// The latest value of a fact about the machine or the run, by subject and key.
    pub fn fact(&self, wanted: (&str, &str)) -> Option<&str> {
        let is_it = |seen: &&ObservationEntry| (&*seen.subject, &*seen.key) == wanted;
        self.environment.iter().rev().find(is_it).and_then(|seen| seen.value.as_deref())
    }
}

/// The `schema` of a document, whatever else the document contains.
#[derive(Deserialize)]
struct Form {
    schema: DocumentSchema,
}

/// The run and its points as one JSON document with a final line feed. Infinite and undefined
/// figures become null, so that the text is valid JSON in any case.
pub fn export_json(run: &RunRecord, points: &[PointRecord]) -> String {
    pretty(&document(run, points))
}

pub(crate) fn pretty(value: &impl Serialize) -> String {
    // Structs, vectors and maps with string keys always serialise.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// The run and its points as a document.
pub fn document(run: &RunRecord, points: &[PointRecord]) -> Document {
    Document {
        schema: DocumentSchema { name: NAME.to_owned(), version: VERSION },
        run: run_entry(&run),
        environment: run.environment.iter().map(observation).collect(),
        targets: run.targets.iter().map(|target| target_entry(&target)).collect(),
        points: points.iter().map(|point| entry(&Shown::new(run, point))).collect(),
        compared: entries(run, points),
        answers: answers(run, points),
        required: required(run, points),
        findings: run.findings.iter().map(finding_entry).collect(),
    }
}
