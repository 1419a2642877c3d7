//! Metrics of a run, pushed to an OpenTelemetry collector: OTLP/HTTP with JSON
//! (<https://opentelemetry.io/docs/specs/otlp/#otlphttp>), each second, by a thread of its own.
//! Nobody waits for the collector: what it does not take is counted, and the measurement goes on.

use std::net::ToSocketAddrs as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::rt::TokioIo;
use jiff::Timestamp;
use qdepth_record::event::RunEvent;
use serde_json::{Value, json};
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::metrics::{Kind, Known, Labels, METRICS};

/// From one push to the next.
const EXPORT_INTERVAL: Duration = Duration::from_secs(1);
/// As long as a push may take, and the last may be waited for.
const PUSH_TIME: Duration = Duration::from_secs(3);
/// Where collectors take metrics, where the address names no path.
const PATH: &str = "/v1/metrics";
/// More than that no collector answers.
const ANSWER_MAX: usize = 64 << 10;

/// Why metrics cannot be pushed.
#[derive(Debug, Error)]
#[error("{address}: {why}")]
pub struct OtlpError {
    /// The collector, as it was named.
    pub address: String,
    /// In a sentence.
    pub why: String,
}

/// What became of the pushes of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// Pushes that the collector took.
    pub taken: u64,
    /// Pushes that it did not take.
    pub lost: u64,
}

/// Pushes the metrics of a run until it is dropped.
#[derive(Debug)]
pub struct Exporter {
    events: Option<Sender<RunEvent>>,
    thread: Option<JoinHandle<Pushed>>,
}

impl Exporter {
    /// Finds the collector at `http://HOST:PORT` (its path is `/v1/metrics` where none is named),
    /// and pushes an empty set of metrics, to be sure that it takes them.
    ///
    /// # Errors
    /// Where the address is none, or the collector takes nothing.
    pub fn start(address: &str) -> Result<Self, OtlpError> {
        let fail = |why: String| OtlpError { address: address.to_owned(), why };
        let collector = Collector::at(address).map_err(fail)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| fail(error.to_string()))?;
        let empty = json!({ "resourceMetrics": [] });
        runtime.block_on(collector.push(&empty)).map_err(fail)?;
        let (events, received) = channel();
        let work = move || pushes(&runtime, &collector, &received);
        let thread = std::thread::Builder::new().name("otlp".to_owned()).spawn(work);
        let thread = thread.map_err(|error| fail(error.to_string()))?;
        Ok(Self { events: Some(events), thread: Some(thread) })
    }

    /// Something happened in the run.
    pub fn learn(&self, event: &RunEvent) {
        if let Some(events) = &self.events {
            // The thread ends with this value, and not before.
            let _ = events.send(event.clone());
        }
    }

    /// Pushes what is known at last; how many pushes were taken.
    pub fn end(mut self) -> Pushed {
        self.events.take();
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

fn pushes(
    runtime: &tokio::runtime::Runtime,
    collector: &Collector,
    events: &Receiver<RunEvent>,
) -> Pushed {
    let (mut known, mut pushed, mut began) = (Known::default(), Pushed::default(), now_ns());
    let mut next = now_ns() + EXPORT_INTERVAL.as_nanos();
    loop {
        let wait = Duration::from_nanos(next.saturating_sub(now_ns()) as u64);
        let ended = match events.recv_timeout(wait) {
            Ok(event) => {
                if matches!(event, RunEvent::RunStarted(_)) {
                    began = now_ns();
                }
                known.learn(&event);
                false
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => true,
        };
        if known.has_begun() && (ended || now_ns() >= next) {
            let taken =
                runtime.block_on(collector.push(&document(&known, began, now_ns()))).is_ok();
            pushed.taken += u64::from(taken);
            pushed.lost += u64::from(!taken);
        }
        if ended {
            return pushed;
        }
        if now_ns() >= next {
            next = now_ns() + EXPORT_INTERVAL.as_nanos();
        }
    }
}

/// Nanoseconds of the calendar, which is what OpenTelemetry wants.
fn now_ns() -> u128 {
    Timestamp::now().as_nanosecond().unsigned_abs()
}

/// Where metrics go.
#[derive(Debug)]
struct Collector {
    authority: String,
    path: String,
}

impl Collector {
    fn at(address: &str) -> Result<Self, String> {
        let uri: Uri = address.parse().map_err(|error| format!("is no address ({error})"))?;
        if uri.scheme_str() != Some("http") {
            return Err("only http:// is spoken here; a collector beside this machine (an agent) \
                        takes it and speaks https to others"
                .to_owned());
        }
        let host = uri.host().ok_or("names no machine")?;
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err("names a user; what a collector asks of its users goes through an agent \
                        beside this machine"
                .to_owned());
        }
        let authority = format!("{host}:{}", uri.port_u16().unwrap_or(4318));
        let path = match uri.path() {
            "" | "/" => PATH,
            path => path,
        };
        Ok(Self { authority, path: path.to_owned() })
    }

    /// One push.
    async fn push(&self, document: &Value) -> Result<(), String> {
        let push = self.pushed(Bytes::from(document.to_string()));
        timeout(PUSH_TIME, push)
            .await
            .unwrap_or_else(|_| Err(format!("does not answer within {} s", PUSH_TIME.as_secs())))
    }

    async fn pushed(&self, body: Bytes) -> Result<(), String> {
        let mut addresses = self.authority.to_socket_addrs().map_err(|e| e.to_string())?;
        let address = addresses.next().ok_or("has no address")?;
        let stream = TcpStream::connect(address).await.map_err(|e| e.to_string())?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|e| e.to_string())?;
        let request = Request::post(&self.path)
            .header("host", &self.authority)
            .header("content-type", "application/json")
            .header("user-agent", concat!("qdepth/", env!("CARGO_PKG_VERSION")))
            .body(Full::new(body))
            .map_err(|e| e.to_string())?;
        let talk = async move {
            let answer = sender.send_request(request).await.map_err(|e| e.to_string())?;
            let status = answer.status();
            let body = Limited::new(answer.into_body(), ANSWER_MAX).collect().await;
            let text = body.map(|body| body.to_bytes()).unwrap_or_default();
            answered(status, &text)
        };
        // The connection ends when its sender does; a collector may hang up behind its answer.
        let (done, _) = tokio::join!(talk, connection);
        done
    }
}

