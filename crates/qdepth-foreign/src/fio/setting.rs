//! Options as written, with their location.

use std::rc::Rc;

use super::refusal::{FioRefusal, FioRemark};
use crate::remark::Remarked;

/// An option of a section, a global section or the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// Main name of the option: aliases are replaced (`blocksize` is `bs`).
    pub(super) name: String,
    /// The value with variables substituted; `None` if the option has no value.
    pub(super) value: Option<String>,
    /// The job file, or `command line`.
    pub(super) file: Rc<str>,
    /// Line in it, from 1.
    pub(super) line: u32,
    /// True if unset variables make the value empty; `value` is then the original text.
    pub(super) is_lost: bool,
}

impl Setting {
    /// Text, for example `bs=4k` or `thread`.
    pub(super) fn text(&self) -> String {
        match &self.value {
            Some(value) => format!("{}={value}", self.name),
            None => self.name.clone(),
        }
    }

    /// Error of this option in `section`.
    pub(super) fn refuse(&self, section: &str, why: impl Into<String>) -> FioRefusal {
        let (section, option) = (section.to_owned(), self.text());
        FioRefusal { section, option, ..FioRefusal::at(&self.file, self.line, why) }
    }

    pub(super) fn remark(&self, section: &str, what: impl Into<Remarked>) -> FioRemark {
        let location = format!("{}:{}: [{section}] {}", self.file, self.line, self.text());
        FioRemark { location, what: what.into() }
    }
}

/// Section of a job, with all global options above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// The name between the brackets.
    pub(super) name: String,
    /// The job file.
    pub(super) file: Rc<str>,
    /// Line of its header.
    pub(super) line: u32,
    /// Options in effect; the last one of a name counts.
    pub(super) settings: Vec<Rc<Setting>>,
    /// Number of options from global sections.
    pub(super) inherited: usize,
    /// True if it is the first job of a second or later job file, which waits for those before.
    pub(super) next_file: bool,
}

impl Section {
    /// Option in effect, if present.
    pub(super) fn get(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().rev().find(|setting| setting.name == name).map(AsRef::as_ref)
    }

    /// Error of an option, or of the section if the option is absent.
    pub(super) fn refuse_option(&self, name: &str, why: impl Into<String>) -> FioRefusal {
        match self.get(name) {
            Some(setting) => setting.refuse(&self.name, why),
            None => self.refuse(why),
        }
    }

    /// Error of the section as a whole.
    pub(super) fn refuse(&self, why: impl Into<String>) -> FioRefusal {
        FioRefusal { section: self.name.clone(), ..FioRefusal::at(&self.file, self.line, why) }
    }
}

/// Names and values of these options, each name once with its last value; empty if it has none.
pub(super) fn each_once(settings: &[Rc<Setting>]) -> Vec<(String, String)> {
    let mut list: Vec<(String, String)> = Vec::new();
    for setting in settings {
        let value = setting.value.clone().unwrap_or_default();
        match list.iter_mut().find(|(name, _)| *name == setting.name) {
            Some(known) => known.1 = value,
            None => list.push((setting.name.clone(), value)),
        }
    }
    list
}
