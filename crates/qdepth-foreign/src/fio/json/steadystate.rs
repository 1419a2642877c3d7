//! Steady-state result of a job's last samples.

use qdepth_measure::{Nanos, Sample, Settling, SettlingFigure, SettlingSamples, Slice};
use qdepth_record::{EndedBy, PointRecord};
use serde::Serialize;

use super::samples::latencies;

/// Maximum number of samples in the output.
const SAMPLES_MAX: u64 = 100_000;

/// Steady-state entry of fio's JSON. If the window is incomplete, it has the samples so far.
#[derive(Serialize)]
pub(in crate::fio) struct SteadyState {
    ss: String,
    duration: u64,
    pub(in crate::fio) attained: u8,
    criterion: String,
    max_deviation: f64,
    slope: f64,
    pub(in crate::fio) data: SteadyData,
    #[serde(skip)]
    rule: Settling,
    #[serde(skip)]
    figure: f64,
}

#[derive(Serialize)]
pub(in crate::fio) struct SteadyData {
    pub(in crate::fio) bw_mean: u64,
    pub(in crate::fio) iops_mean: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lat_mean: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lat_ns: Option<Vec<u64>>,
    iops: Vec<u64>,
    bw: Vec<u64>,
}

impl SteadyState {
    /// Steady-state window of concurrent points, or their last window.
    pub(super) fn new(rule: Settling, members: &[&PointRecord]) -> Self {
        let mut settling = SettlingSamples::new(rule);
        for slice in slices(members) {
            if settling.closed(slice) {
                break;
            }
        }
        let settled = settling.settled();
        let ended = members.iter().any(|point| point.ended_by == EndedBy::Steady);
        let samples: Vec<Sample> = settling.samples().copied().collect();
        // As in fio, missing samples of an incomplete window are 0.
        let full = (rule.over_ns / rule.every_ns.max(1)).clamp(1, SAMPLES_MAX) as usize;
        let list = |field: fn(&Sample) -> f64| -> Vec<u64> {
            let there = samples.iter().map(|sample| field(sample) as u64);
            there.chain(std::iter::repeat(0)).take(full).collect()
        };
        let mean = |field: fn(&Sample) -> f64| {
            (samples.iter().map(field).sum::<f64>() / samples.len().max(1) as f64) as u64
        };
        let unit = if rule.percent { "%" } else { "" };
        let of_latency = rule.figure == SettlingFigure::Latency;
        Self {
            ss: format!(
                "{}:{:.6}{unit}",
                name(&rule).replace(" mean dev", "").replace(' ', "_"),
                rule.limit
            ),
            duration: rule.over_ns / 1_000_000_000,
            attained: u8::from(settled.attained || ended),
            criterion: format!("{:.6}{unit}", settled.criterion),
            max_deviation: if rule.slope { 0.0 } else { settled.deviation },
            slope: if rule.slope { settled.slope } else { 0.0 },
            data: SteadyData {
                bw_mean: mean(|s| s.bytes),
                iops_mean: mean(|s| s.ios),
                lat_mean: of_latency.then(|| mean(|s| s.latency_ns)),
                lat_ns: of_latency.then(|| list(|s| s.latency_ns)),
                iops: list(|s| s.ios),
                bw: list(|s| s.bytes),
            },
            rule,
            figure: settled.criterion,
        }
    }

    /// Criterion, for the normal output.
    pub(in crate::fio) fn criterion(&self) -> String {
        let unit = if self.rule.percent { "%" } else { "" };
        let latency = self.data.lat_mean.map(|ns| format!("lat={ns}nsec, ")).unwrap_or_default();
        format!("{latency}{}={:.3}{unit}", name(&self.rule), self.figure)
    }
}

fn name(rule: &Settling) -> &'static str {
    match (rule.figure, rule.slope) {
        (SettlingFigure::Requests, false) => "iops mean dev",
        (SettlingFigure::Requests, true) => "iops slope",
        (SettlingFigure::Bytes, false) => "bw mean dev",
        (SettlingFigure::Bytes, true) => "bw slope",
        (SettlingFigure::Latency, false) => "lat mean dev",
        (SettlingFigure::Latency, true) => "lat slope",
    }
}

/// Sums of the members' series, per window.
fn slices(members: &[&PointRecord]) -> Vec<Slice> {
    let longest = members.iter().map(|point| point.intervals.len()).max().unwrap_or(0);
    let at = |index: usize| {
        let mut sum = Slice::default();
        for interval in members.iter().filter_map(|point| point.intervals.get(index)) {
            let times = (0..3).map(|direction| latencies(interval, direction));
            let decoded = times.filter_map(|times| times.decode().ok());
            sum.latency_ns += decoded.map(|times| times.sum() as u64).sum::<u64>();
            sum.ios += interval.completed();
            sum.bytes += interval.read_bytes + interval.written_bytes + interval.trimmed_bytes;
            sum.length = sum.length.max(Nanos(interval.length_ns));
        }
        sum
    };
    (0..longest).map(at).collect()
}
