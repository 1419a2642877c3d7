//! `cargo xtask tidy`: checks the structure that the compiler does not: dependencies between crates
//! and modules, sizes, lints, stray paths.

mod circles;
mod cited;
pub(crate) mod links;
mod lints;
mod names;
mod plain;
mod raised;
mod security;
mod sizes;
#[cfg(test)]
mod testing;
mod tuples;
mod widths;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::command::{output, root};

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
        for file in files(&root().join(folder))? {
            let text = source(&file, &mut broken)?;
            modules.add(&relative(&file), &text)?;
            raised::check(&relative(&file), &text, &mut broken)?;
            words.check(&relative(&file), &text, &mut broken);
            widths::check(&relative(&file), &text, &mut broken)?;
            tuples::check(&relative(&file), &text, &mut broken)?;
            names::check(&relative(&file), &text, &mut broken)?;
            plain::comments(&relative(&file), &text, &mut broken);
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
    for file in files(&root().join("crates"))? {
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

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Path relative to the root of the workspace.
fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

fn source(path: &Path, broken: &mut Vec<String>) -> Result<String> {
    let text = fs::read_to_string(path)?;
    let name = relative(path);
    sizes::check(&name, &text, broken)?;
    let has_unsafe =
        text.lines().any(|line| line.contains("unsafe {") || line.contains("unsafe impl"));
    if has_unsafe
        && name != "xtask/src/tidy.rs"
        && !UNSAFE.iter().any(|allowed| name.starts_with(allowed))
    {
        broken.push(format!("{name}: holds `unsafe`, which only qdepth-linux may"));
    }
    for word in ["/work/", "/root/"] {
        if text.contains(word) && name != "xtask/src/tidy.rs" {
            broken.push(format!("{name}: holds a path of somebody's machine ({word})"));
        }
    }
    cited::check(&name, &text, broken);
    Ok(text)
}
