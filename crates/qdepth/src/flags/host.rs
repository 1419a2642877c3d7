//! The words of `qdepth host`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use qdepth_measure::Nanos;

use super::{ConsentOptions, EngineFlag};

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
    /// Print one JSON document (schema: qdepth schema host) instead of the tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Print every fact with the file or command that it was read from
    #[arg(long, conflicts_with = "json")]
    pub(crate) all: bool,
    /// Replace host name, serials and UUIDs by marks
    #[arg(long)]
    pub(crate) redact: bool,
    /// Also write down everything that was looked at, so that others can look at it again
    #[arg(long, value_name = "FILE", conflicts_with = "redact")]
    pub(crate) record: Option<PathBuf>,
    /// Look at a machine that was recorded, in place of this one
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    pub(crate) recorded: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HostCommand {
    /// Measure what the generator costs and could reach, on 1, 2 … all CPUs; or, of a target, which
    /// engine reads it fastest
    Calibrate(CalibrateOptions),
    /// What would disturb a measurement here, each with what to do, and the smallest difference
    /// that this machine can tell from none; touches no storage
    Check(CheckOptions),
    /// The settings that a measurement should have, beside those that are; --apply sets them, until
    /// `qdepth host undo`
    Tune(TuneOptions),
    /// The steps of a preparation file (purge, partition, array, volume, file system, mount,
    /// setting); --apply takes them, until `qdepth host undo`
    Prepare(PrepareOptions),
    /// Take back what `tune` and `prepare` did, the last first, also after a kill
    Undo(UndoOptions),
    /// Compile the shim by which several ranks measure together, with the site's mpicc; once
    Mpi(MpiOptions),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct MpiOptions {
    /// The site's compiler
    #[arg(long, default_value = "mpicc")]
    pub(crate) mpicc: String,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct CheckOptions {
    #[command(flatten)]
    pub(crate) engine: EngineOption,
    /// How long to look, as 30s; half of it at the idle machine, half at the generator
    #[arg(long, default_value = "2min")]
    pub(crate) duration: Nanos,
    /// Print one JSON document instead of the list
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct JournalOption {
    /// The undo journal
    #[arg(long, default_value = qdepth_host::prepare::journal::PATH, value_name = "FILE")]
    pub(crate) journal: PathBuf,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct TuneOptions {
    /// Devices to be measured, as nvme0n1; without any, all that are there
    pub(crate) devices: Vec<String>,
    /// Set them
    #[arg(long)]
    pub(crate) apply: bool,
    #[command(flatten)]
    pub(crate) journal: JournalOption,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct PrepareOptions {
    /// The steps (TOML, a list of [[prepare]])
    pub(crate) file: PathBuf,
    /// Take them
    #[arg(long)]
    pub(crate) apply: bool,
    #[command(flatten)]
    pub(crate) consent: ConsentOptions,
    #[command(flatten)]
    pub(crate) journal: JournalOption,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct UndoOptions {
    #[command(flatten)]
    pub(crate) journal: JournalOption,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct CalibrateOptions {
    /// What to read by every engine in turn: a file, a directory, a block device; nothing of it is
    /// written but a file of 64 MiB in a directory, which is removed
    #[arg(conflicts_with = "engine")]
    pub(crate) target: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) engine: EngineOption,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct EngineOption {
    /// How requests reach the kernel
    #[arg(long, default_value = "auto")]
    pub(crate) engine: EngineFlag,
}
