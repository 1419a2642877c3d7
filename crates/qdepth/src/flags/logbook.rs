//! Options of the verbs on a whole logbook.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use qdepth_logbook::{RunFilter, STATES};

use crate::flags::LogbookOption;

#[derive(Args, Clone, Debug)]
pub(crate) struct ListOptions {
    /// Words that stand in a run's id, plan, host, time or targets
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    /// Runs of this plan
    #[arg(long, value_name = "NAME")]
    pub(crate) plan: Option<String>,
    /// Runs on a target with this in its name
    #[arg(long, value_name = "PART")]
    pub(crate) target: Option<String>,
    /// Runs of this machine
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,
    /// Runs in this state
    #[arg(long, value_parser = PossibleValuesParser::new(STATES))]
    pub(crate) state: Option<String>,
    /// Runs from this day on (UTC)
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) since: Option<jiff::civil::Date>,
    /// Runs up to this day (UTC)
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) until: Option<jiff::civil::Date>,
    /// Only so many, the newest
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Print one JSON document (schema: qdepth schema runs) instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

impl ListOptions {
    /// What chooses runs.
    pub(crate) fn filter(&self) -> RunFilter {
        RunFilter {
            words: self.words.clone(),
            target: self.target.clone(),
            plan: self.plan.clone(),
            host: self.host.clone(),
            state: self.state.clone(),
            since: self.since.map(|day| day.to_string()),
            until: self.until.map(|day| day.to_string()),
        }
    }
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum LogbookCommand {
    /// Read everything and list what is not what was written; exit status 1 where something is not
    Check(LogbookCheck),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct LogbookCheck {
    /// The file of runs
    #[arg(default_value = "qdepth.db", value_name = "FILE")]
    pub(crate) file: PathBuf,
}
