//! Options of `qdepth trend`.

use std::path::PathBuf;

use clap::Args;
use qdepth_measure::Tolerance;
use qdepth_report::Lang;

use crate::flags::{LogbookOption, languages};

#[derive(Args, Clone, Debug)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct TrendOptions {
    /// Plan name [default: the plan of the last run]
    #[arg(value_name = "PLAN")]
    pub(crate) plan: Option<String>,
    /// Target, as given to `qdepth run` [default: the target of the plan's last run]
    #[arg(value_name = "TARGET")]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    /// Smallest difference that matters in practice
    #[arg(long, default_value = "2%", value_name = "N%")]
    pub(crate) threshold: Tolerance,
    /// Print JSON instead of the table (qdepth schema trend)
    #[arg(long)]
    pub(crate) json: bool,
    /// Also print figures without a permanent change
    #[arg(long)]
    pub(crate) all: bool,
    /// Also write a page; ends in .html, .pdf or .md
    #[arg(long, short, value_name = "FILE", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,
    /// Language of the output
    #[arg(long, default_value = "en", value_parser = languages())]
    pub(crate) lang: Lang,
}

const EXIT_STATUS: &str = "Exit status: 0 nothing became slower; 1 the last change of a figure \
made it worse; 5 too few runs.";
