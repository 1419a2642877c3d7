//! Facts about the load when a target is opened.

use qdepth_workload::{Extent, Point};

use crate::ssd::Wear;

/// Facts about the load when a target is opened.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenMedia {
    /// Seed of the random service times (only `exponential` servers use it).
    pub seed: u64,
    /// Concurrent loads; their slots are numbered consecutively.
    pub loads: Vec<MediaLoad>,
    /// Wear of each drive; `None` for the expression's state, or steady.
    pub wear: Option<Vec<Wear>>,
}

/// One of the concurrent loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaLoad {
    /// Queue depth of each stream.
    pub queue_depth: u32,
    /// Number of streams (processes in the papers).
    pub streams: u32,
    /// Measurement area, all streams together.
    pub area: Extent,
    /// Each stream's part of the area is a multiple of this many bytes.
    pub alignment: u64,
}

impl From<&Point> for MediaLoad {
    fn from(point: &Point) -> Self {
        Self {
            queue_depth: point.queue_depth,
            streams: point.streams,
            area: point.area,
            alignment: point.alignment_bytes,
        }
    }
}

impl OpenMedia {
    /// Options for a single point.
    pub fn for_point(point: &Point) -> Self {
        Self::for_points(&[point])
    }

    /// Options for points that run at the same time.
    pub fn for_points(points: &[&Point]) -> Self {
        Self {
            seed: points.first().map_or(0, |point| point.seed),
            loads: points.iter().map(|point| MediaLoad::from(*point)).collect(),
            wear: None,
        }
    }
}

/// Bytes in the union of the areas.
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
