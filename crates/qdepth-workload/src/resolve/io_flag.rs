//! Flag of a point's transfers.

use crate::io_flag::IoFlag;
use crate::profile::Profile;
use crate::size::SizeMix;

pub(super) fn io_flag(
    profile: &Profile,
    direct: bool,
    sizes: &SizeMix,
    alignment_bytes: u64,
) -> Result<IoFlag, String> {
    let flag = profile.io_flag.unwrap_or_default();
    let is_whole =
        |bytes: u32| bytes.is_power_of_two() && alignment_bytes.is_multiple_of(bytes.into());
    match flag {
        IoFlag::Dontcache if direct => {
            Err("io_flag = \"dontcache\" is for buffered I/O: add direct = false".to_owned())
        }
        IoFlag::Atomic if !direct => {
            Err("io_flag = \"atomic\" needs direct I/O: remove direct = false".to_owned())
        }
        IoFlag::Atomic if !sizes.sizes.iter().all(|(bytes, _)| is_whole(*bytes)) => Err(
            "io_flag = \"atomic\" needs block sizes that are powers of two, each aligned to its \
             size: for example block_size = \"16KiB\""
                .to_owned(),
        ),
        _ => Ok(flag),
    }
}
