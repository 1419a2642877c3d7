//! Checks that only a few listed files create findings.

use syn::visit::{self, Visit};

use super::sizes::is_of_tests;

/// Files that create findings, and the reasons.
const ALLOWED: &[(&str, &str)] = &[
    ("qdepth-measure/src/finding.rs", "what a finding is"),
    ("qdepth-measure/src/laws.rs", "the laws of every point"),
    ("qdepth-lab/src/outcome/findings/", "all others of a run"),
    ("qdepth-foreign/src/import", "runs of other programs, which no lab measured"),
    ("qdepth-logbook/src/check.rs", "a damaged record, which is found on reading"),
    ("qdepth-logbook/src/read.rs", "a stored one, read back"),
    ("qdepth-record/src/tables.rs", "one that only shows the columns of tables"),
    ("qdepth/src/screen.rs", "one of an event, to be put into words"),
];

/// Reports findings that a file creates without permission.
pub(super) fn check(name: &str, file: &syn::File, broken: &mut Vec<String>) {
    let Some(below) = name.strip_prefix("crates/").filter(|below| below.contains("/src/")) else {
        return;
    };
    // The report formats findings, and creates some in its tests.
    let is_let = ALLOWED.iter().any(|(path, _)| below.starts_with(path));
    if is_let || below.starts_with("qdepth-report/") || is_of_tests(name) {
        return;
    }
    let mut counter = FindingCounter(0);
    counter.visit_file(file);
    if counter.0 > 0 {
        broken.push(format!(
            "{name}: makes a finding; those of a run are raised in qdepth-lab/src/outcome/findings"
        ));
    }
}

struct FindingCounter(usize);

impl<'ast> Visit<'ast> for FindingCounter {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let mut names = path.segments.iter().rev().map(|segment| segment.ident.to_string());
        if let (Some(last), Some(owner)) = (names.next(), names.next())
            && owner == "Finding"
            && ["remark", "invalid", "of", "unknown"].contains(&last.as_str())
        {
            self.0 += 1;
        }
        visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::found;

    fn broken(name: &str, text: &str) -> usize {
        found(check, name, text).len()
    }

    #[test]
    fn only_the_lab_may_raise_findings() {
        let text = "fn f() -> Finding { Finding::remark(Code::Stall) }";
        assert_eq!(broken("crates/qdepth-host/src/device_handle.rs", text), 1);
        assert_eq!(broken("crates/qdepth-lab/src/outcome/seal.rs", text), 1);
        assert_eq!(broken("crates/qdepth-lab/src/outcome/findings/point.rs", text), 0);
        assert_eq!(broken("crates/qdepth-host/tests/device_handle.rs", text), 0);
        let test = "#[cfg(test)]\nmod tests { fn f() -> Finding { Finding::remark(Code::Stall) } }";
        assert_eq!(broken("crates/qdepth-host/src/device_handle.rs", test), 0);
    }
}
