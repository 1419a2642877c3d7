//! Health of a drive: SMART and the NVMe logs.
//!
//! For NVMe drives `nvme smart-log` is tried first, because only it reports thermal transitions;
//! then `smartctl`. Both need the permission to send commands to the drive. Without it all values
//! are unknown, with the reason.

use std::collections::BTreeMap;

use qdepth_record::{Observation, Reason};
use serde_json::Value;

use super::fact::{fact, file_fact, unless_empty};
use super::unknown::{failed, not_run};
use crate::sysfs;
use crate::system::{Output, System};

/// Size of an NVMe data unit in bytes: a thousand blocks of 512 B (NVMe base specification, SMART /
/// Health Information log).
const DATA_UNIT_BYTES: f64 = 512_000.0;
/// 0 °C in NVMe's unit, kelvin.
const ZERO_CELSIUS: f64 = 273.0;

/// Counters that indicate trouble if they rise during a point.
pub const TROUBLE: [&str; 8] = [
    "critical_warning",
    "media_errors",
    "error_log_entries",
    "warning_temperature_minutes",
    "critical_temperature_minutes",
    "thermal_transitions",
    "thermal_throttled_seconds",
    "reallocated_sectors",
];

/// Health values of a drive by qdepth's names, which end with the unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Health {
    /// Command that reported them.
    pub source: String,
    /// Figures by name.
    pub figures: BTreeMap<&'static str, f64>,
    /// Texts by name.
    pub texts: BTreeMap<&'static str, String>,
}

/// Reads the health of a drive.
///
/// # Errors
/// The reason why it is unknown.
pub fn read(system: &System, name: &str) -> Result<Health, Reason> {
    let whole = sysfs::whole_of(system, name).unwrap_or_else(|| name.to_owned());
    let device = format!("/dev/{whole}");
    let by_nvme = if whole.starts_with("nvme") { nvme(system, &device) } else { None };
    let smart = smartctl(system, &device);
    match (by_nvme, smart) {
        (Some(mut health), Ok(smart)) => {
            // Values that only one of the two reports are added.
            for (key, value) in smart.figures {
                health.figures.entry(key).or_insert(value);
            }
            health.texts.extend(smart.texts);
            Ok(health)
        }
        (Some(health), Err(_)) => Ok(health),
        (None, smart) => smart,
    }
}

fn json(output: &Output) -> Option<Value> {
    serde_json::from_str(&output.stdout).ok()
}

fn nvme(system: &System, device: &str) -> Option<Health> {
    let output = system.run("nvme", &["smart-log", device, "-o", "json"]).ok()?;
    let log = json(&output).filter(|log| log["percent_used"].is_number())?;
    let figure = |key: &str| number(&log[key]);
    let both = |first: &str, second: &str| Some(figure(first)? + figure(second)?);
    let found = [
        ("temperature_celsius", figure("temperature").map(|kelvin| kelvin - ZERO_CELSIUS)),
        ("power_cycles", figure("power_cycles")),
        ("power_on_hours", figure("power_on_hours")),
        ("thermal_transitions", both("thm_temp1_trans_count", "thm_temp2_trans_count")),
        ("thermal_throttled_seconds", both("thm_temp1_total_time", "thm_temp2_total_time")),
    ];
    let figures = known(found).chain(of_log(&log)).collect();
    let source = format!("nvme smart-log {device}");
    Some(Health { source, figures, ..Health::default() })
}

/// Figures of NVMe's SMART / Health Information log that nvme and smartctl report with the same
/// unit.
fn of_log(log: &Value) -> impl Iterator<Item = (&'static str, f64)> {
    let figure = |key: &str| number(&log[key]);
    let units = |key: &str| figure(key).map(|n| n * DATA_UNIT_BYTES);
    known([
        ("critical_warning", figure("critical_warning")),
        ("available_spare_percent", figure("avail_spare").or(figure("available_spare"))),
        ("percentage_used", figure("percent_used").or(figure("percentage_used"))),
        ("read_bytes", units("data_units_read")),
        ("written_bytes", units("data_units_written")),
        ("unsafe_shutdowns", figure("unsafe_shutdowns")),
        ("media_errors", figure("media_errors")),
        ("error_log_entries", figure("num_err_log_entries")),
        ("warning_temperature_minutes", figure("warning_temp_time")),
        ("critical_temperature_minutes", figure("critical_comp_time")),
    ])
}

