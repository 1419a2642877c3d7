//! Several runs of one plan on one target: each figure over the runs.

use qdepth_measure::{Spread, Window, mean_over_runs};
use qdepth_record::{PointRecord, RunRecord};
use schemars::JsonSchema;
use serde::Serialize;

use crate::compare::matched::{RowLoad, documents, figures, with_loads};
use crate::compare::steady::SniaWindow;
use crate::compare::tables::{figure, marked, shown};
use crate::compare::trend::picture;
use crate::compare::{Side, VersusSchema, VersusSide, is_rate, next_seed, side};
use crate::compared::Compared;
use crate::document::Table;
use crate::number::percent;
use crate::presentation::Measured;
use crate::rows::Rows;
use crate::words::{Lang, fill_in, span, words};

/// Version of the JSON form of [`Repeated`].
const VERSION: u32 = 1;

/// Combined results of several runs of one plan on one target.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Repeated {
    /// Schema of this document: `qdepth-repeat`.
    pub schema: VersusSchema,
    /// The runs.
    pub side: VersusSide,
    /// True if time was virtual in any run.
    pub emulated: bool,
    /// Figures, in the order of the plan.
    pub rows: Vec<RepeatedRow>,
    /// Rates watched, if runs were rounds until steady state.
    pub rounds: Vec<RoundsOf>,
}

/// The rate of a load from round to round.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RoundsOf {
    /// Title of the load profile.
    pub profile_title: String,
    /// Queue depth of each stream.
    pub queue_depth: u32,
    /// Rate of each round, I/Os per second.
    pub rates: Vec<f64>,
    /// The last five rounds by SNIA's rule; null for fewer.
    pub window: Option<SniaWindow>,
}

/// Consecutive runs that serve as rounds of SNIA's test.
#[derive(Clone, Debug)]
pub struct Rounds {
    /// Tracked loads: 4 KiB random writes without reads if the plan has them, else all.
    pub tracked: Vec<RoundsOf>,
}

impl Rounds {
    /// Extracts the rates of the tracked loads from these runs, which are in the order of the
    /// rounds.
    pub fn from_runs(runs: &[Measured]) -> Self {
        let tracks = |point: &PointRecord| {
            point.write_share() >= 1.0
                && point.random_share >= 1.0
                && (point.block_size_mean_bytes - 4096.0).abs() < 0.5
        };
        let only = runs.first().is_some_and(|(_, points)| points.iter().any(tracks));
        let watched: Vec<Measured> = runs
            .iter()
            .map(|(run, points)| {
                let kept = points.iter().filter(|point| !only || tracks(point));
                (run.clone(), kept.cloned().collect())
            })
            .collect();
        let watched = documents(&watched);
        let all = figures(&watched).into_iter().filter_map(|(key, of_load)| {
            let rates = of_load.get("io_per_s")?;
            let window = Window::from_rounds(&rates).map(SniaWindow::from);
            let RowLoad { profile_title, queue_depth, .. } = key.load;
            // A load that is missing in a round has no consecutive rounds.
            (rates.len() == runs.len()).then_some(RoundsOf {
                profile_title,
                queue_depth,
                rates,
                window,
            })
        });
        Self { tracked: all.collect() }
    }

    /// True if all tracked rates are steady.
    pub fn is_steady(&self) -> bool {
        let steady = |point: &RoundsOf| point.window.is_some_and(|window| window.steady);
        !self.tracked.is_empty() && self.tracked.iter().all(steady)
    }
}

/// Sentences on the rounds: state of each rate, and the values that SNIA's report requires for its
/// window.
pub fn rounds_sentences(rounds: &[RoundsOf], lang: Lang) -> Vec<String> {
    let words = words(lang).compare;
    let sentence = |point: &RoundsOf| {
        let rates: Vec<Option<f64>> = point.rates.iter().map(|rate| Some(*rate)).collect();
        let name = format!("{} × {}  {}", point.profile_title, point.queue_depth, picture(&rates));
        let Some(window) = &point.window else {
            let values = [("n", point.rates.len().to_string())];
            return format!("{name}  {}", fill_in(words.few_rounds, &values));
        };
        let verdict = window.verdict(words);
        let line = format!("y = {:.1} x + {:.1}", window.slope, window.intercept);
        format!("{name}  {}: {verdict}; {line}", words.by_snia)
    };
    rounds.iter().map(sentence).collect()
}

