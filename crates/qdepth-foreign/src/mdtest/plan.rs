//! Conversion of a command line to a plan.

use qdepth_measure::{Bytes, Nanos};
use qdepth_workload::{
    AreaSpec, Distribution, FilesSpec, FsyncSpec, LoadSpec, Operation, PlanFile, Profile,
    ReportedAs, SizeSpec, StepSpec,
};

use super::Mdtest;

/// Name of the directory below `-d`, which has a number appended for each task with `-u`.
pub const MDTEST_STEM: &str = "qdepth-mdtest";

/// Time limit of a phase that ends by its entries only, s: a day.
const UNTIL_DONE_S: u64 = 86_400;

/// Phase of a repetition.
struct Phase {
    /// Name in mdtest's summary.
    name: &'static str,
    operation: Operation,
    /// Bytes of an entry, 1 if it has none.
    unit: u64,
    /// Number of phases that shift the tasks (`-N`) before it.
    shifts: u64,
}

impl Mdtest {
    /// Plan for this number of tasks.
    pub fn plan(&self, tasks: u32) -> PlanFile {
        let phases = self.phases();
        let repetitions = (1..=self.iterations).flat_map(|n| phases.iter().map(move |p| (n, p)));
        let steps = repetitions.map(|(repetition, phase)| StepSpec {
            title: format!("{}, repetition {repetition}", phase.name),
            loads: vec![self.load(phase, phase.name == phases[0].name)],
            ..StepSpec::default()
        });
        PlanFile {
            name: "mdtest".to_owned(),
            title: Some("mdtest".to_owned()),
            files: Some(match self.unique {
                true => FilesSpec::EntriesPerStream,
                false => FilesSpec::SharedEntries,
            }),
            seed: Some(self.random_seed),
            warm_up: Some(Nanos::ZERO),
            duration: Some(Nanos::from_secs(UNTIL_DONE_S)),
            file_names: vec![MDTEST_STEM.to_owned()],
            keep_files: self.keeps(),
            own_profiles: phases.iter().map(|phase| self.profile(phase, tasks)).collect(),
            steps: steps.collect(),
            ..PlanFile::default()
        }
    }

    fn phases(&self) -> Vec<Phase> {
        let written =
            if self.write_bytes > 0 { Operation::WriteFiles } else { Operation::MakeFiles };
        let read = match (self.read_bytes, self.verify) {
            (0, _) => Operation::OpenFiles,
            (_, false) => Operation::ReadFiles,
            (_, true) => Operation::VerifyFiles,
        };
        let (files, directories) = (!self.directories_only, !self.files_only);
        let phase = |asked: bool, name, operation, unit: u64, shifts| {
            asked.then_some(Phase { name, operation, unit: unit.max(1), shifts })
        };
        [
            phase(
                directories && self.creates,
                "Directory creation",
                Operation::MakeDirectories,
                1,
                0,
            ),
            phase(directories && self.stats, "Directory stat", Operation::StatDirectories, 1, 1),
            phase(
                directories && self.removes,
                "Directory removal",
                Operation::RemoveDirectories,
                1,
                3,
            ),
            phase(files && self.creates, "File creation", written, self.write_bytes, 0),
            phase(files && self.stats, "File stat", Operation::StatFiles, 1, 1),
            phase(files && self.reads, "File read", read, self.read_bytes, 2),
            phase(files && self.removes, "File removal", Operation::RemoveFiles, 1, 3),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn load(&self, phase: &Phase, first: bool) -> LoadSpec {
        let is_limited = self.stonewall_s > 0 && phase.shifts == 0;
        LoadSpec {
            profile: slug(phase.name),
            queue_depth: 1,
            delay: (first && self.delay_s > 0).then(|| Nanos::from_secs(self.delay_s)),
            duration: is_limited.then(|| Nanos::from_secs(self.stonewall_s)),
            catches_up: is_limited.then_some(true),
            bytes_per_stream: Some(Bytes(self.items.saturating_mul(phase.unit))),
            rank_shift: Some(
                u32::try_from(self.stride.saturating_mul(phase.shifts)).unwrap_or(u32::MAX),
            ),
            ..LoadSpec::default()
        }
    }

    fn profile(&self, phase: &Phase, tasks: u32) -> Profile {
        let Phase { operation, unit, .. } = *phase;
        let random = self.random && operation.needs_entries() && phase.shifts == 1;
        let size = self.items.saturating_mul(unit).saturating_mul(u64::from(tasks));
        let [random_share, read] =
            [random, !operation.changes()].map(|is| if is { 100.0 } else { 0.0 });
        Profile {
            name: slug(phase.name),
            title: Some(phase.name.to_owned()),
            operation: Some(operation),
            distribution: random.then_some(Distribution::EachOnce),
            alignment: Some(Bytes(unit)),
            area: AreaSpec { size: Some(Bytes(size).to_string()), offset: None },
            streams: Some(tasks),
            workers: Some(tasks),
            direct: Some(false),
            fsync: Some(match self.sync && operation.changes() {
                true => FsyncSpec::End,
                false => FsyncSpec::Never,
            }),
            reported_as: Some(ReportedAs::TransactionRate),
            ..Profile::new(random_share, read, SizeSpec::One(Bytes(unit).to_string()))
        }
    }
}

/// Short name of a profile.
fn slug(name: &str) -> String {
    name.to_ascii_lowercase().replace(' ', "-")
}
