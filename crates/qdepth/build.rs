//! Says which commit the program is of, for `qdepth --version`. Without a repository, as in a
//! package's source, that is not known, unless `QDEPTH_COMMIT` says it.

#![expect(clippy::disallowed_methods, reason = "a build script asks git")]

use std::process::Command;

fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

fn main() {
    println!("cargo::rerun-if-env-changed=QDEPTH_COMMIT");
    // It has a line more with each commit.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    let said = std::env::var("QDEPTH_COMMIT").ok();
    let commit = said.or_else(|| git(&["rev-parse", "--short=12", "HEAD"]));
    println!("cargo::rustc-env=QDEPTH_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    let built = ["TARGET", "PROFILE"].map(|name| std::env::var(name).unwrap_or_default());
    println!("cargo::rustc-env=QDEPTH_BUILT={}", built.join(", "));
}
