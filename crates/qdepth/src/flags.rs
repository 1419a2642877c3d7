//! The command line as a user types it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use qdepth_host::placement::Cpus;
use qdepth_lab::campaign::repeat::Repeat;
use qdepth_report::Limit;

mod alone;
mod bandwidth;
mod certify;
mod compare;
mod examples;
mod export;
mod fio;
mod host;
mod load;
mod logbook;
mod media;
mod numbers;
pub(crate) mod read_plan;
#[cfg(test)]
mod reference;
mod request;
mod resumed;
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
pub(crate) use examples::with_examples;
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
pub(crate) use serve::ServeOptions;
pub(crate) use shared::{
    ConsentOptions, EngineFlag, LOGBOOK_NAME, Language, LogbookOption, PresentationOptions,
    REPORT_NAME, RunChoice, RunReport,
};
pub(crate) use steady::SteadyOptions;
pub(crate) use trend::TrendOptions;

/// Storage performance at every queue depth: measured, explained, published.
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
    /// Let results take the place of files that qdepth did not write, or that were changed since
    #[arg(long, global = true, help_heading = "Results")]
    pub(crate) replace: bool,
    /// Without one: five seconds to a first number of this directory's storage.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const EXIT_STATUS: &str = "Exit status: 0 all points valid; 1 finished with invalid points; \
