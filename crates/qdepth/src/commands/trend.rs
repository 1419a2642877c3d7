//! `qdepth trend`: follows one plan on one target through the runs of a logbook.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use qdepth_logbook::Logbook;
use qdepth_record::RunHeadline;
use qdepth_report::{Trend, TrendRequest, compose_trend, trend_json, trend_of, trend_on_screen};

use crate::commands::read::print_list;
use crate::commands::report::page;
use crate::exit_status::Status;
use crate::flags::TrendOptions;
use crate::terminal::{print, print_raw};
use qdepth_lab::failure::Usage;

pub(crate) fn trend(options: &TrendOptions) -> Result<Status> {
    let page = options.output.as_deref().map(|output| page(output, options.lang)).transpose()?;
    let trend = read_trend(options)?;
    let lang = options.lang;
    if options.json {
        print_raw(trend_json(&trend).trim_end())?;
    } else {
        let (table, sentences) = trend_on_screen(&trend, lang, options.all);
        if table.rows.is_empty() {
            print(&table.caption)?;
        } else {
            print_list(&table)?;
        }
        sentences.iter().try_for_each(|sentence| print(sentence))?;
    }
    if let Some(page) = page {
        page.write(|lang| compose_trend(&trend, lang))?;
    }
    Ok(match (trend.became_slower(), trend.has_enough_runs()) {
        (true, _) => Status::Invalid,
        (false, true) => Status::Valid,
        (false, false) => Status::CannotTell,
    })
}

/// Reads the trend of the complete, unretracted runs of the plan on this target alone.
fn read_trend(options: &TrendOptions) -> Result<Trend> {
    let path = &options.logbook.logbook;
    let logbook = Logbook::open_read_only(path)?;
    let lines = logbook.listed(usize::MAX, 0, RunHeadline::is_comparable)?;
    let (plan, target) = (options.plan.as_deref(), options.target.as_deref());
    let threshold = options.threshold.share();
    let request = TrendRequest { plan, target, most: usize::MAX, threshold };
    let record = |id: &str| logbook.run(id).map(|run| (!run.is_damaged()).then_some(run));
    let whole = |id: &str| {
        logbook.measured(id).map(|measured| (!measured.0.is_damaged()).then_some(measured))
    };
    let trend = trend_of(&lines, &request, record, whole)?;
    if trend.runs.is_empty() {
        let newest = lines.first().map(|run| run.plan.as_str());
        let plan = plan.or(newest).unwrap_or_default();
        let of_it = lines.iter().filter(|run| run.plan == plan);
        let known: BTreeSet<String> = of_it.map(|run| run.targets.join(", ")).collect();
        let known: Vec<String> = known.into_iter().filter(|name| !name.is_empty()).collect();
        bail!(Usage(format!(
            "{} has no complete run of plan `{plan}`{}; {}",
            path.display(),
            target.map_or_else(String::new, |target| format!(" on {target} only")),
            match known.as_slice() {
                [] => "`qdepth list` shows the runs".to_owned(),
                known => format!("there are runs of it on {}", known.join("; ")),
            }
        )));
    }
    Ok(trend)
}
