//! Options of `qdepth schema`. The JSON Schemas are included as files, because the code that
//! derives them from the types is far larger than they are.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct SchemaOptions {
    /// Schema to print
    #[arg(value_name = "KIND", value_parser = schemas())]
    pub(crate) kind: &'static str,
}

/// Names of the schemas, with their help and their text.
const SCHEMAS: [(&str, &str, &str); 12] = [
    ("plan", "Plan files", include_str!("../../schemas/plan.json")),
    ("run", "Runs: run --json, export --json", include_str!("../../schemas/run.json")),
    ("figures", "Diagrams: report --format json", include_str!("../../schemas/figures.json")),
    ("runs", "Lists of runs: list --json", include_str!("../../schemas/runs.json")),
    ("events", "Lines of run --events", include_str!("../../schemas/events.json")),
    ("reproduce", "reproduce --json", include_str!("../../schemas/reproduce.json")),
    ("host", "host --json", include_str!("../../schemas/host.json")),
    ("compare", "compare --json", include_str!("../../schemas/compare.json")),
    ("repeat", "Campaigns: run --repeat --json", include_str!("../../schemas/repeat.json")),
    ("trend", "trend --json", include_str!("../../schemas/trend.json")),
    ("steady", "steady --json", include_str!("../../schemas/steady.json")),
    ("certificate", "Certificates: certify --json", include_str!("../../schemas/certificate.json")),
];

/// Parser of a schema's name.
fn schemas() -> impl TypedValueParser<Value = &'static str> {
    let values = SCHEMAS.map(|(name, help, _)| PossibleValue::new(name).help(help));
    let text = |name: &str| SCHEMAS.iter().find(|row| row.0 == name).map(|row| row.2);
    PossibleValuesParser::new(values)
        .try_map(move |name| text(&name).ok_or("there is no such schema"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use schemars::JsonSchema;

    use super::*;

    /// Schema of a type.
    fn schema<T: JsonSchema>() -> String {
        serde_json::to_string_pretty(&schemars::schema_for!(T)).unwrap()
    }

    /// Schema of a type, with a final newline.
    fn line<T: JsonSchema>() -> String {
        schema::<T>() + "\n"
    }

    fn derived(name: &str) -> String {
        match name {
            "plan" => schema::<qdepth_workload::PlanFile>(),
            "run" => line::<qdepth_record::Document>(),
            "figures" => qdepth_report::figures_schema(),
            "runs" => line::<qdepth_record::RunsDocument>(),
            "events" => line::<qdepth_record::RunEvent>(),
            "reproduce" => qdepth_papers::json_schema(),
            "host" => line::<qdepth_record::HostDocument>(),
            "compare" => line::<qdepth_report::Versus>(),
            "repeat" => line::<qdepth_report::Repeated>(),
            "steady" => line::<qdepth_report::SteadyReport>(),
            "trend" => line::<qdepth_report::Trend>(),
            "certificate" => line::<qdepth_record::CertificateRecord>(),
            _ => panic!("{name} has no type"),
        }
    }

    /// Checks each schema file against its types. `QDEPTH_WRITE_REFERENCE=1 cargo test -p qdepth
    /// each_schema` rewrites the files.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test writes files of the repository")]
    fn each_schema_matches_its_types() {
        let writes = std::env::var_os("QDEPTH_WRITE_REFERENCE").is_some();
        for (name, _, text) in SCHEMAS {
            let file = format!("schemas/{name}.json");
            let derived = derived(name);
            if writes {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
                std::fs::write(path, derived).unwrap();
            } else {
                assert!(text == derived, "{file} is not what the types say");
            }
        }
    }
}
