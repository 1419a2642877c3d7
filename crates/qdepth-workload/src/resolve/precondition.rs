//! Preconditioning: writes to the whole target, so that its wear is known before the first point.
//! The measuring loop executes these loads like all others.

use qdepth_measure::{Nanos, Seed, SteadyRule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choices::{Choices, Preconditioning, TargetShape, Wear};
use super::error::ResolveError;
use super::load::Load;
use super::point::point;
use super::ways::Destination;
use crate::distribution::Distribution;
use crate::plan::{Plan, Point, UntilSteady};
use crate::profile::{PlanFile, Profile, SizeSpec};
use crate::steps::LoadSpec;

/// Word by which a preparation step is preconditioning.
const STEP: &str = "precondition";
/// Maximum number of passes: a typing error must not use up a drive's endurance.
const PASSES_MAX: u32 = 100;
/// Maximum duration of a step: that of a point.
const LONGEST: Nanos = Nanos::from_secs(7 * 86_400);
/// Default duration of a round: SNIA's.
const ROUND: Nanos = Nanos::from_secs(60);
/// Maximum number of rounds.
const ROUNDS_MAX: u32 = 10_000;

impl Preconditioning {
    fn steps(self) -> Vec<Step> {
        let sequential = Step::new(Method::Sequential);
        match self {
            Self::State(Wear::Preconditioned) => vec![sequential],
            Self::State(Wear::Steady) => vec![sequential, Step::new(Method::Random)],
            Self::UntilSteady { rule, round } => {
                let until = Step::new(Method::UntilSteady);
                vec![sequential, Step { rule: Some(rule), round, ..until }]
            }
        }
    }
}

/// Method of writing a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// 128 KiB sequential writes. Default of `passes`: 2.
    Sequential,
    /// 4 KiB random writes: some places several times, some never. Default of `passes`: 1.
    Random,
    /// 4 KiB random writes, each place once: scatters the data of a purged drive with a third of
    /// the bytes of the other two, and does not use its spare area. Default of `passes`: 1.
    OnePass,
    /// 4 KiB random writes in consecutive rounds of `round` until `rule` finds the rate steady, at
    /// most `rounds`. Defaults: one minute, `own`, and 25 rounds for `snia` or one day for `own`;
    /// `own` also gives up after the area has been written four times in 25 rounds, or sixteen
    /// times if the rate drifts.
    UntilSteady,
}

/// Preconditioning step in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    #[serde(rename = "step")]
    _step: Word,
    method: Method,
    passes: Option<u32>,
    rule: Option<SteadyRule>,
    round: Option<Nanos>,
    rounds: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Word {
    Precondition,
}

impl Step {
    fn new(method: Method) -> Self {
        let (passes, rule, round, rounds) = (None, None, None, None);
        Self { _step: Word::Precondition, method, passes, rule, round, rounds }
    }

    /// Checks the step.
    fn check(self) -> Result<(), String> {
        let Self { method, passes, rule, round, rounds, .. } = self;
        if let Some(passes) = passes.filter(|passes| *passes == 0 || *passes > PASSES_MAX) {
            return Err(format!("passes = {passes}: must be between 1 and {PASSES_MAX}"));
        }
        let of_rounds = rule.is_some() || round.is_some() || rounds.is_some();
        if method != Method::UntilSteady && of_rounds {
            return Err("`rule`, `round` and `rounds` need the method `until-steady`".to_owned());
        }
        if method == Method::UntilSteady && passes.is_some() {
            return Err(
                "`until-steady` ends by its rule or by `rounds`: remove `passes`".to_owned()
            );
        }
        let possible = SteadyRule::ROUNDS_MIN..=ROUNDS_MAX;
        match rounds.filter(|rounds| !possible.contains(rounds)) {
            Some(rounds) => Err(format!(
                "rounds = {rounds}: must be between {} and {ROUNDS_MAX}",
                SteadyRule::ROUNDS_MIN
            )),
            None => Ok(()),
        }
    }

    fn until_steady(self) -> Option<UntilSteady> {
        let rule = self.rule.unwrap_or_default();
        let rounds = self.rounds.unwrap_or(rule.rounds_most());
        (self.method == Method::UntilSteady).then_some(UntilSteady { rule, rounds })
    }
}

impl Wear {
    /// Name as written and stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Preconditioned => "preconditioned",
            Self::Steady => "steady",
        }
    }
}

