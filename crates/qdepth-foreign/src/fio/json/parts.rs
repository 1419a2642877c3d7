//! Helpers shared by parts of the document.

use qdepth_record::{DirectionRecord, PointRecord};
use serde::Serialize;
use serde::ser::SerializeMap;

/// Key-value pairs, serialised in their order.
pub(in crate::fio) struct Pairs<T>(pub(in crate::fio) Vec<(String, T)>);

impl<T: Serialize> Serialize for Pairs<T> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// Direction of the document.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Reads,
    Writes,
    Trims,
    Both,
    Syncs,
}

impl Side {
    pub(super) fn records(self, point: &PointRecord) -> Vec<&DirectionRecord> {
        match self {
            Self::Reads => vec![&point.reads],
            Self::Writes => vec![&point.writes],
            Self::Trims => vec![&point.trims],
            Self::Both => point.transfers().to_vec(),
            Self::Syncs => vec![&point.syncs],
        }
    }
}
