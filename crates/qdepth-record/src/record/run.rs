//! Fields of a run, one row each. A new field is a row here; the compiler then names all code that
//! measures.

use std::borrow::Cow;

use qdepth_measure::{Code, Finding};
use serde::de::DeserializeOwned;

use super::expected::ExpectedRecord;
use super::target::TargetRecord;
use super::{ComparisonRecord, Observation, RunState};
use crate::fields::{Column, Stored, Stores, fields};
use crate::merged::{add_missing, keep_first, keep_last, keep_separate};

type Shown<'a> = &'a RunRecord;

fields! {
    /// One plan executed once.
    record RunRecord in "run" and &[SEED], merged;
    /// One plan executed once.
    entry RunEntry;
    id "UUID version 7."
        kept String = "id": keep_first,
        shown String = |run| run.id.clone(),;
    plan_name "Name of the plan."
        kept String = "plan_name": keep_first,;
    plan "Name of the plan."
        shown String = |run| run.plan_name.clone(),;
    plan_hash "SHA-256 of the plan text, lower-case hexadecimal."
        kept String = "plan_hash": keep_first,
        shown String = |run| run.plan_hash.clone(),;
    plan_text "Resolved plan, byte for byte as hashed."
        kept String = "plan_text": keep_first,;
    seed "Seed of all random numbers."
        part u64: keep_first,;
    seed "64-bit seed in decimal digits, as text: a JSON number is not exact beyond 2^53."
        shown String = |run| run.seed.to_string(),;
    qdepth_version "Version of the program."
        kept String = "qdepth_version": keep_first,;
    version "Version of the program."
        shown String = |run| run.qdepth_version.clone(),;
    measurement_version "Version of the figures' meaning; increases if the same plan gives other \
                         figures."
        kept u32 = "measurement_version": keep_first,
        shown u32 = |run| run.measurement_version,;
    emulated "True if time was virtual: nothing was measured on storage."
        kept bool = "emulated": keep_first,
        shown bool = |run| run.emulated,;
    started_at "Start, RFC 3339, UTC."
        kept String = "started_at": keep_first,
        shown String = |run| run.started_at.clone(),;
    ended_at "End, RFC 3339, UTC; null while running, or if it was killed."
        kept Option<String> = "ended_at": keep_last,
        shown Option<String> = |run| run.ended_at.clone(),;
    state "`running` (or killed while running), `complete` (final), `interrupted` or \
           `failed` (both can be resumed)."
        kept RunState = "state": merge_states,
        shown String = |run| run.state.as_str().to_owned(),;
    points_planned "Number of points in the plan."
        kept u32 = "points_planned": keep_first,
        shown u32 = |run| run.points_planned,;
    engine_choice "Requested engine: `auto`, or the name of an engine; empty in documents of \
                   versions without this field."
        kept String = "engine_choice": keep_first,
        shown String = |run| run.engine_choice.clone(),
        older default,;
    comparison "Comparison, stored as JSON (`ComparisonRecord`); null without a comparison."
        kept Option<ComparisonRecord> = "comparison": keep_first,
        shown Option<ComparisonRecord> = |run| run.comparison.clone(),;
    environment "Facts about the machine."
        part Vec<Observation>: keep_separate,;
    targets "Targets, by index."
        part Vec<TargetRecord>: keep_separate,;
    expected "Expected figures of the points, by index in the plan; for all points or for none."
        part Vec<ExpectedRecord>: keep_separate,;
    findings "Findings about the run as a whole."
        part Vec<Finding>: add_missing,;
}

/// A number of 64 bits of which every one counts in other tools, too.
const SEED: Column<RunRecord> = Column {
    name: "seed",
    meaning: "Seed of every draw, decimal digits of an unsigned 64-bit number.",
    get: |run| Stored::Text(Cow::Owned(run.seed.to_string())),
    set: |run, value| {
        let digits = String::restored(value)?;
        run.seed = digits.parse().map_err(|_| format!("`{digits}` is not a seed"))?;
        Ok(())
    },
};

/// Joins several runs, one of which did not finish, into one state.
fn merge_states(whole: &mut RunState, part: &RunState) {
    if *part != RunState::Complete {
        *whole = *part;
    }
}

impl RunRecord {
    /// Subject and key of the fact that holds the command which asks for the plan again.
    pub const COMMAND: (&str, &str) = ("run", "rerun_command");
    /// Subject and key of the fact that takes the run's campaign up again.
    pub const CAMPAIGN_REQUEST: (&str, &str) = ("run", "campaign_request");

    /// The part of the resolved plan that a type reads; its default where the plan has no such key.
    pub fn plan_part<T: DeserializeOwned + Default>(&self, key: &str) -> T {
        // The plan of many points is a long text, and most plans lack the key.
        if !self.plan_text.contains(&format!("\"{key}\"")) {
            return T::default();
        }
        serde_json::from_str(&self.plan_text).unwrap_or_default()
    }

    /// The command that asks for the plan again, quoted for a shell; `None` if no words of a
    /// command line asked for it, or an earlier version measured.
    pub fn rerun_command(&self) -> Option<&str> {
        Observation::value_in(&self.environment, Self::COMMAND)
    }

    /// Subject and key of the facts that hold what a person noted.
    pub const NOTE: (&str, &str) = ("run", "note");
    /// Subject and key of the facts that hold why the run is not to be relied on.
    pub const RETRACTED: (&str, &str) = ("run", "retracted");

    fn facts_of<'a>(&'a self, which: (&'a str, &'a str)) -> impl Iterator<Item = &'a str> {
        let named = self.environment.iter().filter(move |seen| seen.is(which));
        named.filter_map(|seen| seen.value.as_deref().ok())
    }

    /// Notes of users, in the order of creation.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.facts_of(Self::NOTE)
    }

    /// True if something of it is not what was written, as far as it was read.
    pub fn is_damaged(&self) -> bool {
        self.findings.iter().any(|finding| finding.code == Code::RecordDamaged)
    }

    /// Reason of its retraction; `None` if it was not retracted.
    pub fn retracted(&self) -> Option<&str> {
        self.facts_of(Self::RETRACTED).last()
    }

    /// Name of the machine; `None` if it could not be read.
    pub fn host(&self) -> Option<&str> {
        Observation::value_in(&self.environment, ("host", "name"))
    }

    /// The target with this index.
    pub fn target(&self, index: u32) -> Option<&TargetRecord> {
        self.targets.iter().find(|target| target.index == index)
    }

    /// Expected results of the point with this index.
    pub fn expected_at(&self, point: u32) -> Option<&ExpectedRecord> {
        self.expected.iter().find(|expected| expected.point == point)
    }
}
