//! Comparison of two groups of runs: which figures of B differ from those of A, and by which
//! factor.

mod alike;
mod matched;
mod page;
mod repeated;
mod run_figures;
mod steady;
mod tables;
mod trend;
mod trend_page;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use qdepth_measure::{Ratio, Verdict, pooled, ratio, verdicts};
use qdepth_record::{Document, ObservationEntry, RunEntry, RunRecord};
use schemars::JsonSchema;
use serde::Serialize;

use crate::grouped::unique;
use matched::{Figures, Key, figures, history};

pub use alike::{TrendRequest, trend_of};
pub use matched::{RowLoad, documents};
pub use page::compose_versus;
pub use repeated::{
    Repeated, RepeatedRow, Rounds, RoundsOf, by_variant, repeated, repeated_json, repeated_table,
    rounds_sentences,
};
pub use run_figures::{RunFigures, TrendRun};
pub use steady::{
    SniaWindow, SteadyPoint, SteadyReport, steady_json, steady_report, steady_sentences,
    steady_table,
};
pub use tables::{versus_answer, versus_notes, versus_on_screen, versus_sentences, versus_table};
pub use trend::{Trend, TrendChange, TrendRow, trend, trend_json};
pub use trend_page::{compose_trend, trend_on_screen};

/// Largest number of earlier runs that are used: more would not improve the estimate of their
/// variation.
pub const EARLIER_MAX: usize = 30;

/// Version of the JSON form of [`Versus`].
const VERSION: u32 = 1;
/// Width of a bucket of the latency histogram, as a share.
const BUCKET: f64 = 0.004;

/// A comparison of two groups of runs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Versus {
    /// Schema of this document.
    pub schema: VersusSchema,
    /// Groups: A, the baseline, and B.
    pub sides: [VersusSide; 2],
    /// True if time was virtual in any run.
    pub emulated: bool,
    /// Differences up to this share are called equal.
    pub threshold: f64,
    /// Number of earlier runs of the same plan from which the run-to-run variation is taken; 0 if
    /// they were not needed, or if there were fewer than three.
    pub history_runs: u32,
    /// Figures that both sides have, in the order of the plan.
    pub rows: Vec<VersusRow>,
    /// True if the sides have at least one load in common, valid or not.
    pub share_loads: bool,
    /// Loads with a valid point on one side only.
    pub unmatched: Vec<VersusUnmatched>,
    /// Other differences between the first runs of the sides.
    pub differences: Vec<VersusDifference>,
}

/// Name and version of the format.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VersusSchema {
    /// Always `qdepth-compare`.
    pub name: &'static str,
    /// Increases with every change that affects readers of the format.
    pub version: u32,
}

/// Input for one side of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Name given by the user.
    pub name: &'a str,
    /// Runs of this side.
    pub runs: &'a [Document],
}

/// A group of runs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VersusSide {
    /// Name given by the user.
    pub name: String,
    /// Storage of its runs: products if known, otherwise names; each listed once.
    pub storage: Vec<String>,
    /// True if its runs have different targets.
    pub mixes: bool,
    /// IDs of its runs.
    pub runs: Vec<String>,
    /// Command that adds a run to this side, if one is known.
    pub rerun_command: Option<String>,
}

/// A figure that both sides have.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VersusRow {
    /// Load of the row.
    #[serde(flatten)]
    pub load: RowLoad,
    /// Streams.
    pub streams: u32,
    /// Index of the target in its run, from 0.
    pub target: u32,
    /// `io_per_s`, `mib_per_s`, `mean_response_ns`, `p99_response_ns` or `cpu_ns_per_io` (where
    /// every run of both sides has it).
    pub figure: &'static str,
    /// Geometric means over the runs of A and of B.
    pub means: [f64; 2],
    /// Numbers of runs of A and of B that contain the figure.
    pub runs: [u32; 2],
    /// B ÷ A; null if it cannot be determined.
    pub ratio: Option<f64>,
    /// 95 % confidence interval over the runs.
    pub confidence_interval: Option<[f64; 2]>,
    /// Probability of a difference at least as large if there is none (p-value), before Holm's
    /// correction.
    pub p: Option<f64>,
    /// `faster`, `slower`, `equal` or `inconclusive`, of B.
    pub verdict: &'static str,
    /// Range of B ÷ A of two single runs by the 95 % confidence intervals within the runs. It does
    /// not include the run-to-run variation.
    pub within: Option<[f64; 2]>,
    /// For `inconclusive`: estimated number of additional runs per side that would decide.
    pub more_runs: Option<u32>,
}

