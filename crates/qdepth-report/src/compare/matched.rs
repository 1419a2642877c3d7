//! Points of several runs that measured the same load.

use qdepth_measure::Spread;
use qdepth_record::{Document, PointEntry, document, shown_step};
use schemars::JsonSchema;
use serde::Serialize;

use crate::document::{Cell, text};
use crate::grouped::entry;
use crate::presentation::Measured;
use crate::rows::Rows;
use crate::words::{Lang, load_in_words, words};

/// CPU time per I/O, user and system, in nanoseconds; lower is better.
pub(super) const CPU_PER_IO: &str = "cpu_ns_per_io";

/// Load at a queue depth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RowLoad {
    /// Name of the load profile.
    pub profile: String,
    /// Title of the load profile.
    pub profile_title: String,
    /// Name of the step; empty if the plan has no steps.
    pub step: String,
    /// Queue depth of each stream.
    pub queue_depth: u32,
}

impl RowLoad {
    pub(super) fn in_words(&self, lang: Lang) -> String {
        load_in_words(lang, &self.profile, &self.profile_title, &self.step)
    }
}

/// Adds the columns of the load, and of the target if there are several.
pub(super) fn with_loads<T>(
    rows: Rows<T>,
    lang: Lang,
    several: bool,
    load: impl Fn(&T) -> (&RowLoad, u32),
) -> Rows<T> {
    let words = words(lang).compare;
    rows.text(words.profile, |row| Cell::head(load(row).0.in_words(lang)))
        .column(several.then(|| text(words.target)), |row| (load(row).1 + 1).to_string())
        .number(words.queue_depth, "", |row| load(row).0.queue_depth.to_string())
}

/// Identity of a load, independent of its run, and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) load: RowLoad,
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
            load: RowLoad {
                profile: point.profile.clone(),
                profile_title: point.profile_title.clone(),
                // Documents of earlier versions have the step in the plan's spelling.
                step: shown_step(&point.step),
                queue_depth: point.queue_depth,
            },
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

/// Valid points of a load, one per run.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures<'a>(Vec<(&'a Document, &'a PointEntry)>);

impl<'a> Figures<'a> {
    /// Figures to report. The mean latency of a closed loop is left out, because it is the queue
    /// depth divided by the rate.
    pub(super) fn figures(&self) -> Vec<(&'static str, Vec<f64>)> {
        let Some((_, last)) = self.0.last() else { return Vec::new() };
        let rate = if as_throughput(last) { "mib_per_s" } else { "io_per_s" };
        let mean = (last.arrivals != "closed").then_some("mean_response_ns");
        let names = [Some(rate), mean, Some("p99_response_ns")].into_iter().flatten();
        names.filter_map(|name| Some((name, self.get(name)?))).collect()
    }

    /// Figures to compare: the reported ones, and the CPU time per I/O.
    pub(super) fn compared(&self) -> Vec<(&'static str, Vec<f64>)> {
        let cpu = self.get(CPU_PER_IO).map(|values| (CPU_PER_IO, values));
        self.figures().into_iter().chain(cpu).collect()
    }

    /// Values of a figure, one per run; `None` if any run has none.
    pub(super) fn get(&self, name: &str) -> Option<Vec<f64>> {
        let usable = |value: &f64| value.is_finite() && *value > 0.0;
        let values = self.0.iter().map(|(run, point)| value(run, point, name).filter(usable));
        values.collect::<Option<Vec<f64>>>().filter(|values| !values.is_empty())
    }

    /// Ends of the interval of a rate within a single run, relative to the rate; `None` for other
    /// figures, and for several runs.
    pub(super) fn within(&self, name: &str) -> Option<[f64; 2]> {
        let [(_, point)] = self.0.as_slice() else { return None };
        let is_known = name.ends_with("_per_s") && point.io_per_s > 0.0;
        let ends = point.confidence_interval.filter(|_| is_known)?;
        Some(ends.map(|end| end / point.io_per_s))
    }

    /// Variation between runs.
    pub(super) fn spread(&self, name: &str) -> Option<Spread> {
        self.get(name).and_then(|values| Spread::from_figures(&values))
    }

    /// True if no run has a valid point.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn runs(&self) -> u32 {
        self.0.len() as u32
    }
}

/// A figure of a point by its name.
fn value(run: &Document, point: &PointEntry, name: &str) -> Option<f64> {
    let latency = &point.response_time_ns.all;
    match name {
        "io_per_s" => Some(point.io_per_s),
        "mib_per_s" => Some(point.mib_per_s),
        "mean_response_ns" => latency.mean,
        // The CPU time of an emulated run is that of the emulation, which says nothing about a
        // device.
        CPU_PER_IO => {
            let cpu = point.cpu_ns_per_io.as_ref().filter(|_| !run.run.emulated);
            cpu.map(|cpu| cpu.user + cpu.system)
        }
        _ => latency.percentiles.get("99").map(|value| *value as f64),
    }
}

/// Figures of all loads of these runs, in the order of their plans. Invalid points give no figures.
pub(super) fn figures<'a>(runs: impl IntoIterator<Item = &'a Document>) -> Vec<(Key, Figures<'a>)> {
    let mut all: Vec<(Key, Figures<'a>)> = Vec::new();
    for run in without_repeats(runs) {
        let mut before = Vec::new();
        for point in &run.points {
            let key = Key::new(run, point, &before);
            before.push(key.clone());
            let of_key = entry(&mut all, key);
            if point.grade != "C" {
                of_key.0.push((run, point));
            }
        }
    }
    all
}

/// Runs without the repeats of one simulation, whose equal figures would show no variation. Another
/// version or an edited description of the device gives other figures.
fn without_repeats<'a>(runs: impl IntoIterator<Item = &'a Document>) -> Vec<&'a Document> {
    let rates = |run: &Document| {
        run.points.iter().map(|point| point.io_per_s.to_bits()).collect::<Vec<_>>()
    };
    let mut all: Vec<&Document> = Vec::new();
    for run in runs {
        let is_same = |other: &&Document| {
            run.run.emulated
                && other.run.emulated
                && run.run.seed == other.run.seed
                && are_alike(run, other)
                && rates(run) == rates(other)
        };
        if !all.iter().any(is_same) {
            all.push(run);
        }
    }
    all
}

/// True if two runs have the same plan and targets.
fn are_alike(a: &Document, b: &Document) -> bool {
    let targets = |run: &Document| -> Vec<String> {
        run.targets.iter().map(|target| target.expression.clone()).collect()
    };
    a.run.plan_hash == b.run.plan_hash && targets(a) == targets(b)
}

/// Figures of earlier runs with the same plan and targets as these runs.
pub(super) fn history<'a>(runs: &[Document], earlier: &'a [Document]) -> Vec<(Key, Figures<'a>)> {
    let Some(first) = runs.first() else { return Vec::new() };
    let alike = without_repeats(earlier.iter().filter(|other| are_alike(first, other)));
    if alike.len() < 3 { Vec::new() } else { figures(alike) }
}
