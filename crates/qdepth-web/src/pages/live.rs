//! Runs as they are measured: a page that is kept up to date, and figures for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;

use askama::Template;
use http::StatusCode;
use qdepth_record::event::{Interval, Machine, PointStarted, RunEvent};

use crate::answer::{METRICS, file, html};
use crate::pages::{Answer, Asked, Frame};

#[derive(Template)]
#[template(path = "live.html")]
struct LivePage<'a> {
    frame: Frame<'a>,
    /// The run that is shown; empty where none is measured.
    run: String,
    address: String,
    /// All runs that are measured, by address.
    others: Vec<(String, String)>,
}

/// The run that is measured now and began last, or the one that is named.
pub(crate) fn page(asked: &Asked<'_>) -> Answer {
    let alive = asked.source.alive()?;
    let named = asked.query.one("run");
    let shown = match named {
        Some(id) => alive.iter().find(|known| *known == id),
        None => alive.last(),
    };
    let run = shown.cloned().unwrap_or_default();
    let other = |id: &String| {
        let lang = asked.query.one("lang").map_or_else(String::new, |lang| format!("&lang={lang}"));
        (format!("/live?run={id}{lang}"), id.clone())
    };
    let page = LivePage {
        frame: asked.frame(asked.words.live),
        address: asked.link(&format!("/runs/{run}")),
        others: alive.iter().map(other).collect(),
        run,
    };
    Ok(html(StatusCode::OK, page.render()?))
}

/// What is known of a run by its events.
#[derive(Default)]
struct Known {
    labels: String,
    points: u32,
    done: u32,
    /// Points of the group that is measured.
    began: BTreeMap<u32, PointStarted>,
    /// The last second told of each point of the group.
    last: BTreeMap<u32, Interval>,
    machines: BTreeMap<String, Machine>,
    ios: [u64; 3],
    bytes: [u64; 3],
    invalid: u64,
}

