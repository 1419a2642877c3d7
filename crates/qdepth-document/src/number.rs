//! Formatting of numbers: thousands separators, one unit for each column.

use qdepth_words::grouped_digits;

/// Bytes of a mebibyte, the unit of all throughputs (docs/method/checklist.md, item 8).
pub const MIB: f64 = 1_048_576.0;
/// Unit of all measured throughputs; editions of published papers keep the papers' units.
pub const MIB_PER_S: &str = "MiB/s";
/// Largest time of a table, ns, from which it is printed in milliseconds.
const MILLIS_FROM_NS: f64 = 10e6;

/// Formats a value with three significant digits.
pub fn three_digits(value: f64) -> String {
    to_place(value, magnitude(value) - 2)
}

/// Formats a value with three significant digits, or with as many as distinguish it from the other
/// values, down to [`finest_place`].
pub fn distinct(value: f64, others: impl Iterator<Item = f64> + Clone) -> String {
    let alike = |place: i32| {
        let text = to_place(value, place);
        others
            .clone()
            .any(|other| other.total_cmp(&value).is_ne() && to_place(other, place) == text)
    };
    let mut place = magnitude(value) - 2;
    while place > finest_place(value) && alike(place) {
        place -= 1;
    }
    to_place(value, place)
}

/// Formats an offered load in MiB/s: as an integer if it is one, otherwise with three significant
/// digits.
pub fn load(mib_per_s: f64) -> String {
    let whole = (mib_per_s - mib_per_s.round()).abs() < 1e-6;
    if whole { thousands(mib_per_s, 0) } else { three_digits(mib_per_s) }
}

/// Formats a lower bound: three significant digits, rounded down.
pub fn at_least(value: f64) -> String {
    let step = 10f64.powi(magnitude(value) - 2);
    three_digits((value / step).floor() * step)
}

/// Decimal exponent of the first digit after rounding to three significant digits.
pub fn magnitude(value: f64) -> i32 {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    let power = value.abs().log10().floor() as i32;
    let rounded = (value.abs() / 10f64.powi(power - 2)).round();
    if rounded >= 1000.0 { power + 1 } else { power }
}

/// Exponent of the last decimal place worth printing: integers from a thousand up, three decimals
/// below one.
pub fn finest_place(value: f64) -> i32 {
    match value.abs() {
        v if v >= 1000.0 => 0,
        v if v >= 100.0 => -1,
        v if v >= 1.0 => -2,
        _ => -3,
    }
}

/// Rounds to a power of ten, and formats with a comma between thousands.
pub fn to_place(value: f64, exponent: i32) -> String {
    if exponent <= 0 {
        return thousands(value, exponent.unsigned_abs() as usize);
    }
    let step = 10f64.powi(exponent);
    thousands((value / step).round() * step, 0)
}

