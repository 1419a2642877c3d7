//! Steps of a run: loads that ran at the same time, and the latency of a reader among writers.

use qdepth_measure::{Grade, LatencyHistogram, Limit, Percentile, Statistic, percentile};
use qdepth_record::{PointRecord, follows};

use crate::number::MIB;
use crate::view::{Load, Point, View};

/// Ratio of the latency at the knee to that at the lowest load. An M/M/1 queue reaches it at half
/// its capacity.
const KNEE: f64 = 2.0;

/// Smallest fall of the latency that is mentioned, as a share.
const FALL: f64 = 0.02;
/// Largest distance of the ratio of two rates from a multiple of 1/2 if they are in step: any
/// scatter makes it larger.
const IN_STEP: f64 = 2e-4;

/// All steps of a run.
pub(crate) struct Steps<'v, 'a> {
    /// Titles of the steps, in the order of the plan.
    pub(crate) titles: Vec<&'a str>,
    /// Steps by target, in the order of the plan.
    pub(crate) all: Vec<Step<'v, 'a>>,
}

/// One step on one target.
pub(crate) struct Step<'v, 'a> {
    /// Index of its title.
    pub(crate) step_index: usize,
    pub(crate) title: &'a str,
    pub(crate) target: u32,
    /// Loads of the step, in the order of the plan.
    pub(crate) loads: Vec<(&'v Load<'a>, &'v Point<'a>)>,
}

/// Step at which the reader's latency first exceeds a limit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Crossing {
    /// Between the write loads of these two steps, MiB/s, with their titles; the exact load is
    /// unknown.
    Between([f64; 2], [String; 2]),
    /// Already at the first step, with this title.
    Before(String),
    /// Not up to this write load, MiB/s; this number of later steps have too few samples.
    NotUpTo(f64, usize),
    /// Too few samples at every step.
    Unknown,
}

impl<'v, 'a> Steps<'v, 'a> {
    /// The steps of a run; empty for a run of sweeps.
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

    /// Adds a load. A title that occurs twice on a target gets two indices.
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

    /// True if every step has one reader and at least one writer, and the write load rises.
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

    /// Steps on a target, in the order of the plan.
    pub(crate) fn on(&self, target: u32) -> impl Iterator<Item = &Step<'v, 'a>> {
        self.all.iter().filter(move |step| step.target == target)
    }

    /// Targets with steps, ascending.
    pub(crate) fn targets(&self) -> Vec<u32> {
        let mut targets: Vec<u32> = self.all.iter().map(|step| step.target).collect();
        targets.dedup();
        targets
    }

    /// The last step that every target followed with valid figures: one step per target.
    pub(crate) fn top_common(&self) -> Option<Vec<&Step<'v, 'a>>> {
        let targets = self.targets();
        (0..self.titles.len()).rev().find_map(|step_index| {
            let at =
                |target: &u32| self.on(*target).find(|s| s.step_index == step_index && s.counts());
            targets.iter().map(at).collect::<Option<Vec<_>>>()
        })
    }

    /// The last step before the reader's mean latency permanently exceeds twice that of the first
    /// step, and the next step: the knee lies between them. `None` if it does not rise so far.
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

    /// The largest certain fall of the reader's mean latency from one step to the next, although
    /// more was written: both steps, the earlier first.
    pub(crate) fn fall(&self, target: u32) -> Option<[&Step<'v, 'a>; 2]> {
        let steps: Vec<&Step<'v, 'a>> = self.on(target).filter(|step| step.is_valid()).collect();
        let falls = steps.windows(2).filter_map(|pair| {
            let (before, after) = (pair[0].mean_interval()?, pair[1].mean_interval()?);
            let share = 1.0 - after.1 / before.0;
            (share > FALL).then_some((share, [pair[0], pair[1]]))
        });
        falls.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, pair)| pair)
    }

    /// Steps at which the reader is in step with the writers' schedule, in the order of the plan.
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
    /// Points of its loads, by index in the plan.
    pub(crate) fn point_indices(&self) -> impl Iterator<Item = u32> {
        self.loads.iter().map(|(_, point)| point.record.index)
    }

    /// The only load that reads, if all others only write.
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

    /// Offered write load, MiB/s; `None` if a writer has no schedule.
    pub(crate) fn asked_io_per_s(&self) -> Option<f64> {
        self.writers().map(|point| offered(point.record)).sum()
    }

    /// Reached write load, MiB/s.
    pub(crate) fn achieved(&self) -> f64 {
        self.writers().map(|point| point.summary.mib_per_s).sum()
    }

    /// True if all offered loads were reached.
    pub(crate) fn followed(&self) -> bool {
        self.points().all(|point| follows(point.record))
    }

    /// True if the figures of all loads are valid.
    pub(crate) fn is_valid(&self) -> bool {
        self.points().all(Point::is_valid)
    }

    /// True if the step can be compared at its offered load.
    pub(crate) fn counts(&self) -> bool {
        self.is_valid() && self.followed()
    }

    /// Worst grade of its loads.
    pub(crate) fn grade(&self) -> Grade {
        self.points().map(|p| p.summary.grade).max().unwrap_or(Grade::A)
    }

    /// A statistic of the reader's latency, ns; `None` with too few samples.
    pub(crate) fn reader_latency(&self, statistic: Statistic) -> Option<f64> {
        let latency = latency_of(self.reader()?.record);
        match statistic {
            Statistic::Mean => latency.mean(),
            Statistic::Quantile(quantile) => {
                percentile(latency, quantile).map(|Percentile { value, .. }| value.0 as f64)
            }
        }
    }

    /// 95 % interval of the reader's mean latency, ns.
    pub(crate) fn mean_interval(&self) -> Option<(f64, f64)> {
        mean_interval(self.reader()?)
    }

    /// True if the rate of the reads is a multiple of 1/2 of the rate of a writer's schedule. A
    /// deterministic device under an exact schedule then repeats one pattern forever, and the
    /// latency is that of a phase, not of a load.
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
        // Exact for decimal quantiles: 10,000 × 0.001 is 10.
        (count, (count as f64 * (1.0 - quantile) + 1e-6 * (count as f64).sqrt()).floor() as u64)
    }
}

/// 95 % interval of the mean read latency, ns. In a closed loop the latency is the queue depth
/// divided by the rate (Little), so the interval is that of the rate, inverted.
pub(crate) fn mean_interval(reader: &Point<'_>) -> Option<(f64, f64)> {
    let mean = latency_of(reader.record).mean()?;
    let (low, high) = reader.summary.io_per_s.interval?;
    let rate = reader.summary.io_per_s.value;
    let closed = reader.record.reads.response_time.is_none();
    (closed && low > 0.0).then(|| (mean * rate / high, mean * rate / low))
}

/// Offered load of a point, MiB/s.
pub(crate) fn offered(point: &PointRecord) -> Option<f64> {
    point.offered_io_per_s.map(|rate| rate * point.block_size_mean_bytes / MIB)
}

/// Read latencies: the response times, which in a closed loop are the service times.
pub(crate) fn latency_of(point: &PointRecord) -> &LatencyHistogram {
    point.reads.response_time.as_ref().unwrap_or(&point.reads.latency)
}
