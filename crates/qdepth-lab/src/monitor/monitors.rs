//! Activity of the machine during a point, sampled before, during and after it.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use qdepth_host::environment::health::{self, Health, TROUBLE};
use qdepth_host::monitor::{
    Clocks, CpuTimes, Disagreement, Interference, KernelStat, Processes, Sample, dirtied_bytes,
    interference, series,
};
use qdepth_host::system::System;
use qdepth_linux::errno_name;
use qdepth_measure::{Nanos, label};
use qdepth_record::{KernelCounts, MonitorRecord};

use crate::monitor::pauses::GeneratorPauses;
use crate::monitor::progress::MachineSample;

/// Interval between samples.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);

/// Samples the machine once per second on its own thread.
pub(crate) struct Sampler {
    end: Sender<()>,
    thread: Option<JoinHandle<Vec<Sample>>>,
    news: Arc<Mutex<Option<MachineSample>>>,
}

impl Sampler {
    /// Starts, and takes the first sample at once. `below` are the devices of each target.
    pub(crate) fn start(system: &System, below: &[Vec<String>]) -> Self {
        let mut devices = below.concat();
        devices.sort();
        devices.dedup();
        let (end, ended) = channel();
        let first = Sample::take(system, &devices);
        let system = system.clone();
        let news = Arc::new(Mutex::new(None));
        let shared_news = news.clone();
        let thread = std::thread::spawn(move || {
            let mut samples = vec![first];
            while ended.recv_timeout(SAMPLE_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                samples.push(Sample::take(&system, &devices));
                if let ([.., before, after], Ok(mut latest)) = (&samples[..], shared_news.lock()) {
                    *latest = Some(MachineSample::new(before, after));
                }
            }
            samples.push(Sample::take(&system, &devices));
            samples
        });
        Self { end, thread: Some(thread), news }
    }

    /// Changes in the latest sample, once.
    pub(crate) fn news(&self) -> Option<MachineSample> {
        self.news.lock().ok()?.take()
    }

