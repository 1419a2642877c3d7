//! Options of `qdepth compare`.

use std::path::PathBuf;

use clap::Args;
use qdepth_measure::Tolerance;
use qdepth_report::Lang;

use crate::flags::{LogbookOption, languages};

#[derive(Args, Clone, Debug)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct CompareOptions {
    /// Baseline runs: IDs, latest~1, all, or a filter (plan=NAME)
    ///
    /// IDs: ID,ID,… or unique prefixes. Filters:
    /// plan=NAME+note=TEXT+since=YYYY-MM-DD+until=…+host=…+target=…. Another logbook: FILE.db (all
    /// its runs), FILE.db:ID, FILE.db:plan=NAME. Files: FILE.json of `qdepth export` or fio,
    /// FILE.csv of Iometer.
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// Runs to compare; same syntax as A
    #[arg(value_name = "B")]
    pub(crate) b: String,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    /// Smallest difference that matters in practice
    #[arg(long, default_value = "2%", value_name = "N%")]
    pub(crate) threshold: Tolerance,
    /// Print JSON instead of the table (qdepth schema compare)
    #[arg(long)]
    pub(crate) json: bool,
    /// Print every figure, not only those that decide
    #[arg(long)]
    pub(crate) all: bool,
    /// Print Markdown, for a pull request
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Write a page instead; ends in .html, .pdf or .md
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["json", "markdown"])]
    pub(crate) output: Option<PathBuf>,
    /// Language of the output
    #[arg(long, default_value = "en", value_parser = languages())]
    pub(crate) lang: Lang,
}

const EXIT_STATUS: &str = "Exit status: 0 B is not slower; 1 B is slower in at least one figure; \
5 B is not slower, but some figures are inconclusive.";
