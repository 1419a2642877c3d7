//! Options of the verbs on a whole logbook.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum LogbookCommand {
    /// Read everything and list what is not what was written; exit status 1 where something is not
    Check(LogbookCheck),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct LogbookCheck {
    /// The file of runs
    #[arg(default_value = "qdepth.db", value_name = "FILE")]
    pub(crate) file: PathBuf,
}
