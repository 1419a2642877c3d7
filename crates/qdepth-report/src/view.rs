//! A run in the form that reports use: points grouped into loads, with their statistics.

use std::collections::BTreeSet;

use qdepth_measure::{Estimate, Grade, Limit, Percentile, Statistic};
use qdepth_record::{
    AnswerEntry, LatencySummary, Observation, PointRecord, PointSummary, RunRecord, RunState,
    TargetKind, answers,
};

use crate::compared::Compared;
use crate::document::{Logo, Origin};
use crate::names;
use crate::number;
use crate::paper::Paper;
use crate::presentation::Presentation;
use crate::published::PublishedDrive;
use crate::words::{Lang, Words, counted, fill_in, in_brackets, step_title, title_of, words};

/// The percentiles with a column of their own.
pub(crate) const QUANTILES: [(f64, &str); 4] =
    [(0.5, "p50"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99")];

/// Everything that the parts of a report need.
pub(crate) struct View<'a> {
    pub(crate) run: &'a RunRecord,
    /// The run's points as measured.
    pub(crate) records: &'a [PointRecord],
    pub(crate) lang: Lang,
    pub(crate) words: &'static Words,
    /// Loads in the order in which they were first measured.
    pub(crate) loads: Vec<Load<'a>>,
    /// Indices of targets that have points, ascending.
    pub(crate) targets: Vec<u32>,
    /// All queue depths of the sweeps.
    pub(crate) intensities: BTreeSet<u32>,
    /// Targets, each with the queue depths at which any of its sweeps has a point.
    pub(crate) asked: BTreeSet<(u32, u32)>,
    /// Comparison of the run, whose columns replace the targets; `None` without one.
    pub(crate) compared: Option<&'a Compared<'a>>,
    /// Highest acceptable latencies of the reader.
    pub(crate) limits: Vec<Limit>,
    /// Points whose latency over time is shown, by index in the plan.
    pub(crate) over_time: &'a [u32],
    /// Highest rates at the plan's latency limits, by target; empty if it asks for none.
    pub(crate) answers: Vec<AnswerEntry>,
    /// Publisher file.
    pub(crate) paper: &'a Paper,
    /// The publisher's topology picture.
    pub(crate) topology: Option<&'a Logo>,
    /// True if the run never ended, and no process is measuring it.
    pub(crate) killed: bool,
    /// Drives whose published figures appear in the diagrams, each once.
    pub(crate) published: Vec<&'a PublishedDrive>,
}

/// One load profile, with its points by target and queue depth.
pub(crate) struct Load<'a> {
    /// Stable ASCII identifier.
    pub(crate) id: String,
    pub(crate) title: String,
    /// True if it ran in steps together with other loads; false if it ran alone at several queue
    /// depths.
    pub(crate) stepped: bool,
    /// True if it was measured only at queue depth 1, for its latency.
    pub(crate) alone: bool,
    pub(crate) points: Vec<Point<'a>>,
}

/// A point with its statistics.
pub(crate) struct Point<'a> {
    pub(crate) record: &'a PointRecord,
    pub(crate) summary: PointSummary,
    /// Throughput with the interval of the rate, if all I/Os have one size.
    pub(crate) mib_per_s: Estimate,
}

/// A load and a point of it.
pub(crate) type LoadPoint<'v, 'a> = (&'v Load<'a>, &'v Point<'a>);

impl Point<'_> {
    /// True if its figures are valid.
    pub(crate) fn is_valid(&self) -> bool {
        self.summary.grade != Grade::C && self.summary.io_per_s.value > 0.0
    }
    /// Main figure of the load profile.
    pub(crate) fn main(&self) -> &Estimate {
        if self.record.reported_as_throughput { &self.mib_per_s } else { &self.summary.io_per_s }
    }
    /// Latency of reads, writes and trims together: the response time, which in a closed loop is
    /// the service time.
    pub(crate) fn latency(&self) -> &LatencySummary {
        &self.summary.response_time.all
    }
    pub(crate) fn is_mixed(&self) -> bool {
        self.record.transfers().iter().filter(|direction| direction.completed > 0).count() > 1
    }
    pub(crate) fn cpu_ns_per_io(&self) -> Option<f64> {
        let Self { summary, .. } = self;
        Some(summary.cpu_user_ns_per_io? + summary.cpu_system_ns_per_io?)
    }
}

/// The percentile at a quantile, nanoseconds; `None` with too few samples.
pub(crate) fn percentile_ns(latency: &LatencySummary, quantile: f64) -> Option<f64> {
    percentile(latency, quantile).map(|p| p.value.0 as f64)
}

