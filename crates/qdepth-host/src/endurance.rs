//! How much writing a drive is made for, as far as it tells.

use serde_json::Value;

use crate::system::System;

/// Bytes of one of NVMe's data units: a thousand blocks of 512 B (NVMe base specification,
/// SMART / Health Information log).
const DATA_UNIT_BYTES: f64 = 512_000.0;

/// Bytes that a drive is made for, by its own count: what it has written so far, over the share of
/// its life that it says is used. The share is whole per cents, so this is near only where some of
/// them are used; below 5 % it is not told.
///
/// # Errors
/// Why it is not known, in words.
pub fn rated_bytes(system: &System, kernel_name: &str) -> Result<f64, String> {
    let device = format!("/dev/{kernel_name}");
    let output = system.run("smartctl", &["-j", "-A", &device]).map_err(|e| e.to_string())?;
    let text: Value = serde_json::from_str(&output.stdout)
        .map_err(|_| format!("smartctl says nothing of {device} that can be read"))?;
    let log = &text["nvme_smart_health_information_log"];
    let numbers = log["percentage_used"].as_f64().zip(log["data_units_written"].as_f64());
    let (used, units) = numbers
        .ok_or_else(|| format!("{device} keeps no count of its wear and of what it wrote"))?;
    if used < 5.0 {
        return Err(format!(
            "{device} says that {used:.0} % of its life is used, too little to tell"
        ));
    }
    Ok(units * DATA_UNIT_BYTES / (used / 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::FakeMachine;

    fn told(json: &str) -> Result<f64, String> {
        let machine = FakeMachine::new().with_output("smartctl", 0, json);
        rated_bytes(&machine.system, "nvme0n1")
    }

    #[test]
    fn endurance_is_what_was_written_over_the_life_that_is_used() {
        let json = |used: u32| {
            format!(
                "{{\"nvme_smart_health_information_log\":\
                 {{\"percentage_used\":{used},\"data_units_written\":200000000}}}}"
            )
        };
        let rated = told(&json(10)).unwrap();
        assert!((rated / 1.024e15 - 1.0).abs() < 1e-9, "{rated}");
        assert!(told(&json(0)).unwrap_err().contains("too little to tell"));
    }

    #[test]
    fn what_is_not_told_is_unknown() {
        assert!(told("{}").unwrap_err().contains("keeps no count"));
        assert!(told("no json").unwrap_err().contains("can be read"));
        let nothing = rated_bytes(&FakeMachine::new().system, "sda").unwrap_err();
        assert!(nothing.contains("smartctl"), "{nothing}");
    }
}
