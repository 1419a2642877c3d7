//! Guard G11: the disk does not hold the system, the results, or the program.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::mounts::{self, Mount};
use crate::refusal::{Guard, Refusal};
use crate::sysfs;
use crate::system::System;

const SYSTEM_DIRS: [&str; 7] = ["/", "/boot", "/boot/efi", "/usr", "/var", "/etc", "/home"];

/// Refuses a target that shares blocks with a device below a directory of the system, the results
/// or the program, through any layers of partitions, volumes, arrays and loop files. A free
/// partition on the system's own disk is refused, too: its load would disturb the system, and a
/// wrong partition number would destroy it.
pub(super) fn check(
    system: &System,
    overlapping: &[String],
    results_dir: &Path,
) -> Result<(), Refusal> {
    for (what, path) in protected_paths(results_dir) {
        let mut below = Below { system, mounts: mounts::own(system), names: BTreeSet::new() };
        below.add_path(&path, 0);
        if let Some(name) = overlapping.iter().find(|name| below.names.contains(*name)) {
            return Err(Refusal::new(
                Guard::G11System,
                format!("/dev/{name} holds {what} ({})", path.display()),
                "Use another disk; this check cannot be overridden",
            ));
        }
    }
    Ok(())
}

fn protected_paths(results_dir: &Path) -> Vec<(&'static str, PathBuf)> {
    let mut places: Vec<_> =
        SYSTEM_DIRS.iter().map(|path| ("the system", PathBuf::from(path))).collect();
    let results = existing_ancestor(results_dir);
    places.push(("the results", results));
    if let Ok(program) = std::env::current_exe() {
        places.push(("this program", program));
    }
    places
}

/// Nearest existing directory: the results directory may not exist yet.
fn existing_ancestor(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let found = absolute.ancestors().find_map(|ancestor| ancestor.canonicalize().ok());
    found.unwrap_or(absolute)
}

struct Below<'a> {
    system: &'a System,
    mounts: Vec<Mount>,
    names: BTreeSet<String>,
}

impl Below<'_> {
    /// Adds everything below the file system of `path`. The depth is limited, because the kernel
    /// may show a cycle.
    fn add_path(&mut self, path: &Path, depth: usize) {
        if depth > 16 {
            return;
        }
        let Some(mount) = mounts::holding(&self.mounts, path).cloned() else { return };
        for name in mounts::devices_below(self.system, &mount) {
            self.add_device(&name, depth + 1);
        }
        for layer in &mount.layers {
            self.add_path(layer, depth + 1);
        }
    }

    fn add_device(&mut self, name: &str, depth: usize) {
        if depth > 16 || !self.names.insert(name.to_owned()) {
            return;
        }
        if let Some(whole) = sysfs::whole_of(self.system, name) {
            self.add_device(&whole, depth + 1);
        }
        for slave in sysfs::slaves_of(self.system, name) {
            self.add_device(&slave, depth + 1);
        }
        let backing = format!("/sys/class/block/{name}/loop/backing_file");
        if let Some(path) = self.system.read_trimmed(backing) {
            match self.system.block_node(&path).and_then(|n| sysfs::kernel_name(self.system, n)) {
                Some(lower) => self.add_device(&lower, depth + 1),
                None => self.add_path(Path::new(&path), depth + 1),
            }
        }
    }
}
