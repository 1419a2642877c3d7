//! Options of `qdepth export`.

use clap::Args;

use crate::flags::LogbookOption;
use crate::flags::logbook::Choosing;

#[derive(Args, Clone, Debug)]
pub(crate) struct ExportOptions {
    /// Id of a run, or the beginning of it, or latest~1; several with --csv [default: latest]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    /// One JSON document (the default)
    #[arg(long)]
    pub(crate) json: bool,
    /// A table, one row for each point
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Every run of the logbook
    #[arg(long, requires = "csv", conflicts_with = "runs", help_heading = "With --csv")]
    pub(crate) all: bool,
    #[command(flatten, next_help_heading = "With --csv")]
    pub(crate) choosing: Choosing,
}
