//! Power consumption: energy counters of the processor packages (RAPL,
//! Documentation/power/powercap/powercap.rst), and a power meter of the machine
//! (Documentation/hwmon/acpi_power_meter.rst).

use crate::system::System;

/// One reading of both. Values that the machine does not provide are missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Power {
    /// Zone of each package, its energy so far in µJ, and the value at which the counter wraps.
    packages: Vec<(String, u64, u64)>,
    /// Power of the machine, W: the meter's mean over its own interval (`power1_average_interval`),
    /// which may be longer than a point.
    pub machine_watts: Option<f64>,
}

impl Power {
    pub(super) fn read(system: &System) -> Self {
        Self { packages: packages(system), machine_watts: machine(system) }
    }

    /// Mean power of all packages together since an earlier reading, W.
    pub(super) fn package_watts_since(&self, before: &Self, seconds: f64) -> Option<f64> {
        let used = |(zone, now, range): &(String, u64, u64)| {
            let then = before.packages.iter().find(|(other, ..)| other == zone)?.1;
            let around =
                now.checked_sub(then).or_else(|| range.checked_sub(then)?.checked_add(*now));
            around.map(|energy| energy as f64 / 1e6)
        };
        let all: Option<Vec<f64>> = self.packages.iter().map(used).collect();
        let all = all.filter(|all| !all.is_empty() && seconds > 0.0)?;
        Some(all.iter().sum::<f64>() / seconds)
    }
}

/// Package zones. Zones within them are not used: cores would count twice, and DRAM zones are not
/// available everywhere. `psys` is the whole platform, and `intel-rapl-mmio` counts the same
/// packages again. AMD's zones have the same names.
fn packages(system: &System) -> Vec<(String, u64, u64)> {
    const FOLDER: &str = "/sys/class/powercap";
    let zones = system.list_dir(FOLDER).unwrap_or_default();
    let meter = |zone: String| {
        zone.strip_prefix("intel-rapl:")?.parse::<u32>().ok()?;
        let text = |file: &str| system.read_trimmed(format!("{FOLDER}/{zone}/{file}"));
        let number = |file: &str| text(file)?.parse().ok();
        let is_package = text("name")?.starts_with("package");
        let found = (number("energy_uj")?, number("max_energy_range_uj")?);
        is_package.then_some((zone.clone(), found.0, found.1))
    };
    zones.into_iter().filter_map(meter).collect()
}

fn machine(system: &System) -> Option<f64> {
    const FOLDER: &str = "/sys/class/hwmon";
    let mut sensors = system.list_dir(FOLDER).ok()?.into_iter();
    let text = |sensor: &str, file: &str| system.read_trimmed(format!("{FOLDER}/{sensor}/{file}"));
    let meter = sensors.find(|sensor| text(sensor, "name").as_deref() == Some("power_meter"))?;
    let micro: f64 = text(&meter, "power1_average")?.parse().ok()?;
    (micro.is_finite() && micro > 0.0).then_some(micro / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::machine::FakeMachine;

    fn zone(machine: FakeMachine, zone: &str, name: &str, energy_uj: u64) -> FakeMachine {
        let at = |file: &str| format!("/sys/class/powercap/{zone}/{file}");
        machine
            .with_file(&at("name"), name)
            .with_file(&at("energy_uj"), &energy_uj.to_string())
            .with_file(&at("max_energy_range_uj"), "262143328850")
    }

    fn two_packages(first: u64, second: u64) -> FakeMachine {
        let machine = zone(FakeMachine::new(), "intel-rapl:0", "package-0", first);
        let machine = zone(machine, "intel-rapl:1", "package-1", second);
        let machine = zone(machine, "intel-rapl:0:0", "core", first / 2);
        let machine = zone(machine, "intel-rapl:2", "psys", 9 * first);
        zone(machine, "intel-rapl-mmio:0", "package-0", first)
    }

    #[test]
    fn package_power_is_energy_over_time_despite_wraparound() {
        let read_power = |first, second| Power::read(&two_packages(first, second).system);
        let (before, after) =
            (read_power(10_000_000, 262_143_328_850), read_power(130_000_000, 60_000_000));
        let watts = after.package_watts_since(&before, 2.0).unwrap();
        assert!((watts - 90.0).abs() < 1e-9, "{watts}");
        assert_eq!(after.package_watts_since(&Power::default(), 2.0), None);
        assert_eq!(after.package_watts_since(&before, 0.0), None);
    }

    #[test]
    fn machine_power_meter_is_found_by_name() {
        let machine = FakeMachine::new()
            .with_file("/sys/class/hwmon/hwmon0/name", "nvme")
            .with_file("/sys/class/hwmon/hwmon0/power1_average", "1")
            .with_file("/sys/class/hwmon/hwmon3/name", "power_meter")
            .with_file("/sys/class/hwmon/hwmon3/power1_average", "212500000\n");
        assert_eq!(Power::read(&machine.system).machine_watts, Some(212.5));
        assert_eq!(Power::read(&FakeMachine::new().system), Power::default());
    }

    proptest::proptest! {
        #[test]
        fn any_power_text_is_read_without_panic(text in "[0-9 -]{0,24}|.{0,20}") {
            let machine = zone(FakeMachine::new(), "intel-rapl:0", "package-0", 1)
                .with_file("/sys/class/powercap/intel-rapl:0/energy_uj", &text)
                .with_file("/sys/class/powercap/intel-rapl:0/max_energy_range_uj", &text)
                .with_file("/sys/class/hwmon/hwmon0/name", "power_meter")
                .with_file("/sys/class/hwmon/hwmon0/power1_average", &text);
            let found = Power::read(&machine.system);
            let of_package = found.package_watts_since(&found, 1.0);
            let mut watts = of_package.into_iter().chain(found.machine_watts);
            proptest::prop_assert!(watts.all(|watts| watts >= 0.0 && watts.is_finite()));
        }
    }
}
