//! Conversion of jobs to a plan: each clone of a job becomes a load, and the jobs between two
//! stonewalls become a step.

mod created;
mod loads;
mod others;

use std::collections::BTreeSet;

use qdepth_workload::PlanFile;

use super::JobSet;
use super::job::Job;
use super::job_parts::ExitScope;
use super::load::{Load, NewFile, Origin};
use super::plan::plan;
use super::refusal::{FioRefusal, FioRefusals, FioRemark};
use super::values::{Amount, Engine, Trims};
use crate::remark::{Remark, Remarked};
use loads::{
    JobFile, NOTHING_BYTES, by_direction, depths, end, job_files, on_all, parent, paths, read_back,
    refuse, slug,
};

/// Maximum number of loads in all steps.
const LOADS_MAX: usize = 4096;

/// Handling of a missing file without a size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingFile {
    /// Refuse the job.
    #[default]
    Refused,
    /// Assume that it will exist when the plan runs.
    Later,
    /// Assume that it will exist, with any length: the plan is only checked, like with
    /// `--parse-only`.
    AnyLength,
}

/// Plan made of fio jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Converted {
    /// The plan.
    pub plan: PlanFile,
    /// Targets, in the order of their numbers in the plan.
    pub targets: Vec<String>,
    /// Origin of each point.
    pub origins: Vec<Origin>,
    /// Clones that only lay out their files.
    pub idle: Vec<Origin>,
    /// Files that they lay out.
    pub created: Vec<NewFile>,
    /// Files that other jobs need and that do not exist, or are shorter.
    pub missing: Vec<NewFile>,
    /// First byte of each point's area in the file that its job names.
    pub begins: Vec<u64>,
    /// File of each point that its job names.
    pub paths: Vec<String>,
    /// The engine that all jobs agree on; `None` if they ask for several or leave it open.
    pub engine: Option<Engine>,
    /// CPU list of all workers in the kernel's format, and true if each worker gets a CPU of its
    /// own; `None` for any CPU.
    pub cpus: Option<(String, bool)>,
    /// Differences from fio.
    pub remarks: Vec<FioRemark>,
}

/// File that does not exist yet: it becomes an area of the measurement file in its directory.
struct Area {
    /// Path, or the job and clone if it has no name.
    name: String,
    target: usize,
    end: u64,
}

impl Area {
    fn file(self) -> NewFile {
        NewFile { path: self.name, bytes: self.end }
    }
}

