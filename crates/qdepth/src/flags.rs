//! The command line as a user types it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use qdepth_host::placement::Cpus;
use qdepth_lab::campaign::repeat::Repeat;
use qdepth_linux::EngineChoice;
use qdepth_measure::Limit;
use qdepth_report::Lang;

mod alone;
mod bandwidth;
mod certify;
mod compare;
pub(crate) mod completed;
mod examples;
mod export;
mod fio;
mod host;
mod load;
mod logbook;
mod media;
pub(crate) mod needed;
mod numbers;
pub(crate) mod read_plan;
mod request;
mod resumed;
mod schema;
mod serve;
mod shared;
mod steady;
#[cfg(test)]
mod tests;
mod trend;

pub(crate) use alone::{CompletionsOptions, FirstOptions, ManOptions};
pub(crate) use bandwidth::BandwidthOptions;
pub(crate) use certify::CertifyOptions;
pub(crate) use compare::CompareOptions;
pub(crate) use examples::{example, with_examples};
pub(crate) use export::ExportOptions;
pub(crate) use fio::{FioRun, SortedWords, own_options};
pub(crate) use host::{
    CalibrateOptions, CheckOptions, HostCommand, HostOptions, InventoryOptions, JournalOption,
    PrepareOptions, TuneOptions,
};
pub(crate) use load::{Load, WearFlag};
pub(crate) use logbook::{
    ListOptions, LogbookCheck, LogbookCommand, LogbookMerge, LogbookPrune, NoteOptions,
};
pub(crate) use media::{
    FitOptions, MediaCommand, MediaOptions, PredictOptions, ServeMediumOptions,
};
pub(crate) use numbers::Numbers;
pub(crate) use schema::SchemaOptions;
pub(crate) use serve::ServeOptions;
pub(crate) use shared::{
    ConsentOptions, LOGBOOK_NAME, LogbookOption, PresentationOptions, REPORT_NAME, RunChoice,
    RunReport, engines, languages, must_have_no_limit,
};
pub(crate) use steady::SteadyOptions;
pub(crate) use trend::TrendOptions;

