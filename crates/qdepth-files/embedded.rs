//! For build scripts: the files of a folder as a list of names and texts, so that one is added by
//! its file alone.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Writes `list` into `OUT_DIR`: a slice of name and text of each file of the folder (from the
/// crate's) with this ending that is to be kept, in the order of their names. Returns the names.
#[expect(clippy::disallowed_methods, reason = "a build script reads what it embeds")]
pub(crate) fn embed(
    folder: &str,
    ending: &str,
    keep: impl Fn(&str) -> bool,
    list: &str,
) -> Vec<String> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let folder = root.join(folder).canonicalize().expect("the repository has the folder");
    println!("cargo::rerun-if-changed={}", folder.display());
    let all = fs::read_dir(&folder).expect("the folder can be read");
    let mut paths: Vec<PathBuf> = all.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == ending));
    paths.sort();
    let (mut text, mut names) = ("&[\n".to_owned(), Vec::new());
    for path in &paths {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name in ASCII");
        if keep(name) {
            writeln!(text, "({name:?}, include_str!({path:?})),").expect("a string takes all");
            names.push(name.to_owned());
        }
    }
    text.push(']');
    let output = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join(list);
    fs::write(output, text).expect("OUT_DIR can be written to");
    names
}
