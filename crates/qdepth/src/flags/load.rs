//! What is asked of a load on the command line, and the words that ask for it again.

use clap::{Args, ValueEnum};
use qdepth_measure::{Bytes, Credible, EarlyEnd, Nanos, SteadyRule};
use qdepth_workload::{Preconditioning, Wear};

use crate::flags::BandwidthOptions;
use crate::flags::numbers::{Numbers, listed};

/// How worn in targets are to be.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum WearFlag {
    /// Written through twice in sequence.
    Preconditioned,
    /// That, and then as many bytes as it has at random.
    Steady,
    /// Written through twice, and then at random until our own rule says that the rate is steady.
    UntilSteady,
    /// The same by SNIA's rule: 25 rounds at most.
    UntilSteadySnia,
}

impl WearFlag {
    /// As the workload's crate wants it, with rounds of this length.
    pub(crate) fn wanted(self, round: Option<Nanos>) -> Preconditioning {
        let until = |rule| Preconditioning::UntilSteady { rule, round };
        match self {
            Self::Preconditioned => Preconditioning::State(Wear::Preconditioned),
            Self::Steady => Preconditioning::State(Wear::Steady),
            Self::UntilSteady => until(SteadyRule::Own),
            Self::UntilSteadySnia => until(SteadyRule::Snia),
        }
    }

    /// Whether it is reached in rounds.
    pub(crate) fn has_rounds(self) -> bool {
        matches!(self, Self::UntilSteady | Self::UntilSteadySnia)
    }

    /// As typed.
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct Load {
    /// A plan (one of those that `qdepth plans` lists with their questions, or a TOML file), then
    /// targets: directories (a measurement file is made there), regular files, block devices,
    /// emulated media (`qdepth media` lists them). Without a plan: `quick`, the quick form of
    /// `standard`; without a target: this directory
    #[arg(value_name = "PLAN | TARGET")]
    pub(crate) words: Vec<String>,
    /// Outstanding I/Os, one point each, as 1,8,64 or 1-8
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "N,…",
        allow_negative_numbers = true,
        help_heading = "What is measured"
    )]
    pub(crate) outstanding: Option<Vec<Numbers>>,
    /// Only these load profiles, as database,streaming
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", help_heading = "What is measured")]
    pub(crate) profile: Option<Vec<String>>,
    /// Measured time of each point, as 500ms, 30s, 5min; with --until the most
    #[arg(long, value_name = "TIME", help_heading = "How long")]
    pub(crate) duration: Option<Nanos>,
    /// Unrecorded lead-in of each point, as 500ms, 10s
    #[arg(long, value_name = "TIME", help_heading = "How long")]
    pub(crate) warm_up: Option<Nanos>,
    /// Size of the measurement file that is made in a directory, as 8GiB; areas that the plan
    /// compares become shares of it where it is too small for them
    #[arg(long, value_name = "SIZE", help_heading = "What is measured")]
    pub(crate) file_size: Option<Bytes>,
    /// End each point once the 95 % interval of its rate is as narrow as this, as ±2%, after 5 s at
    /// least; or once its rate is `steady` by our own rule, `steady-snia` by SNIA's, of which the
    /// rounds of the steady state are told (docs/method/steady.md)
    #[arg(long, value_name = "±N%|steady", help_heading = "How long")]
    pub(crate) until: Option<EarlyEnd>,
    /// Measurement area, as 32GiB, 50%, full. Given as a size it is also the size of a measurement
    /// file that is made
    #[arg(long, help_heading = "What is measured")]
    pub(crate) area: Option<String>,
    /// One request size for every profile, as 4KiB
    #[arg(long, value_name = "SIZE", help_heading = "What is measured")]
    pub(crate) request_size: Option<Bytes>,
    /// Under write pressure: the write load of the first step, a second, as 100MiB
    #[arg(long, value_name = "SIZE", help_heading = "Write pressure")]
    pub(crate) step_from: Option<Bytes>,
    /// Under write pressure: the write load of the last step, a second
    #[arg(long, value_name = "SIZE", help_heading = "Write pressure")]
    pub(crate) step_to: Option<Bytes>,
    /// Under write pressure: from step to step, a second
    #[arg(long, value_name = "SIZE", help_heading = "Write pressure")]
    pub(crate) step_by: Option<Bytes>,
    /// Under write pressure: the reader asks so many times a second, whether or not it was answered
    /// (its latency counts from when it should have asked); else each read follows the last
    #[arg(long, value_name = "IO/S", help_heading = "Write pressure")]
    pub(crate) reader_rate: Option<f64>,
    /// Go on, to forty times the duration, until this percentile is known: of the reader under
    /// write pressure, else of each point; as 99.99
    #[arg(long, value_name = "PERCENT", conflicts_with = "until", help_heading = "How long")]
    pub(crate) until_credible: Option<Credible>,
    /// First write all of each target, so that its state of wear is known: `preconditioned` twice
    /// in sequence, `steady` that and then its size at random, `until-steady` that and then at
    /// random in rounds until the rate is steady by our own rule, or is given up with a finding
    /// (docs/method/steady.md), `until-steady-snia` by SNIA's. `qdepth plan` says how many bytes.
    /// An emulated medium is put into that state, and only the rounds are measured
    #[arg(
        long,
        value_name = "STATE",
        conflicts_with = "read_only",
        help_heading = "What is measured"
    )]
    pub(crate) precondition: Option<WearFlag>,
    /// With --precondition until-steady: length of a round, as 10s; 1min where it is left out
    #[arg(long, value_name = "TIME", help_heading = "How long")]
    pub(crate) round: Option<Nanos>,
    /// Leave out every profile that writes
    #[arg(long, help_heading = "What is measured")]
    pub(crate) read_only: bool,
    /// Seed of all draws
    #[arg(long, help_heading = "What is measured")]
    pub(crate) seed: Option<u64>,
    /// In a comparison: names of its columns, in the order of the targets
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", help_heading = "Comparisons")]
    pub(crate) variants: Option<Vec<String>>,
    /// In a comparison: the column that the others are divided by, by its name or number
    #[arg(long, value_name = "NAME", help_heading = "Comparisons")]
    pub(crate) base: Option<String>,
    /// With `processes`: how many, a column each
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "N,…",
        allow_negative_numbers = true,
        help_heading = "Comparisons"
    )]
    pub(crate) processes: Option<Vec<Numbers>>,
    /// With `devices`: an array of the drives, a column beside them
    #[arg(long, value_name = "TARGET", help_heading = "Comparisons")]
    pub(crate) array: Vec<String>,
    #[command(flatten)]
    pub(crate) bandwidth: BandwidthOptions,
}

