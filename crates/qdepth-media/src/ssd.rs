//! Solid-state drive as timelines: each stage stores when it is next free, and a request passes it
//! with `start = max(arrival, free)`, `free = start + cost`. The completion time is final at
//! submission.
//!
//! Shared serial stages are reserved in order of arrival and without gaps: a reservation for a
//! later moment (after a die, for example) would block everything that arrives before it.

use crate::amplification::Collection;
use crate::discarded::Discarded;
use crate::io::Io;
use crate::parameter::Values;
use crate::single::Medium;
use crate::thermal::Thermal;
use crate::tick::{Tick, cost, factor, micros, per_kib_at, times};

/// State carried from one point to the next: the wear of the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wear {
    /// Bytes written at random since the drive was fresh, up to a limit.
    pub overwritten: u64,
}

impl Wear {
    /// State after a purge.
    pub const FRESH: Self = Self { overwritten: 0 };
    /// State after two sequential passes: further random writes soon need garbage collection.
    pub const PRECONDITIONED: Self = Self { overwritten: 1 };
    /// State after a long time under the measured load.
    pub const STEADY: Self = Self { overwritten: u64::MAX };
}

/// Costs of one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Costs {
    command: Tick,
    path_per_kib: Tick,
    gather: Tick,
    batch: Tick,
}

/// Die. Reads overtake queued program operations, but not the one in progress.
#[derive(Clone, Copy, Debug, Default)]
struct Die {
    read_free: Tick,
    program_free: Tick,
}

/// Fixed costs of a drive, in ticks.
#[derive(Clone, Debug, Default)]
struct Times {
    read: Costs,
    write: Costs,
    read_fixed: Tick,
    path_command: Tick,
    ahead_when_busy: bool,
    write_fixed: Tick,
    write_accept_per_kib: Tick,
    link_per_kib: Tick,
    random_read_per_kib: Tick,
    prefetch: Tick,
    prefetch_per_kib: Tick,
    die_read: Tick,
    die_read_per_kib: Tick,
    die_program: Tick,
    cache_program: Tick,
    posted: Tick,
    batch_mix: Tick,
    batch_mix_per_kib: Tick,
    spin: Tick,
    collection_debt: Tick,
    /// Relative loss of the data path at an even mix of reads and writes, times 4, in 1/65536.
    mix_loss_16: u64,
    /// Collection on the data path per write, relative to the write itself, in 1/65536.
    path_collection_16: u64,
    /// Factor by which background collection slows every access, in 1/65536.
    groom_16: u64,
    amplification_16: u64,
}

/// Number of request sizes with cached costs.
const SIZES: usize = 16;

/// Costs that depend only on the request size, computed once per size.
#[derive(Clone, Copy, Debug, Default)]
struct SizeCosts {
    size: u32,
    link: Tick,
    /// Time on the data path: contiguous read, other read, and write.
    read_on: Tick,
    read_apart: Tick,
    write: Tick,
    /// Shortest time until the driver has the data, with and without read-ahead.
    soonest_ahead: Tick,
    soonest: Tick,
    /// Time when a write is accepted.
    accept: Tick,
    /// Collection on the path that a write causes.
    collection: Tick,
    /// Time to read it from one die.
    sense: Tick,
}

/// State of a drive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ssd {
    times: Times,
    /// Cached costs, indexed by the trailing zeros of the size: most sizes are powers of two.
    costs_by_size: [SizeCosts; SIZES],
    chunk_shift: u32,
    controller_free: Tick,
    path_free: Tick,
    link_in_free: Tick,
    link_out_free: Tick,
    /// Completion of everything submitted: the drive is idle from then on.
    idle_from: Tick,
    next_read: u64,
    next_write: u64,
    /// True if the drive reads ahead after the last read.
    reads_ahead: bool,
    in_flight: u32,
    /// True if the driver handles requests in batches.
    batches: bool,
    /// Deferred collection on the data path.
    debt: Tick,
    /// Running share of writes, in 1/65536.
    writes_16: u64,
    dies: Vec<Die>,
    program_die: usize,
    /// Bytes in the incomplete chunk.
    gathered: u32,
    /// Time at which each buffered chunk is programmed (ring buffer).
    buffer: Vec<Tick>,
    buffer_next: usize,
    wear: Wear,
    /// Discarded pages; `None` before the first trim.
    discarded: Option<Box<Discarded>>,
    fresh_bytes: u64,
    cache_left: u64,
    thermal: Option<Thermal>,
}

