//! Records for pages, read anew for each: a logbook may appear, grow or be replaced at any time.

use std::path::{Path, PathBuf};

use qdepth_logbook::{LiveEvents, Logbook, LogbookError};
use qdepth_record::RunHeadline;
use qdepth_report::Measured;

/// Of so many runs of a list each is read whole.
pub(crate) const LOOKED_AT: usize = 100;

/// The runs of a logbook, as a page finds them.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The newest first.
    pub(crate) runs: Vec<RunHeadline>,
    /// Whether no run is missing.
    pub(crate) whole: bool,
    /// Whether there is a logbook.
    pub(crate) exists: bool,
}

/// Where records come from.
#[derive(Debug)]
pub(crate) struct Source {
    logbook: PathBuf,
}

impl Source {
    pub(crate) fn new(logbook: PathBuf) -> Self {
        Self { logbook }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.logbook
    }

    fn open(&self) -> Result<Logbook, LogbookError> {
        Logbook::open_read_only(&self.logbook)
    }

    /// All runs, of which the first `whole` are read whole; of a logbook that is not there yet none.
    pub(crate) fn runs(&self, whole: usize) -> Result<Listing, LogbookError> {
        match self.open() {
            Ok(logbook) => Ok(Listing {
                runs: logbook.listed(usize::MAX, whole, |_| true)?,
                whole: logbook.lists_all_runs()?,
                exists: true,
            }),
            Err(error) if error.is_absent() => Ok(Listing { whole: true, ..Listing::default() }),
            Err(error) => Err(error),
        }
    }

    /// These runs of a list, each read whole; without those that are gone by now.
    pub(crate) fn looked_at(
        &self,
        runs: &[&RunHeadline],
    ) -> Result<Vec<RunHeadline>, LogbookError> {
        if runs.is_empty() { Ok(Vec::new()) } else { self.open()?.looked_at(runs) }
    }

    /// Ids of the runs that are being measured, in the order of their beginning.
    pub(crate) fn alive(&self) -> Result<Vec<String>, LogbookError> {
        match self.open() {
            Ok(logbook) => Ok(logbook.alive().into_iter().collect()),
            Err(error) if error.is_absent() => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// What happens in a run that is being measured; none of another one.
    pub(crate) fn live(&self, id: &str) -> Option<LiveEvents> {
        self.open().ok()?.live(id)
    }

    /// A run by its id, or the beginning of it, or `latest`.
    pub(crate) fn run(&self, id: &str) -> Result<Measured, LogbookError> {
        self.open()?.measured(id)
    }

    /// Runs in the order asked, without those that are damaged or gone by now.
    pub(crate) fn whole_runs(&self, ids: &[&str]) -> Result<Vec<Measured>, LogbookError> {
        let logbook = self.open()?;
        let mut all = Vec::new();
        for id in ids {
            match logbook.measured(id) {
                Ok(run) => all.push(run),
                Err(LogbookError::NoSuchRun { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        all.retain(|(run, _)| !run.is_damaged());
        Ok(all)
    }

    /// Runs in the order asked, each once, and earlier ones of the same plan as the first.
    pub(crate) fn compared(
        &self,
        ids: &[&str],
    ) -> Result<(Vec<Measured>, Vec<Measured>), LogbookError> {
        let logbook = self.open()?;
        let mut runs: Vec<Measured> = Vec::new();
        for id in ids {
            let (run, points) = logbook.measured(id)?;
            if !runs.iter().any(|(other, _)| other.id == run.id) {
                runs.push((run, points));
            }
        }
        let earlier = match runs.first() {
            Some((first, _)) => {
                let known: Vec<&str> = runs.iter().map(|(run, _)| run.id.as_str()).collect();
                logbook.earlier(&first.plan_name, &known)?
            }
            None => Vec::new(),
        };
        Ok((runs, earlier))
    }

    /// Of each machine the last run that tells of it, with how many there are; the one that
    /// measured last comes first.
    pub(crate) fn machines(&self) -> Result<Vec<(Measured, usize)>, LogbookError> {
        let listing = self.runs(0)?;
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
