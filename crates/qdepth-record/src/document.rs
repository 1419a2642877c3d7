//! Machine output: one JSON document, described field by field in `docs/json.md`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compared::{ComparedEntry, entries};
use crate::point::{FindingEntry, PointEntry, PointRecord, Shown, entry, finding_entry};
use crate::reason::{ReasonEntry, entry_or_text};
use crate::record::{ComparisonRecord, Observation, RunRecord, TargetRecord};

/// Name of the form, in `schema.name`.
const NAME: &str = "qdepth-run";
/// Version of the form, in `schema.version`. Rises when a field goes away or changes its meaning;
/// new fields do not raise it.
const VERSION: u32 = 1;

/// The whole document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// Which form of document this is.
    pub schema: DocumentSchema,
    /// The run.
    pub run: RunEntry,
    /// What was read from the machine.
    pub environment: Vec<ObservationEntry>,
    /// The targets, by index.
    pub targets: Vec<TargetEntry>,
    /// The points in the order of the plan.
    pub points: Vec<PointEntry>,
    /// The columns of the comparison at every load and intensity; empty where nothing is compared.
    pub compared: Vec<ComparedEntry>,
    /// Doubts about the run as a whole.
    pub findings: Vec<FindingEntry>,
}

/// Name and version of the form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentSchema {
    /// `qdepth-run`; of a machine `qdepth-host`.
    pub name: String,
    /// Version of the form, now 1; see the rule above.
    pub version: u32,
}

/// One plan executed once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunEntry {
    /// UUID version 7.
    pub id: String,
    /// Name of the plan.
    pub plan: String,
    /// SHA-256 of the plan text, lower-case hexadecimal.
    pub plan_hash: String,
    /// Decimal digits of the 64-bit seed, as text: a JSON number is not exact beyond 2^53.
    pub seed: String,
    /// Version of the program.
    pub version: String,
    /// Version of the meaning of the figures.
    pub measurement_version: u32,
    /// Whether time was invented.
    pub emulated: bool,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// RFC 3339, UTC; null while running, or where it was killed.
    pub ended_at: Option<String>,
    /// `running`, `sealed`, `interrupted` or `failed`.
    pub state: String,
    /// Points of the plan.
    pub points_planned: u32,
    /// How requests were to reach the kernel, as asked: `auto`, or the name of an engine; empty in
    /// documents of versions that did not say so.
    #[serde(default)]
    pub engine_choice: String,
    /// What it compares; null where it compares nothing.
    pub comparison: Option<ComparisonRecord>,
}

/// A fact read from the machine, with where it was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservationEntry {
    /// What it is about.
    pub subject: String,
    /// Which fact.
    pub key: String,
    /// The value; null where it could not be read.
    pub value: Option<String>,
    /// Why it could not be read; null where it could.
    #[serde(deserialize_with = "entry_or_text")]
    #[schemars(with = "Option<ReasonEntry>")]
    pub unknown_because: Option<ReasonEntry>,
    /// The file or command that it was read from; `run:` or `EMULATED:` with a code where it is
    /// from the run itself or from an emulated medium.
    pub source: String,
}

/// A target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetEntry {
    /// Its place in the run, from 0.
    pub index: u32,
    /// Its name, unique within the run.
    pub name: String,
    /// As the user spelled it.
    pub expression: String,
    /// `directory`, `file`, `block-device` or `emulated`.
    pub kind: String,
    /// The area under load, bytes.
    pub area_bytes: u64,
    /// The engine that measured it.
    pub engine: String,
    /// What is known of the storage below.
    pub facts: Vec<ObservationEntry>,
}

impl Document {
    /// Reads what [`export_json`] wrote, of this version or an older one of the same form.
    ///
    /// # Errors
    /// Why the text is no such document, or is none that figures can be taken from.
    pub fn read(text: &str) -> Result<Self, String> {
        let form: Form = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let DocumentSchema { name, version } = form.schema;
        if name != NAME {
            return Err(format!("it is a `{name}`, and no `{NAME}`"));
        }
        if version > VERSION {
            return Err(format!("its form is {version}; this program knows {VERSION}"));
        }
        let document: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let unknown = |point: &&PointEntry| document.target_of(point).is_none();
        match document.points.iter().find(unknown) {
            Some(point) => {
                Err(format!("point {} is of a target that it does not list", point.index))
            }
            None => Ok(document),
        }
    }

    /// The target of a point.
    pub fn target_of(&self, point: &PointEntry) -> Option<&TargetEntry> {
        self.targets.iter().find(|target| target.name == point.target)
    }

    /// The newest value of a fact of the machine or the run, by subject and key.
    pub fn fact(&self, wanted: (&str, &str)) -> Option<&str> {
        let is_it = |seen: &&ObservationEntry| (&*seen.subject, &*seen.key) == wanted;
        self.environment.iter().rev().find(is_it).and_then(|seen| seen.value.as_deref())
    }
}

/// Which form a text is of, whatever else it has.
#[derive(Deserialize)]
struct Form {
    schema: DocumentSchema,
}

/// The run and its points as one JSON document, ended by a line feed. Infinite and undefined
/// figures become null, so the text is valid JSON whatever was measured.
pub fn export_json(run: &RunRecord, points: &[PointRecord]) -> String {
    pretty(&document(run, points))
}

/// The JSON Schema of [`export_json`]'s document.
pub fn json_schema() -> String {
    pretty(&schemars::schema_for!(Document))
}

pub(crate) fn pretty(value: &impl Serialize) -> String {
    // Structs, vectors and maps with text keys cannot fail to become JSON.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// The run and its points in the form of machine output.
pub fn document(run: &RunRecord, points: &[PointRecord]) -> Document {
    Document {
        schema: DocumentSchema { name: NAME.to_owned(), version: VERSION },
        run: RunEntry {
            id: run.id.clone(),
            plan: run.plan_name.clone(),
            plan_hash: run.plan_hash.clone(),
            seed: run.seed.to_string(),
            version: run.qdepth_version.clone(),
            measurement_version: run.measurement_version,
            emulated: run.emulated,
            started_at: run.started_at.clone(),
            ended_at: run.ended_at.clone(),
            state: run.state.as_str().to_owned(),
            points_planned: run.points_planned,
            engine_choice: run.engine_choice.clone(),
            comparison: run.comparison.clone(),
        },
        environment: run.environment.iter().map(observation).collect(),
        targets: run.targets.iter().map(target).collect(),
        points: points.iter().map(|point| entry(&Shown::new(run, point))).collect(),
        compared: entries(run, points),
        findings: run.findings.iter().map(finding_entry).collect(),
    }
}

pub(crate) fn observation(fact: &Observation) -> ObservationEntry {
    ObservationEntry {
        subject: fact.subject.clone(),
        key: fact.key.clone(),
        value: fact.value.clone().ok(),
        unknown_because: fact.value.as_ref().err().map(ReasonEntry::from),
        source: fact.source.clone(),
    }
}

fn target(target: &TargetRecord) -> TargetEntry {
    TargetEntry {
        index: target.index,
        name: target.name.clone(),
        expression: target.expression.clone(),
        kind: target.kind.as_str().to_owned(),
        area_bytes: target.area_bytes,
        engine: target.engine.clone(),
        facts: target.facts.iter().map(observation).collect(),
    }
}
