//! Context of a run that writes.

use std::path::Path;

use jiff::Timestamp;

/// Context of a run that writes, for its guards and labels.
#[derive(Clone, Copy, Debug)]
pub struct Writing<'a> {
    /// UUID of the run.
    pub run_id: &'a str,
    /// Current time.
    pub now: Timestamp,
    /// Directory of the results. Its disk is never written to as a device.
    pub results_dir: &'a Path,
    /// True to bypass the page cache.
    pub direct: bool,
}
