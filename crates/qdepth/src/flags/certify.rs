//! Options of `qdepth certify`.

use std::path::PathBuf;

use clap::Args;
use qdepth_measure::Nanos;

use crate::flags::{Language, LogbookOption};

#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER)]
pub(crate) struct CertifyOptions {
    /// How long the generator is repeated, without storage, for its scatter
    #[arg(long, default_value = "1min")]
    pub(crate) duration: Nanos,
    /// Prove nothing, and tell the newest certificate of this machine that the logbook keeps
    #[arg(long, conflicts_with = "duration")]
    pub(crate) show: bool,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    /// Print one JSON document (schema: qdepth schema certificate) instead of the table
    #[arg(long)]
    pub(crate) json: bool,
    /// Write it as a page, too: its name ends in .html, .pdf or .md
    #[arg(long, short, value_name = "FILE", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,
    /// Language of the words
    #[arg(long, default_value = "en")]
    pub(crate) lang: Language,
}

const AFTER: &str = "Exit status: 0 every proof that could be tried passed; 1 one failed; 5 some \
could not be tried, and none failed.";
