//! JSON form of the comparison, with a versioned format.

use schemars::JsonSchema;
use serde::Serialize;

use crate::compare::{
    ComparedFigure, ComparedRelation, Comparison, Errors, SectionSummary, ShareResult, Verdict,
};
use crate::expression::{Evaluated, Outcome};
use crate::published::{Precision, Use};
use crate::shading::Class;

/// The whole document. Errors are shares: 0.05 is 5 %.
#[derive(Serialize, JsonSchema)]
struct Document {
    /// Format of the document.
    schema: Schema,
    /// Always true: time was virtual; nothing was measured on storage.
    emulated: bool,
    /// True if every goal is reached: exit status 0, else 1.
    reached: bool,
    /// Goals for which the chosen documents have figures.
    goals: Vec<GoalEntry>,
    /// Relations that hold, of those that count.
    relations_held: ShareResult,
    /// Cells of the shaded table in the printed class of grey.
    shading_held: ShareResult,
    /// Errors by section and use.
    sections: Vec<SectionSummary>,
    /// Published figures, each with the emulated one.
    figures: Vec<FigureEntry>,
    /// Published relations.
    relations: Vec<RelationEntry>,
    /// The shaded table.
    shading: Vec<ShadeEntry>,
    /// Plans that measured the variants of their sections.
    plans: Vec<PlanEntry>,
}

/// Plan of a section.
#[derive(Serialize, JsonSchema)]
struct PlanEntry {
    /// ID of the document.
    document: String,
    /// The section.
    section: String,
    /// Command that prints its comparison.
    command: String,
    /// Names of its variants in expressions, in order.
    columns: Vec<String>,
}

/// Name and version of the format.
#[derive(Serialize, JsonSchema)]
struct Schema {
    /// Always `qdepth-reproduce`.
    name: &'static str,
    /// Version of the format, currently 1.
    version: u32,
}

/// A goal.
#[derive(Serialize, JsonSchema)]
struct GoalEntry {
    /// Stable name.
    id: String,
    /// Largest mean absolute error.
    mean_at_most: f64,
    /// Largest absolute error.
    worst_at_most: Option<f64>,
    /// True if it is reached.
    reached: bool,
    /// The errors of its figures.
    errors: Errors,
}

/// A published figure.
#[derive(Serialize, JsonSchema)]
struct FigureEntry {
    /// Stable name.
    id: String,
    /// ID of the document.
    document: String,
    /// The section.
    section: String,
    /// Text, table, diagram.
    place: String,
    /// The storage, with its formatting option.
    medium: String,
    /// Single, RAID 0 of two, …
    arrangement: String,
    /// Load profile.
    profile: String,
    /// Queue depth, as the source counts it.
    queue_depth: String,
    /// Quantity.
    quantity: String,
    /// Its unit; empty for a ratio.
    unit: String,
    /// Published value; the lower end of a range.
    published: f64,
    /// Upper end of a range.
    published_high: Option<f64>,
    /// Precision of the source.
    precision: Precision,
    /// Use.
    #[serde(rename = "use")]
    used: Use,
    /// Expression of the emulated value, in the language of `reference/`; null if there is none.
    expression: Option<String>,
    /// Its value.
    emulated: Option<f64>,
    /// emulated ÷ published − 1.
    error: Option<f64>,
    /// Largest absolute error that passes; null for figures that do not count.
    bar: Option<f64>,
    /// True if it passes; null for figures that do not count.
    passes: Option<bool>,
    /// Mean difference between figures of the source that should be equal, for this kind of figure.
    noise: Option<f64>,
    /// Note.
    remark: String,
}

/// A published relation.
#[derive(Serialize, JsonSchema)]
struct RelationEntry {
    /// Stable name.
    id: String,
    /// ID of the document.
    document: String,
    /// The section.
    section: String,
    /// The statement.
    says: String,
    /// Under which conditions.
    #[serde(rename = "where")]
    circumstances: String,
    /// Consequence.
    expected: String,
    /// Verdict.
    verdict: Verdict,
    /// Reason why it is not counted; empty if it is counted.
    why: String,
    /// Conditions that express the statement in figures, each with its result.
    conditions: Vec<ConditionEntry>,
}

