//! Bandwidth by IOR's method (docs/method/checklist.md, items 123-142): n threads each write their
//! own bytes once, sync them, and then read them back; for every transfer size, number of threads
//! and pass. The last pass is the result; earlier ones are measured, but do not count.

use super::load::{Load, Step};
use crate::bandwidth::{BANDWIDTH, BASELINE, BandwidthSpec};
use crate::profile::{AreaSpec, FsyncSpec, Profile, ReportedAs, SizeSpec};
use crate::steps::{LoadSpec, pass_title};
use qdepth_measure::{Bytes, Nanos};

/// Maximum number of passes.
const PASSES_MAX: u32 = 100;

/// A number of threads on a number of targets, counted from the first, with one transfer size.
struct Row<'a> {
    names: [&'static str; 2],
    transfer: &'a str,
    threads: u32,
    targets: usize,
}

impl BandwidthSpec {
    /// Steps on this number of targets.
    ///
    /// # Errors
    /// If a number is outside its limits.
    pub(crate) fn steps(&self, targets: usize) -> Result<Vec<Step>, String> {
        self.check()?;
        let passes = self.passes.unwrap_or(2);
        let mut steps = Vec::new();
        for row in self.rows(targets) {
            for pass in 1..=passes {
                for direction in 0..2 {
                    let title = format!("{} × {}", row.threads, row.transfer);
                    let title = pass_title(&title, pass, passes);
                    steps.push(Step { title, loads: self.loads(&row, direction) });
                }
            }
        }
        Ok(steps)
    }

    /// A single target is its own baseline. If there are several, the first is also measured alone,
    /// with up to its share of the most threads.
    fn rows(&self, targets: usize) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        if targets > 1 {
            let most = self.threads.iter().copied().max().unwrap_or(0);
            let share = dealt(most, targets)[0];
            let fewer = self.threads.iter().copied().filter(|threads| *threads < share);
            for threads in fewer.chain([share]) {
                rows.push(Row {
                    names: BASELINE,
                    transfer: &self.transfers[0],
                    threads,
                    targets: 1,
                });
            }
        }
        for transfer in &self.transfers {
            for &threads in &self.threads {
                rows.push(Row { names: BANDWIDTH, transfer, threads, targets });
            }
        }
        rows
    }

    fn loads(&self, row: &Row<'_>, direction: usize) -> Vec<Load> {
        let shares = dealt(row.threads, row.targets).into_iter().enumerate();
        let load = |(target, threads): (usize, u32)| {
            let profile = self.profile(row, direction, threads);
            let spec = LoadSpec {
                profile: profile.name.clone(),
                queue_depth: 1,
                target: Some(target as u32 + 1),
                warm_up: Some(Nanos(0)),
                bytes_per_stream: Some(self.bytes_per_thread),
                ..LoadSpec::default()
            };
            Load { profile, spec }
        };
        shares.filter(|(_, threads)| *threads > 0).map(load).collect()
    }

    fn profile(&self, row: &Row<'_>, direction: usize, threads: u32) -> Profile {
        let bytes = self.bytes_per_thread.0.saturating_mul(u64::from(threads));
        let titles = match row.names == BASELINE {
            true => ["Write, one target", "Read, one target"],
            false => ["Write", "Read"],
        };
        let size = SizeSpec::One(row.transfer.to_owned());
        Profile {
            name: row.names[direction].to_owned(),
            title: Some(titles[direction].to_owned()),
            application: Some("Checkpoints and their restart".to_owned()),
            area: AreaSpec { size: Some(format!("{bytes}B")), offset: None },
            streams: Some(threads),
            workers: Some(threads),
            fsync: Some([FsyncSpec::End, FsyncSpec::Never][direction]),
            reported_as: Some(ReportedAs::Throughput),
            ..Profile::new(0.0, [0.0, 100.0][direction], size)
        }
    }

    fn check(&self) -> Result<(), String> {
        let passes = self.passes.unwrap_or(2);
        if self.transfers.is_empty() || self.threads.is_empty() {
            return Err(
                "at least one transfer size and one number of threads are needed".to_owned()
            );
        }
        if !(1..=PASSES_MAX).contains(&passes) {
            return Err(format!("passes = {passes}: must be between 1 and {PASSES_MAX}"));
        }
        for transfer in &self.transfers {
            let size: Bytes = transfer.parse().map_err(|error| format!("{error}"))?;
            if size.0 == 0 || !self.bytes_per_thread.0.is_multiple_of(size.0) {
                return Err(format!(
                    "bytes_per_thread = {}: must be a multiple of the transfer size {transfer}",
                    self.bytes_per_thread
                ));
            }
        }
        Ok(())
    }
}

/// Threads of each target, dealt round-robin: the first ones have one more if the number is not
/// divisible.
fn dealt(threads: u32, targets: usize) -> Vec<u32> {
    let targets = targets.max(1) as u32;
    (0..targets).map(|target| threads / targets + u32::from(target < threads % targets)).collect()
}
