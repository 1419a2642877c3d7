//! Options that several subcommands take.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use qdepth_lab::failure::Usage;
use qdepth_linux::{Engine, EngineChoice};
use qdepth_record::RunRecord;
use qdepth_report::{Lang, Limit, Presentation};

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ConsentOptions {
    /// Allow qdepth to destroy all data on this device
    ///
    /// SERIAL is its serial number. Without --destroy, qdepth writes to no device. For a device
    /// without a serial number give PATH:SIZE:DISKSEQ, for a file of your own PATH:SIZE:INODE.
    #[arg(long, value_name = "SERIAL", help_heading = "Writing to devices")]
    pub(crate) destroy: Vec<String>,
    /// Consent file for non-interactive use: serial number, size and expiry
    #[arg(long, value_name = "FILE", help_heading = "Writing to devices", hide_short_help = true)]
    pub(crate) consent: Option<PathBuf>,
    /// Signatures on the device that may be lost (ext4, gpt, data, …)
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAME,…",
        help_heading = "Writing to devices",
        hide_short_help = true
    )]
    pub(crate) overwrite_signature: Vec<String>,
}

/// The name of the logbook where none is given.
pub(crate) const LOGBOOK_NAME: &str = "qdepth.db";

#[derive(Args, Clone, Debug)]
pub(crate) struct LogbookOption {
    /// Logbook file
    #[arg(long, default_value = LOGBOOK_NAME, value_name = "FILE", help_heading = "Output")]
    pub(crate) logbook: PathBuf,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct PresentationOptions {
    /// Report the write load at which reader latency exceeds a limit, for example p99.9=2ms
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "FIGURE=TIME,…",
        help_heading = "Output",
        hide_short_help = true
    )]
    pub(crate) limit: Vec<Limit>,
    /// Language of the report
    #[arg(long, default_value = "en", help_heading = "Output", hide_short_help = true)]
    pub(crate) lang: Language,
}

/// Refuses `--limit` for something without reads beside rising writes.
///
/// # Errors
/// If it is given.
pub(crate) fn must_have_no_limit(limits: &[Limit], subject: &str) -> Result<(), Usage> {
    if limits.is_empty() {
        return Ok(());
    }
    Err(Usage(format!(
        "--limit has no meaning for {subject}: it asks at which write load the latency of a reader \
         exceeds a limit, as `qdepth run write-pressure TARGET --limit p99.9=2ms` measures"
    )))
}

impl PresentationOptions {
    /// Presentation of this run.
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
    /// Do not write a report
    #[arg(long, help_heading = "Output")]
    pub(crate) no_report: bool,
    /// Report file; ends in .html, .pdf, .md or .json
    #[arg(long, default_value = REPORT_NAME, value_name = "FILE", help_heading = "Output")]
    pub(crate) report: PathBuf,
    #[command(flatten)]
    pub(crate) presentation: PresentationOptions,
}

impl RunReport {
    /// Options of a run without a report.
    pub(crate) fn none() -> Self {
        let presentation = PresentationOptions { limit: Vec::new(), lang: Language(Lang::En) };
        Self { no_report: true, report: PathBuf::from(REPORT_NAME), presentation }
    }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct RunChoice {
    /// Run ID, unique prefix, latest, or latest~1
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

    /// Language of the report.
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
    /// Fastest engine that the kernel allows
    Auto,
    /// io_uring
    #[value(name = "io_uring")]
    IoUring,
    /// Linux AIO
    LinuxAio,
    /// Synchronous I/O in threads
    Threads,
    /// Synchronous I/O in the worker; queue depth 1 only
    Sync,
    /// io_uring with polled completions; needs poll queues, uses a full core
    #[value(name = "io_uring-polled")]
    IoUringPolled,
    /// io_uring with a kernel polling thread, which uses a second core
    #[value(name = "io_uring-sqpoll")]
    IoUringSqPoll,
    /// NVMe passthrough by io_uring; whole namespaces only
    #[value(name = "io_uring-passthrough")]
    IoUringPassthrough,
    /// NVMe passthrough with polled completions; uses a full core
    #[value(name = "io_uring-passthrough-polled")]
    IoUringPassthroughPolled,
}

impl EngineFlag {
    /// Engine choice for the run.
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