/// A load with a valid point on one side only.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VersusUnmatched {
    /// `a` or `b`.
    pub side: &'static str,
    /// Load of the row.
    #[serde(flatten)]
    pub load: RowLoad,
    /// Streams.
    pub streams: u32,
    /// Index of the target in its run, from 0.
    pub target: u32,
    /// True if the other side measured the load, without a valid point.
    pub invalid_elsewhere: bool,
}

/// A fact that differs between the first runs of the sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VersusDifference {
    /// Subject of the fact.
    pub subject: String,
    /// Key of the fact.
    pub key: String,
    /// Value in A and in B; empty if unknown.
    pub values: [String; 2],
}

impl VersusRow {
    /// True for a rate or throughput, for which higher is better.
    pub fn is_rate(&self) -> bool {
        is_rate(self.figure)
    }
}

impl Versus {
    /// Number of figures with this verdict.
    pub fn count(&self, verdict: &str) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }
}

/// Compares `b` with `a`. `earlier` are other runs of the logbook. Those with A's plan and targets
/// provide the variation between single runs, if a side has only one. `threshold` is the practical
/// one, 0.02 for 2 %; `interim_checks` as for [`qdepth_measure::verdicts`].
pub fn versus(
    a: Side<'_>,
    b: Side<'_>,
    earlier: &[Document],
    threshold: f64,
    interim_checks: u32,
) -> Versus {
    let [of_a, of_b] = &[a, b].map(|side| figures(side.runs));
    let single = a.runs.len() == 1 && b.runs.len() == 1;
    let known = history_of(a, b, earlier);
    let mut rows = Vec::new();
    for (key, figures_a) in of_a {
        let Some((_, figures_b)) = of_b.iter().find(|(other, _)| other == key) else { continue };
        for (name, values_a) in figures_a.compared() {
            let Some(values_b) = figures_b.get(name) else { continue };
            let spread = known.iter().find(|(other, _)| other == key);
            let spread = spread.and_then(|(_, figures)| figures.spread(name));
            let ratio = ratio(&values_a, &values_b, spread);
            let means = [geometric(&values_a), geometric(&values_b)];
            rows.push((key, name, means, ratio));
        }
    }
    pool(&mut rows);
    rows.iter_mut().for_each(|row| row.3 = row.3.and_then(|ratio| varying(ratio, threshold)));
    let all: Vec<Option<Ratio>> = rows.iter().map(|row| row.3).collect();
    let row_verdicts = verdicts(&all, threshold, interim_checks);
    let entry = |((key, name, means, ratio), verdict): (Compared<'_>, Verdict)| {
        let runs = [of_a, of_b].map(|side| {
            let found = side.iter().find(|(other, _)| other == key);
            found.and_then(|(_, figures)| figures.get(name)).map_or(0, |values| values.len() as u32)
        });
        let more_runs = match verdict {
            Verdict::CannotTell { more } => more,
            _ => None,
        };
        let within = [of_a, of_b].map(|side| {
            side.iter().find(|(other, _)| other == key).and_then(|(_, all)| all.within(name))
        });
        VersusRow {
            load: key.load.clone(),
            streams: key.streams,
            target: key.target,
            figure: name,
            means,
            runs,
            ratio: ratio.map(|ratio| ratio.value),
            confidence_interval: ratio.map(|ratio| [ratio.low, ratio.high]),
            p: ratio.map(|ratio| ratio.p),
            verdict: of_b_words(name, verdict),
            within: ratio_within(means, within).filter(|_| single),
            more_runs,
        }
    };
    Versus {
        schema: VersusSchema { name: "qdepth-compare", version: VERSION },
        sides: sides(a, b),
        emulated: a.runs.iter().chain(b.runs).any(|run| run.run.emulated),
        threshold,
        history_runs: known.iter().map(|(_, figures)| figures.runs()).max().unwrap_or(0),
        rows: rows.into_iter().zip(row_verdicts).map(entry).collect(),
        share_loads: of_a.iter().any(|(key, _)| of_b.iter().any(|(other, _)| other == key)),
        unmatched: [alone("a", of_a, of_b), alone("b", of_b, of_a)].concat(),
        differences: differences(a, b),
    }
}

