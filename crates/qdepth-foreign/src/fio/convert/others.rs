//! Loads without random offsets: directory entries and replayed traces.

use qdepth_workload::Trace;

use super::loads::{end, on_all, parent, refuse};
use super::{JobSet, Load, Origin, PlanBuilder};
use crate::fio::job::Job;
use crate::fio::refusal::FioRefusal;
use crate::fio::replay_log::Replay;
use crate::remark::Remark;

/// Areas of created files are multiples of this many bytes.
const WHOLE: u64 = 4096;

impl JobSet {
    /// Refuses jobs on directory entries together with other jobs.
    pub(super) fn entries_alone(&self) -> Result<(), FioRefusal> {
        let has = |job: &&Job| job.operation.is_of_entries();
        let Some(of_entries) = self.jobs.iter().find(has) else { return Ok(()) };
        match self.jobs.iter().any(|job| !has(&job)) {
            false => Ok(()),
            true => Err(refuse(
                of_entries,
                format!(
                    "ioengine={}: refused: it cannot run together with jobs of other engines; \
                     select some of the jobs with --section=…",
                    of_entries.engine_name
                ),
            )),
        }
    }

    /// Refuses other jobs next to one whose direction without a rate ends the step by its bytes.
    pub(super) fn free_direction_alone(&self, step: &[Load]) -> Result<(), FioRefusal> {
        let Some(free) = step.iter().find(|load| load.way.is_some() && load.ends_step) else {
            return Ok(());
        };
        if step.iter().all(|load| load.origin.job == free.origin.job) {
            return Ok(());
        }
        let job = &self.jobs[free.origin.job];
        let why = "rate: refused: next to other jobs, a rate of only one direction needs \
                   time_based and runtime=";
        Err(refuse(job, why))
    }

    /// Refuses a trace (`write_iolog`) of a file whose name would end a word or a line of it: a
    /// program that replays the trace would then write to another file.
    pub(super) fn traceable(&self, step: &[Load]) -> Result<(), FioRefusal> {
        let is_cut = |load: &&Load| load.path.contains(|c: char| c.is_whitespace());
        for load in step.iter().filter(is_cut) {
            let job = &self.jobs[load.origin.job];
            if job.report.trace.is_some() {
                return Err(refuse(job, "write_iolog: refused: the file has a name with a blank"));
            }
        }
        Ok(())
    }

    /// Refuses a mix of emulated and real targets.
    pub(super) fn all_emulated_or_none(
        &self,
        steps: &[Vec<Load>],
        targets: &[String],
    ) -> Result<(), FioRefusal> {
        let is_emulated = |load: &&Load| targets[load.target].starts_with("media:");
        let loads = || steps.iter().flatten();
        let Some(emulated) = loads().find(is_emulated) else { return Ok(()) };
        if loads().all(|load| is_emulated(&load)) {
            return Ok(());
        }
        let job = &self.jobs[emulated.origin.job];
        let why = format!(
            "ioengine={}: refused: EMULATED jobs cannot run together with measured jobs; select \
             some of the jobs with --section=…",
            job.engine_name
        );
        Err(refuse(job, why))
    }
}

impl PlanBuilder {
    /// Load of a clone on directory entries: as many as it has files, one request for each.
    pub(super) fn entries(&mut self, job: &Job, origin: Origin) -> Result<Load, FioRefusal> {
        let Some(unit) = job.sizes.single() else {
            return Err(refuse(
                job,
                "refused: operations on entries need a single block size: use bs= alone",
            ));
        };
        let folder = job.directories.get(origin.clone as usize % job.directories.len().max(1));
        let folder = folder.map(String::as_str);
        let named = job.filenames.first().filter(|name| name.contains('/'));
        let folder = folder.or(named.map(|name| parent(name))).unwrap_or(".").to_owned();
        let area = job.entries.saturating_mul(unit);
        let load = on_all(self.target(&folder), origin, job, 1, 1);
        Ok(Load { area: Some(area), bytes: end(job, area, None, 1)?, direct: false, ..load })
    }

    /// Loads of a clone that replays a trace: one per file, with a common start time.
    pub(super) fn replayed(
        &mut self,
        job: &Job,
        origin: Origin,
        replay: &Replay,
        whole: &dyn Fn(&str) -> Option<u64>,
    ) -> Result<Vec<Load>, FioRefusal> {
        let files = replay.for_clone(origin.clone);
        if files.len() > 1 && replay.speed.is_none() {
            self.remark(job, "replay_no_stall", Remark::EachFileReplayedAlone);
        }
        let load = |(index, (path, trace)): (usize, &(String, Trace))| {
            let load = self.replayed_on(job, origin, path, trace, whole)?;
            Ok(Load { replays: Some(index), ..load })
        };
        files.iter().enumerate().map(load).collect()
    }

    fn replayed_on(
        &mut self,
        job: &Job,
        origin: Origin,
        path: &str,
        trace: &Trace,
        whole: &dyn Fn(&str) -> Option<u64>,
    ) -> Result<Load, FioRefusal> {
        let existing = whole(path);
        let ends = trace.end_bytes();
        let bytes = trace.bytes().saturating_mul(job.span.loops);
        let bytes = (!job.span.time_based).then_some(bytes);
        if let Some(all) = existing.filter(|all| *all < ends) {
            return Err(refuse(
                job,
                format!(
                    "read_iolog: refused: the trace accesses {ends} B of {path}, which has only \
                     {all} B; replay_scale=… scales the offsets down"
                ),
            ));
        }
        let is_device = path.starts_with("/dev/");
        if existing.is_some() || is_device {
            return Ok(Load { bytes, ..on_all(self.target(path), origin, job, job.depth, 1) });
        }
        let target = self.target(parent(path));
        let area = ends.checked_next_multiple_of(WHOLE).unwrap_or(ends);
        let area_of = Some(self.area(path.to_owned(), target, area));
        let load = on_all(target, origin, job, job.depth, 1);
        Ok(Load { area: Some(area), bytes, area_of, ..load })
    }

    /// Load from an offset to the end of a target of unknown length.
    pub(super) fn load_on_absent(
        &mut self,
        job: &Job,
        origin: Origin,
        path: &str,
        offset: u64,
        depth: u32,
        files: usize,
    ) -> Result<Load, FioRefusal> {
        let all = on_all(self.target(path), origin, job, depth, files);
        let counted = job.span.io_size.is_some() || job.span.requests.is_some();
        let bytes = if counted { end(job, u64::MAX >> 1, None, files as u64)? } else { None };
        let passes = (!job.span.time_based && !counted)
            .then(|| u32::try_from(job.span.loops).unwrap_or(u32::MAX));
        Ok(Load { offset, bytes, passes, ..all })
    }
}
