//! Points of several runs that measured the same load.

use qdepth_measure::Spread;
use qdepth_record::{Document, PointEntry, document, shown_step};

use crate::presentation::Measured;

/// CPU time per I/O, user and system, in nanoseconds; lower is better.
pub(super) const CPU_PER_IO: &str = "cpu_ns_per_io";

/// Identity of a load, independent of its run, and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) profile: String,
    pub(super) title: String,
    pub(super) step: String,
    pub(super) queue_depth: u32,
    pub(super) streams: u32,
    pub(super) target: u32,
    block_size: String,
    /// Shares of random accesses, reads and trims, in millionths.
    shares: [u32; 3],
    arrivals: String,
    throughput: bool,
    /// Number of earlier points of the same run with an otherwise equal key.
    again: u32,
}

impl Key {
    fn new(run: &Document, point: &PointEntry, before: &[Self]) -> Self {
        let millionths = |share: f64| (share * 1e6).round() as u32;
        let mut key = Self {
            profile: point.profile.clone(),
            title: point.profile_title.clone(),
            // Documents of earlier versions have the step in the plan's spelling.
            step: shown_step(&point.step),
            queue_depth: point.queue_depth,
            streams: point.streams,
            // A point whose run does not describe the target has its number instead of its name.
            target: run
                .target_of(point)
                .map_or_else(|| point.target.parse().unwrap_or(0), |target| target.index),
            block_size: point.block_size.clone(),
            shares: [point.random_share, point.read_share, point.trim_share].map(millionths),
            arrivals: point.arrivals.clone(),
            throughput: as_throughput(point),
            again: 0,
        };
        while before.contains(&key) {
            key.again += 1;
        }
        key
    }
}

/// True if throughput is the main figure of a point. Older documents do not record it; then the
/// default rule for profiles decides (docs/method/checklist.md, item 6).
fn as_throughput(point: &PointEntry) -> bool {
    match point.reported_as.as_str() {
        "" => point.random_share <= 0.0,
        quantity => quantity == "throughput",
    }
}

/// Converts runs to the form in which they are compared, whatever their source.
pub fn documents(runs: &[Measured]) -> Vec<Document> {
    runs.iter().map(|(run, points)| document(run, points)).collect()
}

/// Figures of a load, one value per run.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    rate: Vec<f64>,
    throughput: Vec<f64>,
    mean: Vec<Option<f64>>,
    p99: Vec<Option<f64>>,
    /// True for an open loop, whose latency does not follow from the rate.
    open: bool,
    reports_throughput: bool,
    latencies: [Vec<f64>; 2],
    /// Ends of the 95 % interval of the rate within each run, relative to the rate.
    within: Vec<Option<[f64; 2]>>,
    cpu: Vec<Option<f64>>,
    /// CPU time per I/O, nanoseconds; empty unless all runs have it.
    cpu_per_io: Vec<f64>,
}

impl Figures {
    fn add(&mut self, run: &Document, point: &PointEntry) {
        self.open = point.arrivals != "closed";
        self.reports_throughput = as_throughput(point);
        self.rate.push(point.io_per_s);
        self.throughput.push(point.mib_per_s);
        let rate = point.io_per_s;
        let ends = point.confidence_interval.map(|[low, high]| [low / rate, high / rate]);
        self.within.push(ends.filter(|_| rate > 0.0));
        let latency = &point.response_time_ns.all;
        self.mean.push(latency.mean);
        self.p99.push(latency.percentiles.get("99").map(|value| *value as f64));
        // The CPU time of an emulated run is that of the emulation, which says nothing about a
        // device.
        let cpu = point.cpu_ns_per_io.as_ref().filter(|_| !run.run.emulated);
        self.cpu.push(cpu.map(|cpu| cpu.user + cpu.system));
        // A figure counts only if all runs have it.
        let whole = |all: &[Option<f64>]| all.iter().copied().collect::<Option<Vec<f64>>>();
        self.latencies = [&self.mean, &self.p99].map(|all| whole(all).unwrap_or_default());
        self.cpu_per_io = whole(&self.cpu).unwrap_or_default();
    }

    /// Figures to report. The mean latency of a closed loop is left out, because it is the queue
    /// depth divided by the rate.
    pub(super) fn figures(&self) -> Vec<(&'static str, &[f64])> {
        let rate = if self.reports_throughput { "mib_per_s" } else { "io_per_s" };
        let names = [Some(rate), self.open.then_some("mean_response_ns"), Some("p99_response_ns")];
        let named = |name: &'static str| Some((name, self.get(name)?));
        names.into_iter().flatten().filter_map(named).collect()
    }

    /// Figures to compare: the reported ones, and the CPU time per I/O.
    pub(super) fn compared(&self) -> Vec<(&'static str, &[f64])> {
        let cpu = self.get(CPU_PER_IO).map(|values| (CPU_PER_IO, values));
        self.figures().into_iter().chain(cpu).collect()
    }

    /// Values of a figure, one per run; `None` if any run has none.
    pub(super) fn get(&self, name: &str) -> Option<&[f64]> {
        let values = match name {
            "io_per_s" => &self.rate,
            "mib_per_s" => &self.throughput,
            "mean_response_ns" => &self.latencies[0],
            CPU_PER_IO => &self.cpu_per_io,
            _ => &self.latencies[1],
        };
        let usable = |value: &f64| value.is_finite() && *value > 0.0;
        (!values.is_empty() && values.iter().all(usable)).then_some(values)
    }

    /// Ends of the interval of a rate within a single run, relative to the rate; `None` for other
    /// figures, and for several runs.
    pub(super) fn within(&self, name: &str) -> Option<[f64; 2]> {
        match self.within.as_slice() {
            [ends] if name.ends_with("_per_s") => *ends,
            _ => None,
        }
    }

    /// Variation between runs.
    pub(super) fn spread(&self, name: &str) -> Option<Spread> {
        self.get(name).and_then(Spread::from_figures)
    }

    /// True if no run has a valid point.
    pub(super) fn is_empty(&self) -> bool {
        self.rate.is_empty()
    }

    pub(super) fn runs(&self) -> u32 {
        self.rate.len() as u32
    }
}

/// Figures of all loads of these runs, in the order of their plans. Invalid points give no figures.
pub(super) fn figures(runs: &[Document]) -> Vec<(Key, Figures)> {
    let mut all: Vec<(Key, Figures)> = Vec::new();
    for run in runs {
        let mut before = Vec::new();
        for point in &run.points {
            let key = Key::new(run, point, &before);
            before.push(key.clone());
            let index = all.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
                all.push((key, Figures::default()));
                all.len() - 1
            });
            if point.grade != "C" {
                all[index].1.add(run, point);
            }
        }
    }
    all
}

/// Figures of earlier runs with the same plan and targets as these runs.
pub(super) fn history(runs: &[Document], earlier: &[Document]) -> Vec<(Key, Figures)> {
    let Some(first) = runs.first() else { return Vec::new() };
    let targets = |run: &Document| -> Vec<String> {
        run.targets.iter().map(|target| target.expression.clone()).collect()
    };
    let alike = |other: &&Document| {
        other.run.plan_hash == first.run.plan_hash && targets(other) == targets(first)
    };
    let alike: Vec<Document> = earlier.iter().filter(alike).cloned().collect();
    if alike.len() < 3 { Vec::new() } else { figures(&alike) }
}
