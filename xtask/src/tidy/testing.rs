//! Helpers for the tests of several checks.

use anyhow::Result;

type Check = fn(&str, &str, &mut Vec<String>) -> Result<()>;

/// Problems that a check reports for a file with this name and text.
pub(super) fn found(check: Check, name: &str, text: &str) -> Vec<String> {
    let mut broken = Vec::new();
    check(name, text, &mut broken).unwrap();
    broken
}