/// A figure over several runs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RepeatedRow {
    /// Load of the row.
    #[serde(flatten)]
    pub load: RowLoad,
    /// Index of the target in its run, from 0.
    pub target: u32,
    /// `io_per_s`, `mib_per_s`, `mean_response_ns` or `p99_response_ns`.
    pub figure: &'static str,
    /// Number of runs that contain it.
    pub runs: u32,
    /// Geometric mean over the runs.
    pub mean: f64,
    /// 95 % confidence interval over the runs; null for fewer than three.
    pub confidence_interval: Option<[f64; 2]>,
    /// Run-to-run standard deviation of its logarithm: 0.03 is about 3 %.
    pub spread: Option<f64>,
}

impl RepeatedRow {
    /// Half-width of the interval, relative to the mean.
    pub fn half_width_share(&self) -> Option<f64> {
        self.confidence_interval.map(|[low, high]| (high - low) / 2.0 / self.mean)
    }

    /// True for a rate or throughput.
    pub fn is_rate(&self) -> bool {
        is_rate(self.figure)
    }
}

/// Name of each variant of a plan that compares, the base first, and the runs with its points only.
/// Empty for other plans.
pub fn by_variant(runs: &[Measured], lang: Lang) -> Vec<(String, Vec<Measured>)> {
    let compared = |run, points| Some((run, Compared::from_run(run, points, &[])?));
    let all: Vec<(&RunRecord, Compared<'_>)> =
        runs.iter().filter_map(|(run, points)| compared(run, points)).collect();
    let Some((first, of_first)) = all.first() else { return Vec::new() };
    let mut variants: Vec<u32> = (0..of_first.record.variants.len() as u32).collect();
    variants.sort_by_key(|variant| *variant != of_first.record.base);
    let group = |variant: u32| {
        let runs = all.iter().map(|(run, compared)| {
            let own = compared.wholes.iter().filter(|point| point.target == variant);
            // Loads of different variants are compared like loads of different runs.
            let points = own.map(|point| PointRecord { target: 0, ..point.clone() });
            ((*run).clone(), points.collect())
        });
        (of_first.name(first, words(lang), variant).unwrap_or_default(), runs.collect())
    };
    variants.into_iter().map(group).collect()
}

/// Combines all figures of these runs, under the user's name for them.
pub fn repeated(name: &str, runs: &[Measured]) -> Repeated {
    let runs = documents(runs);
    let mut rows = Vec::new();
    for (key, of_load) in figures(&runs) {
        for (figure, values) in of_load.figures() {
            let known = mean_over_runs(&values);
            let geometric = super::geometric(&values);
            rows.push(RepeatedRow {
                load: key.load.clone(),
                target: key.target,
                figure,
                runs: values.len() as u32,
                mean: known.map_or(geometric, |(mean, _)| mean),
                confidence_interval: known.map(|(_, interval)| interval),
                spread: Spread::from_figures(&values).map(|spread| spread.deviation),
            });
        }
    }
    Repeated {
        schema: VersusSchema { name: "qdepth-repeat", version: VERSION },
        side: side(Side { name, runs: &runs }, next_seed(runs.iter())),
        emulated: runs.iter().any(|run| run.run.emulated),
        rows,
        rounds: Vec::new(),
    }
}

/// Table with one row per figure.
pub fn repeated_table(repeated: &Repeated, lang: Lang) -> Table {
    let words = words(lang).compare;
    let values = [("n", repeated.side.runs.len().to_string()), ("a", repeated.side.name.clone())];
    let several = repeated.rows.iter().any(|row| row.target > 0);
    with_loads(Rows::from_items(&repeated.rows), lang, several, |row| (&row.load, row.target))
        .text(words.figure, |row| figure(words, row.figure))
        .number(words.runs, "", |row| row.runs.to_string())
        .number(words.mean, "", |row| shown(row.figure, row.mean))
        .text(words.interval, |row| {
            let ends = row.confidence_interval.map(|ends| ends.map(|end| shown(row.figure, end)));
            ends.map(|ends| span(lang, ends))
        })
        .number(words.spread, "", |row| row.spread.map(percent))
        .table(marked(lang, repeated.emulated, fill_in(words.repeated, &values)))
        .with_note(words.note[0])
}

/// The summary as a JSON document with a final line break.
pub fn repeated_json(repeated: &Repeated) -> String {
    qdepth_document::pretty(repeated)
}
