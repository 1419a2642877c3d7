//! Ranges and parts of an area that requests access.

use serde::{Deserialize, Serialize};

/// A range of bytes of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// First byte.
    pub offset_bytes: u64,
    /// Length.
    pub length_bytes: u64,
}

/// Division of a point's area between its streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Parts of the target itself, one after the other.
    #[default]
    Area,
    /// A file for each stream, recreated by each point that writes.
    FilePerStream,
    /// Parts of one file, one after the other, recreated by each point that writes.
    SharedFile,
    /// A new directory; each request operates on one of its entries.
    Entries,
    /// A directory for all points, with a part of the entries for each stream.
    SharedEntries,
    /// A directory for each stream, for all points.
    EntriesPerStream,
}

impl Layout {
    /// True if points create files.
    pub fn makes_files(self) -> bool {
        self != Self::Area
    }

    /// True if requests operate on entries of a directory.
    pub fn is_of_entries(self) -> bool {
        matches!(self, Self::Entries | Self::SharedEntries | Self::EntriesPerStream)
    }

    /// True if each stream has its own file or directory.
    pub fn is_per_stream(self) -> bool {
        matches!(self, Self::FilePerStream | Self::EntriesPerStream)
    }
}

/// Zones of an area that are used, and the distance between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strides {
    /// Bytes of a zone.
    pub zone_bytes: u64,
    /// Bytes from the end of one zone to the start of the next.
    pub skip_bytes: u64,
    /// Bytes from the start of a zone to its end, within which requests are random; `skip_bytes`
    /// then counts from there. `None` if the zones are accessed sequentially.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_bytes: Option<u64>,
}

impl Strides {
    /// Bytes of the zones in an area of `area_bytes`.
    pub fn used(&self, area_bytes: u64) -> u64 {
        if self.range_bytes.is_some() {
            return area_bytes;
        }
        let step = self.zone_bytes.saturating_add(self.skip_bytes).max(1);
        area_bytes / step * self.zone_bytes + (area_bytes % step).min(self.zone_bytes)
    }
}

/// Separate sizes of the writes of a mix. In the list of the point's sizes, they follow the sizes
/// of reads, each with its share of all requests. Sequential reads follow reads, and sequential
/// writes follow writes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnWrites {
    /// Index of the first size of writes in the point's list; its length if they have those of
    /// reads.
    pub first_size: u32,
    /// Writes begin at whole multiples of this many bytes.
    pub alignment_bytes: u64,
    /// Share of random writes, 0..=1; `None` for the share of the reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_share: Option<f64>,
}
