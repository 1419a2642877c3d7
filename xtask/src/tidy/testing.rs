//! What the tests of several checks have in common.

use anyhow::Result;

type Check = fn(&str, &str, &mut Vec<String>) -> Result<()>;

/// What a check says of a file of this name and text.
pub(super) fn found(check: Check, name: &str, text: &str) -> Vec<String> {
    let mut broken = Vec::new();
    check(name, text, &mut broken).unwrap();
    broken
}