impl JobSet {
    /// Converts the jobs to a plan called `name`. `whole` returns the usable bytes of an existing
    /// file or device. `fresh` is the seed if a job asks for a new one in each run. `absent` says
    /// how to handle a missing file without a size.
    ///
    /// # Errors
    /// If the combination of jobs is not supported: a size is unknown, or a queue depth is less
    /// than the number of files.
    pub fn convert(
        &self,
        name: &str,
        fresh: u64,
        whole: &dyn Fn(&str) -> Option<u64>,
        absent: MissingFile,
    ) -> Result<Converted, FioRefusals> {
        let not_own = self.written_files_not_own();
        let mut made = PlanBuilder { absent, not_own, ..PlanBuilder::default() };
        let mut refused = FioRefusals::default();
        refused.keep(self.entries_alone());
        let mut steps: Vec<Vec<Load>> = Vec::new();
        let mut back: Vec<Load> = Vec::new();
        for (number, job) in self.jobs.iter().enumerate() {
            let waits = self.waits(job, steps.last().map_or(&[], Vec::as_slice));
            let waits = refused.keep(waits).unwrap_or(true);
            if job.creates_only {
                refused.keep(made.lay_out_only(number, job, whole));
                continue;
            }
            if job.stonewall || waits || steps.is_empty() {
                steps.push(Vec::new());
            }
            let Some(mut loads) = refused.keep(made.loads(number, job, whole)) else { continue };
            if job.only_reads() && job.verifies(|verify| verify.only || verify.loads_state) {
                loads = refused.keep(self.verifying(job, &loads, &steps)).unwrap_or_default();
            } else if job.verifies(|verify| verify.reads_back) {
                back.extend(loads.iter().map(|load| read_back(load, job)));
            }
            let next = self.jobs.get(number + 1);
            let ends = next.is_none_or(|next| next.stonewall || next.waits_for.is_some());
            if let Some(goal) = job.goal {
                let alone = ends && steps.last().is_none_or(Vec::is_empty);
                steps.pop();
                steps.extend(refused.keep(depths(job, goal, &loads, alone)).unwrap_or_default());
            } else if let Some(step) = steps.last_mut() {
                step.extend(loads);
            }
            // Read back after all writes of the step.
            if ends && !back.is_empty() {
                steps.push(std::mem::take(&mut back));
            }
            if steps.iter().map(Vec::len).sum::<usize>() > LOADS_MAX {
                refused.add(refuse(job, format!("more than {LOADS_MAX} jobs and clones")).into());
                break;
            }
        }
        for step in &mut steps {
            refused.keep(self.end_together(step));
            refused.keep(self.free_direction_alone(step));
            refused.keep(self.traceable(step));
            self.settle_alone(step, &mut made);
            self.trim_as_beside(step);
        }
        self.end_run(&mut steps, &mut made);
        refused.keep(self.all_emulated_or_none(&steps, &made.targets));
        if steps.is_empty() {
            refused.keep(self.files_have_names());
        }
        let file_bytes = made.lay_out(steps.iter_mut().flatten());
        for step in &mut steps {
            // A plan lists the points of a step in this order.
            step.sort_by_key(|load| load.target);
        }
        let seed = self.seed(fresh);
        let origins = steps.iter().flatten().map(|load| load.origin).collect();
        refused.or(Converted {
            plan: plan(name, seed, &self.jobs, &steps, file_bytes),
            origins,
            idle: made.idle,
            created: made.created,
            missing: made.areas.into_iter().map(Area::file).chain(made.short).collect(),
            begins: steps.iter().flatten().map(|load| load.begin).collect(),
            paths: steps.iter().flatten().map(|load| load.path.clone()).collect(),
            engine: self.engine(),
            cpus: self.cpus(),
            remarks: self.remarks().into_iter().chain(made.remarks).collect(),
            targets: made.targets,
        })
    }

    /// Seed of the first job, or `fresh` if any job asks for a new one in each run.
    fn seed(&self, fresh: u64) -> u64 {
        let seeds: Option<Vec<u64>> = self.jobs.iter().map(|job| job.seed).collect();
        seeds.map_or(fresh, |seeds| seeds.first().copied().unwrap_or(1))
    }

    /// True if a job waits for the previous step. That step must consist of the named job only:
    /// then the wait is a stonewall.
    fn waits(&self, job: &Job, before: &[Load]) -> Result<bool, FioRefusal> {
        let Some(name) = &job.waits_for else { return Ok(false) };
        let named = |load: &Load| self.jobs[load.origin.job].name == *name;
        if !before.is_empty() && before.iter().all(named) {
            return Ok(true);
        }
        Err(refuse(
            job,
            format!("wait_for={name}: refused: only {name} may be directly before this job"),
        ))
    }

    /// `exitall`: if all loads of a step end by time, all get the shortest duration; otherwise, the
    /// first one that ends stops all.
    fn end_together(&self, step: &mut [Load]) -> Result<(), FioRefusal> {
        let ends = |load: &&Load| self.jobs[load.origin.job].ends_all;
        let Some(by) = step.iter().find(|load| ends(load).is_some()) else {
            return Ok(());
        };
        let alone = step.iter().all(|load| load.origin.job == by.origin.job);
        if step.iter().all(|load| load.bytes.is_none() && load.passes.is_none()) {
            let shortest = step.iter().map(|load| load.duration_ns).min().unwrap_or(0);
            step.iter_mut().for_each(|load| load.duration_ns = shortest);
        } else if !alone {
            let groups = step.iter().any(|load| load.origin.group != by.origin.group);
            if groups && step.iter().all(|load| ends(&load) == Some(ExitScope::Group)) {
                return Err(refuse(
                    &self.jobs[by.origin.job],
                    "exitall: refused: a job always ends all jobs between two stonewalls; use \
                     exit_what=stonewall, or remove new_group",
                ));
            }
            step.iter_mut().for_each(|load| load.ends_step = true);
        }
        Ok(())
    }

