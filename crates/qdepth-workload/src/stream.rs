//! A stream: one source of requests with its own area and draws.

use qdepth_measure::Seed;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::address::AddressPattern;
use crate::cover::Cover;
use crate::distribution::Distribution;
use crate::layout::Extent;
use crate::layout::OwnWrites;
use crate::plan::Point;
use crate::request::{Direction, Request};
use crate::size::SizeMix;
use crate::trace::Replay;

/// Draws the requests of one stream. The same point and number give the same requests.
#[derive(Debug)]
pub struct RequestStream {
    random: Xoshiro256PlusPlus,
    address: AddressPattern,
    /// A request is a read if 32 drawn bits are below this.
    read_threshold: u64,
    /// Otherwise a trim if they are below this.
    trim_threshold: u64,
    /// True if a place that was trimmed is written by the next request in the same slot.
    trims_first: bool,
    sizes: Sizes,
    /// Addresses of writes with separate sizes; boxed, because most loads have none.
    writes: Option<Box<(AddressPattern, Sizes)>>,
    segments: Option<Segments>,
    /// Zones with random requests.
    zones: Option<RandomZones>,
    /// Recorded requests, instead of draws.
    replay: Option<Box<Replay>>,
    /// The only size, if a request is just a direction and one of equally likely positions. Most
    /// loads are, and then need one check instead of five.
    plain: Option<u32>,
    sync_every: u32,
    writes_since_sync: u32,
    /// The last request of [`draw`](Self::draw).
    former: Request,
}

/// Sizes to draw from.
#[derive(Debug)]
struct Sizes {
    mix: SizeMix,
    /// Sum of the weights; 0 for a single size.
    weight_total: u64,
}

impl Sizes {
    fn new(mix: SizeMix) -> Self {
        let weight_total = match mix.sizes.as_slice() {
            [_] => 0,
            sizes => sizes.iter().map(|s| u64::from(s.1)).sum(),
        };
        Self { mix, weight_total }
    }

    #[inline]
    fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u32 {
        if self.weight_total == 0 {
            return self.mix.sizes[0].0;
        }
        let mut rest = ((random.next_u64() >> 32) * self.weight_total) >> 32;
        for (size, weight) in &self.mix.sizes {
            if rest < u64::from(*weight) {
                return *size;
            }
            rest -= u64::from(*weight);
        }
        self.mix.sizes[0].0
    }
}

/// Pieces of a stream's part that lie between those of the other streams, or its zones.
#[derive(Clone, Copy, Debug)]
struct Segments {
    /// Start of the part as one piece, and of its first piece.
    part: u64,
    first: u64,
    /// Bytes of a piece, and from one to the next.
    piece: u64,
    stride: u64,
}

impl Segments {
    fn new(point: &Point, number: u32) -> Option<Self> {
        let part = part(point, number);
        if let Some(strides) = point.strides {
            if strides.range_bytes.is_some() {
                return None;
            }
            let (piece, first) = (strides.zone_bytes, part.offset_bytes);
            let stride = piece + strides.skip_bytes;
            return Some(Self { part: first, first, piece, stride });
        }
        let piece = part.length_bytes / u64::from(point.segments);
        (point.segments > 1).then(|| Self {
            part: part.offset_bytes,
            first: point.area.offset_bytes + u64::from(number) * piece,
            piece,
            stride: piece * u64::from(point.streams),
        })
    }

    #[cold]
    fn offset_of(self, offset: u64) -> u64 {
        let within = offset - self.part;
        self.first + within / self.piece * self.stride + within % self.piece
    }
}

/// Zones within which requests are random. The addresses are drawn for the first zone.
#[derive(Clone, Copy, Debug)]
struct RandomZones {
    /// Bytes to access in each zone, and those accessed in the current one.
    bytes: u64,
    moved: u64,
    /// Start of the current zone from the start of the area, and of the next one from this one.
    start: u64,
    stride: u64,
    /// Largest start of a whole zone.
    last: u64,
}

impl RandomZones {
    fn new(point: &Point, area: Extent) -> Option<(Self, Extent)> {
        let strides = point.strides?;
        let range = strides.range_bytes?.min(area.length_bytes);
        let stride = range.saturating_add(strides.skip_bytes);
        let last = area.length_bytes - range;
        let zones = Self { bytes: strides.zone_bytes, moved: 0, start: 0, stride, last };
        Some((zones, Extent { length_bytes: range, ..area }))
    }

    /// Start of the zone of the next request of `size` bytes, and true if it is a new zone.
    fn next(&mut self, size: u64) -> (u64, bool) {
        let is_new = self.moved >= self.bytes;
        if is_new {
            self.moved = 0;
            self.start += self.stride;
            if self.start > self.last {
                self.start = 0;
            }
        }
        self.moved += size;
        (self.start, is_new)
    }
}

