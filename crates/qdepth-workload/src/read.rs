//! Reads plans and profiles from TOML. The parser of a plan is long and generic: here it is
//! compiled once, and not in every crate that reads a plan.

use std::str::FromStr;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::profile::{PlanFile, Profile};
use crate::toml_error::TomlError;

/// Leads to all fields of plans and profiles.
const FIELDS: &str = "`qdepth schema plan` lists all fields";

impl FromStr for PlanFile {
    type Err = TomlError;

    /// # Errors
    /// If the text is not a plan, with the line.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        read(text)
    }
}

impl FromStr for Profile {
    type Err = TomlError;

    /// # Errors
    /// If the text is not a profile, with the line.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        read(text)
    }
}

/// The profiles of a file that holds nothing else, each a `[[profile]]`.
///
/// # Errors
/// If the text is something else, with the line.
pub fn profiles(text: &str) -> Result<Vec<Profile>, TomlError> {
    #[derive(Deserialize)]
    struct Profiles {
        profile: Vec<Profile>,
    }
    read(text).map(|Profiles { profile }| profile)
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, TomlError> {
    toml::from_str(text).map_err(|error| TomlError::new(text, &error, FIELDS))
}
