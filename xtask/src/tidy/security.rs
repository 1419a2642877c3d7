//! Checks that every test that the table of threats names exists.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result};

use crate::command::root;

/// Page with the table.
const PAGE: &str = "xtask/threats.md";

/// Reports missing tests of the table's last column.
pub(super) fn check(sources: &[String], broken: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(root().join(PAGE)).context(PAGE)?;
    let named = named(&text);
    if named.is_empty() {
        broken.push(format!("{PAGE}: the table names no test"));
    }
    for name in named {
        let test = format!("fn {name}(");
        if !sources.iter().any(|source| source.contains(&test)) {
            broken.push(format!("{PAGE}: there is no test `{name}`"));
        }
    }
    Ok(())
}

fn named(text: &str) -> BTreeSet<&str> {
    let rows = text.lines().filter(|line| line.starts_with('|')).skip(2);
    let cells = rows.filter_map(|row| row.trim_end_matches([' ', '|']).rsplit('|').next());
    // Text between backticks is every second part.
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_column_names_tests() {
        let text = "# x\n| a | b |\n|---|---|\n| `no` | `yes`, `too` |\n";
        assert_eq!(named(text).into_iter().collect::<Vec<_>>(), ["too", "yes"]);
    }
}
