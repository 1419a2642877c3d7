//! Serde forms of units: the texts of the command line.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::limit::Limit;
use crate::required_percentile::RequiredPercentile;
use crate::units::{Bytes, Nanos};
use crate::until::{EarlyEnd, Tolerance};

/// Implements serde's traits for types by their `FromStr` and `Display`.
#[macro_export]
macro_rules! text_form {
    ($($type:ty),+) => {$(
        /// Parses a text with `FromStr`, so that TOML can hold `"8KiB"` and errors keep their
        /// position.
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                let text: String = serde::Deserialize::deserialize(input)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        /// Writes the text that `Deserialize` reads.
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
                output.collect_str(self)
            }
        }
    )+};
}

macro_rules! text {
    ($($unit:ty),+) => {$(
        text_form!($unit);

        impl JsonSchema for $unit {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                String::schema_name()
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                String::json_schema(generator)
            }
        }
    )+};
}

text!(Bytes, Nanos, Tolerance, EarlyEnd, RequiredPercentile, Limit);
