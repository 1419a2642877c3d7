//! Display name of a step.

/// Display name of a step. Plans and records keep the title of a rate step as it is hashed, `100
/// MB/s`, with the papers' megabyte of 2^20 bytes. It is displayed as `100 MiB/s`, the unit of all
/// rates.
pub fn shown_step(title: &str) -> String {
    let rate = title.strip_suffix(" MB/s").filter(|rate| rate.parse::<f64>().is_ok());
    rate.map_or_else(|| title.to_owned(), |rate| format!("{rate} MiB/s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_in_step_title_is_shown_in_mib() {
        for (title, shown) in [
            ("100 MB/s", "100 MiB/s"),
            ("12.5 MB/s", "12.5 MiB/s"),
            ("100 MiB/s", "100 MiB/s"),
            ("100 MB/s of it", "100 MB/s of it"),
            ("fast MB/s", "fast MB/s"),
            ("", ""),
        ] {
            assert_eq!(shown_step(title), shown);
        }
    }
}
