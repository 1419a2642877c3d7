//! Interface of the logbook: start a run, add points, end it; query runs and points.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use qdepth_files::Named;
use qdepth_linux::private_index_pages;
use qdepth_measure::Finding;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::alive::{EventFile, RunMarker};
use crate::check::{self, Checked, Damage};
use crate::digest::{Parts, Purpose, is_damage};
use crate::error::LogbookError;
use crate::failure::Failure;
use crate::headlines::{self, Listed};
use crate::live::LiveEvents;
use crate::open::{doing, open_for_reading, open_for_writing, open_in_memory};
use crate::rescue::Rescued;
use crate::reserve::Reserve;
use crate::{read, write};
use qdepth_record::{PointRecord, RunHeadline, RunRecord, RunState};

type Result<T> = std::result::Result<T, LogbookError>;

/// A file of runs. Several processes may write to it at the same time, each to its own run.
///
/// Data is on disk when a function that stores it returns (synchronous writes). A process that is
/// killed at any moment loses at most the point that it was adding.
#[derive(Debug)]
pub struct Logbook {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    /// `None` for a logbook in memory.
    pub(crate) file: Option<Named>,
    /// File that is used since the logbook was moved, replaced, removed or failed.
    pub(crate) rescued: Option<Rescued>,
    /// Private pages of indexes when it was opened.
    pub(crate) index_pages: u32,
    /// Run in progress as it began, for a new logbook if the file cannot be copied.
    begun: Option<Box<RunRecord>>,
    pub(crate) reserve: Option<Reserve>,
    marker: Option<Arc<RunMarker>>,
}

