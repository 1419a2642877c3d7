//! Reads plans and profiles from TOML. The parser of a plan is long and generic: here it is
//! compiled once, and not in every crate that reads a plan.

use std::str::FromStr;

use serde::Deserialize;

use crate::profile::{PlanFile, Profile};

impl FromStr for PlanFile {
    type Err = toml::de::Error;

    /// # Errors
    /// If the text is not a plan, with the line.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        toml::from_str(text)
    }
}

impl FromStr for Profile {
    type Err = toml::de::Error;

    /// # Errors
    /// If the text is not a profile, with the line.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        toml::from_str(text)
    }
}

/// The profiles of a file that holds nothing else, each a `[[profile]]`.
///
/// # Errors
/// If the text is something else, with the line.
pub fn profiles(text: &str) -> Result<Vec<Profile>, toml::de::Error> {
    #[derive(Deserialize)]
    struct Profiles {
        profile: Vec<Profile>,
    }
    toml::from_str(text).map(|Profiles { profile }| profile)
}