impl Load {
    /// The words that ask for the same plan, its name or file first, but for the seed. `threads`
    /// are those of a plan of bandwidth as they were decided on this machine.
    pub(crate) fn words_again(&self, plan: &str, threads: &[u32]) -> Vec<String> {
        // Each is named, so that a new option does not compile before it is said here.
        let Self {
            words,
            outstanding,
            profile,
            duration,
            warm_up,
            file_size,
            until,
            area,
            request_size,
            step_from,
            step_to,
            step_by,
            reader_rate,
            until_credible,
            precondition,
            round,
            read_only,
            seed: _,
            variants,
            base,
            processes,
            array,
            bandwidth,
        } = self;
        let mut again = Vec::new();
        if words.first().is_none_or(|first| first != plan) {
            again.push(plan.to_owned());
        }
        again.extend(words.iter().cloned());
        let options = [
            ("outstanding", outstanding.as_deref().map(Numbers::all).as_deref().map(listed)),
            ("profile", profile.as_deref().map(listed)),
            ("duration", duration.map(|value| value.to_string())),
            ("warm-up", warm_up.map(|value| value.to_string())),
            ("file-size", file_size.map(|value| value.to_string())),
            ("until", until.map(|value| value.to_string())),
            ("area", area.clone()),
            ("request-size", request_size.map(|value| value.to_string())),
            ("step-from", step_from.map(|value| value.to_string())),
            ("step-to", step_to.map(|value| value.to_string())),
            ("step-by", step_by.map(|value| value.to_string())),
            ("reader-rate", reader_rate.map(|value| value.to_string())),
            ("until-credible", until_credible.map(|value| value.to_string())),
            ("precondition", precondition.map(WearFlag::name)),
            ("round", round.map(|value| value.to_string())),
            ("variants", variants.as_deref().map(listed)),
            ("base", base.clone()),
            ("processes", processes.as_deref().map(Numbers::all).as_deref().map(listed)),
        ];
        for (name, value) in options {
            again.extend(value.into_iter().flat_map(|value| [format!("--{name}"), value]));
        }
        again.extend(read_only.then(|| "--read-only".to_owned()));
        again.extend(array.iter().flat_map(|array| ["--array".to_owned(), array.clone()]));
        again.extend(bandwidth.words_again(threads));
        again
    }
}
