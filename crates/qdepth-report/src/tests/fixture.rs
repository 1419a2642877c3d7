//! A made-up run for tests: five profiles, nine queue depths, one or two targets, with latencies
//! typical of a flash drive.

use qdepth_measure::{Code, Finding, LatencyHistogram, Nanos, SplitMix};
use qdepth_record::{
    DirectionRecord, IntervalRecord, Observation, PointRecord, Reason, RunRecord, RunState,
    TargetKind, TargetRecord,
};

pub(crate) const INTENSITIES: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const SECOND: u64 = 1_000_000_000;
const INTERVALS: u64 = 30;

/// Name, title, random share, read share, bytes, latency at queue depth 1 in µs, largest IOPS.
type Profile = (&'static str, &'static str, f64, f64, u64, f64, f64);
const PROFILES: [Profile; 5] = [
    ("database", "Database", 1.0, 0.67, 8192, 82.0, 168_000.0),
    ("file-server", "File server", 1.0, 0.67, 65_536, 131.0, 27_400.0),
    ("file-copy", "File copy", 1.0, 0.5, 65_536, 128.0, 24_100.0),
    ("streaming", "Streaming", 0.0, 1.0, 65_536, 118.0, 43_300.0),
    ("restore", "Restore", 0.0, 0.0, 65_536, 49.0, 30_800.0),
];

struct Draw(SplitMix);

impl Draw {
    fn uniform(&mut self) -> f64 {
        self.0.share()
    }
    /// Normal draw after Box and Muller (1958).
    fn normal(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.uniform(), std::f64::consts::TAU * self.uniform());
        (-2.0 * radius.ln()).sqrt() * angle.cos()
    }
}

pub(crate) fn observation(
    subject: &str,
    key: &str,
    value: Result<&str, &str>,
    source: &str,
) -> Observation {
    Observation {
        subject: subject.into(),
        key: key.into(),
        value: value.map(Into::into).map_err(Reason::read),
        source: source.into(),
    }
}

fn target(index: u32, name: &str, expression: &str, kind: TargetKind) -> TargetRecord {
    TargetRecord {
        index,
        name: name.into(),
        expression: expression.into(),
        kind,
        area_bytes: 32 << 30,
        engine: "io_uring".into(),
        facts: vec![
            observation(
                name,
                "model",
                Ok("INTEL SSDPEDMD800G4"),
                "/sys/block/nvme0n1/device/model",
            ),
            observation(name, "size_bytes", Ok("800166076416"), "/sys/block/nvme0n1/size"),
            observation(name, "logical_block_size_bytes", Ok("512"), "/sys/block/nvme0n1/queue"),
            observation(name, "temperature", Err("needs root"), "smartctl -j -A"),
        ],
        ..TargetRecord::default()
    }
}

pub(crate) fn run(targets: u32) -> RunRecord {
    let names = ["nvme0n1", "nvme1n1"];
    RunRecord {
        id: "019a9c1e-7b4a-7c31-9d3e-2f5a60c1d7e8".into(),
        started_at: "2026-11-21T09:30:12Z".into(),
        ended_at: Some("2026-11-21T09:41:47Z".into()),
        state: RunState::Complete,
        qdepth_version: "0.1.0".into(),
        measurement_version: 1,
        plan_name: "standard".into(),
        plan_hash: "6d1b57a0e5f3c1f5a6d94f8b4bd3c5ab2b8c21f4d8a1a0a6c7f8f3b1e9d2c4a5".into(),
        plan_text: "[[point]]\nprofile = \"database\"\nqueue_depth = 1\nduration = \"3s\"\n".into(),
        seed: 42,
        points_planned: targets * 45,
        engine_choice: "auto".into(),
        environment: vec![
            observation("host", "kernel", Ok("6.1.0-28-amd64"), "uname"),
            observation(
                "cpu",
                "model",
                Ok("Intel(R) Xeon(R) CPU E5-2637 v3 @ 3.50GHz"),
                "/proc/cpuinfo",
            ),
            observation("cpu", "governor", Err("no cpufreq directory"), "/sys/devices/system/cpu"),
            observation("memory", "total_bytes", Ok("67430318080"), "/proc/meminfo"),
        ],
        targets: (0..targets)
            .map(|i| {
                let name = names[i as usize % 2];
                target(i, name, &format!("/dev/{name}"), TargetKind::BlockDevice)
            })
            .collect(),
        findings: vec![Finding::remark(Code::MediumStateUnknown)],
        ..RunRecord::default()
    }
}

/// All points of [`run`], in the order of the plan.
pub(crate) fn points(targets: u32) -> Vec<PointRecord> {
    let mut all = Vec::new();
    for target in 0..targets {
        for profile in PROFILES {
            for queue_depth in INTENSITIES {
                let index = all.len() as u32;
                all.push(point(index, target, profile, queue_depth));
            }
        }
    }
    all
}

