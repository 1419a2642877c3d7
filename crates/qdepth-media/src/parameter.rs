//! Keys of a description: the parameters of each kind of device, with units, ranges and meanings.
//! An unknown name is refused, here and in an expression's `@name=value`.

use std::collections::BTreeMap;

use crate::error::MediaError;

/// One parameter of a kind of medium or host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Its name in descriptions and expressions.
    pub name: &'static str,
    /// Unit of its value; empty for a pure number.
    pub unit: &'static str,
    /// Smallest value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
    /// Default value; `None` if a description must have the parameter.
    pub default: Option<f64>,
    /// Meaning for the user.
    pub meaning: &'static str,
}

const fn must(
    name: &'static str,
    unit: &'static str,
    low: f64,
    high: f64,
    meaning: &'static str,
) -> Parameter {
    Parameter { name, unit, low, high, default: None, meaning }
}

const fn may(
    name: &'static str,
    unit: &'static str,
    low: f64,
    high: f64,
    default: f64,
    meaning: &'static str,
) -> Parameter {
    Parameter { name, unit, low, high, default: Some(default), meaning }
}

/// Parameters of every device.
const COMMON: &[Parameter] = &[
    must("capacity_gb", "GB", 0.001, 1e6, "user capacity, 10^9 bytes"),
    may("block_bytes", "B", 512.0, 65536.0, 512.0, "smallest size and alignment of a request"),
];

/// Parameters of a solid-state drive.
pub(crate) const SSD: &[Parameter] = &[
    must("command_us", "µs", 0.0, 1e3, "controller time per command"),
    must(
        "read_fixed_us",
        "µs",
        0.0,
        1e4,
        "latency of a read in addition to controller, path and dies",
    ),
    must("write_fixed_us", "µs", 0.0, 1e4, "latency of accepting a write"),
    must("write_accept_us_per_kib", "µs/KiB", 0.0, 100.0, "latency of accepting a write, per size"),
    must(
        "path_read_us_per_kib",
        "µs/KiB",
        0.0,
        100.0,
        "time of the internal data path for a read, per size",
    ),
    may("path_command_us", "µs", 0.0, 1e3, 0.0, "time of the internal data path per command"),
    may(
        "ahead_when_busy",
        "",
        0.0,
        1.0,
        0.0,
        "1: every contiguous read is prefetched; 0: only one that finds the drive idle",
    ),
    may("path_gather_us", "µs", 0.0, 1e3, 0.0, "the same, for a read from more than one die"),
    may(
        "path_random_read_us_per_kib",
        "µs/KiB",
        0.0,
        100.0,
        0.0,
        "additional time for a random read",
    ),
    must(
        "path_write_us_per_kib",
        "µs/KiB",
        0.0,
        100.0,
        "time of the internal data path for a write, per size",
    ),
    may("path_mix_loss", "", 0.0, 2.0, 0.0, "loss of the path at an even mix, × 4w(1−w)"),
    may(
        "path_posted_us",
        "µs",
        0.0,
        1e6,
        1e4,
        "backlog of the path up to which writes are accepted",
    ),
    must("link_mb_s", "MiB/s", 1.0, 1e5, "link, in each direction"),
    must("prefetch_us", "µs", 0.0, 1e4, "latency of a contiguous read that finds the drive idle"),
    may("prefetch_us_per_kib", "µs/KiB", 0.0, 100.0, 0.0, "the same, per size beyond the link"),
    must("dies", "", 1.0, 65536.0, "flash dies that work in parallel"),
    must("die_chunk_kib", "KiB", 1.0, 4096.0, "consecutive data on one die; a power of two"),
    must("die_read_us", "µs", 0.0, 1e5, "time to sense a page"),
    may("die_read_us_per_kib", "µs/KiB", 0.0, 100.0, 0.0, "transfer time from a die"),
    must("die_program_us", "µs", 0.0, 1e6, "time to program a chunk"),
    may("buffer_chunks", "", 1.0, 1e6, 64.0, "chunks that may wait for programming"),
    may(
        "batch_read_us",
        "µs",
        0.0,
        1e5,
        0.0,
        "cost of a driver's wake-up, shared by the requests in flight: reads",
    ),
    may("batch_write_us", "µs", 0.0, 1e5, 0.0, "the same, for writes"),
    may(
        "batch_groom",
        "",
        0.0,
        10.0,
        0.0,
        "extension of a write's wake-up by background garbage collection, × (amplification − 1)",
    ),
    may(
        "spin_us",
        "µs",
        0.0,
        1e4,
        0.0,
        "time that a driver polls before it sleeps; a request that ends sooner needs no wake-up",
    ),
    may(
        "batch_mix_us",
        "µs",
        0.0,
        1e5,
        0.0,
        "tail of a batch of reads and writes, × 4w(1−w), shared by the requests in flight",
    ),
    may("batch_mix_us_per_kib", "µs/KiB", 0.0, 1e3, 0.0, "the same, per size"),
    may(
        "collection_debt_us",
        "µs",
        0.0,
        1e7,
        20000.0,
        "garbage collection on the path that can be deferred to the tails of batches",
    ),
    may(
        "spare_gb",
        "GB",
        0.0,
        1e6,
        0.0,
        "flash beyond the user capacity, for garbage collection; with it the write amplification \
         depends on the area",
    ),
    may("cold_mixing", "", 0.0, 1.0, 0.0, "share of cold data that is moved with hot data"),
    may(
        "amplification",
        "",
        1.0,
        100.0,
        1.0,
        "without spare_gb: write amplification of random overwrites of a 32 GiB area",
    ),
    may("amplification_max", "", 1.0, 100.0, 12.0, "limit of the write amplification"),
    may(
        "collection_on_path",
        "",
        0.0,
        1.0,
        0.0,
        "share of garbage collection that uses the path (1: collected by the host's driver)",
    ),
    may(
        "groom",
        "",
        0.0,
        1.0,
        0.0,
        "slowdown of every access by background garbage collection, × (amplification − 1)",
    ),
    may("cache_gb", "GB", 0.0, 1e5, 0.0, "fast cache in front of slow flash; 0: none"),
    may(
        "cache_program_us",
        "µs",
        0.0,
        1e6,
        0.0,
        "time to program a chunk while the cache has space",
    ),
    may("watts_idle", "W", 0.0, 100.0, 8.0, "power at rest"),
    may("watts_write", "W", 0.0, 100.0, 0.0, "additional power at 1000 MiB/s of programming"),
    may("kelvin_per_watt", "K/W", 0.0, 50.0, 1.2, "thermal resistance to the air"),
    may("thermal_seconds", "s", 0.1, 1e5, 120.0, "thermal time constant"),
    may("ambient_c", "°C", -40.0, 120.0, 35.0, "temperature of the air at the drive"),
    may("limit_c", "°C", 0.0, 200.0, 71.0, "throttling keeps the drive below this"),
    may("throttle", "", 1.0, 100.0, 4.0, "slowdown of writes while throttled"),
];

