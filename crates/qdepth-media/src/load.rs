//! Facts about the load when a target is opened.

use qdepth_workload::{Extent, Point};

use crate::ssd::Wear;

/// Facts about the load when a target is opened.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenMedia {
    /// Seed of what is drawn inside (only `exponential` servers draw).
    pub seed: u64,
    /// The loads that run at the same time; their slots follow each other.
    pub loads: Vec<MediaLoad>,
    /// Wear of each drive; `None` for that of the expression, or steady.
    pub wear: Option<Vec<Wear>>,
}

/// Facts about a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaLoad {
    /// Requests in flight of each stream.
    pub outstanding: u32,
    /// Streams: the papers' processes.
    pub streams: u32,
    /// Part of the target under load, in bytes, all streams together.
    pub area: Extent,
    /// Parts of streams are whole multiples of this many bytes.
    pub alignment: u64,
}

impl From<&Point> for MediaLoad {
    fn from(point: &Point) -> Self {
        Self {
            outstanding: point.outstanding,
            streams: point.streams,
            area: point.area,
            alignment: point.alignment_bytes,
        }
    }
}

impl OpenMedia {
    /// Load of a point.
    pub fn for_point(point: &Point) -> Self {
        Self::for_points(&[point])
    }

    /// Load of points that run at the same time.
    pub fn for_points(points: &[&Point]) -> Self {
        Self {
            seed: points.first().map_or(0, |point| point.seed),
            loads: points.iter().map(|point| MediaLoad::from(*point)).collect(),
            wear: None,
        }
    }
}

/// Bytes under any of these loads.
pub(crate) fn loaded_bytes(loads: &[MediaLoad]) -> u64 {
    let mut areas: Vec<Extent> = loads.iter().map(|load| load.area).collect();
    areas.sort_by_key(|area| area.offset_bytes);
    let (mut bytes, mut counted_to) = (0, 0);
    for area in areas {
        let end = area.offset_bytes + area.length_bytes;
        bytes += end.saturating_sub(area.offset_bytes.max(counted_to));
        counted_to = counted_to.max(end);
    }
    bytes
}