impl Logbook {
    /// Opens the logbook for writing. Creates it if the file does not exist or is empty.
    ///
    /// # Errors
    /// If the file is not a logbook ([`LogbookError::NotALogbook`]; it is not changed), of a newer
    /// version, damaged, locked for 30 s, or not writable.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (connection, file) = open_for_writing(path)?;
        Ok(Self::with(connection, Some(file), path))
    }

    /// Temporary logbook in memory; nothing is written anywhere.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn in_memory() -> Result<Self> {
        let path = Path::new(":memory:");
        Ok(Self::with(open_in_memory(path)?, None, path))
    }

    /// Opens an existing logbook for reading only; every writing call then fails.
    ///
    /// # Errors
    /// If the file does not exist, or like [`open`](Self::open).
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (connection, file) = open_for_reading(path)?;
        Ok(Self::with(connection, Some(file), path))
    }

    fn with(connection: Connection, file: Option<Named>, path: &Path) -> Self {
        let path = path.to_owned();
        let index_pages = private_index_pages();
        let (rescued, begun, reserve, marker) = (None, None, None, None);
        Self { connection, path, file, rescued, index_pages, begun, reserve, marker }
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reserves `bytes` of disk space (usually [`RESERVE_BYTES`](crate::RESERVE_BYTES)) in an
    /// unnamed file on the logbook's file system. It is released when the disk is full, so that the
    /// logbook stays intact and readable, when the `Logbook` is dropped, or when the process ends.
    /// Call it before measuring anything.
    ///
    /// # Errors
    /// [`LogbookError::Full`] if there is not enough space (nothing is left behind), or if the file
    /// cannot be created.
    pub fn reserve(&mut self, bytes: u64) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let made = Reserve::make(file.folder(), bytes);
        self.reserve = Some(made.map_err(|error| LogbookError::file(&self.path, error))?);
        Ok(())
    }

    /// Marks a run as in progress until the `Logbook` is dropped or the process dies. Call it
    /// before anything is done for the run.
    ///
    /// # Errors
    /// [`LogbookError::Alive`] if another process is measuring it, or if the marker cannot be
    /// created.
    pub fn hold(&mut self, run_id: &str) -> Result<()> {
        // No other process can use a logbook in memory.
        let Some(file) = &self.file else { return Ok(()) };
        RunMarker::tidy(file);
        let held =
            RunMarker::hold(file, run_id).map_err(|error| LogbookError::file(&self.path, error))?;
        let run = || run_id.to_owned();
        self.marker = Some(Arc::new(held.ok_or_else(|| LogbookError::Alive { run: run() })?));
        Ok(())
    }

    /// Event file of the run that is held, through which observers follow the run.
    pub fn event_file(&self) -> EventFile {
        EventFile(self.marker.as_ref().map(Arc::downgrade).unwrap_or_default())
    }

    /// IDs of the runs in progress, in the order of their start.
    pub fn alive(&self) -> BTreeSet<String> {
        self.file.as_ref().map(RunMarker::all).unwrap_or_default()
    }

    /// Events of a run in progress; `None` for other runs.
    pub fn live(&self, run_id: &str) -> Option<LiveEvents> {
        RunMarker::find(self.file.as_ref()?, run_id).map(LiveEvents::new)
    }

    /// Stores a new run with its environment, targets and initial findings.
    ///
    /// # Errors
    /// If a run of this ID exists, or the file cannot be written.
    pub fn begin_run(&mut self, run: &RunRecord) -> Result<()> {
        self.begun = None;
        self.write("storing the run", |transaction, _| Ok(write::run(transaction, run)?))?;
        self.begun = Some(Box::new(run.clone()));
        Ok(())
    }

    /// Stores a finished point of a run in progress, in one transaction: it is on disk when this
    /// returns `Ok`. An interrupted or damaged attempt at the same point is superseded and kept.
    ///
    /// # Errors
    /// [`LogbookError::AlreadyMeasured`], [`LogbookError::NotRunning`], [`LogbookError::Complete`],
    /// [`LogbookError::NoSuchRun`]; [`LogbookError::Full`] if the disk is full: then stop
    /// measuring, and call [`end_run`](Self::end_run) with [`RunState::Failed`].
    pub fn add_point(&mut self, run_id: &str, point: &PointRecord) -> Result<()> {
        let begun = self.begun.take();
        let own = begun.as_deref().filter(|begun| begun.id == run_id);
        let stored = self.write_or_begin(own, "storing a point", &|transaction, path| {
            let run = running(transaction, path, run_id)?;
            if is_measured(transaction, run, point.index)? {
                let (run, index) = (run_id.to_owned(), point.index);
                return Err(LogbookError::AlreadyMeasured { run, index }.into());
            }
            let attempt = read::attempt_max(transaction, run, point.index)?.saturating_add(1);
            write::point(transaction, run, attempt, point)?;
            Ok(headlines::recount(transaction, run)?)
        });
        self.begun = begun;
        stored
    }

    /// Ends a run and adds findings about the whole run (existing ones are not duplicated). After
    /// [`RunState::Complete`] it can never be changed again.
    ///
    /// # Errors
    /// Like [`add_point`](Self::add_point).
    pub fn end_run(
        &mut self,
        run_id: &str,
        state: RunState,
        ended_at: &str,
        findings: &[Finding],
    ) -> Result<()> {
        self.write("ending the run", |transaction, path| {
            let run = running(transaction, path, run_id)?;
            changed(transaction, run, |known| {
                for finding in findings.iter().filter(|finding| !known.findings.contains(finding)) {
                    write::finding(transaction, run, None, finding)?;
                }
                let update = "UPDATE run SET state = ?2, ended_at = ?3 WHERE sequence = ?1";
                transaction.execute(update, params![run, state.as_str(), ended_at])
            })
        })
    }

    /// Sets the number of points that the run will have, if its steps end early.
    ///
    /// # Errors
    /// [`LogbookError::Complete`], [`LogbookError::NoSuchRun`], or if the file cannot be written.
    pub fn plan_points(&mut self, run_id: &str, points: u32) -> Result<()> {
        self.write("storing the number of points", |transaction, path| {
            let run = running(transaction, path, run_id)?;
            changed(transaction, run, |_| {
                let update = "UPDATE run SET points_planned = ?2 WHERE sequence = ?1";
                transaction.execute(update, params![run, points])
            })
        })?;
        if let Some(run) = &mut self.begun {
            run.points_planned = points;
        }
        Ok(())
    }

    /// Reopens a run that was interrupted, failed or killed: its state becomes Running.
    ///
    /// # Errors
    /// [`LogbookError::Complete`], [`LogbookError::NoSuchRun`], or if the file cannot be written.
    pub fn reopen(&mut self, run_id: &str) -> Result<()> {
        let run = RunRecord { state: RunState::Running, ended_at: None, ..self.run(run_id)? };
        self.begun = None;
        self.write("reopening the run", |transaction, path| {
            let (run, state) = state_of(transaction, path, run_id)?;
            if state == RunState::Complete {
                return Err(LogbookError::Complete { run: run_id.to_owned() }.into());
            }
            changed(transaction, run, |_| {
                let update =
                    "UPDATE run SET state = 'running', ended_at = NULL WHERE sequence = ?1";
                transaction.execute(update, params![run])
            })
        })?;
        self.begun = Some(Box::new(run));
        Ok(())
    }

    /// Run with this ID or ID prefix, or `latest` (the one started last). Damage of its own record
    /// is added to its findings; only [`measured`](Self::measured) reports damage of its points.
    ///
    /// # Errors
    /// [`LogbookError::NoSuchRun`], [`LogbookError::AmbiguousRun`], [`LogbookError::Altered`] if
    /// the latest is requested and runs may be missing, or if the file is damaged.
    pub fn run(&self, asked: &str) -> Result<RunRecord> {
        self.reading("reading the run", |snapshot| {
            Ok(check::run(snapshot, self.resolve(asked)?.0)?.0)
        })
    }

    /// Run with the last attempt at each point, in the order of the plan. Damaged records are
    /// omitted and reported in the findings of the run.
    ///
    /// # Errors
    /// Like [`run`](Self::run).
    pub fn measured(&self, asked: &str) -> Result<(RunRecord, Vec<PointRecord>)> {
        self.reading("reading the run", |snapshot| {
            let (number, id) = self.resolve(asked)?;
            let (mut run, _) = check::run(snapshot, number)?;
            let points = check::points(snapshot, number, &id)?;
            run.findings.extend(points.damaged.iter().map(Damage::finding));
            let mut points = points.last();
            // Lost targets are reported above; their points have no meaning without them.
            points.retain(|point| (point.target as usize) < run.targets.len());
            Ok((run, points))
        })
    }

    /// All runs, the oldest first, each read completely.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn runs(&self) -> Result<Vec<RunHeadline>> {
        let mut runs = self.newest_runs(usize::MAX, |_| true)?;
        runs.reverse();
        Ok(runs)
    }

    /// At most `most` of the runs that `wanted` accepts, the newest first, each read completely.
    /// Others are not read.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn newest_runs(
        &self,
        most: usize,
        wanted: impl Fn(&RunHeadline) -> bool,
    ) -> Result<Vec<RunHeadline>> {
        self.listed(most, most, wanted)
    }

    /// Like [`newest_runs`](Self::newest_runs), but only the first `whole` of them are read
    /// completely, in 0.2 ms each. The others are read from their headlines, in 5 µs: a headline is
    /// verified, but does not show if the rest of the run is intact.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn listed(
        &self,
        most: usize,
        whole: usize,
        wanted: impl Fn(&RunHeadline) -> bool,
    ) -> Result<Vec<RunHeadline>> {
        self.reading("reading the list of runs", |snapshot| {
            let (alive, mut runs) = (self.alive(), Vec::new());
            let take = |Listed { run, line, was_verified }: Listed| {
                let is_alive = alive.contains(&line.id);
                let line = line.with_alive(is_alive);
                if !wanted(&line) {
                    return Ok(ControlFlow::Continue(()));
                }
                let mut found = line.clone();
                if runs.len() < whole && !was_verified {
                    found = headlines::checked(snapshot, run, &line.id)?.with_alive(is_alive);
                }
                runs.extend((found == line || wanted(&found)).then_some(found));
                let more = runs.len() < most;
                Ok(if more { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            };
            if most > 0 {
                headlines::lines(snapshot, take)?;
            }
            Ok(runs)
        })
    }

    /// Headlines of these runs from their complete records, without runs that no longer exist.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn read_each(&self, runs: &[&RunHeadline]) -> Result<Vec<RunHeadline>> {
        self.reading("reading the list of runs", |snapshot| {
            let mut found = Vec::new();
            for line in runs {
                if let Some(run) = read::number(snapshot, &line.id)? {
                    let line_read = headlines::checked(snapshot, run, &line.id)?;
                    found.push(line_read.with_alive(line.alive));
                }
            }
            Ok(found)
        })
    }

    /// Number of runs, including damaged ones.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn runs_kept(&self) -> Result<usize> {
        let all = read::run_numbers(&self.connection);
        Ok(all.map_err(doing(&self.path, "reading the list of runs"))?.len())
    }

    /// True if the list of runs is undamaged; otherwise runs may be missing.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn lists_all_runs(&self) -> Result<bool> {
        let what = "reading the list of runs";
        check::lists_all_runs(&self.connection).map_err(doing(&self.path, what))
    }

    /// The last attempt at each point of a run, in the order of the plan, without damaged ones.
    /// `run_id` like for [`run`](Self::run).
    ///
    /// # Errors
    /// Like [`run`](Self::run).
    pub fn points(&self, run_id: &str) -> Result<Vec<PointRecord>> {
        self.reading("reading the points", |snapshot| {
            let (number, id) = self.resolve(run_id)?;
            Ok(check::points(snapshot, number, &id)?.last())
        })
    }

    /// Indices of the completely measured points, which a resumed run skips. Points that were
    /// interrupted, whose device was gone or whose target failed, and damaged ones are measured
    /// again.
    ///
    /// # Errors
    /// Like [`run`](Self::run).
    pub fn points_done(&self, run_id: &str) -> Result<BTreeSet<u32>> {
        let all = self.points(run_id)?.into_iter();
        Ok(all.filter(|point| !point.is_cut_short()).map(|point| point.index).collect())
    }

    /// The run started last that is not complete, not retracted and not in progress, held as by
    /// [`hold`](Self::hold).
    ///
    /// # Errors
    /// [`LogbookError::Alive`] if all such runs are in progress, [`LogbookError::Altered`] if its
    /// record is damaged, or if the file is damaged.
    pub fn hold_unfinished(&mut self) -> Result<Option<RunRecord>> {
        let what = "finding an unfinished run";
        let ids = read::incomplete(&self.connection).map_err(doing(&self.path, what))?;
        let mut alive = None;
        for id in ids {
            if self.unaltered(&id).is_ok_and(|run| run.retracted().is_some()) {
                continue;
            }
            match self.hold(&id) {
                Ok(()) => return self.unaltered(&id).map(Some),
                Err(error @ LogbookError::Alive { .. }) => alive = alive.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        alive.map_or(Ok(None), Err)
    }

    /// Run with undamaged plan, targets and environment.
    fn unaltered(&self, id: &str) -> Result<RunRecord> {
        self.reading("finding an unfinished run", |snapshot| {
            let (run, damage) = check::run(snapshot, self.resolve(id)?.0)?;
            let Some(damage) = damage else { return Ok(run) };
            let what = format!("the record of run {id} ({})", damage.parts.join(", "));
            Err(self.altered(what, "it cannot be resumed", "start a new run").into())
        })
    }

    /// Checks the whole file: SQLite's `integrity_check`, and every record against its digest.
    ///
    /// # Errors
    /// If the file cannot be read at all. Damage is part of the result.
    pub fn check(&self) -> Result<Checked> {
        self.reading("checking the file", |snapshot| {
            let file = integrity(snapshot)?;
            let mut checked = check::all(snapshot)?;
            checked.damaged.extend(headlines::damaged(snapshot)?);
            Ok(Checked { file, ..checked })
        })
    }

    /// Runs several queries on one consistent snapshot while another process may be writing.
    pub(crate) fn reading<T>(
        &self,
        what: &'static str,
        read: impl FnOnce(&Connection) -> std::result::Result<T, Failure>,
    ) -> Result<T> {
        let snapshot = Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred)
            .map_err(doing(&self.path, what))?;
        read(&snapshot).map_err(|failure| failure.during(&self.path, what))
    }

    /// Error of a list or record that does not match its checksum.
    pub(crate) fn altered(
        &self,
        what: impl Into<String>,
        not_done: &'static str,
        instead: &'static str,
    ) -> LogbookError {
        LogbookError::Altered { path: self.path.clone(), what: what.into(), not_done, instead }
    }

    /// Number and ID of a run.
    pub(crate) fn resolve(&self, asked: &str) -> Result<(i64, String)> {
        let what = "finding the run";
        let fail = |error| LogbookError::sqlite(&self.path, what, error);
        let before =
            asked.strip_prefix("latest").filter(|rest| rest.is_empty() || rest.starts_with('~'));
        if before.is_some() && !self.lists_all_runs()? {
            let not_done = "the latest run is unknown";
            return Err(self.altered("the list of runs", not_done, "use the ID of the run"));
        }
        if let Some(before) = before.and_then(|rest| rest.strip_prefix('~')) {
            return self.before_the_latest(asked, before);
        }
        let mut candidates = read::ids_like(&self.connection, asked).map_err(fail)?;
        match candidates.len() {
            0 => Err(LogbookError::NoSuchRun { path: self.path.clone(), asked: asked.to_owned() }),
            1 => Ok(candidates.remove(0)),
            _ => {
                let candidates = candidates.into_iter().map(|(_, id)| id).collect();
                Err(LogbookError::AmbiguousRun { asked: asked.to_owned(), candidates })
            }
        }
    }

    /// Resolves `latest~N`: the run N before the one started last.
    fn before_the_latest(&self, asked: &str, before: &str) -> Result<(i64, String)> {
        let no = |why: String| LogbookError::NoEarlierRun { asked: asked.to_owned(), why };
        let number = before.parse::<u32>().map_err(|_| {
            no("add a number after ~, for example latest~1 for the run before the last".to_owned())
        })?;
        let found = read::before_the_latest(&self.connection, number)
            .map_err(|error| LogbookError::sqlite(&self.path, "finding the run", error))?;
        let kept = self.runs_kept()?;
        found.ok_or_else(|| {
            let path = self.path.display();
            no(match kept {
                0 => format!("{path} has no runs"),
                1 => format!("{path} has 1 run. Use `latest`"),
                kept => format!("{path} has {kept} runs. The oldest is `latest~{}`", kept - 1),
            })
        })
    }
}