/// Parameters of a disk.
pub(crate) const HDD: &[Parameter] = &[
    must("rpm", "1/min", 1000.0, 30000.0, "rotation"),
    must("media_mb_s", "MiB/s", 1.0, 2000.0, "transfer rate of the platters in the measured zone"),
    must("settle_us", "µs", 0.0, 1e5, "shortest seek"),
    must("seek_us_per_sqrt_track", "µs", 0.0, 1e4, "additional seek time, × √(tracks passed)"),
    may("write_settle_us", "µs", 0.0, 1e5, 0.0, "additional settling before a write"),
    must("queue", "", 1.0, 1024.0, "queue from which the nearest request is chosen"),
    may("command_us", "µs", 0.0, 1e4, 0.0, "electronics, per command"),
    must("hit_read_us", "µs", 0.0, 1e5, "minimum latency of a contiguous read (cache)"),
    must("hit_write_us", "µs", 0.0, 1e5, "minimum latency of a contiguous write (cache)"),
];

/// Parameters of servers with a known service time.
pub(crate) const SERVERS: &[Parameter] = &[
    must("service_us", "µs", 0.0, 1e9, "service time of a request, or its mean"),
    may("service_us_per_kib", "µs/KiB", 0.0, 1e6, 0.0, "additional time, per size"),
    may("write_factor", "", 0.001, 1000.0, 1.0, "service time of a write over that of a read"),
    may("delay_us", "µs", 0.0, 1e9, 0.0, "latency after the service, without queueing"),
    may("servers", "", 1.0, 4096.0, 1.0, "servers; 4096 never queue"),
    may("exponential", "", 0.0, 1.0, 0.0, "1: exponential distribution, 0: constant"),
];

