//! Cost and maximum rates of the load generator.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd;

use anyhow::{Context, Result};
use qdepth_linux::{Costs, Engine, NullRate, ceiling, costs};
use qdepth_record::{Observation, Reason, source};
use qdepth_workload::{
    Choices, Extent, Plan, PlanFile, Point, TargetShape, resolve, shipped_plan_text,
};

/// Queue depths at which the null target is measured for the record.
const IN_FLIGHT: [u32; 3] = [1, 32, 128];

/// Costs of the loop's parts, and null rates of one worker and of several.
pub struct Calibration {
    costs: Costs,
    engine: Engine,
    rates: Vec<NullRate>,
}

/// Measures everything `rounds` times, a third of a second each, and keeps the highest rates,
/// because other activity of the machine can only lower them. `workers` are the numbers of workers
/// in addition to one.
pub fn calibrate(engine: Engine, workers: &[u32], rounds: u32) -> Result<Calibration> {
    let zero = zero()?;
    let point = null_point()?;
    let mut rates = Vec::new();
    for workers in std::iter::once(&1).chain(workers) {
        for queue_depth in IN_FLIGHT {
            let point =
                Point { workers: *workers, streams: *workers, queue_depth, ..point.clone() };
            let measured = (0..rounds).filter_map(|_| ceiling(&point, engine, zero.as_fd()));
            rates.extend(measured.max_by(|rate, other| rate.io_per_s.total_cmp(&other.io_per_s)));
        }
    }
    Ok(Calibration { costs: costs(), engine, rates })
}

/// The calibration as facts about the environment, or the reason why there is none.
pub(crate) fn facts(engine: Engine, workers: &[u32]) -> Vec<Observation> {
    match calibrate(engine, workers, 1) {
        Ok(calibration) => calibration.facts(),
        Err(why) => {
            let message = format!("{why:#}");
            vec![observation("calibration", Err(Reason::CalibrationFailed { message }))]
        }
    }
}

fn observation(key: &str, value: Result<String, Reason>) -> Observation {
    Observation::new(("generator", key), value, source::CALIBRATION)
}

/// Ceiling of the generator for each number of requests in flight, with the engine in use.
pub(crate) fn ceilings<'a>(
    points: impl Iterator<Item = &'a Point>,
    engine: Engine,
) -> BTreeMap<u32, f64> {
    let mut ceilings = BTreeMap::new();
    let Ok(zero) = zero() else { return ceilings };
    for point in points {
        let in_flight = point.in_flight_max();
        if !ceilings.contains_key(&in_flight)
            && let Some(rate) = ceiling(point, engine, zero.as_fd())
        {
            ceilings.insert(in_flight, rate.io_per_s);
        }
    }
    ceilings
}

/// Rate of one worker without storage, measured once; takes about 40 ms.
pub(crate) fn null_rate(engine: Engine) -> Result<f64> {
    let rate = ceiling(&null_point()?, engine, zero()?.as_fd());
    Ok(rate.context("the load generator could not be measured with this engine")?.io_per_s)
}

/// Number of CPUs available to this process.
pub fn cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
}

#[expect(clippy::disallowed_methods, reason = "the device without a cost, by its one name")]
fn zero() -> Result<File> {
    File::open("/dev/zero").context("cannot open /dev/zero to calibrate the load generator")
}

/// A point of a shipped plan. Its load is used, but without any storage.
pub(crate) fn null_point() -> Result<Point> {
    let file: PlanFile = shipped_plan_text("standard").unwrap_or_default().parse()?;
    let shape = TargetShape::whole(Extent { offset_bytes: 0, length_bytes: 1 << 30 }, 512);
    let plan: Plan = resolve(&file, &Choices::default(), &[shape])?;
    plan.points.into_iter().next().context("the standard plan is empty")
}

impl Calibration {
    fn facts(&self) -> Vec<Observation> {
        let fact = |key: &str, value: String| observation(key, Ok(value));
        let ns = |key: &str, ns: f64| fact(key, format!("{ns:.1}"));
        let mut facts = vec![
            fact("engine", self.engine.name().to_owned()),
            fact("clock", self.costs.clock.to_owned()),
            ns("clock_read_ns", self.costs.clock_read_ns),
            ns("record_ns", self.costs.record_ns),
        ];
        if let Some(ring) = &self.costs.ring {
            facts.push(ns("submit_ns", ring.submit_ns));
            facts.push(ns("enter_ns", ring.enter_ns));
            facts.push(ns("reap_ns", ring.reap_ns));
        }
        facts.extend(self.rates.iter().map(|rate| {
            let NullRate { workers, in_flight, io_per_s, .. } = rate;
            let key = format!("null_{workers}_workers_{in_flight}_in_flight_io_per_s");
            fact(&key, format!("{io_per_s:.0}"))
        }));
        facts
    }

    /// Text for the user.
    pub fn text(&self) -> String {
        let Costs { clock, clock_read_ns, record_ns, ring } = &self.costs;
        let mut lines = vec![
            format!("read the clock ({clock})     {clock_read_ns:>8.1} ns"),
            format!("record a latency           {record_ns:>8.1} ns"),
        ];
        if let Some(ring) = ring {
            lines.push(format!("submit a no-op             {:>8.1} ns", ring.submit_ns));
            lines.push(format!("  the kernel's part        {:>8.1} ns", ring.enter_ns));
            lines.push(format!("reap its completion        {:>8.1} ns", ring.reap_ns));
        }
        lines.push(String::new());
        lines.push(format!("without storage, engine {}", self.engine.name()));
        lines.push("workers  in flight each        IOPS   × one worker  CPU ns per I/O".to_owned());
        for rate in &self.rates {
            let alone = self.rates.iter().find(|r| r.workers == 1 && r.in_flight == rate.in_flight);
            lines.push(format!(
                "{:>7}  {:>14}  {:>10.0}  {:>13.2}  {:>14.1}",
                rate.workers,
                rate.in_flight,
                rate.io_per_s,
                alone.map_or(1.0, |base| rate.io_per_s / base.io_per_s),
                rate.user_ns + rate.system_ns
            ));
        }
        lines.join("\n")
    }
}
