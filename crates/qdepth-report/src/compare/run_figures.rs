//! The figures of a run that a trend needs, without its points.

use schemars::JsonSchema;
use serde::Serialize;

use crate::compare::matched::{Key, documents, figures};
use crate::presentation::Measured;

/// A run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TrendRun {
    /// ID of the run.
    pub id: String,
    /// RFC 3339, UTC.
    pub started_at: String,
}

/// Figures of a run for a trend.
#[derive(Clone, Debug)]
pub struct RunFigures {
    pub(super) run: TrendRun,
    pub(super) plan: String,
    pub(super) target: String,
    pub(super) emulated: bool,
    /// The plan without its seeds. Runs of plans with the same name may differ in durations, queue
    /// depths or area.
    pub(super) settings: String,
    pub(super) figures: Vec<(Key, &'static str, f64)>,
}

impl RunFigures {
    /// Extracts the figures of a run, and drops its points.
    pub fn from_run(whole: Measured) -> Self {
        let mut kept = Vec::new();
        for (key, of_load) in figures(&documents(std::slice::from_ref(&whole))) {
            for (name, values) in of_load.figures() {
                kept.extend(values.first().map(|value| (key.clone(), name, *value)));
            }
        }
        let (run, _) = whole;
        Self {
            run: TrendRun { id: run.id, started_at: run.started_at },
            plan: run.plan_name,
            target: run
                .targets
                .into_iter()
                .next()
                .map_or_else(String::new, |target| target.expression),
            emulated: run.emulated,
            settings: settings(&run.plan_text),
            figures: kept,
        }
    }
}

/// The text of a plan without its seeds.
fn settings(plan: &str) -> String {
    fn without_seeds(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(fields) => {
                fields.remove("seed");
                fields.values_mut().for_each(without_seeds);
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(without_seeds),
            _ => {}
        }
    }
    let Ok(mut value) = serde_json::from_str(plan) else { return plan.to_owned() };
    without_seeds(&mut value);
    value.to_string()
}
