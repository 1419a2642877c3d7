//! Options and texts of the program without a command.

use std::sync::OnceLock;

use clap::Args;
use qdepth_linux::Engine;
use qdepth_logbook::{SCHEMA_VERSION, sqlite_version};
use qdepth_record::MEASUREMENT_VERSION;

/// Options that are valid without a command.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct FirstOptions {
    /// Without a command: print JSON instead of the table
    #[arg(long, hide_short_help = true)]
    pub(crate) json: bool,
}

/// Version, commit, how this program was built, and what is in it.
pub(crate) fn long_version() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let engines = Engine::ALL.map(Engine::name).join(", ");
        let checks = if cfg!(debug_assertions) { ", with checks of a debug build" } else { "" };
        format!(
            "{}\ncommit    {}\n\
             built     {}, measuring code optimised at level {}{checks}\n\
             engines   {engines}\n\
             logbook   schema {SCHEMA_VERSION}, SQLite {}\n\
             figures   version {MEASUREMENT_VERSION} (comparable only within one version)",
            env!("CARGO_PKG_VERSION"),
            env!("QDEPTH_COMMIT"),
            env!("QDEPTH_BUILT"),
            qdepth_media::OPTIMISATION,
            sqlite_version(),
        )
    })
}

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct CompletionsOptions {
    /// Shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ManOptions {
    /// Command, for example run or host check [default: the program]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Print the names of all manual pages
    #[arg(long, conflicts_with = "command")]
    pub(crate) names: bool,
}
