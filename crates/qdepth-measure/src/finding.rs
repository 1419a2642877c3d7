//! Findings: problems detected in a point or a run, stored as codes with figures and texts. The
//! report words them.

use std::collections::BTreeMap;
use std::fmt;

use crate::code::{Code, Severity, Subject};

/// Grade of a point, from its findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Nothing was found.
    A,
    /// Warnings only.
    B,
    /// Invalid.
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

/// Label of a finding that another rank raised about its own machine, allowed for every code: the
/// rank and its host.
pub const RANK: &str = "rank";

/// A detected problem: its kind, its severity, and the figures behind it.
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
    /// A finding that a newer version stored under a code that this version does not know.
    pub fn unknown(code: &str, severity: Severity) -> Self {
        Self { severity, ..Self::remark(Code::Unknown) }.label("code", code)
    }
    /// The code as stored, even if this version does not know it.
    pub fn code_text(&self) -> &str {
        match (self.code, self.labels.get("code")) {
            (Code::Unknown, Some(stored)) => stored,
            (code, _) => code.as_str(),
        }
    }
    /// A warning, without figures yet.
    pub fn remark(code: Code) -> Self {
        Self { code, severity: Severity::Remark, values: BTreeMap::new(), labels: BTreeMap::new() }
    }
    /// A finding that makes the point invalid, without figures yet.
    pub fn invalid(code: Code) -> Self {
        Self { severity: Severity::Invalid, ..Self::remark(code) }
    }
    /// A finding of this severity, without figures yet.
    pub fn new(code: Code, severity: Severity) -> Self {
        Self { severity, ..Self::remark(code) }
    }
    /// Checks the finding against the table of codes.
    ///
    /// # Errors
    /// If its severity, its subject, a figure or a text is not in the code's row.
    pub fn check(&self, is_of_run: bool) -> Result<(), String> {
        let (code, row) = (self.code, self.code.meaning());
        let about = if is_of_run { Subject::Run } else { Subject::Point };
        if !row.severities.contains(&self.severity) {
            return Err(format!("`{code}` cannot be a {}", self.severity.as_str()));
        }
        if row.subject != Subject::Both && row.subject != about {
            return Err(format!("`{code}` cannot be about a {about:?}"));
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
    /// Adds a figure.
    #[must_use]
    pub fn value(mut self, name: &str, value: f64) -> Self {
        self.values.insert(name.to_owned(), value);
        self
    }
    /// Adds a text.
    #[must_use]
    pub fn label(mut self, name: &str, text: impl Into<String>) -> Self {
        self.labels.insert(name.to_owned(), text.into());
        self
    }
}

impl Grade {
    /// The grade that results from these findings.
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
    fn worst_finding_sets_the_grade() {
        let remark = Finding::remark(Code::Buffered);
        let invalid = Finding::invalid(Code::IoErrors);
        assert_eq!(Grade::from_findings([]), Grade::A);
        assert_eq!(Grade::from_findings([&remark]), Grade::B);
        assert_eq!(Grade::from_findings([&invalid, &remark]), Grade::C);
    }

    #[test]
    fn finding_outside_the_table_is_reported() {
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
