//! Names that are spelled alike.

/// Likeness (Jaro) from which a name may have been meant.
const ALIKE: f64 = 0.75;

/// The name that is spelled most like this one, if any is.
pub fn alike<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let likeness = |known: &str| {
        let known = known.to_lowercase();
        // One slip in a short word is more than Jaro forgives: `rnu`, `rn`.
        let slip = name.len() > 1 && strsim::osa_distance(&name, &known) == 1;
        strsim::jaro(&name, &known).max(if slip { ALIKE } else { 0.0 })
    };
    let all = known.into_iter().map(|known| (likeness(known), known));
    let most = all.filter(|(likeness, _)| *likeness >= ALIKE);
    most.max_by(|(likeness, _), (other, _)| likeness.total_cmp(other)).map(|(_, known)| known)
}

/// ` (did you mean `random-4k-read`?)`, or nothing where nothing is spelled alike.
pub fn meant<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    alike(name, known).map_or_else(String::new, |known| format!(" (did you mean `{known}`?)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{shipped_plan_names, shipped_profile_names};

    #[test]
    fn a_slip_of_the_fingers_is_asked_back_and_another_word_is_not() {
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
}
