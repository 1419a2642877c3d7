//! Why a fact is not known: a closed list of codes, each with the values that it names. Code and
//! values are stored; the catalogues make a sentence of them in every language.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! reasons {
    ($($variant:ident { $($value:ident),* } = $code:literal, $says:literal;)+) => {
        /// Why a fact is not known. A code never changes its meaning; a value that is empty is not
        /// there.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Reason {
            $(
                #[doc = $says]
                $variant {
                    $(
                        #[doc = concat!("`", stringify!($value), "` of the stored form.")]
                        $value: String,
                    )*
                },
            )+
        }

        impl Reason {
            /// All codes, with the names of their values and the situation in which they are given.
            pub const ALL: &[(&'static str, &'static [&'static str], &'static str)] =
                &[$(($code, &[$(stringify!($value)),*], $says)),+];

            /// Code as stored.
            pub const fn code(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $code,)+
                }
            }

            /// Values by name.
            pub fn values(&self) -> Vec<(&'static str, &str)> {
                let all: Vec<(&'static str, &str)> = match self {
                    $(Self::$variant { $($value),* } => {
                        vec![$((stringify!($value), &**$value)),*]
                    })+
                };
                all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
            }

            /// Values, for replacement.
            pub fn values_mut(&mut self) -> Vec<&mut String> {
                match self {
                    $(Self::$variant { $($value),* } => vec![$($value),*],)+
                }
            }

            /// Reason from a code and its values by name; `None` if the code is unknown.
            pub fn from_parts(code: &str, mut values: BTreeMap<String, String>) -> Option<Self> {
                let mut value = |name: &str| values.remove(name).unwrap_or_default();
                match code {
                    $($code => Some(Self::$variant { $($value: value(stringify!($value))),* }),)+
                    _ => None,
                }
            }
        }
    };
}

reasons! {
    NoSuchFile { path } = "no-such-file",
        "The file or directory does not exist.";
    NotPermitted { path } = "not-permitted",
        "Permission to read it is missing.";
    Unreadable { path, errno, message } = "unreadable",
        "The system reported another error.";
    EmptyFile { path } = "empty-file",
        "The file is empty.";
    NoEntry { path, name } = "no-entry",
        "The file has no entry with this name.";
    NotASize { text } = "not-a-size",
        "The value is not a size.";
    NotATemperature { text } = "not-a-temperature",
        "The value is not a temperature.";
    NotRecorded {} = "not-recorded",
        "The recording of the machine does not contain it.";
    NotLookedAt {} = "not-looked-at",
        "It was not checked.";

    ToolMissing { tool } = "tool-missing",
        "The program that reports it is not installed.";
    ToolNotStarted { tool, errno, message } = "tool-not-started",
        "The program that reports it could not be started.";
    ToolTooSlow { tool, seconds } = "tool-too-slow",
        "The program that reports it took too long and was stopped.";
    ToolFailed { tool, status, message } = "tool-failed",
        "The program that reports it failed, with its exit status and first line of output.";
    ToolKilled { tool, message } = "tool-killed",
        "The program that reports it was killed by a signal.";
    ToolUnreadable { tool } = "tool-unreadable",
        "The output of the program has an unknown format.";
    ToolDoesNotList { tool, name } = "tool-does-not-list",
        "The program does not list it.";
    ToolLacks { tool, name } = "tool-lacks",
        "The program does not report this value.";
    ToolSilent { tool, name } = "tool-silent",
        "The program does not report the device.";
    ToolReports { tool, message } = "tool-reports",
        "The program reports a reason.";

    NoCpuShowsIt {} = "no-cpu-shows-it",
        "No CPU reports it.";
    NoIdleState {} = "no-idle-state",
        "The CPU lists no idle state.";
    NoNumaNode { path } = "no-numa-node",
        "The kernel lists no NUMA node.";
    NoMemoryModule {} = "no-memory-module",
        "The firmware lists no memory module.";
    NoContainer {} = "no-container",
        "No container was detected.";
    NoHypervisor {} = "no-hypervisor",
        "No virtual machine was detected; it may be hidden.";
    NoNvmeInterrupt {} = "no-nvme-interrupt",
        "No NVMe queue has an interrupt.";
    NotCounted { feature } = "not-counted",
        "The kernel does not count it.";
    NotTold { path } = "not-told",
        "The file does not contain it.";

    NoLink {} = "no-link",
        "The kernel shows no PCIe, SATA or SAS link for the device.";
    NoDriver {} = "no-driver",
        "The kernel shows no driver for the device.";
    NoDeviceNode {} = "no-device-node",
        "The kernel shows no NUMA node for the device.";
    DeviceNodeUnset {} = "device-node-unset",
        "The firmware does not report the NUMA node of the device.";
    NoQueue { path } = "no-queue",
        "The kernel lists no queue of the device.";
    NoSensor {} = "no-sensor",
        "The kernel shows no sensor of the device.";
    NoPath {} = "no-path",
        "The kernel shows no path to the device.";
    NoPowerState {} = "no-power-state",
        "The controller lists no power state.";
    NotStated {} = "not-stated",
        "The controller does not report it.";
    NoWearCount { device } = "no-wear-count",
        "The drive does not count its wear and the bytes written.";
    TooLittleWear { device, percent } = "too-little-wear",
        "Too little of the drive's endurance has been used to extrapolate.";
    MountNotFound {} = "mount-not-found",
        "The mount was not found.";
    NoBlockDevice {} = "no-block-device",
        "The kernel shows no block device below it.";

    TooFewSamples { count } = "too-few-samples",
        "There are too few samples. Use a longer `--duration`.";
    TooUneven { low, high } = "too-uneven",
        "The ratio varies too much for a verdict.";
    NoQuotient {} = "no-quotient",
        "The ratio of the latencies could not be computed.";
    EngineNotUsable {} = "engine-not-usable",
        "The engine cannot be used here, or got no CPU in time.";
    NotTried { message } = "not-tried",
        "A check could not run, for this reason.";
    CalibrationFailed { message } = "calibration-failed",
        "The load generator could not be measured.";
    Stated { text } = "stated",
        "Text of a logbook or document of an earlier version, in English.";
}

