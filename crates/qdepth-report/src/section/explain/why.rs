//! Bottleneck of a load at its largest value, as far as the figures support it: the connection, the
//! most utilised part in the model of an emulated device, or else Little's law. A value without an
//! interval supports none.

use qdepth_measure::Code;
use qdepth_record::TargetRecord;

use crate::number::MIB;
use crate::section::promised::link_limit;
use crate::section::sweep::statements::{self, Tail};
use crate::view::{Load, Point, View};

/// Utilisation of a part, or of a connection, from which it is the limit.
const LIMITING_SHARE: f64 = 0.9;
/// Largest share of the own time of an I/O in its latency, if waiting is the limit.
const OWN: f64 = 0.5;
/// Largest relative distance between the ends of the interval for the number of I/Os served at a
/// time.
const KNOWN: f64 = 0.1;

/// Bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cause {
    /// The load generator was short of CPU time.
    Generator,
    /// The connection, with the least share in use.
    Connection(f64),
    /// A part of an emulated computer or device, with the least share of the time that it is busy.
    Resource(Resource, f64),
    /// Parallelism of the device: the number of I/Os served at a time; the others wait.
    Servers(f64),
    /// The latency of a single I/O: none waits for another.
    Latency,
}

/// Part of an emulation that a load can saturate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// The process that issues and completes I/Os.
    Process,
    /// The controller, which handles each command.
    Controller,
    /// The data path within the device.
    Path,
    /// The rate or throughput for which a volume is provisioned.
    Provisioned,
}

impl Cause {
    /// Selects the wording: causes of one kind are described together.
    pub(crate) fn kind(self) -> usize {
        match self {
            Self::Generator => 0,
            Self::Connection(_) => 1,
            Self::Resource(Resource::Process, _) => 2,
            Self::Resource(Resource::Controller, _) => 3,
            Self::Resource(Resource::Path, _) => 4,
            Self::Resource(Resource::Provisioned, _) => 5,
            Self::Servers(_) => 6,
            Self::Latency => 7,
        }
    }

    /// The figure that belongs to the cause.
    pub(crate) fn figure(self) -> f64 {
        match self {
            Self::Connection(figure) | Self::Resource(_, figure) | Self::Servers(figure) => figure,
            Self::Generator | Self::Latency => 0.0,
        }
    }
}

/// Bottleneck of the load on the target; `None` if the figures do not show one.
pub(crate) fn cause(view: &View<'_>, load: &Load<'_>, target: u32) -> Option<Cause> {
    let top = load.maximum(target)?;
    if top.record.findings.iter().any(|finding| finding.code == Code::GeneratorCpu) {
        return Some(Cause::Generator);
    }
    let Column { storage, drives, processes } = column(view, target)?;
    let (low, _) = top.summary.io_per_s.interval?;
    let each = low / drives;
    let taken = connection(top, storage, each).into_iter();
    let taken = taken.chain(parts(top, storage, each, processes));
    let most = taken.reduce(|most, next| if next.figure() > most.figure() { next } else { most });
    most.filter(|cause| cause.figure() >= LIMITING_SHARE)
        .or_else(|| by_littles_law(load, target, top))
}

/// Storage of a curve: a drive, the number of identical drives that share its rate, and their
/// processes.
struct Column<'a> {
    storage: &'a TargetRecord,
    drives: f64,
    processes: f64,
}

/// The drive of a target, or the drives of a column of a comparison. `None` for arrays and for
/// drives that differ, because no part is known that all I/Os pass.
fn column<'a>(view: &View<'a>, target: u32) -> Option<Column<'a>> {
    let known = |index: u32| view.run.target(index);
    let Some(compared) = view.compared else {
        return Some(Column { storage: known(target)?, drives: 1.0, processes: 1.0 });
    };
    let variant = compared.record.variants.get(target as usize)?;
    let (storage, parts) = (known(variant.target)?, variant.parts);
    if variant.times != 1 {
        return None;
    }
    if compared.record.of == "processes" {
        return Some(Column { storage, drives: 1.0, processes: f64::from(parts) });
    }
    let mut others = (variant.target..variant.target.saturating_add(parts)).map(known);
    let alike = others.all(|other| other.is_some_and(|other| is_like(storage, other)));
    alike.then_some(Column { storage, drives: f64::from(parts.max(1)), processes: 1.0 })
}

/// True if two drives are of the same model and have equal connections.
fn is_like(target: &TargetRecord, other: &TargetRecord) -> bool {
    let model = |drive: &TargetRecord| {
        let mut facts =
            drive.facts.iter().filter(|fact| fact.key == "model" || fact.key == "product");
        facts.find_map(|fact| fact.value.clone().ok())
    };
    target.index == other.index
        || model(target).is_some()
            && model(target) == model(other)
            && link_limit(target) == link_limit(other)
}

