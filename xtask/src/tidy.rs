//! `cargo xtask tidy`: checks the structure that the compiler does not: dependencies between crates
//! and modules, sizes, lints, stray paths.

mod circles;
pub(crate) mod links;
mod lints;
mod plain;
mod raised;
mod security;
mod sizes;
mod test_names;
#[cfg(test)]
mod testing;
mod tuples;
mod widths;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::command::{files, output, root};

/// Names that say nothing. Clippy refuses the first six for values as well (clippy.toml).
const NO_NAMES: [&str; 9] =
    ["of", "one", "look", "tell", "doubt", "doubts", "told", "said", "place"];

/// Crates that may hold `unsafe`.
const UNSAFE: &[&str] = &["crates/qdepth-linux/", "crates/qdepth-engine/tests/allocation.rs"];

pub fn tidy() -> Result<()> {
    let mut broken = Vec::new();
    arrows(&mut broken)?;
    lints::check(&mut broken)?;
    links::check(&mut broken)?;
    plain::catalogue(&mut broken)?;
    let (mut sources, mut modules) = (Vec::new(), circles::Modules::default());
    let words = words::Words::read(&mut broken)?;
    for folder in ["crates", "pdf", "xtask"] {
        for file in files(&root().join(folder), "rs")? {
            let name = relative(&file);
            let text = source(&file, &mut broken)?;
            words.check(&name, &text, &mut broken);
            widths::check(&name, &text, &mut broken)?;
            plain::comments(&name, &text, &mut broken);
            test_names::check(&name, &text, &mut broken);
            let parsed = syn::parse_file(&text);
            let mut parsed = parsed.with_context(|| format!("{name} cannot be parsed"))?;
            let tests = sizes::without_tests(&mut parsed.items);
            sizes::check(&name, &text, &tests, &mut broken);
            modules.add(&name, &parsed, &tests);
            raised::check(&name, &parsed, &mut broken);
            tuples::check(&name, &parsed, &mut broken);
            sources.push(text);
        }
    }
    modules.check(&mut broken);
    left_out(&mut broken)?;
    security::check(&sources, &mut broken)?;
    if !broken.is_empty() {
        bail!("not tidy:\n{}", broken.join("\n"));
    }
    println!("tidy");
    Ok(())
}

/// Checks that no test file is missing from a combined binary: cargo would not report it.
fn left_out(broken: &mut Vec<String>) -> Result<()> {
    for file in files(&root().join("crates"), "rs")? {
        let folder = file.parent().unwrap_or(&file);
        let Ok(all) = fs::read_to_string(folder.join("all.rs")) else { continue };
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        if folder.ends_with("tests") && name != "all" && !all.contains(&format!("mod {name};")) {
            broken.push(format!("{}: all.rs in its directory does not name it", relative(&file)));
        }
    }
    Ok(())
}

/// Allowed dependencies of crates: the block `arrows` of ARCHITECTURE.md.
fn arrows(broken: &mut Vec<String>) -> Result<()> {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).context("ARCHITECTURE.md")?;
    let block = page.split("```arrows").nth(1).and_then(|rest| rest.split("```").next());
    let lines = block.context("ARCHITECTURE.md has no block `arrows`")?.lines();
    let mut allowed: BTreeMap<&str, BTreeSet<&str>> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, uses)| (name.trim(), uses.split_whitespace().collect()))
        .collect();
    let text = output("cargo", &["metadata", "--format-version", "1", "--no-deps"], &[0])?;
    let metadata: serde_json::Value = serde_json::from_str(&text)?;
    for package in metadata["packages"].as_array().context("no packages")? {
        let name = package["name"].as_str().unwrap_or_default();
        let ours = package["dependencies"].as_array().into_iter().flatten();
        let ours = ours.filter(|dependency| dependency["kind"].as_str() != Some("dev"));
        let uses = ours.filter_map(|dependency| dependency["name"].as_str());
        let uses: BTreeSet<&str> = uses.filter(|used| used.starts_with("qdepth")).collect();
        let written = allowed.remove(name).unwrap_or_default();
        if uses != written {
            broken.push(format!("ARCHITECTURE.md: {name} uses {uses:?}, and not {written:?}"));
        }
    }
    broken.extend(allowed.keys().map(|name| format!("ARCHITECTURE.md: {name} is no crate")));
    Ok(())
}

/// Path relative to the root of the workspace.
fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

fn source(path: &Path, broken: &mut Vec<String>) -> Result<String> {
    let text = fs::read_to_string(path)?;
    let name = relative(path);
    let has_unsafe =
        text.lines().any(|line| line.contains("unsafe {") || line.contains("unsafe impl"));
    if has_unsafe
        && name != "xtask/src/tidy.rs"
        && !UNSAFE.iter().any(|allowed| name.starts_with(allowed))
    {
        broken.push(format!("{name}: holds `unsafe`, which only qdepth-linux may"));
    }
    let is_function = |called: &&&str| text.contains(&format!("fn {called}("));
    for called in NO_NAMES.iter().filter(|_| name.contains("/src/")).filter(is_function) {
        broken.push(format!("{name}: `{called}` is no name: say what it returns"));
    }
    plain::stray(&name, &text, broken);
    Ok(text)
}
