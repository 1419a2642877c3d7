//! Machines of the logbook's runs, as the last run of each recorded them.

use askama::Template;
use http::StatusCode;
use qdepth_report::{host_tables, html_table};

use crate::answer::html;
use crate::pages::{Frame, PageError, PageRequest, PageResult, fill};
use crate::query::Query;

#[derive(Template)]
#[template(path = "machines.html")]
struct MachinesPage<'a> {
    frame: Frame<'a>,
    machines: Vec<Machine>,
}

struct Machine {
    name: String,
    runs: String,
    runs_address: String,
    tables: Vec<String>,
}

pub(crate) fn page(request: &PageRequest<'_>) -> PageResult {
    let machine = |((run, _), count): &(qdepth_report::Measured, usize)| {
        let name = run.host().unwrap_or_default().to_owned();
        let mut query = Query::default().with("host", name.clone());
        if let Some(lang) = request.query.first("lang") {
            query = query.with("lang", lang);
        }
        let facts = run.targets.iter().flat_map(|target| target.facts.iter());
        let emulated = |facts: &&qdepth_record::Observation| !facts.source.starts_with("EMULATED");
        let mut all = run.environment.clone();
        all.extend(facts.filter(emulated).cloned());
        let tables = host_tables(&all, false, request.lang);
        let tables: Result<Vec<String>, _> =
            tables.iter().filter(|table| !table.rows.is_empty()).map(html_table).collect();
        Ok(Machine {
            runs: fill(request.words.runs_here, "n", &count.to_string()),
            runs_address: query.address("/"),
            name,
            tables: tables?,
        })
    };
    let machines = request.source.machines()?;
    let machines = machines.iter().map(machine).collect::<Result<_, PageError>>()?;
    let page = MachinesPage { frame: request.frame(request.words.machines), machines };
    Ok(html(StatusCode::OK, page.render()?))
}
