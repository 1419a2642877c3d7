//! Highest acceptable latency, for example `p99.9=2ms`.

use std::fmt;
use std::str::FromStr;

use crate::units::Nanos;

/// Statistic of a latency distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// The mean.
    Mean,
    /// A percentile, as a quantile between 0 and 1.
    Quantile(f64),
}

/// Highest acceptable latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Statistic that the limit applies to.
    pub statistic: Statistic,
    /// Upper limit.
    pub at_most: Nanos,
}

/// Error for a text that is not a limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a limit: use a statistic and a time, for example p99.9=2ms or mean=500us \
     (percentiles from p50 to p99.9999999, and a time above 0)"
)]
pub struct UnknownLimit(String);

impl FromStr for Limit {
    type Err = UnknownLimit;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = || {
            let (name, time) = text.split_once('=')?;
            let at_most = time.trim().parse::<Nanos>().ok().filter(|time| time.0 > 0)?;
            Some(Self { statistic: statistic(name.trim())?, at_most })
        };
        read().ok_or_else(|| UnknownLimit(text.to_owned()))
    }
}

fn statistic(name: &str) -> Option<Statistic> {
    if name == "mean" {
        return Some(Statistic::Mean);
    }
    let percent = name.strip_prefix('p')?;
    let plain = percent.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let percent = percent.parse::<f64>().ok().filter(|_| plain)?;
    (50.0..=99.999_999_9).contains(&percent).then_some(Statistic::Quantile(percent / 100.0))
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean => f.write_str("mean"),
            Self::Quantile(quantile) => write!(f, "p{}", percentile_name(*quantile)),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.statistic, self.at_most)
    }
}

/// The key of a percentile in machine output: `50`, `99`, `99.9`, `99.9999`.
pub fn percentile_name(quantile: f64) -> String {
    let text = format!("{:.7}", quantile * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn limit_has_a_statistic_and_a_time() {
        let limit: Limit = "p99.9=2ms".parse().expect("a limit");
        assert_eq!(limit.at_most, Nanos(2_000_000));
        assert_eq!(limit.statistic.to_string(), "p99.9");
        assert_eq!("mean=500us".parse::<Limit>().expect("a limit").statistic, Statistic::Mean);
        for wrong in ["", "p99.9", "p99.9=", "p101=1ms", "p=1ms", "p99=0ms", "99=1ms", "p-1=1ms"] {
            let error = wrong.parse::<Limit>().expect_err(wrong).to_string();
            assert!(
                error.contains(&format!("`{wrong}`")) && error.contains("p99.9=2ms"),
                "{error}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_limit_text_parses_without_panic(text in ".{0,30}") {
            let _ = text.parse::<Limit>();
        }
    }
}
