//! A target as a plan names it: the words of the command line, each with a key of its own.

use std::collections::BTreeMap;
use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A target: either `path`, or `medium` with its settings. Values have the form of the command
/// line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetSpec {
    /// Directory, file, device, or an emulated target as on the command line.
    pub path: Option<String>,
    /// Emulated device: `p3700-800gb`, `iodrive-320gb/improved-write`, `./mine.toml`.
    pub medium: Option<String>,
    /// Arrangement of several members: `raid0`, `raid1`, `raid5`, `raid10`, `independent`, a layer.
    pub array: Option<String>,
    /// Number of members.
    pub members: Option<u32>,
    /// Stripe size, for example `64KiB`.
    pub stripe: Option<String>,
    /// Measurement area: `standard`, `full`, `32GiB`.
    pub area: Option<String>,
    /// CPU clock of the emulated computer, for example `1.6GHz`.
    pub cpu: Option<String>,
    /// BIOS and operating-system settings: `performance` or `default`.
    pub settings: Option<String>,
    /// Number of processes, each with its own partition.
    pub processes: Option<u32>,
    /// Wear of the drives: `fresh`, `preconditioned`, `steady`.
    pub state: Option<String>,
    /// Emulated computer.
    pub host: Option<String>,
    /// Airflow at the drives: `normal` or `restricted`.
    pub cooling: Option<String>,
    /// Parameters of the device model or the computer, by name (`qdepth media NAME`).
    #[serde(default)]
    pub parameters: BTreeMap<String, f64>,
}

impl TargetSpec {
    /// Text as on the command line.
    ///
    /// # Errors
    /// If keys contradict each other. Whether names and values can be is for their reader to
    /// say.
    pub fn expression(&self) -> Result<String, String> {
        let mut text = match (&self.path, &self.medium) {
            (Some(path), None) => {
                if *self != (Self { path: self.path.clone(), ..Self::default() }) {
                    return Err(format!(
                        "`path = \"{path}\"` allows no other keys: they need `medium`"
                    ));
                }
                return Ok(path.clone());
            }
            (None, Some(medium)) => self.arrangement(medium)?,
            _ => return Err("a target needs either `path` or `medium`".to_owned()),
        };
        let given = [
            ("area", &self.area),
            ("cpu", &self.cpu),
            ("settings", &self.settings),
            ("processes", &self.processes.map(|number| number.to_string())),
            ("state", &self.state),
            ("host", &self.host),
            ("cooling", &self.cooling),
        ];
        for (name, value) in given {
            if let Some(value) = value {
                // Writing to memory cannot fail.
                let _ = write!(text, " @{name}={value}");
            }
        }
        for (name, value) in &self.parameters {
            let _ = write!(text, " @{name}={value}");
        }
        Ok(text)
    }

    fn arrangement(&self, medium: &str) -> Result<String, String> {
        let members = self.members.unwrap_or(1);
        let stripe = self.stripe.as_ref().map_or(String::new(), |size| format!(", stripe={size}"));
        match &self.array {
            Some(array) => Ok(format!("{array}(media:{medium}*{members}{stripe})")),
            None if members > 1 || self.stripe.is_some() => Err(format!(
                "`members` and `stripe` of `medium = \"{medium}\"` need an `array`, for example \
                 \"raid0\""
            )),
            None => Ok(format!("media:{medium}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str) -> Result<String, String> {
        toml::from_str::<TargetSpec>(text).map_err(|e| e.to_string())?.expression()
    }

    #[test]
    fn target_keys_become_the_expression() {
        for (text, expected) in [
            ("path = \"/dev/nvme0n1\"", "/dev/nvme0n1"),
            ("medium = \"iodrive-320gb/improved-write\"", "media:iodrive-320gb/improved-write"),
            (
                "medium = \"p3700-800gb\"\narray = \"raid0\"\nmembers = 2\nstripe = \"128KiB\"\n\
                 area = \"full\"\ncpu = \"1.6GHz\"\nsettings = \"default\"\nprocesses = 4\n\
                 state = \"fresh\"\nhost = \"linux\"\ncooling = \"restricted\"\n\
                 parameters = { dies = 128, die_read_us = 70.5 }",
                "raid0(media:p3700-800gb*2, stripe=128KiB) @area=full @cpu=1.6GHz \
                 @settings=default @processes=4 @state=fresh @host=linux @cooling=restricted \
                 @die_read_us=70.5 @dies=128",
            ),
        ] {
            assert_eq!(spelled(text).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn contradictory_target_keys_are_refused_by_name() {
        for (text, says) in [
            ("area = \"full\"", "either `path` or `medium`"),
            ("path = \"x\"\nmedium = \"y\"", "either `path` or `medium`"),
            ("path = \"x\"\ncpu = \"1GHz\"", "allows no other keys"),
            ("medium = \"y\"\nmembers = 2", "need an `array`"),
            ("medium = \"y\"\nmember = 2", "unknown field `member`"),
        ] {
            let refused = spelled(text).unwrap_err();
            assert!(refused.contains(says), "{refused}");
        }
    }
}
