//! Activity of the disks below the jobs.

use serde::Serialize;

/// A disk from the first job to the last. Of two figures the first is of reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioDisk {
    /// The kernel's name of it.
    pub name: String,
    /// Requests completed.
    pub ios: [u64; 2],
    /// Sectors of 512 bytes.
    pub sectors: [u64; 2],
    /// Requests merged into others.
    pub merges: [u64; 2],
    /// Time in flight, ms.
    pub ticks: [u64; 2],
    /// The same of all together.
    pub in_queue: u64,
    /// Share of the time with a request in flight, per cent.
    pub util: f64,
}

/// Disk entry of fio's JSON.
#[derive(Serialize)]
pub(super) struct DiskEntry {
    name: String,
    read_ios: u64,
    write_ios: u64,
    read_sectors: u64,
    write_sectors: u64,
    read_merges: u64,
    write_merges: u64,
    read_ticks: u64,
    write_ticks: u64,
    in_queue: u64,
    util: f64,
}

impl DiskEntry {
    pub(super) fn new(disk: &FioDisk) -> Self {
        let FioDisk { name, ios, sectors, merges, ticks, in_queue, util } = disk;
        Self {
            name: name.clone(),
            read_ios: ios[0],
            write_ios: ios[1],
            read_sectors: sectors[0],
            write_sectors: sectors[1],
            read_merges: merges[0],
            write_merges: merges[1],
            read_ticks: ticks[0],
            write_ticks: ticks[1],
            in_queue: *in_queue,
            util: *util,
        }
    }
}

impl FioDisk {
    /// The line of the normal text.
    pub(super) fn line(&self) -> String {
        let pair = |[reads, writes]: [u64; 2]| format!("{reads}/{writes}");
        format!(
            "  {}: ios={}, sectors={}, merge={}, ticks={}, in_queue={}, util={:.2}%",
            self.name,
            pair(self.ios),
            pair(self.sectors),
            pair(self.merges),
            pair(self.ticks),
            self.in_queue,
            self.util
        )
    }

    /// The fields of a terse line, which has no sectors.
    pub(super) fn fields(&self) -> String {
        let pair = |[reads, writes]: [u64; 2]| format!("{reads};{writes}");
        format!(
            "{};{};{};{};{};{:.2}%",
            self.name,
            pair(self.ios),
            pair(self.merges),
            pair(self.ticks),
            self.in_queue,
            self.util
        )
    }
}
