//! Trend of one plan on one target: every figure from run to run, and its persistent changes.

use qdepth_measure::{FIGURES_MAX, changes};
use schemars::JsonSchema;
use serde::Serialize;

use crate::compare::matched::{RowLoad, with_loads};
use crate::compare::run_figures::{RunFigures, TrendRun};
use crate::compare::tables::{figure, marked, shown};
use crate::compare::{VersusSchema, is_rate};
use crate::document::{Cell, Table};
use crate::grouped::entry_or;
use crate::number::percent;
use crate::rows::Rows;
use crate::words::{CompareWords, Lang, counted, fill_in, words};

/// Version of the JSON form of [`Trend`].
const VERSION: u32 = 1;
/// Share of logbooks without any change in which a change is reported.
const LEVEL: f64 = 0.05;
/// Fewest runs for a change.
const RUNS_MIN: usize = 6;
/// Runs from which a table with many figures shows a change.
const RUNS_SURE: usize = 14;
/// Characters of a sparkline, by height.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// History of the figures of a plan on a target.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Trend {
    /// Schema of this document: `qdepth-trend`.
    pub schema: VersusSchema,
    /// Name of the plan.
    pub plan: String,
    /// Target, as given by the user.
    pub target: String,
    /// True if time was virtual in any run.
    pub emulated: bool,
    /// The runs, the oldest first.
    pub runs: Vec<TrendRun>,
    /// Number of such runs in the logbook; if it exceeds `runs`, those are the newest.
    pub runs_kept: usize,
    /// Number of excluded runs of the plan on the target: their durations, queue depths, block
    /// sizes or area differ from those of the newest run.
    pub different: usize,
    /// Changes of less than this share are not reported.
    pub threshold: f64,
    /// Share of logbooks without any real change in which a change is reported (false alarms).
    pub false_alarms: f64,
    /// Figures, in the order of the plan.
    pub rows: Vec<TrendRow>,
}

/// A figure over time.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TrendRow {
    /// Load of the row.
    #[serde(flatten)]
    pub load: RowLoad,
    /// Index of the target in its run, from 0.
    pub target: u32,
    /// `io_per_s`, `mib_per_s`, `mean_response_ns` or `p99_response_ns`.
    pub figure: &'static str,
    /// Value of each run; null if it has no valid point of the load.
    pub values: Vec<Option<f64>>,
    /// Permanent changes.
    pub changes: Vec<TrendChange>,
}

/// A permanent change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TrendChange {
    /// Index of the first run after the change, from 0.
    pub run: u32,
    /// ID of the run.
    pub run_id: String,
    /// Mean from the change before it to this one.
    pub before: f64,
    /// Mean from this change to the next one, or to the last run.
    pub after: f64,
    /// `faster` or `slower`.
    pub verdict: &'static str,
    /// Probability of a change at least as clear if there is none (p-value), for this figure alone.
    pub p: f64,
}

impl Trend {
    /// True if there are enough runs to detect a change.
    pub fn has_enough_runs(&self) -> bool {
        self.runs.len() >= RUNS_MIN
    }

    /// True if the last change of some figure was for the worse.
    pub fn became_slower(&self) -> bool {
        let last = |row: &TrendRow| row.changes.last().is_some_and(|c| c.verdict == "slower");
        self.rows.iter().any(last)
    }
}

/// The trend of these runs, the oldest first, which have one plan and target and are the newest of
/// `kept` such runs. Changes of less than `threshold` (0.02 for 2 %) are not reported. The level
/// applies to all figures together (Bonferroni).
pub fn trend(runs: &[RunFigures], kept: usize, threshold: f64) -> Trend {
    let runs = &runs[runs.len().saturating_sub(FIGURES_MAX)..];
    let mut found = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        for (key, name, value) in &run.figures {
            let known = entry_or(&mut found, (key.clone(), *name), || vec![None; runs.len()]);
            known[index] = Some(*value);
        }
    }
    let level = LEVEL / found.len().max(1) as f64;
    let rows = found.into_iter().map(|((key, figure), values)| TrendRow {
        changes: changes_of(runs, figure, &values, level, threshold),
        load: key.load,
        target: key.target,
        figure,
        values,
    });
    let last = runs.last();
    Trend {
        schema: VersusSchema { name: "qdepth-trend", version: VERSION },
        plan: last.map_or_else(String::new, |run| run.plan.clone()),
        target: last.map_or_else(String::new, |run| run.target.clone()),
        emulated: runs.iter().any(|run| run.emulated),
        runs: runs.iter().map(|run| run.run.clone()).collect(),
        runs_kept: kept,
        different: 0,
        threshold,
        false_alarms: LEVEL,
        rows: rows.collect(),
    }
}

