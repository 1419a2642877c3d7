//! Units as types, so that the meaning of a number never depends on a comment alone.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

use crate::split_mix::SplitMix;

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// Longer than any measurement: 584 years.
    pub const MAX: Self = Self(u64::MAX);

    /// `n` microseconds.
    pub const fn from_micros(n: u64) -> Self {
        Self(n * 1_000)
    }
    /// `n` milliseconds.
    pub const fn from_millis(n: u64) -> Self {
        Self(n * 1_000_000)
    }
    /// `n` seconds.
    pub const fn from_secs(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }
    /// The length in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// The length in microseconds.
    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }
    /// The difference; zero if `other` is longer.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// A time stamp of a target's clock: nanoseconds since that target's epoch.
///
/// Stamps of two targets must not be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub u64);

impl Instant {
    /// Later than the end of any measurement.
    pub const NEVER: Self = Self(u64::MAX);

    /// Time since `earlier`; zero if `earlier` is actually later.
    pub const fn since(self, earlier: Self) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Nanos> for Instant {
    type Output = Self;
    fn add(self, length: Nanos) -> Self {
        Self(self.0.saturating_add(length.0))
    }
}
impl Sub<Nanos> for Instant {
    type Output = Self;
    fn sub(self, length: Nanos) -> Self {
        Self(self.0.saturating_sub(length.0))
    }
}

/// Error for a text that is not a length of time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a duration: use a number and a unit, for example 500ms, 3s, 2min or 1h")]
pub struct ParseNanosError(String);

impl FromStr for Nanos {
    type Err = ParseNanosError;

    /// Parses `500ms`, `1.5s`, `2min`, `1h`, `30us`, `0`. A bare number other than 0 has no unit
    /// and is an error.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseNanosError(text.to_owned());
        let (number, unit) = split_unit(text).ok_or_else(error)?;
        let scale: u64 = match unit {
            "ns" => 1,
            "us" | "µs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "min" | "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            "" if number == 0.0 => 1,
            _ => return Err(error()),
        };
        // A whole number is exact even beyond 104 days, where a fraction no longer is.
        let digits = text.trim().trim_end_matches(unit).trim_end();
        let whole = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(scale));
        whole.or_else(|| to_whole(number * scale as f64)).map(Self).ok_or_else(error)
    }
}

impl fmt::Display for Nanos {
    /// The shortest exact text that [`FromStr`] reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (scale, unit) in [
            (3_600_000_000_000, "h"),
            (60_000_000_000, "min"),
            (1_000_000_000, "s"),
            (1_000_000, "ms"),
            (1_000, "us"),
        ] {
            if self.0 != 0 && self.0.is_multiple_of(scale) {
                return write!(f, "{}{unit}", self.0 / scale);
            }
        }
        write!(f, "{}ns", self.0)
    }
}

/// A number of bytes. Block sizes, areas and throughputs are in powers of two (1 MiB = 2^20 B);
/// capacities of drives are printed in powers of ten (docs/method/checklist.md, item 8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Zero.
    pub const ZERO: Self = Self(0);

    /// `n` KiB (2^10 bytes each).
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }
    /// `n` MiB (2^20 bytes each).
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }
    /// `n` GiB (2^30 bytes each).
    pub const fn gib(n: u64) -> Self {
        Self(n << 30)
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// Error for a text that is not a size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a size: use a whole number of bytes, or a number and a unit, for example 8KiB, \
     1GiB (powers of 2) or 800GB (powers of 10)"
)]
pub struct ParseBytesError(String);

impl FromStr for Bytes {
    type Err = ParseBytesError;

    /// Parses `4096`, `8KiB`, `1.5GiB` (powers of two), `800GB` (powers of ten), and the bare
    /// letters `8k`, `1M`, `1G`, `1T` as powers of two, like fio and IOR.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseBytesError(text.to_owned());
        let (number, unit) = split_unit(text).ok_or_else(error)?;
        let scale: u64 = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            "k" | "kib" => 1 << 10,
            "m" | "mib" => 1 << 20,
            "g" | "gib" => 1 << 30,
            "t" | "tib" => 1 << 40,
            "kb" => 1_000,
            "mb" => 1_000_000,
            "gb" => 1_000_000_000,
            "tb" => 1_000_000_000_000,
            _ => return Err(error()),
        };
        let digits = text.trim().strip_suffix(unit).map(str::trim_end);
        if let Some(Ok(whole)) = digits.map(str::parse::<u64>) {
            return whole.checked_mul(scale).map(Self).ok_or_else(error);
        }
        to_whole(number * scale as f64).map(Self).ok_or_else(error)
    }
}

