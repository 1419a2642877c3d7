//! Converts answers of the system or of a program to the reason why a fact is unknown.

use std::io;

use qdepth_record::Reason;
use rustix::io::Errno;

use crate::system::{CommandError, Output, System};

/// A path that could not be read.
pub(crate) fn unreadable(path: &str, error: &io::Error) -> Reason {
    let path = path.to_owned();
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT) => Reason::NoSuchFile { path },
        Some(Errno::ACCESS) => Reason::NotPermitted { path },
        _ => {
            let (errno, message) = parts(error);
            Reason::Unreadable { path, errno, message }
        }
    }
}

/// The error number, if there is one, and the message.
fn parts(error: &io::Error) -> (String, String) {
    let text = error.to_string();
    let Some(errno) = error.raw_os_error() else { return (String::new(), text) };
    let message = text.strip_suffix(&format!(" (os error {errno})")).unwrap_or(&text);
    (errno.to_string(), message.to_owned())
}

/// A program that could not be run.
pub(crate) fn not_run(error: &CommandError) -> Reason {
    match error {
        CommandError::TooLong { command, seconds } => {
            Reason::ToolTooSlow { tool: command.clone(), seconds: seconds.to_string() }
        }
        CommandError::NotStarted { command, error } => {
            let tool = command.clone();
            if error.raw_os_error().map(Errno::from_raw_os_error) == Some(Errno::NOENT) {
                return Reason::ToolMissing { tool };
            }
            let (errno, message) = parts(error);
            Reason::ToolNotStarted { tool, errno, message }
        }
    }
}

/// A program that failed, with the first line of its message.
pub(crate) fn failed(tool: &str, output: &Output) -> Reason {
    let (tool, message) = (tool.to_owned(), first_line(output).unwrap_or_default().to_owned());
    match output.status {
        Some(status) => Reason::ToolFailed { tool, status: status.to_string(), message },
        None => Reason::ToolKilled { tool, message },
    }
}

fn first_line(output: &Output) -> Option<&str> {
    let lines = output.stderr.lines().chain(output.stdout.lines());
    lines.map(str::trim).find(|line| !line.is_empty())
}

/// Output of a program that succeeded.
pub(super) fn printed(system: &System, tool: &str, args: &[&str]) -> Result<String, Reason> {
    match system.run(tool, args) {
        Err(error) => Err(not_run(&error)),
        Ok(output) if output.status != Some(0) => Err(failed(tool, &output)),
        Ok(output) => Ok(output.stdout),
    }
}

/// Error output of a command, for the error of a step.
pub(crate) fn error_output(command: &str, output: &Output) -> String {
    let first = first_line(output).unwrap_or("no message");
    match output.status {
        Some(status) => format!("`{command}` ended with {status}: {first}"),
        None => format!("`{command}` was killed by a signal: {first}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_error_has_errno_and_message() {
        let stored = |errno: i32| unreadable("/a", &io::Error::from_raw_os_error(errno)).stored();
        assert_eq!(stored(2), "{\"code\":\"no-such-file\",\"path\":\"/a\"}");
        assert_eq!(stored(13), "{\"code\":\"not-permitted\",\"path\":\"/a\"}");
        let io = "{\"code\":\"unreadable\",\"errno\":\"5\",\"message\":\"Input/output \
                  error\",\"path\":\"/a\"}";
        assert_eq!(stored(5), io);
        let other = unreadable("/a", &io::ErrorKind::IsADirectory.into());
        assert!(other.values().iter().all(|(name, _)| *name != "errno"), "{other:?}");
    }

    #[test]
    fn failed_program_is_reported_by_first_error_line() {
        let output = |status| Output {
            status,
            stdout: "more\n".to_owned(),
            stderr: "\n  no right \n".to_owned(),
        };
        let (tool, message) = ("lvs".to_owned(), "no right".to_owned());
        assert_eq!(failed("lvs", &output(None)), Reason::ToolKilled { tool, message });
        let [tool, status, message] = ["lvs", "5", "no right"].map(str::to_owned);
        assert_eq!(failed("lvs", &output(Some(5))), Reason::ToolFailed { tool, status, message });
        assert_eq!(error_output("lvs", &output(Some(5))), "`lvs` ended with 5: no right");
    }
}
