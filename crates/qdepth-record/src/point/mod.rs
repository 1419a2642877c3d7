//! A point: its record, its storage, its statistics, and its output.

mod cells;
mod entries;
mod entry;
mod fields;
mod merged;
mod record;
mod stored;
mod summary;

pub(crate) use cells::point_fields;
pub use entries::{CpuPerIo, ErrorEntry, FindingEntry, Latency, LatencyByDirection, finding_entry};
pub use entry::PointEntry;
pub(crate) use entry::{Shown, entry};
pub use record::PointRecord;
pub use summary::{ByDirection, LatencySummary, PointSummary, follows};
