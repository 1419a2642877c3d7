//! Jobs that only lay out files, or only verify what other jobs wrote.

use super::loads::{job_files, refuse};
use super::{JobSet, Load, Origin, PlanBuilder};
use crate::fio::job::Job;
use crate::fio::load::NewFile;
use crate::fio::refusal::FioRefusal;

impl JobSet {
    /// Checks that earlier jobs of the run write what a job verifies: the stamps of another run are
    /// unknown.
    pub(super) fn must_be_written(
        &self,
        job: &Job,
        loads: &[Load],
        steps: &[Vec<Load>],
    ) -> Result<(), FioRefusal> {
        let writes = |load: &Load, other: &Load| {
            let writer = &self.jobs[other.origin.job];
            writer.verify && writer.writes() && !other.reads_back && other.target == load.target
        };
        let is_written = |load: &Load| steps.iter().flatten().any(|other| writes(load, other));
        if loads.iter().all(is_written) {
            return Ok(());
        }
        let why = "verify_only: refused: no job before it writes these files with verify=, and \
                   qdepth does not check data of another run; write and verify in one run";
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
        let clones: Vec<Origin> = self.clones(number, job);
        for origin in &clones {
            let files = job_files(job, origin.clone, whole)?;
            for file in &files {
                if file.path.starts_with("/dev/") || whole(&file.path).is_some() {
                    continue;
                }
                let Some(all) = job.span.size.bytes(None) else {
                    let why = format!("{} does not exist: add size=… to create it", file.path);
                    return Err(refuse(job, why));
                };
                let start = job.span.offset.bytes(None).unwrap_or(0);
                self.note_new(&file.path, start.saturating_add(all / files.len() as u64));
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
