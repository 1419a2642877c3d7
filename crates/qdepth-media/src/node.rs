//! Node of a target: a drive, an array of drives, or a wrapper. Arrays are striped, mirrored, with
//! parity, or below a volume layer with one queue. A slot has at most one physical request in
//! flight on a member.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::hdd::Hdd;
use crate::io::{End, Io};
use crate::parameter::Values;
use crate::pressure::Pressured;
use crate::simple::{Servers, Volume};
use crate::single::Medium;
use crate::ssd::Ssd;
use crate::tick::{NEVER, Tick, cost, micros};

/// Injected fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Every nth request fails with EIO.
    Error { every: u64 },
    /// The nth request, from 1, never ends.
    Hang { at: u64 },
    /// Every request fails from this moment on, like after a removal of the device.
    Removed { after: Tick },
}

/// EIO, the result of injected errors.
const EIO: i32 = 5;
/// ENODEV, the result of requests to a removed device.
const ENODEV: i32 = 19;

/// Wrapper that injects a fault, or adds a fixed delay to every request.
#[derive(Clone, Debug)]
pub(crate) struct Wrapped {
    member: Node,
    fault: Option<Fault>,
    delay: Tick,
    submitted: u64,
}

/// Drive, array or wrapper. One `match` per request is cheaper than a virtual call.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Ssd(Box<Ssd>),
    Hdd(Box<Hdd>),
    Servers(Box<Servers>),
    Volume(Box<Volume>),
    Pressured(Box<Pressured>),
    Array(Box<Array>),
    Wrapped(Box<Wrapped>),
}

impl Node {
    pub(crate) fn wrapped(member: Self, fault: Option<Fault>, delay: Tick) -> Self {
        Self::Wrapped(Box::new(Wrapped { member, fault, delay, submitted: 0 }))
    }

    /// Submits a request. Returns its completion if already known. `now` must never decrease.
    #[inline(always)]
    pub(crate) fn submit(&mut self, now: Tick, slot: u32, io: Io) -> Option<End> {
        let at = match self {
            Self::Ssd(ssd) => Some(ssd.submit(now, io)),
            Self::Hdd(hdd) => hdd.submit(now, slot, io),
            Self::Servers(servers) => Some(servers.submit(now, io)),
            Self::Volume(volume) => Some(volume.submit(now, io)),
            Self::Pressured(drive) => Some(drive.submit(now, io)),
            Self::Array(_) | Self::Wrapped(_) => return self.pass_on(now, slot, io),
        };
        at.map(|at| End { slot, at, errno: 0 })
    }

    /// [`submit`](Self::submit) for nodes with members. Separate, because a recursive function is
    /// not inlined into the path of every request.
    #[inline(never)]
    fn pass_on(&mut self, now: Tick, slot: u32, io: Io) -> Option<End> {
        match self {
            Self::Array(array) => array.submit(now, slot, io),
            Self::Wrapped(wrapped) => wrapped.submit(now, slot, io),
            _ => None,
        }
    }

    /// Returns the time of the next internal event.
    pub(crate) fn next(&self) -> Tick {
        match self {
            Self::Hdd(hdd) => hdd.next(),
            Self::Array(array) => array.next(),
            Self::Wrapped(wrapped) => wrapped.member.next(),
            Self::Ssd(_) | Self::Servers(_) | Self::Volume(_) | Self::Pressured(_) => NEVER,
        }
    }

    /// Processes the event that is due at [`next`](Self::next), and appends the completions that it
    /// decides.
    pub(crate) fn step(&mut self, ends: &mut Vec<End>) {
        match self {
            Self::Hdd(hdd) => hdd.step(ends),
            Self::Array(array) => array.step(ends),
            Self::Wrapped(wrapped) => {
                let first = ends.len();
                wrapped.member.step(ends);
                ends[first..].iter_mut().for_each(|end| end.at += wrapped.delay);
            }
            Self::Ssd(_) | Self::Servers(_) | Self::Volume(_) | Self::Pressured(_) => {}
        }
    }