/// Formats with fixed decimals and a comma between thousands; a dash for NaN and infinity.
pub fn thousands(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let is_zero = text.bytes().all(|b| matches!(b, b'0' | b'.'));
    let sign = if value < 0.0 && !is_zero { "−" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", grouped_digits(whole))
}

/// Formats an integer with a comma between thousands.
pub fn count(value: u64) -> String {
    thousands(value as f64, 0)
}

/// Formats a share as a percentage with up to three digits, without its sign.
pub fn percent(share: f64) -> String {
    let percent = share.abs() * 100.0;
    let decimals = match percent {
        p if p == 0.0 || p >= 10.0 => 0,
        p if p >= 1.0 => 1,
        p if p >= 0.1 => 2,
        _ => 4,
    };
    format!("{} %", thousands(percent, decimals))
}

/// Formats bytes in powers of two, for areas and block sizes.
pub fn binary_bytes(bytes: f64) -> String {
    scaled(bytes, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB", "PiB"])
}

/// Inserts a blank between number and unit of sizes in a plan's notation (`8KiB`).
pub fn spaced_sizes(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    let mut former = ' ';
    for (at, letter) in text.char_indices() {
        let ends = |rest: &str| !rest.starts_with(char::is_alphanumeric);
        let unit = ["KiB", "MiB", "GiB", "TiB", "B"]
            .iter()
            .any(|unit| text[at..].strip_prefix(unit).is_some_and(ends));
        if unit && former.is_ascii_digit() {
            out.push(' ');
        }
        out.push(letter);
        former = letter;
    }
    out
}

/// Formats bytes in powers of ten, for capacities.
pub fn decimal_bytes(bytes: f64) -> String {
    scaled(bytes, 1000.0, &["B", "kB", "MB", "GB", "TB", "PB"])
}

fn scaled(bytes: f64, base: f64, units: &[&str]) -> String {
    let mut value = bytes;
    let mut index = 0;
    while value.abs() >= base && index + 1 < units.len() {
        value /= base;
        index += 1;
    }
    let decimals = if (value - value.round()).abs() < 1e-9 { 0 } else { 2 };
    format!("{} {}", thousands(value, decimals), units[index])
}

/// Formats a time (ns) in its most suitable unit, for running text.
pub fn duration(ns: f64) -> String {
    let (scale, unit) = match ns.abs() {
        v if v < 1e3 => (1.0, "ns"),
        v if v < 1e6 => (1e3, "µs"),
        v if v < 1e9 => (1e6, "ms"),
        v if v < 120e9 => (1e9, "s"),
        _ => (60e9, "min"),
    };
    let value = ns / scale;
    let whole = (value - value.round()).abs() < 1e-9;
    let text = if whole { thousands(value, 0) } else { three_digits(value) };
    format!("{text} {unit}")
}

/// Units that stay on the line of their number.
const UNITS: [&str; 19] = [
    "%", "IOPS", "MiB/s", "MB/s", "KiB", "MiB", "GiB", "TiB", "B", "kB", "MB", "GB", "TB", "ns",
    "µs", "ms", "s", "min", "°C",
];

/// Replaces the space between a number and its unit by a no-break space.
pub fn unbroken(text: &str) -> String {
    let is_unit = |word: &str| {
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/');
        UNITS.iter().any(|unit| word.strip_prefix(unit).is_some_and(ends))
    };
    let mut out = String::with_capacity(text.len());
    for (index, word) in text.split(' ').enumerate() {
        let glued = out.ends_with(|c: char| c.is_ascii_digit()) && is_unit(word);
        out.push_str(if index == 0 {
            ""
        } else if glued {
            "\u{a0}"
        } else {
            " "
        });
        out.push_str(word);
    }
    out
}

/// Common unit of all times of a table, so that columns can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// µs.
    Micros,
    /// ms.
    Millis,
}

impl TimeUnit {
    /// Unit suitable for all of these times, ns.
    pub fn suiting(times_ns: impl IntoIterator<Item = f64>) -> Self {
        let largest = times_ns.into_iter().fold(0.0, f64::max);
        if largest >= MILLIS_FROM_NS { Self::Millis } else { Self::Micros }
    }
    /// Symbol of the unit.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Micros => "µs",
            Self::Millis => "ms",
        }
    }
    /// Converts nanoseconds to this unit.
    pub fn convert(self, ns: f64) -> f64 {
        match self {
            Self::Micros => ns / 1e3,
            Self::Millis => ns / 1e6,
        }
    }
    /// Formats a time (ns) with three digits, which a histogram's accuracy of 0.2 % supports, and
    /// at most three decimals.
    pub fn write(self, ns: f64) -> String {
        let value = self.convert(ns);
        to_place(value, (magnitude(value) - 2).max(-3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unequal_values_are_printed_unequal() {
        let rates = [1_605.0, 1_612.0, 1_620.0, 10_240.0];
        let shown = rates.map(|rate| distinct(rate, rates.into_iter()));
        assert_eq!(shown, ["1,605", "1,612", "1,620", "10,200"]);
        let rates = [5.001, 5.002, 0.5004];
        let shown = rates.map(|rate| distinct(rate, rates.into_iter()));
        assert_eq!(shown, ["5.00", "5.00", "0.500"], "no more decimals than are worth printing");
    }

    #[test]
    fn sizes_get_a_space_before_the_unit() {
        assert_eq!(spaced_sizes("8KiB"), "8 KiB");
        assert_eq!(spaced_sizes("2 × 16MiB, 4 KiB"), "2 × 16 MiB, 4 KiB");
        assert_eq!(spaced_sizes("4KiB: 50 %, 1MiB: 50 %"), "4 KiB: 50 %, 1 MiB: 50 %");
        assert_eq!(spaced_sizes("MiB"), "MiB");
        assert_eq!(spaced_sizes("512B, 4KiB"), "512 B, 4 KiB");
        assert_eq!(spaced_sizes("MiB, nvme0Beta"), "MiB, nvme0Beta");
    }

    #[test]
    fn only_units_after_numbers_get_nonbreaking_spaces() {
        let text = "5,630 MiB/s (98 %), 4 s each; 3 sets of 8 KiB/x in the s of 2 B。";
        let fixed = "5,630~MiB/s (98~%), 4~s each; 3 sets of 8 KiB/x in the s of 2~B。";
        assert_eq!(unbroken(text), fixed.replace('~', "\u{a0}"));
    }

    #[test]
    fn times_in_a_table_share_a_unit() {
        let unit = TimeUnit::suiting([78_123.0, 9_999_999.0]);
        assert_eq!((unit.write(78_123.0), unit.symbol()), ("78.1".into(), "µs"));
        let unit = TimeUnit::suiting([78_123.0, 10_000_000.0]);
        assert_eq!((unit.write(78_123.0), unit.symbol()), ("0.078".into(), "ms"));
        assert_eq!(unit.write(12_345_678.0), "12.3");
    }

    #[test]
    fn running_text_units_are_formatted() {
        assert_eq!(duration(1e8), "100 ms");
        assert_eq!(duration(3e9), "3 s");
        assert_eq!(duration(85_230.0), "85.2 µs");
        assert_eq!(binary_bytes(34_359_738_368.0), "32 GiB");
        assert_eq!(decimal_bytes(800e9), "800 GB");
        assert_eq!(percent(0.005), "0.50 %");
        assert_eq!(percent(-0.123), "12 %");
        assert_eq!(thousands(-0.2, 0), "0");
        assert_eq!(thousands(-1234.5, 1), "−1,234.5");
    }
}
