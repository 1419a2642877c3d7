//! Options that several subcommands take.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use qdepth_linux::{Engine, EngineChoice};
use qdepth_record::RunRecord;
use qdepth_report::{Lang, Limit, Presentation};

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ConsentOptions {
    /// Consent to the loss of everything on the device of this serial (or PATH:SIZE:DISKSEQ for
    /// one without a serial), or in the file that is PATH:SIZE:INODE. Without it, no device is
    /// written to
    #[arg(long, value_name = "SERIAL", help_heading = "Writing to devices")]
    pub(crate) destroy: Vec<String>,
    /// Where no terminal asks: a file that names serial, size and the end of the consent
    #[arg(long, value_name = "FILE", help_heading = "Writing to devices")]
    pub(crate) consent: Option<PathBuf>,
    /// Signatures (ext4, gpt, data, …) on the device whose loss is accepted
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", help_heading = "Writing to devices")]
    pub(crate) overwrite_signature: Vec<String>,
}

/// The name of the logbook where none is given.
pub(crate) const LOGBOOK_NAME: &str = "qdepth.db";

#[derive(Args, Clone, Debug)]
pub(crate) struct LogbookOption {
    /// The file of runs
    #[arg(long, default_value = LOGBOOK_NAME, value_name = "FILE", help_heading = "Results")]
    pub(crate) logbook: PathBuf,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct PresentationOptions {
    /// Under write pressure: say at which write load this figure of the reader's latency passes
    /// this time, as p99.9=2ms, mean=500us
    #[arg(long, value_delimiter = ',', value_name = "FIGURE=TIME,…", help_heading = "Results")]
    pub(crate) limit: Vec<Limit>,
    /// Language of the report
    #[arg(long, default_value = "en", help_heading = "Results")]
    pub(crate) lang: Language,
}

impl PresentationOptions {
    /// As the report's crate wants it for this run.
    pub(crate) fn presentation(&self, run: &RunRecord) -> Presentation {
        let columns = qdepth_papers::columns([run]);
        Presentation {
            limits: self.limit.clone(),
            columns,
            ..Presentation::from(self.lang.of_report())
        }
    }
}

/// The name of the report of a run where none is given.
pub(crate) const REPORT_NAME: &str = "qdepth-report.html";

/// The report that a run ends with.
#[derive(Args, Clone, Debug)]
pub(crate) struct RunReport {
    /// Write no report
    #[arg(long, help_heading = "Results")]
    pub(crate) no_report: bool,
    /// Where the report goes; its name ends in .html, .pdf, .md or .json
    #[arg(long, default_value = REPORT_NAME, value_name = "FILE", help_heading = "Results")]
    pub(crate) report: PathBuf,
    #[command(flatten)]
    pub(crate) presentation: PresentationOptions,
}

impl RunReport {
    /// That of a run which ends without one.
    pub(crate) fn none() -> Self {
        let presentation = PresentationOptions { limit: Vec::new(), lang: Language(Lang::En) };
        Self { no_report: true, report: PathBuf::from(REPORT_NAME), presentation }
    }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct RunChoice {
    /// Id of a run, or the beginning of it, or latest, or latest~1
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
}

/// A language that there is a catalogue of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Language(Lang);

impl Language {
    const ALL: [Self; Lang::ALL.len()] = {
        let mut all = [Self(Lang::ALL[0]); Lang::ALL.len()];
        let mut index = 0;
        while index < all.len() {
            all[index] = Self(Lang::ALL[index]);
            index += 1;
        }
        all
    };

    /// As the report's crate wants it.
    pub(crate) fn of_report(self) -> Lang {
        self.0
    }
}

impl ValueEnum for Language {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let [_, in_english] = self.0.names();
        Some(PossibleValue::new(self.0.tag()).help(in_english))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineFlag {
    /// The best that the kernel allows
    Auto,
    /// io_uring
    #[value(name = "io_uring")]
    IoUring,
    /// Linux AIO
    LinuxAio,
    /// Synchronous reads and writes in threads
    Threads,
    /// Synchronous reads and writes by the worker itself; one outstanding I/O
    Sync,
    /// io_uring, polling the device for completions: burns a core, needs a device with poll queues
    #[value(name = "io_uring-polled")]
    IoUringPolled,
    /// io_uring with a polling thread of the kernel: burns a second core
    #[value(name = "io_uring-sqpoll")]
    IoUringSqPoll,
    /// NVMe commands by io_uring, past the block layer: whole namespaces only
    #[value(name = "io_uring-passthrough")]
    IoUringPassthrough,
    /// NVMe commands, polling the device for completions: burns a core, needs poll queues
    #[value(name = "io_uring-passthrough-polled")]
    IoUringPassthroughPolled,
}

impl EngineFlag {
    /// What the engine's crate is asked for.
    pub(crate) fn choice(self) -> EngineChoice {
        match self {
            Self::Auto => EngineChoice::Auto,
            Self::IoUring => EngineChoice::Only(Engine::IoUring),
            Self::LinuxAio => EngineChoice::Only(Engine::LinuxAio),
            Self::Threads => EngineChoice::Only(Engine::Threads),
            Self::Sync => EngineChoice::Only(Engine::Sync),
            Self::IoUringPolled => EngineChoice::Only(Engine::IoUringPolled),
            Self::IoUringSqPoll => EngineChoice::Only(Engine::IoUringSqPoll),
            Self::IoUringPassthrough => EngineChoice::Only(Engine::IoUringPassthrough),
            Self::IoUringPassthroughPolled => EngineChoice::Only(Engine::IoUringPassthroughPolled),
        }
    }
}
