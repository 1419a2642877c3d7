//! Checks that the name of a test is short: subject, condition and result.

use super::plain::OPENINGS;

/// Most words of a name.
const WORDS: usize = 8;

/// Reports tests with long names, and names that open with a free relative. It reads lines, because
/// tests in macros such as `proptest!` are tokens to the parser.
pub(super) fn check(name: &str, text: &str, broken: &mut Vec<String>) {
    let mut is_test = false;
    for (before, line) in text.lines().map(str::trim).enumerate() {
        is_test |= line == "#[test]";
        let Some((_, rest)) = line.split_once("fn ").filter(|_| is_test) else { continue };
        is_test = false;
        let test = rest.split(['(', '<']).next().unwrap_or_default();
        let words: Vec<&str> = test.split('_').collect();
        let place = format!("{name}:{}: the test `{test}`", before + 1);
        if words.len() > WORDS {
            broken.push(format!("{place} has {} words, at most {WORDS}", words.len()));
        }
        if OPENINGS.iter().any(|opening| opening.eq_ignore_ascii_case(words[0])) {
            broken.push(format!("{place} opens with `{}`: name its subject", words[0]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str) -> Vec<String> {
        let mut broken = Vec::new();
        let helper = "fn of_a_helper_with_a_name_that_is_very_long() {}\n\n";
        let test = format!("#[test]\n    #[ignore]\n    fn {name}() {{}}\n");
        check("a.rs", &format!("{helper}{test}"), &mut broken);
        broken
    }

    #[test]
    fn test_name_with_nine_words_is_found() {
        assert_eq!(found("a_b_c_d_e_f_g_h"), [""; 0]);
        assert_eq!(
            found("a_b_c_d_e_f_g_h_i"),
            ["a.rs:5: the test `a_b_c_d_e_f_g_h_i` has 9 words, at most 8"]
        );
    }

    #[test]
    fn test_name_without_subject_is_found() {
        let expected = "a.rs:5: the test `what_is_read` opens with `what`: name its subject";
        assert_eq!(found("what_is_read"), [expected]);
    }
}
