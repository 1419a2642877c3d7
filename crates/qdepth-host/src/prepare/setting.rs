//! Settings of the kernel that a preparation may change: a list, each with the values that it may
//! have. Nothing else is ever written.

use serde::{Deserialize, Serialize};

/// A setting and the value that it is to have. There is none outside of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Setting {
    path: String,
    value: String,
    name: String,
}

/// Entry of the undo journal.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    path: String,
    value: String,
}

impl From<Setting> for Written {
    fn from(setting: Setting) -> Self {
        Self { path: setting.path, value: setting.value }
    }
}

impl TryFrom<Written> for Setting {
    type Error = String;
    /// The kernel's former value is restored whatever it was, if it is one line.
    fn try_from(written: Written) -> Result<Self, String> {
        Self::put_back(&written.path, &written.value)
    }
}

/// Allowed values.
#[derive(Clone, Copy, Debug)]
enum Values {
    /// One of these words.
    Words(&'static [&'static str]),
    /// A name of a module of the kernel's, as of a scheduler.
    Name,
    /// A number within these limits.
    Number(i64, i64),
    /// Hexadecimal groups of CPUs.
    Mask,
    /// A list, for example `0-3,8`.
    List,
}

struct Knob {
    /// `{disk}` is a kernel's name of a block device, `{n}` a number, `{nvme}` a controller.
    path: &'static str,
    values: Values,
    /// In our words, with the same places.
    name: &'static str,
}

const fn knob(path: &'static str, values: Values, name: &'static str) -> Knob {
    Knob { path, values, name }
}

use Values::{List, Mask, Name, Number, Words};

const SWITCH: Values = Number(0, 1);
const KIB: Values = Number(0, 1 << 20);
const LARGE: i64 = 1 << 40;
const GOVERNORS: Values =
    Words(&["performance", "powersave", "schedutil", "ondemand", "conservative", "userspace"]);
const PREFERENCES: Values =
    Words(&["performance", "balance_performance", "default", "balance_power", "power"]);
const LINK_POWER: Values =
    Words(&["max_performance", "medium_power", "med_power_with_dipm", "min_power"]);
const DEFRAG: Values = Words(&["always", "defer", "defer+madvise", "madvise", "never"]);

