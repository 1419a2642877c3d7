//! Machine output of `qdepth host --json`: one document, with a version independent of a run's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{DocumentSchema, pretty};
use crate::record::{Observation, ObservationEntry, observation};

/// Name of the format, in `schema.name`.
const NAME: &str = "qdepth-host";
/// Version of the format; it follows the rule of a run's document.
const VERSION: u32 = 1;

/// A machine and its storage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostDocument {
    /// Format of the document; its name is `qdepth-host`.
    pub schema: DocumentSchema,
    /// Version of the program.
    pub version: String,
    /// Time of the inspection, RFC 3339, UTC.
    pub observed_at: String,
    /// True if the names of the machine and of its devices were replaced with pseudonyms.
    pub redacted: bool,
    /// Facts, and those that could not be read.
    pub observations: Vec<ObservationEntry>,
}

/// A machine as one JSON document with a final line feed.
pub fn export_host_json(
    facts: &[Observation],
    version: &str,
    observed_at: &str,
    redacted: bool,
) -> String {
    pretty(&HostDocument {
        schema: DocumentSchema { name: NAME.to_owned(), version: VERSION },
        version: version.to_owned(),
        observed_at: observed_at.to_owned(),
        redacted,
        observations: facts.iter().map(observation).collect(),
    })
}
