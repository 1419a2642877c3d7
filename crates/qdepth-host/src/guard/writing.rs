//! What a run that writes says of itself.

use std::path::Path;

use jiff::Timestamp;

/// What a run that writes says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Writing<'a> {
    /// The run.
    pub run_id: &'a str,
    /// Now.
    pub now: Timestamp,
    /// Where results are kept: its disk is never written to as a device.
    pub results_dir: &'a Path,
    /// Whether to bypass the page cache.
    pub direct: bool,
}
