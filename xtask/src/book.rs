//! `cargo xtask book`: builds the pages of `docs` as a site in `target/book`. Links that leave
//! `docs` are redirected to the repository; `cargo xtask tidy` checks that all lead somewhere.
//!
//! The crates for this are built on demand: the program rebuilds itself once with them.

use anyhow::Result;

#[cfg(not(feature = "book"))]
pub fn book() -> Result<()> {
    let words = ["run", "--quiet", "--locked", "-p", "xtask", "--features", "book", "--", "book"];
    crate::command::show("cargo", &words)
}

#[cfg(feature = "book")]
pub fn book() -> Result<()> {
    site::build()
}

#[cfg(feature = "book")]
mod site {
    use std::path::{Component, Path, PathBuf};

    use anyhow::{Context, Result};
    use mdbook_driver::MDBook;

    use crate::command::root;
    use crate::tidy::links::targets;

    /// URL of a file of the repository.
    const REPOSITORY: &str = "https://github.com/qdepth/qdepth/blob/main";

    pub(super) fn build() -> Result<()> {
        let docs = root().join("docs");
        let mut book = MDBook::load(&docs).context("docs/SUMMARY.md")?;
        book.book.for_each_chapter_mut(|chapter| {
            let Some(path) = &chapter.source_path else { return };
            for target in targets(&chapter.content) {
                let Some(outside) = outside(path, &target) else { continue };
                let link = format!("]({REPOSITORY}/{outside}");
                chapter.content = chapter.content.replace(&format!("]({target}"), &link);
            }
        });
        book.build()?;
        println!("{}: built", root().join("target/book").display());
        Ok(())
    }

    /// Path in the repository for a link that leaves the book; `None` for links within it.
    fn outside(page: &Path, target: &str) -> Option<String> {
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        if file.is_empty() {
            return None;
        }
        let mut path = PathBuf::from("docs").join(page.parent().unwrap_or(page));
        for part in Path::new(file).components() {
            match part {
                Component::ParentDir => {
                    path.pop();
                }
                part => path.push(part),
            }
        }
        let inside = path.starts_with("docs") && path.extension().is_some();
        let anchor = if anchor.is_empty() { String::new() } else { format!("#{anchor}") };
        (!inside).then(|| format!("{}{anchor}", path.display()))
    }
}