    /// Notes that a request was completed.
    #[inline]
    pub(crate) fn completed(&mut self, slot: u32) {
        match self {
            Self::Ssd(ssd) => ssd.completed(),
            Self::Pressured(drive) => drive.drive.completed(),
            Self::Array(array) => array.completed(slot),
            Self::Wrapped(wrapped) => wrapped.member.completed(slot),
            Self::Hdd(_) | Self::Servers(_) | Self::Volume(_) => {}
        }
    }

    /// True if every completion time is known at submission.
    pub(crate) fn is_immediate(&self) -> bool {
        match self {
            Self::Ssd(_) | Self::Servers(_) | Self::Volume(_) | Self::Pressured(_) => true,
            Self::Hdd(_) => false,
            Self::Array(array) => array.is_immediate(),
            Self::Wrapped(wrapped) => wrapped.fault.is_none() && wrapped.member.is_immediate(),
        }
    }

    /// Number of physical requests beyond the first.
    #[inline]
    pub(crate) fn further(&self, io: Io) -> u32 {
        match self {
            Self::Array(array) => array.further(io),
            Self::Wrapped(wrapped) => wrapped.member.further(io),
            _ => 0,
        }
    }

    /// Flash drive of each of its drives, in order; `None` for a drive of another kind.
    pub(crate) fn drives(&self) -> Vec<Option<&Ssd>> {
        match self {
            Self::Ssd(ssd) => vec![Some(ssd)],
            Self::Pressured(drive) => vec![Some(&drive.drive)],
            Self::Array(array) => array.members.iter().flat_map(Self::drives).collect(),
            Self::Wrapped(wrapped) => wrapped.member.drives(),
            Self::Hdd(_) | Self::Servers(_) | Self::Volume(_) => vec![None],
        }
    }
}

impl Wrapped {
    fn submit(&mut self, now: Tick, slot: u32, io: Io) -> Option<End> {
        self.submitted += 1;
        let errno = match self.fault {
            Some(Fault::Error { every }) if self.submitted.is_multiple_of(every) => EIO,
            Some(Fault::Removed { after }) if now >= after => ENODEV,
            Some(Fault::Hang { at }) if self.submitted == at => return None,
            _ => 0,
        };
        if errno != 0 {
            return Some(End { slot, at: now, errno });
        }
        let end = self.member.submit(now, slot, io)?;
        Some(End { at: end.at + self.delay, ..end })
    }
}

/// Data layout on the members.
#[derive(Clone, Debug)]
pub(crate) enum Layout {
    /// RAID 0.
    Striped,
    /// RAID 1.
    Mirrored,
    /// RAID 5, left-symmetric.
    Parity,
}

/// Divisor with a fast path for powers of two: a division would cost as much as the rest of a
/// request.
#[derive(Clone, Copy, Debug)]
struct Divisor {
    by: u64,
    /// Binary logarithm of a power of two.
    shift: Option<u32>,
}

impl Divisor {
    fn new(by: u64) -> Self {
        Self { by, shift: by.is_power_of_two().then(|| by.trailing_zeros()) }
    }

    /// Quotient and remainder.
    #[inline]
    fn divide(self, number: u64) -> (u64, u64) {
        match self.shift {
            Some(shift) => (number >> shift, number & (self.by - 1)),
            None => (number / self.by, number % self.by),
        }
    }
}

/// Progress of a slot's request.
#[derive(Clone, Copy, Debug, Default)]
struct PendingRequest {
    parts: u32,
    end: Tick,
    errno: i32,
    /// Offset and size of a parity write while its old data is being read.
    write_after: Option<(u64, u32)>,
}

/// Array of members.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    layout: Layout,
    members: Vec<Node>,
    stripe: u64,
    by_stripe: Divisor,
    by_members: Divisor,
    /// Offset of the area within a stripe, bytes.
    start: u64,
    pending: Vec<PendingRequest>,
    /// Bit set of the members in use by each slot. Separate from `pending`, because most requests
    /// need only this.
    on: Vec<u64>,
    in_flight: Vec<u32>,
    /// Second phases of parity writes (time, slot), the earliest first.
    second: BinaryHeap<Reverse<(Tick, u32)>>,
    scratch: Vec<End>,
    queue: Queue,
}

