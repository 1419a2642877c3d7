//! Programs of one part each, which are timed and counted.

use anyhow::Result;

use crate::command::{root, show};

/// The loop on the smallest target there is.
pub const ECHO_LOOP: &str = "echo_loop";
/// One emulated point.
pub const ONE_EMULATED: &str = "one_emulated";
/// One point on storage.
pub const ONE_POINT: &str = "one_point";

const ALL: [(&str, &str); 3] =
    [("qdepth-engine", ECHO_LOOP), ("qdepth-media", ONE_EMULATED), ("qdepth-linux", ONE_POINT)];

/// Builds all of them at once: one after the other they differ in the features of what they share,
/// which is then compiled for each.
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
