//! Options of what works on emulated media.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use qdepth_measure::Nanos;
use qdepth_media::fit::Kind;

use crate::flags::{Load, LogbookOption};

#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct MediaOptions {
    #[command(subcommand)]
    pub(crate) command: Option<MediaCommand>,
    /// A medium, as p3700-800gb or media:p3700-800gb
    pub(crate) name: Option<String>,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum MediaCommand {
    /// Make a medium of your own drive from runs of the plan `fit` (or any other with enough loads)
    Fit(FitOptions),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct FitOptions {
    /// Ids of runs of one drive, or the beginnings of them; several nights show how it differs from
    /// day to day
    #[arg(default_value = "latest", value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    /// Where the description goes; its name ends in .toml
    #[arg(long, short, default_value = "mydrive.toml", value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// What kind of drive it is: flash, disk, volume, network, memory. Without it: what the machine
    /// says of it, or the simplest of those that miss the points kept back least
    #[arg(long)]
    pub(crate) kind: Option<Kind>,
}

#[derive(Args, Clone, Debug)]
#[command(mut_arg("words", |words| words.value_name("PLAN | MEDIUM").help(
    "A plan (`qdepth plans`), then a medium of your own drive or an array of it: mydrive.toml, \
     'mydrive.toml*2 as raid0', or an expression. Without a plan: `standard`"
)))]
pub(crate) struct PredictOptions {
    #[command(flatten)]
    pub(crate) load: Load,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ServeMediumOptions {
    /// An emulated target, as media:p3700-800gb
    pub(crate) medium: String,
    /// Unix socket that clients connect to; it is made, and removed at the end
    #[arg(long, value_name = "FILE")]
    pub(crate) socket: PathBuf,
    /// Let answers leave this much before the medium's time for them: what client and socket take
    /// of each request. Without it: what a client of qdepth's own finds, before anybody is served
    #[arg(long, value_name = "TIME")]
    pub(crate) lead: Option<Nanos>,
    /// Never sleep: for media below 200 us. A processor is busy all the time
    #[arg(long)]
    pub(crate) busy_poll: bool,
    /// Stay on this CPU, one that nobody else is on
    #[arg(long, value_name = "CPU")]
    pub(crate) cpu: Option<u32>,
    /// Where a sparse file without a name keeps what clients write. Without it: beside the socket
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) data: Option<PathBuf>,
    /// End two seconds after the last client has left
    #[arg(long)]
    pub(crate) once: bool,
    /// Print one JSON document at the end instead of words
    #[arg(long)]
    pub(crate) json: bool,
}
