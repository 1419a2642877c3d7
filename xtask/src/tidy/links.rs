//! Checks links between pages: each leads to an existing page or heading, citations can be opened,
//! and every page of `docs` appears in the table of contents.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::plain;
use crate::command::{files, root};

/// Checks every Markdown page of the root and of `docs`.
pub(super) fn check(broken: &mut Vec<String>) -> Result<()> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(root())? {
        let path = entry?.path();
        pages.extend((path.extension().is_some_and(|ending| ending == "md")).then_some(path));
    }
    let docs = root().join("docs");
    let of_docs = files(&docs, "md")?;
    let contents = fs::read_to_string(docs.join("SUMMARY.md"))?;
    for page in &of_docs {
        let name = page.strip_prefix(&docs).unwrap_or(page).display().to_string();
        if name != "SUMMARY.md" && !contents.contains(&format!("({name})")) {
            broken.push(format!("docs/{name} does not stand in docs/SUMMARY.md"));
        }
    }
    pages.extend(of_docs);
    for page in &pages {
        of_page(page, broken)?;
    }
    Ok(())
}

fn of_page(page: &Path, broken: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(page)?;
    let name = page.strip_prefix(root()).unwrap_or(page).display().to_string();
    plain::stray(&name, &text, broken);
    plain::page(&name, &text, broken);
    for target in targets(&text) {
        let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let folder = page.parent().unwrap_or(page);
        let to = if file.is_empty() { page.to_owned() } else { folder.join(file) };
        if !to.exists() {
            broken.push(format!("{name}: the link {target} leads nowhere"));
        } else if !anchor.is_empty()
            && !headings(&fs::read_to_string(&to)?).contains(&anchor.into())
        {
            broken.push(format!("{name}: the link {target} leads to no heading"));
        }
    }
    Ok(())
}

/// Links of a page within the repository; code is ignored.
pub(crate) fn targets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in plain::prose(text) {
        for rest in line.split("](").skip(1) {
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            let leaves = target.contains("://") || target.starts_with("mailto:");
            found.extend((!leaves && !target.is_empty()).then(|| target.to_owned()));
        }
    }
    found
}

/// Anchors that Markdown renderers derive from the headings.
fn headings(text: &str) -> Vec<String> {
    let mut fenced = false;
    let lines = text.lines().filter(|line| {
        fenced ^= line.starts_with("```");
        !fenced && line.starts_with('#')
    });
    let anchor = |line: &str| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    lines.map(anchor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_headings_are_found() {
        let text =
            "See [a](b.md#c-d) and `[no](link)`, [x](https://e.org), [y](#z).\n```\n[f](g)\n```\n";
        assert_eq!(targets(text), ["b.md#c-d", "#z"]);
        assert_eq!(
            headings("# A `b` & c\n```\n# no\n```\n## Is B faster?\n"),
            ["a-b--c", "is-b-faster"]
        );
    }
}
