//! Encoding of a rank's results for the leader.
//!
//! Uses postcard's compact form and the types' own serde implementations, so that a new field of an
//! outcome needs no change here.

use anyhow::{Context, Result, ensure};
use qdepth_engine::Outcome;

/// Results of the workers of a rank for each point of a group.
pub(crate) type ShardResults = Vec<Vec<Outcome>>;

/// Version of the encoding: another version may have other fields.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Encodes the results.
///
/// # Errors
/// If there is not enough memory.
pub(crate) fn write(results: &ShardResults) -> Result<Vec<u8>> {
    postcard::to_stdvec(&(VERSION, results)).context("cannot send the results of a rank")
}

/// Decodes the result of [`write`].
///
/// # Errors
/// If the data is truncated, something else, or from another version.
pub(crate) fn read(bytes: &[u8]) -> Result<ShardResults> {
    let cannot = "cannot read the results of a rank";
    let (version, rest): (&str, &[u8]) = postcard::take_from_bytes(bytes).context(cannot)?;
    ensure!(
        version == VERSION,
        "{cannot}: it runs qdepth {version}, and this rank qdepth {VERSION}. Install the same \
         version on every node"
    );
    let (results, rest) = postcard::take_from_bytes(rest).context(cannot)?;
    ensure!(rest.is_empty(), "{cannot}: unexpected data follows them");
    Ok(results)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use crate::ranks::RankGroup;
    use crate::ranks::threads::{ThreadTransport, threads};
    use qdepth_engine::scripted::{Fault, ScriptedTarget, Service};
    use qdepth_engine::{Shard, Target, join, measure, measure_shard};
    use qdepth_measure::{Instant, LatencyHistogram, Nanos};
    use qdepth_media::{OpenMedia, TargetExpression};
    use qdepth_workload::{
        Arrivals, Choices, Extent, Fsync, PlanFile, Point, TargetShape, Until, resolve,
        shipped_plan_text,
    };

    use super::*;

    #[test]
    fn shard_results_round_trip_and_reject_truncation() {
        let file: PlanFile = shipped_plan_text("quick").unwrap().parse().unwrap();
        let whole = Extent { offset_bytes: 0, length_bytes: 1 << 30 };
        let shape = TargetShape::whole(whole, 512);
        let plan = resolve(&file, &Choices::default(), &[shape]).unwrap();
        let mut target = ScriptedTarget::new(8, Service::Fixed(Nanos::from_micros(700)), 1);
        let never = AtomicBool::new(false);
        let mut outcome = measure(&mut target, &plan.points[1], &never, &mut |_| {});
        outcome.directions[0].errors.count(5);
        assert!(outcome.completed() > 100 && outcome.series.intervals().len() > 10);
        let bytes = write(&vec![vec![outcome.clone()], Vec::new()]).unwrap();
        let results = read(&bytes).unwrap();
        assert_eq!(results.len(), 2);
        assert_eq!(results[0][0], outcome);
        for length in (0..bytes.len()).step_by(97) {
            assert!(read(&bytes[..length]).is_err(), "{length} of {}", bytes.len());
        }
    }

    /// A load of four streams, changed by `change`.
    fn load(change: impl Fn(&mut Point)) -> Point {
        let text = "name = \"t\"\nprofiles = [\"database\"]\nqueue_depth = [8]\nwarm_up = \"1ms\"\n\
                    duration = \"40ms\"\n";
        let file: PlanFile = text.parse().unwrap();
        let shape = TargetShape::whole(Extent { offset_bytes: 0, length_bytes: 1 << 30 }, 512);
        let mut point = resolve(&file, &Choices::default(), &[shape]).unwrap().points.remove(0);
        (point.streams, point.workers) = (4, 4);
        change(&mut point);
        point
    }

    /// Results of the load's workers, each with its own target.
    fn workers(point: &Point, fault: Option<Fault>) -> Vec<Outcome> {
        let work = |stream: u32| {
            let target = ScriptedTarget::new(
                2,
                Service::Exponential(Nanos::from_micros(90)),
                u64::from(stream),
            );
            let mut target = match fault {
                Some(fault) if stream != 0 => target.with_fault(fault),
                _ => target,
            };
            let shard = Shard { streams: stream..stream + 1, ..Shard::whole(point) };
            let start = target.now();
            measure_shard(&mut target, &shard, start, &AtomicBool::new(false), &mut |_| {})
        };
        (0..point.streams).map(work).collect()
    }

    /// The results of a load do not depend on who ran its shards: one process, or two or four that
    /// send results. With more ranks than workers, rank 0 runs nothing.
    #[test]
    fn merged_shards_equal_one_process_for_every_load() {
        let rate = 3000.0;
        let arrivals = |arrivals: Arrivals| load(move |point| point.arrivals = arrivals);
        let until = Until { share: 0.2, least_ns: 5_000_000 };
        let faults = [
            Fault::Error { every: 7, errno: 5 },
            Fault::Short { every: 5 },
            Fault::Gone { from: 60 },
            Fault::Hang { at: 30 },
            Fault::Stall { at: Instant(8_000_000), length: Nanos::from_millis(20) },
        ];
        let mut kinds = vec![
            ("closed", load(|_| {}), None),
            ("paced", arrivals(Arrivals::Paced { rate }), None),
            ("think time", arrivals(Arrivals::ThinkTime { time_ns: 500_000, requests: 3 }), None),
            ("fixed", arrivals(Arrivals::Fixed { rate }), None),
            ("poisson", arrivals(Arrivals::Poisson { rate }), None),
            ("until", load(move |point| point.stop.until = Some(until)), None),
            ("bytes", load(|point| point.stop.bytes_per_stream = 1 << 20), None),
            (
                "fsync",
                load(|p| p.fsync = Fsync { every_writes: 4, at_end: true, data_only: false }),
                None,
            ),
        ];
        let poisson = arrivals(Arrivals::Poisson { rate });
        kinds.extend(faults.map(|fault| ("fault", poisson.clone(), Some(fault))));
        for (kind, point, fault) in &kinds {
            let found = workers(point, *fault);
            let alone = join(found.clone());
            assert!(alone.completed() > 100, "{kind}: {}", alone.completed());
            if point.arrivals.is_open() {
                let responses = alone.directions.iter().filter_map(|d| d.response_time.as_ref());
                let counted: u64 = responses.map(LatencyHistogram::count).sum();
                assert_eq!(counted, alone.completed(), "{kind}");
            }
            for ranks in [1, 2, 4, 5] {
                // Distributed from the last rank on, so that of five ranks, rank 0 has none.
                let mut of_ranks = vec![Vec::new(); ranks];
                for (worker, outcome) in found.iter().enumerate() {
                    of_ranks[ranks - 1 - worker % ranks].push(outcome.clone());
                }
                let sent = of_ranks.drain(1..).map(|results| write(&vec![results]).unwrap());
                let theirs: Vec<_> = sent.map(|bytes| read(&bytes).unwrap().remove(0)).collect();
                let all = of_ranks.into_iter().chain(theirs).flatten();
                let outcomes: Vec<Outcome> = all.collect();
                assert_eq!(outcomes.len(), 4, "{kind}");
                let mut merged = join(outcomes);
                // Floating-point sums depend on their order.
                for (mine, theirs) in [
                    (&mut merged.in_flight_integral, alone.in_flight_integral),
                    (&mut merged.latency_in_window, alone.latency_in_window),
                ] {
                    assert!((*mine - theirs).abs() <= 1e-9 * theirs.abs(), "{kind}");
                    *mine = theirs;
                }
                // The first of several failures is reported.
                let failures = found.iter().filter_map(|outcome| outcome.failure.as_ref());
                assert!(
                    merged.failure.is_none()
                        || failures.clone().any(|f| Some(f) == merged.failure.as_ref())
                );
                assert_eq!(merged.failure.is_some(), failures.count() > 0, "{kind}");
                merged.failure.clone_from(&alone.failure);
                assert!(merged == alone, "{kind} on {ranks} ranks");
            }
        }
    }

    /// Ranks as threads, each on its own emulated drive: returns their results as merged by the
    /// leader, and merged where they were created.
    fn ranks(size: u32) -> (Outcome, Outcome) {
        let text = "name = \"t\"\nprofiles = [\"database\"]\nqueue_depth = [4]\nwarm_up = \"1ms\"\n\
                    duration = \"10ms\"\n";
        let file: PlanFile = text.parse().unwrap();
        let medium = TargetExpression::read("media:p3700-800gb").unwrap();
        let shape = medium.shape().unwrap();
        let rank = |mut group: RankGroup<ThreadTransport>| {
            let choices = Choices { seed: Some(u64::from(group.rank())), ..Choices::default() };
            let plan = resolve(&file, &choices, &[shape]).unwrap();
            let point = &plan.points[0];
            let mut target = medium.open(&OpenMedia::for_point(point)).unwrap();
            let outcome = measure(&mut target, point, &AtomicBool::new(false), &mut |_| {});
            if !group.is_leader() {
                group.give(&write(&vec![vec![outcome.clone()]]).unwrap());
                return (outcome, Vec::new());
            }
            let given = group.gather(&|| false).into_iter();
            let theirs = given.map(|bytes| read(&bytes.unwrap()).unwrap().remove(0).remove(0));
            (outcome.clone(), std::iter::once(outcome).chain(theirs).collect())
        };
        let mut all: Vec<(Outcome, Vec<Outcome>)> = std::thread::scope(|scope| {
            let ends = threads(size, || qdepth_linux::now().0).into_iter();
            let running: Vec<_> =
                ends.map(|end| scope.spawn(|| rank(RankGroup::new(end)))).collect();
            running.into_iter().map(|rank| rank.join().unwrap()).collect()
        });
        let merged = join(std::mem::take(&mut all[0].1));
        (merged, join(all.into_iter().map(|(own, _)| own).collect()))
    }

    #[test]
    fn merge_of_thousand_ranks_is_exact() {
        let (merged, single) = ranks(1000);
        assert_eq!(merged, single);
        assert!(merged.completed() > 100_000, "{}", merged.completed());
    }
}
