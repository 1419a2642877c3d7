//! Processor architectures of packages.

use std::path::Path;

use anyhow::Result;

use crate::command::output;

/// An architecture, with its names.
pub(super) struct Machine {
    /// Name in targets of Rust, rpm and wheels.
    pub(super) name: &'static str,
    /// Name in packages of Debian.
    pub(super) debian: &'static str,
    /// Program that runs its programs here; `None` for the architecture of the build. Then the
    /// packages hold a static program, which needs no libraries of that architecture.
    pub(super) emulator: Option<&'static str>,
    /// Debian packages for building and running, like those of every build.
    pub(super) packages: &'static [(&'static str, &'static str)],
}

pub(super) const X86_64: Machine =
    Machine { name: "x86_64", debian: "amd64", emulator: None, packages: &[] };

/// Cross-compiled (.cargo/config.toml).
pub(super) const AARCH64: Machine = Machine {
    name: "aarch64",
    debian: "arm64",
    emulator: Some("qemu-aarch64-static"),
    packages: &[
        ("gcc-aarch64-linux-gnu", "aarch64-linux-gnu-gcc"),
        ("libc6-dev-arm64-cross", "/usr/aarch64-linux-gnu/include/stdio.h"),
        ("qemu-user-static", "qemu-aarch64-static"),
    ],
};

impl Machine {
    /// Runs a program of this architecture, and returns its standard output.
    pub(super) fn output(&self, program: &Path, words: &[&str]) -> Result<String> {
        let program = program.display().to_string();
        match self.emulator {
            Some(emulator) => output(emulator, &[&[&*program], words].concat(), &[0]),
            None => output(&program, words, &[0]),
        }
    }
}
