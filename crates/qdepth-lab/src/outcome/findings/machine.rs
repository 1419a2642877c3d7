//! Findings about a point from the monitors of the machine.

use qdepth_measure::{Code, Finding, Severity, label};

use crate::monitor::monitors::Seen;

/// Steal time: shares for a warning and for grade C (docs/method/thresholds.md).
const STEAL: (f64, f64) = (0.005, 0.02);
/// Drift of the measuring clock, for a warning and for grade C: more than NTP slews, and more than
/// Little's law tolerates.
const DRIFT: (f64, f64) = (0.000_5, 0.01);
/// Shares of the time in which some task waited for a CPU, and for memory, for a warning. There is
/// no limit for grade C (docs/method/thresholds.md), because the load's own tasks are counted, too.
const PRESSURE: (f64, f64) = (0.1, 0.02);
/// Change of the CPUs' mean frequency for a warning (docs/method/thresholds.md).
const FREQUENCY: f64 = 0.05;
/// Distance of a drive from its warning temperature, in kelvins, for a warning
/// (docs/method/thresholds.md).
const HEAT_MARGIN_KELVIN: f64 = 5.0;

/// All findings from the monitors.
pub(crate) fn of_machine(seen: &Seen) -> Vec<Finding> {
    let mut findings = machine(seen);
    findings.extend(load(seen));
    findings.extend(heat(seen));
    findings.extend(health(seen));
    findings
}

/// Findings about clocks, steal time and temperatures.
fn machine(seen: &Seen) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut weigh = |code, value: f64, name: &str, (remark, invalid): (f64, f64)| {
        let severity = if value > invalid { Severity::Invalid } else { Severity::Remark };
        if value > remark {
            findings.push(Finding::new(code, severity).value(name, value));
        }
    };
    weigh(Code::Steal, seen.steal.unwrap_or(0.0), "share", STEAL);
    if seen.clocks.suspended {
        findings.push(Finding::invalid(Code::ClockDrift).label("why", label::SUSPENDED));
        findings.push(Finding::invalid(Code::GeneratorStopped));
    } else {
        weigh(Code::ClockDrift, seen.clocks.drift, "drift", DRIFT);
    }
    for (monitor, why) in &seen.missing {
        findings.push(
            Finding::remark(Code::MonitorMissing).label("monitor", *monitor).label("why", why),
        );
    }
    findings
}

/// Findings about other activity of the machine.
fn load(seen: &Seen) -> Vec<Finding> {
    let also = &seen.interference;
    let mut findings = Vec::new();
    let [cpu, memory] = also.pressure.map(|share| share.unwrap_or(0.0));
    if cpu > PRESSURE.0 || memory > PRESSURE.1 {
        let finding = Finding::remark(Code::Pressure);
        let finding = finding.value("cpu_share", cpu).value("memory_share", memory);
        findings.push(named(finding, seen));
    }
    if let Some(share) = also.frequency_change.filter(|share| *share > FREQUENCY) {
        findings.push(Finding::remark(Code::FrequencyChanged).value("share", share));
    }
    if also.swapped_pages > 0 {
        findings.push(Finding::remark(Code::Swapping).value("pages", also.swapped_pages as f64));
    }
    for device in &also.background {
        findings.push(Finding::invalid(Code::BackgroundWork).label("device", device));
    }
    findings
}

/// Adds the names of programs that may be the cause.
pub(super) fn named(finding: Finding, seen: &Seen) -> Finding {
    match seen.processes.as_str() {
        "" => finding,
        processes => finding.label("processes", processes),
    }
}

fn heat(seen: &Seen) -> Vec<Finding> {
    let mut findings = Vec::new();
    if seen.interference.throttles > 0 {
        findings.push(
            Finding::invalid(Code::Throttled)
                .label("device", "CPU")
                .value("transitions", seen.interference.throttles as f64),
        );
    }
    if let Some((device, celsius, limit)) = &seen.interference.hottest
        && *celsius >= limit - HEAT_MARGIN_KELVIN
    {
        findings.push(
            Finding::remark(Code::Throttled)
                .label("device", device)
                .value("celsius", *celsius)
                .value("warning_celsius", *limit),
        );
    }
    findings
}