/// A condition of a relation.
#[derive(Serialize, JsonSchema)]
struct ConditionEntry {
    /// In the language of `reference/`.
    text: String,
    /// True if the emulated figures confirm it; null if they are missing.
    emulated: Option<bool>,
    /// The sides of the comparison that decides, in its order.
    sides: Vec<Option<f64>>,
    /// True if the published figures confirm it; null if they are not printed.
    published: Option<bool>,
}

/// A cell of the shaded table.
#[derive(Serialize, JsonSchema)]
struct ShadeEntry {
    /// Arrangement.
    arrangement: String,
    /// Load profile.
    load: String,
    /// Formatting option.
    format: String,
    /// Queue depth.
    queue_depth: u32,
    /// Class as printed.
    published: Class,
    /// Class as emulated.
    emulated: Option<Class>,
    /// Emulated increase over the standard format.
    increase: Option<f64>,
}

/// Comparison as one JSON document, without a final newline.
pub fn json(comparison: &Comparison) -> String {
    serde_json::to_string_pretty(&document(comparison)).unwrap_or_default()
}

/// JSON Schema of the document of [`json`].
pub fn json_schema() -> String {
    serde_json::to_string_pretty(&schemars::schema_for!(Document)).unwrap_or_default()
}

fn document(comparison: &Comparison) -> Document {
    let goals = comparison.goals.iter().map(|result| GoalEntry {
        id: result.goal.id.clone(),
        mean_at_most: result.goal.mean / 100.0,
        worst_at_most: result.goal.worst.map(|worst| worst / 100.0),
        reached: result.reached,
        errors: result.errors.clone(),
    });
    let shading = comparison.shaded.iter().map(|cell| ShadeEntry {
        arrangement: cell.shaded.arrangement.clone(),
        load: cell.shaded.load.clone(),
        format: cell.shaded.format.clone(),
        queue_depth: cell.shaded.queue_depth,
        published: cell.shaded.class,
        emulated: cell.class,
        increase: cell.increase,
    });
    let plans = comparison.plans.iter().map(|plan| PlanEntry {
        document: plan.document.clone(),
        section: plan.section.clone(),
        command: plan.command(),
        columns: plan.columns.clone(),
    });
    Document {
        schema: Schema { name: "qdepth-reproduce", version: 1 },
        emulated: true,
        reached: comparison.reached(),
        goals: goals.collect(),
        relations_held: comparison.relations_held,
        shading_held: comparison.shading_held,
        sections: comparison.sections.clone(),
        figures: comparison.figures.iter().map(figure).collect(),
        relations: comparison.relations.iter().map(relation).collect(),
        shading: shading.collect(),
        plans: plans.collect(),
    }
}

fn figure(figure: &ComparedFigure) -> FigureEntry {
    let published = figure.published.clone();
    let medium = format!("{} {}", published.medium, published.format);
    FigureEntry {
        medium: medium.trim_end().to_owned(),
        published: published.low,
        published_high: published.high,
        expression: published.emulated.as_ref().map(|e| e.text().to_owned()),
        emulated: figure.emulated,
        error: figure.error,
        bar: figure.bar,
        passes: figure.passes(),
        noise: figure.noise,
        id: published.id,
        document: published.document,
        section: published.section,
        place: published.location,
        arrangement: published.arrangement,
        profile: published.profile,
        queue_depth: published.queue_depth,
        quantity: published.quantity,
        unit: published.unit,
        precision: published.precision,
        used: published.used,
        remark: published.remark,
    }
}

fn relation(compared: &ComparedRelation) -> RelationEntry {
    let truth = |evaluated: &Evaluated| match evaluated.outcome {
        Outcome::Holds => Some(true),
        Outcome::Fails => Some(false),
        Outcome::Unknown => None,
    };
    let relation = compared.relation.clone();
    let both = compared.emulated.iter().zip(&compared.published);
    let conditions = relation.holds.iter().zip(both);
    RelationEntry {
        conditions: conditions
            .map(|(condition, (emulated, published))| ConditionEntry {
                text: condition.text().to_owned(),
                emulated: truth(emulated).filter(|holds| emulated.complete || !holds),
                sides: emulated.sides.iter().map(|side| side.value).collect(),
                published: truth(published),
            })
            .collect(),
        id: relation.id,
        document: relation.document,
        section: relation.section,
        says: relation.says,
        circumstances: relation.circumstances,
        expected: relation.expected,
        verdict: compared.verdict,
        why: relation.why,
    }
}
