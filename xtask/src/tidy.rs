//! `cargo xtask tidy`: the structure that the compiler does not check. Arrows between crates and
//! between modules, sizes, lints, stray paths.

mod circles;
mod cited;
pub(crate) mod links;
mod lints;
mod names;
mod raised;
mod security;
mod sizes;
mod stations;
#[cfg(test)]
mod testing;
mod tuples;
mod widths;
mod words;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::command::{output, root};

/// Which crate may use which: the table of ARCHITECTURE.md is held against this as well.
const ARROWS: &[(&str, &[&str])] = &[
    ("qdepth-files", &[]),
    ("qdepth-measure", &[]),
    ("qdepth-workload", &["qdepth-measure"]),
    ("qdepth-engine", &["qdepth-measure", "qdepth-workload"]),
    ("qdepth-linux", &["qdepth-engine", "qdepth-measure", "qdepth-workload"]),
    ("qdepth-media", &["qdepth-engine", "qdepth-measure", "qdepth-workload"]),
    ("qdepth-cluster", &[]),
    ("qdepth-fit", &["qdepth-engine", "qdepth-measure", "qdepth-media", "qdepth-workload"]),
    ("qdepth-nbd", &["qdepth-engine", "qdepth-measure", "qdepth-media", "qdepth-workload"]),
    ("qdepth-host", &["qdepth-files", "qdepth-linux", "qdepth-measure", "qdepth-record"]),
    ("qdepth-record", &["qdepth-measure"]),
    ("qdepth-logbook", &["qdepth-files", "qdepth-measure", "qdepth-record"]),
    ("qdepth-parquet", &["qdepth-record"]),
    ("qdepth-foreign", &["qdepth-measure", "qdepth-record", "qdepth-words", "qdepth-workload"]),
    ("qdepth-pdf", &["qdepth-files"]),
    ("qdepth-reference", &["qdepth-files", "qdepth-measure"]),
    (
        "qdepth-lab",
        &[
            "qdepth-cluster",
            "qdepth-engine",
            "qdepth-files",
            "qdepth-fit",
            "qdepth-host",
            "qdepth-linux",
            "qdepth-logbook",
            "qdepth-measure",
            "qdepth-media",
            "qdepth-record",
            "qdepth-workload",
        ],
    ),
    (
        "qdepth-validate",
        &[
            "qdepth-document",
            "qdepth-engine",
            "qdepth-host",
            "qdepth-lab",
            "qdepth-measure",
            "qdepth-media",
            "qdepth-record",
            "qdepth-reference",
            "qdepth-report",
            "qdepth-words",
            "qdepth-workload",
        ],
    ),
    ("qdepth-words", &[]),
    ("qdepth-document", &["qdepth-words"]),
    ("qdepth-report", &["qdepth-document", "qdepth-measure", "qdepth-record", "qdepth-words"]),
    (
        "qdepth-web",
        &["qdepth-logbook", "qdepth-media", "qdepth-record", "qdepth-report", "qdepth-words"],
    ),
    (
        "qdepth",
        &[
            "qdepth-files",
            "qdepth-fit",
            "qdepth-foreign",
            "qdepth-host",
            "qdepth-lab",
            "qdepth-linux",
            "qdepth-logbook",
            "qdepth-measure",
            "qdepth-media",
            "qdepth-nbd",
            "qdepth-parquet",
            "qdepth-record",
            "qdepth-reference",
            "qdepth-report",
            "qdepth-validate",
            "qdepth-web",
            "qdepth-workload",
        ],
    ),
    (
        "qdepth-fuzz",
        &[
            "qdepth-foreign",
            "qdepth-host",
            "qdepth-logbook",
            "qdepth-measure",
            "qdepth-media",
            "qdepth-nbd",
            "qdepth-record",
            "qdepth-report",
            "qdepth-workload",
        ],
    ),
    ("xtask", &[]),
];

/// Crates that may hold `unsafe`.
const UNSAFE: &[&str] = &["crates/qdepth-linux/", "crates/qdepth-engine/tests/allocation.rs"];

pub fn tidy() -> Result<()> {
    let mut broken = Vec::new();
    arrows(&mut broken)?;
    architecture(&mut broken)?;
    lints::check(&mut broken)?;
    links::check(&mut broken)?;
    stations::check(&mut broken)?;
    let (mut sources, mut modules) = (Vec::new(), circles::Modules::default());
    let words = words::Words::read(&mut broken)?;
    for folder in ["crates", "xtask"] {
        for file in files(&root().join(folder))? {
            let text = source(&file, &mut broken)?;
            modules.add(&relative(&file), &text)?;
            raised::check(&relative(&file), &text, &mut broken)?;
            words.check(&relative(&file), &text, &mut broken);
            widths::check(&relative(&file), &text, &mut broken)?;
            tuples::check(&relative(&file), &text, &mut broken)?;
            names::check(&relative(&file), &text, &mut broken)?;
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

/// Where the files of tests are one binary, none is forgotten: cargo would not say so.
fn left_out(broken: &mut Vec<String>) -> Result<()> {
    for file in files(&root().join("crates"))? {
        let folder = file.parent().unwrap_or(&file);
        let Ok(all) = fs::read_to_string(folder.join("all.rs")) else { continue };
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        if folder.ends_with("tests") && name != "all" && !all.contains(&format!("mod {name};")) {
            broken.push(format!("{}: all.rs beside it does not name it", relative(&file)));
        }
    }
    Ok(())
}

fn arrows(broken: &mut Vec<String>) -> Result<()> {
    let text = output("cargo", &["metadata", "--format-version", "1", "--no-deps"], &[0])?;
    let metadata: serde_json::Value = serde_json::from_str(&text)?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| *known == name) else {
            broken.push(format!("{name}: a crate that is not in the table of arrows"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let used = dependency["name"].as_str().unwrap_or_default();
            let dev = dependency["kind"].as_str() == Some("dev");
            if used.starts_with("qdepth") && !dev && !allowed.contains(&used) {
                broken.push(format!("{name} uses {used}, which the table of arrows forbids"));
            }
        }
    }
    Ok(())
}

/// The block `arrows` of ARCHITECTURE.md says what the table here says.
fn architecture(broken: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).context("ARCHITECTURE.md")?;
    let block = text.split("```arrows").nth(1).and_then(|rest| rest.split("```").next());
    let Some(block) = block else {
        broken.push("ARCHITECTURE.md has no block `arrows`".to_owned());
        return Ok(());
    };
    let mut written = BTreeMap::new();
    for line in block.lines().filter(|line| line.contains(':')) {
        let (name, uses) = line.split_once(':').unwrap_or_default();
        let mut uses: Vec<&str> = uses.split_whitespace().collect();
        uses.sort_unstable();
        written.insert(name.trim(), uses);
    }
    for (name, allowed) in ARROWS.iter().filter(|(name, _)| *name != "xtask") {
        if written.get(name).is_none_or(|uses| uses != allowed) {
            broken.push(format!("ARCHITECTURE.md: the arrows of {name} are not those of the code"));
        }
    }
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

/// The path from the root of the workspace.
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
