//! Comments are as wide as code: rustfmt leaves them alone.

/// Most columns of a line.
const COLUMNS: usize = 100;
/// Lines of comments that are wider and were there before this was looked at. The number only falls.
const WIDE_MAX: usize = 310;

/// How many lines of comments a text has that are too wide.
pub(super) fn wide(text: &str) -> usize {
    let comments = text.lines().filter(|line| line.trim_start().starts_with("//"));
    comments.filter(|line| line.chars().count() > COLUMNS).count()
}

/// Says where there are more of them than there were.
pub(super) fn check(wide: usize, broken: &mut Vec<String>) {
    if wide > WIDE_MAX {
        broken.push(format!(
            "{wide} lines of comments are wider than {COLUMNS} columns; {WIDE_MAX} are the most, and \
             new ones none"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_comments_that_are_too_wide_count() {
        let line = |begin: &str, width: usize| format!("{begin}{}\n", "x".repeat(width - 3));
        assert_eq!(wide(&line("// ", 100)), 0);
        assert_eq!(wide(&line("// ", 101)), 1);
        assert_eq!(wide(&line("abc", 101)), 0);
        let mut broken = Vec::new();
        check(WIDE_MAX, &mut broken);
        assert!(broken.is_empty());
        check(WIDE_MAX + 1, &mut broken);
        assert_eq!(broken.len(), 1);
    }
}
