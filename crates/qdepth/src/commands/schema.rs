//! `qdepth schema`: prints the JSON Schemas. They are included as files, because the code that
//! derives them from the types is far larger than they are.

use anyhow::Result;

use crate::exit_status::Status;
use crate::flags::{SchemaOf, SchemaOptions};
use crate::terminal::print_raw;

pub(crate) fn schema(options: SchemaOptions) -> Result<Status> {
    print_raw(text(options.of))?;
    Ok(Status::Valid)
}

fn text(subject: SchemaOf) -> &'static str {
    match subject {
        SchemaOf::Plan => include_str!("../../schemas/plan.json"),
        SchemaOf::Run => include_str!("../../schemas/run.json"),
        SchemaOf::Figures => include_str!("../../schemas/figures.json"),
        SchemaOf::Runs => include_str!("../../schemas/runs.json"),
        SchemaOf::Events => include_str!("../../schemas/events.json"),
        SchemaOf::Reproduce => include_str!("../../schemas/reproduce.json"),
        SchemaOf::Host => include_str!("../../schemas/host.json"),
        SchemaOf::Compare => include_str!("../../schemas/compare.json"),
        SchemaOf::Repeat => include_str!("../../schemas/repeat.json"),
        SchemaOf::Steady => include_str!("../../schemas/steady.json"),
        SchemaOf::Trend => include_str!("../../schemas/trend.json"),
        SchemaOf::Certificate => include_str!("../../schemas/certificate.json"),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::ValueEnum;

    use super::*;

    fn derived(subject: SchemaOf) -> String {
        match subject {
            SchemaOf::Plan => qdepth_workload::plan_schema(),
            SchemaOf::Run => qdepth_record::json_schema(),
            SchemaOf::Figures => qdepth_report::figures_schema(),
            SchemaOf::Runs => qdepth_record::runs_json_schema(),
            SchemaOf::Events => qdepth_record::events_json_schema(),
            SchemaOf::Reproduce => qdepth_papers::json_schema(),
            SchemaOf::Host => qdepth_record::host_json_schema(),
            SchemaOf::Compare => qdepth_report::versus_schema(),
            SchemaOf::Repeat => qdepth_report::repeated_schema(),
            SchemaOf::Steady => qdepth_report::steady_schema(),
            SchemaOf::Trend => qdepth_report::trend_schema(),
            SchemaOf::Certificate => qdepth_record::certificate_json_schema(),
        }
    }

    /// Checks each schema file against its types. `QDEPTH_WRITE_REFERENCE=1 cargo test -p qdepth
    /// each_schema` rewrites the files.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test writes files of the repository")]
    fn each_schema_is_that_of_its_types() {
        let writes = std::env::var_os("QDEPTH_WRITE_REFERENCE").is_some();
        for subject in SchemaOf::value_variants() {
            let name = subject.to_possible_value().unwrap();
            let file = format!("schemas/{}.json", name.get_name());
            let derived = derived(*subject);
            if writes {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
                std::fs::write(path, derived).unwrap();
            } else {
                assert!(text(*subject) == derived, "{file} is not what the types say");
            }
        }
    }
}
