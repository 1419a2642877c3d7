//! What may be said beside `--resume`.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, Error, FromArgMatches};

use crate::flags::{Flags, with_examples};

/// What a run that is taken up again still asks for: where it is kept and told of, whose loss is
/// consented to, and where its workers are kept. Everything else is the stored plan's.
pub(super) const APPLIES: &[&str] = &[
    "resume",
    "logbook",
    "json",
    "events",
    "plain",
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
    /// Where it is wrong, or asks for help.
    pub(crate) fn read_from<T: Into<OsString> + Clone>(
        words: impl IntoIterator<Item = T>,
    ) -> Result<Self, Error> {
        let mut command = with_examples();
        let found = command.try_get_matches_from_mut(words)?;
        if let Some(run) = found.subcommand_matches("run").filter(|run| run.get_flag("resume")) {
            let known = command.find_subcommand("run").cloned().unwrap_or_default();
            let ignored = ignored(&known, run);
            if !ignored.is_empty() {
                return Err(refused(&known, &ignored));
            }
        }
        Self::from_arg_matches(&found)
    }
}

/// Whatever was typed and would not apply.
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
        "--resume goes on with the plan and the targets that the run began with, so it cannot be \
         used with {}. Without --resume a new run begins",
        names.join(", ")
    );
    known.clone().error(ErrorKind::ArgumentConflict, why)
}
