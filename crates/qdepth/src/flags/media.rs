//! Options of what works on emulated media.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use qdepth_measure::Nanos;
use qdepth_media::fit::{Export, Kind};

use crate::flags::{Load, LogbookOption};

#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct MediaOptions {
    #[command(subcommand)]
    pub(crate) command: Option<MediaCommand>,
    /// Emulated device, for example p3700-800gb
    pub(crate) name: Option<String>,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum MediaCommand {
    /// Fit a device model to runs of your own drive (plan `fit`, or any with enough loads)
    Fit(FitOptions),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct FitOptions {
    /// Run IDs or unique prefixes, all of one drive; runs of several days show its variation
    #[arg(default_value = "latest", value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    /// Output file; ends in .toml
    #[arg(long, short, default_value = "mydrive.toml", value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Kind of drive: flash, disk, volume, network, memory [default: detected]
    ///
    /// If the machine does not report the kind, qdepth uses the simplest one that predicts the
    /// held-out points about as well as the best.
    #[arg(long)]
    pub(crate) kind: Option<Kind>,
    /// Print settings with the predicted rates: io.cost, io.max=N% or seastar
    ///
    /// io.cost: commands that set the kernel's cost model of the device. io.max=50%: a command that
    /// limits a control group to half of the device. seastar: Seastar's io_properties.yaml.
    #[arg(long, value_name = "SETTINGS")]
    pub(crate) export: Option<Export>,
}

#[derive(Args, Clone, Debug)]
#[command(mut_arg("words", |words| words.value_name("PLAN | MODEL").help(
    "Test plan [default: standard], then a model of your drive or an array of it: mydrive.toml, \
     mydrive.toml*2 as raid0, or an expression"
)))]
pub(crate) struct PredictOptions {
    #[command(flatten)]
    pub(crate) load: Load,
    /// Print JSON instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ServeMediumOptions {
    /// Emulated device, for example media:p3700-800gb
    #[arg(value_name = "DEVICE")]
    pub(crate) medium: String,
    /// Unix socket for clients; created at start, removed at the end
    #[arg(long, value_name = "FILE")]
    pub(crate) socket: PathBuf,
    /// Reply this much early, to offset the delay of client and socket [default: measured at
    /// start]
    #[arg(long, value_name = "TIME")]
    pub(crate) lead: Option<Nanos>,
    /// Never sleep, for devices faster than 200 us; uses a full core
    #[arg(long)]
    pub(crate) busy_poll: bool,
    /// Run on this CPU; it should be idle
    #[arg(long, value_name = "CPU")]
    pub(crate) cpu: Option<u32>,
    /// Directory for the unnamed sparse file that holds the data [default: next to the socket]
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) data: Option<PathBuf>,
    /// Exit two seconds after the last client disconnects
    #[arg(long)]
    pub(crate) once: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