/// One point of the Database profile on the first target.
pub(crate) fn one_point(queue_depth: u32) -> PointRecord {
    point(0, 0, PROFILES[0], queue_depth)
}

fn point(index: u32, target: u32, profile: Profile, queue_depth: u32) -> PointRecord {
    let (name, title, random_share, read_share, bytes, alone_us, ceiling) = profile;
    let mut draw = Draw(SplitMix(u64::from(index) * 7919 + 11));
    let better = if target == 0 { 1.0 } else { 1.31 };
    let load = f64::from(queue_depth);
    // Throughput of a closed queue that saturates gradually; the latency follows from Little's law.
    let asked = load * 1e6 / alone_us;
    let limit = ceiling * better;
    let rate = asked / (1.0 + (asked / limit).powi(3)).cbrt();
    let mean_ns = load / rate * 1e9;
    let completed = (rate * 3.0) as u64;
    let reads = (completed as f64 * read_share) as u64;
    let cpu = (completed as f64 * 2_100.0) as u64;
    PointRecord {
        index,
        target,
        profile: name.into(),
        profile_title: title.into(),
        random_share,
        read_share,
        block_size: format!("{}KiB", bytes / 1024),
        block_size_mean_bytes: bytes as f64,
        reported_as_throughput: random_share < 0.5,
        arrivals: "closed".into(),
        queue_depth,
        workers: 1,
        streams: 1,
        direct: true,
        started_at: "2026-11-21T09:31:00Z".into(),
        warm_up_ns: SECOND,
        duration_ns: 3 * SECOND,
        reads: direction(&mut draw, reads, bytes, mean_ns * 1.05),
        writes: direction(&mut draw, completed - reads, bytes, mean_ns * 0.9),
        issued: completed + u64::from(queue_depth),
        completed_outside: u64::from(queue_depth),
        in_flight_integral_ns: load * 3e9,
        latency_in_window_ns: load * 3e9,
        longest_gap_ns: 4_000_000,
        cpu_user_ns: cpu / 3,
        cpu_system_ns: cpu - cpu / 3,
        intervals: (0..INTERVALS)
            .map(|n| interval(&mut draw, n, completed, read_share, bytes))
            .collect(),
        ..PointRecord::default()
    }
}

/// At most 10,000 samples, which are enough for a p99.9: drawing them dominates the time of the
/// tests.
fn direction(draw: &mut Draw, completed: u64, bytes: u64, mean_ns: f64) -> DirectionRecord {
    let mut latency = LatencyHistogram::new();
    for _ in 0..completed.min(10_000) {
        let tail = if draw.uniform() < 0.002 { 6.0 } else { 1.0 };
        let ns = mean_ns * (0.25 * draw.normal()).exp() * 0.96 * tail;
        latency.record(Nanos(ns as u64));
    }
    DirectionRecord { completed, bytes: completed * bytes, latency, ..DirectionRecord::default() }
}

fn interval(
    draw: &mut Draw,
    n: u64,
    completed: u64,
    read_share: f64,
    bytes: u64,
) -> IntervalRecord {
    let all = completed as f64 / INTERVALS as f64 * (1.0 + 0.03 * draw.normal());
    let (reads, writes) = ((all * read_share) as u64, (all * (1.0 - read_share)) as u64);
    IntervalRecord {
        start_ns: n * SECOND / 10,
        length_ns: SECOND / 10,
        reads,
        writes,
        read_bytes: reads * bytes,
        written_bytes: writes * bytes,
        ..IntervalRecord::default()
    }
}

/// The same points with problems: no interval, warnings, an invalid point, a missing one.
pub(crate) fn troubled(mut points: Vec<PointRecord>) -> Vec<PointRecord> {
    points[2].findings.push(
        Finding::remark(Code::IntervalNotAvailable)
            .value("samples", 19.0)
            .value("autocorrelation", 0.41),
    );
    points[2].intervals.truncate(12);
    for n in [6, 7, 8] {
        let rate = 160_000.0 + n as f64;
        points[n].findings.push(
            Finding::remark(Code::GeneratorCeiling)
                .value("ceiling_io_per_s", 1_200_000.0)
                .value("io_per_s", rate)
                .value("ratio", 1_200_000.0 / rate),
        );
    }
    points[13]
        .findings
        .push(Finding::invalid(Code::IoErrors).value("failed", 3.0).label("errors", "write EIO 3"));
    points[40].findings.push(
        Finding::remark(Code::Stall)
            .value("longest_ns", 1.31e9)
            .value("over_100ms", 2.0)
            .value("over_1s", 1.0)
            .value("over_10s", 0.0),
    );
    points.remove(31);
    points
}
