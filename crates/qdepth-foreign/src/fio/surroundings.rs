//! Access to the machine for the parser of job files.

/// Machine facts that a job file may use.
pub struct Surroundings<'a> {
    /// Value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Text of an included file, or the error.
    pub include: &'a dyn Fn(&str) -> Result<String, String>,
    /// Bytes of a trace, or the error.
    pub trace: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// True if the path is a directory for files.
    pub is_directory: &'a dyn Fn(&str) -> bool,
    /// Size of a memory page, bytes.
    pub page_bytes: u64,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// Number of CPUs.
    pub cpus: u64,
}
