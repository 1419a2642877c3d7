//! Why a job file is not run: the option, its section and its line, in words for a person.

use std::fmt;

/// A job file, command line or option that cannot be honoured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioRefusal {
    /// The job file as named by the user, or `command line`.
    pub file: String,
    /// Line in it, from 1; 0 where there is none.
    pub line: u32,
    /// Section, without brackets; empty before the first.
    pub section: String,
    /// The option as written, with its value; empty where it is not about one.
    pub option: String,
    /// What is wrong, and what would be right.
    pub why: String,
}

impl fmt::Display for FioRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        f.write_str(": ")?;
        if !self.section.is_empty() {
            write!(f, "[{}] ", self.section)?;
        }
        if !self.option.is_empty() {
            write!(f, "{}: ", self.option)?;
        }
        f.write_str(&self.why)
    }
}

impl std::error::Error for FioRefusal {}

/// What a job file says that is not done literally, and that cannot change a figure; or that a
/// reader of the figures must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioRemark {
    /// Where, as `jobs.fio:12: [reader] invalidate=1`.
    pub place: String,
    /// What is done instead.
    pub what: String,
}

impl fmt::Display for FioRemark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}
