//! Names that are spelled alike.

/// Minimum similarity (Jaro) of a name that may have been meant.
const ALIKE: f64 = 0.75;
/// Largest difference of similarity between the names of one suggestion.
const AS_LIKELY: f64 = 0.1;
/// Maximum number of names in one suggestion.
const NAMES_MAX: usize = 3;
/// Maximum number of known names that a message lists.
const LIST_MAX: usize = 9;

/// The name that is spelled most like this one, if any is.
pub fn alike<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    near(name, known).first().copied()
}

/// The names that are spelled like this one, the most similar first.
fn near<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let likeness = |known: &str| {
        let known = known.to_lowercase();
        // Jaro rejects short words with one typing error: `rnu`, `rn`.
        let slip = name.len() > 1 && strsim::osa_distance(&name, &known) == 1;
        strsim::jaro(&name, &known).max(if slip { ALIKE } else { 0.0 })
    };
    let all = known.into_iter().map(|known| (likeness(known), known));
    let mut all: Vec<_> = all.filter(|(likeness, _)| *likeness >= ALIKE).collect();
    all.sort_by(|(likeness, _), (other, _)| other.total_cmp(likeness));
    let least = all.first().map_or(0.0, |(most, _)| most - AS_LIKELY);
    let near = all.into_iter().filter(|(likeness, _)| *likeness >= least);
    near.map(|(_, known)| known).take(NAMES_MAX).collect()
}

/// Sentences after an unknown name: the similar names, then all known ones if they are few, or the
/// command that lists them: `. Did you mean `quick`? `qdepth plans` lists them`.
pub fn meant(name: &str, known: &[&str], listed_by: &str) -> String {
    let near: Vec<String> =
        near(name, known.iter().copied()).iter().map(|name| format!("`{name}`")).collect();
    let question = match near.as_slice() {
        [] => String::new(),
        [only] => format!(". Did you mean {only}?"),
        [first @ .., last] => format!(". Did you mean {} or {last}?", first.join(", ")),
    };
    let end = if question.is_empty() { "." } else { "" };
    if !known.is_empty() && known.len() <= LIST_MAX {
        format!("{question}{end} Use one of: {}", known.join(", "))
    } else {
        format!("{question}{end} {listed_by}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{shipped_plan_names, shipped_profile_names};

    #[test]
    fn misspelt_word_suggests_the_nearest_name() {
        let slips = [
            ("standart", "standard"),
            ("Quick", "quick"),
            ("latancy", "latency"),
            ("diskmark", "disk-mark"),
            ("write_pressure", "write-pressure"),
            ("bandwith", "bandwidth"),
        ];
        for (typed, meant) in slips {
            assert_eq!(alike(typed, shipped_plan_names()), Some(meant), "{typed}");
        }
        assert_eq!(alike("randon-4k-read", shipped_profile_names()), Some("random-4k-read"));
        for (typed, meant) in [("rnu", "run"), ("plna", "plan"), ("rn", "run")] {
            assert_eq!(alike(typed, ["show", "plan", "run"]), Some(meant), "{typed}");
        }
        for other in ["", "xyzzy", "/etc/passwd", "7"] {
            assert_eq!(alike(other, shipped_plan_names()), None, "{other}");
        }
    }

    #[test]
    fn unknown_name_gets_at_most_three_suggestions() {
        let all: Vec<&str> = shipped_profile_names().collect();
        let three = "`random-4k-read`, `random-4k-mixed` or `random-4k-write`?";
        assert_eq!(meant("random-4k", &all, "LIST"), format!(". Did you mean {three} LIST"));
        assert_eq!(meant("xyzzy", &all, "LIST"), ". LIST");
        let few = ["fresh", "steady"];
        let one = ". Did you mean `steady`? Use one of: fresh, steady";
        assert_eq!(meant("stead", &few, "LIST"), one);
    }
}
