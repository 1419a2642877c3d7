//! Decides if the rates of a run's points became steady, by SNIA's window over rounds of equal
//! length, and by qdepth's own rule over the whole record.

use qdepth_measure::{
    Nanos, ROUNDS_MAX, Steadiness, SteadyState, WINDOW_ROUNDS, Window, first_steady, steadiness,
};
use qdepth_record::{PointRecord, RunRecord};
use schemars::JsonSchema;
use serde::Serialize;

use crate::compare::VersusSchema;
use crate::compare::tables::{marked, shown};
use crate::compare::trend::picture;
use crate::document::{Cell, Table, number_in, text};
use crate::number::percent;
use crate::rows::Rows;
use crate::words::{CompareWords, Lang, fill_in, load_in_words, words};

/// Version of the JSON form of [`SteadyReport`].
const VERSION: u32 = 1;
/// Number of times that a load of random writes must have written its area before a claim is made:
/// then the spare flash has been used and reclaimed (docs/method/steady.md).
const AREA_WRITTEN_LEAST: f64 = 2.0;
/// Largest number of samples for qdepth's own rule.
const SAMPLES_MAX: u64 = 600;

/// States of the rates of a run's points.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SteadyReport {
    /// Schema of this document: `qdepth-steady`.
    pub schema: VersusSchema,
    /// ID of the run.
    pub run: String,
    /// True if time was virtual.
    pub emulated: bool,
    /// Length of a round, ns.
    pub round_ns: u64,
    /// One point each.
    pub points: Vec<SteadyPoint>,
}

/// A point.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SteadyPoint {
    /// Name of the load profile.
    pub profile: String,
    /// Title of the load profile.
    pub profile_title: String,
    /// Queue depth of each stream.
    pub queue_depth: u32,
    /// Index of the target in its run, from 0.
    pub target: u32,
    /// Rate of each whole round, I/Os per second.
    pub rounds: Vec<f64>,
    /// Bytes written in the window over the bytes of the area.
    pub area_written: f64,
    /// True for random writes, which must write the area twice.
    #[serde(skip)]
    wears: bool,
    /// First window of five rounds, among the first 25 rounds, that meets SNIA's limits, otherwise
    /// the last window; null for fewer than five rounds.
    pub snia: Option<SniaWindow>,
    /// `steady`, `cyclic`, `drifting`, `never-steady`, or `too-short`, by qdepth's rule.
    pub state: &'static str,
    /// For `cyclic`: length of a cycle, ns.
    pub period_ns: Option<u64>,
    /// For `drifting`: true if the rate rises.
    pub rises: Option<bool>,
    /// Start of the part that qdepth's own rule checks, ns from the start of the window; it ends
    /// with the window.
    pub from_ns: u64,
    /// Mean rate in that part.
    pub level: f64,
    /// Range of the means of its five parts, divided by the level; 0.1 is allowed.
    pub range_share: f64,
    /// Rise of the line through those means, divided by the level; 0.05 is allowed.
    pub slope_share: f64,
    /// Standard deviation of the samples over the level.
    pub variation: f64,
}

/// Values of SNIA's report for a window of five rounds.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct SniaWindow {
    /// True if both limits are kept.
    pub steady: bool,
    /// Last round of the window, from 1.
    pub last_round: u32,
    /// Mean of the five rounds, I/Os per second.
    pub mean: f64,
    /// Difference between the largest and the smallest rate, and its limit.
    pub range: [f64; 2],
    /// Rise or fall of the line over the window, and the most that it may be.
    pub slope_excursion: [f64; 2],
    /// The line: rate = slope × round + intercept.
    pub slope: f64,
    /// See `slope`.
    pub intercept: f64,
}

impl SniaWindow {
    /// Verdict in words, with the last round and both figures as shares of the mean.
    pub(super) fn verdict(&self, words: &CompareWords) -> String {
        let values = [
            ("round", self.last_round.to_string()),
            ("range", percent(self.range[0] / self.mean)),
            ("slope", percent(self.slope_excursion[0] / self.mean)),
        ];
        fill_in(words.snia[usize::from(!self.steady)], &values)
    }
}

impl From<Window> for SniaWindow {
    fn from(window: Window) -> Self {
        Self {
            steady: window.is_steady(),
            last_round: window.last as u32,
            mean: window.mean,
            range: [window.range, window.range_allowed()],
            slope_excursion: [window.slope_excursion(), window.slope_allowed()],
            slope: window.line.slope,
            intercept: window.line.intercept,
        }
    }
}

/// States of a point with a level, and of one that is known to have none.
const LEVEL: [&str; 2] = ["steady", "cyclic"];
const NO_LEVEL: [&str; 2] = ["drifting", "never-steady"];

/// Evaluates every point of a run, in rounds of this length.
pub fn steady_report(run: &RunRecord, points: &[PointRecord], round: Nanos) -> SteadyReport {
    SteadyReport {
        schema: VersusSchema { name: "qdepth-steady", version: VERSION },
        run: run.id.clone(),
        emulated: run.emulated,
        round_ns: round.0,
        points: points.iter().map(|point| steady_point(run, point, round)).collect(),
    }
}

