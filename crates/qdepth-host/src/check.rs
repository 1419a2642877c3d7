//! Interferences of a measurement on this machine, with remedies.

use std::collections::BTreeMap;

use qdepth_record::{Observation, Reason};

use crate::environment::unreadable;
use crate::monitor::{CpuTimes, Sample};
use crate::sysfs;
use crate::system::System;

/// Exit latency of an idle state, µs, above which it shows in a drive's latency.
const IDLE_MAX_US: u64 = 10;
/// Shares of CPU time stolen, and of time under pressure, that are reported
/// (docs/method/thresholds.md).
const STEAL: f64 = 0.005;
const PRESSURE: f64 = 0.02;
/// Least distance of a drive from its warning temperature before a load, in kelvins.
const HEAD_ROOM: f64 = 15.0;

/// Subject of interrupts.
const INTERRUPTS: &str = "cpu";

/// State of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckState {
    /// Good for a measurement.
    Good,
    /// It would disturb a measurement.
    Disturbs,
    /// It cannot be read.
    Unknown,
}

impl CheckState {
    /// Name in output and machine-readable output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Disturbs => "disturbs",
            Self::Unknown => "unknown",
        }
    }
}

/// Title of the check with this code, for the user.
fn title(code: &str, subject: &str) -> String {
    let words = code.replace('-', " ");
    match (code, subject) {
        ("smt", _) => "SMT".to_owned(),
        ("steal", _) => "steal time".to_owned(),
        ("pressure", "cpu") => "waiting for CPU".to_owned(),
        ("pressure", "io") => "waiting for I/O".to_owned(),
        ("pressure", other) => format!("waiting for {other}"),
        ("foreign-io", _) => format!("{subject} foreign I/O"),
        ("scheduler" | "link" | "wear" | "background-work" | "heat", _) => {
            format!("{subject} {words}")
        }
        _ => words,
    }
}

/// Result of one check: text for the user; code, figures and texts for machines.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Code of the check in machine-readable output; it never changes its meaning.
    pub code: &'static str,
    /// Subject: a part of the machine, or a device.
    pub subject: String,
    /// Title for the user.
    pub what: String,
    /// State.
    pub state: CheckState,
    /// Result for the user, or the reason why there is none.
    pub found: Result<String, Reason>,
    /// Remedy for the user; empty if there is none.
    pub advice: String,
    /// Figures by name, the unit in the name.
    pub values: BTreeMap<&'static str, f64>,
    /// Texts by name, as read.
    pub labels: BTreeMap<&'static str, String>,
}

impl Item {
    /// A result, good or disturbing, with its remedy.
    fn new(
        code: &'static str,
        subject: &str,
        good: bool,
        found: impl Into<String>,
        advice: &str,
    ) -> Self {
        let state = if good { CheckState::Good } else { CheckState::Disturbs };
        let advice = if good { String::new() } else { advice.to_owned() };
        Self { state, found: Ok(found.into()), advice, ..Self::blank(code, subject) }
    }

    /// A property that cannot be read.
    fn unknown(code: &'static str, subject: &str, why: Reason) -> Self {
        Self { found: Err(why), ..Self::blank(code, subject) }
    }

    fn blank(code: &'static str, subject: &str) -> Self {
        Self {
            code,
            subject: subject.to_owned(),
            what: title(code, subject),
            state: CheckState::Unknown,
            found: Ok(String::new()),
            advice: String::new(),
            values: BTreeMap::new(),
            labels: BTreeMap::new(),
        }
    }

    fn value(mut self, name: &'static str, value: f64) -> Self {
        self.values.insert(name, value);
        self
    }

    fn label(mut self, name: &'static str, text: &str) -> Self {
        self.labels.insert(name, text.to_owned());
        self
    }
}