/// The percentile at a quantile; `None` with too few samples.
pub(crate) fn percentile(latency: &LatencySummary, quantile: f64) -> Option<&Percentile> {
    latency.percentiles.iter().find(|p| (p.quantile - quantile).abs() < 1e-12)
}

impl<'a> Load<'a> {
    pub(crate) fn first(&self) -> &'a PointRecord {
        self.points[0].record
    }
    pub(crate) fn unit(&self) -> &'static str {
        if self.first().reported_as_throughput { "MiB/s" } else { "IOPS" }
    }
    /// Points of a target, by ascending queue depth.
    pub(crate) fn on(&self, target: u32) -> impl Iterator<Item = &Point<'a>> {
        self.points.iter().filter(move |p| p.record.target == target)
    }
    /// The valid point with the largest main value; the lowest queue depth among equals.
    pub(crate) fn maximum(&self, target: u32) -> Option<&Point<'a>> {
        self.on(target).filter(|p| p.is_valid()).fold(None, |best: Option<&Point<'a>>, point| {
            match best {
                Some(best) if best.main().value >= point.main().value => Some(best),
                _ => Some(point),
            }
        })
    }
    /// The point at this queue depth, valid or not.
    pub(crate) fn measured_at(&self, target: u32, queue_depth: u32) -> Option<&Point<'a>> {
        self.on(target).find(|point| point.record.queue_depth == queue_depth)
    }

    /// The valid point at this queue depth.
    pub(crate) fn at(&self, target: u32, queue_depth: u32) -> Option<&Point<'a>> {
        self.on(target).find(|p| p.is_valid() && p.record.queue_depth == queue_depth)
    }
    pub(crate) fn is_open_loop(&self) -> bool {
        let own_arrivals =
            |p: &PointRecord| p.transfers().iter().any(|each| each.response_time.is_some());
        self.points.iter().any(|p| own_arrivals(p.record))
    }
}

impl<'a> View<'a> {
    /// View of a run: its points, or the columns of its comparison.
    pub(crate) fn new(
        run: &'a RunRecord,
        points: &'a [PointRecord],
        compared: Option<&'a Compared<'a>>,
        presentation: &'a Presentation,
    ) -> Self {
        let records = points;
        let points = compared.map_or(points, |compared| &compared.wholes);
        let words = words(presentation.lang);
        let mut in_order: Vec<&PointRecord> = points.iter().collect();
        in_order.sort_by_key(|p| p.index);
        let mut keys: Vec<String> = Vec::new();
        let mut loads: Vec<Load<'a>> = Vec::new();
        for record in in_order {
            let key = load_key(record);
            let index = keys.iter().position(|k| *k == key).unwrap_or_else(|| {
                keys.push(key);
                let id = format!("load-{}", loads.len() + 1);
                let stepped = !record.step.is_empty();
                let (title, points) = (profile_title(record, words), Vec::new());
                loads.push(Load { id, title, stepped, alone: false, points });
                loads.len() - 1
            });
            loads[index].points.push(point(record));
        }
        for load in &mut loads {
            load.points.sort_by_key(|p| (p.record.target, p.record.queue_depth, p.record.index));
        }
        distinguish(&mut loads, words);
        for load in &mut loads {
            load.alone = compared.is_some_and(|c| c.is_for_latency(&load.first().profile));
        }
        let of_run = compared.map_or(&[][..], |compared| &compared.published).iter().copied();
        let mut published: Vec<&PublishedDrive> = Vec::new();
        for drive in of_run.chain(&presentation.published) {
            if published.iter().all(|other| other.name != drive.name) {
                published.push(drive);
            }
        }
        let targets: BTreeSet<u32> = points.iter().map(|p| p.target).collect();
        let swept = loads.iter().filter(|load| !load.stepped && !load.alone);
        let swept = swept.flat_map(|load| &load.points).map(|point| point.record);
        let asked: BTreeSet<(u32, u32)> = swept.map(|p| (p.target, p.queue_depth)).collect();
        let intensities = asked.iter().map(|(_, queue_depth)| *queue_depth).collect();
        Self {
            run,
            records,
            lang: presentation.lang,
            words,
            loads,
            targets: targets.into_iter().collect(),
            intensities,
            asked,
            compared,
            answers: answers(run, records),
            limits: presentation.limits.clone(),
            over_time: &presentation.over_time,
            paper: &presentation.paper,
            topology: presentation.topology.as_ref(),
            killed: run.state == RunState::Running
                && presentation.alive.as_ref().is_some_and(|alive| !alive.contains(&run.id)),
            published,
        }
    }

