//! Fields of a target of a run, one row each.

use super::{Observation, ObservationEntry, TargetKind, observation};
use crate::fields::fields;

type Shown<'a> = &'a TargetRecord;

fields! {
    /// One target of a run.
    record TargetRecord in "target" and &[];
    /// A target.
    entry TargetEntry;
    index "Index in the run, from 0."
        kept u32 = "place",
        shown u32 = |target| target.index,;
    name "Name, unique within the run: `target` of the points."
        kept String = "name",
        shown String = |target| target.name.clone(),;
    expression "Target as given by the user."
        kept String = "expression",
        shown String = |target| target.expression.clone(),;
    kind "`directory`, `file`, `block-device` or `emulated`."
        kept TargetKind = "kind",
        shown String = |target| target.kind.as_str().to_owned(),;
    area_bytes "Measurement area, bytes."
        kept u64 = "area_bytes",
        shown u64 = |target| target.area_bytes,;
    engine "Engine."
        kept String = "engine",
        shown String = |target| target.engine.clone(),;
    ceiling "Calibrated ceiling of the load generator and engine without storage, by queue depth, \
             in I/Os per second; in ascending order of queue depth."
        part Vec<(u32, f64)>,;
    facts "Facts about the storage below."
        part Vec<Observation>,
        shown Vec<ObservationEntry> = |target| target.facts.iter().map(observation).collect(),;
}
