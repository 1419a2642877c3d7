//! Shell completion of plans, profiles, emulated devices, targets and runs.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;

use clap::{Arg, Command};
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::{CompleteEnv, Shells};
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

fn with_candidates(command: &str, arg: Arg) -> Arg {
    let value = arg.get_value_names().and_then(|names| names.first()).map(|name| name.to_string());
    match (arg.get_id().as_str(), value.as_deref().unwrap_or_default()) {
        ("name", _) if command == "plans" => arg.add(ArgValueCandidates::new(plans)),
        ("name", _) if command == "media" => arg.add(ArgValueCandidates::new(devices)),
        ("name", _) if command == "profiles" => arg.add(ArgValueCandidates::new(profiles)),
        (_, "PLAN | TARGET") => arg.add(ArgValueCompleter::new(plans_and_targets)),
        (_, "TARGET") => arg.add(ArgValueCompleter::new(targets)),
        ("plan", _) => arg.add(ArgValueCandidates::new(plans)),
        ("profile", _) => arg.add(ArgValueCandidates::new(profiles)),
        ("medium" | "expect", _) => arg.add(ArgValueCandidates::new(devices)),
        (_, "RUN") | ("a" | "b", _) => arg.add(ArgValueCandidates::new(runs)),
        _ => arg,
    }
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

/// Files, directories, block devices and emulated devices.
fn targets(begun: &OsStr) -> Vec<CompletionCandidate> {
    let emulated = devices().into_iter().map(|name| name.add_prefix("media:"));
    let mut all: Vec<CompletionCandidate> = emulated.filter(|name| begins(name, begun)).collect();
    all.extend(PathCompleter::any().complete(begun));
    all
}

fn plans_and_targets(begun: &OsStr) -> Vec<CompletionCandidate> {
    let plans = plans().into_iter().filter(|plan| begins(plan, begun));
    plans.chain(targets(begun)).collect()
}

fn begins(candidate: &CompletionCandidate, begun: &OsStr) -> bool {
    candidate.get_value().as_encoded_bytes().starts_with(begun.as_encoded_bytes())
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
