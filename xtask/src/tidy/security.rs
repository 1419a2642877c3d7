//! Checks that every test that SECURITY.md names exists.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result};

use crate::command::root;

/// Heading of the table of threats.
const HEADING: &str = "## Who may do what";

/// Reports missing tests of the table's last column.
pub(super) fn check(sources: &[String], broken: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(root().join("SECURITY.md")).context("SECURITY.md")?;
    let named = named(&text);
    if named.is_empty() {
        broken.push(format!("SECURITY.md: no test is named below `{HEADING}`"));
    }
    for name in named {
        let test = format!("fn {name}(");
        if !sources.iter().any(|source| source.contains(&test)) {
            broken.push(format!("SECURITY.md: there is no test `{name}`"));
        }
    }
    Ok(())
}

fn named(text: &str) -> BTreeSet<&str> {
    let table = text.split(HEADING).nth(1).unwrap_or_default();
    let table = table.split("\n## ").next().unwrap_or_default();
    let rows = table.lines().filter(|line| line.starts_with('|')).skip(2);
    let cells = rows.filter_map(|row| row.trim_end_matches([' ', '|']).rsplit('|').next());
    // Text between backticks is every second part.
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_the_last_column() {
        let text = "# x\n## Who may do what\n| a | b |\n|---|---|\n| `no` | `yes`, `too` |\n## y\n\
                    | `no` |";
        assert_eq!(named(text).into_iter().collect::<Vec<_>>(), ["too", "yes"]);
    }
}
