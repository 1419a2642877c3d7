//! Options of a load, and the words that request it again.

use std::ffi::OsStr;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, ValueEnum};
use qdepth_measure::{Bytes, EarlyEnd, Limit, Nanos, RequiredPercentile, SteadyRule};
use qdepth_workload::{Preconditioning, Wear};

use crate::flags::BandwidthOptions;
use crate::flags::needed::Needed;
use crate::flags::numbers::Numbers;

/// State of targets before the first point.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum WearFlag {
    /// Two sequential write passes
    Preconditioned,
    /// Two sequential passes, then one random pass
    Steady,
    /// Two sequential passes, then random writes until steady by qdepth's rule
    UntilSteady,
    /// The same by SNIA's rule, at most 25 rounds
    UntilSteadySnia,
}

impl WearFlag {
    /// Preconditioning for the plan, with rounds of this length.
    pub(crate) fn wanted(self, round: Option<Nanos>) -> Preconditioning {
        let until = |rule| Preconditioning::UntilSteady { rule, round };
        match self {
            Self::Preconditioned => Preconditioning::State(Wear::Preconditioned),
            Self::Steady => Preconditioning::State(Wear::Steady),
            Self::UntilSteady => until(SteadyRule::Own),
            Self::UntilSteadySnia => until(SteadyRule::Snia),
        }
    }

    /// True if it is reached in rounds.
    pub(crate) fn has_rounds(self) -> bool {
        matches!(self, Self::UntilSteady | Self::UntilSteadySnia)
    }
}

/// A size above 0.
fn some_bytes(text: &str) -> Result<Bytes, String> {
    match text.parse::<Bytes>() {
        Ok(Bytes(0)) => Err("must be above 0, for example 8GiB".to_owned()),
        size => size.map_err(|error| error.to_string()),
    }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct Load {
    #[arg(skip)]
    pub(crate) needed: Needed,
    /// Test plan (`qdepth plans`, or a TOML file), then targets
    #[arg(value_name = "PLAN | TARGET")]
    pub(crate) words: Vec<String>,
    /// Queue depths, for example 1,8,64 or 1-8
    #[arg(
        long,
        visible_alias = "qd",
        aliases = ["iodepth", "outstanding"],
        value_delimiter = ',',
        value_name = "N,…",
        allow_negative_numbers = true,
        help_heading = "Workload"
    )]
    pub(crate) queue_depth: Option<Vec<Numbers>>,
    /// Load profiles instead of the plan's (`qdepth profiles`)
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", help_heading = "Workload")]
    pub(crate) profile: Option<Vec<String>>,
    /// Measured time of each point, for example 30s
    ///
    /// With --until, this is the maximum.
    #[arg(long, value_name = "TIME", help_heading = "Duration")]
    pub(crate) duration: Option<Nanos>,
    /// Warm-up before each point, for example 10s
    #[arg(long, value_name = "TIME", help_heading = "Duration", hide_short_help = true)]
    pub(crate) warm_up: Option<Nanos>,
    /// Measurement file size, for example 8GiB
    ///
    /// When areas are compared, an area larger than half of the file is reduced to 50 %.
    #[arg(long, value_name = "SIZE", value_parser = some_bytes, help_heading = "Workload")]
    pub(crate) file_size: Option<Bytes>,
    /// End a point at a 95 % CI of ±N %, or when steady
    ///
    /// A CI needs at least 5 s. steady uses qdepth's rule, steady-snia SNIA's
    /// (docs/method/steady.md).
    #[arg(long, value_name = "±N%|steady", help_heading = "Duration")]
    pub(crate) until: Option<EarlyEnd>,
    /// Measurement area: 32GiB, 50%, full
    ///
    /// If you give an absolute size, a new measurement file gets that size.
    #[arg(long, help_heading = "Workload")]
    pub(crate) area: Option<String>,
    /// Block size, for example 4k
    ///
    /// It applies to all profiles.
    #[arg(
        long,
        visible_alias = "bs",
        alias = "request-size",
        value_name = "SIZE",
        help_heading = "Workload"
    )]
    pub(crate) block_size: Option<Bytes>,
    /// Latency limits of `answer`, for example p99.9=1ms
    ///
    /// Latency counts from the scheduled time.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "LIMIT,…",
        help_heading = "Search for the highest IOPS",
        hide_short_help = true
    )]
    pub(crate) at: Option<Vec<Limit>>,
    /// Maximum measured time of `answer` [default: 30min]
    #[arg(
        long,
        value_name = "TIME",
        help_heading = "Search for the highest IOPS",
        hide_short_help = true
    )]
    pub(crate) within: Option<Nanos>,
    /// Write load of the first step, per second, for example 100MiB
    #[arg(long, value_name = "SIZE", help_heading = "Write pressure", hide_short_help = true)]
    pub(crate) step_from: Option<Bytes>,
    /// Write load of the last step, per second
    #[arg(long, value_name = "SIZE", help_heading = "Write pressure", hide_short_help = true)]
    pub(crate) step_to: Option<Bytes>,
    /// Write load added by each step, per second
    #[arg(long, value_name = "SIZE", help_heading = "Write pressure", hide_short_help = true)]
    pub(crate) step_by: Option<Bytes>,
    /// Rate of the reader's open loop [default: closed loop]
    #[arg(long, value_name = "IOPS", help_heading = "Write pressure", hide_short_help = true)]
    pub(crate) reader_rate: Option<f64>,
    /// Extend points, at most 40-fold, to enough I/Os for this percentile, for example 99.99
    ///
    /// Under write pressure, it is the reader's percentile.
    #[arg(
        long,
        value_name = "PERCENT",
        conflicts_with = "until",
        help_heading = "Duration",
        hide_short_help = true
    )]
    pub(crate) until_credible: Option<RequiredPercentile>,
    /// First write the whole target to bring it into a known state (docs/method/steady.md);
    /// `qdepth plan` prints how much is written
    #[arg(
        long,
        value_name = "STATE",
        conflicts_with = "read_only",
        help_heading = "Workload",
        hide_short_help = true
    )]
    pub(crate) precondition: Option<WearFlag>,
    /// Length of a round for --precondition until-steady [default: 1min]
    #[arg(long, value_name = "TIME", help_heading = "Duration", hide_short_help = true)]
    pub(crate) round: Option<Nanos>,
    /// Skip every profile that writes
    #[arg(long, help_heading = "Workload")]
    pub(crate) read_only: bool,
    /// Random seed; the same plan and seed give the same I/Os
    #[arg(long, value_name = "N", help_heading = "Workload", hide_short_help = true)]
    pub(crate) seed: Option<u64>,
    /// Names of the compared variants, in the order of the targets
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAME,…",
        help_heading = "Comparisons",
        hide_short_help = true
    )]
    pub(crate) variants: Option<Vec<String>>,
    /// Baseline variant, by name or number; ratios are relative to it
    #[arg(long, value_name = "NAME", help_heading = "Comparisons", hide_short_help = true)]
    pub(crate) base: Option<String>,
    /// Numbers of processes for the plan `processes`
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "N,…",
        allow_negative_numbers = true,
        help_heading = "Comparisons",
        hide_short_help = true
    )]
    pub(crate) processes: Option<Vec<Numbers>>,
    /// Also measure this array of the drives (plan `devices`)
    #[arg(long, value_name = "TARGET", help_heading = "Comparisons", hide_short_help = true)]
    pub(crate) array: Vec<String>,
    #[command(flatten)]
    pub(crate) bandwidth: BandwidthOptions,
    #[arg(skip)]
    pub(crate) typed: Vec<TypedOption>,
}

