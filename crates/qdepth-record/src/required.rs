//! Requirements of a run's plan, compared with its points.

use qdepth_measure::{Code, LatencyHistogram, Met, Part, Requirement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::point::{PointRecord, PointSummary};
use crate::record::RunRecord;

/// A requirement of the plan, and whether one point meets it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequiredEntry {
    /// The requirement.
    pub requirement: Requirement,
    /// Index of the point; null if no point of the profile was measured.
    pub point: Option<u32>,
    /// Measured value: latency in ns, or IOPS; null without a valid value.
    pub value: Option<f64>,
    /// 95 % confidence interval of the value; null if there is none.
    pub confidence_interval: Option<[f64; 2]>,
    /// `pass`, `fail` or `inconclusive`.
    #[schemars(with = "String")]
    pub met: Met,
}

/// The part of a resolved plan that this module reads.
#[derive(Default, Deserialize)]
struct Required {
    #[serde(default)]
    requirements: Vec<Requirement>,
}

/// Each requirement of the run's plan, compared with each point of its profile, in the order of the
/// plan; empty for plans without requirements.
pub fn required(run: &RunRecord, points: &[PointRecord]) -> Vec<RequiredEntry> {
    let Required { requirements } = run.plan_part("requirements");
    let each = requirements.into_iter().flat_map(|requirement| {
        let own = points.iter().filter(|point| point.profile == requirement.profile);
        let mut entries: Vec<RequiredEntry> =
            own.map(|point| entry(run, &requirement, point)).collect();
        if entries.is_empty() {
            entries.push(undecided(&requirement, None));
        }
        entries
    });
    each.collect()
}

/// Combined answer: the worst of all. A failure is worse than an inconclusive answer.
pub fn all_met<'a>(entries: impl IntoIterator<Item = &'a RequiredEntry>) -> Option<Met> {
    entries.into_iter().map(|entry| entry.met).max()
}

fn undecided(requirement: &Requirement, point: Option<u32>) -> RequiredEntry {
    let requirement = requirement.clone();
    RequiredEntry {
        requirement,
        point,
        value: None,
        confidence_interval: None,
        met: Met::Inconclusive,
    }
}

fn entry(run: &RunRecord, requirement: &Requirement, point: &PointRecord) -> RequiredEntry {
    let found = judged(run, requirement, point);
    // A sync of an emulated device takes no time, so only a failure is certain.
    let lacks_syncs = run.emulated && latencies(Part::Sync, point).count() > 0;
    let met = if lacks_syncs && found.met == Met::Pass { Met::Inconclusive } else { found.met };
    RequiredEntry { met, ..found }
}

fn judged(run: &RunRecord, requirement: &Requirement, point: &PointRecord) -> RequiredEntry {
    let none = undecided(requirement, Some(point.index));
    let summary = PointSummary::from_point(point);
    // Two cases decide nothing: a point that is invalid for a reason that the application does not
    // meet, and the sync of an emulated device, which takes no time.
    if point.is_invalid_but_for(&[&MET_BY_THE_APPLICATION])
        || run.emulated && requirement.part == Part::Sync
    {
        return none;
    }
    if let Some(least) = requirement.at_least {
        let interval = summary.io_per_s.interval;
        return RequiredEntry {
            value: Some(summary.io_per_s.value),
            // A symmetric interval of a very unsteady rate reaches below 0.
            confidence_interval: interval.map(|(low, high)| [low.max(0.0), high]),
            met: Requirement::answer_of_rate(least, summary.io_per_s.value, interval),
            ..none
        };
    }
    let latencies = latencies(requirement.part, point);
    match requirement.at_most.and_then(|limit| limit.answer(&latencies)) {
        Some((value, (low, high), met)) => RequiredEntry {
            value: Some(value),
            confidence_interval: Some([low, high]),
            met,
            ..none
        },
        None => none,
    }
}

/// Causes of grade C that the application meets, too: memory that answers instead of storage, and
/// limits of a control group. The figures are valid for this environment.
pub(crate) const MET_BY_THE_APPLICATION: [Code; 2] = [Code::CachedBelow, Code::ControlGroupLimit];

/// All latencies of a part of a point's operations.
fn latencies(part: Part, point: &PointRecord) -> LatencyHistogram {
    let decoded = |part: &Option<qdepth_measure::EncodedHistogram>| {
        part.as_ref().and_then(|part| part.decode().ok())
    };
    match part {
        Part::Write => decoded(&point.write_part).unwrap_or_else(|| point.writes.latency.clone()),
        Part::Sync => decoded(&point.sync_part).unwrap_or_else(|| point.syncs.latency.clone()),
        Part::Operation => point.response_times(),
    }
}

#[cfg(test)]
mod tests {
    use qdepth_measure::{Finding, Nanos};

    use super::*;

    #[test]
    fn invalid_point_is_inconclusive_for_requirements() {
        let plan = r#"{"requirements":[
            {"profile":"log","part":"sync","at_most":"p99=10ms"},
            {"profile":"log","at_most":"p99=1ms"},
            {"profile":"absent","at_least":100.0}]}"#;
        let run = RunRecord { plan_text: plan.to_owned(), ..RunRecord::default() };
        let mut point = PointRecord { profile: "log".to_owned(), ..PointRecord::default() };
        for us in 1..=5000 {
            point.syncs.latency.record(Nanos::from_micros(us));
            point.writes.latency.record(Nanos::from_micros(us));
        }
        let met = |point: &PointRecord| {
            let entries = required(&run, std::slice::from_ref(point));
            entries.iter().map(|entry| entry.met).collect::<Vec<_>>()
        };
        assert_eq!(met(&point), [Met::Pass, Met::Fail, Met::Inconclusive]);
        let entries = required(&run, std::slice::from_ref(&point));
        assert!((entries[0].value.unwrap() / 4_950_000.0 - 1.0).abs() < 0.002);
        assert_eq!(all_met(&entries), Some(Met::Fail));
        let emulated = RunRecord { emulated: true, ..run.clone() };
        let entries = required(&emulated, std::slice::from_ref(&point));
        let met_without_syncs: Vec<Met> = entries.iter().map(|entry| entry.met).collect();
        assert_eq!(met_without_syncs, [Met::Inconclusive, Met::Fail, Met::Inconclusive]);
        point.findings.push(Finding::invalid(Code::CachedBelow));
        assert_eq!(met(&point), [Met::Pass, Met::Fail, Met::Inconclusive]);
        point.findings.push(Finding::invalid(Code::NotDirect));
        assert_eq!(met(&point), [Met::Inconclusive; 3]);
        assert_eq!(all_met(&required(&RunRecord::default(), &[point])), None);
    }
}
