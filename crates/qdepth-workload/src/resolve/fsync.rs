//! Syncs of a point.

use crate::durability::Durability;
use crate::plan::Fsync;
use crate::profile::{FsyncSpec, Profile};

pub(super) fn fsync(profile: &Profile, direct: bool) -> Result<Fsync, String> {
    let durability = profile.durability.unwrap_or_default();
    if durability.syncs() && !matches!(profile.fsync, None | Some(FsyncSpec::Never)) {
        return Err(
            "durability = \"fsync\" or \"fdatasync\" already makes each write durable: remove fsync"
                .to_owned(),
        );
    }
    let each =
        Fsync { every_writes: 0, at_end: false, data_only: durability == Durability::Fdatasync };
    Ok(match profile.fsync {
        Some(FsyncSpec::Every { writes, data_only, at_end }) => {
            Fsync { every_writes: writes.max(1), at_end, data_only }
        }
        Some(FsyncSpec::End) => Fsync { at_end: true, ..each },
        // A buffered write that was never forced out hides its errors (docs/method/thresholds.md).
        None if !durability.syncs() => Fsync { at_end: !direct && profile.read < 100.0, ..each },
        None | Some(FsyncSpec::Never) => each,
    })
}