/// Storage benchmark that sweeps queue depth and shows which numbers to trust.
#[derive(Debug, Parser)]
#[command(
    version,
    long_version = alone::long_version(),
    args_conflicts_with_subcommands = true,
    after_long_help = EXIT_STATUS
)]
pub(crate) struct Flags {
    #[command(flatten)]
    pub(crate) first: FirstOptions,
    /// Replace output files that other programs wrote or changed
    #[arg(long, global = true, help_heading = "Output", hide_short_help = true)]
    pub(crate) replace: bool,
    /// Without a command: a first number for this directory in five seconds.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const EXIT_STATUS: &str = "Exit status: 0 all points valid; 1 finished with invalid points, or a \
requirement is not met; 2 wrong usage; 3 refused by a guard, or a feature is missing; nothing was \
changed; 4 failed; 5 comparison or requirement inconclusive; 129/130/143 interrupted, finished \
points are kept.";

#[derive(Args, Clone, Debug)]
pub(crate) struct CatalogueOptions {
    /// Print this one as TOML
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a test plan on files, devices or emulated devices
    ///
    /// A target is a directory (qdepth creates a measurement file in it), a regular file, a block
    /// device, or an emulated device (`qdepth media`). Defaults: the plan `quick`, a short form of
    /// `standard`, and the current directory.
    Run(Box<RunOptions>),
    /// Find the highest IOPS that keeps tail latency within a limit
    ///
    /// Issues I/Os at random times (open loop) until the 95 % confidence interval of the rate is
    /// within 2 %, or --within has elapsed. Ctrl-C ends the search with the answer so far. Exit
    /// status: 0 answer found; 1 no rate meets the limits; 5 inconclusive.
    Answer(Box<RunOptions>),
    /// Check whether storage is fast enough for an application
    ///
    /// Exit status: 0 PASS, 1 FAIL, 5 INCONCLUSIVE.
    FitFor(Box<RunOptions>),
    /// Preview a run: time, bytes written, guards; touches nothing
    ///
    /// Accepts every option of `qdepth run`.
    Plan(Box<PlanOptions>),
    /// List the test plans, or print one
    Plans(CatalogueOptions),
    /// List the load profiles, or print one
    Profiles(CatalogueOptions),
    /// Run fio job files or fio command lines
    ///
    /// Accepts fio's options and the options of qdepth below.
    Fio(FioOptions),
    /// Run an IOR command line and print IOR's table
    ///
    /// Ranks are threads. Options of qdepth come before those of IOR, which `qdepth ior -- -h`
    /// lists.
    Ior(IorOptions),
    /// Run an mdtest command line and print mdtest's summary
    ///
    /// Tasks are threads, or MPI ranks. Options of qdepth come before those of mdtest, which
    /// `qdepth mdtest -- -h` lists.
    Mdtest(MdtestOptions),
    /// Convert an Iometer configuration (.icf) to a plan
    ///
    /// To save the plan: qdepth iometer night.icf > night.toml
    Iometer(IometerOptions),
    /// Import results of fio (JSON, logs) and Iometer (CSV)
    Import(ImportOptions),
    /// List runs, newest first
    List(ListOptions),
    /// Add a note to a run
    Note(NoteOptions),
    /// Retract a run: keep it, but exclude it from comparisons
    Retract(NoteOptions),
    /// Check, merge or prune a logbook
    #[command(subcommand)]
    Logbook(LogbookCommand),
    /// Print the results and findings of a run
    Show(ShowOptions),
    /// Write a report: HTML, PDF, Markdown, CSV or JSON
    Report(ReportOptions),
    /// Print a run as JSON, or the points of many runs as CSV
    Export(ExportOptions),
    /// Compare runs or groups of runs, with confidence intervals
    Compare(CompareOptions),
    /// Check whether a run reached steady state
    Steady(SteadyOptions),
    /// Show how results changed from run to run
    Trend(TrendOptions),
    /// List emulated devices, or show one: parameters and accuracy
    Media(MediaOptions),
    /// Predict performance from a model of your drive (EMULATED)
    ///
    /// The confidence intervals include the error of the model.
    Predict(Box<PredictOptions>),
    /// Compare emulation with published benchmark results
    Reproduce(ReproduceOptions),
    /// Inspect, check and tune this machine
    Host(HostOptions),
    /// Self-test clock, engines and statistics (2 min)
    ///
    /// Compares qdepth with known values, with itself and, if installed, with fio (in an unnamed
    /// file of 64 MiB; no other storage is used).
    Certify(CertifyOptions),
    /// Serve the logbook as read-only web pages
    Serve(ServeOptions),
    /// Serve an emulated device as a block device over NBD
    ServeMedium(ServeMediumOptions),
    /// Print a JSON Schema
    Schema(SchemaOptions),
    /// Print shell completions
    Completions(CompletionsOptions),
    /// Print a manual page (troff)
    ///
    /// To read it: qdepth man run | man -l -
    Man(ManOptions),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub(crate) load: Load,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    /// Print JSON instead of the table (qdepth schema run)
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Write events as JSON lines; - prints them instead of the table (qdepth schema events)
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    pub(crate) events: Option<PathBuf>,
    /// Print progress as plain lines, for screen readers and logs
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub(crate) plain: bool,
    /// Print the result only
    #[arg(short, long, help_heading = "Output", conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print every finding in full
    #[arg(short, long, help_heading = "Output", hide_short_help = true)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) report: RunReport,
    /// Keep the measurement file for the next run
    #[arg(long, help_heading = "Measurement", hide_short_help = true)]
    pub(crate) keep: bool,
    /// Stop after the first thermally throttled point; --resume continues
    #[arg(long, help_heading = "Measurement", hide_short_help = true)]
    pub(crate) stop_on_throttle: bool,
    /// Show the result of this emulated device next to each point, for example media:p3700-800gb
    #[arg(long, value_name = "DEVICE", help_heading = "Output", hide_short_help = true)]
    pub(crate) expect: Option<String>,
    /// Repeat the run N times, and compare its targets
    ///
    /// N is a number, until=N% or until-steady.
    /// Runs are interleaved in blocks of random order. until=2%: until every difference is resolved
    /// to 2 % (at most 30 times). until-steady: on one target, until the last five runs are steady
    /// by SNIA's rule (at most 25 times).
    #[arg(long, value_name = "N", help_heading = "Measurement")]
    pub(crate) repeat: Option<Repeat>,
    /// Resume the last run or campaign that did not finish
    #[arg(long, help_heading = "Measurement")]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) consent: ConsentOptions,
    /// I/O engine
    #[arg(
        long,
        default_value = "auto",
        value_parser = engines(),
        help_heading = "Measurement",
        hide_short_help = true
    )]
    pub(crate) engine: EngineChoice,
    /// Do not pin workers to CPUs
    ///
    /// By default, each worker is pinned to its own CPU near the device, if there are enough CPUs.
    #[arg(long, help_heading = "Measurement", hide_short_help = true)]
    pub(crate) no_pin: bool,
    /// Pin the workers to these CPUs, round-robin, for example 0-3,8
    #[arg(
        long,
        value_name = "LIST",
        conflicts_with = "no_pin",
        help_heading = "Measurement",
        hide_short_help = true
    )]
    pub(crate) cpus: Option<Cpus>,
}

