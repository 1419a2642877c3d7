//! Errors of TOML files, for people who do not know the types behind them.

use crate::alike::meant;

/// Error in a TOML file: the line, the problem, and the line's text with a mark below it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TomlError(String);

impl TomlError {
    /// Error of the parser on `text`. `listed_by` is the sentence that leads to all fields.
    pub fn new(text: &str, error: &toml::de::Error, listed_by: &str) -> Self {
        let problem = problem(error.message(), listed_by);
        let Some(span) = error.span() else { return Self(problem) };
        let begin = text.floor_char_boundary(span.start);
        let line_begin = text[..begin].rfind('\n').map_or(0, |at| at + 1);
        let line = text[line_begin..].lines().next().unwrap_or_default();
        let number = (text[..line_begin].matches('\n').count() + 1).to_string();
        let before = text[line_begin..begin].chars().count();
        let end = text
            .floor_char_boundary(span.end)
            .clamp(begin, line_begin + line.len().max(begin - line_begin));
        let marks = "^".repeat(text[begin..end].chars().count().max(1));
        let (bar, gap) = (" ".repeat(number.len()), " ".repeat(before));
        Self(format!("line {number}: {problem}\n  {number} | {line}\n  {bar} | {gap}{marks}"))
    }
}

/// The parser's message in plain words. `listed_by` is the sentence that leads to all fields.
pub fn problem(message: &str, listed_by: &str) -> String {
    let message = message.trim_end();
    let is_of = |opening: &str| message.strip_prefix(opening);
    if let Some(mismatch) = is_of("invalid type: ").or(is_of("invalid value: "))
        && let Some((found, expected)) = mismatch.rsplit_once(", expected ")
    {
        return format!("expected {}, found {}", expectation(expected), value(found));
    }
    if let Some((found, expected)) =
        is_of("invalid length ").and_then(|length| length.split_once(", expected "))
    {
        return format!("expected {}, found {found}", expectation(expected));
    }
    for (opening, kind) in [("unknown field `", "field"), ("unknown variant `", "value")] {
        if let Some((name, known)) = is_of(opening).and_then(|rest| rest.split_once("`, ")) {
            let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
            return format!("unknown {kind} `{name}`{}", meant(name, &known, listed_by));
        }
    }
    is_of("missing field ")
        .map_or_else(|| message.to_owned(), |name| format!("the field {name} is missing"))
}

/// A value as the parser shows it.
fn value(found: &str) -> String {
    let split = found.split_once(' ').unwrap_or((found, ""));
    match (split, found) {
        (("integer", number), _) => format!("the number {}", number.trim_matches('`')),
        (("boolean", word), _) => word.trim_matches('`').to_owned(),
        (("string", text), _) => format!("the text {text}"),
        (_, "sequence") => "a list".to_owned(),
        (_, "map") => "a table".to_owned(),
        _ => match found.strip_prefix("floating point ") {
            Some(number) => format!("the number {}", number.trim_matches('`')),
            None => found.to_owned(),
        },
    }
}

/// A type as the parser names it. Our own expectations stay as they are.
fn expectation(expected: &str) -> String {
    let is_whole = |name: &str| {
        let width = name.strip_prefix(['u', 'i']).unwrap_or_default();
        matches!(width, "8" | "16" | "32" | "64" | "128" | "size")
    };
    let entries = expected
        .strip_prefix("tuple of ")
        .and_then(|rest| rest.strip_suffix(" elements"))
        .or_else(|| expected.strip_prefix("an array of length "));
    let plain = match expected {
        "a string" | "a borrowed string" | "path string" => "a text in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list, such as [a, b]",
        "f32" | "f64" => "a number",
        _ if expected == "a map" || expected.starts_with("struct ") => {
            "a table, such as { name = value }"
        }
        _ if expected.starts_with("enum ") => "a text in quotes",
        _ if expected.strip_prefix("a nonzero ").is_some_and(is_whole) => "a whole number above 0",
        _ if is_whole(expected) && expected.starts_with('u') => "a whole number, 0 or more",
        _ if is_whole(expected) => "a whole number",
        _ => match entries {
            Some(count) => return format!("a list of {count} values"),
            None => expected,
        },
    };
    plain.to_owned()
}

#[cfg(test)]
mod tests {
    use crate::profile::PlanFile;

    fn error(text: &str) -> String {
        text.parse::<PlanFile>().unwrap_err().to_string()
    }

    #[test]
    fn mismatches_are_explained_without_rust_types() {
        let cases = [
            ("title = 3", "expected a text in quotes, found the number 3"),
            ("queue_depth = 4", "expected a list, such as [a, b], found the number 4"),
            ("queue_depth = [-1]", "expected a whole number, 0 or more, found the number -1"),
            ("queue_depth = [1.5]", "expected a whole number, 0 or more, found the number 1.5"),
            ("keep_files = \"no\"", "expected true or false, found the text \"no\""),
            (
                "comparison = \"x\"",
                "expected a table, such as { name = value }, found the text \"x\"",
            ),
            ("[[profile]]\n", "the field `name` is missing"),
            (
                "[[profile]]\nname = \"a\"\nblock_size = 4096",
                "expected a size, such as \"8KiB\", or a list of { size, weight }",
            ),
        ];
        for (line, problem) in cases {
            let error = error(&format!("name = \"x\"\n{line}"));
            assert!(error.contains(&format!(": {problem}\n")), "{line}: {error}");
        }
    }

    #[test]
    fn unknown_fields_suggest_similar_names() {
        assert_eq!(
            error("name = \"x\"\nquestión = 1\n"),
            "line 2: invalid unquoted key, expected letters, numbers, `-`, `_`\n  \
             2 | questión = 1\n    |       ^"
        );
        assert_eq!(
            error("name = \"日本\"\nqueue_depths = [1]\n"),
            "line 2: unknown field `queue_depths`. Did you mean `queue_depth`? `qdepth schema \
             plan` lists all fields\n  2 | queue_depths = [1]\n    | ^^^^^^^^^^^^"
        );
    }

    #[test]
    fn ends_of_files_are_marked() {
        for text in ["name = \"x", "name = [\n", "[", "name", "=", "\u{feff}\u{0}"] {
            let error = error(text);
            assert!(error.starts_with("line ") && error.ends_with('^'), "{error}");
        }
    }
}
