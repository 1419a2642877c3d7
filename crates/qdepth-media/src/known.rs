//! Error model of a fitted device model, with the range of the measured loads. Part of its
//! description.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Factor by which a load may be outside the measured range without being an extrapolation.
const BEYOND: f64 = 1.01;

/// Error model of a fitted device model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorModel {
    /// Root mean square of ln(emulated ÷ measured) of the rates at held-out points.
    pub error: f64,
    /// Part of `error` that is due to uncertain parameters (`direction`).
    #[serde(default)]
    pub of_parameters: f64,
    /// Number of held-out points.
    #[serde(rename = "kept_back")]
    pub held_out: u32,
    /// Day-to-day variation of the drive's rates: standard deviation of their logarithm.
    pub day_to_day: f64,
    /// Smallest and largest measured request, bytes.
    pub request_bytes: [f64; 2],
    /// Fewest and most measured requests in flight.
    pub in_flight: [f64; 2],
    /// Largest measured area, bytes.
    pub area_bytes: f64,
    /// Smallest and largest measured share of reads.
    pub read_share: [f64; 2],
    /// Smallest and largest measured share of random accesses.
    pub random_share: [f64; 2],
    /// True if mixed loads of reads and writes were measured.
    #[serde(default = "yes")]
    pub mixes: bool,
    /// Uncertainty of the parameters: independent joint changes of their logarithms by one standard
    /// deviation each.
    #[serde(default)]
    pub direction: Vec<BTreeMap<String, f64>>,
}

/// Default of `mixes` in older files.
const fn yes() -> bool {
    true
}

/// Property of a load that was not measured: a code and, for a range, the requested value and the
/// measured limits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum Unmeasured {
    /// Writes.
    Writes,
    /// Reads.
    Reads,
    /// Random accesses.
    RandomAccess,
    /// Sequential accesses.
    SequentialAccess,
    /// Reads and writes at the same time.
    Mixture,
    /// Requests of this size, bytes.
    RequestBytes(RangeExceeded),
    /// This number of requests in flight on each drive.
    InFlight(RangeExceeded),
    /// An area of this size, bytes.
    AreaBytes(RangeExceeded),
    /// Drives of several models at the same time.
    SeveralMedia,
    /// Requests that arrive on a schedule (open loop).
    Schedule,
}

/// Requested value, and the measured range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RangeExceeded {
    /// Requested value.
    pub asked: f64,
    /// Smallest measured value.
    pub low: f64,
    /// Largest measured value.
    pub high: f64,
}

impl fmt::Display for Unmeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut range = |what: &str, RangeExceeded { asked, low, high }: &RangeExceeded| {
            write!(f, "{what} {asked:.0}, measured {low:.0} to {high:.0}")
        };
        match self {
            Self::RequestBytes(beyond) => range("block size, bytes", beyond),
            Self::InFlight(beyond) => range("in flight on each drive", beyond),
            Self::AreaBytes(beyond) => range("area, bytes", beyond),
            Self::Writes => f.write_str("no write was measured"),
            Self::Reads => f.write_str("no read was measured"),
            Self::RandomAccess => f.write_str("no random access was measured"),
            Self::SequentialAccess => f.write_str("no sequential access was measured"),
            Self::Mixture => f.write_str("reads and writes were measured only separately"),
            Self::SeveralMedia => f.write_str("several device models at the same time"),
            Self::Schedule => f.write_str("I/Os that follow a schedule"),
        }
    }
}

/// Characteristics of a load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadCharacteristics {
    /// Largest request, bytes.
    pub(crate) request_bytes: f64,
    /// Requests in flight, for each drive.
    pub(crate) in_flight: f64,
    /// Area of each drive under load, bytes.
    pub(crate) area_bytes: f64,
    pub(crate) read_share: f64,
    pub(crate) random_share: f64,
}

impl ErrorModel {
    /// Checks that all numbers are finite and in range.
    ///
    /// # Errors
    /// Problem, if any.
    pub(crate) fn check(&self) -> Result<(), String> {
        let ranges = [self.request_bytes, self.in_flight, self.read_share, self.random_share];
        let numbers = [self.error, self.of_parameters, self.day_to_day, self.area_bytes];
        let all = numbers.iter().chain(ranges.iter().flatten());
        if all.clone().chain(self.steps()).any(|number| !number.is_finite()) {
            return Err("`fit` contains a value that is not a number".to_owned());
        }
        if all.into_iter().any(|number| *number < 0.0) || ranges.iter().any(|[a, b]| a > b) {
            return Err("`fit` contains an invalid range, or an error below 0".to_owned());
        }
        if self.held_out == 0 || self.error > 10.0 || self.day_to_day > 10.0 {
            return Err("`fit.error` must be below 10, and needs held-out points".to_owned());
        }
        if self.direction.len() > 64 || self.steps().any(|step| step.abs() > 10.0) {
            return Err("`fit.direction`: at most 64, each number between -10 and 10".to_owned());
        }
        Ok(())
    }