/// The ratio if it decides anything. Equal figures on each side, for example the bounds of a
/// histogram's bucket, do not show that the runs do not vary; but several runs per side whose sides
/// differ by less than the threshold and a bucket are equal.
fn varying(mut ratio: Ratio, threshold: f64) -> Option<Ratio> {
    let distance = ratio.value.ln().abs();
    if ratio.low < ratio.high || distance < 1e-9 {
        return Some(ratio);
    }
    // No evidence of a difference.
    ratio.p = 1.0;
    let is_near = distance + BUCKET <= threshold.ln_1p() && ratio.runs.iter().all(|n| *n > 1);
    is_near.then_some(ratio)
}

/// Ratio B ÷ A between the far and between the near ends of the intervals, which are relative to
/// the means.
fn ratio_within([a, b]: [f64; 2], within: [Option<[f64; 2]>; 2]) -> Option<[f64; 2]> {
    let [[low_a, high_a], [low_b, high_b]] = [within[0]?, within[1]?];
    Some([b / a * low_b / high_a, b / a * high_b / low_a])
}

/// Earlier runs that show the variation between single runs, if needed.
fn history_of<'e>(a: Side<'_>, b: Side<'_>, earlier: &'e [Document]) -> Vec<(Key, Figures<'e>)> {
    let single = a.runs.len() == 1 && b.runs.len() == 1;
    if single { history(a.runs, earlier) } else { Vec::new() }
}

/// A load, the name of a figure, its means over the runs of A and of B, and their ratio.
type Compared<'k> = (&'k Key, &'static str, [f64; 2], Option<Ratio>);

