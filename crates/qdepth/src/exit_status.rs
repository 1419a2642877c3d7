//! Exit statuses, and the messages on standard error that explain them.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use qdepth_files::shell_word;
use qdepth_host::{Problem, Refusal};
use qdepth_logbook::LogbookError;
use qdepth_measure::{Finding, Grade, Met};
use qdepth_media::is_emulated;
use qdepth_record::{PointRecord, RunRecord, all_met, answers, required};
use qdepth_workload::{alike, shipped_plan_names};

use crate::flags::Flags;
use crate::remedy;
use crate::terminal::print_line;
use qdepth_lab::failure::{FAILED, THREAD_LIMIT, exit_status, file_error};

/// Exit statuses that scripts may rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// All points are valid.
    Valid,
    /// Finished, but with invalid points or an unmet requirement.
    Invalid,
    /// Nothing was run, and a guard would refuse the run (`qdepth plan`).
    Refused,
    /// A comparison or a requirement is inconclusive.
    CannotTell,
    /// Interrupted by this signal; what was measured is kept.
    Interrupted(i32),
}

impl Status {
    /// The exit status.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Valid => 0,
            Self::Invalid => 1,
            Self::Refused => 3,
            Self::CannotTell => 5,
            Self::Interrupted(signal) => 128 + signal as u8,
        }
    }
}

/// Status of a run: from its requirements if it has any, otherwise from the validity of its points
/// and of the run itself.
pub(crate) fn status_of(run: &RunRecord, points: &[PointRecord]) -> Status {
    let answers = answers(run, points);
    let is_any = |word: &str| answers.iter().any(|answer| answer.answer == word);
    match (is_any("never"), is_any("unknown")) {
        (true, _) => return Status::Invalid,
        (false, true) => return Status::CannotTell,
        (false, false) if !answers.is_empty() => return Status::Valid,
        (false, false) => {}
    }
    match all_met(&required(run, points)) {
        Some(Met::Fail) => return Status::Invalid,
        Some(Met::Inconclusive) => return Status::CannotTell,
        Some(Met::Pass) => return Status::Valid,
        None => {}
    }
    let valid = |findings: &Vec<Finding>| Grade::from_findings(findings) != Grade::C;
    let all_valid = points.iter().all(|p| valid(&p.findings)) && valid(&run.findings);
    if all_valid { Status::Valid } else { Status::Invalid }
}

/// Runs `work` and returns its exit status. A panic prints a message and counts as a failure.
pub(crate) fn run_catching_panics(work: impl FnOnce() -> u8) -> u8 {
    std::panic::set_hook(Box::new(|fault| print_line(&fault_text(fault))));
    // Unwind safety: no state that a panic leaves half-changed is used afterwards.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(FAILED)
}

/// Prefixes of the standard library's panic messages when a thread cannot be started.
const NO_THREAD: [&str; 3] = [
    "failed to spawn thread",
    "failed to allocate an alternative stack",
    "failed to set up alternative stack guard page",
];

fn fault_text(fault: &PanicHookInfo<'_>) -> String {
    let words = fault.payload_as_str().unwrap_or("no message");
    if NO_THREAD.iter().any(|beginning| words.starts_with(beginning)) {
        return format!("qdepth: cannot start another thread: {THREAD_LIMIT}");
    }
    let location = fault.location().map_or_else(String::new, |location| format!(" ({location})"));
    format!(
        "qdepth: internal error: {}{location}. The finished points are in the logbook; `qdepth run \
         --resume` continues the run. Please report this with the command line: {}/issues",
        words,
        env!("CARGO_PKG_REPOSITORY"),
    )
}

/// Replaces the standard library's integer parse errors by plain words.
fn in_words(text: &str) -> String {
    let digits = ["invalid digit found in string", "cannot parse integer from empty string"];
    let text = digits
        .iter()
        .fold(text.to_owned(), |text, words| text.replace(words, "must be a whole number"));
    text.replace(" is not in 0..=", " is not a number from 0 to ")
        .replace(" is not in 1..=", " is not a number from 1 to ")
}

