//! Structured values of options.

use qdepth_workload::{CacheAdvice, IoFlag, Operation};

use super::number::{Base, size};

/// Maximum number of sizes in a mix.
const SIZES_MAX: usize = 64;
/// Largest block, bytes.
const BLOCK_MAX: u64 = u32::MAX as u64 - 1;
/// Maximum number of sizes in a range.
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
                // As in fio, there is no more than all of a file or device.
                if share >= 0.0 {
                    Ok(Self::Share(share.min(100.0)))
                } else {
                    Err("must not be negative".to_owned())
                }
            }
        }
    }

    /// Bytes on a target of `whole` bytes; `None` for a share of an unknown size.
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
    /// No discards.
    None,
    /// Every request is a discard.
    All,
    /// Every other request is a discard, followed by a write to the same offset.
    BeforeWrites,
}

/// Use of the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caching {
    /// True if it holds nothing of the job's files at the start of each pass.
    pub drops: bool,
    /// Advice to the kernel.
    pub advice: CacheAdvice,
    /// Flag of transfers.
    pub io_flag: IoFlag,
}

/// I/O engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// One request at a time (`sync`, `psync`, `pvsync` …).
    Synchronous,
    /// Copies from and to a mapping of the file (`mmap`).
    Mapped,
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
    /// True if it performs one request at a time.
    pub(super) fn is_synchronous(self) -> bool {
        matches!(self, Self::Synchronous | Self::Mapped)
    }

    /// True if its requests can have different priorities.
    pub(super) fn has_priorities(self) -> bool {
        matches!(
            self,
            Self::LinuxAio | Self::IoUring | Self::IoUringPolled | Self::IoUringKernelPolled
        )
    }

    pub(super) fn read(text: &str) -> Result<Self, String> {
        let near = match text {
            "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" => {
                return Ok(Self::Synchronous);
            }
            "mmap" => return Ok(Self::Mapped),
            "splice" | "falloc" | "ftruncate" | "filecreate" | "filestat" | "filedelete"
            | "dircreate" | "dirstat" | "dirdelete" => return Ok(Self::Synchronous),
            // As in fio, any name with this prefix.
            text if text.starts_with("linuxaio") || text.starts_with("aio") => {
                return Ok(Self::LinuxAio);
            }
            "libaio" => return Ok(Self::LinuxAio),
            "io_uring" => return Ok(Self::IoUring),
            "io_uring_cmd" => return Ok(Self::Passthrough),
            "posixaio" => return Ok(Self::Threads),
            // fio's example engine in C++ does nothing either.
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
        "windowsaio" | "solarisaio" => "; on Linux, use libaio or io_uring",
        "sg" | "guasi" | "zbc" | "xnvme" | "blkio" => "; use libaio on the same device instead",
        "nbd" => "; use libaio on the device of nbd-client instead",
        "rbd" | "rados" => "; use libaio on the device of `rbd map` instead",
        "iscsi" => "; use libaio on the device of `iscsiadm --login` instead",
        "pmem" | "pmemblk" | "dev" | "mtd" => "; use libaio on its block device instead",
        "nfs" | "hdfs" | "http" | "gfapi" | "gfapi_async" | "dfs" | "ime" | "cufile" => {
            "; mount it, and use libaio on a file there instead"
        }
        "net" | "netsplice" | "rdma" | "rpma" => "; it measures a network, not storage",
        "cpuio" | "exec" => "; it is not a storage load: run it separately, and remove its section",
        "e4defrag" => "; qdepth does not defragment files: remove its section",
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
    /// Uniform distribution.
    Uniform,
    /// Zipf distribution with this exponent.
    Zipf(f64),
    /// Pareto distribution with this power.
    Pareto(f64),
    /// Places in a fixed order.
    Sequence(Vec<u64>),
    /// Share of the accesses, per cent, and the part of the area for them, in order.
    Zones(Vec<(f64, Amount)>),
}

impl Distribution {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let (kind, argument) = text.split_once(':').unwrap_or((text, ""));
        if matches!(kind, "zoned" | "zoned_abs") {
            return zones(argument, kind == "zoned_abs").map(Self::Zones);
        }
        if kind == "sequence" {
            fn number_of_place(text: &str) -> Result<u64, &str> {
                text.trim().parse::<u32>().map(u64::from).map_err(|_| text)
            }
            let places: Result<Vec<u64>, &str> = argument.split(',').map(number_of_place).collect();
            return match places {
                Ok(places) => Ok(Self::Sequence(places)),
                Err(text) => Err(format!("`{text}` is not the number of a place")),
            };
        }
        let first = argument.split(':').next().unwrap_or("");
        match kind {
            "random" => Ok(Self::Uniform),
            "zipf" => {
                let theta = if first.is_empty() { 1.1 } else { number(first)? };
                if !(0.0..10.0).contains(&theta) || (theta - 1.0).abs() < 1e-9 || theta == 0.0 {
                    return Err("the exponent must be above 0 and below 10, and not 1".to_owned());
                }
                Ok(Self::Zipf(theta))
            }
            "pareto" => {
                let power = if first.is_empty() { 0.2 } else { number(first)? };
                if !(power > 0.0 && power < 1.0) {
                    return Err("the power must be above 0 and below 1".to_owned());
                }
                Ok(Self::Pareto(power))
            }
            "normal" => {
                let deviation = number(first).unwrap_or(0.0);
                if !(deviation > 0.0 && deviation <= 100.0) {
                    return Err("the deviation must be above 0 and at most 100".to_owned());
                }
                Ok(Self::Zones(normal(deviation)))
            }
            _ => {
                Err("must be random, zipf, pareto, normal, sequence, zoned or zoned_abs".to_owned())
            }
        }
    }
}