    fn steps(&self) -> impl Iterator<Item = &f64> {
        self.direction.iter().flat_map(BTreeMap::values)
    }

    /// Properties of a load outside the measured range: those for which the model has no basis, and
    /// those that it extrapolates, which no measurement supports.
    pub(crate) fn outside(&self, load: &LoadCharacteristics) -> [Vec<Unmeasured>; 2] {
        let lacks = [
            (load.read_share < 1.0 && self.read_share[0] >= 1.0, Unmeasured::Writes),
            (load.read_share > 0.0 && self.read_share[1] <= 0.0, Unmeasured::Reads),
            (load.random_share > 0.0 && self.random_share[1] <= 0.0, Unmeasured::RandomAccess),
            (load.random_share < 1.0 && self.random_share[0] >= 1.0, Unmeasured::SequentialAccess),
        ];
        let lacks = lacks.into_iter().filter(|(lacks, _)| *lacks);
        let not_known: Vec<Unmeasured> = lacks.map(|(_, what)| what).collect();
        let mut extrapolated = Vec::new();
        // Loads of one direction do not show if a limit applies per direction or to both together,
        // which is a factor of two.
        let mixed = load.read_share > 0.0 && load.read_share < 1.0;
        if mixed && !self.mixes && not_known.is_empty() {
            extrapolated.push(Unmeasured::Mixture);
        }
        let mut beyond =
            |what: fn(RangeExceeded) -> Unmeasured, asked: f64, [low, high]: [f64; 2]| {
                if asked > high * BEYOND || asked < low / BEYOND {
                    extrapolated.push(what(RangeExceeded { asked, low, high }));
                }
            };
        beyond(Unmeasured::RequestBytes, load.request_bytes, self.request_bytes);
        beyond(Unmeasured::InFlight, load.in_flight, self.in_flight);
        beyond(Unmeasured::AreaBytes, load.area_bytes, [0.0, self.area_bytes]);
        [not_known, extrapolated]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> ErrorModel {
        ErrorModel {
            error: 0.03,
            of_parameters: 0.0,
            held_out: 9,
            request_bytes: [4096.0, 65536.0],
            in_flight: [1.0, 256.0],
            area_bytes: 1e9,
            read_share: [1.0, 1.0],
            random_share: [0.0, 1.0],
            mixes: true,
            ..ErrorModel::default()
        }
    }

    const LOAD: LoadCharacteristics = LoadCharacteristics {
        request_bytes: 8192.0,
        in_flight: 8.0,
        area_bytes: 1e9,
        read_share: 1.0,
        random_share: 1.0,
    };

    #[test]
    fn load_is_measured_extrapolated_or_unknown() {
        assert_eq!(known().outside(&LOAD), [[], []]);
        let large = LoadCharacteristics { request_bytes: 1e6, ..LOAD };
        let [_, extrapolated] = known().outside(&large);
        assert_eq!(extrapolated.len(), 1);
        assert_eq!(
            extrapolated[0].to_string(),
            "block size, bytes 1000000, measured 4096 to 65536"
        );
        let writes = LoadCharacteristics { read_share: 0.5, ..LOAD };
        assert_eq!(known().outside(&writes), [vec![Unmeasured::Writes], vec![]]);
        let wide = LoadCharacteristics { area_bytes: 1e12, in_flight: 512.0, ..LOAD };
        assert_eq!(known().outside(&wide)[1].len(), 2);
    }

    #[test]
    fn unmeasured_mixture_is_an_extrapolation() {
        let both = ErrorModel { read_share: [0.0, 1.0], ..known() };
        let mixture = LoadCharacteristics { read_share: 0.67, ..LOAD };
        assert_eq!(both.outside(&mixture), [[], []]);
        let apart = ErrorModel { mixes: false, ..both };
        assert_eq!(apart.outside(&mixture), [vec![], vec![Unmeasured::Mixture]]);
        assert_eq!(apart.outside(&LOAD), [[], []]);
    }

    #[test]
    fn invalid_error_model_is_refused() {
        assert!(known().check().is_ok());
        assert!(ErrorModel { held_out: 0, ..known() }.check().is_err());
        assert!(ErrorModel { error: f64::NAN, ..known() }.check().is_err());
        assert!(ErrorModel { in_flight: [9.0, 1.0], ..known() }.check().is_err());
        let far = BTreeMap::from([("dies".to_owned(), 1e9)]);
        assert!(ErrorModel { direction: vec![far], ..known() }.check().is_err());
    }
}
