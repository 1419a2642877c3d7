//! Options that several subcommands take.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use qdepth_lab::failure::Usage;
use qdepth_linux::EngineChoice;
use qdepth_measure::Limit;
use qdepth_record::RunRecord;
use qdepth_report::{Lang, Presentation};

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ConsentOptions {
    /// Allow qdepth to destroy all data on this device
    ///
    /// SERIAL is the device's serial number. Without --destroy, qdepth never writes to a device. A
    /// partition, an existing file or a device without a serial number needs another value: the
    /// refusal prints it.
    #[arg(long, value_name = "SERIAL", help_heading = "Writing to devices")]
    pub(crate) destroy: Vec<String>,
    /// Consent file for non-interactive use: serial number, size and expiry
    #[arg(long, value_name = "FILE", help_heading = "Writing to devices", hide_short_help = true)]
    pub(crate) consent: Option<PathBuf>,
    /// Signatures that may be overwritten (ext4, gpt, data, …)
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAME,…",
        help_heading = "Writing to devices",
        hide_short_help = true
    )]
    pub(crate) overwrite_signature: Vec<String>,
}

/// Default name of the logbook.
pub(crate) const LOGBOOK_NAME: &str = "qdepth.db";

#[derive(Args, Clone, Debug)]
pub(crate) struct LogbookOption {
    /// Logbook file
    // Suggested commands have the option, and may be extended by it: the last one counts.
    #[arg(
        long,
        default_value = LOGBOOK_NAME,
        value_name = "FILE",
        help_heading = "Output",
        overrides_with = "logbook"
    )]
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
    /// Language of the output
    #[arg(
        long,
        default_value = "en",
        value_parser = languages(),
        help_heading = "Output",
        hide_short_help = true
    )]
    pub(crate) lang: Lang,
}

/// Refuses `--limit` for something without reads next to rising writes.
///
/// # Errors
/// If it is given.
pub(crate) fn must_have_no_limit(limits: &[Limit], subject: &str) -> Result<(), Usage> {
    if limits.is_empty() {
        return Ok(());
    }
    Err(Usage(format!(
        "--limit does not apply to {subject}: it reports the write load at which reader latency \
         exceeds a limit. Try `qdepth run write-pressure TARGET --limit p99.9=2ms`"
    )))
}

impl PresentationOptions {
    /// Presentation of this run.
    pub(crate) fn presentation(&self, run: &RunRecord) -> Presentation {
        let columns = qdepth_papers::columns([run]);
        Presentation { limits: self.limit.clone(), columns, ..Presentation::from(self.lang) }
    }
}

/// Default name of the report of a run.
pub(crate) const REPORT_NAME: &str = "qdepth-report.html";

/// The report that a run ends with.
#[derive(Args, Clone, Debug)]
pub(crate) struct RunReport {
    /// Do not write a report
    #[arg(long, conflicts_with = "report", help_heading = "Output")]
    pub(crate) no_report: bool,
    /// Report file
    ///
    /// Its extension sets the format: .html, .pdf, .md or .json.
    #[arg(long, default_value = REPORT_NAME, value_name = "FILE", help_heading = "Output")]
    pub(crate) report: PathBuf,
    #[command(flatten)]
    pub(crate) presentation: PresentationOptions,
}

impl RunReport {
    /// Options of a run without a report.
    pub(crate) fn none() -> Self {
        let presentation = PresentationOptions { limit: Vec::new(), lang: Lang::En };
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

/// Parser of the languages that there are catalogues of.
pub(crate) fn languages() -> impl TypedValueParser<Value = Lang> {
    let value = |lang: Lang| {
        let [_, in_english] = lang.names();
        PossibleValue::new(lang.tag()).help(in_english)
    };
    let known = |tag: String| Lang::ALL.into_iter().find(|lang| lang.tag() == tag);
    let parser = PossibleValuesParser::new(Lang::ALL.map(value));
    parser.try_map(move |tag| known(tag).ok_or("there is no such catalogue"))
}

/// Names of engine choices, with their help.
const ENGINES: [(&str, &str); 10] = [
    ("auto", "First of io_uring, linux-aio and threads that the kernel allows"),
    ("io_uring", "io_uring with interrupts"),
    ("linux-aio", "Linux AIO"),
    ("threads", "Synchronous I/O in threads"),
    ("sync", "Synchronous I/O in the worker; queue depth 1 only"),
    ("mmap", "Copies from and to a mapping of the file; queue depth 1 only"),
    ("io_uring-polled", "io_uring with polled completions; needs poll queues, uses a full core"),
    ("io_uring-sqpoll", "io_uring with a kernel polling thread, which uses a second core"),
    ("io_uring-passthrough", "NVMe passthrough by io_uring; whole namespaces only"),
    ("io_uring-passthrough-polled", "NVMe passthrough with polled completions; uses a full core"),
];

/// Parser of an engine choice.
pub(crate) fn engines() -> impl TypedValueParser<Value = EngineChoice> {
    let values = ENGINES.map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values)
        .try_map(|name| EngineChoice::from_name(&name).ok_or("there is no such engine"))
}
