//! Dispatch of the command line; each command has its own module.

pub(crate) mod catalogue;
pub(crate) mod certify;
pub(crate) mod compare;
pub(crate) mod engines;
pub(crate) mod export;
pub(crate) mod fio;
pub(crate) mod first;
pub(crate) mod fit;
pub(crate) mod host;
pub(crate) mod import;
pub(crate) mod iometer;
pub(crate) mod ior;
pub(crate) mod logbook;
pub(crate) mod mdtest;
pub(crate) mod media;
pub(crate) mod plan;
pub(crate) mod predict;
pub(crate) mod read;
mod remarks;
pub(crate) mod repeat;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod serve_medium;
pub(crate) mod steady;
pub(crate) mod trend;

use anyhow::Result;

use crate::exit_status::Status;
use crate::flags::Command;
use crate::flags::needed::Needed;
use crate::terminal::print_raw;

/// Runs a parsed command.
pub(crate) fn dispatch(command: Command) -> Result<Status> {
    match command {
        Command::Run(options) => run::run(&options),
        Command::Answer(options) => run::run(&options.with(Needed::Limits)),
        Command::FitFor(options) => run::run(&options.with(Needed::Requirements)),
        Command::Plan(options) => plan::plan(&options),
        Command::Plans(options) => catalogue::plans(&options),
        Command::Profiles(options) => catalogue::profiles(&options),
        Command::Completions(options) => catalogue::completions(options),
        Command::Man(options) => catalogue::man(&options),
        Command::Fio(options) => fio::fio(&options),
        Command::Ior(options) => ior::ior(&options),
        Command::Mdtest(options) => mdtest::mdtest(&options),
        Command::Iometer(options) => iometer::iometer(&options),
        Command::Import(options) => import::import(&options),
        Command::List(options) => read::list(&options),
        Command::Note(options) => logbook::note(&options),
        Command::Retract(options) => logbook::retract(&options),
        Command::Logbook(command) => logbook::logbook(&command),
        Command::Show(options) => read::show(&options),
        Command::Report(options) => report::report(&options),
        Command::Export(options) => export::export(&options),
        Command::Compare(options) => compare::compare(&options),
        Command::Steady(options) => steady::steady(&options),
        Command::Trend(options) => trend::trend(&options),
        Command::Host(options) => host::host(&options),
        Command::Certify(options) => certify::certify(&options),
        Command::Media(options) => media::media(&options),
        Command::Predict(options) => predict::predict_plan(&options),
        Command::Reproduce(options) => reproduce::reproduce(&options),
        Command::Serve(options) => serve::serve(&options),
        Command::ServeMedium(options) => serve_medium::serve_medium(&options),
        Command::Schema(options) => print_raw(options.kind).map(|()| Status::Valid),
    }
}
