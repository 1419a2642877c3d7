//! Samples of everything that may disturb a point, and conclusions from two samples.

use qdepth_record::MonitorRecord;

use super::{CpuTimes, KernelStat, Power};
use crate::environment::{cpu, sensor};
use crate::sysfs;
use crate::system::System;

/// Resources with pressure counters (Documentation/accounting/psi.rst).
const PRESSURES: [&str; 3] = ["cpu", "io", "memory"];

/// One sample. Values that the machine does not provide are missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// `CLOCK_MONOTONIC`, ns.
    pub at_ns: u64,
    /// Counters of each device that was asked for.
    pub devices: Vec<(String, KernelStat)>,
    /// Temperature and its warning limit of each device that has a sensor, °C.
    pub heat: Vec<(String, f64, Option<f64>)>,
    /// Time of all CPUs together.
    pub cpu: Option<CpuTimes>,
    /// Time in which some task waited for a CPU, for I/O, and for memory, µs.
    pub pressure_us: [Option<u64>; 3],
    /// Mean frequency of the CPUs, kHz.
    pub frequency_khz: Option<f64>,
    /// Number of thermal throttling events of all CPUs.
    pub throttles: Option<u64>,
    /// Pages swapped in and out.
    pub swapped_pages: Option<u64>,
    /// Interrupts serviced.
    pub interrupts: Option<u64>,
    /// Power meters.
    pub power: Power,
    /// CPU time of each thread of this process, ns.
    pub threads_ns: Vec<(String, u64)>,
    /// Arrays that are being rebuilt or scrubbed.
    pub background: Vec<String>,
}

impl Sample {
    /// Samples the machine and these devices, given by their kernel names.
    pub fn take(system: &System, devices: &[String]) -> Self {
        let lines = |path: &str| system.read_file(path).unwrap_or_default();
        let pressure = |what: &str| some_total(&lines(&format!("/proc/pressure/{what}")));
        let vmstat = lines("/proc/vmstat");
        Self {
            at_ns: super::Clocks::read().monotonic,
            devices: devices
                .iter()
                .filter_map(|name| Some((name.clone(), KernelStat::read(system, name).ok()?)))
                .collect(),
            heat: devices.iter().filter_map(|name| heat(system, name)).collect(),
            cpu: CpuTimes::read(system).ok(),
            pressure_us: PRESSURES.map(pressure),
            frequency_khz: frequency(system),
            throttles: throttles(system),
            swapped_pages: named(&vmstat, "pswpin")
                .zip(named(&vmstat, "pswpout"))
                .map(|(read, written)| read.saturating_add(written)),
            interrupts: named(&lines("/proc/stat"), "intr"),
            power: Power::read(system),
            threads_ns: threads(system),
            background: background(system, devices),
        }
    }
}

impl Sample {
    /// The sample, restricted to these devices.
    #[must_use]
    pub fn restricted_to(&self, devices: &[String]) -> Self {
        let mut own = self.clone();
        own.devices.retain(|(name, _)| devices.contains(name));
        own.heat.retain(|(name, ..)| devices.contains(name));
        own.background.retain(|name| devices.contains(name));
        own
    }
}

/// Value of `total=` in the line `some`.
fn some_total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    line.split_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

/// Bytes written to the page cache since boot (Documentation/filesystems/proc.rst, vmstat).
pub fn dirtied_bytes(system: &System) -> Option<u64> {
    let pages = named(&system.read_file("/proc/vmstat").ok()?, "nr_dirtied")?;
    pages.checked_mul(rustix::param::page_size() as u64)
}

/// The first number after a name at the beginning of a line.
fn named(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    line.split_whitespace().next()?.parse().ok()
}

fn over_cpus(system: &System, file: &str) -> Vec<u64> {
    let at = |cpu: u32| {
        system.read_trimmed(format!("/sys/devices/system/cpu/cpu{cpu}/{file}"))?.parse().ok()
    };
    cpu::numbers(system).into_iter().filter_map(at).collect()
}