/// What an answer says.
fn answered(status: StatusCode, body: &[u8]) -> Result<(), String> {
    if status.is_success() {
        return Ok(());
    }
    let text: String = String::from_utf8_lossy(body).chars().take(200).collect();
    Err(format!("answers {status} {}", text.trim()).trim_end().to_owned())
}

/// The metrics of a run as an `ExportMetricsServiceRequest`.
fn document(known: &Known, began_ns: u128, now_ns: u128) -> Value {
    let metrics: Vec<Value> = METRICS
        .iter()
        .filter_map(|metric| {
            let points: Vec<Value> = (metric.values)(known)
                .into_iter()
                .map(|(labels, value)| point(&labels, value, began_ns, now_ns))
                .collect();
            let data = match metric.kind {
                Kind::Gauge => json!({ "gauge": { "dataPoints": points } }),
                // 2: AGGREGATION_TEMPORALITY_CUMULATIVE.
                Kind::Counter => json!({ "sum": {
                    "dataPoints": points, "aggregationTemporality": 2, "isMonotonic": true,
                } }),
            };
            let mut all = json!({
                "name": metric.otel, "unit": metric.unit, "description": metric.help,
            });
            all.as_object_mut()?.extend(data.as_object()?.clone());
            (!points.is_empty()).then_some(all)
        })
        .collect();
    json!({ "resourceMetrics": [{
        "resource": { "attributes": resource(known) },
        "scopeMetrics": [{
            "scope": { "name": "qdepth", "version": env!("CARGO_PKG_VERSION") },
            "metrics": metrics,
        }],
    }] })
}

/// A number of 64 bits is a text in the JSON of protocol buffers.
fn point(labels: &Labels, value: f64, began_ns: u128, now_ns: u128) -> Value {
    let attributes: Vec<Value> = labels
        .iter()
        .map(|(label, text)| attribute(label.otel(), json!({ "stringValue": text })))
        .collect();
    json!({
        "attributes": attributes, "asDouble": value,
        "startTimeUnixNano": began_ns.to_string(), "timeUnixNano": now_ns.to_string(),
    })
}

fn attribute(key: &str, value: Value) -> Value {
    json!({ "key": key, "value": value })
}

/// What the metrics are of: a run is an instance of the service.
fn resource(known: &Known) -> Vec<Value> {
    let text = |key: &str, value: &str| attribute(key, json!({ "stringValue": value }));
    let mut all =
        vec![text("service.name", "qdepth"), text("service.version", env!("CARGO_PKG_VERSION"))];
    if let Some(run) = &known.run {
        let targets: Vec<Value> =
            run.targets.iter().map(|target| json!({ "stringValue": target })).collect();
        all.extend([
            text("service.instance.id", &run.run),
            text("qdepth.plan", &run.plan),
            attribute("qdepth.targets", json!({ "arrayValue": { "values": targets } })),
            attribute("qdepth.emulated", json!({ "boolValue": run.emulated })),
        ]);
    }
    all
}
