//! Lists the descriptions of `media/`: a medium is its file, and no other list names it.

#![expect(clippy::disallowed_methods, reason = "a build script reads the descriptions")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let folder = root.join("../../media").canonicalize().expect("the repository has media/");
    println!("cargo::rerun-if-changed={}", folder.display());
    let all = fs::read_dir(&folder).expect("media/ can be read");
    let mut paths: Vec<PathBuf> = all.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    paths.sort_by_cached_key(|path| (rank(path), path.clone()));
    let mut list = "&[\n".to_owned();
    for path in &paths {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name in ASCII");
        // Beside the descriptions lies what they were calibrated by.
        if name != "calibration" {
            writeln!(list, "({name:?}, include_str!({path:?})),").expect("a string takes all");
        }
    }
    list.push(']');
    let output = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("media.rs");
    fs::write(output, list).expect("OUT_DIR can be written to");
}

/// Lists begin with what was held against most: the marks of `checked`, best first.
const MARKS: [&str; 5] =
    ["published figures", "reproduced, not validated", "data sheet only", "class", "definition"];

fn rank(path: &Path) -> usize {
    let text = fs::read_to_string(path).expect("a description can be read");
    let mark = text.lines().find_map(|line| line.strip_prefix("checked = "));
    let known =
        mark.and_then(|mark| MARKS.iter().position(|known| mark.trim_matches('"') == *known));
    known.unwrap_or(MARKS.len())
}
