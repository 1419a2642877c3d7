//! Texts for people that this crate and its front ends share.

use std::path::Path;

/// Duration as text: whole seconds, minutes, or tenths of hours, rounded up.
pub fn format_duration(ns: u64) -> String {
    let seconds = ns.div_ceil(1_000_000_000);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..=7200 => format!("{} min", seconds.div_ceil(60)),
        _ => {
            let tenths = seconds.div_ceil(360);
            match tenths % 10 {
                0 => format!("{} h", tenths / 10),
                rest => format!("{}.{rest} h", tenths / 10),
            }
        }
    }
}

/// Location of a stored run.
pub fn run_location(logbook: &Path, id: &str) -> String {
    format!("logbook  {}  run {}", logbook.display(), id.get(..13).unwrap_or(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_has_a_suitable_unit() {
        let rendered = |seconds: u64| format_duration(seconds * 1_000_000_000 - 1);
        for (seconds, text) in [
            (1, "1 s"),
            (119, "119 s"),
            (121, "3 min"),
            (7200, "120 min"),
            (7201, "2.1 h"),
            (172_800, "48 h"),
        ] {
            assert_eq!(rendered(seconds), text);
        }
    }
}
