//! Settings of the CPUs that a comparison sets one after the other.

use super::setting::Setting;
use super::{Step, tuning};
use crate::environment::cpu;
use crate::system::System;

/// Directory of CPUs.
const BASE: &str = "/sys/devices/system/cpu/";
/// Unit of frequencies, kHz: the kernel rounds finer ones to its own steps.
const KHZ: u64 = 100_000;

/// Names of CPU settings with what they change, those of the machine first, which change nothing.
/// Settings that the machine does not offer, or has already, are left out.
pub fn cpu_settings(system: &System) -> Vec<(&'static str, Vec<Setting>)> {
    let of_cpus = tuning(system, &[]).into_iter().filter_map(|step| match step {
        Step::Setting(wanted) if wanted.setting.path().starts_with(BASE) => Some(wanted.setting),
        _ => None,
    });
    let (awake, fast): (Vec<Setting>, Vec<Setting>) =
        of_cpus.partition(|setting| setting.path().contains("/cpuidle/"));
    let slow = of_each(system, "scaling_max_freq", |folder| {
        let khz = |file: &str| -> Option<u64> {
            system.read_trimmed(format!("{folder}/{file}"))?.parse().ok()
        };
        let half = khz("cpuinfo_max_freq")? / 2 / KHZ * KHZ;
        Some(half.max(khz("scaling_min_freq")?).to_string())
    });
    let saving = of_each(system, "scaling_governor", |folder| {
        let known = system.read_trimmed(format!("{folder}/scaling_available_governors"))?;
        known.split(' ').any(|governor| governor == "powersave").then(|| "powersave".to_owned())
    });
    let awake = if awake.is_empty() { awake } else { [fast.clone(), awake].concat() };
    let slow = if slow.is_empty() { slow } else { [fast.clone(), slow].concat() };
    let mut all = vec![
        ("performance", fast),
        ("performance without deep idle", awake),
        ("performance at half frequency", slow),
        ("powersave", saving),
    ];
    all.retain(|(_, settings)| !settings.is_empty());
    all.insert(0, ("as found", Vec::new()));
    all
}

/// A setting below `cpufreq` of each CPU that has it with another value.
fn of_each(system: &System, file: &str, value: impl Fn(&str) -> Option<String>) -> Vec<Setting> {
    let setting = |number: u32| {
        let folder = format!("{BASE}cpu{number}/cpufreq");
        let path = format!("{folder}/{file}");
        let value =
            value(&folder).filter(|value| system.read_trimmed(&path).as_ref() != Some(value));
        Setting::new(&path, &value?).ok()
    };
    cpu::numbers(system).into_iter().filter_map(setting).collect()
}
