//! Files that a run creates in its directories, and the targets that it writes to.

use qdepth_host::own_files::Naming;
use qdepth_host::target::{Inspected, Kind};
use qdepth_workload::{Plan, WrittenTargets};

/// Files to create in a directory.
#[derive(Clone, Debug)]
pub enum Provision {
    /// A measurement file with an area of this many bytes.
    MeasurementFile(u64),
    /// Files that the points make.
    OwnFiles(ProvisionedFiles),
}

/// Files that points make in directories.
#[derive(Clone, Debug)]
pub struct ProvisionedFiles {
    /// Total bytes of the files in one directory at a time.
    pub bytes: u64,
    /// Name of the files in each directory; the default name if there is none.
    pub(crate) names: Vec<String>,
    /// Suffix of the name.
    pub(crate) suffix: String,
}

/// Default name of files that points create.
const STEM: &str = "qdepth-bandwidth";

impl ProvisionedFiles {
    /// Names in a directory, given by its number among the targets.
    pub fn naming(&self, target: usize, targets: usize) -> Naming {
        let stem = self.names.get(target).map_or(STEM, String::as_str).to_owned();
        let (first, stride) = (target as u32, targets as u32);
        Naming { stem, first, stride, suffix: self.suffix.clone() }
    }
}

impl Provision {
    /// Files that a plan needs, with this total number of bytes.
    pub(crate) fn from_plan(plan: &Plan, bytes: u64) -> Self {
        if plan.points.iter().any(|point| point.layout.makes_files()) {
            let (names, suffix) = (plan.file_names.clone(), plan.file_suffix.clone());
            return Self::OwnFiles(ProvisionedFiles { bytes, names, suffix });
        }
        Self::MeasurementFile(bytes)
    }

    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::MeasurementFile(bytes) => *bytes,
            Self::OwnFiles(files) => files.bytes,
        }
    }
}

/// True if the target with this number is written. An empty file is filled first if any target is
/// written, even if this one is only read.
pub fn is_written(writes: &WrittenTargets, number: usize, target: &Inspected) -> bool {
    match target.kind {
        Kind::RegularFile { size_bytes: 0, .. } => writes.any(),
        _ => writes.on(number),
    }
}
