//! Search for the highest rate at latency limits: reconstructs it from a run's points, and gives
//! its answer.

use qdepth_measure::{Answer, Code, Finding, Limit, Nanos, Probe, Probed, Search, Statistic};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::point::{PointRecord, PointSummary};
use crate::record::RunRecord;
use crate::required::MET_BY_THE_APPLICATION;

/// The highest rate of an open loop at which a target keeps all limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerEntry {
    /// Target, by its index.
    pub target: u32,
    /// Limits of the response time, for example `p99.9=1ms`.
    pub limits: Vec<Limit>,
    /// `rate`; `never` if a limit is exceeded at the lowest rate that was offered; `always` if none
    /// is at the highest; `unknown` if the windows were too short for the percentile, or the points
    /// are invalid or contradict each other.
    pub answer: String,
    /// Rate, IOPS; for `never` the lowest rate that was offered, for `always` the highest.
    pub io_per_s: Option<f64>,
    /// 95 % confidence interval of the rate; null unless the answer is `rate`.
    pub confidence_interval: Option<[f64; 2]>,
    /// The limit that is reached first; null for `always` and `unknown`.
    pub limit: Option<Limit>,
    /// Mean number of I/Os in flight at the offered rate next to it.
    pub mean_in_flight: Option<f64>,
    /// True if the load generator may be the bottleneck instead of the storage: at most of the
    /// rates around the limit, a worker had little CPU time left.
    pub generator_limits: bool,
}

/// Largest relative distance from the answer of the rates that are examined for what limits them.
const AROUND: f64 = 0.1;

/// The part of a resolved plan that this module reads.
#[derive(Default, Deserialize)]
struct Asked {
    #[serde(default)]
    answer: Vec<Limit>,
    #[serde(default)]
    answer_within_ns: u64,
}

/// The answer for each target of a run; empty if its plan asks for none.
pub fn answers(run: &RunRecord, points: &[PointRecord]) -> Vec<AnswerEntry> {
    let asked: Asked = run.plan_part("answer");
    if asked.answer.is_empty() {
        return Vec::new();
    }
    let own = |target| points.iter().filter(move |point| point.target == target);
    let targets = run.targets.iter().map(|target| target.index);
    targets.map(|target| entry(target, &asked, &own(target).collect::<Vec<_>>())).collect()
}

fn entry(target: u32, asked: &Asked, points: &[&PointRecord]) -> AnswerEntry {
    let limits = &asked.answer;
    let within = Nanos(asked.answer_within_ns);
    let answer =
        searched(limits, within, points).map_or(Answer::Unknown, |(search, _)| search.answer());
    let (name, io_per_s, interval, limit) = match answer {
        Answer::Rate { rate, interval, limit } => ("rate", Some(rate), Some(interval), Some(limit)),
        Answer::ExceededAtLowest { lowest, limit } => ("never", Some(lowest), None, Some(limit)),
        Answer::MetAtHighest { highest } => ("always", Some(highest), None, None),
        Answer::Unknown => ("unknown", None, None, None),
    };
    let distance = |point: &&&PointRecord| {
        (point.offered_io_per_s.unwrap_or_default() - io_per_s.unwrap_or_default()).abs()
    };
    let open = || points.iter().filter(|point| point.offered_io_per_s.is_some());
    let nearest = open().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let around = || open().filter(|point| distance(point) <= AROUND * io_per_s.unwrap_or_default());
    let is_busy = |point: &&&PointRecord| {
        let busy =
            |finding: &Finding| matches!(finding.code, Code::GeneratorCpu | Code::GeneratorCeiling);
        point.findings.iter().any(busy)
    };
    AnswerEntry {
        target,
        limits: limits.to_vec(),
        answer: name.to_owned(),
        io_per_s,
        confidence_interval: interval.map(|(low, high)| [low, high]),
        limit: limit.and_then(|index| limits.get(index).copied()),
        mean_in_flight: nearest.and_then(|p| PointSummary::from_point(p).mean_in_flight),
        generator_limits: 2 * around().filter(is_busy).count() > around().count(),
    }
}