/// The figures that were reported, with their names.
fn known<const N: usize>(
    found: [(&'static str, Option<f64>); N],
) -> impl Iterator<Item = (&'static str, f64)> {
    found.into_iter().filter_map(|(key, value)| Some((key, value?)))
}

/// A number, also from a string or from the field `value` of an object.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Object(object) => number(object.get("value")?),
        Value::Null | Value::Bool(_) | Value::Array(_) => None,
    }
    .filter(|number| number.is_finite())
}

fn smartctl(system: &System, device: &str) -> Result<Health, Reason> {
    let args = ["-j", "-i", "-H", "-A", device];
    let output = system.run("smartctl", &args).map_err(|error| not_run(&error))?;
    let all = json(&output).ok_or_else(|| failed("smartctl", &output))?;
    let mut health = Health { source: crate::system::line("smartctl", &args), ..Health::default() };
    let texts = [
        ("form_factor", &all["form_factor"]["name"]),
        ("product", &all["model_name"]),
        ("interface_version", &all["nvme_version"]["string"]),
    ];
    for (key, value) in texts {
        if let Some(text) = value.as_str() {
            health.texts.insert(key, text.to_owned());
        }
    }
    if let Some(passed) = all["smart_status"]["passed"].as_bool() {
        health.texts.insert("smart_passed", if passed { "yes" } else { "no" }.to_owned());
    }
    for (key, value) in common(&all).chain(attributes(&all)) {
        health.figures.entry(key).or_insert(value);
    }
    if health.figures.is_empty() && health.texts.is_empty() {
        let complaint = all["smartctl"]["messages"][0]["string"].as_str();
        let tool = "smartctl".to_owned();
        return Err(match complaint.map(str::to_owned) {
            Some(message) => Reason::ToolReports { tool, message },
            None => Reason::ToolSilent { tool, name: device.to_owned() },
        });
    }
    Ok(health)
}

/// Values that smartctl reports for all kinds of drives, and for NVMe.
fn common(all: &Value) -> impl Iterator<Item = (&'static str, f64)> {
    let gigabytes = &all["scsi_error_counter_log"]["write"]["gigabytes_processed"];
    let found = [
        ("rotation_rpm", number(&all["rotation_rate"])),
        ("temperature_celsius", number(&all["temperature"]["current"])),
        ("trip_celsius", number(&all["temperature"]["drive_trip"])),
        ("power_on_hours", number(&all["power_on_time"]["hours"])),
        ("power_cycles", number(&all["power_cycle_count"])),
        ("percentage_used", number(&all["scsi_percentage_used_endurance_indicator"])),
        ("written_bytes", number(gigabytes).map(|gigabytes| gigabytes * 1e9)),
        ("reallocated_sectors", number(&all["scsi_grown_defect_list"])),
    ];
    of_log(&all["nvme_smart_health_information_log"]).chain(known(found))
}

/// ATA attributes whose meaning is the same for all makers.
fn attributes(all: &Value) -> Vec<(&'static str, f64)> {
    let table = all["ata_smart_attributes"]["table"].as_array();
    let rows = table.into_iter().flatten();
    let attribute = |row: &Value| {
        let raw = number(&row["raw"]["value"])?;
        Some(match row["id"].as_u64()? {
            5 => ("reallocated_sectors", raw),
            199 => ("link_errors", raw),
            241 if row["name"].as_str()? == "Total_LBAs_Written" => ("written_bytes", raw * 512.0),
            _ => return None,
        })
    };
    rows.filter_map(attribute).collect()
}

/// Facts about a drive's health, or the reason why it is unknown.
pub(super) fn facts(system: &System, name: &str, whole: &str) -> Vec<Observation> {
    let mut facts = match read(system, name) {
        Err(why) => vec![fact(name, "health", Err(why), "smartctl")],
        Ok(health) => {
            let texts = health.texts.iter().map(|(key, text)| (*key, text.clone()));
            let figures = health.figures.iter().map(|(key, n)| (*key, format!("{n:.0}")));
            let all = texts.chain(figures);
            all.map(|(key, value)| fact(name, key, Ok(value), &health.source)).collect()
        }
    };
    if let Some(controller) = sysfs::nvme_controllers(system, whole).first() {
        facts.extend(controller_facts(system, name, controller));
    }
    facts
}

