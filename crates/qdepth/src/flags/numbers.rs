//! Lists of numbers as people type them: `1,8,64`, and ranges `1-8` or `1..8`.

use std::str::FromStr;

/// Longest range that is measured number by number.
const RANGE_MAX: u32 = 64;

/// A number, or the numbers of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Numbers(Vec<u32>);

impl Numbers {
    /// All numbers of a list.
    pub(crate) fn all(list: &[Self]) -> Vec<u32> {
        list.iter().flat_map(|numbers| numbers.0.clone()).collect()
    }
}

impl From<u32> for Numbers {
    fn from(number: u32) -> Self {
        Self(vec![number])
    }
}

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("`{text}` is not a number: use whole numbers from 1, for example 1,8,64 or 1-8")
        };
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
        let ends = text.split_once("..").map(|(low, high)| (low, high.trim_start_matches('=')));
        let Some((low, high)) = ends.or_else(|| text.split_once('-')) else {
            return Ok(Self(vec![number(text)?]));
        };
        let (low, high) = (number(low)?, number(high)?);
        if low > high {
            return Err(format!("`{text}`: a range must go up. Try {high}-{low}"));
        }
        if high - low >= RANGE_MAX {
            let doubled = std::iter::successors(Some(low.max(1)), |n| n.checked_mul(2));
            let few: Vec<String> =
                doubled.take_while(|n| *n < high).chain([high]).map(|n| n.to_string()).collect();
            return Err(format!(
                "`{text}` would be {} points of each profile. Name the ones that you need, for \
                 example {}",
                u64::from(high - low) + 1,
                few.join(",")
            ));
        }
        Ok(Self((low..=high).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ranges_are_parsed() {
        for (text, numbers) in [
            ("7", vec![7]),
            ("1-4", vec![1, 2, 3, 4]),
            ("1..4", vec![1, 2, 3, 4]),
            ("3..=3", vec![3]),
        ] {
            assert_eq!(text.parse(), Ok(Numbers(numbers)), "{text}");
        }
        for (text, says) in [
            ("-1", "whole numbers from 1"),
            ("x", "not a number"),
            ("1.5", "not a number"),
            ("8-1", "1-8"),
            ("1-512", "1,2,4,8,16,32,64,128,256,512"),
            ("", "not a number"),
            ("1-", "not a number"),
            ("99999999999", "not a number"),
        ] {
            let why = text.parse::<Numbers>().unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
    }
}
