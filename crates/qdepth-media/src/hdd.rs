//! Hard disk: seek, rotation, transfer, and a queue from which the head takes the request that it
//! reaches first. Contiguous requests go through the cache.

use std::collections::VecDeque;

use crate::io::{End, Io};
use crate::parameter::Values;
use crate::tick::{NEVER, Tick, cost, micros, per_kib_at};

#[derive(Clone, Copy, Debug)]
struct QueuedIo {
    slot: u32,
    io: Io,
}

/// State of a hard disk.
#[derive(Clone, Debug)]
pub(crate) struct Hdd {
    revolution: Tick,
    track_bytes: u64,
    media_per_kib: Tick,
    settle: Tick,
    seek_per_sqrt_track: f64,
    write_settle: Tick,
    command: Tick,
    hit: [Tick; 2],
    window: usize,
    queue: VecDeque<QueuedIo>,
    /// Time at which the mechanics can take the next request.
    free: Tick,
    track: u64,
    /// Offset that continues the last write, and the last read.
    next: [u64; 2],
    /// Offset of the end of the last transfer, where the head continues without a delay.
    passing: u64,
}

impl Hdd {
    pub(crate) fn new(values: &Values) -> Self {
        let get = |name| values.get(name);
        let revolution_us = 60e6 / get("rpm");
        let bytes_per_us = get("media_mb_s") * 1.048_576;
        Self {
            revolution: micros(revolution_us),
            track_bytes: (revolution_us * bytes_per_us) as u64 + 1,
            media_per_kib: per_kib_at(get("media_mb_s")),
            settle: micros(get("settle_us")),
            seek_per_sqrt_track: get("seek_us_per_sqrt_track"),
            write_settle: micros(get("write_settle_us")),
            command: micros(get("command_us")),
            hit: [micros(get("hit_write_us")), micros(get("hit_read_us"))],
            window: get("queue") as usize,
            queue: VecDeque::with_capacity(4096),
            free: 0,
            track: 0,
            next: [u64::MAX; 2],
            passing: u64::MAX,
        }
    }

    /// Submits a request. Returns its completion time if already known: for a contiguous request on
    /// an empty queue.
    pub(crate) fn submit(&mut self, now: Tick, slot: u32, io: Io) -> Option<Tick> {
        if io.trim {
            // A disk has nothing to discard and acknowledges at once.
            return Some(now + self.command);
        }
        let side = usize::from(io.read);
        let contiguous = io.offset == self.next[side];
        self.next[side] = io.offset + u64::from(io.size);
        if contiguous && self.queue.is_empty() {
            self.free = self.free.max(now) + cost(io.size, self.media_per_kib);
            self.track = io.offset / self.track_bytes;
            self.passing = self.next[side];
            return Some((now + self.hit[side]).max(self.free));
        }
        self.free = self.free.max(now);
        self.queue.push_back(QueuedIo { slot, io });
        None
    }

    /// Returns the time at which the mechanics take the next request.
    pub(crate) fn next(&self) -> Tick {
        if self.queue.is_empty() { NEVER } else { self.free }
    }

    /// Takes the request that the head reaches first, and appends its completion.
    pub(crate) fn step(&mut self, ends: &mut Vec<End>) {
        let reached = |queued: &QueuedIo| self.positioning(queued.io);
        let best = (0..self.window.min(self.queue.len()))
            .min_by_key(|index| self.queue.get(*index).map_or(NEVER, reached));
        let Some(chosen) = best.and_then(|index| self.queue.remove(index)) else { return };
        let begun = self.free + self.positioning(chosen.io);
        self.free = begun + cost(chosen.io.size, self.media_per_kib);
        self.track = chosen.io.offset / self.track_bytes;
        self.passing = chosen.io.offset + u64::from(chosen.io.size);
        ends.push(End { slot: chosen.slot, at: self.free, errno: 0 });
    }

    /// Time from the end of the last transfer to the first byte: electronics, seek, rotation. 0 for
    /// a contiguous request: otherwise the electronics' time alone would cost a revolution.
    fn positioning(&self, io: Io) -> Tick {
        if io.offset == self.passing {
            return 0;
        }
        let track = io.offset / self.track_bytes;
        let passed = track.abs_diff(self.track);
        let mut seek = self.command;
        if passed > 0 {
            seek += self.settle + micros(self.seek_per_sqrt_track * (passed as f64).sqrt());
        }
        if !io.read {
            seek += self.write_settle;
        }
        let there = self.free + seek;
        let angle = io.offset % self.track_bytes * self.revolution / self.track_bytes;
        let wait = (angle + self.revolution - there % self.revolution) % self.revolution;
        seek + wait
    }
}