fn steady_point(run: &RunRecord, point: &PointRecord, round: Nanos) -> SteadyPoint {
    let rounds = rates(point, round.0);
    let sample = (point.duration_ns / SAMPLES_MAX).max(1);
    let samples = rates(point, sample);
    let area = run.targets.get(point.target as usize).map_or(0, |target| target.area_bytes);
    let written = point.writes.bytes as f64 / area.max(1) as f64;
    // Random writes wear a drive in; reads and sequential writes do not.
    let wears = point.random_share > 0.0 && point.writes.completed > 0;
    let least = match wears {
        true => (samples.len() as f64 * AREA_WRITTEN_LEAST / written).ceil() as usize,
        false => 0,
    };
    let Steadiness { state, from, level, range_share, slope_share, variation } =
        steadiness(&samples, least);
    let length = point.duration_ns / samples.len().max(1) as u64;
    let window = first_steady(&rounds[..rounds.len().min(ROUNDS_MAX)]);
    SteadyPoint {
        profile: point.profile.clone(),
        profile_title: point.profile_title.clone(),
        queue_depth: point.queue_depth,
        target: point.target,
        area_written: written,
        wears,
        snia: window.or_else(|| Window::from_rounds(&rounds)).map(SniaWindow::from),
        rounds,
        state: state.as_str(),
        period_ns: match state {
            SteadyState::Cyclic { period } => Some((period * length as f64) as u64),
            _ => None,
        },
        rises: match state {
            SteadyState::Drifting { rises } => Some(rises),
            _ => None,
        },
        from_ns: from as u64 * length,
        level,
        range_share,
        slope_share,
        variation,
    }
}

/// Mean rates over parts of the window, each at least this long.
fn rates(point: &PointRecord, length: u64) -> Vec<f64> {
    let (mut all, mut completed, mut took) = (Vec::new(), 0, 0);
    for interval in &point.intervals {
        completed += interval.completed();
        took += interval.length_ns;
        if took >= length {
            all.push(completed as f64 / (took as f64 / 1e9));
            (completed, took) = (0, 0);
        }
    }
    all
}

impl SteadyReport {
    /// True if qdepth's own rule finds a level for every point.
    pub fn all_have_levels(&self) -> bool {
        self.points.iter().all(|point| LEVEL.contains(&point.state))
    }

    /// True if at least one point is known to have no level.
    pub fn some_have_none(&self) -> bool {
        self.points.iter().any(|point| NO_LEVEL.contains(&point.state))
    }
}

/// Table with one row per point: its rounds as a sparkline, and both rules.
pub fn steady_table(report: &SteadyReport, lang: Lang) -> Table {
    let words = words(lang).compare;
    let seconds = |ns: u64| format!("{:.1} s", ns as f64 / 1e9);
    let values =
        [("run", report.run.chars().take(13).collect()), ("round", seconds(report.round_ns))];
    let state = |point: &SteadyPoint| match point.state {
        "steady" => words.courses[0].to_owned(),
        "cyclic" => {
            let period = seconds(point.period_ns.unwrap_or(0));
            fill_in(words.courses[1], &[("period", period)])
        }
        "drifting" if point.rises == Some(true) => words.courses[2].to_owned(),
        "drifting" => words.courses[3].to_owned(),
        "never-steady" => words.courses[4].to_owned(),
        _ if !point.wears || point.area_written >= AREA_WRITTEN_LEAST => {
            words.courses[6].to_owned()
        }
        _ => fill_in(words.courses[5], &[("times", format!("{:.2}", point.area_written))]),
    };
    let has_rounds = report.points.iter().any(|point| point.snia.is_some());
    let window = fill_in(words.window, &[("n", WINDOW_ROUNDS.to_string())]);
    Rows::from_items(&report.points)
        .text(words.profile, |point| {
            Cell::head(load_in_words(lang, &point.profile, &point.profile_title, ""))
        })
        .number(words.queue_depth, "", |p| p.queue_depth.to_string())
        .column(has_rounds.then(|| text(words.rounds)), |point| {
            let rates: Vec<Option<f64>> = point.rounds.iter().map(|rate| Some(*rate)).collect();
            Cell::plain(picture(&rates))
        })
        .column(has_rounds.then(|| number_in(&window, "")), |point| {
            point.snia.map(|window| shown("io_per_s", window.mean))
        })
        .column(has_rounds.then(|| text(words.by_snia)), |point| {
            point.snia.map(|window| window.verdict(words))
        })
        .number(words.level, "", |p| shown("io_per_s", p.level))
        .text(words.own_rule, |point| state(point))
        .table(marked(
            lang,
            report.emulated,
            fill_in(words.steady[usize::from(has_rounds)], &values),
        ))
}

/// The number of points with each result, and a note to the table.
pub fn steady_sentences(report: &SteadyReport, lang: Lang) -> Vec<String> {
    let words = words(lang).compare;
    let count = |states: &[&str]| {
        report.points.iter().filter(|point| states.contains(&point.state)).count().to_string()
    };
    let values = [
        ("of", report.points.len().to_string()),
        ("steady", count(&LEVEL)),
        ("unsteady", count(&NO_LEVEL)),
        ("short", count(&["too-short"])),
    ];
    vec![fill_in(words.steady_lead, &values), words.steady_note.to_owned()]
}

/// The report as a JSON document with a final line break.
pub fn steady_json(report: &SteadyReport) -> String {
    qdepth_document::pretty(report)
}
