//! Activity of the disks below the jobs.

use serde::Serialize;

/// Activity of a disk from the first job to the last, as in fio's JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FioDisk {
    /// The kernel's name of it.
    pub name: String,
    /// Reads completed.
    pub read_ios: u64,
    /// Writes completed.
    pub write_ios: u64,
    /// Sectors of 512 bytes read.
    pub read_sectors: u64,
    /// Sectors of 512 bytes written.
    pub write_sectors: u64,
    /// Reads merged into others.
    pub read_merges: u64,
    /// Writes merged into others.
    pub write_merges: u64,
    /// Time of reads in flight, ms.
    pub read_ticks: u64,
    /// Time of writes in flight, ms.
    pub write_ticks: u64,
    /// Time in flight of all together, ms.
    pub in_queue: u64,
    /// Share of the time with a request in flight, per cent.
    pub util: f64,
}

impl FioDisk {
    /// The line of the normal text.
    pub(super) fn line(&self) -> String {
        let Self { name, in_queue, util, .. } = self;
        let sectors = format!("{}/{}", self.read_sectors, self.write_sectors);
        let [ios, merges, ticks] = self.pairs('/');
        format!(
            "  {name}: ios={ios}, sectors={sectors}, merge={merges}, ticks={ticks}, \
             in_queue={in_queue}, util={util:.2}%"
        )
    }

    /// The fields of a terse line, which has no sectors.
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