fn health(seen: &Seen) -> Vec<Finding> {
    let finding = |(device, counter, rise): &(String, &'static str, f64)| match *counter {
        "thermal_transitions" | "thermal_throttled_seconds" | "critical_temperature_minutes" => {
            Finding::invalid(Code::Throttled).label("device", device).value("transitions", *rise)
        }
        counter => {
            let finding = match counter {
                "error_log_entries" => Finding::remark(Code::HealthChanged),
                _ => Finding::invalid(Code::HealthChanged),
            };
            finding.label("device", device).label("counter", counter).value("rise", *rise)
        }
    };
    seen.troubles.iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use qdepth_host::monitor::{Disagreement, Interference};

    use super::*;

    fn found(seen: &Seen) -> Vec<(Code, Severity)> {
        of_machine(seen).iter().map(|finding| (finding.code, finding.severity)).collect()
    }

    fn drifted(drift: f64) -> Seen {
        Seen { clocks: Disagreement { drift, suspended: false }, ..Seen::default() }
    }

    #[test]
    fn severity_of_machine_findings_grows_with_the_problem() {
        assert_eq!(found(&Seen::default()), []);
        assert_eq!(found(&drifted(0.000_4)), []);
        assert_eq!(found(&drifted(0.001)), [(Code::ClockDrift, Severity::Remark)]);
        assert_eq!(found(&drifted(0.02)), [(Code::ClockDrift, Severity::Invalid)]);
        let asleep = Disagreement { drift: 0.0, suspended: true };
        let asleep = Seen { clocks: asleep, ..Seen::default() };
        let both = [Code::ClockDrift, Code::GeneratorStopped];
        assert_eq!(found(&asleep), both.map(|code| (code, Severity::Invalid)));
        let stolen = |share| Seen { steal: Some(share), ..Seen::default() };
        assert_eq!(found(&stolen(0.004)), []);
        assert_eq!(found(&stolen(0.01)), [(Code::Steal, Severity::Remark)]);
        assert_eq!(found(&stolen(0.03)), [(Code::Steal, Severity::Invalid)]);
        let blind = Seen { missing: vec![("counters", "gone".into())], ..Seen::default() };
        assert_eq!(found(&blind), [(Code::MonitorMissing, Severity::Remark)]);
    }

    #[test]
    fn interference_severities_match_the_method() {
        let with = |interference| Seen { interference, ..Seen::default() };
        let hot = |celsius| Interference {
            hottest: Some(("nvme0n1".into(), celsius, 70.0)),
            ..Interference::default()
        };
        assert_eq!(found(&with(hot(64.9))), []);
        assert_eq!(found(&with(hot(65.0))), [(Code::Throttled, Severity::Remark)]);
        let all = Interference {
            pressure: [Some(0.11), None],
            frequency_change: Some(0.06),
            throttles: 1,
            swapped_pages: 1,
            background: vec!["md0".into()],
            hottest: None,
        };
        let expected = [
            (Code::Pressure, Severity::Remark),
            (Code::FrequencyChanged, Severity::Remark),
            (Code::Swapping, Severity::Remark),
            (Code::BackgroundWork, Severity::Invalid),
            (Code::Throttled, Severity::Invalid),
        ];
        assert_eq!(found(&with(all)), expected);
        let quiet = Interference {
            pressure: [Some(0.1), Some(0.02)],
            frequency_change: Some(0.05),
            ..Interference::default()
        };
        assert_eq!(found(&with(quiet)), []);
        let drive =
            |counter| Seen { troubles: vec![("sda".into(), counter, 1.0)], ..Seen::default() };
        assert_eq!(found(&drive("media_errors")), [(Code::HealthChanged, Severity::Invalid)]);
        assert_eq!(found(&drive("error_log_entries")), [(Code::HealthChanged, Severity::Remark)]);
        assert_eq!(found(&drive("thermal_transitions")), [(Code::Throttled, Severity::Invalid)]);
    }
}
