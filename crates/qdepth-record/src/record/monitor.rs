//! Fields of a monitor's value, one row each.

use crate::fields::fields;

type Shown<'a> = &'a MonitorRecord;

fields! {
    /// Value of a monitor at one moment of a point.
    record MonitorRecord in "monitor" and &[];
    /// Value of a monitor at one moment of a point.
    entry MonitorEntry;
    at_ns "End of the second, ns from the first sample, which is taken just before the load \
           (warm-up included)."
        kept u64 = "at_ns",
        shown u64 = |monitor| monitor.at_ns,;
    name "Source and quantity, the unit last: `nvme0n1 celsius`, `cpu steal_share`."
        kept String = "name",
        shown String = |monitor| monitor.name.clone(),;
    value "Rate or share over the second, or level at its end."
        kept f64 = "value",
        shown Option<f64> = |monitor| Some(monitor.value).filter(|value| value.is_finite()),;
}