/// Prints clap's error, or the requested help or version, and returns the exit status.
pub(crate) fn report_usage_error(mut error: clap::Error) -> u8 {
    if let Some((_, ours)) = fio_equivalent(&error) {
        // clap's suggestions for similar spellings mislead: they name unrelated options, also in
        // the usage.
        use ContextKind::{Suggested, SuggestedArg, TrailingArg, Usage};
        for kind in [SuggestedArg, Suggested, TrailingArg, Usage] {
            error.remove(kind);
        }
        print_line(error.render().to_string().trim_end());
        print_line(&format!("\n  tip: {ours}; `qdepth fio` accepts fio's own options"));
        return error.exit_code() as u8;
    }
    let mut instead = suggested_command(&error, std::env::args().skip(1));
    let unknown = error.get(ContextKind::InvalidSubcommand).map(ToString::to_string);
    if instead.is_some() || unknown.is_some() && unknown == std::env::args().nth(1) {
        // clap also suggests commands with little in common, such as `compare` for `measure`.
        error.remove(ContextKind::SuggestedSubcommand);
    }
    if error.kind() == ErrorKind::UnknownArgument {
        // Removes the hint that the word could be a target: a mistyped option is not.
        error.remove(ContextKind::Suggested);
    }
    let remedy = instead.is_none().then(|| remedy::of_usage(&error, &command_line())).flatten();
    instead = instead.or(negative_number_tip(&error));
    let error = &error;
    let asked = [
        ErrorKind::DisplayHelp,
        ErrorKind::DisplayVersion,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
    ];
    if asked.contains(&error.kind()) {
        // Help and version are trusted text, printed in colour if the terminal supports it.
        let _ = error.print();
    } else {
        print_line(in_words(&error.render().to_string()).trim_end());
        instead.iter().for_each(|instead| print_line(&format!("\n  tip: {instead}")));
        remedy.iter().for_each(|line| print_line(&format!("for example: {line}")));
    }
    error.exit_code() as u8
}

fn command_line() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Tip for a negative number as an option's value, which clap takes for an option.
fn negative_number_tip(error: &clap::Error) -> Option<String> {
    let given = error.get(ContextKind::InvalidArg)?.to_string();
    let digits = given.strip_prefix('-')?;
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit());
    is_number.then(|| "no option accepts a negative number".to_owned())
}

/// Entry of [`FIO`] for an unknown option that is fio's.
fn fio_equivalent(error: &clap::Error) -> Option<(&'static str, &'static str)> {
    let ContextValue::String(given) = error.get(ContextKind::InvalidArg)? else { return None };
    let name = given.split('=').next().unwrap_or_default();
    FIO.iter().find(|(theirs, _)| *theirs == name).copied()
}

/// Options that users know from fio, each with qdepth's equivalent.
const FIO: [(&str, &str); 9] = [
    ("--blocksize", "use --block-size"),
    ("--runtime", "use --duration"),
    ("--ramp_time", "use --warm-up"),
    ("--size", "use --area for the measurement area, --file-size for a new file"),
    ("--rw", "choose a load profile with --profile (`qdepth profiles` lists them)"),
    ("--numjobs", "use --threads with the plan bandwidth, or `qdepth fio`"),
    ("--ioengine", "use --engine"),
    ("--filename", "name the target without an option: qdepth run TARGET"),
    ("--dry-run", "use `qdepth plan` with the same arguments"),
];

/// Words that users try as commands, each with qdepth's command.
const COMMANDS: [(&str, &str); 12] = [
    ("bench", "run"),
    ("benchmark", "run"),
    ("delete", "logbook prune"),
    ("diff", "compare"),
    ("info", "host"),
    ("measure", "run"),
    ("remove", "logbook prune"),
    ("repeat", "run --repeat 3"),
    ("results", "list"),
    ("rm", "logbook prune"),
    ("start", "run"),
    ("test", "run"),
];

/// Suggestion for an unknown first word: a plan, a path, or a command.
fn suggested_command(error: &clap::Error, words: impl Iterator<Item = String>) -> Option<String> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let words: Vec<String> = words.collect();
    let first = words.first()?;
    let known = Flags::command();
    let given = error.get(ContextKind::InvalidSubcommand)?.to_string();
    if given != *first {
        let of_its_own = known.find_subcommand(&given)?.get_name();
        return Some(format!("`{of_its_own}` is a separate command: qdepth {of_its_own}"));
    }
    let line = || words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
    if let Some(plan) = alike(first, shipped_plan_names()) {
        let rest: String = words[1..].iter().map(|word| format!(" {}", shell_word(word))).collect();
        return Some(format!("`{plan}` is a plan: qdepth run {plan}{rest}"));
    }
    if is_emulated(first) || std::path::Path::new(first).exists() {
        return Some(format!("`{first}` is a target: qdepth run first {}", line()));
    }
    let synonym = COMMANDS.iter().find(|(word, _)| word == first).map(|(_, command)| *command);
    let similar = || alike(first, known.get_subcommands().map(|command| command.get_name()));
    let command = synonym.or_else(similar)?;
    let rest = words[1..].iter().map(String::as_str);
    let all: Vec<_> = ["qdepth"].into_iter().chain(command.split(' ')).chain(rest).collect();
    let whole = remedy::accepted(&all.into_iter().map(str::to_owned).collect::<Vec<_>>());
    Some(format!("did you mean `{}`?", whole.unwrap_or_else(|| format!("qdepth {command}"))))
}

