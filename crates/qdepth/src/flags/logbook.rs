//! Options of the verbs on a whole logbook.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use qdepth_record::{RunFilter, STATES};

use crate::flags::LogbookOption;

/// A day; `yesterday` depends on a clock and a time zone, and is not accepted.
fn day(text: &str) -> Result<jiff::civil::Date, String> {
    text.parse().map_err(|_| "must be a date YYYY-MM-DD, for example 2026-11-27".to_owned())
}

/// Number of runs that stay.
fn remaining_runs(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "must be a number from 1, for example 10".to_owned())
}

/// Filters for the runs of a logbook.
#[derive(Args, Clone, Debug)]
pub(crate) struct Choosing {
    /// Only runs of this plan
    #[arg(long, value_name = "NAME")]
    pub(crate) plan: Option<String>,
    /// Only runs whose target name contains this text
    #[arg(long, value_name = "PART")]
    pub(crate) target: Option<String>,
    /// Only runs of this machine
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,
    /// Only runs in this state
    #[arg(long, value_parser = PossibleValuesParser::new(STATES))]
    pub(crate) state: Option<String>,
    /// Only runs since this day (UTC)
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    pub(crate) since: Option<jiff::civil::Date>,
    /// Only runs until this day (UTC)
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    pub(crate) until: Option<jiff::civil::Date>,
}

impl Choosing {
    /// True if anything of it was given.
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
    /// Words to find in ID, plan, host, time or targets
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    #[command(flatten)]
    pub(crate) choosing: Choosing,
    /// Show at most N runs, the newest [default: 100; all with --json]
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Show all runs
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
    /// Print JSON instead of the table (qdepth schema runs)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum LogbookCommand {
    /// Verify all checksums; exit 1 if any record is damaged
    Check(LogbookCheck),
    /// Add the runs of another logbook; exit 1 if any was left out
    Merge(LogbookMerge),
    /// Permanently delete the runs that match all given rules
    Prune(LogbookPrune),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct NoteOptions {
    /// Run ID, unique prefix, latest, or latest~1
    pub(crate) run: String,
    /// Text of the note
    #[arg(required = true, value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct LogbookMerge {
    /// Logbook to read the runs from
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
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day, group = "rule")]
    pub(crate) before: Option<jiff::civil::Date>,
    /// Only runs in this state
    #[arg(long, value_delimiter = ',', group = "rule",
        value_parser = PossibleValuesParser::new(STATES))]
    pub(crate) state: Vec<String>,
    /// Only runs of this plan
    #[arg(long, value_name = "NAME", group = "rule")]
    pub(crate) plan: Option<String>,
    /// Only runs whose target name contains this text
    #[arg(long, value_name = "PART", group = "rule")]
    pub(crate) target: Option<String>,
    /// Emulated runs
    #[arg(long, group = "rule")]
    pub(crate) emulated: bool,
    /// Retracted runs
    #[arg(long, group = "rule")]
    pub(crate) retracted: bool,
    /// All but the newest N runs of each plan and target; retracted runs do not count
    #[arg(long, value_name = "N", group = "rule", value_parser = remaining_runs)]
    pub(crate) keep_last: Option<usize>,
    /// Show what would be deleted, and delete nothing
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct LogbookCheck {
    /// Logbook file
    #[arg(default_value = "qdepth.db", value_name = "FILE")]
    pub(crate) file: PathBuf,
}