/// The state of the search after the points of a target, and the probes to measure next; `None` if
/// no closed loop was measured. The same points give the same search, so that a resumed run
/// continues it.
pub fn searched(
    limits: &[Limit],
    within: Nanos,
    points: &[&PointRecord],
) -> Option<(Search, Vec<Probe>)> {
    let closed = points.iter().filter(|point| point.offered_io_per_s.is_none());
    let rates = closed
        .filter(|point| is_usable(point))
        .map(|point| PointSummary::from_point(point).io_per_s.value);
    let reached = rates.filter(|rate| rate.is_finite() && *rate > 0.0).max_by(f64::total_cmp)?;
    let mut search = Search::new(reached, &limits.iter().map(allowed).collect::<Vec<_>>(), within);
    let mut open: Vec<Probed> = points.iter().filter_map(|point| probed(limits, point)).collect();
    loop {
        let wanted = search.next();
        if wanted.len() > open.len() || wanted.is_empty() {
            let wanted = wanted.into_iter().skip(open.len()).collect();
            return Some((search, wanted));
        }
        search.add(open.drain(..wanted.len()).collect());
    }
}

/// A limit as a response time, and the share of requests that may exceed it.
fn allowed(limit: &Limit) -> (Nanos, f64) {
    let share = match limit.statistic {
        Statistic::Quantile(quantile) => 1.0 - quantile,
        Statistic::Mean => 0.5,
    };
    (limit.at_most, share)
}

fn probed(limits: &[Limit], point: &PointRecord) -> Option<Probed> {
    let all = point.response_times();
    let beyond = |limit: &Limit| {
        let above = all.occupied().filter(|(low, ..)| *low > limit.at_most);
        above.map(|(_, _, count)| count).sum()
    };
    Some(Probed {
        // A logbook from elsewhere may hold any number.
        rate: point.offered_io_per_s.filter(|rate| rate.is_finite() && *rate > 0.0)?,
        count: all.count(),
        beyond: limits.iter().map(beyond).collect(),
        invalid: !is_usable(point),
    })
}

/// True if the point can be used: it is valid except for a load that the target did not follow,
/// which the search looks for, and for limits of the environment that the application meets, too.
fn is_usable(point: &PointRecord) -> bool {
    !point.is_invalid_but_for(&[&[Code::Saturated], &MET_BY_THE_APPLICATION])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> RunRecord {
        let plan_text = r#"{"answer":["p99=1ms"],"answer_within_ns":60000000000}"#.to_owned();
        let targets = vec![crate::record::TargetRecord::default()];
        RunRecord { plan_text, targets, ..RunRecord::default() }
    }

    /// At 1,500 IOPS, 1 % of the requests take longer than a millisecond.
    fn point(offered_io_per_s: Option<f64>) -> PointRecord {
        let duration_ns = 1_000_000_000;
        let mut point = PointRecord { offered_io_per_s, duration_ns, ..PointRecord::default() };
        point.reads.completed = 2000;
        let share = offered_io_per_s.map_or(0.0, |rate| 0.01 * ((rate - 1500.0) / 100.0).exp());
        for number in 0..2000 {
            let beyond = f64::from(number) < 2000.0 * share;
            let time = Nanos::from_micros(if beyond { 5000 } else { 50 });
            point.reads.latency.record(time);
        }
        point
    }

    fn searched_points(finding: Option<Finding>) -> Vec<PointRecord> {
        let mut points = vec![point(None)];
        let limits = ["p99=1ms".parse().unwrap()];
        loop {
            let refs: Vec<&PointRecord> = points.iter().collect();
            let (_, wanted) = searched(&limits, Nanos::from_secs(60), &refs).unwrap();
            let Some(probe) = wanted.first() else { return points };
            let mut next = point(Some(probe.rate));
            next.findings.extend(finding.clone());
            points.push(next);
        }
    }

    #[test]
    fn cgroup_limits_and_saturation_keep_a_probe_valid() {
        for (finding, answer) in [
            (None, "rate"),
            (Some(Finding::invalid(Code::ControlGroupLimit)), "rate"),
            (Some(Finding::invalid(Code::Saturated)), "rate"),
            (Some(Finding::invalid(Code::GeneratorStopped)), "unknown"),
        ] {
            let entries = answers(&run(), &searched_points(finding.clone()));
            assert_eq!(entries[0].answer, answer, "{finding:?}");
        }
    }

    #[test]
    fn any_offered_rate_is_read_without_panic() {
        for rate in [0.0, -1.0, -1e308, 1e-320, 1e308, f64::INFINITY, f64::NAN] {
            let mut points = searched_points(None);
            points.iter_mut().skip(1).step_by(2).for_each(|point| {
                point.offered_io_per_s = Some(rate);
            });
            assert_eq!(answers(&run(), &points).len(), 1, "{rate}");
            points.iter_mut().skip(1).for_each(|point| point.offered_io_per_s = Some(rate));
            assert_eq!(answers(&run(), &points).len(), 1, "{rate}");
        }
    }
}
