//! Checks that cited files are in the repository or published.

/// Prefixes of citations that a reader cannot open.
const NOT_PUBLISHED: [&str; 2] = ["(notes on ", "document 00"];

/// Reports citations of unpublished documents in a source file or page.
pub(super) fn check(name: &str, text: &str, broken: &mut Vec<String>) {
    for word in NOT_PUBLISHED {
        if text.contains(word) && name != "xtask/src/tidy/cited.rs" {
            broken.push(format!("{name}: cites what a reader cannot open ({word}…)"));
        }
    }
}