/// Normal distribution around the middle of the area, as zones of equal length. `deviation` is in
/// per cent of the area; values outside the area are redrawn.
fn normal(deviation: f64) -> Vec<(f64, Amount)> {
    const ZONES: u32 = 128;
    let width = 100.0 / f64::from(ZONES);
    let middle = |zone: u32| (f64::from(zone) + 0.5) * width - 50.0;
    let weight = |zone: u32| (-0.5 * (middle(zone) / deviation).powi(2)).exp();
    let total: f64 = (0..ZONES).map(weight).sum();
    (0..ZONES).map(|zone| (weight(zone) / total * 100.0, Amount::Share(width))).collect()
}

/// Parses `50/5:30/15:20/80`: shares of accesses and area; a missing last area is the rest.
fn zones(text: &str, in_bytes: bool) -> Result<Vec<(f64, Amount)>, String> {
    if text.contains(',') {
        return Err("refused: reads and writes cannot have different zones".to_owned());
    }
    let mut zones = Vec::new();
    let mut rest = 100.0;
    for part in text.split(':').filter(|part| !part.is_empty()) {
        let (access, area) = part.split_once('/').unwrap_or((part, ""));
        let area = match area.trim() {
            "" if in_bytes => {
                return Err(format!("`{part}`: a zone needs a size, for example 50/10g"));
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
        Err("needs at least one zone, for example zoned:60/10:40/90".to_owned())
    } else {
        Ok(zones)
    }
}

/// Request sizes of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    /// Sizes with weights; only those of reads if `writes` is set.
    pub parts: Vec<SizePart>,
    /// Alignment of random accesses, bytes.
    pub alignment: u64,
    /// Sizes and alignment of the writes of a mix, if different.
    pub writes: Option<(Vec<SizePart>, u64)>,
}

impl Sizes {
    /// The size, if there is only one.
    pub(super) fn single(&self) -> Option<u64> {
        match (self.parts.as_slice(), &self.writes) {
            ([only], None) => Some(only.bytes),
            _ => None,
        }
    }
    /// Aligns random accesses so that they keep the gaps of sequential ones.
    pub(super) fn align_to_gap(&mut self, gap: u64, is_backwards: bool) {
        if gap > 0 || is_backwards {
            self.alignment = self.smallest() + gap;
        }
    }
    /// Mean size, bytes; `None` if reads and writes have their own.
    pub(super) fn mean(&self) -> Option<f64> {
        let weight: f64 = self.parts.iter().map(|part| f64::from(part.weight)).sum();
        let bytes = self.parts.iter().map(|part| part.bytes as f64 * f64::from(part.weight));
        self.writes.is_none().then(|| bytes.sum::<f64>() / weight)
    }
    /// Smallest size, bytes.
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

/// A share of all, per cent.
pub(super) fn percentage(text: &str) -> Result<f64, String> {
    let share = number(text)?;
    let good = (0.0..=100.0).contains(&share);
    good.then_some(share).ok_or_else(|| "must be between 0 and 100".to_owned())
}

/// Splits a list at colons; `\:` is a literal colon.
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

/// One value for reads, writes and trims, or one for each; the last one also applies to the
/// following ones.
pub(super) fn by_direction<T>(
    text: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<[T; 3], String> {
    let (reads, rest) = text.split_once(',').unwrap_or((text, text));
    let (writes, trims) = rest.split_once(',').unwrap_or((rest, rest));
    Ok([parse(reads.trim())?, parse(writes.trim())?, parse(trims.trim())?])
}

/// Sizes of `bs`, `bsrange` or `bssplit` for reads, for writes and for trims.
pub(super) fn sizes(option: &str, text: &str, base: Base) -> Result<[Vec<SizePart>; 3], String> {
    // As in fio, `bs=4k-64k` is not a range: 4 KiB for reads, 64 KiB for writes.
    let ends_part = |letter: char| letter == ',' || (option == "bs" && letter == '-');
    let parts: Vec<&str> = text.split(ends_part).map(str::trim).collect();
    let reads = parts[0];
    // The last one also applies to the following directions.
    let writes = parts.get(1).copied().unwrap_or(reads);
    let trims = parts.get(2).copied().unwrap_or(writes);
    let parts = |text: &str| match option {
        // An empty value is fio's default size.
        "bs" | "bssplit" if text.is_empty() => Ok(vec![SizePart { bytes: 4096, weight: 1 }]),
        "bssplit" => split(text, base),
        "bsrange" => range(text, base),
        _ => Ok(vec![SizePart { bytes: size(text, base)?, weight: 1 }]),
    };
    let all = [parts(reads)?, parts(writes)?, parts(trims)?];
    if all.iter().flatten().any(|part| part.bytes == 0 || part.bytes > BLOCK_MAX) {
        return Err("the block size must be at least 1 byte and less than 4 GiB".to_owned());
    }
    Ok(all)
}

/// Parses `low-high`: all multiples of the lower size with equal weights.
fn range(text: &str, base: Base) -> Result<Vec<SizePart>, String> {
    let (low, high) = text.split_once('-').ok_or("use a range such as 4k-64k")?;
    let (low, high) = (size(low, base)?, size(high, base)?);
    let count = high.checked_div(low).filter(|count| *count > 0);
    let count = count.ok_or("the lower size must be above 0 and not above the higher")?;
    if count > RANGE_MAX {
        return Err(format!("refused: {count} different sizes; at most {RANGE_MAX} are allowed"));
    }
    Ok((1..=count).map(|times| SizePart { bytes: low * times, weight: 1 }).collect())
}

/// Parses `4k/50:8k/50`; sizes without a share split the rest equally. As in fio, shares are cut at
/// 100 in all, and the last size gets the share that is missing.
fn split(text: &str, base: Base) -> Result<Vec<SizePart>, String> {
    let mut list = Vec::new();
    for part in text.split(':').map(str::trim).filter(|part| !part.is_empty()) {
        let (bytes, share) = part.split_once('/').unwrap_or((part, ""));
        // As in fio, a range counts as its start.
        let bytes = bytes.split('-').next().unwrap_or(bytes);
        list.push((size(bytes, base)?, share_of(share)?));
        if list.len() > SIZES_MAX {
            return Err(format!("at most {SIZES_MAX} sizes are allowed"));
        }
    }
    let mut left = 100;
    for (_, share) in &mut list {
        *share = share.map(|share| share.min(left));
        left -= share.unwrap_or(0);
    }
    let open = list.iter().filter(|(_, share)| share.is_none()).count() as u32;
    if let (0, Some((_, Some(last)))) = (open, list.last_mut()) {
        *last += left;
    }
    // Weights in 1/100 % divided by the number of sizes without a share, so that equal shares stay
    // equal.
    let weight = |share: Option<u32>| share.map_or(left, |share| share * open.max(1));
    let parts =
        list.iter().map(|(bytes, share)| SizePart { bytes: *bytes, weight: weight(*share) });
    Ok(parts.filter(|part| part.weight > 0).collect())
}

/// Share of a size, per cent: as in fio, the number at the start of the text, `None` if there is
/// none.
fn share_of(text: &str) -> Result<Option<u32>, String> {
    let text = text.trim();
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    match text[..end].parse() {
        _ if end == 0 => Ok(None),
        Ok(share @ 0..=100) => Ok(Some(share)),
        _ => Err(format!("`{text}`: a share must be between 0 and 100")),
    }
}