#[derive(Args, Clone, Debug)]
#[command(mut_arg("json", |json| json.help(
    "Print the resolved plan as JSON, as hashed and stored"
)))]
pub(crate) struct PlanOptions {
    /// The options of `qdepth run`, so that a command line can be previewed.
    #[command(flatten)]
    pub(crate) run: RunOptions,
    /// Print the TOML of a shipped plan or profile
    #[arg(long, value_name = "NAME")]
    pub(crate) show: Option<String>,
    /// Print the plan as a fio job file, as far as possible
    #[arg(long, conflicts_with = "json")]
    pub(crate) as_fio: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct FioOptions {
    /// Options and job files; - reads one from standard input
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true,
        value_name = "OPTION | JOBFILE"
    )]
    pub(crate) words: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct IorOptions {
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    #[command(flatten)]
    pub(crate) report: RunReport,
    /// I/O engine; IOR itself makes one blocking call at a time
    // On many file systems, `io_uring` passes buffered writes to a kernel thread, at half the rate.
    #[arg(long, default_value = "sync", value_parser = engines())]
    pub(crate) engine: EngineChoice,
    /// Print the plan as TOML and measure nothing
    #[arg(long)]
    pub(crate) convert: bool,
    /// Options of IOR
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
    pub(crate) words: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct MdtestOptions {
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    #[command(flatten)]
    pub(crate) report: RunReport,
    /// Number of tasks. Default: the MPI ranks, or 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=512))]
    pub(crate) tasks: Option<u32>,
    /// Print the plan as TOML and measure nothing
    #[arg(long)]
    pub(crate) convert: bool,
    /// Options of mdtest
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
    pub(crate) words: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct IometerOptions {
    /// Iometer configuration file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ImportOptions {
    /// Result files; the format is detected from the contents
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ReportOptions {
    /// Run IDs, unique prefixes, or latest~1; several runs make one report
    #[arg(default_value = "latest", value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    /// Output file; for several formats, the name without its extension [default: qdepth-report]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Output formats [default: the extension of --output, or html]
    #[arg(long, value_delimiter = ',')]
    pub(crate) format: Vec<Format>,
    /// Languages, one file for each
    #[arg(long, value_delimiter = ',', default_value = "en", value_parser = languages())]
    pub(crate) lang: Vec<Lang>,
    /// TOML file with title, organisation, logo, contact and history (docs/report.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) paper: Option<PathBuf>,
    /// Add the published results of these drives to the diagrams, for example p3700-800gb
    #[arg(long, value_delimiter = ',', value_name = "DRIVE,…")]
    pub(crate) published: Vec<String>,
    /// Replace serial numbers, host names and file paths with pseudonyms
    #[arg(long)]
    pub(crate) redact: bool,
    /// Report the write load at which reader latency exceeds a limit, for example p99.9=2ms
    #[arg(long, value_delimiter = ',', value_name = "FIGURE=TIME,…")]
    pub(crate) limit: Vec<Limit>,
    /// Add heat maps of latency over time for these points, counted from 0
    #[arg(long, value_delimiter = ',', value_name = "N,…")]
    pub(crate) point: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Self-contained HTML file
    Html,
    /// Tagged PDF; needs the program qdepth-pdf
    Pdf,
    /// Markdown, with a folder of diagrams
    Md,
    /// Folder with one CSV file per diagram
    Csv,
    /// Diagrams as JSON (qdepth schema figures)
    Json,
    /// Folder of Typst sources, for your own layout
    Typst,
}

impl Format {
    /// True if it is a folder of files.
    pub(crate) fn is_a_folder(self) -> bool {
        matches!(self, Self::Csv | Self::Typst)
    }

    /// True if it is a single file without companions.
    pub(crate) fn is_one_file(self) -> bool {
        matches!(self, Self::Html | Self::Pdf | Self::Json)
    }

    /// Extension of its files, which is its name.
    pub(crate) fn ending(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ShowOptions {
    #[command(flatten)]
    pub(crate) choice: RunChoice,
    /// Print every point and every finding in full
    #[arg(long)]
    pub(crate) findings: bool,
    /// Print JSON instead, like `qdepth export`
    #[arg(long, conflicts_with_all = ["findings", "timeline", "limit"])]
    pub(crate) json: bool,
    /// Print the latency of one point over time
    #[arg(long, conflicts_with = "findings")]
    pub(crate) timeline: bool,
    /// Point for --timeline, from 0 [default: the one with the highest p99.9]
    #[arg(long, value_name = "N", conflicts_with_all = ["findings", "json"])]
    pub(crate) point: Option<u32>,
    #[command(flatten)]
    pub(crate) presentation: PresentationOptions,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ReproduceOptions {
    /// Only this document: p3700, iodrive, uv300 or write-pressure
    pub(crate) document: Option<String>,
    /// Print JSON instead of the table (qdepth schema reproduce)
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a page with the documents' diagrams: published points on emulated curves
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write an edition of the document as NAME, with emulated next to published figures
    #[arg(long, value_name = "NAME")]
    pub(crate) paper: Option<PathBuf>,
    /// Formats of --paper, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "html", requires = "paper")]
    pub(crate) format: Vec<Format>,
    /// Languages, one file for each
    #[arg(long, value_delimiter = ',', default_value = "en", value_parser = languages())]
    pub(crate) lang: Vec<Lang>,
    /// Print every figure and relation instead of the summary
    #[arg(long, conflicts_with = "json")]
    pub(crate) all: bool,
    /// Use another expression for a target of reference/targets.toml, for example
    /// p3700='media:p3700-800gb @die_read_us=120'
    #[arg(long, value_name = "NAME=EXPRESSION")]
    pub(crate) target: Vec<String>,
}