impl Method {
    fn profile(self) -> Profile {
        let (name, random, size) = match self {
            Self::Sequential => ("sequential", 0.0, "128KiB"),
            Self::Random | Self::UntilSteady => ("random", 100.0, "4KiB"),
            Self::OnePass => ("one-pass", 100.0, "4KiB"),
        };
        let distribution = (self == Self::OnePass).then_some(Distribution::EachOnce);
        let size = SizeSpec::One(size.to_owned());
        Profile { name: name.to_owned(), distribution, ..Profile::new(random, 0.0, size) }
    }

    fn usual_passes(self) -> u32 {
        if self == Self::Sequential { 2 } else { 1 }
    }

    /// Queue depth that keeps a drive busy: few large requests, more small ones.
    fn queue_depth(self) -> u32 {
        if self == Self::Sequential { 32 } else { 128 }
    }
}

impl PlanFile {
    /// Preparation steps that the host executes.
    pub fn host_steps(&self) -> Vec<serde_json::Value> {
        self.prepare.iter().filter(|step| !is_ours(step)).cloned().collect()
    }
}

fn is_ours(step: &serde_json::Value) -> bool {
    step["step"] == STEP
}

/// Steps of the file and the command line; the command line takes precedence.
fn steps(file: &PlanFile, choices: &Choices) -> Result<Vec<Step>, ResolveError> {
    let ours = file.prepare.iter().skip_while(|step| !is_ours(step));
    if let Some(after) = ours.clone().find(|step| !is_ours(step)) {
        return Err(bad(format!("it must be the last step, but {} follows it", after["step"])));
    }
    let steps = match choices.precondition {
        Some(wanted) => wanted.steps(),
        None => ours
            .map(|step| Step::deserialize(step).map_err(|error| bad(error.to_string())))
            .collect::<Result<_, _>>()?,
    };
    steps.iter().try_for_each(|step| step.check().map_err(bad))?;
    if choices.read_only && !steps.is_empty() {
        return Err(bad("it writes, but --read-only allows only reads"));
    }
    if file.files.is_some() && !steps.is_empty() {
        return Err(bad(
            "the points of this plan create new files each time, so there is nothing to \
             precondition",
        ));
    }
    Ok(steps)
}

fn bad(what: impl Into<String>) -> ResolveError {
    ResolveError::Value { profile: STEP.to_owned(), what: what.into() }
}

/// True if anything must be written before the first point.
pub(crate) fn is_wanted(file: &PlanFile, choices: &Choices) -> Result<bool, ResolveError> {
    Ok(!steps(file, choices)?.is_empty())
}

/// Loads of all targets, step by step; the loads of a step run at the same time.
pub(crate) fn points(
    file: &PlanFile,
    choices: &Choices,
    targets: &[TargetShape],
    seed: u64,
) -> Result<Vec<Point>, ResolveError> {
    let mut points = Vec::new();
    for (group, step) in steps(file, choices)?.into_iter().enumerate() {
        let load = load(step);
        for (target, shape) in targets.iter().enumerate() {
            // Settings of the plan do not apply: the load uses the whole target.
            let of_its_own = PlanFile { name: STEP.to_owned(), ..PlanFile::default() };
            let everything = Choices { area: Some("full".to_owned()), ..Choices::default() };
            let destination = Destination::on(target, shape);
            let mut point = point(&of_its_own, &everything, &load, &destination)?;
            point.index = points.len() as u32;
            point.group = group as u32;
            point.stop.until_steady = step.until_steady();
            point.seed = Seed(seed).derive(STEP).derive(&point.index.to_string()).0;
            points.push(point);
        }
    }
    Ok(points)
}

fn load(step: Step) -> Load {
    let profile = step.method.profile();
    let passes = step.passes.unwrap_or(step.method.usual_passes());
    let in_rounds = step.method == Method::UntilSteady;
    let spec = LoadSpec {
        profile: profile.name.clone(),
        queue_depth: step.method.queue_depth(),
        passes: (!in_rounds).then_some(passes),
        warm_up: Some(Nanos::ZERO),
        duration: Some(if in_rounds { step.round.unwrap_or(ROUND) } else { LONGEST }),
        ..LoadSpec::default()
    };
    Load { profile, spec }
}

impl Plan {
    /// Preconditioning loads, in lists that run at the same time.
    pub fn precondition_groups(&self) -> impl Iterator<Item = &[Point]> {
        self.precondition.chunk_by(|a, b| a.group == b.group)
    }

    /// Wear of the targets after preconditioning; `None` if there is none.
    pub fn wear(&self) -> Option<Wear> {
        let last = self.precondition.last()?;
        Some(if last.random_share > 0.0 { Wear::Steady } else { Wear::Preconditioned })
    }
}
