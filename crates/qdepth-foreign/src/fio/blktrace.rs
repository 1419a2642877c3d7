//! Reader of blktrace records, as written by `blkparse -d`, in either byte order. Format:
//! <linux/blktrace_api.h>.

use qdepth_workload::{Direction, Recorded, Request};

use super::replay_log::{Line, Log, REQUESTS_MAX};

/// Upper three bytes of the first word of each record; the lowest byte is the version.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;
/// Bytes of a record without its payload.
const RECORD: usize = 48;

const ACT_QUEUE: u32 = 1;
const ACT_BACK_MERGE: u32 = 2;
const ACT_FRONT_MERGE: u32 = 3;
const ACT_COMPLETE: u32 = 8;
/// Categories are in the upper half of the action.
const WRITE: u32 = 1 << (1 + 16);
const FLUSH: u32 = 1 << (2 + 16);
const NOTIFY: u32 = 1 << (10 + 16);
const DISCARD: u32 = 1 << (13 + 16);

/// Record, read as numbers in its byte order.
struct Words<'a> {
    bytes: &'a [u8],
    swapped: bool,
}

impl Words<'_> {
    /// Bytes of a number at this offset, in native order; 0 beyond the end.
    fn number<const N: usize>(&self, at: usize) -> [u8; N] {
        let found = self.bytes.get(at..).and_then(|rest| rest.first_chunk::<N>());
        let mut number = found.copied().unwrap_or([0; N]);
        if self.swapped {
            number.reverse();
        }
        number
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.number(at))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_ne_bytes(self.number(at))
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_ne_bytes(self.number(at))
    }
}

/// Byte order of a trace: true if swapped; `None` if the bytes are no trace.
fn order(bytes: &[u8]) -> Option<bool> {
    let word = bytes.get(..4).and_then(|word| word.try_into().ok()).map(u32::from_ne_bytes)?;
    match word {
        word if word & !0xff == MAGIC => Some(false),
        word if word.swap_bytes() & !0xff == MAGIC => Some(true),
        _ => None,
    }
}

pub(super) fn is_trace(bytes: &[u8]) -> bool {
    order(bytes).is_some()
}

/// Reads a trace. Times count from the first request.
pub(super) fn read(bytes: &[u8]) -> Result<Log, String> {
    let swapped = order(bytes).ok_or("no blktrace")?;
    let (mut log, mut at) = (Log::default(), 0);
    let (mut first, mut in_flight, mut most) = (None, 0_u32, 1_u32);
    while let Some(record) = bytes.get(at..at + RECORD) {
        let words = Words { bytes: record, swapped };
        let magic = words.u32(0);
        if magic & !0xff != MAGIC || magic & 0xff != VERSION {
            return Err(format!("the record at byte {at} is not of version {VERSION}"));
        }
        at += RECORD + usize::from(words.u16(46));
        let action = words.u32(28);
        if action & NOTIFY != 0 {
            continue;
        }
        match action & 0xffff {
            ACT_QUEUE => {}
            ACT_BACK_MERGE | ACT_FRONT_MERGE | ACT_COMPLETE => {
                in_flight = in_flight.saturating_sub(1);
                continue;
            }
            _ => continue,
        }
        in_flight += 1;
        most = most.max(in_flight);
        let (direction, size) = match action {
            action if action & DISCARD != 0 => (Direction::Trim, words.u32(24)),
            action if action & FLUSH != 0 => (Direction::Sync, 0),
            action if action & WRITE != 0 => (Direction::Write, words.u32(24)),
            _ => (Direction::Read, words.u32(24)),
        };
        if size == 0 && direction != Direction::Sync {
            continue;
        }
        let offset = if size == 0 { 0 } else { words.u64(16).saturating_mul(512) };
        let time = words.u64(8);
        let at_ns = time.saturating_sub(*first.get_or_insert(time));
        let device = words.u32(36);
        // Device number of the kernel: 12 bits major, 20 bits minor.
        let path = format!("/dev/block/{}:{}", device >> 20, device & 0xf_ffff);
        let recorded = Recorded { at_ns, request: Request { direction, offset, size } };
        log.lines.push(Line { path, recorded });
        if log.lines.len() > REQUESTS_MAX {
            return Err(format!("more than {REQUESTS_MAX} I/Os"));
        }
    }
    log.lines.sort_by_key(|line| line.recorded.at_ns);
    // Completions of stacked devices may be missing, so limit the depth as fio does.
    log.depth = Some(most.min(1024));
    Ok(log)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record with these fields, followed by `behind` bytes.
    fn record(time: u64, sector: u64, bytes: u32, action: u32, behind: u16) -> Vec<u8> {
        let mut all = Vec::new();
        all.extend((MAGIC | VERSION).to_ne_bytes());
        all.extend(1_u32.to_ne_bytes());
        all.extend(time.to_ne_bytes());
        all.extend(sector.to_ne_bytes());
        for word in [bytes, action, 4242, (8 << 20) | 16, 0] {
            all.extend(word.to_ne_bytes());
        }
        all.extend(0_u16.to_ne_bytes());
        all.extend(behind.to_ne_bytes());
        all.extend(vec![7; usize::from(behind)]);
        all
    }

    #[test]
    fn blktrace_queue_records_keep_times_and_devices() {
        let all = [
            record(1000, 0, 0, NOTIFY, 12),
            record(5000, 8, 4096, ACT_QUEUE, 0),
            record(6000, 16, 8192, ACT_QUEUE | WRITE, 3),
            record(6500, 8, 4096, ACT_COMPLETE, 0),
            record(7000, 0, 0, ACT_QUEUE | FLUSH | WRITE, 0),
            record(7500, 2048, 65_536, ACT_QUEUE | DISCARD | WRITE, 0),
            record(8000, 24, 512, 7, 0),
        ]
        .concat();
        assert!(is_trace(&all));
        let log = read(&all).unwrap();
        assert_eq!(log.depth, Some(3));
        let requests: Vec<(u64, Direction, u64, u32)> = log
            .lines
            .iter()
            .map(|line| (line.recorded.at_ns, line.recorded.request))
            .map(|(at, request)| (at, request.direction, request.offset, request.size))
            .collect();
        assert_eq!(
            requests,
            [
                (0, Direction::Read, 4096, 4096),
                (1000, Direction::Write, 8192, 8192),
                (2000, Direction::Sync, 0, 0),
                (2500, Direction::Trim, 1 << 20, 65_536),
            ]
        );
        assert!(log.lines.iter().all(|line| line.path == "/dev/block/8:16"));
        // An incomplete last record is skipped; a record of another version is refused.
        assert_eq!(read(&all[..all.len() - 5]).unwrap().lines.len(), 4);
        let mut older = record(0, 0, 512, ACT_QUEUE, 0);
        older[0] = 6;
        assert!(read(&older).is_err() || !cfg!(target_endian = "little"));
    }
}
