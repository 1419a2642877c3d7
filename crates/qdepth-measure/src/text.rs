//! Serde forms of units: the texts of the command line.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limit::Limit;
use crate::required_percentile::RequiredPercentile;
use crate::units::{Bytes, Nanos};
use crate::until::{EarlyEnd, Tolerance};

macro_rules! text {
    ($($unit:ty),+) => {$(
        /// Parses a text with `FromStr`, so that TOML can hold `"8KiB"` and errors keep their
        /// position.
        impl<'de> Deserialize<'de> for $unit {
            fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                String::deserialize(input)?.parse().map_err(serde::de::Error::custom)
            }
        }

        /// Writes the text that [`Deserialize`] reads.
        impl Serialize for $unit {
            fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
                output.collect_str(self)
            }
        }

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
