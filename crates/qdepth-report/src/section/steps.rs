//! The steps of a run: loads that ran at the same time, and what the reader among them waited while
//! the others wrote.

use qdepth_measure::{Grade, LatencyHistogram, Limit, Percentile, Statistic, percentile};
use qdepth_record::{PointRecord, follows};

use crate::number::MIB;
use crate::view::{Load, Point, View};

/// Latency at the knee over that at the lowest load. An M/M/1 queue is there at half its capacity.
const KNEE: f64 = 2.0;

/// A fall of the latency by less than this share is left out of a sentence.
const FALL: f64 = 0.02;
/// Maximum distance of the quotient of two rates from a multiple of a half if they keep step:
/// scatter of any kind takes it further away.
const IN_STEP: f64 = 2e-4;

/// Every step of a run.
pub(crate) struct Steps<'v, 'a> {
    /// Titles, in the order of the plan.
    pub(crate) titles: Vec<&'a str>,
    /// By target, in the order of the plan.
    pub(crate) all: Vec<Step<'v, 'a>>,
}

/// One step on one target.
pub(crate) struct Step<'v, 'a> {
    /// Its place among the titles.
    pub(crate) step_index: usize,
    pub(crate) title: &'a str,
    pub(crate) target: u32,
    /// In the order of the plan.
    pub(crate) loads: Vec<(&'v Load<'a>, &'v Point<'a>)>,
}

/// Step at which the reader's latency exceeds a limit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Crossing {
    /// Between the write loads of these two steps, MiB/s, with their titles: more is not known.
    Between([f64; 2], [String; 2]),
    /// Before the first step, of this title.
    Before(String),
    /// Not up to this write load, MiB/s; later steps, so many, have too few samples.
    NotUpTo(f64, usize),
    /// Too few samples at every step.
    Unknown,
}

impl<'v, 'a> Steps<'v, 'a> {
    /// The steps of a run; none for a run of sweeps.
    pub(crate) fn new(view: &'v View<'a>) -> Self {
        let stepped = view.points().filter(|(load, _)| load.stepped);
        let mut points: Vec<(&'v Load<'a>, &'v Point<'a>)> = stepped.collect();
        points.sort_by_key(|(_, point)| (point.record.target, point.record.index));
        let mut steps = Self { titles: Vec::new(), all: Vec::new() };
        let mut former = None;
        for (load, point) in points {
            let (target, group) = (point.record.target, point.record.group);
            match steps.all.last_mut() {
                Some(step) if former == Some((target, group)) => step.loads.push((load, point)),
                _ => steps.add(target, &point.record.step, (load, point)),
            }
            former = Some((target, group));
        }
        steps
    }

    /// A title that a target has twice has two places.
    fn add(&mut self, target: u32, title: &'a str, load: (&'v Load<'a>, &'v Point<'a>)) {
        let used = |step_index: usize| {
            self.all.iter().any(|s| s.target == target && s.step_index == step_index)
        };
        let free = (0..self.titles.len()).find(|p| self.titles[*p] == title && !used(*p));
        let step_index = free.unwrap_or_else(|| {
            self.titles.push(title);
            self.titles.len() - 1
        });
        self.all.push(Step { step_index, title, target, loads: vec![load] });
    }

    /// True if every step has one reader and writers, and the writers' load rises.
    pub(crate) fn are_write_pressure(&self) -> bool {
        let asked: Vec<Option<f64>> = self.all.iter().map(Step::asked_io_per_s).collect();
        let rising = self
            .all
            .iter()
            .zip(&asked)
            .zip(self.all.iter().zip(&asked).skip(1))
            .all(|((a, asked_a), (b, asked_b))| a.target != b.target || asked_a < asked_b);
        self.titles.len() > 1
            && rising
            && asked.iter().all(Option::is_some)
            && self.all.iter().all(|step| step.reader().is_some())
    }

    /// Steps of a target, in the order of the plan.
    pub(crate) fn on(&self, target: u32) -> impl Iterator<Item = &Step<'v, 'a>> {
        self.all.iter().filter(move |step| step.target == target)
    }

