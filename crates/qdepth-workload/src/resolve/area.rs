//! The part of a target that a point puts under load, and how its streams share it.

use qdepth_measure::Bytes;

use super::choices::{Choices, TargetShape};
use super::ways::Destination;
use crate::layout::Extent;
use crate::layout::{Layout, Strides};
use crate::profile::{AreaSpec, FilesSpec, PlanFile, Profile};
use crate::size::SizeMix;

/// Alignment when none is written (docs/method/checklist.md, item 11).
pub(super) const STANDARD_ALIGNMENT: u64 = 4096;

/// Checks that the part of each stream has room for a request and for `slack` bytes more.
pub(super) fn has_room(area: &Extent, streams: u32, size: u64, slack: u64) -> Result<(), String> {
    if area.length_bytes / u64::from(streams) >= size + slack {
        return Ok(());
    }
    let streams = if streams == 1 { "1 stream".to_owned() } else { format!("{streams} streams") };
    let area = match area.length_bytes {
        0 => "an area smaller than its alignment".to_owned(),
        bytes => format!("an area of {}", Bytes(bytes)),
    };
    Err(format!(
        "{area} is too small for {streams} with a block size of {}: use larger storage, or a \
         larger --area or --file-size",
        Bytes(size),
    ))
}

pub(super) fn segments(
    profile: &Profile,
    area: &Extent,
    streams: u32,
    alignment: u64,
) -> Result<u32, String> {
    let segments = profile.segments.unwrap_or(1);
    let pieces = u64::from(segments) * u64::from(streams);
    let whole = pieces > 0
        && area.length_bytes.is_multiple_of(pieces)
        && (area.length_bytes / pieces).is_multiple_of(alignment);
    if segments != 1 && !whole {
        return Err(format!(
            "segments = {segments}: the area cannot be divided into that number of equal segments \
             for each of {streams} streams"
        ));
    }
    Ok(segments)
}

/// Zones of the area. They must hold whole requests, so that none reaches into a skipped range.
pub(super) fn strides(
    profile: &Profile,
    area: &Extent,
    streams: u32,
    alignment: u64,
    sizes: &SizeMix,
) -> Result<Option<Strides>, String> {
    let Some(spec) = profile.strides else { return Ok(None) };
    let range_bytes = spec.range.map(|range| range.0);
    let strides = Strides { zone_bytes: spec.zone.0, skip_bytes: spec.skip.0, range_bytes };
    let shortest = range_bytes.map_or(spec.zone.0, |range| range.min(spec.zone.0));
    let whole = |size: u64| {
        strides.zone_bytes.is_multiple_of(size) && range_bytes.unwrap_or(0).is_multiple_of(size)
    };
    let holds = sizes.sizes.iter().all(|(size, _)| whole(u64::from(*size))) && whole(alignment);
    if shortest == 0 || !holds || !strides.skip_bytes.is_multiple_of(alignment) {
        return Err(format!(
            "strides: zones of {} after {} each: must be multiples of the block size and alignment",
            spec.zone, spec.skip
        ));
    }
    if streams > 1 || profile.segments.is_some_and(|segments| segments > 1) {
        return Err("strides need a single stream without segments".to_owned());
    }
    has_room(
        &Extent { length_bytes: strides.used(area.length_bytes), ..*area },
        1,
        u64::from(sizes.max()),
        alignment,
    )?;
    Ok(Some(strides))
}

pub(super) fn backwards(profile: &Profile, sizes: &SizeMix) -> Result<bool, String> {
    let backwards = profile.backwards.unwrap_or(false);
    if backwards && sizes.single().is_none() {
        return Err("backwards needs a single block_size".to_owned());
    }
    Ok(backwards)
}

