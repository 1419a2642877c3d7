//! `cargo xtask nightly`: runs the statistical campaigns with all their tries and fio's own tests,
//! and builds the packages. Takes hours.

#![expect(clippy::disallowed_methods, reason = "running other programs is what xtask is for")]

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::command::{root, show};
use crate::dist;

/// Campaigns, one on each line: name, tries, package, target, test.
const CAMPAIGNS: &str = include_str!("../campaigns.txt");
/// Name of the packages (`cargo xtask dist`) among the campaigns.
const DIST: &str = "dist";
/// Name of fio's own test scripts among the campaigns, and the program that runs them.
const FIO_SCRIPTS: &str = "fio-scripts";
const RUN_FIO_SCRIPTS: &str = include_str!("fio-scripts.sh");

/// Runs the named campaigns, or all, and prints the result of each.
///
/// # Errors
/// If there is no campaign with a name, or a campaign failed.
pub fn nightly(names: &[&str]) -> Result<()> {
    let lines = || CAMPAIGNS.lines().filter(|line| !line.starts_with('#'));
    let name = |line: &&str| line.split_whitespace().next().unwrap_or_default().to_owned();
    let others = [DIST, FIO_SCRIPTS].map(str::to_owned);
    let known: Vec<String> = lines().map(|line| name(&line)).chain(others).collect();
    if let Some(other) = names.iter().find(|wanted| !known.iter().any(|known| known == *wanted)) {
        bail!("there is no campaign {other}: {}", known.join(", "));
    }
    let wanted = |name: &str| names.is_empty() || names.contains(&name);
    let mut failed = Vec::new();
    for words in [&[][..], &["--aarch64"]].iter().filter(|_| wanted(DIST)) {
        if let Err(why) = dist::dist(words) {
            failed.push(format!("{DIST} {}: {why:#}", words.concat()));
        }
    }
    if wanted(FIO_SCRIPTS)
        && let Err(why) = fio_scripts()
    {
        failed.push(format!("{FIO_SCRIPTS}: {why:#}"));
    }
    for line in lines().filter(|line| wanted(&name(line))) {
        match run(line) {
            Ok(result) => println!("{result}"),
            Err(why) => failed.push(format!("{}: {why:#}", name(&line))),
        }
    }
    if failed.is_empty() { Ok(()) } else { bail!("{}", failed.join("\n")) }
}

/// Prints the table of docs/fio.md: tests of fio that a link named fio passes.
fn fio_scripts() -> Result<()> {
    show("cargo", &["build", "--release"])?;
    show("sh", &["-c", RUN_FIO_SCRIPTS, "sh", "target/release/qdepth", "target/fio-scripts"])
}

/// Runs a campaign, and returns its last line `TRIES …`.
fn run(line: &str) -> Result<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, tries, package, target @ .., test] = words.as_slice() else {
        bail!("`{line}` is no campaign");
    };
    let mut command = Command::new("cargo");
    command.args(["test", "-q", "--release", "-p", package]).args(target);
    command.args(["--", "--exact", test, "--nocapture"]).env("QDEPTH_TRIES", tries);
    command.current_dir(root()).stdin(Stdio::null()).stderr(Stdio::inherit());
    let out = command.output().context("cannot start cargo")?;
    let text = String::from_utf8_lossy(&out.stdout);
    if !out.status.success() {
        bail!("failed: {}", text.trim());
    }
    let begin = format!("TRIES {name} ");
    let result = text.lines().rev().find_map(|line| line.split_once(&begin));
    let (_, result) = result.with_context(|| format!("it printed no line `{begin}…`"))?;
    Ok(format!("{begin}{result}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds the paths of all functions of a file below `module`.
    fn functions(items: &[syn::Item], module: &str, all: &mut Vec<String>) {
        for item in items {
            match item {
                syn::Item::Fn(function) => all.push(format!("{module}{}", function.sig.ident)),
                syn::Item::Mod(inner) => {
                    let items = inner.content.as_ref().map_or(&[][..], |(_, items)| items);
                    functions(items, &format!("{module}{}::", inner.ident), all);
                }
                _ => {}
            }
        }
    }

    /// A name that matches no test runs none.
    #[test]
    fn every_campaign_names_an_existing_test() {
        for line in CAMPAIGNS.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [_, _, package, target @ .., test] = words.as_slice() else { panic!("{line}") };
            let name = test.rsplit("::").next().unwrap();
            let package = root().join("crates").join(package);
            let found = Command::new("grep")
                .args(["-rlF", &format!("fn {name}("), "src", "tests"])
                .current_dir(&package)
                .output()
                .unwrap();
            let mut all = Vec::new();
            for file in String::from_utf8(found.stdout).unwrap().lines() {
                let text = std::fs::read_to_string(package.join(file)).unwrap();
                // The folder, and a target of its own, are no modules.
                let parts = file.trim_end_matches(".rs").split('/').skip(1);
                let modules = parts.filter(|part| !target.contains(part) && *part != "main");
                let module: String = modules.map(|part| format!("{part}::")).collect();
                functions(&syn::parse_file(&text).unwrap().items, &module, &mut all);
            }
            assert!(all.iter().any(|known| known == test), "{line}: {all:?}");
        }
    }
}
