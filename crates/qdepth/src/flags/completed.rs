//! Shell completion of plans, profiles, emulated devices, targets and runs.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;

use clap::{Arg, Command, ValueHint};
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::{CompleteEnv, Shells};
use qdepth_files::{Lines, shell_word, visible};
use qdepth_logbook::Logbook;
use qdepth_workload::{
    shipped_plan_names, shipped_plan_text, shipped_profile_names, shipped_profile_text,
    shipped_title,
};

use crate::flags::{LOGBOOK_NAME, with_examples};

/// Variable in which the shell asks for completions, with its name.
const ASKED: &str = "QDEPTH_COMPLETE";
/// Maximum number of runs that are offered.
const RUNS_MAX: usize = 50;

/// Answers the shell and ends the process, if the shell asks for completions.
pub(crate) fn complete() {
    CompleteEnv::with_factory(|| completed(with_examples())).var(ASKED).complete();
}

/// Script that makes this shell ask `qdepth` for completions; `None` for an unknown shell.
pub(crate) fn script(shell: &str) -> Option<String> {
    let mut script = Vec::new();
    if shell == "bash" {
        // Otherwise bash completes only the part after the colon of `media:NAME`.
        let _ = writeln!(script, "COMP_WORDBREAKS=${{COMP_WORDBREAKS//:}}");
    }
    let shells = Shells::builtins();
    let completer = shells.completer(shell)?;
    completer.write_registration(ASKED, "qdepth", "qdepth", "qdepth", &mut script).ok()?;
    String::from_utf8(script).ok()
}

/// Adds candidates to the arguments of all commands, by the name of their value.
fn completed(command: Command) -> Command {
    let name = command.get_name().to_owned();
    command.mut_args(|arg| with_candidates(&name, arg)).mut_subcommands(completed)
}

/// Source of the candidates for a word that begins so.
type Source = fn(&OsStr) -> Vec<CompletionCandidate>;

fn with_candidates(command: &str, arg: Arg) -> Arg {
    let value = arg.get_value_names().and_then(|names| names.first()).map(|name| name.to_string());
    let source: Source = match (arg.get_id().as_str(), value.as_deref().unwrap_or_default()) {
        ("name", _) if command == "media" => |_| devices(),
        ("name", _) if command == "profiles" => |_| profiles(),
        ("name", _) if command == "plans" => |_| plans(),
        (_, "PLAN | TARGET" | "APPLICATION | TARGET") => plans_and_targets,
        (_, "TARGET") => targets,
        ("plan", _) => |_| plans(),
        ("profile", _) => |_| profiles(),
        ("medium" | "expect", _) => |_| devices(),
        (_, "RUN") | ("a" | "b", _) => |_| runs(),
        _ if arg.get_value_hint() == ValueHint::AnyPath => paths,
        _ => return arg,
    };
    arg.add(ArgValueCompleter::new(move |begun: &OsStr| offered(source(begun), begun)))
}

/// Candidates that begin as the word does. A shell may put a candidate into its command line as it
/// is, and shows its help: names of files and runs may be hostile, so only those are offered that
/// need no quotes, and control characters of the help are made visible.
fn offered(all: Vec<CompletionCandidate>, begun: &OsStr) -> Vec<CompletionCandidate> {
    let is_plain = |candidate: &CompletionCandidate| {
        let value = candidate.get_value();
        value.as_encoded_bytes().starts_with(begun.as_encoded_bytes())
            && value.to_str().is_some_and(|value| shell_word(value) == value)
    };
    let shown = |candidate: CompletionCandidate| {
        let help = candidate.get_help().map(ToString::to_string);
        candidate.help(help.map(|help| visible(&help, Lines::One).into_owned().into()))
    };
    all.into_iter().filter(is_plain).map(shown).collect()
}

fn titled<'a>(
    names: impl Iterator<Item = &'a str>,
    text: fn(&str) -> Option<&'static str>,
) -> Vec<CompletionCandidate> {
    let title = |name| shipped_title(text(name).unwrap_or_default()).to_owned();
    names.map(|name| CompletionCandidate::new(name).help(Some(title(name).into()))).collect()
}

fn plans() -> Vec<CompletionCandidate> {
    titled(shipped_plan_names(), shipped_plan_text)
}

fn profiles() -> Vec<CompletionCandidate> {
    titled(shipped_profile_names(), shipped_profile_text)
}

fn devices() -> Vec<CompletionCandidate> {
    qdepth_media::catalogue().map(CompletionCandidate::new).collect()
}

fn paths(begun: &OsStr) -> Vec<CompletionCandidate> {
    PathCompleter::any().complete(begun)
}

/// Files, directories, block devices and emulated devices.
fn targets(begun: &OsStr) -> Vec<CompletionCandidate> {
    let emulated = devices().into_iter().map(|name| name.add_prefix("media:"));
    emulated.chain(paths(begun)).collect()
}

fn plans_and_targets(begun: &OsStr) -> Vec<CompletionCandidate> {
    plans().into_iter().chain(targets(begun)).collect()
}

/// The newest runs of the logbook in this directory, with their plan and targets.
fn runs() -> Vec<CompletionCandidate> {
    let logbook = Logbook::open_read_only(Path::new(LOGBOOK_NAME)).ok();
    let listed = logbook.and_then(|logbook| logbook.listed(RUNS_MAX, 0, |_| true).ok());
    let described = listed.unwrap_or_default().into_iter().map(|run| {
        let help = format!("{} on {}, {}", run.plan, run.targets.join(", "), run.started_at);
        CompletionCandidate::new(run.id.get(..13).unwrap_or(&run.id)).help(Some(help.into()))
    });
    [CompletionCandidate::new("latest")].into_iter().chain(described).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_completion_candidates_are_not_offered() {
        let hostile = ["a;touch b", "a$(id)", "a\u{1b}[2J", "a b", "a'", "a\nb", "other"];
        let all = hostile.into_iter().chain(["a-1"]).map(|value| {
            CompletionCandidate::new(value).help(Some("plan\u{1b}[2J on\u{202e} x".into()))
        });
        let left = offered(all.collect(), OsStr::new("a"));
        let [only] = left.as_slice() else { panic!("{left:?}") };
        assert_eq!(only.get_value(), "a-1");
        let help = only.get_help().unwrap().to_string();
        assert!(!help.contains(['\u{1b}', '\u{202e}']), "{help:?}");
    }
}