/// Single queue of a volume layer, which every request passes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Queue {
    free: Tick,
    request: Tick,
    per_kib: [Tick; 2],
}

impl Queue {
    pub(crate) fn new(values: &Values) -> Self {
        Self {
            free: 0,
            request: micros(values.get("request_us")),
            per_kib: [
                micros(values.get("write_us_per_kib")),
                micros(values.get("read_us_per_kib")),
            ],
        }
    }

    fn pass(&mut self, now: Tick, io: Io) -> Tick {
        self.free = self.free.max(now)
            + self.request
            + cost(io.moved(), self.per_kib[usize::from(io.read)]);
        self.free
    }
}

impl Array {
    pub(crate) fn new(layout: Layout, members: Vec<Node>, stripe: u64, start: u64) -> Self {
        let in_flight = vec![0; members.len()];
        Self {
            by_stripe: Divisor::new(stripe),
            by_members: Divisor::new(members.len() as u64),
            layout,
            members,
            stripe,
            start,
            pending: vec![PendingRequest::default(); 4096],
            on: vec![0; 4096],
            in_flight,
            second: BinaryHeap::with_capacity(4096),
            scratch: Vec::with_capacity(64),
            queue: Queue::default(),
        }
    }

    pub(crate) fn below(mut self, queue: Queue) -> Self {
        self.queue = queue;
        self
    }

    /// True if every completion time is known at submission.
    pub(crate) fn is_immediate(&self) -> bool {
        !matches!(self.layout, Layout::Parity) && self.members.iter().all(Node::is_immediate)
    }

    pub(crate) fn submit(&mut self, now: Tick, slot: u32, io: Io) -> Option<End> {
        let now = self.queue.pass(now, io);
        if matches!(self.layout, Layout::Striped)
            && let Some((member, part)) = self.within_stripe(io)
        {
            return self.single(now, member, slot, part);
        }
        self.in_parts(now, slot, io)
    }

    /// Submits any request, in as many parts as necessary.
    fn in_parts(&mut self, now: Tick, slot: u32, io: Io) -> Option<End> {
        self.pending[slot as usize] = PendingRequest { parts: 1, ..PendingRequest::default() };
        self.on[slot as usize] = 0;
        match self.layout {
            Layout::Striped => self.striped(now, slot, io),
            Layout::Mirrored => self.mirrored(now, slot, io),
            Layout::Parity => self.parity(now, slot, io),
        }
        self.finish_part(slot, End { slot, at: now, errno: 0 })
    }

    /// Number of physical requests beyond the first.
    #[inline]
    pub(crate) fn further(&self, io: Io) -> u32 {
        match self.layout {
            Layout::Mirrored if io.read => 0,
            Layout::Mirrored => self.members.len() as u32 - 1,
            Layout::Striped | Layout::Parity => {
                let start = self.start + io.offset;
                let last = start + u64::from(io.size) - 1;
                let stripes = self.by_stripe.divide(last).0 - self.by_stripe.divide(start).0;
                stripes.min(self.members.len() as u64 - 1) as u32
            }
        }
    }

    /// Member and member request for a request within one stripe; `None` if it spans several.
    #[inline]
    fn within_stripe(&self, io: Io) -> Option<(usize, Io)> {
        let (number, from) = self.by_stripe.divide(self.start + io.offset);
        if from + u64::from(io.size) > self.stripe {
            return None;
        }
        let (row, member) = self.by_members.divide(number);
        Some((member as usize, Io { offset: row * self.stripe + from, ..io }))
    }

    /// Fast path for a single physical request, the most frequent case. Same result as
    /// [`send`](Self::send) and [`finish_part`](Self::finish_part).
    #[inline]
    fn single(&mut self, now: Tick, member: usize, slot: u32, io: Io) -> Option<End> {
        self.in_flight[member] += 1;
        self.on[slot as usize] = 1 << member;
        // Without a call of a recursive function for most members.
        let sent = match &mut self.members[member] {
            Node::Ssd(ssd) => Some(End { slot, at: ssd.submit(now, io), errno: 0 }),
            member => member.submit(now, slot, io),
        };
        let Some(end) = sent else {
            self.pending[slot as usize] =
                PendingRequest { parts: 1, end: now, ..PendingRequest::default() };
            return None;
        };
        Some(End { slot, at: end.at.max(now), errno: end.errno })
    }

