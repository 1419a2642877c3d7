//! Steps of packing, of every program.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::command::{output, show};

/// Folder of programs in a package.
pub(super) const BIN: &str = "usr/bin";

/// Builds a program without paths of this machine in it.
pub(super) fn cargo(which: &[&str], profile: &str, flags: &[&str]) -> Result<()> {
    let home = std::env::var("CARGO_HOME");
    let home = home.or_else(|_| std::env::var("HOME").map(|home| home + "/.cargo"))?;
    let paths = format!("CARGO_ENCODED_RUSTFLAGS=--remap-path-prefix={home}/registry/src=crates");
    let words = [&*paths, "cargo", "rustc", "--locked", "--profile", profile];
    show("env", &[&words[..], which, &["--"], flags].concat())
}

/// The time of the last commit: packages of one commit are the same bytes.
pub(super) fn epoch() -> Result<String> {
    Ok(output("git", &["log", "-1", "--format=%ct"], &[0])?.trim().to_owned())
}

/// A tar archive of the staged files; its path.
pub(super) fn archive(to: &Path, stage: &Path, version: &str) -> Result<PathBuf> {
    let made = to.join(format!("qdepth-{version}-x86_64-linux.tar.gz"));
    let (mtime, folder) = (format!("--mtime=@{}", epoch()?), stage.display().to_string());
    let words = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", &mtime];
    let file = made.display().to_string();
    show("tar", &[&words[..], &["-I", "gzip -n9", "-cf", &file, "-C", &folder, "usr"]].concat())?;
    Ok(made)
}
