//! Words for a person that the lab and its front ends say alike.

use std::path::Path;

/// Whole seconds, or minutes.
pub fn long(ns: u64) -> String {
    let seconds = ns.div_ceil(1_000_000_000);
    if seconds < 120 { format!("{seconds} s") } else { format!("{} min", seconds.div_ceil(60)) }
}

/// Where a run was kept.
pub fn kept(logbook: &Path, id: &str) -> String {
    format!("logbook  {}  run {}", logbook.display(), id.get(..13).unwrap_or(id))
}