impl Times {
    /// Costs from the parameters, if garbage collection writes `extra` bytes per written byte.
    fn new(values: &Values, extra: f64) -> Self {
        let get = |name: &str| values.get(name);
        let costs = |path: &str, gather: f64, batch: f64| Costs {
            command: micros(get("command_us")),
            path_per_kib: micros(get(path)),
            gather: micros(gather),
            batch: micros(batch),
        };
        let groomed = get("batch_write_us") * (1.0 + extra * get("batch_groom"));
        Self {
            read: costs("path_read_us_per_kib", get("path_gather_us"), get("batch_read_us")),
            write: costs("path_write_us_per_kib", 0.0, groomed),
            spin: micros(get("spin_us")),
            read_fixed: micros(get("read_fixed_us")),
            path_command: micros(get("path_command_us")),
            ahead_when_busy: get("ahead_when_busy") >= 0.5,
            write_fixed: micros(get("write_fixed_us")),
            write_accept_per_kib: micros(get("write_accept_us_per_kib")),
            link_per_kib: per_kib_at(get("link_mb_s")),
            random_read_per_kib: micros(get("path_random_read_us_per_kib")),
            prefetch: micros(get("prefetch_us")),
            prefetch_per_kib: micros(get("prefetch_us_per_kib")),
            die_read: micros(get("die_read_us")),
            die_read_per_kib: micros(get("die_read_us_per_kib")),
            die_program: micros(get("die_program_us")).max(1),
            cache_program: micros(get("cache_program_us")).max(1),
            posted: micros(get("path_posted_us")),
            batch_mix: micros(get("batch_mix_us")),
            batch_mix_per_kib: micros(get("batch_mix_us_per_kib")),
            collection_debt: micros(get("collection_debt_us")),
            mix_loss_16: factor(get("path_mix_loss") * 4.0),
            path_collection_16: factor(extra * get("collection_on_path")),
            groom_16: factor(1.0 + extra * get("groom")),
            amplification_16: factor(1.0 + extra * (1.0 - get("collection_on_path"))),
        }
    }
}

impl Ssd {
    /// Drive with a load on `area` bytes.
    pub(crate) fn new(values: &Values, area: u64, wear: Wear) -> Self {
        let get = |name: &str| values.get(name);
        let user = get("capacity_gb") * 1e9;
        let spare = get("spare_gb") * 1e9;
        let collection = Collection {
            spare,
            user,
            cold_mixing: get("cold_mixing"),
            standard: get("amplification"),
            max: get("amplification_max"),
        };
        let amplification = collection.amplification(area as f64);
        let cache_bytes = get("cache_gb") * 1e9;
        let times = Times::new(values, amplification - 1.0);
        let chunk_kib = (get("die_chunk_kib") as u32).max(1).next_power_of_two();
        Self {
            times,
            chunk_shift: chunk_kib.trailing_zeros() + 10,
            next_read: u64::MAX,
            next_write: u64::MAX,
            batches: ["batch_read_us", "batch_write_us", "batch_mix_us"]
                .iter()
                .any(|n| get(n) > 0.0),
            dies: vec![Die::default(); get("dies") as usize],
            buffer: vec![0; get("buffer_chunks") as usize],
            wear,
            // Free flash: everything on a fresh drive, the spare on a preconditioned one.
            fresh_bytes: if wear.overwritten == 0 { (user + spare) as u64 } else { spare as u64 },
            cache_left: cache_bytes as u64,
            thermal: Thermal::from_values(values),
            ..Self::default()
        }
    }

    /// Returns the completion time of the request.
    #[inline]
    pub(crate) fn submit(&mut self, now: Tick, io: Io) -> Tick {
        self.in_flight += 1;
        if io.trim {
            return self.trim(now, io);
        }
        let size_costs = &self.costs_by_size[io.size.trailing_zeros() as usize % SIZES];
        let size_costs =
            if size_costs.size == io.size { *size_costs } else { self.settle(io.size) };
        let write_16 = u64::from(!io.read) << 16;
        self.writes_16 = self.writes_16 - (self.writes_16 >> 6) + (write_16 >> 6);
        let end =
            if io.read { self.read(now, io, size_costs) } else { self.write(now, io, size_costs) };
        self.idle_from = self.idle_from.max(end);
        end
    }

