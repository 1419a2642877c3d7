//! Steps of packing that all programs share.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::machine::Machine;
use crate::command::{output, show};

/// Folder of programs in a package.
pub(super) const BIN: &str = "usr/bin";

/// Builds a program that contains no paths of this machine.
pub(super) fn cargo(which: &[&str], profile: &str, flags: &[&str]) -> Result<()> {
    let home = std::env::var("CARGO_HOME");
    let home = home.or_else(|_| std::env::var("HOME").map(|home| home + "/.cargo"))?;
    let paths = format!("CARGO_ENCODED_RUSTFLAGS=--remap-path-prefix={home}/registry/src=crates");
    let words = [&*paths, "cargo", "rustc", "--locked", "--profile", profile];
    show("env", &[&words[..], which, &["--"], flags].concat())
}

/// Time of the last commit, used as the build date: packages of one commit have identical bytes.
pub(super) fn epoch() -> Result<String> {
    Ok(output("git", &["log", "-1", "--format=%ct"], &[0])?.trim().to_owned())
}

/// Packs the staged files into a tar archive, and returns its path.
pub(super) fn archive(
    to: &Path,
    stage: &Path,
    version: &str,
    machine: &Machine,
    system: &str,
) -> Result<PathBuf> {
    let made = to.join(format!("qdepth-{version}-{}-{system}.tar.gz", machine.name));
    let (mtime, folder) = (format!("--mtime=@{}", epoch()?), stage.display().to_string());
    let words = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", &mtime];
    let file = made.display().to_string();
    show("tar", &[&words[..], &["-I", "gzip -n9", "-cf", &file, "-C", &folder, "usr"]].concat())?;
    Ok(made)
}
