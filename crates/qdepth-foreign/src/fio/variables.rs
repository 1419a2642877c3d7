//! Expansion of `${VARIABLE}`, `$ncpus`, `$pagesize` and `$mb_memory` in values.

use super::number::arithmetic;
use super::surroundings::Surroundings;

/// Maximum number of bytes that variables add to all values together.
const GROWTH_MAX: usize = 1 << 20;

/// Remaining bytes for variables, so that a short text cannot expand without limit.
pub(super) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(GROWTH_MAX)
    }
}

/// Expands variables. An unset environment variable is empty. A keyword makes the value an
/// arithmetic expression, which is evaluated (`8*$pagesize`).
pub(super) fn expand(
    value: &str,
    around: &Surroundings<'_>,
    budget: &mut Budget,
) -> Result<String, String> {
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else {
            return Err("`${` has no `}`".to_owned());
        };
        text.push_str(&rest[..start]);
        let name = &rest[start + 2..start + length];
        let found = (around.variable)(name).unwrap_or_default();
        budget.0 = budget.0.checked_sub(found.len()).ok_or("the variables are too long")?;
        text.push_str(&found);
        rest = &rest[start + length + 1..];
    }
    text.push_str(rest);
    keywords(text, around)
}

fn keywords(text: String, around: &Surroundings<'_>) -> Result<String, String> {
    let known = [
        ("$pagesize", around.page_bytes),
        ("$mb_memory", around.memory_mib),
        ("$ncpus", around.cpus),
    ];
    if !known.iter().any(|(word, _)| text.contains(word)) {
        return Ok(text);
    }
    // Each occurrence is replaced once, by a number that is not longer than the text allows.
    let mut filled = text;
    for (word, number) in known {
        filled = filled.replace(word, &number.to_string());
    }
    match filled.parse::<u64>() {
        Ok(_) => Ok(filled),
        Err(_) => Ok(format!("{}", arithmetic(&filled)?.trunc())),
    }
}
