//! Running other programs.

#![expect(clippy::disallowed_methods, reason = "running other programs is what xtask is for")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

/// Arguments that make cargo build qdepth-pdf, with its program next to the others.
pub const PDF: [&str; 4] = ["--manifest-path", "pdf/Cargo.toml", "--target-dir", "target"];

/// Name of the link to the project's folder.
const LINK: &str = "project";

/// Root directory of the workspace.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Files of a folder and its subfolders whose names have this ending.
pub fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path, ending)?);
        } else if path.extension().is_some_and(|own| own == ending) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Runs a program in the root directory and shows its output; an error if it fails.
pub fn show(program: &str, args: &[&str]) -> Result<()> {
    let status = Command::new(program)
        .args(args)
        .current_dir(root())
        .status()
        .with_context(|| format!("cannot start {program}"))?;
    if !status.success() {
        bail!("{program} {} ended with {status}", args.join(" "));
    }
    Ok(())
}

/// Runs a program and returns its standard output; an error unless its exit status is in
/// `accepted`.
pub fn output(program: &str, args: &[&str], accepted: &[i32]) -> Result<String> {
    let out = Command::new(program)
        .args(args)
        .current_dir(root())
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {program}"))?;
    if !out.status.code().is_some_and(|code| accepted.contains(&code)) {
        bail!(
            "{program} {} ended with {}: {}",
            args.join(" "),
            out.status,
            String::from_utf8_lossy(&out.stderr)
        );
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Runs a program and returns the output of both streams; an error if it fails.
pub fn output_and_errors(program: &str, args: &[&str]) -> Result<String> {
    let out = Command::new(program).args(args).current_dir(root()).stdin(Stdio::null()).output()?;
    let text =
        String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    if !out.status.success() {
        bail!("{program} {} ended with {}: {text}", args.join(" "), out.status);
    }
    Ok(text)
}

/// True if a command without output can be run, and ends well.
pub fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// True if a program can be started.
pub fn there_is(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

/// Another name of the project's folder, for programs that split paths at blanks: a link in a
/// folder of its own, since the suite needs several at once. It is removed at the end.
pub struct NameWithoutBlanks(TempDir);

impl NameWithoutBlanks {
    pub fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        std::os::unix::fs::symlink(root(), folder.path().join(LINK))?;
        Ok(Self(folder))
    }

    /// The path below this name.
    pub fn path(&self, path: &Path) -> PathBuf {
        self.0.path().join(LINK).join(path.strip_prefix(root()).unwrap_or(path))
    }
}

/// True if a folder of programs has this file, or it exists by its path.
pub fn is_installed(file: &str) -> bool {
    let mut folders = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"].iter();
    folders.any(|folder| Path::new(folder).join(file).exists())
}

/// Installs missing Debian packages if possible; tests without their tool report that they are
/// skipped.
pub fn install(packages: &[(&str, &str)]) {
    let missing = packages.iter().filter(|(_, file)| !is_installed(file));
    let missing: Vec<&str> = missing.map(|(name, _)| *name).collect();
    if missing.is_empty() || !there_is("apt-get") {
        return;
    }
    println!("installing {}", missing.join(" "));
    let mut install = vec!["install", "-y", "-qq", "--no-install-recommends"];
    install.extend(missing);
    for args in [vec!["update", "-qq"], install] {
        let mut apt_get = Command::new("apt-get");
        if !succeeds(apt_get.args(&args).env("DEBIAN_FRONTEND", "noninteractive")) {
            println!("apt-get {} did not succeed; what needs more is skipped", args[0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The virtual machine and the packages are made at once.
    #[test]
    fn two_build_paths_can_exist_simultaneously() {
        let [one, two] = [(); 2].map(|()| NameWithoutBlanks::new().unwrap());
        for name in [&one, &two] {
            let manifest = name.path(&root().join("Cargo.toml"));
            assert!(manifest.is_file() && !manifest.starts_with(root()), "{manifest:?}");
        }
        assert_ne!(one.path(Path::new("")), two.path(Path::new("")));
    }
}