fn frequency(system: &System) -> Option<f64> {
    let all = over_cpus(system, "cpufreq/scaling_cur_freq");
    (!all.is_empty()).then(|| all.iter().map(|khz| *khz as f64).sum::<f64>() / all.len() as f64)
}

fn throttles(system: &System) -> Option<u64> {
    let all = over_cpus(system, "thermal_throttle/core_throttle_count");
    (!all.is_empty()).then(|| all.iter().fold(0_u64, |sum, n| sum.saturating_add(*n)))
}

fn heat(system: &System, name: &str) -> Option<(String, f64, Option<f64>)> {
    let whole = sysfs::whole_of(system, name).unwrap_or_else(|| name.to_owned());
    let folder = sensor(system, &whole)?;
    let celsius = |file: &str| {
        let millis: f64 = system.read_trimmed(format!("{folder}/{file}"))?.parse().ok()?;
        Some(millis / 1e3)
    };
    Some((name.to_owned(), celsius("temp1_input")?, celsius("temp1_max")))
}

/// CPU time of each thread, ns: the first number in `/proc/self/task/*/schedstat`.
fn threads(system: &System) -> Vec<(String, u64)> {
    let tasks = system.list_dir("/proc/self/task").unwrap_or_default();
    let thread = |task: String| {
        let text = system.read_file(format!("/proc/self/task/{task}/schedstat")).ok()?;
        let ns = text.split_whitespace().next()?.parse().ok()?;
        Some((task, ns))
    };
    tasks.into_iter().filter_map(thread).collect()
}

fn background(system: &System, devices: &[String]) -> Vec<String> {
    let working = |name: &&String| {
        let action = system.read_trimmed(format!("/sys/class/block/{name}/md/sync_action"));
        action.is_some_and(|action| !matches!(&*action, "idle" | "frozen"))
    };
    devices.iter().filter(working).cloned().collect()
}

/// Rates and levels between successive samples, by name; names end with the unit.
pub fn series(samples: &[Sample]) -> Vec<MonitorRecord> {
    let Some(start) = samples.first() else { return Vec::new() };
    let mut records = Vec::new();
    for pair in samples.windows(2) {
        let [before, after] = pair else { continue };
        let at_ns = after.at_ns.saturating_sub(start.at_ns);
        for (name, value) in between(before, after) {
            records.push(MonitorRecord { at_ns, name, value });
        }
    }
    records
}

/// Rates and levels between two samples, with the names of [`series`].
pub fn between(before: &Sample, after: &Sample) -> Vec<(String, f64)> {
    let seconds = after.at_ns.saturating_sub(before.at_ns) as f64 / 1e9;
    if seconds <= 0.0 {
        return Vec::new();
    }
    let rate = |now: u64, then: u64| now.saturating_sub(then) as f64 / seconds;
    let mut found = Vec::new();
    for (name, now) in &after.devices {
        let Some((_, then)) = before.devices.iter().find(|(other, _)| other == name) else {
            continue;
        };
        let counts = now.since(then);
        found.push((format!("{name} io_per_s"), (counts.reads + counts.writes) as f64 / seconds));
        let bytes = counts.read_bytes.saturating_add(counts.written_bytes);
        found.push((format!("{name} bytes_per_s"), bytes as f64 / seconds));
        found.push((format!("{name} busy_share"), rate(now.busy_ms, then.busy_ms) / 1e3));
        found.push((format!("{name} in_flight"), rate(now.waited_ms, then.waited_ms) / 1e3));
    }
    found.extend(after.heat.iter().map(|(name, celsius, _)| (format!("{name} celsius"), *celsius)));
    if let (Some(now), Some(then)) = (&after.cpu, &before.cpu) {
        let ticks = now.total.saturating_sub(then.total).max(1) as f64;
        let idle = now.idle.saturating_sub(then.idle) as f64;
        found.push(("cpu busy_share".to_owned(), (1.0 - idle / ticks).max(0.0)));
        found.push(("cpu steal_share".to_owned(), now.steal_share_since(then).unwrap_or(0.0)));
    }
    for (index, what) in PRESSURES.iter().enumerate() {
        if let (Some(now), Some(then)) = (after.pressure_us[index], before.pressure_us[index]) {
            found.push((format!("pressure {what}_share"), rate(now, then) / 1e6));
        }
    }
    found.extend(after.frequency_khz.map(|khz| ("cpu frequency_khz".to_owned(), khz)));
    if let (Some(now), Some(then)) = (after.interrupts, before.interrupts) {
        found.push(("interrupts_per_s".to_owned(), rate(now, then)));
    }
    let watts = after.power.package_watts_since(&before.power, seconds);
    found.extend(watts.map(|watts| ("cpu watts".to_owned(), watts)));
    found.extend(after.power.machine_watts.map(|watts| ("machine watts".to_owned(), watts)));
    found.extend(
        busiest(before, after)
            .map(|ns| ("busiest_thread_share".to_owned(), ns as f64 / 1e9 / seconds)),
    );
    found
}