/// Checks of the machine's facts ([`crate::environment::inventory`]).
pub fn settings(system: &System, facts: &[Observation]) -> Vec<Item> {
    let machine = Facts { facts, subject: "cpu" };
    let mut items = vec![
        machine.item(
            "governor",
            "governor",
            |v| v == "performance",
            "Set `performance` (`qdepth host tune`)",
        ),
        machine.item(
            "energy-preference",
            "energy_preference",
            |v| v == "performance",
            "Set `performance` (`qdepth host tune`)",
        ),
        machine.item(
            "idle-states",
            "idle_states",
            |states| deepest_us(states) <= IDLE_MAX_US,
            "Turn off the deep idle states (`qdepth host tune`): leaving one adds to the latency",
        ),
        machine.item(
            "smt",
            "smt_active",
            |v| v == "0",
            "Two threads of a core slow each other down: use fewer workers than cores",
        ),
        Facts { facts, subject: "kernel" }.item(
            "clock-source",
            "clock_source",
            |v| matches!(v, "tsc" | "kvm-clock" | "arch_sys_counter"),
            "Reading the clock needs a system call: expect an extra cost of a microsecond per I/O",
        ),
        Facts { facts, subject: "memory" }.item(
            "swap",
            "swap_total_bytes",
            |v| v == "0",
            "Turn it off while measuring (`swapoff -a`)",
        ),
    ];
    items.push(interrupts(system));
    for device in devices(facts) {
        items.extend(of_device(&Facts { facts, subject: &device }));
    }
    items
}

/// Facts about one subject.
struct Facts<'a> {
    facts: &'a [Observation],
    subject: &'a str,
}

impl Facts<'_> {
    fn value(&self, key: &str) -> Result<&str, Reason> {
        let mut own = self.facts.iter().filter(|fact| fact.subject == self.subject);
        match own.find(|fact| fact.key == key) {
            Some(fact) => fact.value.as_deref().map_err(Reason::clone),
            None => Err(Reason::NotLookedAt {}),
        }
    }

    fn item(
        &self,
        code: &'static str,
        key: &str,
        good: impl Fn(&str) -> bool,
        advice: &str,
    ) -> Item {
        match self.value(key) {
            Ok(value) => {
                Item::new(code, self.subject, good(value), value, advice).label("value", value)
            }
            Err(why) => Item::unknown(code, self.subject, why),
        }
    }
}

/// Longest exit latency of the enabled idle states, µs.
fn deepest_us(states: &str) -> u64 {
    let on = states.split(", ").filter(|state| !state.ends_with("(off)"));
    let us = on.filter_map(|state| state.strip_suffix(" µs")?.rsplit(' ').next()?.parse().ok());
    us.max().unwrap_or(0)
}

fn devices(facts: &[Observation]) -> Vec<String> {
    let sized = facts.iter().filter(|fact| fact.key == "size_bytes");
    sized.map(|fact| fact.subject.clone()).collect()
}

/// Checks of one device; missing properties give no item.
fn of_device(device: &Facts<'_>) -> Vec<Item> {
    let name = device.subject;
    let mut items = Vec::new();
    if let Ok(scheduler) = device.value("scheduler") {
        let turns = device.value("rotational") == Ok("1");
        let none = scheduler == "none" || scheduler.contains("[none]");
        let advice =
            "Set `none` (`qdepth host tune`): a scheduler reorders requests and costs CPU time";
        let item = Item::new("scheduler", name, none || turns, scheduler, advice);
        items.push(item.label("value", scheduler));
    }
    if let (Ok(link), Ok(possible)) = (device.value("link"), device.value("link_possible")) {
        let found =
            if link == possible { link.to_owned() } else { format!("{link} of {possible}") };
        let advice = "The link is narrower or slower than the device supports: check slot, cable \
                      and firmware settings";
        let item = Item::new("link", name, link == possible, found, advice);
        items.push(item.label("link", link).label("possible", possible));
    }
    if let Ok(used) = device.value("percentage_used") {
        let percent = used.parse::<f64>().ok();
        let worn = percent.is_some_and(|used| used >= 100.0);
        let found = format!("{used} % used");
        let advice = "The drive is beyond its rated life: its figures say little about a new one";
        let item = Item::new("wear", name, !worn, found, advice);
        items.push(match percent {
            Some(percent) => item.value("used_percent", percent),
            None => item,
        });
    }
    if let Ok(work) = device.value("background_work") {
        let advice = "Wait until the array is idle (`cat /proc/mdstat`)";
        let item = Item::new("background-work", name, work == "idle", work, advice);
        items.push(item.label("value", work));
    }
    items.extend(head_room(device));
    items
}

