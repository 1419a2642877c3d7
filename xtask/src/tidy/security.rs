//! Checks that every test that the tables of threats name exists.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result};

use crate::command::root;

/// Pages with a table.
const PAGES: [&str; 2] = ["SECURITY.md", "xtask/threats.md"];

/// Reports missing tests of the tables' last columns.
pub(super) fn check(sources: &[String], broken: &mut Vec<String>) -> Result<()> {
    for page in PAGES {
        let text = fs::read_to_string(root().join(page)).context(page)?;
        let named = named(&text);
        if named.is_empty() {
            broken.push(format!("{page}: the table names no test"));
        }
        for name in named {
            let test = format!("fn {name}(");
            if !sources.iter().any(|source| source.contains(&test)) {
                broken.push(format!("{page}: there is no test `{name}`"));
            }
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
    fn last_table_column_names_tests() {
        let text = "# x\n| a | b |\n|---|---|\n| `no` | `yes`, `too` |\n";
        assert_eq!(named(text).into_iter().collect::<Vec<_>>(), ["too", "yes"]);
    }
}
