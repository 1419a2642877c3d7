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
    /// It passed: the result is within the threshold.
    Passed,
    /// It could not run here; `why` gives the reason.
    NotTried,
    /// It failed: the result is not within the threshold.
    Failed,
}

/// One self-test.
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
    /// Reason why the test did not run; null if it ran.
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
    /// Name of the machine; empty if unknown.
    pub host: String,
    /// Kernel release; empty if unknown.
    pub kernel: String,
    /// CPU model; empty if unknown.
    pub cpu: String,
    /// Worst outcome of the self-tests.
    pub outcome: ProofOutcome,
    /// Self-tests, in the order of the report.
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
