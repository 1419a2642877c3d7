//! Options of qdepth in a fio command line.

use clap::{CommandFactory, Parser};
use qdepth_host::placement::Cpus;
use qdepth_linux::EngineChoice;

use crate::flags::{ConsentOptions, LogbookOption, RunReport, engines};

/// Options of qdepth among those of fio.
#[derive(Clone, Debug, Parser)]
#[command(name = "qdepth fio", no_binary_name = true, disable_help_flag = true)]
pub(crate) struct FioRun {
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    /// Print JSON instead of fio's output (qdepth schema run)
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) report: RunReport,
    /// Keep the measurement file
    #[arg(long)]
    pub(crate) keep: bool,
    #[command(flatten)]
    pub(crate) consent: ConsentOptions,
    /// I/O engine, instead of the jobs' ioengine
    #[arg(long, value_parser = engines())]
    pub(crate) engine: Option<EngineChoice>,
    /// Pin the workers to these CPUs, instead of the jobs' settings
    #[arg(long)]
    pub(crate) cpus: Option<Cpus>,
    /// Print the jobs as a plan and measure nothing
    #[arg(long)]
    pub(crate) convert: bool,
    /// Replace output files that other programs wrote or changed
    #[arg(long)]
    pub(crate) replace: bool,
    /// Print no findings on standard error
    #[arg(long)]
    pub(crate) qdepth_quiet: bool,
    /// Print findings, and exit 1 if a point is invalid
    #[arg(long)]
    pub(crate) strict: bool,
}

/// qdepth's options, each followed by its help.
pub(crate) fn own_options() -> String {
    let command = FioRun::command();
    let lines =
        command.get_arguments().filter(|argument| !argument.is_hide_set()).map(|argument| {
            let value = argument.get_value_names().filter(|_| argument.get_action().takes_values());
            let value = value.map(|names| format!("=<{}>", names.join(" "))).unwrap_or_default();
            let name = format!("--{}{value}", argument.get_long().unwrap_or_default());
            format!("  {name}\n      {}", argument.get_help().cloned().unwrap_or_default())
        });
    lines.collect::<Vec<_>>().join("\n")
}

/// Words of a command line, divided between qdepth and fio.
#[derive(Debug, Default)]
pub(crate) struct SortedWords {
    /// qdepth's, which [`FioRun`] reads.
    pub(crate) ours: Vec<String>,
    /// fio's.
    pub(crate) fios: Vec<String>,
}

impl SortedWords {
    /// Divides the words: the options of [`FioRun`], with their values, are qdepth's; the rest is
    /// fio's.
    pub(crate) fn sort(words: &[String]) -> Self {
        let command = FioRun::command();
        let known = |name: &str| command.get_arguments().find(|arg| arg.get_long() == Some(name));
        let mut sorted = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let name = word.strip_prefix("--").map(|rest| rest.split('=').next().unwrap_or(rest));
            let Some(argument) = name.and_then(known) else {
                sorted.fios.push(word.clone());
                continue;
            };
            sorted.ours.push(word.clone());
            if !word.contains('=') && argument.get_action().takes_values() {
                sorted.ours.extend(words.next().cloned());
            }
        }
        sorted
    }
}
