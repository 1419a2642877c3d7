//! A point: its record, how it is stored, what its facts amount to, and how it is shown.

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
