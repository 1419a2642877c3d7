//! Syntax of `buffer_pattern`.

/// Files that a pattern names: it consists of strings in `"`, files in `'`, and numbers.
pub(in crate::fio) fn pattern_files(text: &str) -> Result<Vec<&str>, String> {
    let mut files = Vec::new();
    let mut rest = text.trim();
    if rest.is_empty() || rest == "\"\"" {
        return Err("the pattern is empty".to_owned());
    }
    while let Some(first) = rest.chars().next() {
        let after = if matches!(first, '"' | '\'') {
            let (inside, after) = rest[1..]
                .split_once(first)
                .ok_or_else(|| format!("`{rest}`: the closing {first} is missing"))?;
            files.extend((first == '\'').then_some(inside));
            after
        } else {
            // As in fio, a hexadecimal number may follow another number directly.
            let next = rest.match_indices("0x").map(|(at, _)| at).find(|at| *at > 0);
            let end = rest.find(['"', '\'', ' ']).into_iter().chain(next).min();
            let end = end.unwrap_or(rest.len());
            let (number, after) = rest.split_at(end);
            let is_number = match number.strip_prefix("0x") {
                Some(digits) => {
                    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
                }
                None => number.parse::<i32>().is_ok(),
            };
            if !is_number {
                return Err(format!(
                    "`{number}` is not a number: write text in \" and a file in '"
                ));
            }
            after
        };
        rest = after.trim_start();
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_is_strings_files_and_numbers() {
        for good in ["0xdeadbeef", "-5", "\"a\"0x12", "\"a\" 12", "0xabc\"q\"", "\"a\"-120xde"] {
            assert_eq!(pattern_files(good), Ok(vec![]), "{good}");
        }
        assert_eq!(pattern_files("'pat'\"x\""), Ok(vec!["pat"]));
        // fio 3.33 refuses these.
        for bad in ["", "\"\"", "abc", "12abc", "0x", "0x12,\"a\"", "99999999999", "\"a", "1k"] {
            assert!(pattern_files(bad).is_err(), "{bad}");
        }
    }
}