    fn striped(&mut self, now: Tick, slot: u32, io: Io) {
        let count = self.members.len() as u64;
        let (start, end) = (self.start + io.offset, self.start + io.offset + u64::from(io.size));
        let (first, last) = (start / self.stripe, (end - 1) / self.stripe);
        for number in first..=last.min(first + count - 1) {
            let (row, member) = (number / count, (number % count) as usize);
            // Later rows on this member are contiguous with this one.
            let last_here = last - (last - number) % count;
            let from = start.max(number * self.stripe) % self.stripe;
            let to = (end - last_here * self.stripe).min(self.stripe);
            let rows = last_here / count - row;
            let size = (rows * self.stripe + to - from) as u32;
            self.send(now, member, slot, Io { offset: row * self.stripe + from, size, ..io });
        }
    }

    fn mirrored(&mut self, now: Tick, slot: u32, io: Io) {
        if io.read {
            // The first member with the fewest requests in flight.
            let least = self.in_flight.iter().copied().min().unwrap_or(0);
            let member = self.in_flight.iter().position(|n| *n == least).unwrap_or(0);
            self.send(now, member, slot, io);
        } else {
            for member in 0..self.members.len() {
                self.send(now, member, slot, io);
            }
        }
    }

    /// Submits a request to an array with parity: a read reads the data, a write first reads the
    /// old data and parity, then writes both.
    fn parity(&mut self, now: Tick, slot: u32, io: Io) {
        if io.trim {
            // Discarded stripes keep their parity.
            return self.parity_parts(now, slot, io, false);
        }
        if !io.read {
            self.pending[slot as usize].write_after = Some((io.offset, io.size));
        }
        self.parity_parts(now, slot, Io { read: true, ..io }, !io.read);
    }

    fn parity_parts(&mut self, now: Tick, slot: u32, io: Io, with_parity: bool) {
        let data = self.members.len() as u64 - 1;
        let mut at = self.start + io.offset;
        let end = at + u64::from(io.size);
        let mut touched = 0u64;
        while at < end {
            let number = at / self.stripe;
            let to = end.min((number + 1) * self.stripe);
            let row = number / data;
            let parity = (data - row % (data + 1)) as usize;
            let member = ((parity as u64 + 1 + number % data) % (data + 1)) as usize;
            let part =
                Io { offset: row * self.stripe + at % self.stripe, size: (to - at) as u32, ..io };
            let mut send = |array: &mut Self, member: usize| {
                // One physical request per member and slot: it represents further stripes of the
                // same member.
                if touched >> member & 1 == 0 {
                    touched |= 1 << member;
                    array.send(now, member, slot, part);
                }
            };
            send(self, member);
            if with_parity {
                send(self, parity);
            }
            at = to;
        }
    }

    fn send(&mut self, now: Tick, member: usize, slot: u32, io: Io) {
        self.in_flight[member] += 1;
        self.on[slot as usize] |= 1 << member;
        let pending = &mut self.pending[slot as usize];
        match self.members[member].submit(now, slot, io) {
            Some(end) => {
                pending.end = pending.end.max(end.at);
                pending.errno = if pending.errno == 0 { end.errno } else { pending.errno };
            }
            None => pending.parts += 1,
        }
    }

    /// Counts a finished part. Returns the completion of the request after the last part.
    fn finish_part(&mut self, slot: u32, part: End) -> Option<End> {
        let pending = &mut self.pending[slot as usize];
        pending.parts = pending.parts.saturating_sub(1);
        pending.end = pending.end.max(part.at);
        pending.errno = if pending.errno == 0 { part.errno } else { pending.errno };
        if pending.parts > 0 {
            return None;
        }
        if pending.write_after.is_some() && pending.errno == 0 {
            self.second.push(Reverse((pending.end, slot)));
            return None;
        }
        Some(End { slot, at: pending.end, errno: pending.errno })
    }

