//! What the program says of itself, and takes without a command.

use clap::Args;

/// What may be said where no command is.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct FirstOptions {
    /// Without a command: print one JSON document (schema: qdepth schema run) instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Version, commit, and what this program was built with.
pub(crate) const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit    ",
    env!("QDEPTH_COMMIT"),
    "\nbuilt     ",
    env!("QDEPTH_BUILT"),
    "\nfeatures  io_uring, linux-aio, threads, sync, nvme-passthrough, nbd-server, mpi-shim, sqlite",
);

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct CompletionsOptions {
    /// For which shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ManOptions {
    /// Of which command, as run, or host check; without one, of the program
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Print the names of all pages, a line each
    #[arg(long, conflicts_with = "command")]
    pub(crate) names: bool,
}