impl fmt::Display for Bytes {
    /// The shortest exact text that [`FromStr`] reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (shift, unit) in [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")] {
            if self.0 != 0 && self.0.is_multiple_of(1 << shift) {
                return write!(f, "{}{unit}", self.0 >> shift);
            }
        }
        write!(f, "{}B", self.0)
    }
}

impl Bytes {
    /// Text for people: three digits in powers of ten, as drives are sold, for example `1 TB`,
    /// `67.1 MB`.
    pub fn for_people(self) -> String {
        let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
        let bytes = self.0 as f64;
        let Some((scale, unit)) = units.into_iter().find(|(scale, _)| bytes >= *scale) else {
            return format!("{} B", self.0);
        };
        let value = bytes / scale;
        let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
        let text = format!("{value:.decimals$}");
        let text =
            if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        format!("{text} {unit}")
    }
}

/// Seed of all random numbers of a run. The same seed gives the same addresses, directions and
/// payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seed(pub u64);

impl Seed {
    /// Derived seed for a part, so that adding a part does not change the draws of the others.
    /// FNV-1a over the name, then the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
    pub fn derive(self, part: &str) -> Self {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ self.0;
        for byte in part.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Self(SplitMix::mixed(hash))
    }
}

fn split_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    Some((number, text[end..].trim_start()))
}

/// The value as an integer, if it is whole and within the range in which an f64 is exact (2^53).
fn to_whole(value: f64) -> Option<u64> {
    let whole = value.round();
    let exact = (value - whole).abs() <= 1e-6 * value.abs().max(1.0);
    (exact && (0.0..=9_007_199_254_740_992.0).contains(&whole)).then_some(whole as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_duration_round_trips(ns in any::<u64>(), scale in 0u32..6) {
            let scale = [1, 1_000, 1_000_000, 1_000_000_000, 60_000_000_000, 3_600_000_000_000]
                [scale as usize];
            let time = Nanos(ns / scale * scale);
            prop_assert_eq!(time.to_string().parse(), Ok(time));
        }
    }

    proptest! {
        #[test]
        fn every_size_round_trips(bytes in any::<u64>(), shift in 0u32..60) {
            for bytes in [Bytes(bytes), Bytes((bytes >> shift) << (shift / 2))] {
                prop_assert_eq!(bytes.to_string().parse::<Bytes>().ok(), Some(bytes));
            }
        }
    }

    #[test]
    fn sizes_are_parsed_with_their_units() {
        for (text, bytes) in [
            ("4096", 4096),
            ("8KiB", 8192),
            ("8k", 8192),
            ("1.5GiB", 3 << 29),
            ("800GB", 800_000_000_000),
            ("0", 0),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
        for text in ["", "KiB", "-1", "1e3", "8 parsecs", "0.3B", "99999999999999999999"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }

    #[test]
    fn durations_need_a_unit() {
        assert_eq!("1.5s".parse(), Ok(Nanos::from_millis(1500)));
        assert_eq!("2min".parse(), Ok(Nanos::from_secs(120)));
        assert!("3".parse::<Nanos>().is_err());
    }

    proptest! {
        #[test]
        fn sizes_and_durations_round_trip(n in 0u64..=9_007_199_254_740_992) {
            prop_assert_eq!(Bytes(n).to_string().parse(), Ok(Bytes(n)));
            prop_assert_eq!(Nanos(n).to_string().parse(), Ok(Nanos(n)));
        }

        #[test]
        fn any_size_text_parses_without_panic(text in ".*") {
            let _ = text.parse::<Bytes>();
            let _ = text.parse::<Nanos>();
        }
    }
}