2 wrong usage (a word is not understood, or what it names is not there); 3 refused by a guard or \
for what this machine lacks, nothing was changed; 4 tried, and failed; 130/143 interrupted, with \
what was measured kept; 5 compared, and it cannot be told.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure a plan on targets; then write report and logbook
    Run(Box<RunOptions>),
    /// Show what would run: points, time, bytes written, guards; touches nothing
    Plan(Box<PlanOptions>),
    /// The shipped plans, each with the question that it answers
    Plans,
    /// The shipped load profiles, each with the question that it answers
    Profiles,
    /// Measure fio's job files with fio's meaning of them
    ///
    /// Options are fio's (--output-format=json, --output=FILE, --section=NAME, --name=JOB --rw=…),
    /// and some of qdepth's own among them
    Fio(FioOptions),
    /// Measure a command line of IOR with IOR's meaning of it, and print IOR's table
    ///
    /// Ranks are threads. Options of qdepth's own stand before IOR's: qdepth ior --no-report -a
    /// POSIX -t 1m -b 16m -N 4 -F -o dir/file
    Ior(IorOptions),
    /// Print a configuration of Iometer (.icf) as a plan
    ///
    /// `qdepth run` measures it: qdepth iometer FILE.icf > iometer.toml, then qdepth run
    /// iometer.toml TARGET
    Iometer(IometerOptions),
    /// Take results of other programs into the logbook: fio's JSON and logs, Iometer's CSV
    Import(ImportOptions),
    /// List the runs of a logbook, the newest first
    List(ListOptions),
    /// Keep a note beside a run
    Note(NoteOptions),
    /// Say that a run is not to be relied on: it is kept, marked, and left out of comparisons
    Retract(NoteOptions),
    /// Check a logbook, add another one's runs to it, or take runs out of it
    #[command(subcommand)]
    Logbook(LogbookCommand),
    /// Print the table and the findings of a run
    Show(ShowOptions),
    /// Write the report of a run: HTML, PDF, Markdown; its figures as CSV, JSON
    Report(ReportOptions),
    /// Print a run as JSON, or the points of many runs as CSV
    Export(ExportOptions),
    /// Is B faster than A, slower, equal, or can it not be told? Of two runs, or two groups of runs
    Compare(CompareOptions),
    /// Whether the rates of a run's points became steady: by SNIA's rule, and by a stricter one
    Steady(SteadyOptions),
    /// What became of a plan's figures on a target from run to run of the logbook, and since when
    Trend(TrendOptions),
    /// The emulated media, or one of them: parameters, provenance, what it was compared with
    Media(MediaOptions),
    /// What a medium of your own drive, or an array of it, does under a plan: EMULATED, with
    /// intervals that hold the medium's own error
    ///
    /// As `qdepth predict mydrive.toml`, `qdepth predict quick mydrive.toml*2 as raid0`, `qdepth
    /// predict 'raid1(media:./mydrive.toml*2)'`. Without a plan: `standard`
    Predict(Box<PredictOptions>),
    /// Emulate the figures of published documents, and compare
    Reproduce(ReproduceOptions),
    /// What this machine is, and what it is to a measurement
    Host(HostOptions),
    /// Prove that the instrument measures rightly here: its clock, known truths, its own rates, its
    /// intervals, comparisons of what is the same. Two minutes, and a nameless file of 64 MiB
    /// beside fio, where fio is installed; else no storage
    Certify(CertifyOptions),
    /// Show the logbook as web pages, read only, on this machine
    Serve(ServeOptions),
    /// Serve an emulated medium in real time as a block device, for any NBD client
    ServeMedium(ServeMediumOptions),
    /// Print a JSON Schema, for editors and scripts
    Schema(SchemaOptions),
    /// Print what completes command lines in a shell
    Completions(CompletionsOptions),
    /// Print a page of the manual (troff), as `qdepth man run | man -l -`
    Man(ManOptions),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub(crate) load: Load,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    /// Print one JSON document (schema: qdepth schema run) instead of the table
    #[arg(long, help_heading = "Results")]
    pub(crate) json: bool,
    /// Tell what happens as it happens, a line of JSON each (schema: qdepth schema events); - is
    /// the standard output, in place of the table
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub(crate) events: Option<PathBuf>,
    /// Tell the course in plain lines that stay, for screen readers and logs; else lines are drawn
    /// in place where a terminal can
    #[arg(long, help_heading = "Results")]
    pub(crate) plain: bool,
    #[command(flatten)]
    pub(crate) report: RunReport,
    /// Leave the measurement file where it is, for the next run
    #[arg(long, help_heading = "How it is measured")]
    pub(crate) keep: bool,
    /// End the run at the first point during which heat slowed a drive or the CPUs down; --resume
    /// goes on
    #[arg(long, help_heading = "How it is measured")]
    pub(crate) stop_on_throttle: bool,
    /// Put beside each point what this emulated medium does there, as media:p3700-800gb: is the
    /// target as fast as its kind?
    #[arg(long, value_name = "MEDIUM", help_heading = "Results")]
    pub(crate) expect: Option<String>,
    /// Measure each target so often, a run each, interleaved in blocks of random order, and compare
    /// them. Or until=2%: until every rate is known or told apart so well (30 times at most). Or
    /// until-steady: rounds on one target, until the last five are steady by SNIA's rule (25 at
    /// most)
    #[arg(long, value_name = "N | until=N% | until-steady", help_heading = "How it is measured")]
    pub(crate) repeat: Option<Repeat>,
    /// Continue the last run, or campaign of runs, that was interrupted, failed or killed
    #[arg(long, help_heading = "How it is measured")]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) consent: ConsentOptions,
    /// How requests reach the kernel
    #[arg(long, default_value = "auto", help_heading = "How it is measured")]
    pub(crate) engine: EngineFlag,
    /// Let the scheduler place several workers; else each is kept on a CPU, those near the device
    /// first, where there are as many
    #[arg(long, help_heading = "How it is measured")]
    pub(crate) no_pin: bool,
    /// Keep the workers on these CPUs, one each, in turn; as 0-3,8
    #[arg(
        long,
        value_name = "LIST",
        conflicts_with = "no_pin",
        help_heading = "How it is measured"
    )]
    pub(crate) cpus: Option<Cpus>,
}

