//! Records for pages, read again for each page: the logbook may be created, grow or be replaced at
//! any time.

use std::path::{Path, PathBuf};

use qdepth_logbook::{LiveEvents, Logbook, LogbookError};
use qdepth_record::{Document, RunHeadline, RunRecord, document};
use qdepth_report::{EARLIER_MAX, Measured, PublishedDrive, Trend, TrendRequest, trend, trend_of};

/// Maximum number of runs of a list; each is read completely.
pub(crate) const RUNS_LISTED_MAX: usize = 100;

/// List of runs for a page.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The newest first.
    pub(crate) runs: Vec<RunHeadline>,
    /// True if no run is missing.
    pub(crate) whole: bool,
    /// True if there is a logbook.
    pub(crate) exists: bool,
}

/// Run of a comparison: its record, and its figures without histograms.
pub(crate) type Compared = (RunRecord, Document);

/// Source of records.
#[derive(Debug)]
pub(crate) struct Source {
    logbook: PathBuf,
    /// Published drives that may be columns of comparisons.
    pub(crate) published: Vec<PublishedDrive>,
}

impl Source {
    pub(crate) fn new(logbook: PathBuf, published: Vec<PublishedDrive>) -> Self {
        Self { logbook, published }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.logbook
    }

    fn open(&self) -> Result<Logbook, LogbookError> {
        Logbook::open_read_only(&self.logbook)
    }

    /// Runs that match `wanted`; the first `whole` are read completely. Empty if the logbook does
    /// not exist yet.
    pub(crate) fn runs(
        &self,
        whole: usize,
        wanted: impl Fn(&RunHeadline) -> bool,
    ) -> Result<Listing, LogbookError> {
        match self.open() {
            Ok(logbook) => Ok(Listing {
                runs: logbook.listed(usize::MAX, whole, wanted)?,
                whole: logbook.lists_all_runs()?,
                exists: true,
            }),
            Err(error) if error.is_absent() => Ok(Listing { whole: true, ..Listing::default() }),
            Err(error) => Err(error),
        }
    }

    /// Reads these runs completely. Runs that no longer exist are omitted.
    pub(crate) fn read_each(
        &self,
        runs: &[&RunHeadline],
    ) -> Result<Vec<RunHeadline>, LogbookError> {
        if runs.is_empty() { Ok(Vec::new()) } else { self.open()?.read_each(runs) }
    }

    /// Ids of the runs in progress, in the order of their start.
    pub(crate) fn alive(&self) -> Result<Vec<String>, LogbookError> {
        match self.open() {
            Ok(logbook) => Ok(logbook.alive().into_iter().collect()),
            Err(error) if error.is_absent() => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Events of a run in progress; `None` for other runs.
    pub(crate) fn live_events(&self, asked: &str) -> Result<Option<LiveEvents>, LogbookError> {
        let logbook = self.open()?;
        Ok(logbook.live(&full_id(&logbook, asked)?))
    }

    /// Full id of a run, from its id, a prefix of it, or `latest`.
    pub(crate) fn id(&self, asked: &str) -> Result<String, LogbookError> {
        full_id(&self.open()?, asked)
    }

    /// Reads a run by its id, a prefix of it, or `latest`.
    pub(crate) fn run(&self, id: &str) -> Result<Measured, LogbookError> {
        self.open()?.measured(id)
    }

    /// Trend of these runs. Each is read completely, but only its figures stay in memory.
    pub(crate) fn trend(
        &self,
        runs: &[RunHeadline],
        request: &TrendRequest<'_>,
    ) -> Result<Trend, LogbookError> {
        if runs.is_empty() {
            return Ok(trend(&[], 0, request.threshold));
        }
        let logbook = self.open()?;
        let record = |id: &str| none_if_missing(logbook.run(id), RunRecord::is_damaged);
        let whole = |id: &str| none_if_missing(logbook.measured(id), |(run, _)| run.is_damaged());
        trend_of(runs, request, record, whole)
    }

    /// Requested runs in order, without duplicates, and earlier runs of the first run's plan.
    pub(crate) fn compared(
        &self,
        ids: &[&str],
    ) -> Result<(Vec<Compared>, Vec<Document>), LogbookError> {
        let logbook = self.open()?;
        let mut runs: Vec<Compared> = Vec::new();
        for id in ids {
            let (run, points) = logbook.measured(id)?;
            if !runs.iter().any(|(other, _)| other.id == run.id) {
                let document = document(&run, &points);
                runs.push((run, document));
            }
        }
        let Some((first, _)) = runs.first() else { return Ok((runs, Vec::new())) };
        let alike = logbook.newest_runs(EARLIER_MAX, |line| {
            let known = runs.iter().any(|(run, _)| run.id == line.id);
            line.plan == first.plan_name && line.is_comparable() && !known
        })?;
        let measured =
            |line: &RunHeadline| logbook.measured(&line.id).map(|(run, all)| document(&run, &all));
        let earlier = alike.iter().map(measured).collect::<Result<_, _>>()?;
        Ok((runs, earlier))
    }

    /// Last run of each machine, and the number of its runs; the most recent first.
    pub(crate) fn machines(&self) -> Result<Vec<(Measured, usize)>, LogbookError> {
        let listing = self.runs(0, |_| true)?;
        let mut last: Vec<(&RunHeadline, usize)> = Vec::new();
        for run in listing.runs.iter().filter(|run| !run.host.is_empty()) {
            match last.iter_mut().find(|(known, _)| known.host == run.host) {
                Some((_, count)) => *count += 1,
                None => last.push((run, 1)),
            }
        }
        if last.is_empty() {
            return Ok(Vec::new());
        }
        let logbook = self.open()?;
        let machine =
            |(run, count): (&RunHeadline, usize)| Ok(((logbook.run(&run.id)?, Vec::new()), count));
        last.into_iter().map(machine).collect()
    }
}

/// Full id of a run. A run in progress may not be in the logbook yet, so its id is accepted as it
/// is.
fn full_id(logbook: &Logbook, asked: &str) -> Result<String, LogbookError> {
    if logbook.alive().contains(asked) {
        return Ok(asked.to_owned());
    }
    logbook.run(asked).map(|run| run.id)
}

/// Data of a run; `None` if it is gone or damaged.
fn none_if_missing<T>(
    found: Result<T, LogbookError>,
    is_damaged: impl Fn(&T) -> bool,
) -> Result<Option<T>, LogbookError> {
    match found {
        Ok(found) => Ok((!is_damaged(&found)).then_some(found)),
        Err(LogbookError::NoSuchRun { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
