//! Lists the migrations in the order of their numbers: one is added by its file alone.

#![expect(clippy::disallowed_methods, reason = "a build script reads the migrations")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let folder = root.join("migrations");
    println!("cargo::rerun-if-changed={}", folder.display());
    let all = fs::read_dir(&folder).expect("migrations/ can be read");
    let mut paths: Vec<PathBuf> = all.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let mut list = "&[\n".to_owned();
    for (number, path) in (1..).zip(&paths) {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name in ASCII");
        assert!(name.starts_with(&format!("{number:04}_")), "{name}: is number {number}");
        writeln!(list, "include_str!({path:?}),").expect("a string takes all");
    }
    list.push(']');
    let output = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("migrations.rs");
    fs::write(output, list).expect("OUT_DIR can be written to");
}
