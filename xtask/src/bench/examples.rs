//! Example programs that exercise one part each, for timing and for counting instructions.

use anyhow::Result;

use crate::command::{root, show};

/// The measurement loop on a target that does nothing.
pub const ECHO_LOOP: &str = "echo_loop";
/// One emulated point.
pub const ONE_EMULATED: &str = "one_emulated";
/// One point on storage.
pub const ONE_POINT: &str = "one_point";

const ALL: [(&str, &str); 3] =
    [("qdepth-engine", ECHO_LOOP), ("qdepth-media", ONE_EMULATED), ("qdepth-linux", ONE_POINT)];

/// Builds all programs in one command: separate builds would differ in the features of their
/// dependencies and compile them again for each.
///
/// # Errors
/// If they do not compile.
pub fn build() -> Result<()> {
    let mut words = vec!["build", "--release", "--quiet"];
    words.extend(ALL.iter().flat_map(|(package, name)| ["-p", package, "--example", name]));
    show("cargo", &words)
}

/// Path of a program.
pub fn program(name: &str) -> String {
    root().join("target/release/examples").join(name).display().to_string()
}
