//! Later changes to runs: notes, retractions, merging, pruning.

use std::cell::Cell;
use std::collections::BTreeSet;

use rusqlite::Connection;

use crate::certificate;
use crate::check::{self, Damage};
use crate::digest::Chain;
use crate::error::LogbookError;
use crate::failure::Failure;
use crate::headlines;
use crate::logbook::{Logbook, changed, is_measured};
use crate::open::doing;
use crate::read;
use crate::write;
use qdepth_record::{CertificateRecord, Observation, PointRecord, RunRecord, RunState};

type Result<T> = std::result::Result<T, LogbookError>;

/// Number of runs per transaction: a synchronous write takes longer than a small run.
const RUNS_AT_ONCE: usize = 20;

/// Result of merging another logbook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// IDs of the added runs, in the order in which they were started there.
    pub added: Vec<String>,
    /// Number of runs that were already here.
    pub known: u64,
    /// Number of notes and retractions added to these.
    pub remarks: u64,
    /// Number of points added to these.
    pub points: u64,
    /// IDs of runs in progress, which were omitted.
    pub running: Vec<String>,
    /// Damaged records, whose runs were omitted.
    pub damaged: Vec<Damage>,
}

/// Run with all attempts at its points.
type FullRun = (RunRecord, Vec<(u32, PointRecord)>);

impl Logbook {
    /// Adds a note to a run, even if sealed. Returns the run's ID. `asked` like for
    /// [`run`](Self::run), `at` in RFC 3339.
    ///
    /// # Errors
    /// Like [`run`](Self::run), or if the file cannot be written.
    pub fn note(&mut self, asked: &str, text: &str, at: &str) -> Result<String> {
        self.remark(asked, RunRecord::NOTE, text, format!("qdepth note, {at}"))
    }

    /// Retracts a run, with a reason. Returns the run's ID. The run is kept and marked, and
    /// excluded from comparisons.
    ///
    /// # Errors
    /// Like [`note`](Self::note).
    pub fn retract(&mut self, asked: &str, why: &str, at: &str) -> Result<String> {
        self.remark(asked, RunRecord::RETRACTED, why, format!("qdepth retract, {at}"))
    }

    /// Stores a user's remark as an environment fact of a run.
    fn remark(
        &mut self,
        asked: &str,
        name: (&str, &str),
        text: &str,
        source: String,
    ) -> Result<String> {
        let (number, id) = self.reading("finding the run", |_| Ok(self.resolve(asked)?))?;
        self.keep_remarks(number, &[Observation::new(name, Ok(text.to_owned()), source)])?;
        Ok(id)
    }

    fn keep_remarks(&mut self, number: i64, remarks: &[Observation]) -> Result<()> {
        self.write("storing the note", |transaction, _| {
            changed(transaction, number, |_| {
                remarks.iter().try_for_each(|observation| {
                    write::observation(transaction, number, None, observation)
                })?;
                Ok(remarks.len())
            })
        })
    }

    /// Adds the runs of another logbook that are missing here, unchanged. Also adds their notes to
    /// runs that exist here: a retraction applies wherever the run is. An incomplete run here gets
    /// the points that it lacks, because a logbook that fails during a run is continued in another
    /// file. Damaged runs and runs in progress are omitted.
    ///
    /// # Errors
    /// If either file cannot be read, or this one cannot be written. What was added before stays.
    pub fn merge(&mut self, other: &Self) -> Result<Merged> {
        let (what, mut merged) = ("reading the runs to merge", Merged::default());
        let here = self.ids()?;
        let alive = other.alive();
        let there = read::run_numbers(&other.connection).map_err(doing(&other.path, what))?;
        let mut waiting: Vec<FullRun> = Vec::new();
        for (number, id) in there {
            if here.contains(&id) {
                merged.known += 1;
                merged.remarks += self.merge_remarks(other, number, &id)?;
                if !alive.contains(&id) {
                    self.merge_points(other, number, &id, &mut merged)?;
                }
                continue;
            }
            if alive.contains(&id) {
                merged.running.push(id);
                continue;
            }
            match other.whole(number, &id).map_err(doing(&other.path, what))? {
                Ok(whole) => waiting.push(whole),
                Err(damaged) => merged.damaged.extend(damaged),
            }
            if waiting.len() == RUNS_AT_ONCE {
                merged.added.extend(self.add(&std::mem::take(&mut waiting))?);
            }
        }
        merged.added.extend(self.add(&waiting)?);
        self.write("adding certificates", |transaction, _| {
            Ok(certificate::merge(transaction, &other.connection)?)
        })?;
        Ok(merged)
    }

    /// Adds missing remarks on a run. Returns their number.
    fn merge_remarks(&mut self, other: &Self, number: i64, id: &str) -> Result<u64> {
        let what = "reading the notes";
        let (there, damage) = match headlines::kept(&other.connection, number) {
            Ok(Some(line)) if line.notes.is_empty() && line.retracted.is_none() => return Ok(0),
            _ => check::run(&other.connection, number).map_err(doing(&other.path, what))?,
        };
        if damage.is_some() {
            return Ok(0);
        }
        let (own, here) = {
            let number = self.resolve(id)?.0;
            let found = check::run(&self.connection, number);
            (number, found.map_err(doing(&self.path, what))?.0)
        };
        let is_remark =
            |seen: &&Observation| seen.is(RunRecord::NOTE) || seen.is(RunRecord::RETRACTED);
        let new = |seen: &&Observation| !here.environment.contains(seen);
        let remarks: Vec<Observation> =
            there.environment.iter().filter(is_remark).filter(new).cloned().collect();
        if !remarks.is_empty() {
            self.keep_remarks(own, &remarks)?;
        }
        Ok(remarks.len() as u64)
    }

