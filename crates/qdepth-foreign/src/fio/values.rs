//! Values of options that are more than a number.

use qdepth_workload::Operation;

use super::number::{Base, size};

/// Most sizes in a mix.
const SIZES_MAX: usize = 64;
/// Most sizes that a range has.
const RANGE_MAX: u64 = 4096;

/// A number of bytes, or a share of the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Bytes.
    Bytes(u64),
    /// Per cent.
    Share(f64),
}

impl Amount {
    pub(super) fn read(text: &str, base: Base) -> Result<Self, String> {
        match text.trim().strip_suffix('%') {
            None => size(text, base).map(Self::Bytes),
            Some(share) => {
                let share = number(share.trim_end_matches('%'))?;
                if (0.0..=100.0).contains(&share) {
                    Ok(Self::Share(share))
                } else {
                    Err("must be 0% to 100%".to_owned())
                }
            }
        }
    }

    /// Bytes, of a target of `whole` bytes; `None` if a share is asked of an unknown one.
    pub fn bytes(self, whole: Option<u64>) -> Option<u64> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Share(share) => whole.map(|whole| (whole as f64 * share / 100.0) as u64),
        }
    }
}

/// Discards of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trims {
    /// Nothing.
    None,
    /// With every request.
    All,
    /// With every other: the next one writes the same place.
    BeforeWrites,
}

/// I/O engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// One request at a time (`sync`, `psync`, `pvsync` …).
    Synchronous,
    /// `libaio`.
    LinuxAio,
    /// `io_uring`.
    IoUring,
    /// `io_uring` with `hipri`.
    IoUringPolled,
    /// `io_uring` with `sqthread_poll`.
    IoUringKernelPolled,
    /// `io_uring_cmd`.
    Passthrough,
    /// `io_uring_cmd` with `hipri`.
    PassthroughPolled,
    /// Asynchronous, in threads (`posixaio`).
    Threads,
    /// Nothing is done (`null`).
    Null,
}

impl Engine {
    /// True if its requests can have different priorities.
    pub(super) fn has_priorities(self) -> bool {
        matches!(
            self,
            Self::LinuxAio | Self::IoUring | Self::IoUringPolled | Self::IoUringKernelPolled
        )
    }

    pub(super) fn read(text: &str) -> Result<Self, String> {
        let near = match text {
            "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" | "mmap" => {
                return Ok(Self::Synchronous);
            }
            "splice" | "falloc" | "ftruncate" | "filecreate" | "filestat" | "filedelete"
            | "dircreate" | "dirstat" | "dirdelete" => return Ok(Self::Synchronous),
            // As fio: whatever begins so.
            text if text.starts_with("linuxaio") || text.starts_with("aio") => {
                return Ok(Self::LinuxAio);
            }
            "libaio" => return Ok(Self::LinuxAio),
            "io_uring" => return Ok(Self::IoUring),
            "io_uring_cmd" => return Ok(Self::Passthrough),
            "posixaio" => return Ok(Self::Threads),
            // The example of an engine in C++ does nothing either.
            "null" | "cpp_null" => return Ok(Self::Null),
            other => near(other),
        };
        Err(format!(
            "refused: qdepth has libaio, io_uring, io_uring_cmd, posixaio, null and the \
             synchronous engines (sync, psync, vsync, pvsync, pvsync2, mmap, splice, falloc, \
             ftruncate, file… and dir…){near}"
        ))
    }
}

/// Suggestion for an unsupported engine.
fn near(engine: &str) -> &'static str {
    let library = engine.trim_start_matches("lib").split(['_', '-']).next().unwrap_or("");
    match library {
        "windowsaio" | "solarisaio" => "; libaio or io_uring is the same on Linux",
        "sg" | "guasi" | "zbc" | "xnvme" | "blkio" => "; libaio on the same device is near",
        "nbd" => "; libaio on the device of nbd-client is near",
        "rbd" | "rados" => "; libaio on the device of `rbd map` is near",
        "iscsi" => "; libaio on the device of `iscsiadm --login` is near",
        "pmem" | "pmemblk" | "dev" | "mtd" => "; libaio on its block device is near",
        "nfs" | "hdfs" | "http" | "gfapi" | "gfapi_async" | "dfs" | "ime" | "cufile" => {
            "; libaio on a file, where it is mounted, is near"
        }
        "net" | "netsplice" | "rdma" | "rpma" => "; it measures a network, and no storage",
        "cpuio" | "exec" => "; it is not a storage load: run it separately, and remove its section",
        "e4defrag" => "; no file is defragmented: leave its section out",
        _ => "",
    }
}