    /// Facts of the machine, then of the storage below the targets.
    pub(crate) fn observations(&self) -> impl Iterator<Item = &'a Observation> + use<'a> {
        let of_the_machine = |seen: &&Observation| {
            let fact = (&*seen.subject, &*seen.key);
            ![RunRecord::COMMAND, RunRecord::CAMPAIGN_REQUEST].contains(&fact)
        };
        self.run.environment.iter().filter(of_the_machine).chain(facts(self.run, false))
    }

    /// Parameters of the device models, each model once.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &'a Observation> + use<'a> {
        let mut known = BTreeSet::new();
        facts(self.run, true)
            .filter(move |seen| known.insert((&seen.subject, &seen.key, &seen.value)))
    }

    /// Name of a target, also of one that the run does not describe.
    pub(crate) fn target_name(&self, index: u32) -> String {
        let known = match self.compared {
            Some(compared) => compared.name(self.run, self.words, index),
            None => self.run.target(index).map(|target| target.name.clone()),
        };
        known.map(|name| self.shown(&name)).unwrap_or_else(|| {
            fill_in(self.words.tables.target_fallback, &[("index", (index + 1).to_string())])
        })
    }

    /// Display name of a target.
    pub(crate) fn shown(&self, name: &str) -> String {
        names::shown(self.run, self.words, name)
    }

    /// Mark of rows and pictures of an emulated run; empty for other runs.
    pub(crate) fn mark(&self) -> &'static str {
        if self.run.emulated { self.words.emulated[0] } else { "" }
    }

    /// Origin of the run's pictures.
    pub(crate) fn origin(&self) -> Origin {
        Origin { run: self.run.id.clone(), emulated: self.run.emulated }
    }

    /// The title, followed by that mark.
    pub(crate) fn marked(&self, title: String) -> String {
        if self.run.emulated { title + &in_brackets(self.lang, self.mark()) } else { title }
    }

    /// True if the points have expected results of an emulated device.
    pub(crate) fn expects(&self) -> bool {
        !self.run.expected.is_empty()
    }

    /// True if targets must be distinguished.
    pub(crate) fn compares(&self) -> bool {
        self.targets.len() > 1
    }

    pub(crate) fn points(&self) -> impl Iterator<Item = (&Load<'a>, &Point<'a>)> {
        self.loads.iter().flat_map(|load| load.points.iter().map(move |point| (load, point)))
    }

    /// Number of points that were not interrupted.
    pub(crate) fn complete_points(&self) -> usize {
        self.points().filter(|(_, point)| !point.record.is_cut_short()).count()
    }

    /// The loads of the sweeps.
    pub(crate) fn swept(&self) -> impl Iterator<Item = &Load<'a>> {
        self.loads.iter().filter(|load| !load.stepped && !load.alone)
    }

    /// Position of a point within its load: its step, or its queue depth.
    pub(crate) fn at(&self, load: &Load<'_>, record: &PointRecord) -> String {
        if load.stepped { self.step(&record.step) } else { record.queue_depth.to_string() }
    }

    /// Display name of a step, from its stored title.
    pub(crate) fn step(&self, title: &str) -> String {
        number::step(&step_title(self.lang, title))
    }

    /// Name of a latency statistic.
    pub(crate) fn statistic(&self, statistic: Statistic) -> String {
        match statistic {
            Statistic::Mean => self.words.pictures.mean.to_owned(),
            Statistic::Quantile(_) => statistic.to_string(),
        }
    }

    /// Number of points in the plan.
    pub(crate) fn planned(&self) -> usize {
        let points = self.run.points_planned;
        self.compared.map_or(points as usize, |compared| compared.planned(points))
    }

    /// Titles of the plan's loads that have no point.
    pub(crate) fn unmeasured(&self) -> Vec<String> {
        #[derive(Default, serde::Deserialize)]
        struct Planned {
            #[serde(default)]
            points: Vec<PlannedPoint>,
        }
        #[derive(serde::Deserialize)]
        struct PlannedPoint {
            profile: String,
            profile_title: String,
        }
        let Planned { points } = self.run.plan_part("profile_title");
        let known: BTreeSet<&str> = self.records.iter().map(|record| &*record.profile).collect();
        let missing = points.into_iter().filter(|point| !known.contains(&*point.profile));
        let titles = missing.map(|p| title_of(&p.profile, &p.profile_title, self.words));
        let mut seen = BTreeSet::new();
        titles.filter(|title| seen.insert(title.clone())).collect()
    }

    /// Label of an axis of queue depths.
    pub(crate) fn intensity_words(&self) -> &'static str {
        self.compared.map_or(self.words.pictures.x, |c| self.words.comparison.x[c.kind()])
    }

    /// Unit that queue depths in a sentence refer to: each drive of an array, or each process;
    /// empty if they are totals.
    pub(crate) fn per(&self) -> (&'static str, String) {
        let per = self.compared.map_or("", |c| self.words.comparison.per[c.kind()]);
        ("per", per.to_owned())
    }

    /// Heading of a column of queue depths.
    pub(crate) fn queue_depth_heading(&self) -> &'static str {
        let own = |c: &Compared<'_>| self.words.comparison.queue_depth[c.kind()];
        self.compared.map_or(self.words.columns.queue_depth, own)
    }

    /// The lowest queue depth of the run: 1 in the standard plan.
    pub(crate) fn lowest(&self) -> u32 {
        self.intensities.first().copied().unwrap_or(1)
    }
}

