//! Why a job file is not run: the option, its section and its line, in words for a person.

use std::collections::BTreeSet;
use std::fmt;

use crate::remark::Remarked;

/// A job file, command line or option that cannot be honoured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FioRefusal {
    /// The job file as named by the user, or `command line`.
    pub file: String,
    /// Line in it, from 1; 0 where there is none.
    pub line: u32,
    /// Section, without brackets; empty before the first.
    pub section: String,
    /// The option as written, with its value; empty where it is not about one.
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
    /// A refusal that is about a line and not an option.
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

/// Everything in a command line and its files that cannot be honoured, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FioRefusals {
    list: Vec<FioRefusal>,
    known: BTreeSet<[String; 3]>,
}

impl FioRefusals {
    /// In the order in which they were met.
    pub fn list(&self) -> &[FioRefusal] {
        &self.list
    }

    /// Adds what is not there yet: an option of a global section is refused once and not once a
    /// job.
    pub(super) fn add(&mut self, more: Self) {
        for refusal in more.list {
            if self.known.insert(refusal.key()) {
                self.list.push(refusal);
            }
        }
    }

    /// Result of a step; its refusals are kept here.
    pub(super) fn keep<T>(&mut self, step: Result<T, impl Into<Self>>) -> Option<T> {
        match step {
            Ok(value) => Some(value),
            Err(refused) => {
                self.add(refused.into());
                None
            }
        }
    }

    /// `value`, where nothing was refused.
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

/// A difference from the job file that cannot change a figure, or that a reader of the figures must
/// know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioRemark {
    /// Location, for example `jobs.fio:12: [reader] invalidate=1`.
    pub location: String,
    /// Behaviour instead.
    pub what: Remarked,
}

impl fmt::Display for FioRemark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.what)
    }
}