    /// Notes that a request was completed.
    #[inline]
    pub(crate) fn completed(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// Number of thermal throttling events.
    pub(crate) fn throttles(&self) -> u32 {
        self.thermal.as_ref().map_or(0, Thermal::transitions)
    }

    pub(crate) fn wear(&self) -> Wear {
        self.wear
    }

    /// Computes and caches the costs of a request size.
    #[cold]
    #[inline(never)]
    fn settle(&mut self, size: u32) -> SizeCosts {
        let t = &self.times;
        let gathered = |costs: &Costs| {
            if u64::from(size) > 1 << self.chunk_shift { costs.gather } else { 0 }
        };
        let random = t.read.path_per_kib + t.random_read_per_kib;
        let link = cost(size, t.link_per_kib);
        let collection = times(cost(size, t.write.path_per_kib), t.path_collection_16);
        let size_costs = SizeCosts {
            size,
            link,
            read_on: cost(size, t.read.path_per_kib) + gathered(&t.read),
            read_apart: cost(size, random) + gathered(&t.read),
            write: cost(size, t.write.path_per_kib) + gathered(&t.write),
            soonest_ahead: link + t.prefetch,
            soonest: link + t.die_read,
            accept: t.write_fixed + cost(size, t.write_accept_per_kib),
            collection,
            sense: t.die_read + cost(size, t.die_read_per_kib),
        };
        self.costs_by_size[size.trailing_zeros() as usize % SIZES] = size_costs;
        size_costs
    }

    #[inline(always)]
    fn read(&mut self, now: Tick, io: Io, size_costs: SizeCosts) -> Tick {
        let idle = now >= self.idle_from && now >= self.path_free;
        let eager = idle || self.times.ahead_when_busy;
        let follows = io.offset == self.next_read;
        let ahead = follows && eager && self.reads_ahead;
        self.reads_ahead = eager;
        let ready = self.path_free;
        self.next_read = io.offset + u64::from(io.size);
        let start = now.max(self.controller_free);
        self.controller_free = start + self.times.read.command;
        let SizeCosts { link, soonest_ahead, soonest, read_on, read_apart, sense, .. } = size_costs;
        let data = if follows { read_on } else { read_apart };
        let soonest = if ahead { soonest_ahead } else { soonest };
        let batch = self.wake_up_cost(self.times.read.batch, soonest);
        let path_end = self.pass(start, data, io.size, batch, 0);
        if ahead {
            let beyond = cost(io.size, self.times.prefetch_per_kib);
            return start.max(ready) + self.times.prefetch + link + beyond;
        }
        self.link_out_free = self.link_out_free.max(start) + link;
        let nothing = |discarded: &Discarded| discarded.holds_nothing(io.offset, io.size);
        let is_empty = self.discarded.as_deref().is_some_and(nothing);
        let sensed = if is_empty { start } else { self.sense(start, io, sense) };
        sensed.max(path_end).max(self.link_out_free) + self.times.read_fixed
    }

    /// Reads from the dies. Returns the time at which the last one is ready.
    #[inline(always)]
    fn sense(&mut self, start: Tick, io: Io, sense: Tick) -> Tick {
        let end = io.offset + u64::from(io.size);
        let (first, last) = (io.offset >> self.chunk_shift, (end - 1) >> self.chunk_shift);
        if first == last {
            return self.sense_chunk(start, first, sense);
        }
        self.sense_chunks(start, io, first, last)
    }

    #[inline(never)]
    fn sense_chunks(&mut self, start: Tick, io: Io, first: u64, last: u64) -> Tick {
        let end = io.offset + u64::from(io.size);
        let mut ready = start;
        for chunk in first..=last {
            let from = io.offset.max(chunk << self.chunk_shift);
            let to = end.min((chunk + 1) << self.chunk_shift);
            let length =
                self.times.die_read + cost((to - from) as u32, self.times.die_read_per_kib);
            ready = ready.max(self.sense_chunk(start, chunk, length));
        }
        ready
    }

    #[inline(always)]
    fn sense_chunk(&mut self, start: Tick, chunk: u64, length: Tick) -> Tick {
        let index = die_of(chunk, self.dies.len());
        let die = &mut self.dies[index];
        let mut begin = start.max(die.read_free);
        if die.program_free > begin {
            // Wait for the program operation in progress and overtake the queued ones.
            begin += (die.program_free - begin) % self.times.die_program;
            die.program_free += length;
        }
        die.read_free = begin + length;
        die.read_free
    }

    /// Submits a discard: a command without data that takes the controller and the data path like a
    /// write. Its pages then hold no data. The freed bytes can be written at random before garbage
    /// collection starts again.
    #[cold]
    fn trim(&mut self, now: Tick, io: Io) -> Tick {
        let start = now.max(self.controller_free);
        self.controller_free = start + self.times.write.command;
        self.path_free = self.path_free.max(start) + self.times.path_command;
        let discarded = self.discarded.get_or_insert_default();
        let freed = discarded.discard(io.offset, io.size);
        if self.wear.overwritten > 0 {
            let most = self.fresh_bytes.saturating_add(1);
            self.wear.overwritten = self.wear.overwritten.min(most).saturating_sub(freed).max(1);
        }
        let end = self.path_free + self.times.write_fixed;
        self.idle_from = self.idle_from.max(end);
        end
    }

    #[inline(always)]
    fn write(&mut self, now: Tick, io: Io, size_costs: SizeCosts) -> Tick {
        if let Some(discarded) = &mut self.discarded {
            discarded.write(io.offset, io.size);
        }
        let contiguous = io.offset == self.next_write;
        self.next_write = io.offset + u64::from(io.size);
        let collected = !contiguous && self.count_random_write(io.size);
        let start = now.max(self.controller_free);
        self.controller_free = start + self.times.write.command;
        let SizeCosts { link, accept, write, .. } = size_costs;
        self.link_in_free = self.link_in_free.max(start) + link;
        let collection = if collected { size_costs.collection } else { 0 };
        let path_begins = start.max(self.path_free);
        let batch = self.wake_up_cost(self.times.write.batch, accept);
        let path_end = self.pass(start, write, io.size, batch, collection);
        let room = self.gather(path_end, io.size, collected);
        let posted = path_begins.saturating_sub(self.times.posted);
        (start.max(posted) + accept).max(self.link_in_free).max(room)
    }

    /// Wake-up cost of the driver: 0 if the request ends while the driver still polls.
    #[inline(always)]
    fn wake_up_cost(&self, batch: Tick, ends_after: Tick) -> Tick {
        if ends_after < self.times.spin { 0 } else { batch }
    }

    /// Occupies the internal data path for a request's `data` and for the `collection` that it
    /// causes. Returns the time at which both are through.
    #[inline(always)]
    fn pass(&mut self, start: Tick, data: Tick, size: u32, batch: Tick, collection: Tick) -> Tick {
        let w = self.writes_16.min(1 << 16);
        let mixed = (w * ((1 << 16) - w)) >> 16;
        let loss = (1 << 16) + times(self.times.mix_loss_16, mixed);
        let data = times(data, loss);
        let mut busy = self.times.path_command + times(data, self.times.groom_16);
        if self.batches {
            busy += self.batch(batch, size, mixed);
        }
        if collection > 0 || self.debt > 0 {
            self.debt += collection;
            let due = self.debt.saturating_sub(self.times.collection_debt);
            self.debt -= due;
            busy += due;
        }
        self.path_free = self.path_free.max(start) + busy;
        self.path_free
    }

    /// The request's share of the driver's cost per batch: the wake-up, and the wait for the
    /// slowest request of the batch. Deferred collection runs during that wait.
    #[inline(never)]
    fn batch(&mut self, wake_up: Tick, size: u32, mixed_16: u64) -> Tick {
        let n = u64::from(self.in_flight.max(1));
        let tail = self.times.batch_mix + cost(size, self.times.batch_mix_per_kib);
        let tail = times(tail, 4 * mixed_16) * (n - 1) / (n * n);
        self.debt = self.debt.saturating_sub(tail);
        wake_up / n + tail
    }

    /// Adds a write to the incomplete chunk and sends full chunks to the dies. Returns the time at
    /// which the buffer had room.
    #[inline]
    fn gather(&mut self, ready: Tick, size: u32, collected: bool) -> Tick {
        let chunk = 1 << self.chunk_shift;
        self.gathered += size;
        let mut room = 0;
        while self.gathered >= chunk {
            self.gathered -= chunk;
            let program = self.program_length(ready, u64::from(chunk), collected);
            let index = self.program_die;
            self.program_die = if index + 1 == self.dies.len() { 0 } else { index + 1 };
            let die = &mut self.dies[index];
            die.program_free = die.program_free.max(ready) + program;
            let slot = &mut self.buffer[self.buffer_next];
            room = room.max(*slot);
            *slot = die.program_free;
            self.buffer_next =
                if self.buffer_next + 1 == self.buffer.len() { 0 } else { self.buffer_next + 1 };
        }
        room
    }

    fn program_length(&mut self, now: Tick, bytes: u64, collected: bool) -> Tick {
        let plain = if self.cache_left >= bytes {
            self.cache_left -= bytes;
            self.times.cache_program
        } else {
            self.times.die_program
        };
        let length = if collected { times(plain, self.times.amplification_16) } else { plain };
        match &mut self.thermal {
            Some(thermal) => times(length, thermal.wrote(now, bytes)),
            None => length,
        }
    }

    /// Counts a random write. True if garbage collection has begun.
    #[inline]
    fn count_random_write(&mut self, size: u32) -> bool {
        self.wear.overwritten = self.wear.overwritten.saturating_add(u64::from(size));
        self.wear.overwritten > self.fresh_bytes
    }
}

impl Medium for Ssd {
    #[inline(always)]
    fn submit(&mut self, now: Tick, _: u32, io: Io) -> Tick {
        Self::submit(self, now, io)
    }
    #[inline(always)]
    fn completed(&mut self, _: u32) {
        Self::completed(self);
    }
}

/// Die of a chunk: spread evenly over addresses, without a pattern between distant ones
/// (multiplicative hashing by the golden ratio, Knuth vol. 3, 6.4).
#[inline]
fn die_of(chunk: u64, dies: usize) -> usize {
    let spread = chunk.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    ((spread * dies as u64) >> 32) as usize
}
