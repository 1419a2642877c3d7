//! Device numbers of the kernel.

use std::fmt;
use std::str::FromStr;

/// Major and minor number, which identify a device whatever its name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeviceNumber {
    /// Driver number.
    pub major: u32,
    /// Device number of the driver.
    pub minor: u32,
}

impl DeviceNumber {
    /// Unpacks the form in `st_rdev` and `st_dev`.
    pub fn from_raw(raw: u64) -> Self {
        Self { major: rustix::fs::major(raw), minor: rustix::fs::minor(raw) }
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// Error for a text that is not `MAJOR:MINOR`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a device number: use MAJOR:MINOR, for example 8:0")]
pub struct ParseDeviceNumberError(String);

impl FromStr for DeviceNumber {
    type Err = ParseDeviceNumberError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseDeviceNumberError(text.to_owned());
        let (major, minor) = text.trim().split_once(':').ok_or_else(error)?;
        Ok(Self {
            major: major.parse().map_err(|_| error())?,
            minor: minor.parse().map_err(|_| error())?,
        })
    }
}

qdepth_measure::text_form!(DeviceNumber);
