//! Processors that packages are for, and builds for them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::build_with;
use crate::command::{install, root, show, there_is};

/// Processor that packages are for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Processor {
    /// 64-bit x86, as this machine.
    X86_64,
    /// 64-bit ARM. Its programs run here under qemu.
    Aarch64,
}

/// Oldest version of glibc on which the programs for other processors start.
const GLIBC: &str = "2.28";
/// Compiler and linker for other processors, as Python packages.
const ZIG: [&str; 2] = ["ziglang==0.17.1", "cargo-zigbuild==0.24.1"];
/// Kernel file to register an emulator of a processor.
const REGISTER: &str = "/proc/sys/fs/binfmt_misc/register";

impl Processor {
    /// Name, as Rust, RPM and Python spell it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    /// Name, as Debian spells it.
    pub(super) const fn debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
        }
    }

    /// Target of the compiler with this C library, `gnu` or `musl`.
    pub(super) fn target(self, library: &str) -> String {
        format!("{}-unknown-linux-{library}", self.name())
    }

    /// Installs what building and running programs for the processor needs. The kernel then runs
    /// them in any folder.
    pub(super) fn prepare(self) -> Result<()> {
        if self == Self::X86_64 {
            return Ok(());
        }
        install(&[("qemu-user-static", "qemu-aarch64-static")]);
        if !zig().exists() {
            let folder = zig_folder().display().to_string();
            show("python3", &["-m", "venv", &folder])?;
            let pip = zig_folder().join("bin/pip").display().to_string();
            show(&pip, &[&["install", "--quiet"], &ZIG[..]].concat())?;
        }
        if !Path::new(REGISTER).exists() {
            show("mount", &["-t", "binfmt_misc", "binfmt_misc", "/proc/sys/fs/binfmt_misc"])?;
        }
        if Path::new("/proc/sys/fs/binfmt_misc/qemu-aarch64").exists() {
            return Ok(());
        }
        let line = fs::read_to_string("/usr/lib/binfmt.d/qemu-aarch64.conf")?;
        fs::write(REGISTER, line.trim()).context("cannot register qemu-aarch64 with the kernel")
    }

    /// Builds the program for a package with this C library, `gnu` or `musl`; returns its path.
    pub(super) fn build(self, library: &str) -> Result<PathBuf> {
        let target = self.target(library);
        if there_is("rustup") {
            show("rustup", &["target", "add", &target])?;
        }
        // Identical functions of different types are merged, which saves 0.4 MB. Zig's linker
        // cannot do that.
        let folded = ["-C", "link-arg=-Wl,--icf=all", "-C", "link-arg=-Wl,-O2"];
        let flags = if self == Self::X86_64 && library == "gnu" { &folded[..] } else { &[] };
        let which = ["--package", "qdepth", "--bin", "qdepth", "--target"];
        let (tool, oldest) = match self {
            Self::X86_64 => (vec!["cargo".to_owned()], target.clone()),
            Self::Aarch64 => {
                let path =
                    format!("PATH={}/bin:{}", zig_folder().display(), std::env::var("PATH")?);
                let oldest =
                    if library == "gnu" { format!("{target}.{GLIBC}") } else { target.clone() };
                (vec![path, "cargo-zigbuild".to_owned()], oldest)
            }
        };
        let tool: Vec<&str> = tool.iter().map(String::as_str).collect();
        build_with(&tool, &[&which[..], &[&*oldest]].concat(), "dist", flags)?;
        Ok(root().join("target").join(target).join("dist/qdepth"))
    }
}

fn zig_folder() -> PathBuf {
    root().join("target/zig")
}

fn zig() -> PathBuf {
    zig_folder().join("bin/cargo-zigbuild")
}
