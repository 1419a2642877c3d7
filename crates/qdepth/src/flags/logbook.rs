//! Options of the verbs on a whole logbook.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use qdepth_record::{RunFilter, STATES};

use crate::flags::LogbookOption;

/// What chooses runs of a logbook.
#[derive(Args, Clone, Debug)]
pub(crate) struct Choosing {
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
}

impl Choosing {
    /// Whether anything of it was given.
    pub(crate) fn chooses(&self) -> bool {
        self.filter(&[]) != RunFilter::default()
    }

    /// The filter, with these words.
    pub(crate) fn filter(&self, words: &[String]) -> RunFilter {
        RunFilter {
            words: words.to_vec(),
            notes: Vec::new(),
            target: self.target.clone(),
            plan: self.plan.clone(),
            host: self.host.clone(),
            state: self.state.clone(),
            since: self.since.map(|day| day.to_string()),
            until: self.until.map(|day| day.to_string()),
        }
    }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ListOptions {
    /// Words that stand in a run's id, plan, host, time or targets
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    #[command(flatten)]
    pub(crate) choosing: Choosing,
    /// Only so many, the newest [default: 100; all with --json]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// All of them, however many
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
    /// Print one JSON document (schema: qdepth schema runs) instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum LogbookCommand {
    /// Read everything and list what is not what was written; exit status 1 where something is not
    Check(LogbookCheck),
    /// Add the runs of another logbook that are not in this one, as they were stored; what is
    /// damaged there is left out, with exit status 1
    Merge(LogbookMerge),
    /// Take runs out of a logbook for good: those that are like all of the rules given
    Prune(LogbookPrune),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct NoteOptions {
    /// Id of a run, or the beginning of it, or latest, or latest~1
    pub(crate) run: String,
    /// What is to be kept beside it
    #[arg(required = true, value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct LogbookMerge {
    /// The logbook whose runs are added; it is only read
    #[arg(value_name = "OTHER")]
    pub(crate) other: PathBuf,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
}

#[derive(Args, Clone, Debug)]
#[command(group = clap::ArgGroup::new("rule").required(true).multiple(true))]
pub(crate) struct LogbookPrune {
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    /// Runs that began before this day (UTC)
    #[arg(long, value_name = "YYYY-MM-DD", group = "rule")]
    pub(crate) before: Option<jiff::civil::Date>,
    /// Runs in one of these states; one that is running is never taken out
    #[arg(long, value_delimiter = ',', group = "rule",
        value_parser = PossibleValuesParser::new(STATES))]
    pub(crate) state: Vec<String>,
    /// Runs of this plan
    #[arg(long, value_name = "NAME", group = "rule")]
    pub(crate) plan: Option<String>,
    /// Runs on a target with this in its name
    #[arg(long, value_name = "PART", group = "rule")]
    pub(crate) target: Option<String>,
    /// Runs in virtual time
    #[arg(long, group = "rule")]
    pub(crate) emulated: bool,
    /// Runs that were retracted
    #[arg(long, group = "rule")]
    pub(crate) retracted: bool,
    /// All but the newest so many of each plan on the same targets, retracted ones not counted
    #[arg(long, value_name = "N", group = "rule")]
    pub(crate) keep_last: Option<usize>,
    /// Say what would be taken out, and take nothing
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct LogbookCheck {
    /// The file of runs
    #[arg(default_value = "qdepth.db", value_name = "FILE")]
    pub(crate) file: PathBuf,
}