const KNOBS: &[Knob] = &[
    knob("/sys/block/{disk}/queue/scheduler", Name, "scheduler of {disk}"),
    knob(
        "/sys/block/{disk}/queue/nr_requests",
        Number(1, 65536),
        "requests in the queue of {disk}",
    ),
    knob("/sys/block/{disk}/queue/nomerges", Number(0, 2), "no merging in the queue of {disk}"),
    knob(
        "/sys/block/{disk}/queue/rq_affinity",
        Number(0, 2),
        "completions to the issuing CPU in the queue of {disk}",
    ),
    knob(
        "/sys/block/{disk}/queue/wbt_lat_usec",
        Number(-1, 10_000_000),
        "no throttling of write-back in the queue of {disk}",
    ),
    knob("/sys/block/{disk}/queue/read_ahead_kb", KIB, "read-ahead of {disk}, KiB"),
    knob(
        "/sys/block/{disk}/queue/max_sectors_kb",
        Number(4, 1 << 20),
        "largest request of {disk}, KiB",
    ),
    knob("/sys/block/{disk}/queue/io_poll", SWITCH, "polling of {disk}"),
    knob("/sys/block/{disk}/queue/add_random", SWITCH, "entropy from {disk}"),
    knob("/sys/block/{disk}/queue/iostats", SWITCH, "counters of {disk}"),
    knob("/sys/block/{disk}/queue/rotational", SWITCH, "{disk} counts as a disk that turns"),
    knob(
        "/sys/block/{disk}/queue/iosched/read_expire",
        Number(0, 1_000_000),
        "read_expire of {disk}",
    ),
    knob(
        "/sys/block/{disk}/queue/iosched/write_expire",
        Number(0, 1_000_000),
        "write_expire of {disk}",
    ),
    knob(
        "/sys/block/{disk}/queue/iosched/writes_starved",
        Number(0, 1000),
        "writes_starved of {disk}",
    ),
    knob("/sys/block/{disk}/queue/iosched/front_merges", SWITCH, "front_merges of {disk}"),
    knob("/sys/block/{disk}/queue/iosched/fifo_batch", Number(0, 1000), "fifo_batch of {disk}"),
    knob("/sys/block/{disk}/queue/iosched/slice_idle", Number(0, 1000), "slice_idle of {disk}"),
    knob("/sys/block/{disk}/queue/iosched/low_latency", SWITCH, "low_latency of {disk}"),
    knob("/sys/block/{disk}/md/stripe_cache_size", Number(17, 32768), "stripe cache of {disk}"),
    knob("/sys/block/{disk}/md/group_thread_cnt", Number(0, 1024), "threads of {disk}"),
    knob(
        "/sys/block/{disk}/md/sync_speed_min",
        Number(1, LARGE),
        "least speed of a resync of {disk}",
    ),
    knob(
        "/sys/block/{disk}/md/sync_speed_max",
        Number(1, LARGE),
        "most speed of a resync of {disk}",
    ),
    knob(
        "/sys/block/{disk}/device/power/control",
        Words(&["on", "auto"]),
        "power management of {disk}",
    ),
    knob(
        "/sys/class/nvme/{nvme}/power/pm_qos_latency_tolerance_us",
        Number(0, 100_000_000),
        "latency for which {nvme} may save power, µs",
    ),
    knob(
        "/sys/module/nvme_core/parameters/default_ps_max_latency_us",
        Number(0, 100_000_000),
        "latency for which NVMe drives may save power, µs",
    ),
    knob(
        "/sys/module/pcie_aspm/parameters/policy",
        Words(&["default", "performance", "powersave", "powersupersave"]),
        "power management of PCIe links",
    ),
    knob(
        "/sys/class/scsi_host/host{n}/link_power_management_policy",
        LINK_POWER,
        "link power of SATA host {n}",
    ),
    knob(
        "/sys/devices/system/cpu/cpu{n}/cpufreq/scaling_governor",
        GOVERNORS,
        "governor of CPU {n}",
    ),
    knob(
        "/sys/devices/system/cpu/cpufreq/policy{n}/scaling_governor",
        GOVERNORS,
        "governor of CPUs {n}",
    ),
    knob(
        "/sys/devices/system/cpu/cpu{n}/cpufreq/energy_performance_preference",
        PREFERENCES,
        "energy preference of CPU {n}",
    ),
    knob(
        "/sys/devices/system/cpu/cpu{n}/cpufreq/scaling_min_freq",
        Number(1, 100_000_000),
        "least frequency of CPU {n}, kHz",
    ),
    knob(
        "/sys/devices/system/cpu/cpu{n}/cpufreq/scaling_max_freq",
        Number(1, 100_000_000),
        "most frequency of CPU {n}, kHz",
    ),
    knob(
        "/sys/devices/system/cpu/cpu{n}/power/energy_perf_bias",
        Number(0, 15),
        "energy bias of CPU {n}",
    ),
    knob(
        "/sys/devices/system/cpu/cpu{n}/cpuidle/state{n}/disable",
        SWITCH,
        "idle state {2} off of CPU {n}",
    ),
    knob("/sys/devices/system/cpu/intel_pstate/no_turbo", SWITCH, "turbo off"),
    knob(
        "/sys/devices/system/cpu/intel_pstate/min_perf_pct",
        Number(0, 100),
        "least performance of the CPUs, %",
    ),
    knob(
        "/sys/devices/system/cpu/intel_pstate/max_perf_pct",
        Number(1, 100),
        "most performance of the CPUs, %",
    ),
    knob("/sys/devices/system/cpu/cpufreq/boost", SWITCH, "boost"),
    knob(
        "/sys/devices/system/cpu/smt/control",
        Words(&["on", "off"]),
        "second threads of the cores",
    ),
    knob(
        "/sys/kernel/mm/transparent_hugepage/enabled",
        Words(&["always", "madvise", "never"]),
        "huge pages for who asks",
    ),
    knob("/sys/kernel/mm/transparent_hugepage/defrag", DEFRAG, "making room for huge pages"),
    knob("/proc/irq/{n}/smp_affinity", Mask, "CPUs of interrupt {n}"),
    knob("/proc/irq/{n}/smp_affinity_list", List, "CPUs of interrupt {n}"),
    knob("/proc/sys/vm/dirty_ratio", Number(0, 100), "dirty pages at which writers wait, %"),
    knob(
        "/proc/sys/vm/dirty_background_ratio",
        Number(0, 100),
        "dirty pages at which write-back begins, %",
    ),
    knob("/proc/sys/vm/dirty_bytes", Number(0, LARGE), "dirty bytes at which writers wait"),
    knob(
        "/proc/sys/vm/dirty_background_bytes",
        Number(0, LARGE),
        "dirty bytes at which write-back begins",
    ),
    knob(
        "/proc/sys/vm/dirty_expire_centisecs",
        Number(0, 360_000),
        "age of dirty pages that are written back, 10 ms",
    ),
    knob(
        "/proc/sys/vm/dirty_writeback_centisecs",
        Number(0, 360_000),
        "time between write-backs, 10 ms",
    ),
    knob("/proc/sys/vm/swappiness", Number(0, 200), "swappiness"),
    knob("/proc/sys/vm/vfs_cache_pressure", Number(1, 1000), "pressure on caches of names"),
    knob("/proc/sys/vm/zone_reclaim_mode", Number(0, 7), "reclaim within a NUMA node"),
    knob("/proc/sys/vm/nr_hugepages", Number(0, 1 << 20), "huge pages"),
    knob("/proc/sys/kernel/numa_balancing", Number(0, 3), "balancing of NUMA nodes"),
    knob("/proc/sys/kernel/nmi_watchdog", SWITCH, "watchdog by NMI"),
    knob(
        "/proc/sys/fs/aio-max-nr",
        Number(1024, 1 << 31),
        "most asynchronous requests of the machine",
    ),
    knob(
        "/proc/sys/dev/raid/speed_limit_min",
        Number(0, 1 << 31),
        "least speed of a resync, KiB/s",
    ),
    knob("/proc/sys/dev/raid/speed_limit_max", Number(0, 1 << 31), "most speed of a resync, KiB/s"),
];