fn head_room(device: &Facts<'_>) -> Option<Item> {
    let number =
        |keys: [&str; 2]| keys.iter().find_map(|key| device.value(key).ok()?.parse::<f64>().ok());
    let now = number(["sensor_celsius", "temperature_celsius"])?;
    let limit = number(["sensor_warning_celsius", "warning_celsius"])?;
    let found = format!("{now:.0} °C, warning at {limit:.0} °C");
    let (is_cool, advice) = (limit - now >= HEAD_ROOM, "Improve the airflow before a long load");
    let item = Item::new("heat", device.subject, is_cool, found, advice);
    Some(item.value("celsius", now).value("warning_celsius", limit))
}

/// Checks that the interrupt of each NVMe queue is handled by a CPU that its driver suggests.
fn interrupts(system: &System) -> Item {
    let path = "/proc/interrupts";
    let text = match system.read_file(path) {
        Ok(text) => text,
        Err(error) => {
            return Item::unknown("interrupts", INTERRUPTS, unreadable(path, &error));
        }
    };
    let storage = text
        .lines()
        .filter(|line| line.split_whitespace().last().is_some_and(|name| name.starts_with("nvme")));
    let away = crate::prepare::misplaced_interrupts(system).len();
    let all = storage.count();
    if all == 0 {
        return Item::unknown("interrupts", INTERRUPTS, Reason::NoNvmeInterrupt {});
    }
    let found =
        format!("{away} of {all} NVMe interrupts are not on the CPUs that the driver chose");
    let advice = "Move them back (`qdepth host tune`), and stop irqbalance";
    let item = Item::new("interrupts", INTERRUPTS, away == 0, found, advice);
    item.value("away", away as f64).value("all", all as f64)
}

/// Interferences between two samples, while qdepth is idle.
pub fn quiet(system: &System, before: &Sample, after: &Sample) -> Vec<Item> {
    let seconds = (after.at_ns.saturating_sub(before.at_ns) as f64 / 1e9).max(1e-9);
    let mut items = vec![steal(before.cpu.as_ref(), after.cpu.as_ref())];
    for (index, what) in ["cpu", "io", "memory"].iter().enumerate() {
        let item = |good, found, advice| Item::new("pressure", what, good, found, advice);
        items.push(match after.pressure_us[index].zip(before.pressure_us[index]) {
            None => {
                let why = Reason::NotCounted { feature: "PSI".to_owned() };
                Item::unknown("pressure", what, why)
            }
            Some((now, then)) => {
                let share = now.saturating_sub(then) as f64 / 1e6 / seconds;
                let found = format!("{:.1} % of the time", share * 100.0);
                item(share <= PRESSURE, found, "Stop other programs").value("share", share)
            }
        });
    }
    for (name, now) in &after.devices {
        // Background work of an array shows on its members.
        let Some((_, then)) = before.devices.iter().find(|(other, _)| other == name) else {
            continue;
        };
        if sysfs::slaves_of(system, name).is_empty() {
            let counts = now.since(then);
            let rate = (counts.reads + counts.writes) as f64 / seconds;
            let found = format!("{rate:.1} IOPS by other programs");
            let advice = "Find the program (`iotop`) and stop it";
            let item = Item::new("foreign-io", name, rate < 1.0, found, advice);
            items.push(item.value("io_per_s", rate));
        }
    }
    items
}

