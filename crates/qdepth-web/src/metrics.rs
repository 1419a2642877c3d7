//! Prometheus metrics of a run in progress, derived from its events ([`exposition`]).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use qdepth_record::event::{Interval, Machine, PointStarted, RunEvent, RunStarted};

/// State of a run from its events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    run: Option<RunStarted>,
    done: u32,
    /// Points of the group that is being measured.
    began: BTreeMap<u32, PointStarted>,
    /// Last reported second of each of these points.
    last: BTreeMap<u32, Interval>,
    machines: BTreeMap<String, Machine>,
    ios: [u64; 3],
    bytes: [u64; 3],
}

/// Names and values of labels.
type Labels = Vec<(&'static str, String)>;

/// A metric of a run.
struct Metric {
    name: &'static str,
    help: &'static str,
    /// `gauge` (a current value) or `counter` (a count since the run began or was resumed).
    kind: &'static str,
    values: Values,
}

type Values = fn(&Known) -> Vec<(Labels, f64)>;

const fn gauge(name: &'static str, help: &'static str, values: Values) -> Metric {
    Metric { name, help, kind: "gauge", values }
}

const fn counter(name: &'static str, help: &'static str, values: Values) -> Metric {
    Metric { name, help, kind: "counter", values }
}

/// Every metric of a run.
const METRICS: [Metric; 11] = [
    gauge("qdepth_points_planned", "Points of the plan.", |known| {
        without_labels(known.run.as_ref().map_or(0.0, |run| f64::from(run.points)))
    }),
    gauge("qdepth_points_done", "Points measured.", |known| without_labels(f64::from(known.done))),
    gauge(
        "qdepth_queue_depth",
        "Queue depth of the points that are measured at the same time, all streams.",
        |known| without_labels(known.queue_depth()),
    ),
    gauge("qdepth_io_per_second", "I/Os completed per second, over the last second.", |known| {
        by_direction(known.sum(Interval::io_per_s))
    }),
    gauge("qdepth_bytes_per_second", "Bytes moved per second, over the last second.", |known| {
        by_direction(known.sum(Interval::bytes_per_s))
    }),
    gauge(
        "qdepth_latency_mean_seconds",
        "Mean of completed - issued over the last second.",
        |known| known.mean(|i| i.latency_mean_ns).into_iter().flat_map(without_labels).collect(),
    ),
    gauge(
        "qdepth_response_time_mean_seconds",
        "Mean of completed - due over the last second.",
        |known| {
            known.mean(|i| i.response_time_mean_ns).into_iter().flat_map(without_labels).collect()
        },
    ),
    counter("qdepth_ios_total", "I/Os completed within measured windows.", |known| {
        by_direction(known.ios.map(|ios| ios as f64))
    }),
    counter("qdepth_bytes_total", "Bytes moved within measured windows.", |known| {
        by_direction(known.bytes.map(|bytes| bytes as f64))
    }),
    gauge("qdepth_cpu_busy_ratio", "Share of a machine's CPU time that was not idle.", |known| {
        known.of_machines("cpu busy_share", None)
    }),
    gauge("qdepth_device_temperature_celsius", "Temperature of a drive.", |known| {
        known.of_machines(" celsius", Some("device"))
    }),
];

impl Known {
    pub(crate) fn learn(&mut self, event: &RunEvent) {
        match event {
            RunEvent::RunStarted(run) => {
                *self = Self { done: run.points_done, run: Some(run.clone()), ..Self::default() };
            }
            RunEvent::PointStarted(point) => {
                self.began.insert(point.point, point.clone());
            }
            RunEvent::SegmentStarted(segment) => {
                self.began.retain(|_, point| point.group == segment.group);
                self.last.clear();
            }
            RunEvent::Sample(interval) => self.learn_interval(interval),
            RunEvent::Machine(machine) => {
                self.machines.insert(machine.host.clone(), machine.clone());
            }
            RunEvent::PointEnded(_) => self.done += 1,
            RunEvent::VariantStarted(_)
            | RunEvent::PhaseStarted(_)
            | RunEvent::PhaseProgress(_)
            | RunEvent::PhaseEnded(_)
            | RunEvent::Message(_)
            | RunEvent::FindingRaised(_)
            | RunEvent::RunEnded(_) => {}
        }
    }

    fn learn_interval(&mut self, interval: &Interval) {
        self.last.insert(interval.point, interval.clone());
        let counts = [
            (interval.reads, interval.read_bytes),
            (interval.writes, interval.written_bytes),
            (interval.trims, interval.trimmed_bytes),
        ];
        for (direction, (ios, bytes)) in counts.into_iter().enumerate() {
            self.ios[direction] += ios;
            self.bytes[direction] += bytes;
        }
    }

    /// Sum over the points that run at the same time: reads, writes, trims.
    fn sum(&self, figures: fn(&Interval) -> [f64; 3]) -> [f64; 3] {
        self.last
            .values()
            .map(figures)
            .fold([0.0; 3], |all, each| [0, 1, 2].map(|i| all[i] + each[i]))
    }

    /// Mean over the I/Os of the points that run at the same time, seconds.
    fn mean(&self, figure: fn(&Interval) -> Option<f64>) -> Option<f64> {
        let weighed = self.last.values().filter_map(|interval| {
            let ios = interval.io_per_s().iter().sum::<f64>();
            Some((figure(interval)? * ios, ios))
        });
        let (sum, ios) = weighed.fold((0.0, 0.0), |all, each| (all.0 + each.0, all.1 + each.1));
        (ios > 0.0).then(|| sum / ios / 1e9)
    }

    /// Queue depth times streams, summed over the points that run at the same time.
    fn queue_depth(&self) -> f64 {
        let all = self.began.values().map(|p| f64::from(p.queue_depth) * f64::from(p.streams));
        all.sum()
    }

    /// Machine values whose names have this ending, labelled by host and, with `label`, by the rest
    /// of the name.
    fn of_machines(&self, ending: &str, label: Option<&'static str>) -> Vec<(Labels, f64)> {
        let labelled = |machine: &Machine| {
            let found = machine.values.iter().filter_map(|(name, value)| {
                let subject = name.strip_suffix(ending)?.to_owned();
                let host = ("host", machine.host.clone());
                Some((std::iter::once(host).chain(label.map(|l| (l, subject))).collect(), *value))
            });
            found.collect::<Vec<(Labels, f64)>>()
        };
        self.machines.values().flat_map(labelled).collect()
    }
}

fn without_labels(value: f64) -> Vec<(Labels, f64)> {
    vec![(Labels::new(), value)]
}

fn by_direction(values: [f64; 3]) -> Vec<(Labels, f64)> {
    let labelled = |(name, value): (&str, f64)| (vec![("direction", name.to_owned())], value);
    ["read", "write", "trim"].into_iter().zip(values).map(labelled).collect()
}

/// Label value in Prometheus' format.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Metrics of runs, by run id, in Prometheus' text format.
pub(crate) fn exposition(runs: &BTreeMap<String, Known>) -> String {
    let mut text = format!(
        "# HELP qdepth_runs Runs that are being measured.\n# TYPE qdepth_runs gauge\n\
         qdepth_runs {}\n",
        runs.len()
    );
    for Metric { name, help, kind, values } in METRICS {
        let all: Vec<String> =
            runs.iter().flat_map(|(id, run)| lines(name, id, run, values)).collect();
        if all.is_empty() {
            continue;
        }
        // Writing into a String cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{}", all.join("\n"));
    }
    text
}

fn lines(name: &str, id: &str, run: &Known, values: Values) -> Vec<String> {
    let mut own = format!("run=\"{}\"", escaped(id));
    if let Some(RunStarted { plan, emulated, .. }) = &run.run {
        let _ = write!(own, ",plan=\"{}\",emulated=\"{emulated}\"", escaped(plan));
    }
    let line = |(labels, value): (Labels, f64)| {
        let more: String =
            labels.iter().map(|(label, text)| format!(",{label}=\"{}\"", escaped(text))).collect();
        format!("{name}{{{own}{more}}} {value}")
    };
    values(run).into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_page_lists_every_metric() {
        let page = include_str!("../../../docs/web.md");
        for Metric { name, .. } in METRICS {
            let row = format!("| `{name}` | ");
            assert!(page.contains(&row), "docs/web.md: no row {row}");
        }
        let rows = page.lines().filter(|line| line.starts_with("| `qdepth_"));
        assert_eq!(rows.count(), METRICS.len());
    }

    /// Each metric appears on the dashboard, which queries no others.
    #[test]
    fn dashboard_shows_every_metric() {
        let text = include_str!("../../../docs/examples/grafana.json");
        let dashboard: serde_json::Value = serde_json::from_str(text).unwrap();
        let asked: Vec<&str> = dashboard["panels"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|panel| panel["targets"].as_array().unwrap())
            .map(|target| target["expr"].as_str().unwrap().split('{').next().unwrap())
            .collect();
        for Metric { name, .. } in METRICS {
            assert!(asked.contains(&name), "{name} is on no panel");
        }
        let known = |name: &&str| METRICS.iter().any(|metric| metric.name == *name);
        assert!(asked.iter().all(|name| *name == "qdepth_runs" || known(name)), "{asked:?}");
    }
}
