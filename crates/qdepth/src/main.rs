//! The command line of qdepth. Only this crate prints, exits, and connects the measurement with the
//! logbook. Start with [`flags`], then `qdepth-lab`, which runs the stages in order.

mod commands;
mod exit_status;
mod flags;
mod layout;
mod remedy;
mod result_file;
mod screen;
mod terminal;

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::exit_status::Status;
use crate::flags::{Command, Flags};
use qdepth_host::system::System;
use qdepth_lab::failure::FAILED;

#[global_allocator]
static MEMORY: qdepth_linux::Memory = qdepth_linux::Memory;

/// Stack size of the working thread, bytes.
const STACK_BYTES: usize = 8 << 20;

fn main() -> ExitCode {
    qdepth_linux::explain_aborts();
    flags::completed::complete();
    let words: Vec<OsString> = std::env::args_os().collect();
    // A process that waits for an unresponsive server cannot be killed, so a supervisor runs it as
    // a child that it can leave behind.
    if qdepth_host::served::may_be_used(&System::real(), words.get(1..).unwrap_or_default()) {
        return ExitCode::from(qdepth_linux::supervised(terminal::print_line, on_a_large_stack));
    }
    ExitCode::from(on_a_large_stack())
}

fn on_a_large_stack() -> u8 {
    let work = || {
        let is_small = || qdepth_files::file_at_work().is_some();
        qdepth_linux::watch_calls(FAILED, is_small, unanswered);
        exit_status::run_catching_panics(|| program(std::env::args_os()))
    };
    let limit = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
    if limit.is_none_or(|bytes| bytes >= STACK_BYTES as u64 / 2) {
        return work();
    }
    // With a small stack limit (`ulimit -s`), an overflow would end the process without a message.
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
    let status = thread.map(|thread| thread.join().unwrap_or(FAILED));
    status.unwrap_or_else(|why| {
        terminal::print_line(&format!("qdepth: cannot allocate a stack: {why}"));
        FAILED
    })
}

/// Last line of a program that leaves a file behind whose server does not answer. `path` is the
/// kernel's name for it, if known. `None` if no server has to answer for the file.
fn unanswered(path: Option<&Path>) -> Option<String> {
    let file = path.map(Path::to_owned).or_else(qdepth_files::file_at_work);
    if !file.is_some_and(|file| qdepth_host::served::may_wait_for_server(&file)) {
        return None;
    }
    let name = qdepth_files::file_at_work().or(path.map(Path::to_owned));
    let name = name.unwrap_or_else(|| PathBuf::from("a file of this command"));
    let rest = qdepth_files::results_file().map_or_else(String::new, |logbook| {
        format!(
            ". The finished points are in {}; if some are missing, `qdepth run --resume` measures \
             the rest",
            logbook.display()
        )
    });
    Some(format!(
        "qdepth: {} does not respond, so qdepth stops waiting. Check its file system (`umount -f` \
         ends the waiting calls to a server, `fsfreeze -u` those to a frozen file system), then \
         repeat the command, or use a path elsewhere{rest}",
        name.display()
    ))
}

/// Runs the program with these words and returns the exit status.
fn program(words: impl Iterator<Item = OsString>) -> u8 {
    if let Err(error) = qdepth_lab::events::signals::outlive_limits() {
        return exit_status::explain(&error);
    }
    let mut words = words.peekable();
    let called = words.peek().and_then(|name| Path::new(name).file_name());
    let other: Option<fn(&[String]) -> u8> = match called.and_then(OsStr::to_str) {
        Some("fio") => Some(commands::fio::as_fio),
        Some("ior") => Some(commands::ior::as_ior),
        Some("mdtest") => Some(commands::mdtest::as_mdtest),
        _ => None,
    };
    if let Some(other) = other {
        let words: Vec<String> = words.skip(1).map(|word| word.to_string_lossy().into()).collect();
        return other(&words);
    }
    let flags = match Flags::read_from(words) {
        Ok(flags) => flags,
        Err(error) => return exit_status::report_usage_error(error),
    };
    if flags.replace {
        qdepth_files::replace_all();
    }
    let Some(command) = flags.command else {
        let answer = commands::first::first(&flags.first);
        return answer.map_or_else(|error| exit_status::explain(&error), Status::number);
    };
    let is_resumed =
        matches!(command, Command::Run(_) | Command::Fio(_) | Command::Ior(_) | Command::Mdtest(_));
    match commands::dispatch(command) {
        Ok(status) => status.number(),
        Err(error) if is_resumed => exit_status::explain(&error),
        Err(error) => exit_status::explain_to_repeat(&error),
    }
}