impl RequestStream {
    /// Stream `number` (from 0) of a point, on its equal part of the point's area.
    pub fn new(point: &Point, number: u32) -> Self {
        let seed = Seed(point.seed).derive("requests").derive(&number.to_string());
        let random = Xoshiro256PlusPlus::seed_from_u64(seed.0);
        let area = part(point, number);
        let (zones, area) = RandomZones::new(point, area)
            .map_or((None, area), |(zones, first)| (Some(zones), first));
        let pattern = |alignment: u64, sizes: &SizeMix, random_share: f64| {
            let sizes = sizes.sizes.iter().map(|(size, _)| u64::from(*size));
            let pattern = AddressPattern::new(area, alignment, random_share);
            pattern.with(&point.distribution, sizes, &random)
        };
        let share = point.random_share;
        let [sizes, written] = point.sizes_by_direction();
        let own_pattern = |own: OwnWrites| {
            let random_share = own.random_share.unwrap_or(share);
            pattern(own.alignment_bytes, &written, random_share)
        };
        let mut writes =
            point.own_writes.map(|own| Box::new((own_pattern(own), Sizes::new(written.clone()))));
        let mut address = pattern(point.alignment_bytes, &sizes, share);
        address.backwards = point.backwards;
        let single = point.block_size.single();
        single.into_iter().for_each(|size| address.settle(u64::from(size)));
        if point.stop.interleaved_segments > 1 {
            // Sequential requests start elsewhere in each segment, not on data that was just read.
            let draw = Xoshiro256PlusPlus::seed_from_u64(seed.derive("begin").0).next_u64();
            address.begin_at(draw);
            writes.iter_mut().for_each(|own| own.0.begin_at(draw));
        }
        let segments = Segments::new(point, number);
        let bare = address.is_plain()
            && writes.is_none()
            && segments.is_none()
            && zones.is_none()
            && point.trace.is_none()
            && point.fsync.every_writes == 0
            && !point.trims();
        let threshold = |share: f64| (share * 4_294_967_296.0).round() as u64;
        Self {
            address,
            random,
            plain: single.filter(|_| bare),
            read_threshold: threshold(point.read_share),
            trim_threshold: match point.trims_first {
                // Each drawn position is trimmed first.
                true => 1 << 32,
                false => threshold(point.read_share + point.trim_share),
            },
            trims_first: point.trims_first,
            sizes: Sizes::new(sizes),
            writes,
            segments,
            zones,
            replay: point.trace.clone().map(|trace| Box::new(Replay::new(trace))),
            sync_every: point.fsync.every_writes,
            writes_since_sync: 0,
            former: Request { direction: Direction::Read, offset: 0, size: 0 },
        }
    }

    /// The next request of a stream with one outstanding I/O: it follows the previous one.
    pub fn draw(&mut self) -> Request {
        let former = self.former;
        self.former = self.draw_after(&former);
        self.former
    }

    /// The next request, in the slot whose previous one is `former`. Both paths draw the same
    /// random numbers.
    #[inline(always)]
    pub fn draw_after(&mut self, former: &Request) -> Request {
        if let Some(size) = self.plain {
            return self.draw_plain(size);
        }
        let (offset, (size, direction)) = self.draw_any(former);
        Request { direction, offset, size }
    }

    /// Size of all requests if each is just a direction and one of equally likely positions.
    #[inline]
    pub fn plain_size(&self) -> Option<u32> {
        self.plain
    }

    /// The next request of a stream with a [plain size](Self::plain_size).
    #[inline(always)]
    pub fn draw_plain(&mut self, size: u32) -> Request {
        // A local copy: the generator's state is stored once and not after each number.
        let mut random = self.random.clone();
        let draw = random.next_u64();
        let offset = self.address.next_alike(draw >> 32, &mut random);
        self.random = random;
        let read = (draw & 0xffff_ffff) < self.read_threshold;
        let direction = if read { Direction::Read } else { Direction::Write };
        Request { direction, offset, size }
    }

    /// The next request of any load: a pair, which is returned in registers, so that plain requests
    /// need no memory either.
    #[inline(never)]
    fn draw_any(&mut self, former: &Request) -> (u64, (u32, Direction)) {
        if let Some(replay) = &mut self.replay {
            let Request { direction, offset, size } = replay.draw();
            let begin = if direction == Direction::Sync { 0 } else { self.address.begin() };
            return (begin + offset, (size, direction));
        }
        if self.trims_first && former.direction == Direction::Trim {
            self.writes_since_sync += 1;
            return (former.offset, (former.size, Direction::Write));
        }
        if self.sync_every != 0 && self.writes_since_sync >= self.sync_every {
            self.writes_since_sync = 0;
            return (0, (0, Direction::Sync));
        }
        let draw = self.random.next_u64();
        let direction = self.direction(draw & 0xffff_ffff);
        let (address, sizes) = match &mut self.writes {
            Some(own) if direction != Direction::Read => (&mut own.0, &own.1),
            _ => (&mut self.address, &self.sizes),
        };
        let size = sizes.draw(&mut self.random);
        let mut zone = 0;
        if let Some(zones) = &mut self.zones {
            let is_new;
            (zone, is_new) = zones.next(u64::from(size));
            if is_new {
                address.restart(&mut self.random);
            }
        }
        let (offset, size) = address.next(draw >> 32, &mut self.random, size);
        let offset = zone + offset;
        let offset = self.segments.map_or(offset, |segments| segments.offset_of(offset));
        self.writes_since_sync += u32::from(direction == Direction::Write);
        (offset, (size, direction))
    }

    fn direction(&self, draw: u64) -> Direction {
        match draw {
            draw if draw < self.read_threshold => Direction::Read,
            draw if draw < self.trim_threshold => Direction::Trim,
            _ => Direction::Write,
        }
    }
}

/// Memory for the maps of covered blocks of all streams of a point, in bytes.
pub fn map_bytes(point: &Point) -> u64 {
    if point.distribution != Distribution::EachOnce || point.block_size.single().is_some() {
        return 0;
    }
    let blocks = part(point, 0).length_bytes / point.alignment_bytes;
    Cover::bytes(blocks).saturating_mul(point.streams.into())
}

/// The part of the area that belongs to stream `number`, in whole multiples of the alignment.
fn part(point: &Point, number: u32) -> Extent {
    let used = |strides: crate::layout::Strides| strides.used(point.area.length_bytes);
    let all = point.strides.map_or(point.area.length_bytes, used);
    let share = all / u64::from(point.streams);
    let length_bytes = share - share % point.alignment_bytes;
    Extent {
        offset_bytes: point.area.offset_bytes + u64::from(number) * length_bytes,
        length_bytes,
    }
}
