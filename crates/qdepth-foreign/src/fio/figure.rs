//! Numbers in fio's normal output: a few digits and a prefix.

/// Prefixes of powers of the base.
const PREFIXES: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];

/// Unit of a figure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    None,
    Bytes,
    BytesPerSecond,
}

/// Formats a number in `digits` characters, including the point; powers of 1024 if `binary`.
pub(super) fn figure(value: u64, digits: usize, binary: bool, unit: Unit) -> String {
    let base: u64 = if binary { 1024 } else { 1000 };
    let limit = 10_u64.saturating_pow(digits as u32);
    let (mut whole, mut rest, mut power) = (value, None, 0);
    while whole >= limit && power + 1 < PREFIXES.len() {
        rest = Some(whole % base);
        whole /= base;
        power += 1;
    }
    let prefix = match (PREFIXES[power], binary) {
        ("", _) => String::new(),
        ("k", true) => "Ki".to_owned(),
        (prefix, true) => format!("{prefix}i"),
        (prefix, false) => prefix.to_owned(),
    };
    let unit = match unit {
        Unit::None => "",
        Unit::Bytes => "B",
        Unit::BytesPerSecond => "B/s",
    };
    let room = digits.saturating_sub(whole.to_string().len() + 1);
    let number = match rest {
        Some(rest) if room > 0 => {
            format!("{:.room$}", whole as f64 + rest as f64 / base as f64)
        }
        Some(rest) if rest >= base / 2 => (whole + 1).to_string(),
        _ => whole.to_string(),
    };
    format!("{number}{prefix}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_formatted_like_fio() {
        let bytes = |value| figure(value, 4, true, Unit::Bytes);
        assert_eq!(bytes(4096), "4096B");
        assert_eq!(bytes(65_536), "64.0KiB");
        assert_eq!(bytes(1 << 20), "1024KiB");
        let rate = |binary| figure(815_104, 4, binary, Unit::BytesPerSecond);
        assert_eq!((rate(true), rate(false)), ("796KiB/s".to_owned(), "815kB/s".to_owned()));
        assert_eq!(figure(87_381_333, 4, true, Unit::BytesPerSecond), "83.3MiB/s");
        assert_eq!(figure(21_333, 4, false, Unit::None), "21.3k");
        assert_eq!(figure(7_692_605, 6, false, Unit::None), "7692.6k");
        assert_eq!(figure(35_833, 6, false, Unit::None), "35833");
    }
}