    /// Adds the points that an incomplete run lacks here.
    fn merge_points(
        &mut self,
        other: &Self,
        number: i64,
        id: &str,
        merged: &mut Merged,
    ) -> Result<()> {
        let what = "reading the points to merge";
        let state = read::state(&self.connection, id).map_err(doing(&self.path, what))?;
        let is_open = state.is_some_and(|(_, state)| state != RunState::Complete);
        if !is_open || self.alive().contains(id) {
            return Ok(());
        }
        let (there, damage) =
            check::run(&other.connection, number).map_err(doing(&other.path, what))?;
        let points =
            check::points(&other.connection, number, id).map_err(doing(&other.path, what))?;
        merged.damaged.extend(points.damaged);
        if let Some(damage) = damage {
            merged.damaged.push(damage);
            return Ok(());
        }
        let own = self.resolve(id)?.0;
        let added = Cell::new(0);
        self.write("adding points", |transaction, _| {
            added.set(0);
            let (here, _) = check::run(transaction, own)?;
            let is_same =
                (&here.plan_hash, &here.started_at) == (&there.plan_hash, &there.started_at);
            let all = points.attempts.iter().map(|attempt| &attempt.point);
            for point in all.filter(|point| is_same && !point.is_cut_short()) {
                if !is_measured(transaction, own, point.index)? {
                    let attempt = read::attempt_max(transaction, own, point.index)?;
                    write::point(transaction, own, attempt.saturating_add(1), point)?;
                    added.set(added.get() + 1);
                }
            }
            if added.get() > 0 {
                headlines::recount(transaction, own)?;
            }
            Ok(())
        })?;
        merged.points += added.get();
        Ok(())
    }

    /// Stores a certificate.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_certificate(&mut self, certificate: &CertificateRecord) -> Result<()> {
        self.write("storing the certificate", |transaction, _| {
            Ok(certificate::keep(transaction, certificate)?)
        })
    }

    /// Newest undamaged certificate of the machine with this name and CPU model; `None` if there is
    /// none.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn certificate(&self, host: &str, cpu: &str) -> Result<Option<CertificateRecord>> {
        let found = certificate::newest(&self.connection, host, cpu);
        found.map_err(doing(&self.path, "reading the certificates"))
    }

    fn ids(&self) -> Result<BTreeSet<String>> {
        let all = read::run_numbers(&self.connection);
        let all = all.map_err(doing(&self.path, "reading the list of runs"))?;
        Ok(all.into_iter().map(|(_, id)| id).collect())
    }

    /// Run with everything stored of it, or its damage.
    fn whole(
        &self,
        number: i64,
        id: &str,
    ) -> rusqlite::Result<std::result::Result<FullRun, Vec<Damage>>> {
        let connection = &self.connection;
        let (run, damage) = check::run(connection, number)?;
        let points = check::points(connection, number, id)?;
        let damaged: Vec<Damage> = damage.into_iter().chain(points.damaged).collect();
        let attempts = points.attempts.into_iter().map(|each| (each.attempt, each.point));
        Ok(if damaged.is_empty() { Ok((run, attempts.collect())) } else { Err(damaged) })
    }

    fn add(&mut self, runs: &[FullRun]) -> Result<Vec<String>> {
        self.write("adding runs", |transaction, _| {
            for (run, points) in runs {
                write::run(transaction, run)?;
                let (number, _) = read::state(transaction, &run.id)?.ok_or_else(lost)?;
                for (attempt, point) in points {
                    write::point(transaction, number, *attempt, point)?;
                }
                headlines::recount(transaction, number)?;
            }
            Ok(())
        })?;
        Ok(runs.iter().map(|(run, _)| run.id.clone()).collect())
    }

    /// Permanently deletes runs with everything stored of them.
    ///
    /// # Errors
    /// [`LogbookError::NoSuchRun`]; [`LogbookError::Altered`] if the list of runs is damaged; or if
    /// the file cannot be written. Nothing is deleted then.
    pub fn prune(&mut self, ids: &[String]) -> Result<()> {
        let numbers: Vec<i64> = ids
            .iter()
            .map(|id| self.resolve(id).map(|(number, _)| number))
            .collect::<Result<_>>()?;
        if !self.lists_all_runs()? {
            return Err(self.altered("the list of runs", "nothing was removed", "qdepth show RUN"));
        }
        self.write("removing runs", |transaction, _| {
            numbers.iter().try_for_each(|number| remove(transaction, *number))?;
            let left: Vec<i64> =
                read::run_numbers(transaction)?.into_iter().map(|(number, _)| number).collect();
            Ok(Chain::Runs.store(transaction, &left)?)
        })?;
        // Returns the space to the file system if nobody else is reading; otherwise later.
        let _ = self.connection.execute_batch("VACUUM");
        Ok(())
    }
}

fn lost() -> rusqlite::Error {
    rusqlite::Error::QueryReturnedNoRows
}

/// Deletes a run, after everything that belongs to it.
fn remove(connection: &Connection, run: i64) -> std::result::Result<(), Failure> {
    // Referencing tables must come first.
    let tables = ["io_error", "direction", "sample", "monitor", "finding"];
    for table in tables {
        let of_points =
            format!("DELETE FROM {table} WHERE point IN (SELECT id FROM point WHERE run = ?1)");
        connection.prepare_cached(&of_points)?.execute([run])?;
    }
    for table in
        ["finding", "point", "ceiling", "observation", "expected", "target", "digest", "headline"]
    {
        connection
            .prepare_cached(&format!("DELETE FROM {table} WHERE run = ?1"))?
            .execute([run])?;
    }
    connection.prepare_cached("DELETE FROM run WHERE sequence = ?1")?.execute([run])?;
    Ok(())
}
