//! Parts of an area that requests access.

use serde::{Deserialize, Serialize};

/// Division of a point's area between its streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// One after the other in what the target is.
    #[default]
    Area,
    /// Each is a file, which the point that writes makes anew.
    FilePerStream,
    /// One after the other in a file, which the point that writes makes anew.
    SharedFile,
    /// In a directory of its own, which is made anew: each request is of one of its entries.
    Entries,
}

impl Layout {
    /// True if files are made for the point that writes.
    pub fn makes_files(self) -> bool {
        self != Self::Area
    }
}

/// Zones of an area that are used, and what lies between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strides {
    /// Bytes of a zone.
    pub zone_bytes: u64,
    /// Bytes from the end of one to the next.
    pub skip_bytes: u64,
}

impl Strides {
    /// Bytes of the zones in an area of so many bytes.
    pub fn used(&self, area_bytes: u64) -> u64 {
        let step = self.zone_bytes.saturating_add(self.skip_bytes).max(1);
        area_bytes / step * self.zone_bytes + (area_bytes % step).min(self.zone_bytes)
    }
}

/// Writes of a mix that have sizes of their own: these follow those of reads among the point's,
/// each with its share of all requests. In either way requests follow those of the same way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnWrites {
    /// Place of their first size among the point's.
    pub first_size: u32,
    /// They begin at whole multiples of this many bytes.
    pub alignment_bytes: u64,
    /// Share of them that is random, 0..=1; none = as of reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_share: Option<f64>,
}
