//! Checks that only a few listed files create findings.

use anyhow::{Context, Result};
use syn::visit::{self, Visit};

use super::sizes::is_test;

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
pub(super) fn check(name: &str, text: &str, broken: &mut Vec<String>) -> Result<()> {
    let Some(below) = name.strip_prefix("crates/").filter(|below| below.contains("/src/")) else {
        return Ok(());
    };
    // The report formats findings, and creates some in its tests.
    let is_let = ALLOWED.iter().any(|(path, _)| below.starts_with(path));
    if is_let || below.starts_with("qdepth-report/") || !text.contains("Finding::") {
        return Ok(());
    }
    let file = syn::parse_file(text).with_context(|| format!("{name} cannot be parsed"))?;
    let mut counter = FindingCounter(0);
    counter.visit_file(&file);
    // A test-only file is marked where it is declared, not in the file itself.
    let is_of_tests = below.ends_with("tests.rs") || below.contains("/tests/");
    if counter.0 > 0 && !is_of_tests {
        broken.push(format!(
            "{name}: makes a finding; those of a run are raised in qdepth-lab/src/outcome/findings"
        ));
    }
    Ok(())
}

struct FindingCounter(usize);

impl<'ast> Visit<'ast> for FindingCounter {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !is_test(&function.attrs) {
            visit::visit_item_fn(self, function);
        }
    }

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

    fn broken(name: &str, text: &str) -> usize {
        let mut broken = Vec::new();
        check(name, text, &mut broken).unwrap();
        broken.len()
    }

    #[test]
    fn only_the_lab_raises() {
        let text = "fn f() -> Finding { Finding::remark(Code::Stall) }";
        assert_eq!(broken("crates/qdepth-host/src/device_handle.rs", text), 1);
        assert_eq!(broken("crates/qdepth-lab/src/outcome/seal.rs", text), 1);
        assert_eq!(broken("crates/qdepth-lab/src/outcome/findings/point.rs", text), 0);
        assert_eq!(broken("crates/qdepth-host/tests/device_handle.rs", text), 0);
        let test = "#[cfg(test)]\nmod tests { fn f() -> Finding { Finding::remark(Code::Stall) } }";
        assert_eq!(broken("crates/qdepth-host/src/device_handle.rs", test), 0);
    }
}
