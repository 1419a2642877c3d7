//! The runs of one report, and texts about all of them.

use qdepth_record::RunRecord;

use crate::number;
use crate::presentation::Presentation;
use crate::view::View;
use crate::words::{CampaignWords, fill_in};

/// Runs that appear in one report.
pub(super) struct Campaign<'c, 'a> {
    pub(super) words: &'static CampaignWords,
    pub(super) views: Vec<&'c View<'a>>,
    /// Hashes of each run's results.
    pub(super) hashes: Vec<String>,
    pub(super) presentation: &'c Presentation,
}

impl<'a> Campaign<'_, 'a> {
    pub(super) fn runs(&self) -> impl Iterator<Item = &'a RunRecord> {
        self.views.iter().map(|view| view.run)
    }

    /// Number of a run as text, for example `Run 2`.
    pub(super) fn number(&self, index: usize) -> String {
        fill_in(self.words.run, &[("n", number::count(index as u64 + 1))])
    }

    /// EMULATED if all runs are emulated; a different mark if only some are.
    pub(super) fn mark(&self) -> &'static str {
        let emulated = self.runs().filter(|run| run.emulated).count();
        match self.views.first() {
            Some(first) if emulated == self.views.len() => first.words.emulated[0],
            _ if emulated > 0 => self.words.partly[0],
            _ => "",
        }
    }
}
