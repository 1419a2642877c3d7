//! Options of `qdepth export`.

use clap::Args;

use crate::flags::LogbookOption;
use crate::flags::logbook::Choosing;

#[derive(Args, Clone, Debug)]
pub(crate) struct ExportOptions {
    /// Run ID, unique prefix, or latest~1; several with --csv [default: latest]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    /// Print one JSON document (default)
    #[arg(long)]
    pub(crate) json: bool,
    /// Print a table with one row for each point
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// All runs of the logbook
    #[arg(long, requires = "csv", conflicts_with = "runs", help_heading = "With --csv")]
    pub(crate) all: bool,
    #[command(flatten, next_help_heading = "With --csv")]
    pub(crate) choosing: Choosing,
}