/// Operation of an engine's requests, by its name, if they transfer no data.
pub(super) fn operation(engine: &str) -> Operation {
    match engine {
        "falloc" => Operation::Reserve,
        "ftruncate" => Operation::Truncate,
        "filecreate" => Operation::MakeFiles,
        "filestat" => Operation::StatFiles,
        "filedelete" => Operation::RemoveFiles,
        "dircreate" => Operation::MakeDirectories,
        "dirstat" => Operation::StatDirectories,
        "dirdelete" => Operation::RemoveDirectories,
        _ => Operation::Transfer,
    }
}

/// Distribution of random requests.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Each place alike.
    Uniform,
    /// Zipf's law with this exponent.
    Zipf(f64),
    /// Pareto's law with this power.
    Pareto(f64),
    /// Per cent of the accesses, and the part of the area that they go to, in order.
    Zones(Vec<(f64, Amount)>),
}

impl Distribution {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let (kind, argument) = text.split_once(':').unwrap_or((text, ""));
        if matches!(kind, "zoned" | "zoned_abs") {
            return zones(argument, kind == "zoned_abs").map(Self::Zones);
        }
        let first = argument.split(':').next().unwrap_or("");
        match kind {
            "random" => Ok(Self::Uniform),
            "zipf" => {
                let theta = if first.is_empty() { 1.1 } else { number(first)? };
                if !(0.0..10.0).contains(&theta) || (theta - 1.0).abs() < 1e-9 || theta == 0.0 {
                    return Err("the exponent is above 0, below 10 and not 1".to_owned());
                }
                Ok(Self::Zipf(theta))
            }
            "pareto" => {
                let power = if first.is_empty() { 0.2 } else { number(first)? };
                if !(power > 0.0 && power < 1.0) {
                    return Err("the power is above 0 and below 1".to_owned());
                }
                Ok(Self::Pareto(power))
            }
            "normal" => {
                let deviation = number(first).unwrap_or(0.0);
                if !(deviation > 0.0 && deviation <= 100.0) {
                    return Err("the deviation is above 0 and up to 100".to_owned());
                }
                Ok(Self::Zones(normal(deviation)))
            }
            _ => Err("must be random, zipf, pareto, normal, zoned or zoned_abs".to_owned()),
        }
    }
}

/// A normal distribution around the middle of the area as zones of equal length; `deviation` is per
/// cent of the area. What falls beyond the area is drawn again.
fn normal(deviation: f64) -> Vec<(f64, Amount)> {
    const ZONES: u32 = 128;
    let width = 100.0 / f64::from(ZONES);
    let middle = |zone: u32| (f64::from(zone) + 0.5) * width - 50.0;
    let weight = |zone: u32| (-0.5 * (middle(zone) / deviation).powi(2)).exp();
    let total: f64 = (0..ZONES).map(weight).sum();
    (0..ZONES).map(|zone| (weight(zone) / total * 100.0, Amount::Share(width))).collect()
}

/// `50/5:30/15:20/80`: accesses and area; where the last area is left out it is the rest.
fn zones(text: &str, in_bytes: bool) -> Result<Vec<(f64, Amount)>, String> {
    if text.contains(',') {
        return Err("refused: zones of their own for reads and writes".to_owned());
    }
    let mut zones = Vec::new();
    let mut rest = 100.0;
    for part in text.split(':').filter(|part| !part.is_empty()) {
        let (access, area) = part.split_once('/').unwrap_or((part, ""));
        let area = match area.trim() {
            "" if in_bytes => {
                return Err(format!("`{part}`: a zone has a size, for example 50/10g"));
            }
            "" => Amount::Share(rest),
            area if in_bytes => Amount::Bytes(size(area, Base::default())?),
            area => Amount::Share(number(area)?),
        };
        if let Amount::Share(share) = area {
            rest -= share;
        }
        zones.push((number(access)?, area));
    }
    if zones.is_empty() {
        Err("at least one zone, as zoned:60/10:40/90".to_owned())
    } else {
        Ok(zones)
    }
}

/// Request sizes of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    /// With weights; of reads alone where writes have their own.
    pub parts: Vec<SizePart>,
    /// Random accesses begin at whole multiples of this many bytes.
    pub alignment: u64,
    /// The same of the writes of a mix, where it is another.
    pub writes: Option<(Vec<SizePart>, u64)>,
}

impl Sizes {
    /// The only size, where there is one.
    pub(super) fn single(&self) -> Option<u64> {
        match (self.parts.as_slice(), &self.writes) {
            ([only], None) => Some(only.bytes),
            _ => None,
        }
    }
    /// The smallest.
    pub fn smallest(&self) -> u64 {
        let writes = self.writes.iter().flat_map(|(parts, _)| parts);
        self.parts.iter().chain(writes).map(|part| part.bytes).min().unwrap_or(4096)
    }
    /// Block sizes of writes, like [`parts`](Self::parts) for reads.
    pub(super) fn of_writes(&self) -> &[SizePart] {
        self.writes.as_ref().map_or(&self.parts, |(parts, _)| parts)
    }
}

