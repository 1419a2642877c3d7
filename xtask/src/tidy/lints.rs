//! Checks that the crates that cannot inherit the workspace's lints repeat them, except for
//! `unsafe`.

use std::fs;

use anyhow::{Context, Result};

use crate::command::root;

/// The crate that may hold `unsafe`.
const UNSAFE_CRATE: &str = "crates/qdepth-linux/Cargo.toml";
/// A workspace of its own.
const PDF_CRATE: &str = "pdf/Cargo.toml";

/// Compares each crate's table of lints with the workspace's.
pub(super) fn check(broken: &mut Vec<String>) -> Result<()> {
    let read = |path: &str| fs::read_to_string(root().join(path)).context(path.to_owned());
    let workspace = read("Cargo.toml")?;
    let tables = [("rust", "unsafe_code"), ("clippy", "")];
    let manifests = [UNSAFE_CRATE, PDF_CRATE];
    for (manifest, (table, apart)) in manifests.into_iter().flat_map(|m| tables.map(|t| (m, t))) {
        let ours = lines_of(&workspace, &format!("[workspace.lints.{table}]"));
        let theirs = lines_of(&read(manifest)?, &format!("[lints.{table}]"));
        let differ = |a: &[String], b: &[String]| -> Vec<String> {
            a.iter().filter(|line| !b.contains(line)).cloned().collect()
        };
        for line in differ(&ours, &theirs).into_iter().chain(differ(&theirs, &ours)) {
            if apart.is_empty() || !line.starts_with(apart) {
                broken.push(format!("{manifest}: `{line}` stands in one table of lints only"));
            }
        }
    }
    for entry in fs::read_dir(root().join("crates"))? {
        let path = entry?.path().join("Cargo.toml");
        let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        let text = fs::read_to_string(&path).context(name.clone())?;
        if name != UNSAFE_CRATE && lines_of(&text, "[lints]") != ["workspace = true"] {
            broken.push(format!("{name}: does not take the workspace's lints"));
        }
    }
    Ok(())
}

/// Lines of a table in a manifest.
fn lines_of(text: &str, heading: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).skip_while(|line| *line != heading).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}