    /// `steadystate` ends a job that is alone in its step. Other jobs run to their end, and only
    /// report if they became steady.
    fn settle_alone(&self, step: &mut [Load], made: &mut PlanBuilder) {
        match step {
            [load] if !load.reads_back && self.jobs[load.origin.job].goal.is_none() => {
                load.settling = self.jobs[load.origin.job].settling;
            }
            all => {
                let written = all.iter().filter(|load| !load.reads_back);
                for job in written.map(|load| &self.jobs[load.origin.job]) {
                    if job.settling.is_some() {
                        made.remark(job, "steadystate", Remark::NotEndedWhenSteady);
                    }
                }
            }
        }
    }

    /// Sets `direct` of trims, which always bypass the page cache, to that of concurrent loads on
    /// the same target.
    fn trim_as_beside(&self, step: &mut [Load]) {
        let only_trims = |load: &Load| self.jobs[load.origin.job].trims == Trims::All;
        let others: Vec<(usize, bool)> = step
            .iter()
            .filter(|load| !only_trims(load))
            .map(|load| (load.target, load.direct))
            .collect();
        for load in step.iter_mut().filter(|load| only_trims(load)) {
            let beside = others.iter().find(|(target, _)| *target == load.target);
            load.direct = beside.is_none_or(|(_, direct)| *direct);
        }
    }

    /// `exit_what=all`: drops the steps after that of such a job.
    fn end_run(&self, steps: &mut Vec<Vec<Load>>, made: &mut PlanBuilder) {
        let ends_run = |step: &Vec<Load>| {
            step.iter().any(|load| self.jobs[load.origin.job].ends_all == Some(ExitScope::Run))
        };
        if let Some(last) = steps.iter().position(ends_run) {
            for load in steps.drain(last + 1..).flatten() {
                let job = &self.jobs[load.origin.job];
                made.remark(job, "exitall", Remark::NotRunAfterExitall);
            }
        }
    }

    /// CPU list of the workers: the union if jobs differ.
    fn cpus(&self) -> Option<(String, bool)> {
        let mut all: Vec<&str> = Vec::new();
        for cpus in self.jobs.iter().map(|job| job.cpus.as_deref()) {
            let cpus = cpus?;
            if !all.contains(&cpus) {
                all.push(cpus);
            }
        }
        let split = self.jobs.iter().any(|job| job.split_cpus);
        (!all.is_empty()).then(|| (all.join(","), split))
    }

    fn remarks(&self) -> Vec<FioRemark> {
        let mut all: Vec<FioRemark> = Vec::new();
        let of_jobs = self.jobs.iter().flat_map(|job| job.remarks.iter().cloned());
        let differ = self.jobs.iter().find(|job| job.cpus != self.jobs[0].cpus);
        let location =
            |job: &Job| format!("{}:{}: [{}] cpus_allowed", job.file, job.line, job.name);
        let cpus = differ
            .map(|job| FioRemark { location: location(job), what: Remark::CpusOfAllJobs.into() });
        let is_mapped = self.engine() == Some(Engine::Mapped);
        let not_mapped = self.jobs.iter().filter(|job| job.engine == Engine::Mapped && !is_mapped);
        let not_mapped = not_mapped.map(|job| FioRemark {
            location: format!("{}:{}: [{}] ioengine", job.file, job.line, job.name),
            what: Remark::PageCacheNotMapped.into(),
        });
        for remark in of_jobs.chain(cpus).chain(not_mapped) {
            // An option of a global section would be reported once per job.
            if !all.iter().any(|known| same_option(known, &remark)) {
                all.push(remark);
            }
        }
        all
    }

