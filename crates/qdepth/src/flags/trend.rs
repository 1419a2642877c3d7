//! Options of `qdepth trend`.

use std::path::PathBuf;

use clap::Args;
use qdepth_measure::Tolerance;

use crate::flags::{Language, LogbookOption};

#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TrendOptions {
    /// A plan, by its name [default: that of the last run]
    #[arg(value_name = "PLAN")]
    pub(crate) plan: Option<String>,
    /// A target, as it was given to `qdepth run` or as `qdepth list` shows it [default: that of the
    /// last run of the plan]
    #[arg(value_name = "TARGET")]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    /// Changes that do not matter in practice
    #[arg(long, default_value = "2%", value_name = "N%")]
    pub(crate) threshold: Tolerance,
    /// Print one JSON document (schema: qdepth schema trend) instead of the table
    #[arg(long)]
    pub(crate) json: bool,
    /// Write it as a page, too: its name ends in .html, .pdf or .md (with a folder of diagrams)
    #[arg(long, short, value_name = "FILE", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,
    /// Language of the words
    #[arg(long, default_value = "en")]
    pub(crate) lang: Language,
}

const EXAMPLES: &str = "Examples:
  qdepth trend                      the plan and target of the last run
  qdepth trend quick /mnt/data --logbook nightly.db
  qdepth trend -o trend.html        a page with diagrams

Exit status: 0 nothing became slower; 1 the last change of a figure was for the worse; 5 too few \
runs.";
