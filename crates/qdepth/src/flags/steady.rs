//! Options of `qdepth steady`.

use clap::Args;
use qdepth_measure::Nanos;

use crate::flags::{Language, RunChoice};

#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SteadyOptions {
    #[command(flatten)]
    pub(crate) choice: RunChoice,
    /// Length of a round of SNIA's rule
    #[arg(long, default_value = "1min")]
    pub(crate) round: Nanos,
    /// Print one JSON document (schema: qdepth schema steady) instead of the table
    #[arg(long)]
    pub(crate) json: bool,
    /// Language of the words
    #[arg(long, default_value = "en")]
    pub(crate) lang: Language,
}

const EXAMPLES: &str = "Examples:
  qdepth run pts-wsat /dev/nvme1n1 --destroy SERIAL && qdepth steady
  qdepth steady latest --round 10s --json

Exit status: 0 every point is steady, or cyclic around a level; 1 some point is not; 5 some are \
too short to tell, and none is known not to be.";