/// CPU time of the busiest thread of this process, ns.
fn busiest(before: &Sample, after: &Sample) -> Option<u64> {
    let spent = |(task, now): &(String, u64)| {
        let then = before.threads_ns.iter().find(|(other, _)| other == task);
        now.saturating_sub(then.map_or(0, |(_, then)| *then))
    };
    after.threads_ns.iter().map(spent).max()
}

/// Interferences between the first and the last sample of a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interference {
    /// Share of the time in which some task waited for a CPU, and for memory.
    pub pressure: [Option<f64>; 2],
    /// Largest change of the mean frequency against its first value, as a share.
    pub frequency_change: Option<f64>,
    /// Number of thermal throttling events of CPUs.
    pub throttles: u64,
    /// Pages swapped.
    pub swapped_pages: u64,
    /// The device nearest to its warning limit: its name, highest temperature and limit, °C.
    pub hottest: Option<(String, f64, f64)>,
    /// Arrays that were rebuilt or scrubbed during the point.
    pub background: Vec<String>,
}

/// Interferences during a point.
pub fn interference(samples: &[Sample]) -> Interference {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else {
        return Interference::default();
    };
    let us = last.at_ns.saturating_sub(first.at_ns) as f64 / 1e3;
    let share = |index: usize| {
        let (now, then) = last.pressure_us[index].zip(first.pressure_us[index])?;
        (us > 0.0).then(|| now.saturating_sub(then) as f64 / us)
    };
    let rose = |now: Option<u64>, then: Option<u64>| {
        now.zip(then).map_or(0, |(now, then)| now.saturating_sub(then))
    };
    let mut background: Vec<String> = samples.iter().flat_map(|s| s.background.clone()).collect();
    background.sort();
    background.dedup();
    Interference {
        pressure: [share(0), share(2)],
        frequency_change: frequency_change(samples),
        throttles: rose(last.throttles, first.throttles),
        swapped_pages: rose(last.swapped_pages, first.swapped_pages),
        hottest: hottest(samples),
        background,
    }
}

/// Change after the second sample: at the first, the load had not begun, and CPUs may have been
/// idle.
fn frequency_change(samples: &[Sample]) -> Option<f64> {
    let mut all = samples.iter().skip(1).filter_map(|sample| sample.frequency_khz);
    let first = all.next().filter(|khz| *khz > 0.0)?;
    Some(all.map(|khz| (khz - first).abs() / first).fold(0.0, f64::max))
}

