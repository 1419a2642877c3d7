//! CPU affinity of threads.

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// CPUs that this thread may run on, ascending; empty if the kernel does not report them.
pub fn allowed_cpus() -> Vec<u32> {
    let set = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).map(|cpu| cpu as u32).collect()
}

/// Restricts this thread to these CPUs.
///
/// # Errors
/// The error of the kernel, for example if no CPU is available to the thread.
pub fn pin(cpus: &[u32]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        if *cpu as usize >= CpuSet::MAX_CPU {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        set.set(*cpu as usize);
    }
    Ok(sched_setaffinity(None, &set)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinned_thread_runs_only_on_its_cpu() {
        let all = allowed_cpus();
        let last = *all.last().expect("some CPU");
        let after = std::thread::spawn(move || pin(&[last]).map(|()| allowed_cpus()));
        assert_eq!(after.join().expect("ends").expect("allowed"), [last]);
        assert!(pin(&[u32::MAX]).is_err() && pin(&[]).is_err());
        assert_eq!(allowed_cpus(), all, "other threads are not touched");
    }
}
