//! The rates of a run that measured bandwidth.

use std::collections::BTreeMap;

use qdepth_measure::{Estimate, Saturation, saturation, together};
use qdepth_record::PointRecord;

use crate::number::{self, MIB};
use crate::view::{Point, View};

/// Short names of the loads, write and read: on all targets, and on the first alone.
const ALL: [&str; 2] = ["bandwidth-write", "bandwidth-read"];

const ALONE: [&str; 2] = ["baseline-write", "baseline-read"];

/// The rates of a run, taken from its last pass.
pub(crate) struct Bandwidth {
    /// Transfer sizes, in the order of the plan; other fields refer to them by index.
    pub(crate) transfers: Vec<String>,
    /// Numbers of threads, ascending.
    pub(crate) threads: Vec<u32>,
    /// Number of targets that ran together.
    pub(crate) targets: usize,
    /// Rates by direction, index of the transfer size, and threads.
    all: BTreeMap<(usize, usize, u32), Rate>,
    /// Rates of the first target alone, by direction and threads.
    alone: BTreeMap<(usize, u32), Rate>,
}

/// Total rate of all threads of a step.
#[derive(Clone, Debug)]
pub(crate) struct Rate {
    /// MiB/s.
    pub(crate) mib_per_s: Estimate,
    pub(crate) valid: bool,
    /// Points that ran together, by index in the plan.
    pub(crate) points: Vec<u32>,
}

/// True if a point belongs to a bandwidth run.
pub(crate) fn is_of_bandwidth(record: &PointRecord) -> bool {
    ALL.contains(&&*record.profile) || ALONE.contains(&&*record.profile)
}

impl Bandwidth {
    /// The rates of a run; `None` if it is not a bandwidth run.
    pub(crate) fn new(view: &View<'_>) -> Option<Self> {
        let mut groups: BTreeMap<u32, Vec<&Point<'_>>> = BTreeMap::new();
        for (_, point) in view.points().filter(|(_, point)| is_of_bandwidth(point.record)) {
            groups.entry(point.record.group).or_default().push(point);
        }
        let mut found = Self {
            transfers: Vec::new(),
            threads: Vec::new(),
            targets: view.targets.len(),
            all: BTreeMap::new(),
            alone: BTreeMap::new(),
        };
        // Later groups with the same threads and size replace earlier ones: the last pass counts.
        for points in groups.values() {
            found.take(points);
        }
        found.threads.sort_unstable();
        (!found.all.is_empty()).then_some(found)
    }

    fn take(&mut self, points: &[&Point<'_>]) {
        let Some(first) = points.first().map(|point| point.record) else { return };
        let direction = usize::from(first.read_share > 0.0);
        let threads = points.iter().map(|point| point.record.streams).sum();
        let load = |point: &&Point<'_>| {
            let record = point.record;
            let bytes = record.reads.bytes.saturating_add(record.writes.bytes);
            (bytes as f64 / MIB, record.duration_ns as f64 / 1e9, point.mib_per_s)
        };
        let mib_per_s = together(&points.iter().map(load).collect::<Vec<_>>());
        let rate = Rate {
            mib_per_s,
            valid: points.iter().all(|point| point.is_valid()),
            points: points.iter().map(|point| point.record.index).collect(),
        };
        if ALONE.contains(&&*first.profile) {
            self.alone.insert((direction, threads), rate);
            return;
        }
        let transfer = number::spaced_sizes(&first.block_size);
        let known = self.transfers.iter().position(|size| *size == transfer);
        let transfer = known.unwrap_or_else(|| {
            self.transfers.push(transfer);
            self.transfers.len() - 1
        });
        if !self.threads.contains(&threads) {
            self.threads.push(threads);
        }
        self.all.insert((direction, transfer, threads), rate);
    }

    pub(crate) fn rate(&self, direction: usize, transfer: usize, threads: u32) -> Option<&Rate> {
        self.all.get(&(direction, transfer, threads))
    }

