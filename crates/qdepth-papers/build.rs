//! Lists the files of `reference/translations`: a language is its file, and no other list names it.

#[path = "../qdepth-files/embedded.rs"]
mod embedded;

fn main() {
    embedded::embed("../../reference/translations", "toml", |_| true, "translations.rs");
}
