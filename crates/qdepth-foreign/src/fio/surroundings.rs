//! The machine that a job file is read on.

/// Machine facts that a job file may use.
pub struct Surroundings<'a> {
    /// An environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The text of an included file, or why there is none.
    pub include: &'a dyn Fn(&str) -> Result<String, String>,
    /// The bytes of a trace that is replayed, or why there are none.
    pub trace: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// True if it is a directory in which files can be.
    pub is_directory: &'a dyn Fn(&str) -> bool,
    /// Bytes of a page of memory.
    pub page_bytes: u64,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// Processors.
    pub cpus: u64,
}
