//! Certificates: results of the self-test of the load generator on a machine.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{DocumentSchema, pretty};
use crate::reason::ReasonEntry;

/// Name of the format, in `schema.name`.
const NAME: &str = "qdepth-certificate";
/// Version of the format; it follows the rule of a run's document.
const VERSION: u32 = 2;

/// Outcome of a self-test, the best first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ProofOutcome {
    /// It met its bar.
    Passed,
    /// It could not be tried here; `why` tells.
    NotTried,
    /// It missed its bar.
    Failed,
}

/// One proof.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProofRecord {
    /// Check: `clock`, `known-rates`, `known-medians`, `own-rate`, `fio`, `intervals`,
    /// `same-against-same`.
    pub code: String,
    /// Subject, for example the name of an engine; empty if there is none.
    pub subject: String,
    /// Outcome.
    pub outcome: ProofOutcome,
    /// Results by name, and the threshold under `bar`: shares from 0 to 1, rates in IOPS, times in
    /// seconds.
    pub values: BTreeMap<String, f64>,
    /// Why it was not tried; null where it was.
    #[schemars(with = "Option<ReasonEntry>")]
    pub why: Option<ReasonEntry>,
}

/// A certificate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CertificateRecord {
    /// Format of the document; its name is `qdepth-certificate`.
    pub schema: DocumentSchema,
    /// UUID version 7.
    pub id: String,
    /// Start, RFC 3339, UTC.
    pub at: String,
    /// Version of the program.
    pub version: String,
    /// Name of the machine; empty where it is not known.
    pub host: String,
    /// Release of its kernel; empty where it is not known.
    pub kernel: String,
    /// Model of its CPU; empty where it is not known.
    pub cpu: String,
    /// The worst that came of a proof.
    pub outcome: ProofOutcome,
    /// The proofs, in the order in which they are told.
    pub proofs: Vec<ProofRecord>,
}

impl CertificateRecord {
    /// Format that this version writes.
    pub fn form() -> DocumentSchema {
        DocumentSchema { name: NAME.to_owned(), version: VERSION }
    }

    /// Number of proofs with this outcome.
    pub fn count(&self, outcome: ProofOutcome) -> usize {
        self.proofs.iter().filter(|proof| proof.outcome == outcome).count()
    }
}

/// JSON document with a final newline.
pub fn export_certificate_json(certificate: &CertificateRecord) -> String {
    pretty(certificate)
}

/// The JSON Schema of [`export_certificate_json`]'s document.
pub fn certificate_json_schema() -> String {
    pretty(&schemars::schema_for!(CertificateRecord))
}