impl Known {
    fn learn(&mut self, event: RunEvent) {
        match event {
            RunEvent::RunStarted(run) => {
                let (plan, emulated) = (escaped(&run.plan), run.emulated);
                self.labels =
                    format!("run=\"{}\",plan=\"{plan}\",emulated=\"{emulated}\"", run.run);
                (self.points, self.done) = (run.points, run.points_done);
            }
            RunEvent::PointStarted(point) => {
                self.began.insert(point.point, point);
            }
            RunEvent::VisitStarted(visit) => {
                let group = visit.group;
                self.began.retain(|_, point| point.group == group);
                self.last.clear();
            }
            RunEvent::Machine(machine) => {
                self.machines.insert(machine.host.clone(), machine);
            }
            RunEvent::Interval(interval) => self.learn_interval(&interval),
            RunEvent::PointEnded(_) => self.done += 1,
            RunEvent::FindingRaised(finding) => {
                self.invalid += u64::from(finding.severity == "invalid");
            }
            RunEvent::RunEnded(_) => {}
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

    /// The sum over the points that are measured at the same time.
    fn sum(&self, of: fn(&Interval) -> [f64; 3]) -> [f64; 3] {
        self.last.values().map(of).fold([0.0; 3], |all, one| [0, 1, 2].map(|i| all[i] + one[i]))
    }

    /// The mean over the I/Os of the points that are measured at the same time, in seconds.
    fn mean(&self, of: fn(&Interval) -> Option<f64>) -> Option<f64> {
        let weighed = self.last.values().filter_map(|interval| {
            let ios = interval.io_per_s().iter().sum::<f64>();
            Some((of(interval)? * ios, ios))
        });
        let (sum, ios) = weighed.fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
        (ios > 0.0).then(|| sum / ios / 1e9)
    }

    /// Outstanding I/Os of all points that are measured at the same time.
    fn outstanding(&self) -> f64 {
        let all = self.began.values().map(|p| f64::from(p.outstanding) * f64::from(p.streams));
        all.sum()
    }

    /// What is told of each machine under a name that ends so, with what it is of.
    fn of_machines(&self, ending: &str, label: &str) -> Vec<(String, f64)> {
        let of = |machine: &Machine| {
            let host = escaped(&machine.host);
            let found = machine.values.iter().filter_map(|(name, value)| {
                let of = escaped(name.strip_suffix(ending)?.trim_end());
                let of =
                    if label.is_empty() { String::new() } else { format!(",{label}=\"{of}\"") };
                Some((format!(",host=\"{host}\"{of}"), *value))
            });
            found.collect::<Vec<_>>()
        };
        self.machines.values().flat_map(of).collect()
    }
}

/// As Prometheus wants a label's value.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// A figure: its name, what it is, its type, and its values of a run, with further labels.
type Metric = (&'static str, &'static str, &'static str, fn(&Known) -> Vec<(String, f64)>);

const METRICS_OF_A_RUN: [Metric; 11] = [
    ("qdepth_points_planned", "Points of the plan.", "gauge", |run| one(f64::from(run.points))),
    ("qdepth_points_done", "Points measured.", "gauge", |run| one(f64::from(run.done))),
    (
        "qdepth_outstanding_ios",
        "Outstanding I/Os of the points that are measured at the same time, all streams.",
        "gauge",
        |run| one(run.outstanding()),
    ),
    (
        "qdepth_io_per_second",
        "I/Os completed per second, over the last second told.",
        "gauge",
        |run| by_direction(run.sum(Interval::io_per_s)),
    ),
    (
        "qdepth_bytes_per_second",
        "Bytes moved per second, over the last second told.",
        "gauge",
        |run| by_direction(run.sum(Interval::bytes_per_s)),
    ),
    (
        "qdepth_service_time_mean_seconds",
        "Mean of completed - issued over the last second told.",
        "gauge",
        |run| run.mean(|i| i.service_time_mean_ns).into_iter().flat_map(one).collect(),
    ),
    (
        "qdepth_response_time_mean_seconds",
        "Mean of completed - due over the last second told.",
        "gauge",
        |run| run.mean(|i| i.response_time_mean_ns).into_iter().flat_map(one).collect(),
    ),
    ("qdepth_ios_total", "I/Os completed within measured windows.", "counter", |run| {
        by_direction(run.ios.map(|ios| ios as f64))
    }),
    ("qdepth_bytes_total", "Bytes moved within measured windows.", "counter", |run| {
        by_direction(run.bytes.map(|bytes| bytes as f64))
    }),
    ("qdepth_cpu_busy_ratio", "Share of a machine's CPU time that was not idle.", "gauge", |run| {
        run.of_machines("cpu busy_share", "")
    }),
    ("qdepth_device_temperature_celsius", "Temperature of a drive.", "gauge", |run| {
        run.of_machines(" celsius", "device")
    }),
];

fn one(value: f64) -> Vec<(String, f64)> {
    vec![(String::new(), value)]
}

fn by_direction(values: [f64; 3]) -> Vec<(String, f64)> {
    let names = [",direction=\"read\"", ",direction=\"write\"", ",direction=\"trim\""];
    names.map(str::to_owned).into_iter().zip(values).collect()
}

/// The runs that are measured now, in Prometheus' text format.
pub(crate) fn metrics(asked: &Asked<'_>) -> Answer {
    let mut runs: BTreeMap<String, Known> = BTreeMap::new();
    for id in asked.source.alive()? {
        let Some(mut events) = asked.source.live(&id) else { continue };
        let mut known = Known { labels: format!("run=\"{}\"", escaped(&id)), ..Known::default() };
        for line in events.more().unwrap_or_default() {
            if let Ok(event) = serde_json::from_str(&line) {
                known.learn(event);
            }
        }
        runs.insert(id, known);
    }
    let mut text = format!(
        "# HELP qdepth_runs Runs that are being measured.\n# TYPE qdepth_runs gauge\nqdepth_runs {}\n",
        runs.len()
    );
    for (name, help, kind, values) in METRICS_OF_A_RUN {
        if runs.is_empty() {
            break;
        }
        // Writing into a String cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for run in runs.values() {
            for (more, value) in values(run) {
                let _ = writeln!(text, "{name}{{{}{more}}} {value}", run.labels);
            }
        }
    }
    Ok(file(METRICS, text))
}
