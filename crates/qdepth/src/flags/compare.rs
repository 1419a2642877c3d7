//! Options of `qdepth compare`.

use std::path::PathBuf;

use clap::Args;
use qdepth_measure::Tolerance;

use crate::flags::{Language, LogbookOption};

#[derive(Args, Clone, Debug)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct CompareOptions {
    /// What is divided by: runs, as ID,ID,… (beginnings of ids), latest, latest~1, all, or those
    /// that are like all of plan=NAME+note=WORDS+since=YYYY-MM-DD+until=…+host=…+target=…; of
    /// another logbook FILE.db:ID, FILE.db:all, FILE.db:plan=NAME; or files: FILE.json of `qdepth
    /// export` or of fio, FILE.csv of Iometer
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// What is judged, likewise
    #[arg(value_name = "B")]
    pub(crate) b: String,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    /// Differences that do not matter in practice
    #[arg(long, default_value = "2%", value_name = "N%")]
    pub(crate) threshold: Tolerance,
    /// Print one JSON document (schema: qdepth schema compare) instead of the table
    #[arg(long)]
    pub(crate) json: bool,
    /// Print Markdown, for a pull request
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Write it as a page: its name ends in .html, .pdf or .md (with a folder of diagrams)
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["json", "markdown"])]
    pub(crate) output: Option<PathBuf>,
    /// Language of the words
    #[arg(long, default_value = "en")]
    pub(crate) lang: Language,
}

const EXIT_STATUS: &str = "Exit status: 0 B is slower in nothing; 1 B is slower in something; 5 it \
cannot be told for some figures, and in no other B is slower.";
