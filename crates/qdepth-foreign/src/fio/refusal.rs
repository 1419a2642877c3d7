//! Errors of job files: option, section, line and explanation.

use std::collections::BTreeSet;
use std::fmt;

use crate::remark::Remarked;

/// Unsupported job file, command line or option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FioRefusal {
    /// Job file as given by the user, or `command line`.
    pub file: String,
    /// Line, from 1; 0 if there is none.
    pub line: u32,
    /// Section, without brackets; empty if there is none.
    pub section: String,
    /// Option with its value, as written; empty if there is none.
    pub option: String,
    /// Problem and remedy.
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

impl FioRefusal {
    /// Error of a line instead of an option.
    pub(super) fn at(file: &str, line: u32, why: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, why: why.into(), ..Self::default() }
    }

    /// Key of equal refusals: the position of an option, or the whole text.
    fn key(&self) -> [String; 3] {
        let location = format!("{}:{}", self.file, self.line);
        if self.option.is_empty() {
            [location, self.section.clone(), self.why.clone()]
        } else {
            [location, "--".to_owned(), self.option.clone()]
        }
    }
}

impl std::error::Error for FioRefusal {}

/// All errors in a command line and its files, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FioRefusals {
    list: Vec<FioRefusal>,
    known: BTreeSet<[String; 3]>,
}

impl FioRefusals {
    /// The errors, in the order in which they were found.
    pub fn list(&self) -> &[FioRefusal] {
        &self.list
    }

    /// Adds new errors: an option of a global section is refused once and not once per job.
    pub(super) fn add(&mut self, more: Self) {
        for refusal in more.list {
            if self.known.insert(refusal.key()) {
                self.list.push(refusal);
            }
        }
    }

    /// Returns the result of a step; keeps its errors and returns `None` if it failed.
    pub(super) fn keep<T>(&mut self, step: Result<T, impl Into<Self>>) -> Option<T> {
        match step {
            Ok(value) => Some(value),
            Err(refused) => {
                self.add(refused.into());
                None
            }
        }
    }

    /// `value` if there are no errors.
    pub(super) fn or<T>(self, value: T) -> Result<T, Self> {
        if self.list.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl From<FioRefusal> for FioRefusals {
    fn from(refusal: FioRefusal) -> Self {
        Self { known: BTreeSet::from([refusal.key()]), list: vec![refusal] }
    }
}

impl fmt::Display for FioRefusals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, refusal) in self.list.iter().enumerate() {
            let end = if number == 0 { "" } else { "\n" };
            write!(f, "{end}{refusal}")?;
        }
        Ok(())
    }
}

impl std::error::Error for FioRefusals {}

/// Difference from fio's behaviour that does not change a figure, or that the reader of the figures
/// must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioRemark {
    /// Location, for example `jobs.fio:12: [reader] invalidate=1`.
    pub location: String,
    /// Difference, for the user.
    pub what: Remarked,
}

impl fmt::Display for FioRemark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.what)
    }
}