/// An option of a load as it was typed.
#[derive(Clone, Debug)]
pub(crate) struct TypedOption {
    pub(crate) name: String,
    value: Option<String>,
}

impl Load {
    /// Notes the options of a load among those that were typed.
    pub(crate) fn note_typed(&mut self, typed: &ArgMatches) {
        for arg in Self::augment_args(Command::new("load")).get_arguments() {
            let (id, Some(name)) = (arg.get_id().as_str(), arg.get_long()) else { continue };
            if typed.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            let mut note = |value| self.typed.push(TypedOption { name: name.to_owned(), value });
            if !arg.get_action().takes_values() {
                note(None);
                continue;
            }
            for values in typed.get_raw_occurrences(id).into_iter().flatten() {
                let values: Vec<_> = values.map(OsStr::to_string_lossy).collect();
                note(Some(values.join(",")));
            }
        }
    }

    /// Words that request the same plan, its name or file first, without the seed. `threads` are
    /// the numbers of threads that a bandwidth plan has on this machine.
    pub(crate) fn words_again(&self, plan: &str, threads: &[u32]) -> Vec<String> {
        let mut again = Vec::new();
        if self.words.first().is_none_or(|first| first != plan) {
            again.push(plan.to_owned());
        }
        again.extend(self.words.iter().cloned());
        for TypedOption { name, value } in &self.typed {
            if !["seed", "threads"].contains(&name.as_str()) {
                again.push(format!("--{name}"));
                again.extend(value.clone());
            }
        }
        if !threads.is_empty() {
            let threads: Vec<String> = threads.iter().map(u32::to_string).collect();
            again.extend(["--threads".to_owned(), threads.join(",")]);
        }
        again
    }
}