/// Facts of an NVMe controller (Identify Controller).
fn controller_facts(system: &System, name: &str, controller: &str) -> Vec<Observation> {
    let device = format!("/dev/{controller}");
    let args = ["id-ctrl", device.as_str(), "-o", "json"];
    let source = crate::system::line("nvme", &args);
    let answer = match system.run("nvme", &args) {
        Err(error) => Err(not_run(&error)),
        Ok(output) => json(&output).ok_or_else(|| failed("nvme", &output)),
    };
    let all = match answer {
        Ok(all) => all,
        Err(why) => return vec![fact(name, "power_states", Err(why), &source)],
    };
    let states = all["psds"].as_array().into_iter().flatten().enumerate();
    // In hundredths of a watt (NVMe base specification, power state descriptor).
    let watts = |state: &Value| number(&state["max_power"]).map(|n| n / 100.0);
    let states: Vec<String> = states
        .filter_map(|(index, state)| Some(format!("{index}: {:.2} W", watts(state)?)))
        .collect();
    let states = unless_empty(states.join("; "), Reason::NoPowerState {});
    let kelvin = |key: &str| {
        let temperature = number(&all[key]).filter(|kelvin| *kelvin > 0.0);
        temperature.map(|k| format!("{:.0}", k - ZERO_CELSIUS)).ok_or(Reason::NotStated {})
    };
    let latency = format!("/sys/class/nvme/{controller}/power/pm_qos_latency_tolerance_us");
    vec![
        fact(name, "power_states", states, &source),
        fact(name, "warning_celsius", kelvin("wctemp"), &source),
        fact(name, "critical_celsius", kelvin("cctemp"), &source),
        file_fact(system, name, "power_saving_latency_us", &latency),
    ]
}

/// Rated endurance of a drive in bytes, estimated from its own counters: bytes written, divided by
/// the used share of its life. The share is a whole number of per cent, so the estimate is
/// inaccurate for small shares. Below 5 % there is none.
///
/// # Errors
/// The reason why it is unknown.
pub fn rated_bytes(system: &System, name: &str) -> Result<f64, Reason> {
    let health = read(system, name)?;
    let figure = |key: &str| health.figures.get(key).copied();
    let device = format!("/dev/{name}");
    let (used, written) = figure("percentage_used")
        .zip(figure("written_bytes"))
        .ok_or_else(|| Reason::NoWearCount { device: device.clone() })?;
    if used < 5.0 {
        return Err(Reason::TooLittleWear { device, percent: format!("{used:.0}") });
    }
    Ok(written / (used / 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::machine::FakeMachine;

    fn rated_in(json: &str) -> Result<f64, Reason> {
        let machine = FakeMachine::new().with_output("smartctl", 0, json);
        rated_bytes(&machine.system, "nvme0n1")
    }

    #[test]
    fn endurance_is_written_bytes_over_used_life() {
        let json = |used: u32| {
            format!(
                "{{\"nvme_smart_health_information_log\":\
                 {{\"percentage_used\":{used},\"data_units_written\":200000000}}}}"
            )
        };
        let rated = rated_in(&json(10)).unwrap();
        assert!((rated / 1.024e15 - 1.0).abs() < 1e-9, "{rated}");
        assert_eq!(rated_in(&json(0)).unwrap_err().code(), "too-little-wear");
    }

    #[test]
    fn missing_health_facts_have_a_reason() {
        assert_eq!(rated_in("{}").unwrap_err().code(), "tool-silent");
        let passed = "{\"smart_status\":{\"passed\":true}}";
        assert_eq!(rated_in(passed).unwrap_err().code(), "no-wear-count");
        let unread = rated_in("no json").unwrap_err();
        assert!(unread.values().contains(&("message", "no json")), "{unread:?}");
        let nothing = rated_bytes(&FakeMachine::new().system, "sda").unwrap_err();
        assert_eq!(nothing, Reason::ToolMissing { tool: "smartctl".to_owned() });
    }

    #[test]
    fn numbers_parse_in_every_json_form() {
        for (text, is) in
            [("3", Some(3.0)), ("\"4\"", Some(4.0)), ("{\"value\":5}", Some(5.0)), ("[]", None)]
        {
            assert_eq!(number(&serde_json::from_str(text).unwrap()), is, "{text}");
        }
    }
}
