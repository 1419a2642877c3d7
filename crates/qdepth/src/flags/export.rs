//! Options of `qdepth export`.

use std::path::PathBuf;

use clap::Args;

use crate::flags::LogbookOption;
use crate::flags::logbook::Choosing;

#[derive(Args, Clone, Debug)]
pub(crate) struct ExportOptions {
    /// Id of a run, or the beginning of it, or latest~1; several with --parquet [default: latest]
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
    /// Tables for DuckDB, pandas and their like, as Parquet files in this folder, which is made:
    /// runs, targets, facts, points, intervals, monitors, errors, findings. Of a name that ends in
    /// .parquet, that file alone: the points
    #[arg(long, value_name = "FOLDER | FILE", conflicts_with_all = ["json", "csv"])]
    pub(crate) parquet: Option<PathBuf>,
    /// Every run of the logbook
    #[arg(long, requires = "parquet", conflicts_with = "runs", help_heading = "With --parquet")]
    pub(crate) all: bool,
    #[command(flatten, next_help_heading = "With --parquet")]
    pub(crate) choosing: Choosing,
}