    /// Points with this number of threads, by direction and transfer size.
    pub(crate) fn points(&self, directions: &[usize], threads: u32) -> Vec<u32> {
        let sizes = 0..self.transfers.len();
        let places = directions.iter().flat_map(|d| sizes.clone().map(move |size| (*d, size)));
        let rates = places.filter_map(|(direction, size)| self.rate(direction, size, threads));
        rates.flat_map(|rate| &rate.points).copied().collect()
    }

    /// The valid rates of a transfer size, by threads.
    pub(crate) fn rates(&self, direction: usize, transfer: usize) -> Vec<(u32, Estimate)> {
        let at = |threads: &u32| Some((*threads, self.valid(direction, transfer, *threads)?));
        self.threads.iter().filter_map(at).collect()
    }

    fn valid(&self, direction: usize, transfer: usize, threads: u32) -> Option<Estimate> {
        let rate = self.rate(direction, transfer, threads).filter(|rate| rate.valid)?;
        Some(rate.mib_per_s)
    }

    /// The best valid rate of a direction, with its transfer size and threads; of several that are
    /// printed alike, the one with the fewest threads and then the smallest transfer size.
    pub(crate) fn best(&self, direction: usize) -> Option<(usize, u32, Estimate)> {
        let of_transfer = |transfer: usize| {
            let rates = self.rates(direction, transfer).into_iter();
            rates.map(move |(threads, rate)| (transfer, threads, rate))
        };
        let mut rates: Vec<_> = (0..self.transfers.len()).flat_map(of_transfer).collect();
        let printed = |rate: &Estimate| number::three_digits(rate.value);
        let most = rates.iter().max_by(|(.., a), (.., b)| a.value.total_cmp(&b.value))?.2;
        rates.sort_by_key(|(transfer, threads, _)| (*threads, *transfer));
        rates.into_iter().find(|(.., rate)| printed(rate) == printed(&most))
    }

    /// The best valid rate of each number of threads, with its transfer size.
    pub(crate) fn best_by_threads(&self, direction: usize) -> Vec<(u32, (usize, Estimate))> {
        let best = |threads: &u32| {
            let sizes = 0..self.transfers.len();
            let rates = sizes.filter_map(|transfer| {
                Some((transfer, self.valid(direction, transfer, *threads)?))
            });
            let best =
                rates.reduce(|best, next| if next.1.value > best.1.value { next } else { best });
            Some((*threads, best?))
        };
        self.threads.iter().filter_map(best).collect()
    }

    /// The threads that give 95 % of the best rate of a direction, and the best transfer size with
    /// these threads.
    pub(crate) fn sufficient(&self, direction: usize) -> Option<(Saturation, usize)> {
        let best = self.best_by_threads(direction);
        let rates: Vec<(u32, Estimate)> = best.iter().map(|(n, (_, rate))| (*n, *rate)).collect();
        let found = saturation(&rates)?;
        let (_, (size, _)) = best.iter().find(|(threads, _)| *threads == found.number)?;
        Some((found, *size))
    }

    /// The best valid rate of the first target alone, MiB/s; with a single target, its own best
    /// rate.
    pub(crate) fn baseline(&self, direction: usize) -> Option<f64> {
        if self.targets < 2 {
            let rates = self.rates(direction, 0).into_iter();
            return rates.map(|(_, rate)| rate.value).reduce(f64::max);
        }
        let rates = self.alone.iter().filter(|((way, _), rate)| *way == direction && rate.valid);
        rates.map(|(_, rate)| rate.mib_per_s.value).reduce(f64::max)
    }

    /// A rate divided by the baseline times the number of targets.
    pub(crate) fn scaled(&self, direction: usize, rate: &Estimate) -> Option<f64> {
        Some(rate.value / (self.baseline(direction)? * self.targets as f64))
    }
}
