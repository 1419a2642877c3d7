//! `cargo xtask nightly`: runs the statistical campaigns with all their tries, and builds the
//! packages. Takes hours.

#![expect(clippy::disallowed_methods, reason = "running other programs is what xtask is for")]

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::command::root;
use crate::dist;

/// Campaigns, one on each line: name, tries, package, target, test.
const CAMPAIGNS: &str = include_str!("../campaigns.txt");
/// Name of the packages (`cargo xtask dist`) among the campaigns.
const DIST: &str = "dist";

/// Runs the named campaigns, or all, and prints the result of each.
///
/// # Errors
/// If there is no campaign with a name, or a campaign failed.
pub fn nightly(names: &[&str]) -> Result<()> {
    let lines = || CAMPAIGNS.lines().filter(|line| !line.starts_with('#'));
    let name = |line: &&str| line.split_whitespace().next().unwrap_or_default().to_owned();
    let known: Vec<String> = lines().map(|line| name(&line)).chain([DIST.to_owned()]).collect();
    if let Some(other) = names.iter().find(|wanted| !known.iter().any(|known| known == *wanted)) {
        bail!("there is no campaign {other}: {}", known.join(", "));
    }
    let wanted = |name: &str| names.is_empty() || names.contains(&name);
    let mut failed = Vec::new();
    if wanted(DIST)
        && let Err(why) = dist::dist(&[])
    {
        failed.push(format!("{DIST}: {why:#}"));
    }
    for line in lines().filter(|line| wanted(&name(line))) {
        match run(line) {
            Ok(result) => println!("{result}"),
            Err(why) => failed.push(format!("{}: {why:#}", name(&line))),
        }
    }
    if failed.is_empty() { Ok(()) } else { bail!("{}", failed.join("\n")) }
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

    /// A name that matches no test runs none, and `cargo test` succeeds.
    #[test]
    fn every_campaign_is_a_test_of_its_package() {
        for line in CAMPAIGNS.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [_, _, package, _, .., test] = words.as_slice() else { panic!("{line}") };
            let mut modules: Vec<&str> = test.split("::").collect();
            let name = modules.pop().unwrap_or_default();
            let package = root().join("crates").join(package);
            let found = Command::new("grep")
                .args(["-rlF", &format!("fn {name}("), "."])
                .current_dir(&package)
                .output()
                .unwrap();
            let files = String::from_utf8(found.stdout).unwrap();
            // The first modules are the file, and the others are written out in it.
            let is_it = |file: &str| {
                let text = std::fs::read_to_string(package.join(file)).unwrap();
                modules.is_empty()
                    || (1..=modules.len()).any(|from| {
                        let (path, inner) = modules.split_at(from);
                        file.ends_with(&format!("/{}.rs", path.join("/")))
                            && inner.iter().all(|inner| text.contains(&format!("mod {inner} {{")))
                    })
            };
            assert!(files.lines().any(is_it), "{line}: {files}");
        }
    }
}
