//! The logbook: every run that was measured, in one SQLite file, and what is read out of it.
//!
//! This is the only crate whose types are written to disk ([`record`]) and the only one that
//! speaks SQL ([`Logbook`]). Stored are facts as seen; statistics are derived on reading
//! ([`PointSummary`]). Machine output is made in [`export_json`] and [`export_csv`].
//!
//! It reads no clock: times come in as RFC 3339 texts.

mod alive;
mod certificate;
mod check;
mod compared;
mod digest;
mod document;
mod error;
mod event;
mod filter;
mod headline;
mod host_document;
mod keeping;
mod logbook;
mod open;
mod read;
pub mod record;
mod reserve;
mod summary;
mod table;
mod together;
mod write;

pub use certificate::{
    CertificateRecord, ProofOutcome, ProofRecord, certificate_json_schema, export_certificate_json,
};
pub use check::{Checked, Damage};
pub use compared::ComparedEntry;
pub use document::{
    CpuPerIo, Document, DocumentSchema, ErrorEntry, FindingEntry, Latency, LatencyByDirection,
    ObservationEntry, PointEntry, RunEntry, TargetEntry, WitnessEntry, document, export_json,
    json_schema,
};
pub use error::LogbookError;
pub use event::{EVENTS_VERSION, LiveEvents, RunEvent, events_json_schema};
pub use filter::RunFilter;
pub use headline::{
    RunHeadline, RunsDocument, RunsEntry, STATES, export_runs_json, runs_json_schema,
};
pub use host_document::{HostDocument, export_host_json, host_json_schema};
pub use keeping::Merged;
pub use logbook::Logbook;
pub use open::{SCHEMA_VERSION, sqlite_version};
pub use reserve::RESERVE_BYTES;
pub use summary::{ByDirection, LatencySummary, PointSummary, follows, percentile_name};
pub use table::export_csv;
pub use together::{Cell, cells};