/// Layout of the streams: in files, if the plan requests and supports them.
pub(super) fn layout(
    file: &PlanFile,
    choices: &Choices,
    shape: &TargetShape,
) -> Result<Layout, String> {
    let layout = match file.files.filter(|_| shape.holds_files) {
        None => Layout::Area,
        Some(FilesSpec::Shared) => Layout::SharedFile,
        Some(FilesSpec::PerStream) => Layout::FilePerStream,
        Some(FilesSpec::Entries) => Layout::Entries,
        Some(FilesSpec::SharedEntries) => Layout::SharedEntries,
        Some(FilesSpec::EntriesPerStream) => Layout::EntriesPerStream,
    };
    let wrong = if file.bandwidth.is_some() && shape.parts > 1 {
        "the target has several parts: name each as a separate target"
    } else if file.bandwidth.is_some() && choices.area.is_some() {
        "in this plan, --threads and --bytes-per-thread determine the area. Remove --area"
    } else if layout.makes_files() && choices.read_only {
        "it reads back files that it wrote, but --read-only allows no writes"
    } else {
        return Ok(layout);
    };
    Err(wrong.to_owned())
}

/// The area of the profile, or one of the chosen size.
pub(super) fn area_spec(
    profile: &Profile,
    choices: &Choices,
    destination: &Destination,
) -> AreaSpec {
    match choices.area.as_ref().or(destination.area.as_ref()) {
        Some(size) => AreaSpec { size: Some(size.clone()), offset: profile.area.offset },
        None => profile.area.clone(),
    }
}

/// Area of all parts together; `spec` is that of each part.
pub(super) fn area(spec: &AreaSpec, shape: &TargetShape, alignment: u64) -> Result<Extent, String> {
    let parts = u64::from(shape.parts.max(1));
    let part = Extent { length_bytes: shape.usable.length_bytes / parts, ..shape.usable };
    let each = area_of_part(spec, part, shape.area_bytes, alignment)?;
    if parts > 1 && each.offset_bytes != part.offset_bytes {
        return Err("a target with several parts does not support an area offset".to_owned());
    }
    Ok(Extent { length_bytes: each.length_bytes * parts, ..each })
}

fn area_of_part(
    spec: &AreaSpec,
    usable: Extent,
    usual: u64,
    alignment: u64,
) -> Result<Extent, String> {
    let offset = spec.offset.unwrap_or(Bytes::ZERO).0;
    let is_aligned =
        [alignment, STANDARD_ALIGNMENT].iter().any(|unit| offset.is_multiple_of(*unit));
    if !is_aligned || offset >= usable.length_bytes {
        return Err(format!(
            "area offset {}: must be a multiple of the alignment, or of {}, below {}",
            Bytes(offset),
            Bytes(STANDARD_ALIGNMENT),
            Bytes(usable.length_bytes)
        ));
    }
    let rest = usable.length_bytes - offset;
    let asked = match spec.size.as_deref() {
        None => usual.min(rest),
        Some("full") => rest,
        Some(text) => match text.strip_suffix('%') {
            Some(share) => {
                let share: f64 = share
                    .trim()
                    .parse()
                    .map_err(|_| format!("area `{text}` is not a percentage. Try --area 10%"))?;
                if !(share > 0.0 && share <= 100.0) {
                    return Err(format!(
                        "area `{text}`: must be above 0% and at most 100%. Try --area 50%"
                    ));
                }
                (usable.length_bytes as f64 * share / 100.0) as u64
            }
            None => {
                let size = text.parse::<Bytes>();
                size.map_err(|e| format!("area: {e}. Try --area 50%"))?.0
            }
        },
    };
    if asked > rest {
        return Err(format!(
            "an area of {} does not fit: the target has {} from that offset. Try --area full, or \
             use a larger file",
            Bytes(asked),
            Bytes(rest).for_people()
        ));
    }
    let length_bytes = asked - asked % alignment;
    if length_bytes == 0 && asked > 0 && spec.size.is_some() {
        return Err(format!(
            "an area of {} is too small: I/Os begin at multiples of {}. Try --area full",
            Bytes(asked),
            Bytes(alignment)
        ));
    }
    Ok(Extent { offset_bytes: usable.offset_bytes + offset, length_bytes })
}