#[derive(Args, Clone, Debug)]
#[command(mut_arg("json", |json| json.help(
    "Print the resolved plan, which omits nothing, as it is hashed and stored"
)))]
pub(crate) struct PlanOptions {
    /// Everything that `qdepth run` takes, so that a command line is tried by one word less.
    #[command(flatten)]
    pub(crate) run: RunOptions,
    /// Print the TOML of a shipped plan or profile
    #[arg(long, value_name = "NAME")]
    pub(crate) show: Option<String>,
    /// Print the plan as a fio job file, as far as fio can say it
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
    /// How requests reach the kernel
    #[arg(long, default_value = "auto")]
    pub(crate) engine: EngineFlag,
    /// Print the plan as TOML and measure nothing
    #[arg(long)]
    pub(crate) convert: bool,
    /// Options of IOR
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
    pub(crate) words: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct IometerOptions {
    /// The configuration
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ImportOptions {
    /// Files; each kind is recognised by what it holds
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ReportOptions {
    /// Ids of runs, or the beginnings of them, or latest~1; several are told in one paper, in this
    /// order
    #[arg(default_value = "latest", value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    /// Where it goes; of several files, the name without its ending [default: qdepth-report]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// As what [default: what the output's name ends in, or html]
    #[arg(long, value_delimiter = ',')]
    pub(crate) format: Vec<Format>,
    /// Languages, a file each
    #[arg(long, value_delimiter = ',', default_value = "en")]
    pub(crate) lang: Vec<Language>,
    /// A TOML file that says who publishes it: title, organisation, logo, contact, version, history
    #[arg(long, value_name = "FILE")]
    pub(crate) paper: Option<PathBuf>,
    /// Draw what was published of these drives into the diagrams of the same loads, as p3700-800gb
    #[arg(long, value_delimiter = ',', value_name = "DRIVE,…")]
    pub(crate) published: Vec<String>,
    /// Replace serial numbers, names of hosts and places of files by pseudonyms
    #[arg(long)]
    pub(crate) redact: bool,
    /// Under write pressure: as for `qdepth run`
    #[arg(long, value_delimiter = ',', value_name = "FIGURE=TIME,…")]
    pub(crate) limit: Vec<Limit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One file that needs nothing else
    Html,
    /// Tagged, with bookmarks; needs the program qdepth-pdf
    Pdf,
    /// Markdown, with the diagrams in a folder beside it
    Md,
    /// A folder with a CSV file for each diagram
    Csv,
    /// All diagrams as one JSON document (schema: qdepth schema figures)
    Json,
    /// A folder that Typst sets, for a layout of your own
    Typst,
}

impl Format {
    pub(crate) const ALL: [Self; 6] =
        [Self::Html, Self::Pdf, Self::Md, Self::Csv, Self::Json, Self::Typst];

    /// Whether it is a folder of files.
    pub(crate) fn is_a_folder(self) -> bool {
        matches!(self, Self::Csv | Self::Typst)
    }

    /// Whether it is one file, with nothing beside it.
    pub(crate) fn is_one_file(self) -> bool {
        matches!(self, Self::Html | Self::Pdf | Self::Json)
    }

    /// How the names of its files end.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Pdf => "pdf",
            Self::Md => "md",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Typst => "typst",
        }
    }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ShowOptions {
    #[command(flatten)]
    pub(crate) choice: RunChoice,
    #[command(flatten)]
    pub(crate) presentation: PresentationOptions,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ReproduceOptions {
    /// Only this document: p3700, iodrive, uv300 or write-pressure
    pub(crate) document: Option<String>,
    /// Print one JSON document (schema: qdepth schema reproduce) instead of the tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a page with the documents' diagrams: published points over emulated curves
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write our edition of the document: its sections, diagrams and tables again, EMULATED beside
    /// published. NAME is that of the files, and of the document where none is given
    #[arg(long, value_name = "NAME")]
    pub(crate) paper: Option<PathBuf>,
    /// Formats of the edition
    #[arg(long, value_delimiter = ',', default_value = "html", requires = "paper")]
    pub(crate) format: Vec<Format>,
    /// Languages: of the tables the first, of the edition each
    #[arg(long, value_delimiter = ',', default_value = "en")]
    pub(crate) lang: Vec<Language>,
    /// Print every figure and relation, not only the summary and what misses its bar
    #[arg(long, conflicts_with = "json")]
    pub(crate) all: bool,
    /// Emulate a target of reference/targets.toml by another expression, as
    /// p3700='media:p3700-800gb @die_read_us=120'
    #[arg(long, value_name = "NAME=EXPRESSION")]
    pub(crate) target: Vec<String>,
}

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct SchemaOptions {
    /// Of what
    pub(crate) of: SchemaOf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SchemaOf {
    /// Plan files (TOML)
    Plan,
    /// The output of run --json and export --json
    Run,
    /// The output of report --format json
    Figures,
    /// The output of list --json
    Runs,
    /// A line of run --events
    Events,
    /// The output of reproduce --json
    Reproduce,
    /// The output of host --json
    Host,
    /// The output of compare --json, and of run A B --repeat --json
    Compare,
    /// The output of run A --repeat --json
    Repeat,
    /// The output of trend --json
    Trend,
    /// The output of steady --json
    Steady,
    /// The output of certify --json
    Certificate,
}
