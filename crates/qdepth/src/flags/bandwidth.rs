//! Options of bandwidth plans.

use clap::Args;
use qdepth_measure::Bytes;
use qdepth_workload::{FilesSpec, PlanFile};

use qdepth_lab::failure::Usage;
use qdepth_lab::instrument::calibrate::cpus;

/// Minimum end of a series of numbers of threads, however few processors there are.
const THREADS_LEAST: u32 = 16;

/// Options of a bandwidth plan.
#[derive(Args, Clone, Debug)]
pub(crate) struct BandwidthOptions {
    /// Total thread counts [default: 1, 2, 4 … up to twice the number of CPUs, at least 16]
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "N,…",
        help_heading = "Bandwidth plans",
        hide_short_help = true
    )]
    pub(crate) threads: Option<Vec<u32>>,
    /// Transfer sizes, for example 1MiB,16MiB; the first is the baseline
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "SIZE,…",
        help_heading = "Bandwidth plans",
        hide_short_help = true
    )]
    pub(crate) transfer: Option<Vec<String>>,
    /// Bytes that each thread writes and reads back
    #[arg(long, value_name = "SIZE", help_heading = "Bandwidth plans", hide_short_help = true)]
    pub(crate) bytes_per_thread: Option<Bytes>,
    /// Number of passes; the last one counts
    #[arg(long, value_name = "N", help_heading = "Bandwidth plans", hide_short_help = true)]
    pub(crate) passes: Option<u32>,
    /// Use one file per target for all threads instead of one each
    #[arg(long, help_heading = "Bandwidth plans", hide_short_help = true)]
    pub(crate) shared_file: bool,
}

impl BandwidthOptions {
    /// Writes them into the plan, and fits what is left open to this machine.
    pub(crate) fn decide(&self, file: &mut PlanFile) -> Result<(), Usage> {
        let Self { threads, transfer, bytes_per_thread, passes, shared_file } = self.clone();
        let given = threads.is_some()
            || transfer.is_some()
            || bytes_per_thread.is_some()
            || passes.is_some()
            || shared_file;
        let Some(spec) = &mut file.bandwidth else {
            return if given {
                let plan = &file.name;
                Err(Usage(format!(
                    "--threads, --transfer, --bytes-per-thread, --passes and --shared-file apply \
                     only to bandwidth plans, and `{plan}` is not one. Try `qdepth run bandwidth \
                     DIR`"
                )))
            } else {
                Ok(())
            };
        };
        if threads.iter().flatten().any(|threads| *threads == 0) {
            return Err(Usage("--threads 0: must be at least 1. Try --threads 1".to_owned()));
        }
        spec.transfers = transfer.unwrap_or_else(|| spec.transfers.clone());
        spec.threads = threads.unwrap_or_else(|| spec.threads.clone());
        spec.bytes_per_thread = bytes_per_thread.unwrap_or(spec.bytes_per_thread);
        spec.passes = passes.or(spec.passes);
        if shared_file {
            file.files = Some(FilesSpec::Shared);
        }
        if spec.threads.is_empty() {
            let most = (2 * cpus()).max(THREADS_LEAST);
            spec.threads = (0..).map(|power| 1 << power).take_while(|n| *n <= most).collect();
        }
        Ok(())
    }
}
