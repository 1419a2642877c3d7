//! Disk statistics in fio's formats.

use serde::Serialize;

/// Statistics of a disk from the first job to the last, like in fio's JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FioDisk {
    /// Kernel name of the disk.
    pub name: String,
    /// Completed reads.
    pub read_ios: u64,
    /// Completed writes.
    pub write_ios: u64,
    /// Sectors of 512 bytes read.
    pub read_sectors: u64,
    /// Sectors of 512 bytes written.
    pub write_sectors: u64,
    /// Reads merged into others.
    pub read_merges: u64,
    /// Writes merged into others.
    pub write_merges: u64,
    /// Time spent on reads, ms.
    pub read_ticks: u64,
    /// Time spent on writes, ms.
    pub write_ticks: u64,
    /// Time spent on all requests, ms.
    pub in_queue: u64,
    /// Utilisation: share of the time with requests in flight, per cent.
    pub util: f64,
}

impl FioDisk {
    /// Line of the normal output.
    pub(super) fn line(&self) -> String {
        let Self { name, in_queue, util, .. } = self;
        let sectors = format!("{}/{}", self.read_sectors, self.write_sectors);
        let [ios, merges, ticks] = self.pairs('/');
        format!(
            "  {name}: ios={ios}, sectors={sectors}, merge={merges}, ticks={ticks}, \
             in_queue={in_queue}, util={util:.2}%"
        )
    }

    /// Fields of a terse line, which has no sectors.
    pub(super) fn fields(&self) -> String {
        let Self { name, in_queue, util, .. } = self;
        let [ios, merges, ticks] = self.pairs(';');
        format!("{name};{ios};{merges};{ticks};{in_queue};{util:.2}%")
    }

    /// Requests, merges and ticks of reads and of writes.
    fn pairs(&self, between: char) -> [String; 3] {
        let pair = |(reads, writes): (u64, u64)| format!("{reads}{between}{writes}");
        [
            (self.read_ios, self.write_ios),
            (self.read_merges, self.write_merges),
            (self.read_ticks, self.write_ticks),
        ]
        .map(pair)
    }
}