/// The connection, with its utilisation in the busier direction.
fn connection(top: &Point<'_>, storage: &TargetRecord, io_per_s: f64) -> Option<Cause> {
    let record = top.record;
    // Discards transfer no data over a connection.
    let one_way = record.read_share.max(record.write_share());
    let mib_per_s = io_per_s * one_way * record.block_size_mean_bytes / MIB;
    Some(Cause::Connection(mib_per_s / link_limit(storage)?))
}

/// The parts of an emulated solid-state drive, each with the least share of the time that it is
/// busy, or the limits of an emulated volume with the least share in use.
fn parts(top: &Point<'_>, storage: &TargetRecord, io_per_s: f64, processes: f64) -> Vec<Cause> {
    if top.record.trim_share > 0.0 {
        return Vec::new();
    }
    let alone = !storage.expression.contains(['(', '*', ',']);
    // Computer and device have parameters with the same names.
    let fact = |of_computer: bool, key: &str| {
        // An array's parts share its I/Os, but all I/Os pass the one computer.
        let mut all = storage.facts.iter().filter(|_| of_computer || alone);
        let of_key = all.find(|fact| (fact.subject == "host") == of_computer && fact.key == key);
        of_key?.value.as_ref().ok()?.split(' ').next()?.parse::<f64>().ok()
    };
    let number = |key: &str| fact(false, key);
    let of_computer = |key: &str| fact(true, key);
    let record = top.record;
    let (kib, reads) = (record.block_size_mean_bytes / 1024.0, record.read_share);
    let process = || {
        let each = reads * of_computer("read_us")? + (1.0 - reads) * of_computer("write_us")?;
        Some(
            (each + kib * of_computer("us_per_kib")?)
                / (processes * f64::from(record.streams.max(1))),
        )
    };
    let controller = || number("command_us");
    let path = || {
        let gathered = if kib > number("die_chunk_kib")? { number("path_gather_us")? } else { 0.0 };
        let random = number("path_random_read_us_per_kib")? * record.random_share;
        let read = kib * (number("path_read_us_per_kib")? + random) + gathered;
        let write = kib * number("path_write_us_per_kib")?;
        let loss = number("path_mix_loss")? * 4.0 * reads * (1.0 - reads);
        let data = (reads * read + (1.0 - reads) * write) * (1.0 + loss);
        Some(number("path_command_us")? + data)
    };
    let provisioned = || {
        // With credits, the limit changes within a point.
        let rate = number("io_per_s").filter(|rate| number("burst_io_per_s") <= Some(*rate))?;
        let each = (1e6 / rate).max(kib / 1024.0 * 1e6 / number("mb_s")?);
        // Separate limits for reads and writes.
        let is_apart = number("limits_apart").is_some_and(|apart| apart >= 0.5);
        Some(if is_apart { each * reads.max(1.0 - reads) } else { each })
    };
    let all = [
        (Resource::Process, process()),
        (Resource::Controller, controller()),
        (Resource::Path, path()),
        (Resource::Provisioned, provisioned()),
    ];
    // The mix and the randomness of a load are averages over many requests, so a full utilisation
    // is reached only approximately.
    let busy = |us: f64| (io_per_s * us / 1e6).min(1.0);
    all.into_iter()
        .filter_map(|(resource, us)| Some(Cause::Resource(resource, busy(us?))))
        .collect()
}

/// Number of I/Os served at a time, if they wait for each other: the ratio of the rate to that of a
/// single I/O.
fn by_littles_law(load: &Load<'_>, target: u32, top: &Point<'_>) -> Option<Cause> {
    let queue_depth = f64::from(top.record.queue_depth);
    if load.is_open_loop() || queue_depth <= 1.0 {
        return None;
    }
    let alone = load.at(target, 1)?;
    let (alone, most) = (&alone.summary.io_per_s, &top.summary.io_per_s);
    let ((one_low, one_high), (low, high)) = (alone.interval?, most.interval?);
    let (fewest, most) = (low / one_high, high / one_low);
    let served = top.summary.io_per_s.value / alone.value;
    // The largest value must lie where higher queue depths gave no more, or at the end of the
    // curve.
    let line = statements::line(load, target);
    let is_last = line.last()?.queue_depth == top.record.queue_depth;
    // Little's law explains a rate that stays, not one that falls.
    if statements::line_statements(&line).is_some_and(|line| matches!(line.tail, Tail::Drops)) {
        return None;
    }
    if fewest >= LIMITING_SHARE * queue_depth && is_last {
        Some(Cause::Latency)
    } else if most <= OWN * queue_depth && most - fewest <= KNOWN * served {
        Some(Cause::Servers(served))
    } else {
        None
    }
}
