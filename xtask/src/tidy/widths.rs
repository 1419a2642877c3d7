//! Comments are as wide as code: rustfmt leaves them alone.

/// Most columns of a line.
const COLUMNS: usize = 100;

/// Says which lines of comments are wider.
pub(super) fn check(name: &str, text: &str, broken: &mut Vec<String>) {
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("//") && line.chars().count() > COLUMNS {
            broken.push(format!("{name}:{}: a comment of over {COLUMNS} columns", number + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_comments_that_are_too_wide_count() {
        let line = |begin: &str, width: usize| format!("{begin}{}\n", "x".repeat(width - 3));
        let mut broken = Vec::new();
        check("a.rs", &(line("// ", 100) + &line("abc", 101)), &mut broken);
        assert!(broken.is_empty());
        check("a.rs", &(line("// ", 100) + &line("// ", 101)), &mut broken);
        assert_eq!(broken, ["a.rs:2: a comment of over 100 columns"]);
    }
}