    pub(crate) fn next(&self) -> Tick {
        let members = self.members.iter().map(Node::next).min().unwrap_or(NEVER);
        self.second.peek().map_or(members, |Reverse((at, _))| members.min(*at))
    }

    pub(crate) fn step(&mut self, ends: &mut Vec<End>) {
        let at = self.next();
        let mut found = std::mem::take(&mut self.scratch);
        if let Some(Reverse((begin, slot))) = self.second.peek().copied()
            && begin <= at
        {
            self.second.pop();
            self.second_phase(begin, slot, ends);
        } else if let Some(member) = self.members.iter_mut().find(|m| m.next() <= at) {
            member.step(&mut found);
        }
        for part in found.drain(..) {
            ends.extend(self.finish_part(part.slot, part));
        }
        self.scratch = found;
    }

    fn second_phase(&mut self, now: Tick, slot: u32, ends: &mut Vec<End>) {
        self.completed(slot);
        let Some((offset, size)) = self.pending[slot as usize].write_after.take() else { return };
        self.pending[slot as usize] = PendingRequest { parts: 1, ..PendingRequest::default() };
        self.parity_parts(now, slot, Io { read: false, trim: false, offset, size }, true);
        ends.extend(self.finish_part(slot, End { slot, at: now, errno: 0 }));
    }

    /// Notes that the slot's physical requests were completed on all its members.
    #[inline]
    fn completed(&mut self, slot: u32) {
        let mut on = std::mem::take(&mut self.on[slot as usize]);
        while on != 0 {
            let member = on.trailing_zeros() as usize;
            on &= on - 1;
            self.in_flight[member] -= 1;
            match &mut self.members[member] {
                Node::Ssd(ssd) => ssd.completed(),
                member => member.completed(slot),
            }
        }
    }
}

impl Medium for Array {
    #[inline(always)]
    fn submit(&mut self, now: Tick, slot: u32, io: Io) -> Tick {
        // The fast path is used only if all completion times are known at submission.
        Self::submit(self, now, slot, io).map_or(NEVER, |end| end.at)
    }
    #[inline(always)]
    fn completed(&mut self, slot: u32) {
        Self::completed(self, slot);
    }
    #[inline(always)]
    fn further(&self, io: Io) -> u32 {
        Self::further(self, io)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::parameter::parameters;
    use crate::simple::Servers;

    fn striped(count: u64, stripe: u64, start: u64) -> Array {
        let given = BTreeMap::from([
            ("capacity_gb".to_owned(), 1.0),
            ("service_us".to_owned(), 90.0),
            ("servers".to_owned(), 2.0),
            ("exponential".to_owned(), 1.0),
        ]);
        let known = parameters("servers").expect("a kind");
        let values = Values::complete("servers", &known, &given).expect("in range");
        let member = |seed| Node::Servers(Box::new(Servers::new(&values, seed)));
        Array::new(Layout::Striped, (0..count).map(member).collect(), stripe, start)
    }

    proptest! {
        /// The fast path within a stripe gives the same result as the general one.
        #[test]
        fn io_within_a_stripe_matches_general_path(
            count in 2u64..6,
            stripe in prop_oneof![Just(4096u64), Just(65536), Just(12288)],
            start in 0u64..1 << 17,
            ios in prop::collection::vec((0u64..1 << 20, 1u32..9000, any::<bool>()), 1..200),
        ) {
            let (mut whole, mut parts) =
                (striped(count, stripe, start), striped(count, stripe, start));
            for (index, (offset, size, read)) in ios.into_iter().enumerate() {
                let (now, slot) = (index as u64 * 1000, index as u32);
                let io = Io { read, trim: false, offset, size };
                prop_assert_eq!(whole.submit(now, slot, io), parts.in_parts(now, slot, io));
                if index % 3 == 0 {
                    whole.completed(slot);
                    parts.completed(slot);
                }
                prop_assert_eq!(&whole.in_flight, &parts.in_flight);
                let (first, last) = (start + offset, start + offset + u64::from(size) - 1);
                let stripes = last / stripe - first / stripe;
                prop_assert_eq!(u64::from(whole.further(io)), stripes.min(count - 1));
            }
        }
    }
}