/// One size of a mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizePart {
    /// Bytes.
    pub bytes: u64,
    /// Its weight.
    pub weight: u32,
}

/// A finite number.
pub(super) fn number(text: &str) -> Result<f64, String> {
    let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    value.ok_or_else(|| format!("`{text}` is not a number"))
}

/// A list with colons between; `\:` is a colon.
pub(super) fn texts(text: &str) -> Vec<String> {
    let mut list = vec![String::new()];
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let last = list.len() - 1;
        match letter {
            ':' => list.push(String::new()),
            '\\' => list[last].extend(letters.next()),
            other => list[last].push(other),
        }
    }
    list.retain(|name| !name.is_empty());
    list
}

/// One figure for reads, writes and trims, or one for each; the last that is written goes on.
pub(super) fn by_way<T>(
    text: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<[T; 3], String> {
    let (reads, rest) = text.split_once(',').unwrap_or((text, text));
    let (writes, trims) = rest.split_once(',').unwrap_or((rest, rest));
    Ok([parse(reads.trim())?, parse(writes.trim())?, parse(trims.trim())?])
}

/// Sizes of `bs`, `bsrange` or `bssplit` for reads, for writes and for trims.
pub(super) fn sizes(option: &str, text: &str, base: Base) -> Result<[Vec<SizePart>; 3], String> {
    // As fio reads it, `bs=4k-64k` is no range: 4 KiB for reads, 64 KiB for writes.
    let ends_part = |letter: char| letter == ',' || (option == "bs" && letter == '-');
    let parts: Vec<&str> = text.split(ends_part).map(str::trim).collect();
    let reads = parts[0];
    // The last that is written goes on for the directions behind it.
    let writes = parts.get(1).copied().unwrap_or(reads);
    let trims = parts.get(2).copied().unwrap_or(writes);
    let parts = |text: &str| match option {
        // Which has none of its own has fio's usual size.
        "bs" | "bssplit" if text.is_empty() => Ok(vec![SizePart { bytes: 4096, weight: 1 }]),
        "bssplit" => split(text, base),
        "bsrange" => range(text, base),
        _ if text.is_empty() => Ok(vec![SizePart { bytes: 4096, weight: 1 }]),
        _ => Ok(vec![SizePart { bytes: size(text, base)?, weight: 1 }]),
    };
    let all = [parts(reads)?, parts(writes)?, parts(trims)?];
    if all.iter().flatten().any(|part| part.bytes == 0 || part.bytes > 1 << 30) {
        return Err("a request has 1 byte to 1 GiB".to_owned());
    }
    Ok(all)
}

/// `low-high`: multiples of the lower size are drawn alike.
fn range(text: &str, base: Base) -> Result<Vec<SizePart>, String> {
    let (low, high) = text.split_once('-').ok_or("a range is written 4k-64k")?;
    let (low, high) = (size(low, base)?, size(high, base)?);
    let count = high.checked_div(low).filter(|count| *count > 0);
    let count = count.ok_or("the lower size is above 0 and not above the higher")?;
    if count > RANGE_MAX {
        return Err(format!("refused: {count} different sizes; at most {RANGE_MAX} are allowed"));
    }
    Ok((1..=count).map(|times| SizePart { bytes: low * times, weight: 1 }).collect())
}

/// `4k/50:8k/50`; sizes without a share take equal parts of what is left.
fn split(text: &str, base: Base) -> Result<Vec<SizePart>, String> {
    let mut list = Vec::new();
    for part in text.split(':') {
        let (bytes, share) = part.split_once('/').unwrap_or((part, ""));
        let share = match share.trim() {
            "" => None,
            text => Some(text.parse::<u32>().map_err(|_| format!("`{text}` is not a share"))?),
        };
        list.push((size(bytes, base)?, share));
        if list.len() > SIZES_MAX {
            return Err(format!("at most {SIZES_MAX} sizes"));
        }
    }
    let stated: u64 = list.iter().filter_map(|(_, share)| *share).map(u64::from).sum();
    let open = list.iter().filter(|(_, share)| share.is_none()).count() as u64;
    if stated > 100 || (open == 0 && stated != 100) {
        return Err(format!("the shares add up to {stated}, and not to 100"));
    }
    // In hundredths of a per cent over the number of open ones, so that equal parts stay equal.
    let scale = open.max(1);
    let weight = |share: Option<u32>| match share {
        Some(share) => u64::from(share) * scale,
        None => 100 - stated,
    };
    let parts = list.iter().map(|(bytes, share)| (*bytes, weight(*share)));
    Ok(parts
        .filter(|(_, weight)| *weight > 0)
        .map(|(bytes, weight)| SizePart { bytes, weight: weight as u32 })
        .collect())
}