/// Prints an error with the next command to type, and returns the exit status.
pub(crate) fn explain(error: &anyhow::Error) -> u8 {
    // Logbook errors include their cause; other errors print the whole chain.
    let text = match error.downcast_ref::<LogbookError>() {
        Some(error) => error.to_string(),
        None => format!("{error:#}"),
    };
    print_line(&format!("qdepth: {}", without_error_numbers(&text)));
    let status = exit_status(error);
    let corrected = || remedy::of_text(&format!("{error:#}"), &command_line());
    let next = [
        file_error(error).and_then(|error| error.next_command(std::env::args_os())),
        with_consent(error, std::env::args_os()),
        (status == 2).then(corrected).flatten(),
    ];
    next.iter().flatten().for_each(|next| print_line(&format!("for example: {next}")));
    status
}

/// Removes the numbers that the standard library adds to the kernel's messages: ` (os error 2)`.
fn without_error_numbers(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once(')') {
        Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => text + rest,
        _ => text + " (os error " + part,
    })
}

/// Like [`explain`], for a command that cannot be resumed: without space, the message names the
/// command to repeat.
pub(crate) fn explain_to_repeat(error: &anyhow::Error) -> u8 {
    let without_room = error.downcast_ref::<LogbookError>().and_then(without_room);
    let Some((why, first)) = without_room else { return explain(error) };
    let words = std::env::args_os().skip(1).map(|word| shell_word(&word.to_string_lossy()));
    let again = words.collect::<Vec<_>>().join(" ");
    print_line(&format!(
        "qdepth: {why}. What was stored before is not lost: {first}, then run `qdepth {again}`"
    ));
    exit_status(error)
}

/// Resource that a logbook lacks, and the remedy.
fn without_room(error: &LogbookError) -> Option<(String, &'static str)> {
    match error {
        LogbookError::Full { path, doing, .. } => Some((
            format!("the file system of {} is full while {doing}", path.display()),
            "free some space",
        )),
        LogbookError::Limited { path, doing, .. } => Some((
            format!("{} reached a limit on the file size while {doing}", path.display()),
            "raise it (`ulimit -f unlimited`)",
        )),
        LogbookError::TooManyFiles { path, doing } => Some((
            format!("{}: {doing} failed: too many files are open (`ulimit -n`)", path.display()),
            "raise the limit",
        )),
        _ => None,
    }
}

/// Command line completed by every word that the consent lacks; `None` for other errors.
fn with_consent(error: &anyhow::Error, words: impl Iterator<Item = OsString>) -> Option<String> {
    let refusal = match error.downcast_ref::<Problem>() {
        Some(Problem::Refused(refusal)) => refusal,
        _ => error.downcast_ref::<Refusal>()?,
    };
    if refusal.lacks.is_empty() {
        return None;
    }
    let words = words.map(|word| word.to_string_lossy().into_owned());
    let mut words: Vec<String> = words.collect();
    let is_there = |name: &str| words.iter().any(|word| word.starts_with(name));
    let has_file = is_there("--consent") || std::io::stdin().is_terminal();
    words.extend(refusal.lacks.iter().cloned());
    if !has_file {
        words.extend(["--consent", "FILE"].map(str::to_owned));
    }
    Some(words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_exits_with_failure_status() {
        assert_eq!(run_catching_panics(|| 3), 3);
        assert_eq!(run_catching_panics(|| panic!("nobody foresaw this")), 4);
        let _ = std::panic::take_hook();
    }

    #[test]
    fn messages_of_the_kernel_lose_their_numbers() {
        let text = "a: No such file (os error 2); b: Not a directory (os error 20)";
        assert_eq!(without_error_numbers(text), "a: No such file; b: Not a directory");
        for text in ["", "no number", "x (os error ", "x (os error y) z"] {
            assert_eq!(without_error_numbers(text), text);
        }
    }

    #[test]
    fn requirements_of_run_determine_exit_status() {
        let status = |limit: &str| {
            let requirement = format!(r#"{{"profile":"log","at_most":"p99={limit}"}}"#);
            let plan_text = format!(r#"{{"requirements":[{requirement}]}}"#);
            let mut point = PointRecord { profile: "log".to_owned(), ..PointRecord::default() };
            for us in 1..=5000 {
                point.writes.latency.record(qdepth_measure::Nanos::from_micros(us));
            }
            // A cached answer is no fault here: the application would get it as well.
            point.findings.push(Finding::invalid(qdepth_measure::Code::CachedBelow));
            status_of(&RunRecord { plan_text, ..RunRecord::default() }, &[point]).number()
        };
        assert_eq!([status("10ms"), status("1ms"), status("4950us")], [0, 1, 5]);
    }
}
