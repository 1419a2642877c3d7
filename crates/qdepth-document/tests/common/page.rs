//! Assertions that hold for every page.

use qdepth_document::document::{Block, Document, Picture};

pub(crate) fn pictures(document: &Document) -> Vec<&Picture> {
    let blocks = document.sections.iter().flat_map(|section| &section.blocks);
    blocks
        .filter_map(|b| if let Block::Pictures(p) = b { Some(p) } else { None })
        .flatten()
        .collect()
}

/// Asserts that every element is closed in order; void elements need no closing tag.
pub(crate) fn assert_well_formed(page: &str) {
    let mut open: Vec<String> = Vec::new();
    let mut rest = page;
    while let Some((_, from)) = rest.split_once('<') {
        let (tag, after) = from.split_once('>').expect("a tag ends");
        rest = after;
        if tag.starts_with('!') {
            continue;
        }
        let name: String =
            tag.trim_start_matches('/').chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
        assert!(!name.is_empty(), "a stray < before {tag:.40}");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "closing {tag}");
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<String>::new());
}

pub(crate) fn assert_self_contained(page: &str) {
    let namespace = "http://www.w3.org/2000/svg";
    // The page's own script is the only one that may run, and it makes no requests.
    let own = format!("<script>{}</script>", qdepth_document::SCRIPT);
    assert!(page.matches(&own).count() <= 1);
    // References within the page begin with `#`.
    let other = page.replace(&own, "").replace(namespace, "").replace("url(#", "");
    for reference in
        ["http://", "https://", "src=", "url(", "@import", "<script", "<link", "<object"]
    {
        assert!(!other.contains(reference), "{reference}");
    }
}
