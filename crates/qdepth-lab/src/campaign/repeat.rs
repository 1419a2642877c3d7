//! Repetition of a plan.

use std::str::FromStr;

use qdepth_measure::Tolerance;

/// Largest number of repetitions: more are a typing error.
const TIMES_MAX: u32 = 1000;

/// Number of repetitions of a plan, as in `--repeat`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Repeat {
    /// This number of times.
    Times(u32),
    /// Until every result is known within this tolerance.
    Until(Tolerance),
    /// Repeats rounds until the rates of the last five are steady by SNIA's rule; at most 25.
    UntilSteady,
}

impl FromStr for Repeat {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(tolerance) = text.strip_prefix("until=") {
            return tolerance.parse().map(Self::Until).map_err(|why| format!("{why}"));
        }
        if text == "until-steady" {
            return Ok(Self::UntilSteady);
        }
        match text.parse() {
            Ok(times @ 1..=TIMES_MAX) => Ok(Self::Times(times)),
            _ => Err(format!(
                "must be 1 to {TIMES_MAX}, for example 10; or until=2% (repeat until differences \
                 are resolved to 2 %); or until-steady"
            )),
        }
    }
}

qdepth_measure::text_form!(Repeat);

impl std::fmt::Display for Repeat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Times(times) => write!(f, "{times}"),
            Self::Until(tolerance) => write!(f, "until={tolerance}"),
            Self::UntilSteady => write!(f, "until-steady"),
        }
    }
}