fn steal(before: Option<&CpuTimes>, after: Option<&CpuTimes>) -> Item {
    match after.zip(before).and_then(|(after, before)| after.steal_share_since(before)) {
        None => {
            let why = Reason::NotTold { path: "/proc/stat".to_owned() };
            Item::unknown("steal", "cpu", why)
        }
        Some(share) => {
            let found = format!("{:.2} %", share * 100.0);
            let advice =
                "Other virtual machines share these CPUs: reserve CPUs, or measure at another time";
            Item::new("steal", "cpu", share <= STEAL, found, advice).value("share", share)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::KernelStat;
    use crate::tests::machine::FakeMachine;

    fn fact(subject: &str, key: &str, value: &str) -> Observation {
        let (subject, key) = (subject.to_owned(), key.to_owned());
        Observation { subject, key, value: Ok(value.to_owned()), source: String::new() }
    }

    fn state(items: &[Item], what: &str) -> CheckState {
        items
            .iter()
            .find(|item| item.what == what)
            .unwrap_or_else(|| panic!("{what}: {items:?}"))
            .state
    }

    #[test]
    fn each_machine_setting_is_rated() {
        let facts = [
            fact("cpu", "governor", "powersave"),
            fact("cpu", "idle_states", "POLL 0 µs, C1 2 µs, C6 133 µs (off)"),
            fact("nvme0n1", "size_bytes", "1"),
            fact("nvme0n1", "scheduler", "[none] mq-deadline"),
            fact("nvme0n1", "link", "PCIe 3.0 x2"),
            fact("nvme0n1", "link_possible", "PCIe 3.0 x4"),
            fact("nvme0n1", "sensor_celsius", "56"),
            fact("nvme0n1", "sensor_warning_celsius", "70"),
        ];
        let items = settings(&FakeMachine::new().system, &facts);
        for (what, expected) in [
            ("governor", CheckState::Disturbs),
            ("idle states", CheckState::Good),
            ("energy preference", CheckState::Unknown),
            ("nvme0n1 scheduler", CheckState::Good),
            ("nvme0n1 link", CheckState::Disturbs),
            ("nvme0n1 heat", CheckState::Disturbs),
        ] {
            assert_eq!(state(&items, what), expected, "{what}");
        }
        assert!(
            items.iter().all(|item| (item.state == CheckState::Disturbs) != item.advice.is_empty())
        );
        let hot = items.iter().find(|item| item.code == "heat").unwrap();
        assert_eq!((&*hot.subject, hot.values["celsius"]), ("nvme0n1", 56.0));
        let slow = items.iter().find(|item| item.code == "governor").unwrap();
        assert_eq!((&*slow.subject, &*slow.labels["value"]), ("cpu", "powersave"));
    }

    #[test]
    fn busy_machine_is_distinguished_from_quiet() {
        let sample = |second: u64, ios: u64, stolen: u64| Sample {
            at_ns: second * 1_000_000_000,
            devices: vec![("sda".to_owned(), KernelStat { reads: ios, ..KernelStat::default() })],
            cpu: Some(CpuTimes { total: 100 * second, idle: 0, steal: stolen }),
            pressure_us: [Some(0), Some(second * 100_000), None],
            ..Sample::default()
        };
        let system = FakeMachine::new().disk("sda", "8:0").system;
        let busy = quiet(&system, &sample(0, 0, 0), &sample(10, 100, 10));
        assert_eq!(state(&busy, "sda foreign I/O"), CheckState::Disturbs);
        assert_eq!(state(&busy, "steal time"), CheckState::Disturbs);
        assert_eq!(state(&busy, "waiting for CPU"), CheckState::Good);
        assert_eq!(state(&busy, "waiting for I/O"), CheckState::Disturbs);
        assert_eq!(state(&busy, "waiting for memory"), CheckState::Unknown);
        let calm = quiet(&system, &sample(0, 0, 0), &sample(10, 5, 0));
        assert_eq!(state(&calm, "sda foreign I/O"), CheckState::Good);
    }
}