    /// The engine that all jobs name, or the synchronous one if each names one of these.
    fn engine(&self) -> Option<Engine> {
        // `null` is not an engine.
        let jobs = || self.jobs.iter().filter(|job| job.engine != Engine::Null);
        let first = jobs().next()?.engine;
        // Trims alone are issued one at a time by whatever engine has trims.
        if first == Engine::Synchronous && jobs().all(|job| job.trims != Trims::None) {
            return None;
        }
        if jobs().all(|job| job.engine == first) {
            return Some(first);
        }
        jobs().all(|job| job.engine.is_synchronous()).then_some(Engine::Synchronous)
    }
}

/// True for the same option on the same line, in any section.
fn same_option(a: &FioRemark, b: &FioRemark) -> bool {
    let parts = |remark: &FioRemark| {
        let (line, rest) = remark.location.split_once(": [").unwrap_or((&remark.location, ""));
        let option = rest.split_once("] ").map_or(rest, |(_, option)| option);
        (line.to_owned(), option.to_owned())
    };
    a.what == b.what && parts(a) == parts(b)
}

/// Targets in order of appearance, and areas in measurement files to be created.
#[derive(Default)]
struct PlanBuilder {
    targets: Vec<String>,
    areas: Vec<Area>,
    /// Number of clones so far.
    threads: u32,
    group: u32,
    absent: MissingFile,
    remarks: Vec<FioRemark>,
    idle: Vec<Origin>,
    created: Vec<NewFile>,
    /// Existing files that jobs need longer.
    short: Vec<NewFile>,
    /// Paths of files without `filename` that jobs write and that are not known to be own ones.
    not_own: BTreeSet<String>,
}

