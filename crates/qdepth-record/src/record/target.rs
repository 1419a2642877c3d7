//! What there is of a target of a run, a row each.

use super::{Observation, ObservationEntry, TargetKind, observation};
use crate::fields::fields;

type Shown<'a> = &'a TargetRecord;

fields! {
    /// One target of a run.
    record TargetRecord in "target" and &[];
    /// A target.
    entry TargetEntry;
    index "Its place in the run, from 0."
        kept u32 = "place",
        shown u32 = |target| target.index,;
    name "Its name, unique within the run: `target` of the points."
        kept String = "name",
        shown String = |target| target.name.clone(),;
    expression "As the user spelled it."
        kept String = "expression",
        shown String = |target| target.expression.clone(),;
    kind "`directory`, `file`, `block-device` or `emulated`."
        kept TargetKind = "kind",
        shown String = |target| target.kind.as_str().to_owned(),;
    area_bytes "The area under load, bytes."
        kept u64 = "area_bytes",
        shown u64 = |target| target.area_bytes,;
    engine "The engine that measured it."
        kept String = "engine",
        shown String = |target| target.engine.clone(),;
    ceiling "Calibrated ceiling of generator and engine without storage, by outstanding I/Os, in \
             I/Os per second; ascending outstanding."
        part Vec<(u32, f64)>,;
    facts "What is known of the storage below."
        part Vec<Observation>,
        shown Vec<ObservationEntry> = |target| target.facts.iter().map(observation).collect(),;
}