fn changes_of(
    runs: &[RunFigures],
    name: &str,
    values: &[Option<f64>],
    level: f64,
    threshold: f64,
) -> Vec<TrendChange> {
    let there: Vec<(usize, f64)> =
        values.iter().enumerate().filter_map(|(run, value)| Some((run, (*value)?))).collect();
    // In logarithms, halving weighs as much as doubling.
    let logs: Vec<f64> = there.iter().map(|(_, value)| value.ln()).collect();
    let listed = changes(&logs, level).into_iter().filter_map(|change| {
        let (before, after) = (change.before.exp(), change.after.exp());
        let matters = (change.after - change.before).abs() > threshold.ln_1p();
        let better = (after > before) == is_rate(name);
        let run = there[change.at].0;
        matters.then(|| TrendChange {
            run: run as u32,
            run_id: runs[run].run.id.clone(),
            before,
            after,
            verdict: if better { "faster" } else { "slower" },
            p: change.p,
        })
    });
    listed.collect()
}

/// Table of these rows.
pub(super) fn table_of_rows(trend: &Trend, rows: &[&TrendRow], lang: Lang) -> Table {
    let words = words(lang).compare;
    let several = rows.iter().any(|row| row.target > 0);
    let values = [
        ("plan", trend.plan.clone()),
        ("target", trend.target.clone()),
        ("n", trend.runs.len().to_string()),
    ];
    with_loads(Rows::from_items(rows), lang, several, |row| (&row.load, row.target))
        .text(words.figure, |row| figure(words, row.figure))
        .text(words.over_time, |row| picture(&row.values))
        .number(words.last, "", |row| {
            let last = row.values.iter().rev().find_map(|value| *value);
            last.map(|value| shown(row.figure, value))
        })
        .text(words.changes, |row| {
            let statement = sentence(words, trend, row);
            let slower = row.changes.last().is_some_and(|change| change.verdict == "slower");
            if slower { Cell::alarm(statement) } else { Cell::plain(statement) }
        })
        .table(marked(lang, trend.emulated, fill_in(words.trend, &values)))
}

/// A time for people, to the minute.
pub(super) fn minute(time: &str) -> String {
    time.chars().take(16).collect::<String>().replace('T', " ")
}

/// The changes of a figure as text.
pub(super) fn sentence(words: &CompareWords, trend: &Trend, row: &TrendRow) -> String {
    let clause = |change: &TrendChange| {
        let started = &trend.runs[change.run as usize].started_at;
        let values = [
            ("by", percent(change.after / change.before - 1.0)),
            ("when", minute(started)),
            ("run", change.run_id.chars().take(13).collect()),
        ];
        let index = usize::from(change.verdict == "slower");
        fill_in(words.changed[index], &values)
    };
    row.changes.iter().map(clause).collect::<Vec<_>>().join(words.clause)
}

/// Sparkline from the smallest to the largest value; a gap for a missing value.
pub(super) fn picture(values: &[Option<f64>]) -> String {
    let there = values.iter().flatten();
    let least = there.clone().copied().fold(f64::INFINITY, f64::min);
    let most = there.copied().fold(f64::NEG_INFINITY, f64::max);
    // The range is at least a tenth of the maximum, so that noise stays flat.
    let height = (most - least).max(0.1 * most);
    let bar = |value: &Option<f64>| {
        value.map_or(' ', |value| {
            let share = if height > 0.0 { (value - least) / height } else { 0.0 };
            BARS[((share * 7.0).round() as usize).min(7)]
        })
    };
    values.iter().map(bar).collect()
}

/// Notes to the table.
pub(super) fn trend_sentences(trend: &Trend, lang: Lang) -> Vec<String> {
    let words = words(lang).compare;
    let different = (trend.different > 0).then(|| counted(words.different, trend.different));
    if !trend.has_enough_runs() {
        let values = [("n", trend.runs.len().to_string()), ("least", RUNS_MIN.to_string())];
        return different.into_iter().chain([fill_in(words.too_few_runs, &values)]).collect();
    }
    let values = [("n", trend.runs.len().to_string()), ("of", trend.runs_kept.to_string())];
    let newest = (trend.runs_kept > trend.runs.len()).then(|| fill_in(words.newest_runs, &values));
    let alarms = fill_in(words.alarms, &[("share", percent(trend.false_alarms))]);
    let few = trend.runs.len() < RUNS_SURE && trend.rows.iter().all(|row| row.changes.is_empty());
    let few = few.then(|| fill_in(words.few_runs, &values));
    different.into_iter().chain(newest).chain(few).chain([alarms]).collect()
}

/// The trend as a JSON document with a final line break.
pub fn trend_json(trend: &Trend) -> String {
    qdepth_document::pretty(trend)
}
