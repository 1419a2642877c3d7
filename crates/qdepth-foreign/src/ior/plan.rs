//! Conversion of a command line to a plan.

use qdepth_measure::{Bytes, Nanos};
use qdepth_workload::{
    AreaSpec, Distribution, FilesSpec, FsyncSpec, LoadSpec, PlanFile, Profile, ReportedAs,
    SizeSpec, StepSpec, TargetsSpec,
};

use super::Ior;

/// Time limit of a phase that ends by bytes only, s: a day.
const UNTIL_DONE_S: u64 = 86_400;

impl Ior {
    /// Plan for this number of tasks, with one target per name of [`names`](Self::names).
    pub fn plan(&self, tasks: u32) -> PlanFile {
        let targets = self.names().len() as u32;
        let name = |path: &String| path.rsplit('/').next().unwrap_or_default().to_owned();
        let share = |target: u32| tasks / targets + u32::from(target < tasks % targets);
        let on: Vec<u32> = (0..targets).filter(|target| share(*target) > 0).collect();
        let phases = self.phases();
        let profiles = phases.iter().flat_map(|phase| {
            on.iter().map(|target| self.profile(phase, *target + 1, share(*target)))
        });
        let repetitions = (1..=self.repetitions).flat_map(|n| phases.iter().map(move |p| (n, p)));
        let steps = repetitions.map(|(repetition, phase)| StepSpec {
            title: format!("{phase}, repetition {}", repetition + self.repetition),
            loads: on.iter().map(|target| self.load(phase, target + 1)).collect(),
            ..StepSpec::default()
        });
        let duration_s = if self.deadline_s > 0 { self.deadline_s.into() } else { UNTIL_DONE_S };
        PlanFile {
            name: "ior".to_owned(),
            title: Some("IOR".to_owned()),
            targets: TargetsSpec::Together,
            files: Some(match self.file_per_process {
                true => FilesSpec::PerStream,
                false => FilesSpec::Shared,
            }),
            seed: Some(self.seed()),
            warm_up: Some(Nanos::ZERO),
            duration: Some(Nanos::from_secs(duration_s)),
            bytes_per_stream: Some(Bytes(self.bytes_per_task())),
            file_names: self.names().iter().map(name).collect(),
            keep_files: self.keep || !self.writes,
            file_suffix: if self.multi_file { self.suffix() } else { String::new() },
            stamp: self.signature.map(u64::from),
            own_profiles: profiles.collect(),
            steps: steps.collect(),
            ..PlanFile::default()
        }
    }

    /// Seed of the request order; TOML integers are signed.
    fn seed(&self) -> u64 {
        let stated = self.random_seed.or(Some(self.reorder_seed).filter(|seed| *seed != 0));
        let signature = self.signature.map(i64::from);
        stated.or(signature).map_or(1, |seed| seed.unsigned_abs() >> 1)
    }

    fn phases(&self) -> Vec<&'static str> {
        let all = [("write", self.writes), ("check", self.check_write), ("read", self.reads)];
        all.into_iter().filter_map(|(phase, asked)| asked.then_some(phase)).collect()
    }

    fn load(&self, phase: &str, target: u32) -> LoadSpec {
        let is_delayed = self.delay_s > 0 && phase != "check";
        LoadSpec {
            profile: format!("ior-{phase}-{target}"),
            queue_depth: 1,
            target: Some(target),
            delay: is_delayed.then(|| Nanos::from_secs(self.delay_s.into())),
            catches_up: self.wear_out.then_some(true),
            ..LoadSpec::default()
        }
    }

    fn profile(&self, phase: &str, target: u32, tasks: u32) -> Profile {
        let read = if phase == "write" { 0.0 } else { 100.0 };
        // Data with a signature is verified by a later run.
        let checked = self.check_read || self.check_write || self.signature.is_some();
        let random = match self.random {
            0 => 0.0,
            1 => 100.0,
            _ => 100.0 * self.transfer as f64 / self.block as f64,
        };
        let apart = self.file_per_process || self.existing_bytes.is_some();
        let size = self.room_per_task().saturating_mul(u64::from(tasks));
        Profile {
            name: format!("ior-{phase}-{target}"),
            title: Some(phase.to_owned()),
            distribution: (self.random == 1).then_some(Distribution::EachOnce),
            alignment: Some(Bytes(self.transfer)),
            area: AreaSpec { size: Some(Bytes(size).to_string()), offset: None },
            streams: Some(tasks),
            workers: Some(tasks),
            segments: Some(if apart { 1 } else { self.segments_used() }),
            direct: Some(self.direct),
            fsync: Some(match (phase, self.fsync_each, self.fsync) {
                ("write", true, _) => {
                    FsyncSpec::Every { writes: 1, data_only: false, at_end: true }
                }
                ("write", false, true) => FsyncSpec::End,
                _ => FsyncSpec::Never,
            }),
            verify: Some(checked && (phase != "read" || self.check_read)),
            reported_as: Some(ReportedAs::Throughput),
            ..Profile::new(random, read, SizeSpec::One(Bytes(self.transfer).to_string()))
        }
    }
}
