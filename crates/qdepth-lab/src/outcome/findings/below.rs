//! Findings about layers between the target and its device.

use std::os::fd::OwnedFd;

use qdepth_host::below::{Cached, IoLimit, cached_below, file_below, io_limits};
use qdepth_host::extents::{Less, less_below, less_in_image, unwritten_share};
use qdepth_host::served::is_served_kind;
use qdepth_host::target::Kind;
use qdepth_measure::{Code, Finding, label};
use qdepth_record::PointRecord;
use qdepth_workload::Extent;

use super::point_seen::PointSeen;
use crate::target::prepare::Real;

/// Share of a limit from which a rate counts as limited by it.
const LIMITED: f64 = 0.8;

pub(super) fn findings(seen: &PointSeen<'_>, record: &PointRecord) -> Vec<Finding> {
    let Some(real) = seen.prepared.real() else { return Vec::new() };
    // A target that does not answer I/Os would not answer questions about its file either.
    let answers = seen.measured.outcome.abandoned == 0;
    let cached = answers.then(|| cached_below(seen.system, &real.inspected)).flatten();
    let cached = cached.map(|cached| {
        let (why, device) = match cached {
            Cached::Memory(name) => (label::IN_MEMORY, name),
            Cached::Loop(name) => (label::LOOP_WITHOUT_DIRECT_IO, name),
        };
        Finding::invalid(Code::CachedBelow).label("why", why).label("device", device)
    });
    let share = unwritten(seen, real).filter(|share| *share > 0.0);
    let unwritten =
        share.map(|share| Finding::invalid(Code::UnwrittenRead).value("unwritten_share", share));
    let less = less(seen, real).map(|why| Finding::invalid(Code::CachedBelow).label("why", why));
    // One cause is enough.
    let cached = cached.or(less);
    let all = cached.into_iter().chain(unwritten).chain(limited(seen, real, record));
    all.chain(served(real)).collect()
}

/// Finding for a served file system: the caches of its server cannot be seen from here.
fn served(real: &Real) -> Option<Finding> {
    let (Kind::RegularFile { file_system, .. } | Kind::Directory(file_system)) =
        &real.inspected.kind
    else {
        return None;
    };
    let kind = Some(&file_system.kind).filter(|kind| is_served_kind(kind))?;
    Some(Finding::remark(Code::ServedBelow).label("file_system", kind))
}

/// Share of the point's area that was never written, now or before the point wrote it; the larger
/// one.
fn unwritten(seen: &PointSeen<'_>, real: &Real) -> Option<f64> {
    let share = |area: Extent| {
        let (file, offset) = storing_file(seen, real, area)?;
        unwritten_share(file, offset, area.length_bytes)
    };
    // A target that does not answer I/Os would not answer this call either.
    if seen.measured.outcome.abandoned > 0 {
        return None;
    }
    let whole = share(seen.prepared.shape.usable);
    let before = real.unwritten.replace(whole);
    let filled = before.zip(whole).filter(|(before, now)| before > now).map(|(before, _)| before);
    let reads = seen.point.read_share > 0.0;
    let now = if reads { share(seen.point.area) } else { None };
    now.into_iter().chain(filled).reduce(f64::max)
}

/// The file that stores an area, and the position of the area in it: the target, or the file behind
/// a loop device.
fn storing_file(seen: &PointSeen<'_>, real: &Real, area: Extent) -> Option<(OwnedFd, u64)> {
    if real.inspected.block_device().is_some() {
        return file_below(seen.system, &real.device()?, area.offset_bytes);
    }
    Some((real.claim()?.file.try_clone().ok()?, area.offset_bytes))
}

/// Reason why not all reads of a file reach the device below.
fn less(seen: &PointSeen<'_>, real: &Real) -> Option<&'static str> {
    let is_asked = seen.point.read_share > 0.0 && seen.measured.outcome.abandoned == 0;
    let length = seen.point.area.length_bytes;
    let (file, offset) = storing_file(seen, real, seen.point.area).filter(|_| is_asked)?;
    let in_image = || {
        let (image, start) = image_below(seen, real)?;
        less_in_image(&file, offset, length, image, start)
    };
    less_below(&file, offset, length).or_else(in_image).map(|less| match less {
        Less::SharedExtents => label::SHARED_EXTENTS,
        Less::Compressed => label::COMPRESSED,
    })
}

/// The file behind the file system of a file, and the start of the file system in it. `None` for
/// file systems whose extents are not positions on one device.
fn image_below(seen: &PointSeen<'_>, real: &Real) -> Option<(OwnedFd, u64)> {
    let Kind::RegularFile { file_system, .. } = &real.inspected.kind else { return None };
    let is_direct = matches!(file_system.storing.as_str(), "ext2" | "ext3" | "ext4" | "xfs");
    match &file_system.devices[..] {
        [device] if is_direct => file_below(seen.system, device, 0),
        _ => None,
    }
}

/// Finding if the rate came near a limit of a control group.
fn limited(seen: &PointSeen<'_>, real: &Real, record: &PointRecord) -> Option<Finding> {
    let seconds = record.duration_ns as f64 / 1e9;
    let reached = |limit: &IoLimit| {
        let side = if limit.of_writes { &record.writes } else { &record.reads };
        let count = if limit.of_bytes { side.bytes } else { side.completed };
        count as f64 / seconds.max(1e-9)
    };
    let devices = real.inspected.devices();
    let mut limits = devices.iter().flat_map(|name| io_limits(seen.system, name));
    let limit = limits.find(|limit| reached(limit) > LIMITED * limit.per_s)?;
    let finding = Finding::invalid(Code::ControlGroupLimit)
        .value("limit_per_s", limit.per_s)
        .value("reached_per_s", reached(&limit))
        .label("direction", if limit.of_writes { "write" } else { "read" })
        .label("unit", if limit.of_bytes { "B" } else { "IO" });
    Some(finding.label("file", limit.file))
}
