//! Bandwidth of several runs, for example of several configurations of the same drives, compared
//! with the first of them.

use qdepth_measure::{Estimate, quotient};

use super::runs::Campaign;
use crate::document::{Block, Cell, Picture, number_in};
use crate::number::{self, MIB_PER_S, rounded};
use crate::rows::Rows;
use crate::section::bandwidth::{self, Bandwidth};
use crate::section::naming;
use crate::view::View;
use crate::words::fill_in;

/// Runs that measured bandwidth, each with its rates.
pub(super) struct Bandwidths<'c, 'a> {
    runs: Vec<(usize, &'c View<'a>, Bandwidth)>,
    /// Name of the first of these runs.
    base: String,
}

impl<'c, 'a> Bandwidths<'c, 'a> {
    /// `None` if fewer than two runs measured bandwidth.
    pub(super) fn new(campaign: &Campaign<'c, 'a>) -> Option<Self> {
        let views = campaign.views.iter().copied().enumerate();
        let runs = views.filter_map(|(index, view)| Some((index, view, Bandwidth::new(view)?)));
        let runs: Vec<_> = runs.collect();
        let base = campaign.number(runs.first()?.0);
        (runs.len() > 1).then_some(Self { runs, base })
    }

    /// Best rate of a run in one direction, as a ratio to that of the first run.
    fn ratio(&self, bandwidth: &Bandwidth, direction: usize) -> Option<Estimate> {
        let base = self.runs.first()?.2.best(direction)?.2;
        quotient(&bandwidth.best(direction)?.2, &base)
    }

    /// The scaling factors of all runs after the first, one sentence each.
    pub(super) fn scaling(&self, campaign: &Campaign<'c, 'a>) -> String {
        let words = campaign.words;
        let of_run = |(index, view, bandwidth): &(usize, &View<'_>, Bandwidth)| {
            let item = |direction: usize| {
                let own = view.words.bandwidth;
                let values = [
                    ("verb", own.verbs[direction].to_owned()),
                    ("times", number::in_prose(&self.ratio(bandwidth, direction)?)),
                ];
                Some(fill_in(words.bandwidth_times, &values))
            };
            let items: Vec<String> = (0..2).filter_map(item).collect();
            let values = [
                ("run", campaign.number(*index)),
                ("targets", naming::targets(view)),
                ("base", self.base.clone()),
            ];
            let is_known = !items.is_empty();
            let items = [("items", naming::list(view, items))];
            is_known.then(|| fill_in(words.bandwidth_scaling, &[&values[..], &items].concat()))
        };
        let all: Vec<String> = self.runs.iter().skip(1).filter_map(of_run).collect();
        all.join(self.runs[0].1.words.gap)
    }

    /// A diagram for each direction, and a table with one row per run.
    pub(super) fn figures(&self, campaign: &Campaign<'c, 'a>) -> (Vec<Picture>, Block) {
        let first = self.runs[0].1;
        let (words, own) = (campaign.words, first.words.bandwidth);
        let named = self.runs.iter().map(|(index, view, _)| {
            let name = format!("{}: {}", campaign.number(*index), naming::targets(view));
            (name, Bandwidth::new(view))
        });
        let named: Vec<_> = named.filter_map(|(name, rates)| Some((name, rates?))).collect();
        let drawn = [1, 0].map(|direction| bandwidth::of_runs(first, &named, direction));
        let ratio = fill_in(words.bandwidth_ratio, &[("base", self.base.clone())]);
        let mut rows = Rows::from_items(&self.runs)
            .text(first.words.facts.run, |(index, ..)| Cell::head(number::count(*index as u64 + 1)))
            .text(first.words.facts.target, |(_, view, _)| naming::targets(view));
        for direction in [0, 1] {
            let heading = number_in(own.directions[direction], MIB_PER_S);
            rows = rows
                .column(heading, |(.., bandwidth)| {
                    let best = bandwidth.best(direction);
                    Cell::or_dash(best.map(|(.., rate)| rounded(&rate).joined()))
                })
                .number(&ratio, "", |(.., bandwidth)| {
                    let ratio = self.ratio(bandwidth, direction);
                    Cell::or_dash(ratio.map(|ratio| rounded(&ratio).joined()))
                });
        }
        let table = rows.text("", |(_, view, _)| Cell::unknown(view.mark()));
        let pictures = drawn.into_iter().flatten().collect();
        (pictures, Block::Table(table.table(words.bandwidth_caption)))
    }
}