impl PlanBuilder {
    /// Places the areas of each measurement file one after the other. Returns the length of the
    /// longest file, which is used for all.
    fn lay_out<'a>(&self, loads: impl Iterator<Item = &'a mut Load>) -> Option<u64> {
        let mut lengths = vec![0_u64; self.targets.len()];
        let mut starts = Vec::new();
        for area in &self.areas {
            let length = &mut lengths[area.target];
            starts.push(*length);
            // Start at a multiple of 1 MiB, so that requests of any usual size are aligned.
            let end = length.saturating_add(area.end);
            *length = end.checked_next_multiple_of(1 << 20).unwrap_or(end);
        }
        for load in loads {
            load.begin = load.offset;
            if let Some(area) = load.area_of {
                load.offset = load.offset.saturating_add(starts[area]);
            }
        }
        lengths.into_iter().max().filter(|bytes| *bytes > 0)
    }

    fn target(&mut self, name: &str) -> usize {
        match self.targets.iter().position(|known| known == name) {
            Some(index) => index,
            None => {
                self.targets.push(name.to_owned());
                self.targets.len() - 1
            }
        }
    }

    /// Index of the area of this name, extended to `end`.
    fn area(&mut self, name: String, target: usize, end: u64) -> usize {
        let known = self.areas.iter().position(|area| area.name == name && area.target == target);
        let index = known.unwrap_or_else(|| {
            self.areas.push(Area { name, target, end });
            self.areas.len() - 1
        });
        self.areas[index].end = self.areas[index].end.max(end);
        index
    }

    fn loads(
        &mut self,
        number: usize,
        job: &Job,
        whole: &dyn Fn(&str) -> Option<u64>,
    ) -> Result<Vec<Load>, FioRefusal> {
        let mut loads = Vec::new();
        for origin in self.clones(number, job) {
            let clone = origin.clone;
            let of_clone = match &job.replay {
                _ if job.operation.is_of_entries() => vec![self.entries(job, origin)?],
                Some(replay) => self.replayed(job, origin, replay, whole)?,
                None => self.on_files(job, origin, whole)?,
            };
            if job.rate_of.is_some() {
                self.remark(job, "rate", Remark::FreeDirectionApart);
            }
            let of_clone: Vec<Load> =
                of_clone.into_iter().flat_map(|load| by_direction(job, load)).collect();
            let several = of_clone.len() > 1;
            loads.extend(of_clone.into_iter().zip(1..).map(|(load, part)| {
                let suffix = if several { format!("-{part}") } else { String::new() };
                let name = slug(&job.name);
                Load { profile: format!("{}-{}-{name}{suffix}", number + 1, clone + 1), ..load }
            }));
        }
        Ok(loads)
    }

    /// Clones of a job, numbered.
    fn clones(&mut self, number: usize, job: &Job) -> Vec<Origin> {
        if (job.stonewall || job.new_group) && self.threads > 0 {
            self.group += 1;
        }
        let (first, group) = (self.threads + 1, self.group);
        self.threads += job.clones;
        let origin = |clone: u32| Origin { job: number, clone, thread: first + clone, group };
        (0..job.clones).map(origin).collect()
    }

    /// Loads of a clone, one per file.
    fn on_files(
        &mut self,
        job: &Job,
        origin: Origin,
        whole: &dyn Fn(&str) -> Option<u64>,
    ) -> Result<Vec<Load>, FioRefusal> {
        let files = job_files(job, origin.clone, whole)?;
        if files.len() > 1 && job.flow.is_some() {
            let why = "flow: refused: each file of this job is a separate load; write one job per \
                       file";
            return Err(refuse(job, why));
        }
        let is_lacking = |file: &&JobFile| {
            let path = &file.path;
            let is_known = path.starts_with("/dev/") || job.engine == Engine::Null;
            !is_known && whole(path).or_else(|| self.created_bytes(path)).is_none()
        };
        // The option protects names that are given, above all those in /dev.
        let is_protected = !job.span.creates_files && !job.filenames.is_empty();
        let may_lack = !is_protected || self.absent != MissingFile::Refused;
        if let Some(file) = files.iter().find(is_lacking).filter(|_| !may_lack) {
            let why = format!("allow_file_create=0: {} is missing or empty", file.path);
            return Err(refuse(job, why));
        }
        files.iter().map(|file| self.load(job, origin, file, files.len(), whole)).collect()
    }

    /// Start offset of a clone's area.
    fn begin(
        &mut self,
        job: &Job,
        clone: u32,
        path: &str,
        existing: Option<u64>,
        made: Option<u64>,
    ) -> Result<u64, FioRefusal> {
        let is_share = job.span.offset != Amount::Bytes(0) && job.span.offset.bytes(None).is_none();
        if existing.is_none() && made.is_some() && is_share {
            self.remark(job, path, Remark::OffsetShareOfNothing);
        }
        let unknown = |what: &str| {
            refuse(
                job,
                format!(
                    "{what} is a percentage of {path}, whose size is unknown: write it in bytes"
                ),
            )
        };
        // The plan is only checked: any length will do.
        let any = (self.absent == MissingFile::AnyLength).then_some(1 << 50);
        // As in fio: clones that share a file use the length that the first one created.
        let shared = made.map(|size| if job.filenames.is_empty() { 0 } else { size });
        let step = job.span.offset_increment.bytes(existing.or(shared).or(any));
        let step = step.ok_or_else(|| unknown("offset_increment"))?;
        let length = existing.or(made.map(|_| 0)).or(any);
        let offset = job.span.offset.bytes(length).ok_or_else(|| unknown("offset"))?;
        let offset = offset.saturating_add(step.saturating_mul(u64::from(clone)));
        // As in fio, what depends on a length is rounded up.
        let spans = [job.span.offset, job.span.offset_increment];
        let is_rounded = spans.iter().any(|amount| matches!(amount, Amount::Share(_)));
        let unit = if is_rounded { job.span.offset_align.max(1) } else { 1 };
        Ok(offset.checked_next_multiple_of(unit).unwrap_or(offset))
    }

    /// Bytes that the option size asks for in each of `files` files; of a file of `length`
    /// bytes, where that is known.
    fn requested_bytes(&self, job: &Job, files: u64, length: Option<u64>) -> Option<u64> {
        match job.span.size {
            Amount::Bytes(bytes) => Some(bytes / files),
            Amount::Share(share) if share < 100.0 && self.absent == MissingFile::AnyLength => {
                job.span.size.bytes(length).or(Some(0))
            }
            // As in fio, a share below all is rounded down to whole blocks.
            Amount::Share(percent) => job.span.size.bytes(length).map(|bytes| match percent {
                percent if percent < 100.0 => bytes - bytes % job.sizes.smallest(),
                _ => bytes,
            }),
        }
    }

    fn load(
        &mut self,
        job: &Job,
        origin: Origin,
        file: &JobFile,
        files: usize,
        whole: &dyn Fn(&str) -> Option<u64>,
    ) -> Result<Load, FioRefusal> {
        let JobFile { path, folder, depth } = file;
        let share = files as u64;
        let existing = match job.engine {
            Engine::Null => Some(whole(path).unwrap_or(NOTHING_BYTES)),
            // fio names it after the job, so that others may have written it.
            _ if folder.is_some() && self.not_own.contains(path) => None,
            _ => whole(path),
        };
        let length = existing.or_else(|| self.created_bytes(path));
        let asked = self.requested_bytes(job, share, length);
        let is_device = folder.is_none() && path.starts_with("/dev/");
        if let (true, Some(all), false) = (job.appends && job.writes(), existing, is_device) {
            let why = format!(
                "file_append: refused: {path} already has {all} B, and qdepth does not extend \
                 files of others: name a new file"
            );
            return Err(refuse(job, why));
        }
        let made = asked.filter(|bytes| *bytes > 0 && existing.is_none() && !is_device);
        if made.is_some() && job.read <= 0.0 && job.trims == Trims::None {
            // fio writes into a file without blocks.
            self.remark(job, path, Remark::FileWrittenInFull);
        }
        let offset = self.begin(job, origin.clone, path, length, made)?;
        // A missing device: one pass over all of it, whatever its length.
        let may_be_absent =
            existing.is_none() && (is_device || self.absent != MissingFile::Refused);
        if may_be_absent && asked.is_none_or(|bytes| bytes == 0) {
            if !is_device {
                self.remark(job, path, Remark::FileNotThereYet);
            }
            return self.load_on_absent(job, origin, path, offset, *depth, files);
        }
        if let (Some(bytes), Some(all)) = (asked, existing)
            && bytes > all.saturating_sub(offset)
        {
            self.note_short(job, path, offset.saturating_add(bytes), all);
        }
        let area = match (asked, existing) {
            (None, _) | (Some(0), None) => {
                let why = match folder {
                    Some(folder) => format!("no size, and {folder} has no file of this job"),
                    None => format!("{path} does not exist"),
                };
                return Err(refuse(job, format!("{why}: add size=… to create it")));
            }
            (Some(0), Some(all)) => all.saturating_sub(offset),
            (Some(bytes), None) => match (job.span.size, length) {
                (Amount::Share(_), Some(all)) => bytes.min(all.saturating_sub(offset)),
                _ => bytes,
            },
            (Some(bytes), Some(all)) => bytes.min(all.saturating_sub(offset)),
        };
        let all = existing.is_some_and(|all| area == all.saturating_sub(offset));
        let (target, area_of) = match existing {
            Some(_) => (self.target(path), None),
            None => {
                let parent = folder.as_deref().unwrap_or_else(|| parent(path));
                let target = self.target(parent);
                (target, Some(self.area(path.clone(), target, offset.saturating_add(area))))
            }
        };
        Ok(Load {
            offset,
            area: (!all).then_some(area),
            bytes: end(job, area, existing, share)?,
            area_of,
            path: match job.engine {
                Engine::Null => paths(job, origin.clone).remove(0),
                _ => path.clone(),
            },
            ..on_all(target, origin, job, *depth, files)
        })
    }
}

impl PlanBuilder {
    fn remark(&mut self, job: &Job, path: &str, what: impl Into<Remarked>) {
        let location = format!("{}:{}: [{}] {path}", job.file, job.line, job.name);
        let remark = FioRemark { location, what: what.into() };
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }
}