    /// Targets that have steps, ascending.
    pub(crate) fn targets(&self) -> Vec<u32> {
        let mut targets: Vec<u32> = self.all.iter().map(|step| step.target).collect();
        targets.dedup();
        targets
    }

    /// The last step that every target followed with valid figures: one a target.
    pub(crate) fn top_common(&self) -> Option<Vec<&Step<'v, 'a>>> {
        let targets = self.targets();
        (0..self.titles.len()).rev().find_map(|step_index| {
            let at =
                |target: &u32| self.on(*target).find(|s| s.step_index == step_index && s.counts());
            targets.iter().map(at).collect::<Option<Vec<_>>>()
        })
    }

    /// The last step before the reader's mean latency rises above twice that of the first step, for
    /// good, and the next: the knee lies between them. None where it does not rise so.
    pub(crate) fn knee(&self, target: u32) -> Option<[&Step<'v, 'a>; 2]> {
        let means: Vec<(&Step<'v, 'a>, f64)> = self.valid(target, Statistic::Mean);
        let (_, first) = means.first()?;
        let below = means.iter().rposition(|(_, mean)| *mean <= KNEE * first)?;
        Some([means[below].0, means.get(below + 1)?.0])
    }

    /// Finds the first step of a rising write load at which the reader's latency exceeds a limit.
    pub(crate) fn crossing(&self, target: u32, limit: &Limit) -> Crossing {
        let at_most = limit.at_most.0 as f64;
        let known = self.valid(target, limit.statistic);
        let Some((last, _)) = known.last() else { return Crossing::Unknown };
        let later =
            self.on(target).filter(|step| step.is_valid() && step.step_index > last.step_index);
        let Some(over) = known.iter().position(|(_, ns)| *ns > at_most) else {
            return Crossing::NotUpTo(last.achieved(), later.count());
        };
        let (above, _) = &known[over];
        let Some((below, _)) = over.checked_sub(1).map(|index| &known[index]) else {
            return Crossing::Before(above.title.to_owned());
        };
        let loads = [below.achieved(), above.achieved()];
        Crossing::Between(loads, [below.title.to_owned(), above.title.to_owned()])
    }

    /// The step with the largest certain fall of the reader's mean latency from the step before it,
    /// though more was written: both, earlier first.
    pub(crate) fn fall(&self, target: u32) -> Option<[&Step<'v, 'a>; 2]> {
        let steps: Vec<&Step<'v, 'a>> = self.on(target).filter(|step| step.is_valid()).collect();
        let falls = steps.windows(2).filter_map(|pair| {
            let (before, after) = (pair[0].mean_interval()?, pair[1].mean_interval()?);
            let share = 1.0 - after.1 / before.0;
            (share > FALL).then_some((share, [pair[0], pair[1]]))
        });
        falls.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, pair)| pair)
    }

    /// Steps on which the reader is in step with the writers' schedule, in the order of the plan.
    pub(crate) fn in_step(&self, target: u32) -> impl Iterator<Item = &Step<'v, 'a>> {
        self.on(target).filter(|step| step.is_valid() && step.is_in_step())
    }

    fn valid(&self, target: u32, statistic: Statistic) -> Vec<(&Step<'v, 'a>, f64)> {
        let latency = |step: &'_ Step<'v, 'a>| step.reader_latency(statistic);
        let valid = self.on(target).filter(|step| step.is_valid());
        valid.filter_map(|step| Some((step, latency(step)?))).collect()
    }
}

