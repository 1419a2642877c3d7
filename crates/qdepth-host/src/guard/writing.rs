//! Mark of a run that writes.

use std::path::Path;

use jiff::Timestamp;

/// Mark of a run that writes.
#[derive(Clone, Copy, Debug)]
pub struct Writing<'a> {
    /// The run.
    pub run_id: &'a str,
    /// Now.
    pub now: Timestamp,
    /// Directory of results: its disk is never written to as a device.
    pub results_dir: &'a Path,
    /// True to bypass the page cache.
    pub direct: bool,
}
