//! Lists the files of `reference/translations`: a language is its file, and no other list names it.
//! Packs the tables of published figures, of which nine tenths repeat.

#![expect(clippy::disallowed_methods, reason = "a build script reads what it embeds")]

use std::fs::{self, File};
use std::path::Path;

use flate2::{Compression, GzBuilder};

#[path = "../qdepth-files/embedded.rs"]
mod embedded;

fn main() {
    embedded::embed("../../reference/translations", "toml", |_| true, "translations.rs");
    let folder = std::env::var("OUT_DIR").expect("cargo sets it");
    for entry in fs::read_dir("../../reference").expect("the repository has the folder") {
        let path = entry.expect("an entry").path();
        println!("cargo::rerun-if-changed={}", path.display());
        if path.is_file() {
            let name = path.file_name().expect("a name").display().to_string();
            let packed = File::create(Path::new(&folder).join(name + ".gz")).expect("a file");
            let mut packed = GzBuilder::new().write(packed, Compression::best());
            let mut text = File::open(&path).expect("a file");
            std::io::copy(&mut text, &mut packed).expect("the text is copied");
            packed.finish().expect("the file is whole");
        }
    }
}
