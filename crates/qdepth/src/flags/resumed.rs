//! Options that are allowed with `--resume`.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, Error, FromArgMatches};

use crate::flags::{Command as Verb, Flags, with_examples};

/// Options of a resumed run: outputs, consent, and placement of workers. Everything else comes from
/// the stored plan.
pub(super) const APPLIES: &[&str] = &[
    "resume",
    "logbook",
    "json",
    "events",
    "plain",
    "quiet",
    "verbose",
    "no_report",
    "report",
    "replace",
    "limit",
    "lang",
    "keep",
    "stop_on_throttle",
    "destroy",
    "consent",
    "overwrite_signature",
    "no_pin",
    "cpus",
];

impl Flags {
    /// Reads a command line, the program's name first.
    ///
    /// # Errors
    /// If it is wrong, or asks for help.
    pub(crate) fn read_from<T: Into<OsString>>(
        words: impl IntoIterator<Item = T>,
    ) -> Result<Self, Error> {
        let mut words: Vec<OsString> = words.into_iter().map(Into::into).collect();
        // As git and cargo have it.
        if words.len() == 2 && words[1] == "version" {
            words[1] = "--version".into();
        }
        let mut command = with_examples();
        let found = command.try_get_matches_from_mut(words)?;
        if let Some(run) = found.subcommand_matches("run").filter(|run| run.get_flag("resume")) {
            let known = command.find_subcommand("run").cloned().unwrap_or_default();
            let ignored = ignored(&known, run);
            if !ignored.is_empty() {
                return Err(refused(&known, &ignored));
            }
        }
        let mut flags = Self::from_arg_matches(&found)?;
        if let (
            Some(Verb::Run(options) | Verb::Answer(options) | Verb::FitFor(options)),
            Some((_, typed)),
        ) = (&mut flags.command, found.subcommand())
        {
            options.load.note_typed(typed);
        }
        Ok(flags)
    }
}

/// Options that were typed and would not apply.
fn ignored<'a>(known: &'a Command, run: &ArgMatches) -> Vec<&'a Arg> {
    let typed = |arg: &&Arg| {
        run.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine)
            && !APPLIES.contains(&arg.get_id().as_str())
    };
    known.get_arguments().filter(typed).collect()
}

fn refused(known: &Command, ignored: &[&Arg]) -> Error {
    let named =
        |arg: &&Arg| arg.get_long().map_or("PLAN | TARGET".to_owned(), |long| format!("--{long}"));
    let names: Vec<String> = ignored.iter().map(named).collect();
    let why = format!(
        "--resume uses the plan and targets of the interrupted run, so it cannot be used with \
         {}. To start a new run, remove --resume",
        names.join(", ")
    );
    known.clone().error(ErrorKind::ArgumentConflict, why)
}