/// Facts of the emulated targets, or of all others.
fn facts(run: &RunRecord, emulated: bool) -> impl Iterator<Item = &Observation> {
    let of_kind = run.targets.iter().filter(move |t| (t.kind == TargetKind::Emulated) == emulated);
    of_kind.flat_map(|target| &target.facts)
}

/// Identity of a load: a load may change its arrivals from step to step.
fn load_key(record: &PointRecord) -> String {
    let arrivals = if record.step.is_empty() { &*record.arrivals } else { "in steps" };
    format!(
        "{}|{}|{}|{}|{}|{}|{}|{}",
        record.profile,
        record.random_share,
        record.read_share,
        record.trim_share,
        record.block_size,
        arrivals,
        record.streams,
        record.direct
    )
}

/// The stored title; for a shipped profile, the title in the report's language.
pub(crate) fn profile_title(record: &PointRecord, words: &Words) -> String {
    title_of(&record.profile, &record.profile_title, words)
}

/// Adds what differs to equal titles of loads: block size, arrivals, streams.
fn distinguish(loads: &mut [Load<'_>], words: &Words) {
    let features = |load: &Load<'_>| {
        let first = load.first();
        let streams = counted(words.tables.streams, first.streams as usize);
        [number::spaced_sizes(&first.block_size), arrivals(first, words), streams]
    };
    let all: Vec<(String, [String; 3])> =
        loads.iter().map(|load| (load.title.clone(), features(load))).collect();
    for load in loads {
        let own = features(load);
        let alike: Vec<&[String; 3]> = all
            .iter()
            .filter(|(title, _)| *title == load.title)
            .map(|(_, features)| features)
            .collect();
        let differs = |index: &usize| alike.iter().any(|other| other[*index] != own[*index]);
        let apart: Vec<String> = (0..3).filter(differs).map(|index| own[index].clone()).collect();
        if !apart.is_empty() {
            let values = [("title", load.title.clone()), ("apart", apart.join(words.list[0]))];
            load.title = fill_in(words.tables.load_title, &values);
        }
    }
}

/// Arrivals of a load as text; a recorded schedule as it is stored.
pub(crate) fn arrivals(record: &PointRecord, words: &Words) -> String {
    match record.arrivals.as_str() {
        "closed" => words.columns.closed.to_owned(),
        // Each step of a search has its own rate, which its title states.
        poisson if poisson.starts_with("poisson ") && !record.step.is_empty() => {
            words.columns.open.to_owned()
        }
        other => other.to_owned(),
    }
}

/// A point with its statistics.
pub(crate) fn point(record: &PointRecord) -> Point<'_> {
    let summary = PointSummary::from_point(record);
    let io_per_s = &summary.io_per_s;
    let (completed, bytes) = (record.completed(), record.bytes());
    let one_size = (completed as f64 * record.block_size_mean_bytes - bytes as f64).abs() < 0.5;
    let scale = summary.mib_per_s / io_per_s.value;
    let interval = io_per_s.interval.filter(|_| one_size && scale.is_finite());
    let mib_per_s = Estimate {
        value: summary.mib_per_s,
        interval: interval.map(|(low, high)| (low * scale, high * scale)),
        ..*io_per_s
    };
    Point { record, summary, mib_per_s }
}