/// Output of SQLite's integrity check, one line each; empty if the file is sound.
fn integrity(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let lines: rusqlite::Result<Vec<String>> = connection
        .prepare("PRAGMA integrity_check")
        .and_then(|mut check| check.query_map([], |row| row.get(0))?.collect());
    match lines {
        Err(error) if is_damage(&error) => Ok(vec![error.to_string()]),
        lines => Ok(lines?.into_iter().filter(|line| line != "ok").collect()),
    }
}

/// Updates the mutable part of a run, and the digests of the parts that were undamaged.
pub(crate) fn changed(
    connection: &Connection,
    run: i64,
    work: impl FnOnce(&RunRecord) -> rusqlite::Result<usize>,
) -> std::result::Result<(), Failure> {
    let mut parts = Parts::of_run(connection, run, Purpose::Check);
    let before = read::run(&mut parts)?;
    work(&before)?;
    let mut parts = parts.into_storing();
    let after = read::run(&mut parts)?;
    match parts.damaged.is_empty() {
        true => headlines::keep(connection, run, &after)?,
        false => headlines::forget(connection, run)?,
    }
    Ok(())
}

/// True if a point has a complete and undamaged attempt.
pub(crate) fn is_measured(connection: &Connection, run: i64, index: u32) -> rusqlite::Result<bool> {
    for row in read::attempts(connection, run, index)? {
        let found = check::point(connection, run, row)?;
        if found.is_ok_and(|attempt| !attempt.point.is_cut_short()) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn state_of(
    connection: &Connection,
    path: &Path,
    run_id: &str,
) -> std::result::Result<(i64, RunState), Failure> {
    read::state(connection, run_id)?.ok_or_else(|| {
        LogbookError::NoSuchRun { path: path.to_owned(), asked: run_id.to_owned() }.into()
    })
}

fn running(
    connection: &Connection,
    path: &Path,
    run_id: &str,
) -> std::result::Result<i64, Failure> {
    let (run, state) = state_of(connection, path, run_id)?;
    let id = run_id.to_owned();
    match state {
        RunState::Running => Ok(run),
        RunState::Complete => Err(LogbookError::Complete { run: id }.into()),
        state => {
            let state = state.as_str();
            Err(LogbookError::NotRunning { run: id, state }.into())
        }
    }
}
