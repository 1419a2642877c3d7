//! The words of `qdepth host`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use qdepth_linux::EngineChoice;
use qdepth_measure::Nanos;

use super::{ConsentOptions, engines};

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct HostOptions {
    #[command(subcommand)]
    pub(crate) command: Option<HostCommand>,
    #[command(flatten)]
    pub(crate) inventory: InventoryOptions,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct InventoryOptions {
    /// Print JSON instead of the tables (qdepth schema host)
    #[arg(long)]
    pub(crate) json: bool,
    /// Print every fact with its source
    #[arg(long, conflicts_with = "json")]
    pub(crate) all: bool,
    /// Replace host name, serial numbers and UUIDs with pseudonyms
    #[arg(long)]
    pub(crate) redact: bool,
    /// Also save the inspected facts to a file that --recorded can read
    #[arg(long, value_name = "FILE", conflicts_with = "redact")]
    pub(crate) record: Option<PathBuf>,
    /// Inspect a recorded machine instead of this one
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    pub(crate) recorded: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HostCommand {
    /// Measure the load generator's cost and maximum rate, or find a target's fastest engine
    Calibrate(CalibrateOptions),
    /// Find what would disturb a measurement; touches no storage
    ///
    /// Prints a remedy for each problem, and the smallest difference between runs that can be
    /// detected here.
    Check(CheckOptions),
    /// Show recommended settings next to the current ones; --apply sets them
    ///
    /// `qdepth host undo` restores the old settings.
    Tune(TuneOptions),
    /// Show the steps of a preparation file; --apply runs them
    ///
    /// A step can purge or partition a device, create an array, volume or file system, mount a file
    /// system, or change a setting. `qdepth host undo` reverts every step except a purge.
    Prepare(PrepareOptions),
    /// Undo `tune` and `prepare`, in reverse order, also after a crash
    Undo(JournalOption),
    /// Compile the MPI adapter with this site's mpicc, once
    Mpi(MpiOptions),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct MpiOptions {
    /// MPI compiler wrapper
    #[arg(long, default_value = "mpicc")]
    pub(crate) mpicc: String,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct CheckOptions {
    #[command(flatten)]
    pub(crate) engine: EngineOption,
    /// Observation time: half with the machine idle, half with the load generator running
    #[arg(long, default_value = "2min", value_name = "TIME")]
    pub(crate) duration: Nanos,
    /// Print JSON instead of the list
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct JournalOption {
    /// Undo journal
    #[arg(long, default_value = qdepth_host::prepare::journal::PATH, value_name = "FILE")]
    pub(crate) journal: PathBuf,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct TuneOptions {
    /// Devices to tune the machine for, for example nvme0n1 [default: all]
    pub(crate) devices: Vec<String>,
    /// Apply the recommended settings
    #[arg(long)]
    pub(crate) apply: bool,
    #[command(flatten)]
    pub(crate) journal: JournalOption,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct PrepareOptions {
    /// Preparation file (TOML, a list of [[prepare]])
    pub(crate) file: PathBuf,
    /// Run the steps
    #[arg(long)]
    pub(crate) apply: bool,
    #[command(flatten)]
    pub(crate) consent: ConsentOptions,
    #[command(flatten)]
    pub(crate) journal: JournalOption,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct CalibrateOptions {
    /// File, directory or block device to read with each engine, round-robin
    ///
    /// In a directory, qdepth creates a file of 64 MiB and removes it. Nothing else is written.
    #[arg(conflicts_with = "engine")]
    pub(crate) target: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) engine: EngineOption,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct EngineOption {
    /// I/O engine
    #[arg(long, default_value = "auto", value_parser = engines())]
    pub(crate) engine: EngineChoice,
}
