//! `qdepth trend`: one plan on one target over the runs of a logbook.

use anyhow::{Result, bail};
use qdepth_logbook::Logbook;
use qdepth_record::RunHeadline;
use qdepth_report::{Measured, compose_trend, trend_json, trend_sentences, trend_table};

use crate::commands::report::page;
use crate::exit_status::Status;
use crate::flags::TrendOptions;
use crate::terminal::{print, print_document, print_table};
use qdepth_lab::failure::Usage;

pub(crate) fn trend(options: &TrendOptions) -> Result<Status> {
    let page = options.output.as_deref().map(|output| page(output, options.lang)).transpose()?;
    let runs = runs(options)?;
    let told = qdepth_report::trend(&runs, options.threshold.share());
    let lang = options.lang.of_report();
    if options.json {
        print_document(trend_json(&told).trim_end())?;
    } else {
        let table = trend_table(&told, lang);
        print(&table.caption)?;
        print_table(&table, false)?;
        trend_sentences(&told, lang).iter().try_for_each(|said| print(said))?;
    }
    if let Some((sheets, typesetter)) = page {
        sheets.write(typesetter.as_deref(), |lang| compose_trend(&told, lang))?;
    }
    Ok(match (told.became_slower(), told.has_enough_runs()) {
        (true, _) => Status::Invalid,
        (false, true) => Status::Valid,
        (false, false) => Status::CannotTell,
    })
}

/// The whole runs that nobody retracted of the plan on the target alone, the oldest first.
fn runs(options: &TrendOptions) -> Result<Vec<Measured>> {
    let path = &options.logbook.logbook;
    let logbook = Logbook::open_read_only(path)?;
    let plan = match &options.plan {
        Some(plan) => plan.clone(),
        None => {
            let newest = logbook.newest_runs(1, RunHeadline::is_comparable)?;
            newest.into_iter().next().map(|run| run.plan).unwrap_or_default()
        }
    };
    let whole = logbook.newest_runs(usize::MAX, |run| run.is_comparable() && run.plan == plan)?;
    let mut all: Vec<Measured> = Vec::new();
    for run in whole.iter().rev() {
        all.push(logbook.measured(&run.id)?);
    }
    let target = options.target.clone().or_else(|| Some(spelled(all.last()?)));
    let known: Vec<String> = all.iter().map(spelled).collect();
    all.retain(|run| Some(spelled(run)) == target);
    if all.is_empty() {
        let mut known: Vec<String> = known.into_iter().filter(|name| !name.is_empty()).collect();
        known.sort();
        known.dedup();
        bail!(Usage(format!(
            "{} has no whole run of plan `{plan}`{}; {}",
            path.display(),
            options
                .target
                .as_ref()
                .map_or_else(String::new, |target| format!(" on {target} alone")),
            match known.as_slice() {
                [] => "`qdepth list` shows what there is".to_owned(),
                known => format!("there are runs of it on {}", known.join("; ")),
            }
        )));
    }
    Ok(all)
}

/// The targets of a run, as they were spelled.
fn spelled((run, _): &Measured) -> String {
    run.targets.iter().map(|target| target.spelling.as_str()).collect::<Vec<_>>().join(", ")
}
