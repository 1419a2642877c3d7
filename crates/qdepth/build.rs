//! Says of which commit the program is and how it was built, for `qdepth --version`. Without a
//! repository, as in a package's source, the commit is not known, unless `QDEPTH_COMMIT` says it.

#![expect(clippy::disallowed_methods, reason = "a build script asks git and the compiler")]

use std::path::Path;
use std::process::Command;

/// What the program is made of, from the root of the repository: a change there that is not
/// committed makes it another program than the commit's.
const SOURCES: [&str; 7] =
    ["crates/*/src", "plans", "profiles", "media", "reference", "Cargo.toml", "Cargo.lock"];

fn output_of(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// The commit, and whether something was changed since.
fn commit() -> Option<String> {
    let commit = output_of("git", &["rev-parse", "--short=12", "HEAD"])?;
    let paths = SOURCES.map(|path| format!(":(top,glob){path}{}", glob(path)));
    let words = ["status", "--porcelain", "--untracked-files=all", "--"];
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let changed = output_of("git", &[&words[..], &paths].concat()).is_some();
    Some(if changed { format!("{commit}, and changes that no commit has") } else { commit })
}

/// What a folder's path becomes to mean all that is in it.
fn glob(path: &str) -> &'static str {
    if path.starts_with("Cargo") { "" } else { "/**" }
}

/// Looks again when a file of the program changes, or a commit comes: the log of HEAD then has a
/// line more.
fn rerun_on_change() {
    println!("cargo::rerun-if-env-changed=QDEPTH_COMMIT");
    if let Some(log) = output_of("git", &["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    let root = Path::new("../..");
    let crates = std::fs::read_dir(root.join("crates")).into_iter().flatten().flatten();
    let mut sources: Vec<_> = crates.map(|entry| entry.path().join("src")).collect();
    sources.extend(SOURCES[1..].iter().map(|path| root.join(path)));
    // A path that is not there would run this script each time.
    for path in sources.iter().filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    println!("cargo::rerun-if-changed=build.rs");
}

fn main() {
    rerun_on_change();
    let commit = std::env::var("QDEPTH_COMMIT").ok().or_else(commit);
    println!("cargo::rustc-env=QDEPTH_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    let variable = |name| std::env::var(name).unwrap_or_default();
    let compiler = output_of(&variable("RUSTC"), &["-V"]);
    let compiler = compiler.as_deref().and_then(|text| text.split(" (").next().map(str::to_owned));
    let built = [variable("TARGET"), variable("PROFILE"), compiler.unwrap_or_default()];
    println!("cargo::rustc-env=QDEPTH_BUILT={}", built.join(", "));
}
