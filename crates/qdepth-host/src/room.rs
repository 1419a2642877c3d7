//! Room for a measurement file on its file system.

use qdepth_measure::Bytes;

use crate::label::LABEL_BYTES;
use crate::refusal::{Guard, Refusal};
use crate::target::Inspected;

/// Bytes of a file system of this size that must stay free (guard G13): 5 %, which ext4 reserves
/// for root (mke2fs(8), `-m`), but at most 8 GiB: on a large file system, that is enough room for
/// others.
pub fn spare_bytes(file_system_bytes: u64) -> u64 {
    const SPARE_BYTES_AT_MOST: u64 = 8 << 30;
    (file_system_bytes / 20).min(SPARE_BYTES_AT_MOST)
}

/// Remedy for a file that is too large: suggests the largest power of two that fits, or no size if
/// not even a small file fits.
fn remedy(free: u64, spare: u64) -> String {
    let has_room = |size: &u64| {
        let needed = size + LABEL_BYTES;
        free >= needed.saturating_mul(2) && free - needed >= spare
    };
    match (24..63).rev().map(|power| 1 << power).find(has_room) {
        Some(size) => format!(
            "Use a smaller file, for example --file-size {0} (with the plan `bandwidth`, a smaller \
             --bytes-per-thread), or a file system with more free space",
            Bytes(size)
        ),
        None => "Free some space there, or use a file system with more free space".to_owned(),
    }
}

/// Finding that less than twice the size of a file is free.
fn too_little(free: u64, needed: u64, path: &str) -> String {
    let [size, twice, free] =
        [needed, needed.saturating_mul(2), free].map(|bytes| Bytes(bytes).for_people());
    format!("a file of {size} needs twice its size, {twice}, and only {free} are free at {path}")
}

/// Guard G13: twice the size is free, and [`spare_bytes`] stay free. Space that the file itself
/// occupies counts as free; space that other targets will take does not.
pub(crate) fn check_room(
    at: &Inspected,
    size_bytes: u64,
    held_bytes: u64,
    promised_bytes: u64,
) -> Result<(), Refusal> {
    let refuse = |found: String, remedy: &str| Err(Refusal::new(Guard::G13Bounds, found, remedy));
    let path = at.path.display();
    if size_bytes == 0 {
        return refuse(
            format!("a measurement file of less than 4096 B was requested at {path}"),
            "Use a larger area (--area)",
        );
    }
    let space = match rustix::fs::fstatvfs(at.handle()) {
        Ok(space) => space,
        Err(error) => {
            let found = format!("the free space at {path} could not be read: {error}");
            return refuse(found, "Check that the file system responds");
        }
    };
    let free = space.f_bavail.saturating_mul(space.f_frsize).saturating_add(held_bytes);
    let free = free.saturating_sub(promised_bytes);
    let total = space.f_blocks.saturating_mul(space.f_frsize);
    let needed = size_bytes.saturating_add(LABEL_BYTES);
    let spare = spare_bytes(total);
    if free < needed.saturating_mul(2) {
        return refuse(too_little(free, needed, &path.to_string()), &remedy(free, spare));
    }
    if free - needed < spare {
        let found = format!(
            "a file of {} would leave less than {} free at {path} ({} now)",
            Bytes(needed).for_people(),
            Bytes(spare).for_people(),
            Bytes(free).for_people()
        );
        return refuse(found, &remedy(free, spare));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_room_names_needed_and_free_bytes() {
        assert_eq!(
            too_little(10_000_000_000, 17_200_000_000, "/mnt/a"),
            "a file of 17.2 GB needs twice its size, 34.4 GB, and only 10 GB are free at /mnt/a"
        );
    }

    #[test]
    fn suggested_file_size_fits_free_space() {
        for (free, spare, wanted) in [
            (20 << 30, 8 << 30, "--file-size 8GiB"),
            (12 << 30, 8 << 30, "--file-size 2GiB"),
            (40 << 20, 1 << 20, "--file-size 16MiB"),
            (u64::MAX, 8 << 30, "--file-size 4194304TiB"),
            (20 << 20, 1 << 20, "Free some space"),
            (7 << 30, 8 << 30, "Free some space"),
            (0, 0, "Free some space"),
        ] {
            assert!(
                remedy(free, spare).contains(wanted),
                "{free} {spare}: {}",
                remedy(free, spare)
            );
        }
    }
}
