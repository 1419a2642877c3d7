//! A logbook of years, for `cargo xtask bench logbook`: `years FILE RUNS POINTS` makes one with so
//! many sealed runs of so many points, of five plans on three machines and twenty drives.

#![expect(clippy::unwrap_used, reason = "what fails here ends the program, which is no tool")]

#[expect(dead_code, reason = "the tests use more of it")]
#[path = "../tests/common/mod.rs"]
mod common;

use common::{point, run, target};
use qdepth_logbook::Logbook;
use qdepth_record::{EndedBy, Observation, PointRecord, RunRecord, RunState, TargetKind};
use sha2::{Digest as _, Sha256};

const PLANS: [&str; 5] = ["standard", "quick", "latency", "write-pressure", "bandwidth"];

fn of_run(number: u32, points: u32) -> RunRecord {
    let (day, second) = (number / 10, number % 86_400);
    let started_at = format!(
        "20{:02}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
        20 + day / 336,
        day / 28 % 12 + 1,
        day % 28 + 1,
        second / 3600,
        second / 60 % 60,
        second % 60
    );
    let plan_text = format!("{{\"name\": \"{}\"}}", "a plan as it is kept ".repeat(100));
    let hash = Sha256::digest(&plan_text);
    RunRecord {
        ended_at: Some(started_at.clone()),
        started_at,
        plan_name: PLANS[number as usize % PLANS.len()].to_owned(),
        plan_hash: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
        plan_text,
        points_planned: points,
        comparison: None,
        expected: Vec::new(),
        findings: Vec::new(),
        targets: vec![target(0, &format!("drive-{}", number % 20), TargetKind::BlockDevice)],
        environment: environment(number),
        ..run(&format!("{number:08x}-0000-7000-8000-000000000000"))
    }
}

/// As many facts as a usual machine has.
fn environment(number: u32) -> Vec<Observation> {
    let fact = |place: u32| Observation {
        subject: "host".to_owned(),
        key: if place == 0 { "hostname".to_owned() } else { format!("fact_{place}") },
        value: Ok(if place == 0 { format!("host-{}", number % 3) } else { "a value".to_owned() }),
        source: "/proc/sys/kernel/hostname".to_owned(),
    };
    (0..60).map(fact).collect()
}

/// As the logbook keeps it, but for its series, which is of three slices.
fn of_point(index: u32) -> PointRecord {
    let made = point(index);
    PointRecord {
        target: 0,
        variant: None,
        profile: format!("load-{}", index / 10),
        profile_title: format!("Load {}", index / 10),
        outstanding: 1 << (index % 10),
        arrivals: "closed".to_owned(),
        offered_io_per_s: None,
        ended_by: EndedBy::Duration,
        tolerance: None,
        findings: Vec::new(),
        intervals: made.intervals.into_iter().take(3).collect(),
        ..PointRecord { step: String::new(), ..point(index) }
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // FILE RUNS POINTS
    let [file, runs, points]: [String; 3] = words.try_into().unwrap();
    let (runs, points): (u32, u32) = (runs.parse().unwrap(), points.parse().unwrap());
    let mut logbook = Logbook::open(file).unwrap();
    for number in 0..runs {
        let run = of_run(number, points);
        logbook.begin_run(&RunRecord { ended_at: None, ..run.clone() }).unwrap();
        for index in 0..points {
            logbook.add_point(&run.id, &of_point(index)).unwrap();
        }
        logbook.end_run(&run.id, RunState::Sealed, &run.started_at, &[]).unwrap();
    }
}
