//! Doubts as data: what was found wrong or questionable about a point or a run, stored, worded by
//! the report, never only printed.

use std::collections::BTreeMap;
use std::fmt;

use crate::code::{Code, Severity, Subject};

/// Grade of a point, from its findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Nothing was found.
    A,
    /// Remarks only.
    B,
    /// Not valid.
    C,
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
        })
    }
}

/// Label of a finding that another rank made of its own machine, in any row of the table: the rank
/// and its host.
pub const RANK: &str = "rank";

/// A recorded doubt: what kind, how heavy, and the figures that it was drawn from.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Code.
    pub code: Code,
    /// Severity.
    pub severity: Severity,
    /// Figures by name; each name carries its unit (`_ns`, `_bytes`), a bare share is 0..1.
    pub values: BTreeMap<String, f64>,
    /// Texts by name, as found (never translated).
    pub labels: BTreeMap<String, String>,
}

impl Finding {
    /// The finding that a newer version stored under a code that this one does not know.
    pub fn unknown(code: &str, severity: Severity) -> Self {
        Self { severity, ..Self::remark(Code::Unknown) }.label("code", code)
    }
    /// The code's text as stored, also where this version does not know it.
    pub fn code_text(&self) -> &str {
        match (self.code, self.labels.get("code")) {
            (Code::Unknown, Some(stored)) => stored,
            (code, _) => code.as_str(),
        }
    }
    /// A remark without figures yet.
    pub fn remark(code: Code) -> Self {
        Self { code, severity: Severity::Remark, values: BTreeMap::new(), labels: BTreeMap::new() }
    }
    /// A finding that makes the point invalid, without figures yet.
    pub fn invalid(code: Code) -> Self {
        Self { severity: Severity::Invalid, ..Self::remark(code) }
    }
    /// One of this weight, without figures yet.
    pub fn new(code: Code, severity: Severity) -> Self {
        Self { severity, ..Self::remark(code) }
    }
    /// Checks that it matches the table of codes; the error is the mismatch.
    ///
    /// # Errors
    /// If its weight, what it is about, a figure or a text is not in its code's row.
    pub fn check(&self, is_of_run: bool) -> Result<(), String> {
        let (code, row) = (self.code, self.code.meaning());
        let about = if is_of_run { Subject::Run } else { Subject::Point };
        if !row.severities.contains(&self.severity) {
            return Err(format!("`{code}` is never a {}", self.severity.as_str()));
        }
        if row.subject != Subject::Both && row.subject != about {
            return Err(format!("`{code}` is not about a {about:?}"));
        }
        let unknown =
            |name: &&String, known: &[&str]| !known.contains(&name.as_str()) && *name != RANK;
        let mut names = self.values.keys().filter(|name| unknown(name, row.values));
        let mut texts = self.labels.keys().filter(|name| unknown(name, row.labels));
        match names.next().or(texts.next()) {
            Some(name) => Err(format!("`{code}` has no `{name}` in the table of codes")),
            None => Ok(()),
        }
    }
    /// The same finding with one more figure.
    #[must_use]
    pub fn value(mut self, name: &str, value: f64) -> Self {
        self.values.insert(name.to_owned(), value);
        self
    }
    /// The same finding with one more text.
    #[must_use]
    pub fn label(mut self, name: &str, text: impl Into<String>) -> Self {
        self.labels.insert(name.to_owned(), text.into());
        self
    }
}

impl Grade {
    /// The grade that these findings leave.
    pub fn from_findings<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Self {
        findings.into_iter().fold(Self::A, |grade, finding| {
            grade.max(match finding.severity {
                Severity::Remark => Self::B,
                Severity::Invalid => Self::C,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_finding_sets_the_grade() {
        let remark = Finding::remark(Code::Buffered);
        let invalid = Finding::invalid(Code::IoErrors);
        assert_eq!(Grade::from_findings([]), Grade::A);
        assert_eq!(Grade::from_findings([&remark]), Grade::B);
        assert_eq!(Grade::from_findings([&invalid, &remark]), Grade::C);
    }

    #[test]
    fn what_is_not_in_the_table_is_said() {
        let steal = Finding::new(Code::Steal, Severity::Invalid).value("share", 0.1);
        assert_eq!(steal.check(false), Ok(()));
        for (wrong, is_of_run) in [
            (steal.clone(), true),
            (steal.clone().value("shares", 0.1), false),
            (steal.label("why", "x"), false),
            (Finding::invalid(Code::Buffered), false),
        ] {
            let why = wrong.check(is_of_run).unwrap_err();
            assert!(why.starts_with(&format!("`{}`", wrong.code)), "{why}");
        }
    }
}
