//! Jobs that only lay out files, or only verify what other jobs wrote.

use std::collections::BTreeSet;

use super::loads::{paths, read_back, refuse};
use super::{Engine, JobSet, Load, Origin, PlanBuilder};
use crate::fio::job::Job;
use crate::fio::load::NewFile;
use crate::fio::refusal::FioRefusal;
use crate::remark::{Remark, Remarked};

impl JobSet {
    /// Loads of a job that only verifies, or reads what a run wrote that may have ended early.
    pub(super) fn verifying(
        &self,
        job: &Job,
        loads: &[Load],
        steps: &[Vec<Load>],
    ) -> Result<Vec<Load>, FioRefusal> {
        let earlier = steps.split_last().map_or(&[][..], |(_, earlier)| earlier);
        let of_other_run = !self.is_written_before(job, loads, earlier)?;
        if !job.verifies(|verify| verify.only) {
            return Ok(loads.to_vec());
        }
        Ok(loads.iter().map(|load| Load { of_other_run, ..read_back(load, job) }).collect())
    }

    /// True if jobs of earlier steps write all that these loads of a job verify; false if another
    /// run did. Refuses files that do not exist before the run.
    fn is_written_before(
        &self,
        job: &Job,
        loads: &[Load],
        steps: &[Vec<Load>],
    ) -> Result<bool, FioRefusal> {
        let end = |load: &Load| load.area.map_or(u64::MAX, |area| load.offset.saturating_add(area));
        let writes = |load: &Load, other: &Load| {
            let writer = &self.jobs[other.origin.job];
            writer.verify.is_some()
                && writer.writes()
                && !other.reads_back
                && other.target == load.target
                && other.area_of == load.area_of
        };
        let is_written = |load: &Load| {
            let writers = steps.iter().flatten().filter(|other| writes(load, other));
            let mut parts: Vec<(u64, u64)> = writers.map(|w| (w.offset, end(w))).collect();
            parts.sort_unstable();
            // First byte that is not known to be written.
            let reached = parts.iter().fold(load.offset, |reached, (from, to)| {
                if *from <= reached { reached.max(*to) } else { reached }
            });
            reached > load.offset && reached >= end(load)
        };
        match loads.iter().all(is_written) {
            false if loads.iter().any(|load| load.area_of.is_some()) => {
                let only = job.verifies(|verify| verify.only);
                let option = if only { "verify_only" } else { "verify_state_load" };
                let why = "refused: its file does not exist, and no job before it writes all of it \
                           with verify=";
                Err(refuse(job, format!("{option}: {why}")))
            }
            is_written => Ok(is_written),
        }
    }
}

impl JobSet {
    /// True if the files of all jobs may be created under their own names, and stay.
    pub fn keeps_files(&self) -> bool {
        // Each file has its own queue depth.
        let has_depths = |job: &Job| job.filenames.len() <= (job.depth as usize).max(1);
        let keeps = |job: &Job| !job.unlinks && !job.appends && has_depths(job);
        self.jobs.iter().all(keeps)
    }

    /// Paths of the files without `filename` that jobs write, except own files.
    pub(super) fn written_files_not_own(&self) -> BTreeSet<String> {
        let is_nameless = |job: &&Job| job.filenames.is_empty() && !job.only_reads();
        let writers = self.jobs.iter().filter(is_nameless);
        let written = writers.flat_map(|job| (0..job.clones).flat_map(|clone| paths(job, clone)));
        written.filter(|path| !self.own_files.contains(path)).collect()
    }

    /// Refuses jobs that only create several files without names: in qdepth, they are one.
    pub(super) fn files_have_names(&self) -> Result<(), FioRefusal> {
        let is_unnamed = |job: &&Job| job.filenames.is_empty() && job.entries > 1;
        let Some(job) = self.jobs.iter().find(is_unnamed) else { return Ok(()) };
        let why = "create_only: refused with nrfiles and without filename=: name each file, as in \
                   filename=a:b";
        Err(refuse(job, why))
    }
}

impl PlanBuilder {
    /// Notes the files of a job that measures nothing.
    pub(super) fn lay_out_only(
        &mut self,
        number: usize,
        job: &Job,
        whole: &dyn Fn(&str) -> Option<u64>,
    ) -> Result<(), FioRefusal> {
        // It stores nothing.
        if job.engine == Engine::Null {
            return Ok(());
        }
        let clones: Vec<Origin> = self.clones(number, job);
        for origin in &clones {
            let files = paths(job, origin.clone);
            for path in files.iter().filter(|path| whole(path).is_none()) {
                if path.starts_with("/dev/") {
                    let why = format!("{path} does not exist, and qdepth creates no file in /dev");
                    return Err(refuse(job, why));
                }
                let each = job.span.size.bytes(None).map_or(0, |all| all / files.len() as u64);
                if each == 0 {
                    let why = format!("{path} does not exist: add size=… to create it");
                    return Err(refuse(job, why));
                }
                let start = job.span.offset.bytes(None).unwrap_or(0);
                self.note_new(path, start.saturating_add(each));
            }
        }
        self.idle.extend(clones);
        Ok(())
    }

    /// Notes a file that a job needs with this length, and which has `all` bytes.
    pub(super) fn note_short(&mut self, job: &Job, path: &str, bytes: u64, all: u64) {
        self.remark(job, path, Remarked::counted(Remark::FileNotExtended, "bytes", all));
        let is_file = !path.starts_with("/dev/") && !path.starts_with("media:");
        if is_file && job.engine != Engine::Null {
            note(&mut self.short, path, bytes);
        }
    }

    fn note_new(&mut self, path: &str, bytes: u64) {
        note(&mut self.created, path, bytes);
    }

    /// Length of a file that an earlier job lays out.
    pub(super) fn created_bytes(&self, path: &str) -> Option<u64> {
        self.created.iter().find(|file| file.path == path).map(|file| file.bytes)
    }
}

/// Notes the largest length that a file needs.
fn note(files: &mut Vec<NewFile>, path: &str, bytes: u64) {
    match files.iter_mut().find(|file| file.path == path) {
        Some(file) => file.bytes = file.bytes.max(bytes),
        None => files.push(NewFile { path: path.to_owned(), bytes }),
    }
}
