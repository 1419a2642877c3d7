//! Records of a run ([`RunRecord`], [`PointRecord`]), statistics derived from them
//! ([`PointSummary`]), machine output ([`export_json`], [`export_csv`]) and events of a running
//! measurement ([`RunEvent`]).
//!
//! This crate does no I/O and reads no clock: times are RFC 3339 texts.

mod answer;
mod certificate;
mod compared;
mod csv_table;
mod document;
pub mod event;
mod field;
mod fields;
pub mod figures;
mod filter;
mod headline;
mod host_document;
mod merged;
pub mod phase_step;
mod point;
mod reason;
mod record;
mod required;
pub mod source;
mod step;
mod together;

pub use answer::{AnswerEntry, answers, searched};
pub use certificate::{CertificateRecord, ProofOutcome, ProofRecord, export_certificate_json};
pub use compared::ComparedEntry;
pub use csv_table::{csv_columns, csv_header, csv_rows, export_csv};
pub use document::{Document, DocumentSchema, document, export_json};
pub use event::RunEvent;
pub use field::{Field, Value};
pub use fields::{Column, Record, Stored, Stores};
pub use filter::RunFilter;
pub use headline::{Best, RunHeadline, RunsDocument, STATES, export_runs_json};
pub use host_document::{HostDocument, export_host_json};
pub use phase_step::PhaseStep;
pub use point::{
    ByDirection, CpuPerIo, ErrorEntry, FindingEntry, Latency, LatencyByDirection, LatencySummary,
    PointEntry, PointRecord, PointSummary, finding_entry, follows,
};
pub use reason::{Reason, ReasonEntry};
pub use record::{
    ComparisonRecord, DirectionRecord, EndedBy, ErrorCount, ExpectedEntry, ExpectedRecord,
    IntervalRecord, KernelCounts, MEASUREMENT_VERSION, MonitorEntry, MonitorRecord, Observation,
    ObservationEntry, RunEntry, RunRecord, RunState, StatedLatency, TargetEntry, TargetKind,
    TargetRecord, VariantRecord,
};
pub use required::{RequiredEntry, all_met, required};
pub use step::shown_step;
pub use together::{Cell, cells};