impl<'a> Step<'_, 'a> {
    /// The points of its loads, by their places in the plan.
    pub(crate) fn point_indices(&self) -> impl Iterator<Item = u32> {
        self.loads.iter().map(|(_, point)| point.record.index)
    }

    /// The one load that only reads, where every other only writes.
    pub(crate) fn reader(&self) -> Option<&Point<'a>> {
        let mut readers = self.points().filter(|p| p.record.read_share >= 1.0);
        let reader = readers.next()?;
        let others_write = self.points().filter(|p| p.record.read_share <= 0.0).count();
        (readers.next().is_none() && others_write + 1 == self.loads.len()).then_some(reader)
    }

    fn points(&self) -> impl Iterator<Item = &Point<'a>> {
        self.loads.iter().map(|(_, point)| *point)
    }

    fn writers(&self) -> impl Iterator<Item = &Point<'a>> {
        self.points().filter(|point| point.record.read_share <= 0.0)
    }

    /// Write load that was offered, MiB/s; `None` if a writer's load is not a schedule.
    pub(crate) fn asked_io_per_s(&self) -> Option<f64> {
        self.writers().map(|point| offered(point.record)).sum()
    }

    /// Write load that was reached, MiB/s.
    pub(crate) fn achieved(&self) -> f64 {
        self.writers().map(|point| point.summary.mib_per_s).sum()
    }

    /// True if every offered load was reached.
    pub(crate) fn followed(&self) -> bool {
        self.points().all(|point| follows(point.record))
    }

    /// True if the figures of all loads may be used.
    pub(crate) fn is_valid(&self) -> bool {
        self.points().all(Point::is_valid)
    }

    /// True if it supports a comparison at the requested load.
    fn counts(&self) -> bool {
        self.is_valid() && self.followed()
    }

    /// The worst of its loads.
    pub(crate) fn grade(&self) -> Grade {
        self.points().map(|p| p.summary.grade).max().unwrap_or(Grade::A)
    }

    /// A figure of the reader's latency, ns, where the samples bear it.
    pub(crate) fn reader_latency(&self, statistic: Statistic) -> Option<f64> {
        let latency = latency_of(self.reader()?.record);
        match statistic {
            Statistic::Mean => latency.mean(),
            Statistic::Quantile(quantile) => {
                percentile(latency, quantile).map(|Percentile { value, .. }| value.0 as f64)
            }
        }
    }

    /// The reader's mean latency with its 95 % interval, ns. In a closed loop it is the number of
    /// outstanding I/Os over the rate (Little), so it has the rate's interval, turned over.
    pub(crate) fn mean_interval(&self) -> Option<(f64, f64)> {
        let reader = self.reader()?;
        let mean = latency_of(reader.record).mean()?;
        let (low, high) = reader.summary.io_per_s.interval?;
        let rate = reader.summary.io_per_s.value;
        let closed = reader.record.reads.response_time.is_none();
        (closed && low > 0.0).then(|| (mean * rate / high, mean * rate / low))
    }

    /// True if reads complete at a multiple of a half of the rate at which one writer's requests
    /// are due: a deterministic medium under an exact schedule then repeats one pattern for ever,
    /// and the latency is that of a phase, not of a load.
    fn is_in_step(&self) -> bool {
        let Some(reader) = self.reader() else { return false };
        let of_writer = |point: &Point<'_>| {
            let rate = point.record.offered_io_per_s? / f64::from(point.record.streams.max(1));
            Some(2.0 * reader.summary.io_per_s.value / rate)
        };
        let mut quotients = self.writers().filter_map(of_writer).filter(|q| q.is_finite());
        quotients.any(|q| q > 0.5 && (q - q.round()).abs() < IN_STEP * q)
    }

    /// Number of samples of the reader, and of those beyond a quantile.
    pub(crate) fn samples(&self, quantile: f64) -> (u64, u64) {
        let count = self.reader().map_or(0, |reader| latency_of(reader.record).count());
        // Exact in decimal places as quantiles are written: 10 000 × 0.001 is 10.
        (count, (count as f64 * (1.0 - quantile) + 1e-6 * (count as f64).sqrt()).floor() as u64)
    }
}

/// Load that a point was offered, MiB/s.
pub(crate) fn offered(point: &PointRecord) -> Option<f64> {
    point.offered_io_per_s.map(|rate| rate * point.request_size_mean_bytes / MIB)
}

/// Read latencies: the response times, which in a closed loop are the service times.
fn latency_of(point: &PointRecord) -> &LatencyHistogram {
    point.reads.response_time.as_ref().unwrap_or(&point.reads.service_time)
}
