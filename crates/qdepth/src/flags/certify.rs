//! Options of `qdepth certify`.

use clap::Args;
use qdepth_measure::Nanos;

#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER)]
pub(crate) struct CertifyOptions {
    /// How long the generator is repeated, without storage, for its scatter
    #[arg(long, default_value = "1min")]
    pub(crate) duration: Nanos,
    /// Print one JSON document instead of the certificate
    #[arg(long)]
    pub(crate) json: bool,
}

const AFTER: &str = "Exit status: 0 every proof that could be tried passed; 1 one failed; 5 some could \
not be tried, and none failed.";