fn hottest(samples: &[Sample]) -> Option<(String, f64, f64)> {
    let all = samples.iter().flat_map(|sample| &sample.heat);
    let limited =
        all.filter_map(|(name, celsius, limit)| Some((name.clone(), *celsius, (*limit)?)));
    limited.max_by(|a, b| (a.1 - a.2).total_cmp(&(b.1 - b.2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::machine::FakeMachine;

    fn machine(second: u64) -> FakeMachine {
        FakeMachine::new()
            .disk("sda", "8:0")
            .attribute(
                "sda",
                "stat",
                &format!(
                    "{} 0 {} 0 0 0 0 0 0 {} {}",
                    100 * second,
                    800 * second,
                    500 * second,
                    4000 * second
                ),
            )
            .with_file(
                "/proc/stat",
                &format!(
                    "cpu  {} 0 0 {} 0 0 0 {} 0 0\nintr {} 1 2\n",
                    80 * second,
                    110 * second,
                    10 * second,
                    7 * second
                ),
            )
            .with_file(
                "/proc/pressure/cpu",
                &format!(
                    "some avg10=0.00 avg60=0.00 avg300=0.00 total={}\n\
                     full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
                    250_000 * second
                ),
            )
            .with_file(
                "/proc/vmstat",
                &format!("nr_free_pages 5\npswpin {second}\npswpout {second}\n"),
            )
    }

    fn sample_at(second: u64) -> Sample {
        let sample = Sample::take(&machine(second).system, &["sda".to_owned()]);
        Sample { at_ns: second * 1_000_000_000, threads_ns: Vec::new(), ..sample }
    }

    #[test]
    fn sampled_rates_are_per_second() {
        let samples = [sample_at(1), sample_at(3)];
        let found = series(&samples);
        let value = |name: &str| found.iter().find(|record| record.name == name).unwrap().value;
        assert!(found.iter().all(|record| record.at_ns == 2_000_000_000));
        for (name, expected) in [
            ("sda io_per_s", 100.0),
            ("sda bytes_per_s", 800.0 * 512.0),
            ("sda busy_share", 0.5),
            ("sda in_flight", 4.0),
            ("cpu busy_share", 0.45),
            ("cpu steal_share", 0.05),
            ("pressure cpu_share", 0.25),
            ("interrupts_per_s", 7.0),
        ] {
            assert!((value(name) - expected).abs() < 1e-9, "{name} {}", value(name));
        }
        let summary = interference(&samples);
        assert_eq!(summary.swapped_pages, 4);
        assert!((summary.pressure[0].unwrap() - 0.25).abs() < 1e-9, "{summary:?}");
    }

    #[test]
    fn hottest_device_is_nearest_to_its_limit() {
        let at = |a: f64, b: f64| Sample {
            heat: vec![
                ("a".into(), a, Some(70.0)),
                ("b".into(), b, Some(85.0)),
                ("c".into(), 99.0, None),
            ],
            ..Sample::default()
        };
        let summary = interference(&[at(60.0, 70.0), at(66.0, 80.0), at(50.0, 50.0)]);
        assert_eq!(summary.hottest, Some(("a".into(), 66.0, 70.0)));
    }

    #[test]
    fn frequency_is_compared_with_first_value_under_load() {
        let at = |khz: f64| Sample { frequency_khz: Some(khz), ..Sample::default() };
        let summary = interference(&[at(8e5), at(3e6), at(2.7e6), at(3.1e6)]);
        assert!((summary.frequency_change.unwrap() - 0.1).abs() < 1e-9, "{summary:?}");
        assert_eq!(interference(&[at(1.0)]).frequency_change, None);
    }

    proptest::proptest! {
        #[test]
        fn any_sample_text_never_panics(text in "(?s)(some total=|pswpin |intr |cpu )?.{0,80}") {
            let machine = FakeMachine::new()
                .disk("sda", "8:0")
                .attribute("sda", "stat", &text)
                .with_file("/proc/stat", &text)
                .with_file("/proc/pressure/cpu", &text)
                .with_file("/proc/vmstat", &text);
            let sample = Sample::take(&machine.system, &["sda".to_owned()]);
            let _ = (series(&[sample.clone(), sample.clone()]), interference(&[sample]));
        }
    }
}