/// Reason why a fact is unknown: a code and its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReasonEntry {
    /// Code of the reason; it never changes its meaning, and new ones may be added.
    pub code: String,
    /// Its values by name.
    #[serde(flatten)]
    pub values: BTreeMap<String, String>,
}

impl From<&Reason> for ReasonEntry {
    fn from(reason: &Reason) -> Self {
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let values = reason.values().into_iter().map(own).collect();
        Self { code: reason.code().to_owned(), values }
    }
}

impl From<&ReasonEntry> for Reason {
    /// An unknown code is kept as it is stored.
    fn from(entry: &ReasonEntry) -> Self {
        let known = Self::from_parts(&entry.code, entry.values.clone());
        known.unwrap_or_else(|| Self::Stated { text: entry.code.clone() })
    }
}

impl Reason {
    /// Form in which the logbook stores the reason.
    pub fn stored(&self) -> String {
        match self {
            Self::Stated { text } => text.clone(),
            coded => coded.json(),
        }
    }

    /// The reason as a JSON object.
    pub fn json(&self) -> String {
        // Maps of strings always serialise.
        serde_json::to_string(&ReasonEntry::from(self)).unwrap_or_default()
    }

    /// Reads the result of [`Self::stored`]. Any other text is kept byte for byte, because it is
    /// part of a digest.
    pub fn read(text: &str) -> Self {
        let entry: Option<ReasonEntry> = serde_json::from_str(text).ok();
        let known = entry.and_then(|entry| Self::from_parts(&entry.code, entry.values));
        known
            .filter(|known| known.stored() == text)
            .unwrap_or_else(|| Self::Stated { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_reason_round_trips() {
        let codes: BTreeSet<&str> = Reason::ALL.iter().map(|(code, ..)| *code).collect();
        assert_eq!(codes.len(), Reason::ALL.len(), "a code stands for one reason");
        for (code, names, _) in Reason::ALL {
            let values = names.iter().map(|name| ((*name).to_owned(), format!("a \"{name}\"")));
            let reason = Reason::from_parts(code, values.collect()).unwrap();
            assert_eq!(Reason::read(&reason.stored()), reason);
            assert!(code.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{code}");
        }
        let missing = Reason::NoSuchFile { path: "/sys/a".to_owned() };
        assert_eq!(missing.stored(), "{\"code\":\"no-such-file\",\"path\":\"/sys/a\"}");
    }

    #[test]
    fn unknown_reason_text_is_kept_unchanged() {
        for text in [
            "No such file or directory (os error 2)",
            "{\"code\":\"no-such-file\", \"path\":\"/sys/a\"}",
            "{\"code\":\"no-such-file\",\"path\":\"/sys/a\",\"more\":\"b\"}",
            "{\"code\":\"of-tomorrow\"}",
            "{\"code\":\"stated\",\"text\":\"a\"}",
            "{\"code\":\"no-such-file\",\"path\":3}",
            "",
        ] {
            assert_eq!(Reason::read(text), Reason::Stated { text: text.to_owned() });
            assert_eq!(Reason::read(text).stored(), text);
        }
    }
}