    /// Takes the last sample, and returns all.
    pub(crate) fn stop(mut self) -> Vec<Sample> {
        let _ = self.end.send(());
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

/// Health of the drives below a target, if they may be queried.
#[derive(Debug, Default)]
pub(crate) struct DriveHealth {
    asked: bool,
    last: BTreeMap<String, Health>,
}

impl DriveHealth {
    /// Reads each drive's health once. Drives that do not answer are not asked again.
    pub(crate) fn ask_first(&mut self, system: &System, below: &[String]) {
        if std::mem::replace(&mut self.asked, true) {
            return;
        }
        let drives = below
            .iter()
            .filter(|name| system.exists(format!("/sys/class/block/{name}/device")))
            .filter_map(|name| Some((name.clone(), health::read(system, name).ok()?)));
        self.last = drives.filter(|(_, health)| counts_trouble(health)).collect();
    }

    /// Counters of trouble that rose since the last reading: drive, counter, increase.
    pub(crate) fn ask_again(&mut self, system: &System) -> Vec<(String, &'static str, f64)> {
        let mut rose = Vec::new();
        for (name, then) in &mut self.last {
            let Ok(now) = health::read(system, name) else { continue };
            for key in TROUBLE {
                let figure = |health: &Health| health.figures.get(key).copied();
                let rise = figure(&now).zip(figure(then)).map_or(0.0, |(now, then)| now - then);
                if rise > 0.0 {
                    rose.push((name.clone(), key, rise));
                }
            }
            *then = now;
        }
        rose
    }
}

fn counts_trouble(health: &Health) -> bool {
    TROUBLE.iter().any(|key| health.figures.contains_key(key))
}

impl Seen {
    /// Adds a summary of the samples of the machine and of these devices.
    pub(crate) fn summarize(&mut self, samples: &[Sample], devices: &[String]) {
        let own: Vec<Sample> = samples.iter().map(|sample| sample.restricted_to(devices)).collect();
        self.interference = interference(&own);
        self.series = series(&own);
    }

    /// Subtracts the bytes that another load of this run read and wrote from the kernel's counts.
    pub(crate) fn without(&mut self, read: u64, written: u64) {
        self.shared = true;
        if let Some(kernel) = &mut self.kernel {
            kernel.read_bytes = kernel.read_bytes.saturating_sub(read);
            kernel.written_bytes = kernel.written_bytes.saturating_sub(written);
        }
    }
}

impl Seen {
    /// Adds a later segment that began `offset` after the first and is this share of the total time
    /// so far. Shares refer to the total time, counts are sums.
    pub(crate) fn append(&mut self, later: Self, offset: Nanos, share: f64) {
        let mean = |mine: &mut Option<f64>, theirs: Option<f64>| {
            *mine =
                mine.zip(theirs).map(|(mine, theirs)| mine + (theirs - mine) * share).or(theirs);
        };
        self.kernel = self.kernel.zip(later.kernel).map(|(mine, theirs)| KernelCounts {
            reads: mine.reads.saturating_add(theirs.reads),
            read_bytes: mine.read_bytes.saturating_add(theirs.read_bytes),
            writes: mine.writes.saturating_add(theirs.writes),
            written_bytes: mine.written_bytes.saturating_add(theirs.written_bytes),
        });
        // The last segment with busy programs represents the point.
        if !later.processes.is_empty() {
            self.processes = later.processes;
        }
        self.dirtied_bytes = self.dirtied_bytes.zip(later.dirtied_bytes).map(|(a, b)| a + b);
        mean(&mut self.steal, later.steal);
        self.clocks.drift += (later.clocks.drift - self.clocks.drift) * share;
        self.clocks.suspended |= later.clocks.suspended;
        self.shared |= later.shared;
        let mine = &mut self.interference;
        let theirs = later.interference;
        for (mine, theirs) in mine.pressure.iter_mut().zip(theirs.pressure) {
            mean(mine, theirs);
        }
        mine.frequency_change =
            mine.frequency_change.into_iter().chain(theirs.frequency_change).reduce(f64::max);
        mine.throttles += theirs.throttles;
        mine.swapped_pages += theirs.swapped_pages;
        let nearest = |(_, celsius, limit): &(String, f64, f64)| celsius - limit;
        let both = mine.hottest.take().into_iter().chain(theirs.hottest);
        mine.hottest = both.max_by(|a, b| nearest(a).total_cmp(&nearest(b)));
        for device in theirs.background {
            if !mine.background.contains(&device) {
                mine.background.push(device);
            }
        }
        let shifted = |record: MonitorRecord| MonitorRecord {
            at_ns: record.at_ns.saturating_add(offset.0),
            ..record
        };
        self.series.extend(later.series.into_iter().map(shifted));
        self.troubles.extend(later.troubles);
        self.pauses.append(&later.pauses, share);
        for monitor in later.missing {
            if !self.missing.contains(&monitor) {
                self.missing.push(monitor);
            }
        }
    }
}

/// Counters of the machine at one moment.
pub(crate) struct Monitors {
    cpu: io::Result<CpuTimes>,
    device: Option<io::Result<KernelStat>>,
    dirtied_bytes: Option<u64>,
    processes: Processes,
    clocks: Clocks,
}

/// Difference between two samples.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Kernel counters of the device below, if there is a single one.
    pub(crate) kernel: Option<KernelCounts>,
    /// Other programs that used CPUs or disks, as text; empty if none did.
    pub(crate) processes: String,
    /// Bytes that any program wrote to the page cache.
    pub(crate) dirtied_bytes: Option<u64>,
    /// Share of CPU time that the hypervisor took.
    pub(crate) steal: Option<f64>,
    /// Divergence of the kernel's clocks.
    pub(crate) clocks: Disagreement,
    /// True if another load of this run used the same device: the kernel's I/O count is then not
    /// this load's.
    pub(crate) shared: bool,
    /// Interferences during all samples.
    pub(crate) interference: Interference,
    /// The samples as time series.
    pub(crate) series: Vec<MonitorRecord>,
    /// Health counters of drives that rose: drive, counter, increase.
    pub(crate) troubles: Vec<(String, &'static str, f64)>,
    /// Pauses of the load generator.
    pub(crate) pauses: GeneratorPauses,
    /// Monitors that could not be read, each with the reason.
    pub(crate) missing: Vec<(&'static str, String)>,
}

impl Monitors {
    /// Reads the CPUs, the clocks, and the counters of one device.
    pub(crate) fn sample(system: &System, device: Option<&str>) -> Self {
        Self {
            cpu: CpuTimes::read(system),
            device: device.map(|name| KernelStat::read(system, name)),
            dirtied_bytes: dirtied_bytes(system),
            processes: Processes::sample(system),
            clocks: Clocks::read(),
        }
    }

    /// Difference between this sample and a later one.
    pub(crate) fn until(&self, after: &Self) -> Seen {
        let mut missing = Vec::new();
        let mut lacks = |what, error: &io::Error| missing.push((what, unread(error)));
        let steal = match (&self.cpu, &after.cpu) {
            (Ok(before), Ok(after)) => after.steal_share_since(before),
            (Err(error), _) | (_, Err(error)) => {
                lacks(label::STEAL, error);
                None
            }
        };
        let kernel = match (&self.device, &after.device) {
            (Some(Ok(before)), Some(Ok(after))) => Some(after.since(before)),
            (Some(Err(error)), _) | (_, Some(Err(error))) => {
                lacks(label::DEVICE_COUNTERS, error);
                None
            }
            (None, _) | (_, None) => None,
        };
        let clocks = after.clocks.disagreement_since(&self.clocks);
        let both = after.dirtied_bytes.zip(self.dirtied_bytes);
        let dirtied_bytes = both.map(|(now, then)| now.saturating_sub(then));
        let seconds = after.clocks.monotonic.saturating_sub(self.clocks.monotonic) as f64 / 1e9;
        let processes = after.processes.busiest_since(&self.processes, seconds);
        Seen { kernel, processes, dirtied_bytes, steal, clocks, missing, ..Seen::default() }
    }
}

/// Reason why a monitor could not be read: the name of the kernel's error, or a code.
fn unread(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(|| label::NOT_IN_ITS_FORM.to_owned(), errno_name)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files of their own")]
mod tests {
    use qdepth_host::system::Output;
    use qdepth_measure::{Code, Severity};

    use super::*;
    use crate::outcome::findings::of_machine;

    fn drive(log: &str) -> System {
        let root = std::path::PathBuf::from("/nowhere");
        let stdout = log.to_owned();
        let output = Output { status: Some(0), stdout, stderr: String::new() };
        System::staged(root).with_output("nvme", output)
    }

    #[test]
    fn rising_error_counter_is_reported_once() {
        let log = |errors: u32, hours: u32| {
            drive(&format!(
                "{{\"percent_used\":1,\"media_errors\":{errors},\"power_on_hours\":{hours},\
                  \"thm_temp1_trans_count\":0,\"thm_temp2_trans_count\":{errors}}}"
            ))
        };
        let then = health::read(&log(1, 5), "nvme0n1").unwrap();
        let last = BTreeMap::from([("nvme0n1".to_owned(), then)]);
        let mut health = DriveHealth { asked: true, last };
        let rose = health.ask_again(&log(3, 9));
        let named = |key| ("nvme0n1".to_owned(), key, 2.0);
        assert_eq!(rose, [named("media_errors"), named("thermal_transitions")]);
        assert_eq!(health.ask_again(&log(3, 10)), []);
        assert_eq!(health.ask_again(&drive("gone")), []);
    }

    #[test]
    fn sampler_samples_at_start_and_end() {
        let sampler = Sampler::start(&System::real(), &[Vec::new()]);
        let samples = sampler.stop();
        assert!(samples.len() >= 2 && samples[0].at_ns < samples[1].at_ns, "{samples:?}");
    }

    const STAT: &str = "1 0 8 0 2 0 16 0 0 5 0\n";

    #[test]
    fn unreadable_monitor_is_reported_missing() {
        let root = tempfile::tempdir().unwrap();
        let system = System::staged(root.path());
        let device = root.path().join("sys/class/block/sda");
        std::fs::create_dir_all(&device).unwrap();
        std::fs::create_dir_all(root.path().join("proc")).unwrap();
        let seen = || {
            let before = Monitors::sample(&system, Some("sda"));
            before.until(&Monitors::sample(&system, Some("sda")))
        };
        let names = |seen: &Seen| seen.missing.iter().map(|(what, _)| *what).collect::<Vec<_>>();
        let blind = seen();
        assert_eq!(names(&blind).len(), 2, "{blind:?}");
        assert_eq!((blind.kernel, blind.steal), (None, None));
        assert!(blind.missing.iter().all(|(_, why)| why == "ENOENT"), "{blind:?}");
        std::fs::write(device.join("stat"), "none\n").unwrap();
        let odd = seen();
        assert!(odd.missing.contains(&(label::DEVICE_COUNTERS, "not-in-its-form".to_owned())));
        std::fs::write(device.join("stat"), STAT).unwrap();
        assert_eq!(names(&seen()), [label::STEAL]);
        std::fs::write(root.path().join("proc/stat"), "cpu  1 2 3 4 5 6 7 8 0 0\n").unwrap();
        let whole = seen();
        assert!(whole.missing.is_empty(), "{whole:?}");
        assert_eq!(whole.kernel, Some(KernelCounts::default()));
        assert!(!whole.clocks.suspended && whole.clocks.drift < 0.1, "{whole:?}");
    }

    /// The hypervisor took some of 1,000 ticks between the samples.
    #[test]
    fn steal_time_becomes_a_finding() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc")).unwrap();
        let system = System::staged(root.path());
        let stat = |user: u32, steal: u32| {
            let line = format!("cpu  {user} 0 100 5000 0 0 0 {steal} 0 0\n");
            std::fs::write(root.path().join("proc/stat"), line).unwrap();
            Monitors::sample(&system, None)
        };
        let found = |stolen: u32| -> Vec<_> {
            let before = stat(1000, 50);
            let findings = of_machine(&before.until(&stat(2000 - stolen, 50 + stolen)));
            findings.iter().map(|finding| (finding.code, finding.severity)).collect()
        };
        assert_eq!(found(0), []);
        assert_eq!(found(5), []);
        assert_eq!(found(6), [(Code::Steal, Severity::Remark)]);
        assert_eq!(found(21), [(Code::Steal, Severity::Invalid)]);
    }

    #[test]
    fn unrequested_counters_are_not_missing() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc")).unwrap();
        std::fs::write(root.path().join("proc/stat"), "cpu  1 2 3 4 5 6 7 8 0 0\n").unwrap();
        let sample = || Monitors::sample(&System::staged(root.path()), None);
        assert!(sample().until(&sample()).missing.is_empty());
    }
}