/// Pools the variance of each figure over the loads: rates scatter like other rates.
fn pool(rows: &mut [Compared<'_>]) {
    let names: BTreeSet<&'static str> = rows.iter().map(|row| row.1).collect();
    for name in names {
        let of_it = || rows.iter().enumerate().filter(|(_, row)| row.1 == name);
        let indices: Vec<usize> = of_it().map(|(index, _)| index).collect();
        let ratios: Vec<Option<Ratio>> = of_it().map(|(_, row)| row.3).collect();
        for (index, ratio) in indices.into_iter().zip(pooled(&ratios)) {
            rows[index].3 = ratio;
        }
    }
}

/// True for a rate or throughput; the other figures are latencies and costs.
fn is_rate(figure: &str) -> bool {
    figure.ends_with("_per_s")
}

/// Loads with figures of a side for which the other has none.
fn alone(
    side: &'static str,
    mine: &[(Key, Figures<'_>)],
    theirs: &[(Key, Figures<'_>)],
) -> Vec<VersusUnmatched> {
    let other = |key: &Key| theirs.iter().find(|(other, _)| other == key).map(|(_, all)| all);
    let missing = mine
        .iter()
        .filter(|(key, figures)| !figures.is_empty() && other(key).is_none_or(Figures::is_empty));
    let unmatched = |(key, _): &(Key, Figures<'_>)| VersusUnmatched {
        side,
        load: key.load.clone(),
        streams: key.streams,
        target: key.target,
        invalid_elsewhere: other(key).is_some(),
    };
    missing.map(unmatched).collect()
}

/// Verdict on B in words: a higher rate is better, but a lower latency or cost is.
fn of_b_words(figure: &str, verdict: Verdict) -> &'static str {
    let rate = is_rate(figure);
    match verdict {
        Verdict::Higher if rate => "faster",
        Verdict::Lower if rate => "slower",
        Verdict::Higher => "slower",
        Verdict::Lower => "faster",
        Verdict::Equal => "equal",
        Verdict::CannotTell { .. } => "inconclusive",
    }
}

/// A seed that none of these runs has.
fn next_seed<'a>(runs: impl Iterator<Item = &'a Document>) -> u64 {
    let seeds = runs.filter_map(|run| run.run.seed.parse::<u64>().ok());
    seeds.max().map_or(1, |seed| seed.saturating_add(1))
}

/// Both sides. Emulated runs with the same seed are the same run, so a new one on either side gets
/// a seed that no run has.
fn sides(a: Side<'_>, b: Side<'_>) -> [VersusSide; 2] {
    let next = next_seed(a.runs.iter().chain(b.runs));
    let is_other = rerun_command(a.runs, 0) != rerun_command(b.runs, 0);
    [side(a, next), side(b, next.saturating_add(u64::from(is_other)))]
}

fn side(side: Side<'_>, seed: u64) -> VersusSide {
    let Side { name, runs } = side;
    VersusSide {
        name: name.to_owned(),
        storage: unique(runs.iter().flat_map(storage)),
        mixes: unique(runs.iter().map(|run| storage(run).collect::<Vec<_>>())).len() > 1,
        runs: runs.iter().map(|run| run.run.id.clone()).collect(),
        rerun_command: rerun_command(runs, seed),
    }
}

/// Command for one more run of a side; an emulated one gets this seed.
fn rerun_command(runs: &[Document], seed: u64) -> Option<String> {
    let first = runs.first()?;
    let again = first.fact(RunRecord::COMMAND)?;
    match again.rsplit_once(" --seed ") {
        Some((command, _)) if first.run.emulated => Some(format!("{command} --seed {seed}")),
        _ => Some(again.to_owned()),
    }
}

fn geometric(values: &[f64]) -> f64 {
    let logs: f64 = values.iter().map(|value| value.ln()).sum();
    (logs / values.len().max(1) as f64).exp()
}

/// A fact about a machine or target in its displayed form.
struct Fact {
    subject: String,
    key: String,
    value: String,
}

/// Facts that change from run to run by themselves.
const PASSING: [&str; 9] = [
    "rerun_command",
    "note",
    "retracted",
    "load_average",
    "uptime",
    "temperature",
    "celsius",
    "available_bytes",
    "campaign",
];

/// True for a fact that may differ between two runs on one machine: the cost of the generator,
/// which is measured before each run, the newest certificate, and temporary facts.
fn passes(fact: &Fact) -> bool {
    let Fact { subject, key, value } = fact;
    let measured = subject == "generator" && value.parse::<f64>().is_ok();
    measured || subject == "certificate" || PASSING.iter().any(|passing| key.contains(passing))
}

/// Storage of a run: product names if known, else names.
fn storage(document: &Document) -> impl Iterator<Item = String> {
    document.targets.iter().map(|target| {
        let product = target.facts.iter().find(|fact| fact.key == "product");
        product.and_then(|fact| fact.value.clone()).unwrap_or_else(|| target.name.clone())
    })
}

/// Pairs devices of the two sides if each side has equally many that the other lacks: `nvme0n1` of
/// one run and `nvme1n1` of the other become one subject, `nvme0n1 | nvme1n1`.
fn paired(of_a: &mut [Fact], of_b: &mut [Fact]) {
    let only = |mine: &[Fact], theirs: &[Fact]| {
        let mut all: Vec<String> = Vec::new();
        for fact in mine.iter().filter(|fact| fact.subject.starts_with("target ")) {
            let is_shared = theirs.iter().any(|other| other.subject == fact.subject);
            if !is_shared && !all.contains(&fact.subject) {
                all.push(fact.subject.clone());
            }
        }
        all
    };
    let (only_a, only_b) = (only(of_a, of_b), only(of_b, of_a));
    let target = |subject: &str| subject.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" ");
    let alike = |(a, b): (&String, &String)| target(a) == target(b);
    if only_a.len() != only_b.len() || !only_a.iter().zip(&only_b).all(alike) {
        return;
    }
    for (a, b) in only_a.iter().zip(&only_b) {
        let name = b.splitn(3, ' ').nth(2).unwrap_or_default();
        let both = format!("{a} | {name}");
        let facts = of_a.iter_mut().chain(of_b.iter_mut());
        facts.filter(|fact| [a, b].contains(&&fact.subject)).for_each(|fact| {
            fact.subject.clone_from(&both);
        });
    }
}

/// Largest number of seeds that are listed.
const SEEDS: usize = 5;

/// Seeds of the runs of a side, each once.
fn seeds(side: Side<'_>) -> String {
    let seeds = side.runs.iter().map(|document| document.run.seed.as_str());
    let mut seeds: Vec<&str> = seeds.collect();
    seeds.sort_by_key(|seed| (seed.parse::<u64>().ok(), *seed));
    seeds.dedup();
    let more = seeds.len().saturating_sub(SEEDS);
    seeds.truncate(SEEDS);
    let listed = seeds.join(", ");
    if more > 0 { format!("{listed} and {more} more") } else { listed }
}

/// Other differences: seeds of all runs, and of the first ones version, plan, engine, and facts
/// about machine and targets.
fn differences(of_a: Side<'_>, of_b: Side<'_>) -> Vec<VersusDifference> {
    let (Some(a), Some(b)) = (of_a.runs.first(), of_b.runs.first()) else { return Vec::new() };
    let mut all = Vec::new();
    let mut differ = |subject: &str, key: &str, values: [String; 2]| {
        if values[0] != values[1] {
            all.push(VersusDifference { subject: subject.to_owned(), key: key.to_owned(), values });
        }
    };
    let both = |field: fn(&RunEntry) -> String| [a, b].map(|document| field(&document.run));
    differ("qdepth", "version", both(|run| run.version.clone()));
    differ("run", "plan", both(|run| format!("{:.12}", run.plan_hash)));
    differ("run", "seed", [of_a, of_b].map(seeds));
    differ("run", "engine", both(|run| run.engine_choice.clone()));
    differ("run", "emulated", both(|run| run.emulated.to_string()));
    let facts = |document: &Document| -> Vec<Fact> {
        let named = |prefix: String, seen: &ObservationEntry| {
            let subject = format!("{prefix}{}", seen.subject);
            Fact { subject, key: seen.key.clone(), value: seen.value.clone().unwrap_or_default() }
        };
        let of_targets = document.targets.iter().flat_map(|target| {
            let prefix = format!("target {} ", target.index + 1);
            let spelled = Fact {
                subject: prefix.trim_end().to_owned(),
                key: "name".to_owned(),
                value: target.expression.clone(),
            };
            let seen = target.facts.iter().map(move |seen| named(prefix.clone(), seen));
            std::iter::once(spelled).chain(seen)
        });
        let of_machine = document.environment.iter().map(|seen| named(String::new(), seen));
        of_machine.chain(of_targets).filter(|fact| !passes(fact)).collect()
    };
    let [mut of_a, mut of_b] = [facts(a), facts(b)];
    paired(&mut of_a, &mut of_b);
    let names = of_a.iter().chain(&of_b).map(|fact| (&fact.subject, &fact.key));
    for (subject, key) in names.collect::<BTreeSet<_>>() {
        let value = |facts: &[Fact]| {
            let is_it = |fact: &&Fact| (&fact.subject, &fact.key) == (subject, key);
            facts.iter().find(is_it).map_or_else(String::new, |fact| fact.value.clone())
        };
        differ(subject, key, [value(&of_a), value(&of_b)]);
    }
    all
}

/// The comparison as a JSON document with a final line break.
pub fn versus_json(versus: &Versus) -> String {
    qdepth_document::pretty(versus)
}
