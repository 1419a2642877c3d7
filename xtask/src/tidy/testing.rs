//! Helpers for the tests of several checks.

use super::sizes::without_tests;

type Check = fn(&str, &syn::File, &mut Vec<String>);

/// Problems that a check reports for a file with this name and text.
pub(super) fn found(check: Check, name: &str, text: &str) -> Vec<String> {
    let mut file = syn::parse_file(text).unwrap();
    without_tests(&mut file.items);
    let mut broken = Vec::new();
    check(name, &file, &mut broken);
    broken
}
