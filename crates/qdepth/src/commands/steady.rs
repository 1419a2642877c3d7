//! `qdepth steady`: reports if the rates of a run's points became steady.

use anyhow::{Result, bail};
use qdepth_measure::Nanos;
use qdepth_report::{steady_json, steady_report, steady_sentences, steady_table};

use crate::commands::read::{chosen, print_list};
use crate::exit_status::Status;
use crate::flags::SteadyOptions;
use crate::terminal::{print, print_raw};
use qdepth_lab::failure::Usage;

pub(crate) fn steady(options: &SteadyOptions) -> Result<Status> {
    if options.round == Nanos::ZERO {
        bail!(Usage("--round: must be longer than 0. Try --round 1min".to_owned()));
    }
    let (run, points) = chosen(&options.choice)?;
    let report = steady_report(&run, &points, options.round);
    let lang = options.lang;
    if options.json {
        print_raw(steady_json(&report).trim_end())?;
    } else {
        print_list(&steady_table(&report, lang))?;
        steady_sentences(&report, lang).iter().try_for_each(|sentence| print(sentence))?;
    }
    Ok(match (report.some_have_none(), report.all_have_levels()) {
        (true, _) => Status::Invalid,
        (false, true) => Status::Valid,
        (false, false) => Status::CannotTell,
    })
}
