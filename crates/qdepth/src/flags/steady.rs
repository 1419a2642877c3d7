//! Options of `qdepth steady`.

use clap::Args;
use qdepth_measure::Nanos;
use qdepth_report::Lang;

use crate::flags::{RunChoice, languages};

#[derive(Args, Clone, Debug)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct SteadyOptions {
    #[command(flatten)]
    pub(crate) choice: RunChoice,
    /// Length of a round for SNIA's rule
    #[arg(long, default_value = "1min", value_name = "TIME")]
    pub(crate) round: Nanos,
    /// Print JSON instead of the table (qdepth schema steady)
    #[arg(long)]
    pub(crate) json: bool,
    /// Language of the output
    #[arg(long, default_value = "en", value_parser = languages())]
    pub(crate) lang: Lang,
}

const EXIT_STATUS: &str = "Exit status: 0 every point is steady or cyclic; 1 at least one point is \
not steady; 5 some points are too short to decide, and all others are steady.";