/// Parameters of a cloud volume.
pub(crate) const VOLUME: &[Parameter] = &[
    must("latency_us", "µs", 0.0, 1e6, "latency below every limit"),
    may("latency_us_per_kib", "µs/KiB", 0.0, 1e4, 0.0, "additional time, per size"),
    may("write_factor", "", 0.001, 1000.0, 1.0, "latency of a write over that of a read"),
    must("io_per_s", "1/s", 1.0, 1e7, "provisioned IOPS"),
    must("burst_io_per_s", "1/s", 1.0, 1e7, "IOPS while credits last"),
    may(
        "credits",
        "",
        0.0,
        1e12,
        0.0,
        "initial and maximum number of I/Os above the provisioned rate",
    ),
    must("mb_s", "MiB/s", 1.0, 1e5, "provisioned throughput"),
    may("limits_apart", "", 0.0, 1.0, 0.0, "1: separate limits for reads and writes, 0: shared"),
];

/// Parameters of a host.
pub(crate) const HOST: &[Parameter] = &[
    must("ghz", "GHz", 0.1, 10.0, "clock at which the costs were determined"),
    must("read_us", "µs", 0.0, 1e4, "time of a process to complete one read and issue the next"),
    must("write_us", "µs", 0.0, 1e4, "the same, for a write"),
    may("us_per_kib", "µs/KiB", 0.0, 100.0, 0.0, "the same, per size"),
    may("write_us_per_kib", "µs/KiB", 0.0, 100.0, 0.0, "additional time for a write"),
    may(
        "thread_us_per_kib",
        "µs/KiB",
        0.0,
        100.0,
        0.0,
        "latency in a synchronous thread between two requests, per size",
    ),
    may(
        "shared_us",
        "µs",
        0.0,
        1e4,
        0.0,
        "time in the part of the kernel that all processes share, per physical request",
    ),
    may(
        "default_write_us",
        "µs",
        0.0,
        1e4,
        0.0,
        "additional cost of a write with the settings `default`",
    ),
    may(
        "equal_work",
        "",
        0.0,
        1e6,
        0.0,
        "requests by which a thread may be ahead of the slowest: each has the same work to do; 0: \
         any",
    ),
    may(
        "file_start_bytes",
        "B",
        0.0,
        1e9,
        0.0,
        "start of the measurement file within a RAID stripe",
    ),
];

/// Parameters of a volume layer over several drives.
pub(crate) const LAYER: &[Parameter] = &[
    must("stripe_kib", "KiB", 4.0, 65536.0, "consecutive data on one member"),
    may(
        "read_us_per_kib",
        "µs/KiB",
        0.0,
        1.0,
        0.0,
        "time of the layer's single queue for a read, per size",
    ),
    may("write_us_per_kib", "µs/KiB", 0.0, 1.0, 0.0, "the same, for a write"),
    may("request_us", "µs", 0.0, 1e4, 0.0, "the same, per request"),
];

/// The parameters of a kind; `None` if the kind does not exist.
pub fn parameters(kind: &str) -> Option<Vec<Parameter>> {
    let own = match kind {
        "ssd" => SSD,
        "hdd" => HDD,
        "servers" => SERVERS,
        "volume" => VOLUME,
        "host" => return Some(HOST.to_vec()),
        "layer" => return Some(LAYER.to_vec()),
        _ => return None,
    };
    Some(COMMON.iter().chain(own).copied().collect())
}

/// Names of the kinds of media.
pub(crate) const KINDS: [&str; 4] = ["ssd", "hdd", "servers", "volume"];

/// The values of one medium: complete and in range.
#[derive(Clone, Debug, PartialEq)]
pub struct Values(BTreeMap<&'static str, f64>);

impl Values {
    /// Checks names and ranges, and adds what has a default.
    pub(crate) fn complete(
        owner: &str,
        parameters: &[Parameter],
        given: &BTreeMap<String, f64>,
    ) -> Result<Self, MediaError> {
        for name in given.keys() {
            if !parameters.iter().any(|p| p.name == name) {
                let known = parameters.iter().map(|p| p.name);
                return Err(MediaError::unknown(format!("parameter of {owner}"), name, known));
            }
        }
        let mut values = BTreeMap::new();
        for parameter in parameters {
            let Some(value) = given.get(parameter.name).copied().or(parameter.default) else {
                return Err(MediaError::Description {
                    name: owner.to_owned(),
                    why: format!("`{}` is missing: {}", parameter.name, parameter.meaning),
                });
            };
            if !(parameter.low..=parameter.high).contains(&value) {
                return Err(MediaError::Range {
                    field: format!("{owner}: {}", parameter.name),
                    value: value.to_string(),
                    low: parameter.low,
                    high: parameter.high,
                    unit: parameter.unit.to_owned(),
                });
            }
            values.insert(parameter.name, value);
        }
        Ok(Self(values))
    }

    /// A value by name; 0 for a name that its kind does not have.
    pub fn get(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or(0.0)
    }

    /// All, in order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        self.0.iter().map(|(name, value)| (*name, *value))
    }
}