/// Longest value of any of them, in bytes; a mask of 8192 CPUs has as many.
const LONGEST: usize = 2400;

impl Setting {
    /// A setting of the list with a value that it may have.
    ///
    /// # Errors
    /// If it is not on the list, or the value is not allowed.
    pub fn new(path: &str, value: &str) -> Result<Self, String> {
        let (knob, name) = find(path)?;
        if !knob.values.have(value) {
            let possible = knob.values.text();
            return Err(format!("`{value}` is not a value of `{path}` ({name}): {possible}"));
        }
        Ok(Self { path: path.to_owned(), value: value.to_owned(), name })
    }

    /// Value of a listed setting as shown by the kernel, to be restored.
    ///
    /// # Errors
    /// If it is not on the list, or the value is not one line of text.
    pub fn put_back(path: &str, value: &str) -> Result<Self, String> {
        let (_, name) = find(path)?;
        let plain = |c: char| c.is_ascii_graphic() || c == ' ';
        if value.is_empty() || value.len() > LONGEST || !value.chars().all(plain) {
            return Err(format!("the value of `{path}` could not be written back"));
        }
        Ok(Self { path: path.to_owned(), value: value.to_owned(), name })
    }

    /// Its file.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Value to write.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Name for the user.
    pub fn name(&self) -> &str {
        &self.name
    }
}

fn find(path: &str) -> Result<(&'static Knob, String), String> {
    let found = KNOBS.iter().find_map(|knob| Some((knob, fit(knob, path)?)));
    found.ok_or_else(|| {
        format!(
            "`{path}` is not a setting that a preparation may change: those are below /sys and \
             /proc, and docs/preparation.md lists them"
        )
    })
}

/// The name with the places filled in; `None` if the path is not of this form.
fn fit(knob: &Knob, path: &str) -> Option<String> {
    let (mut form, mut given) = (knob.path.split('/'), path.split('/'));
    let mut name = knob.name.to_owned();
    let mut numbers = 0;
    loop {
        let (form, given) = match (form.next(), given.next()) {
            (None, None) => return Some(name),
            (form, given) => (form?, given?),
        };
        let Some((before, rest)) = form.split_once('{') else {
            if form == given {
                continue;
            }
            return None;
        };
        let (kind, _) = rest.split_once('}')?;
        let word = given.strip_prefix(before)?;
        let fits = match kind {
            "n" => !word.is_empty() && word.len() < 8 && word.bytes().all(|b| b.is_ascii_digit()),
            _ => is_name(word),
        };
        if !fits {
            return None;
        }
        numbers += u32::from(kind == "n");
        let placeholder =
            if numbers > 1 { format!("{{{numbers}}}") } else { format!("{{{kind}}}") };
        name = name.replace(&placeholder, word);
    }
}

/// A name that the kernel gives to a device, or to a module.
fn is_name(word: &str) -> bool {
    word.len() <= 64
        && word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "!_.-".contains(c))
}

impl Values {
    fn have(self, value: &str) -> bool {
        match self {
            Words(words) => words.contains(&value),
            Name => is_name(value),
            Number(least, most) => {
                let plain = value.strip_prefix('-').unwrap_or(value);
                plain.bytes().all(|b| b.is_ascii_digit())
                    && value.parse::<i64>().is_ok_and(|n| (least..=most).contains(&n))
            }
            Mask => is_of(value, |b| b.is_ascii_hexdigit() || b == b','),
            List => is_of(value, |b| b.is_ascii_digit() || b == b',' || b == b'-'),
        }
    }

    fn text(self) -> String {
        match self {
            Words(words) => format!("must be {}", words.join(", ")),
            Name => "must be a name, for example `none` or `mq-deadline`".to_owned(),
            Number(least, most) => format!("must be {least} to {most}"),
            Mask => "must be a mask of CPUs in hexadecimal digits, for example 000000ff".to_owned(),
            List => "must be a list of CPUs, for example 0-3,8".to_owned(),
        }
    }
}

fn is_of(value: &str, allowed: impl Fn(u8) -> bool) -> bool {
    !value.is_empty() && value.len() <= LONGEST && value.bytes().all(allowed)
}

/// Every setting that a preparation may change: its file, what it may have, and what it is. For the
/// documentation.
pub fn settings() -> Vec<(&'static str, String, &'static str)> {
    KNOBS.iter().map(|knob| (knob.path, knob.values.text(), knob.name)).collect()
}
