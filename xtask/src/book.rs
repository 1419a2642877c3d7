//! `cargo xtask book`: builds the pages of `docs` as a site in `target/book`, and checks every
//! link. Links that leave `docs` are redirected to the repository.
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
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::{Component, Path, PathBuf};

    use anyhow::{Context, Result, bail};
    use mdbook_driver::MDBook;

    use crate::command::{files, root};
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
        let site = root().join("target/book");
        let pages = pages(&site)?;
        let (mut links, mut missing) = (0, Vec::new());
        for (page, text) in &pages {
            links += check_links(&site, page, text, &pages, &mut missing);
        }
        if !missing.is_empty() {
            bail!("{} links lead nowhere:\n{}", missing.len(), missing.join("\n"));
        }
        println!("{}: {} pages, {links} links, each leads somewhere", site.display(), pages.len());
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

    /// Pages of the site with their texts, without the print page, which contains all.
    fn pages(folder: &Path) -> Result<BTreeMap<PathBuf, String>> {
        let mut found = BTreeMap::new();
        for path in files(folder, "html")?.into_iter().filter(|path| !path.ends_with("print.html"))
        {
            let text = fs::read_to_string(&path)?;
            found.insert(path, text);
        }
        Ok(found)
    }

    /// Checks the targets of a page's links, and returns the number of links.
    fn check_links(
        site: &Path,
        page: &Path,
        text: &str,
        pages: &BTreeMap<PathBuf, String>,
        missing: &mut Vec<String>,
    ) -> usize {
        let values = ["href=\"", "src=\""].into_iter().flat_map(|name| text.split(name).skip(1));
        let links = values.filter_map(|rest| rest.split('"').next());
        let here = |link: &&str| !link.contains(':') && !link.is_empty() && !link.starts_with("//");
        let mut count = 0;
        for link in links.filter(here) {
            count += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let folder = page.parent().unwrap_or(page);
            let path = match file.strip_prefix('/') {
                Some(absolute) => site.join(absolute),
                None if file.is_empty() => page.to_owned(),
                None => folder.join(file),
            };
            let leads = path.canonicalize().ok();
            let is_there = leads.as_ref().is_some_and(|to| {
                let page = |to: &Path| pages.get(to).map(String::as_str);
                anchor.is_empty()
                    || page(to).is_none_or(|text| text.contains(&format!("id=\"{anchor}\"")))
            });
            if !is_there {
                let page = page.strip_prefix(site).unwrap_or(page).display();
                missing.push(format!("{page}: {link}"));
            }
        }
        count
    }
}
