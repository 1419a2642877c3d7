//! What else happened on the machine while a point ran: looked at before it and after it.

use std::io;

use qdepth_host::system::System;
use qdepth_host::witness::{Clocks, CpuTimes, Disagreement, KernelStat};
use qdepth_logbook::record::KernelCounts;

impl Seen {
    /// Takes what another load of ours read and wrote, in bytes, out of the kernel's counts.
    pub(crate) fn without(&mut self, (read, written): (u64, u64)) {
        if let Some(kernel) = &mut self.kernel {
            kernel.read_bytes = kernel.read_bytes.saturating_sub(read);
            kernel.written_bytes = kernel.written_bytes.saturating_sub(written);
        }
    }
}

/// One look.
pub(crate) struct Witnesses {
    cpu: io::Result<CpuTimes>,
    device: Option<io::Result<KernelStat>>,
    clocks: Clocks,
}

/// What two looks tell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// What the kernel counted on the one device below.
    pub(crate) kernel: Option<KernelCounts>,
    /// Share of CPU time stolen by the hypervisor.
    pub(crate) steal: Option<f64>,
    /// How the kernel's clocks came apart.
    pub(crate) clocks: Disagreement,
    /// Witnesses that could not be read, each with the reason.
    pub(crate) missing: Vec<(&'static str, String)>,
}

impl Witnesses {
    /// Looks at the CPUs, the clocks, and the counters of one device.
    pub(crate) fn look(system: &System, device: Option<&str>) -> Self {
        Self {
            cpu: CpuTimes::read(system),
            device: device.map(|name| KernelStat::read(system, name)),
            clocks: Clocks::read(),
        }
    }

    /// What happened from this look to a later one.
    pub(crate) fn until(&self, after: &Self) -> Seen {
        let mut missing = Vec::new();
        let mut lacks = |what, error: &io::Error| missing.push((what, error.to_string()));
        let steal = match (&self.cpu, &after.cpu) {
            (Ok(before), Ok(after)) => after.steal_share_since(before),
            (Err(error), _) | (_, Err(error)) => {
                lacks("CPU time stolen by the hypervisor", error);
                None
            }
        };
        let kernel = match (&self.device, &after.device) {
            (Some(Ok(before)), Some(Ok(after))) => Some(after.since(before)),
            (Some(Err(error)), _) | (_, Some(Err(error))) => {
                lacks("the kernel's counters of the device", error);
                None
            }
            (None, _) | (_, None) => None,
        };
        Seen { kernel, steal, clocks: after.clocks.disagreement_since(&self.clocks), missing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "1 0 8 0 2 0 16 0 0 5 0\n";

    #[test]
    fn a_witness_that_cannot_be_read_is_missing_and_not_silent() {
        let root = tempfile::tempdir().unwrap();
        let system = System::staged(root.path());
        let device = root.path().join("sys/class/block/sda");
        std::fs::create_dir_all(&device).unwrap();
        std::fs::create_dir_all(root.path().join("proc")).unwrap();
        let seen = || {
            let before = Witnesses::look(&system, Some("sda"));
            before.until(&Witnesses::look(&system, Some("sda")))
        };
        let names = |seen: &Seen| seen.missing.iter().map(|(what, _)| *what).collect::<Vec<_>>();
        let blind = seen();
        assert_eq!(names(&blind).len(), 2, "{blind:?}");
        assert_eq!((blind.kernel, blind.steal), (None, None));
        std::fs::write(device.join("stat"), STAT).unwrap();
        assert_eq!(names(&seen()), ["CPU time stolen by the hypervisor"]);
        std::fs::write(root.path().join("proc/stat"), "cpu  1 2 3 4 5 6 7 8 0 0\n").unwrap();
        let whole = seen();
        assert!(whole.missing.is_empty(), "{whole:?}");
        assert_eq!(whole.kernel, Some(KernelCounts::default()));
        assert!(!whole.clocks.suspended && whole.clocks.drift < 0.1, "{whole:?}");
    }

    #[test]
    fn counters_that_nobody_asked_for_are_not_missing() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc")).unwrap();
        std::fs::write(root.path().join("proc/stat"), "cpu  1 2 3 4 5 6 7 8 0 0\n").unwrap();
        let look = || Witnesses::look(&System::staged(root.path()), None);
        assert!(look().until(&look()).missing.is_empty());
    }
}
