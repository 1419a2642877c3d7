//! Jobs that only lay out files, or only verify what other jobs wrote.

use super::loads::{paths, refuse};
use super::{Engine, JobSet, Load, Origin, PlanBuilder};
use crate::fio::job::Job;
use crate::fio::load::NewFile;
use crate::fio::refusal::FioRefusal;

impl JobSet {
    /// Checks that jobs of earlier steps write all that a job verifies: the stamps of another run
    /// are unknown, and blocks that nobody wrote would pass.
    pub(super) fn must_be_written(
        &self,
        job: &Job,
        loads: &[Load],
        steps: &[Vec<Load>],
    ) -> Result<(), FioRefusal> {
        let end = |load: &Load| load.area.map_or(u64::MAX, |area| load.offset.saturating_add(area));
        let writes = |load: &Load, other: &Load| {
            let writer = &self.jobs[other.origin.job];
            writer.verify
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
        if loads.iter().all(is_written) {
            return Ok(());
        }
        let why = "verify_only: refused: no job before it writes these files with verify=, and \
                   qdepth does not check data of another run; write and verify in one run";
        Err(refuse(job, why))
    }
}

impl JobSet {
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

    fn note_new(&mut self, path: &str, bytes: u64) {
        match self.created.iter_mut().find(|file| file.path == path) {
            Some(file) => file.bytes = file.bytes.max(bytes),
            None => self.created.push(NewFile { path: path.to_owned(), bytes }),
        }
    }

    /// Length of a file that an earlier job lays out.
    pub(super) fn created_bytes(&self, path: &str) -> Option<u64> {
        self.created.iter().find(|file| file.path == path).map(|file| file.bytes)
    }
}
