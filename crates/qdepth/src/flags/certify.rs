//! Options of `qdepth certify`.

use std::path::PathBuf;

use clap::Args;
use qdepth_measure::Nanos;
use qdepth_report::Lang;

use crate::flags::{LogbookOption, languages};

#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER)]
pub(crate) struct CertifyOptions {
    /// Duration of the repeatability test of the load generator
    #[arg(long, default_value = "1min", value_name = "TIME")]
    pub(crate) duration: Nanos,
    /// Print the newest certificate of this machine instead of testing
    #[arg(long, conflicts_with = "duration")]
    pub(crate) show: bool,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    /// Print JSON instead of the table (qdepth schema certificate)
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write a page; ends in .html, .pdf or .md
    #[arg(long, short, value_name = "FILE", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,
    /// Language of the output
    #[arg(long, default_value = "en", value_parser = languages())]
    pub(crate) lang: Lang,
}

const AFTER: &str = "Exit status: 0 all tests passed; 1 a test failed; 5 no test failed, \
but some could not run.";
