//! What there is of what a monitor said, a row each.

use crate::fields::fields;

type Shown<'a> = &'a MonitorRecord;

fields! {
    /// What a monitor said at one moment of a point.
    record MonitorRecord in "monitor" and &[];
    /// What a monitor said at one moment of a point.
    entry MonitorEntry;
    at_ns "End of the second, ns from the first look, just before the load (warm-up included)."
        kept u64 = "at_ns",
        shown u64 = |monitor| monitor.at_ns,;
    name "Of what and which, the unit last: `nvme0n1 celsius`, `cpu steal_share`."
        kept String = "name",
        shown String = |monitor| monitor.name.clone(),;
    value "A rate or share over the second, or the level at its end."
        kept f64 = "value",
        shown Option<f64> = |monitor| Some(monitor.value).filter(|value| value.is_finite()),;
}
