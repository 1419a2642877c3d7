//! Runs as they are measured: a page that is kept up to date, and figures for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;

use askama::Template;
use http::StatusCode;
use qdepth_record::event::{Interval, RunEvent};

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
    /// Of reads, writes and trims.
    rates: [f64; 3],
    bytes_per_s: [f64; 3],
    service_time_s: Option<f64>,
    response_time_s: Option<f64>,
    ios: [u64; 3],
    bytes: [u64; 3],
    outstanding: u32,
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
                self.outstanding = point.outstanding.saturating_mul(point.streams);
            }
            RunEvent::Interval(interval) => self.learn_interval(&interval),
            RunEvent::PointEnded(_) => self.done += 1,
            RunEvent::FindingRaised(finding) => {
                self.invalid += u64::from(finding.severity == "invalid");
            }
            RunEvent::VisitStarted(_) | RunEvent::RunEnded(_) => {}
        }
    }

    fn learn_interval(&mut self, interval: &Interval) {
        self.rates = interval.io_per_s();
        self.bytes_per_s = interval.bytes_per_s();
        self.service_time_s = interval.service_time_mean_ns.map(|ns| ns / 1e9);
        self.response_time_s = interval.response_time_mean_ns.map(|ns| ns / 1e9);
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
}

/// As Prometheus wants a label's value.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// A figure: its name, what it is, its type, and its values of a run, with further labels.
type Metric = (&'static str, &'static str, &'static str, fn(&Known) -> Vec<(&'static str, f64)>);

const METRICS_OF_A_RUN: [Metric; 9] = [
    ("qdepth_points_planned", "Points of the plan.", "gauge", |run| {
        vec![("", f64::from(run.points))]
    }),
    ("qdepth_points_done", "Points measured.", "gauge", |run| vec![("", f64::from(run.done))]),
    (
        "qdepth_outstanding_ios",
        "Outstanding I/Os of the point that is measured, all streams.",
        "gauge",
        |run| vec![("", f64::from(run.outstanding))],
    ),
    (
        "qdepth_io_per_second",
        "I/Os completed per second, over the last second told.",
        "gauge",
        |run| by_direction(run.rates),
    ),
    (
        "qdepth_bytes_per_second",
        "Bytes moved per second, over the last second told.",
        "gauge",
        |run| by_direction(run.bytes_per_s),
    ),
    (
        "qdepth_service_time_mean_seconds",
        "Mean of completed - issued over the last second told.",
        "gauge",
        |run| run.service_time_s.map(|mean| ("", mean)).into_iter().collect(),
    ),
    (
        "qdepth_response_time_mean_seconds",
        "Mean of completed - due over the last second told.",
        "gauge",
        |run| run.response_time_s.map(|mean| ("", mean)).into_iter().collect(),
    ),
    ("qdepth_ios_total", "I/Os completed within measured windows.", "counter", |run| {
        by_direction(run.ios.map(|ios| ios as f64))
    }),
    ("qdepth_bytes_total", "Bytes moved within measured windows.", "counter", |run| {
        by_direction(run.bytes.map(|bytes| bytes as f64))
    }),
];

fn by_direction(values: [f64; 3]) -> Vec<(&'static str, f64)> {
    let names = [",direction=\"read\"", ",direction=\"write\"", ",direction=\"trim\""];
    names.into_iter().zip(values).collect()
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
