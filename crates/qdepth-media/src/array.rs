//! Arrangements of members: striped, mirrored, with parity, and a volume layer's one queue above.
//! A slot has at most one physical request in flight on a member.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::io::{End, Io};
use crate::node::Node;
use crate::parameter::Values;
use crate::tick::{NEVER, Tick, cost, micros};

/// How data lies on the members.
#[derive(Clone, Debug)]
pub(crate) enum Layout {
    /// RAID 0.
    Striped,
    /// RAID 1.
    Mirrored,
    /// RAID 5, left-symmetric.
    Parity,
}

/// What is left of a slot's request.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    parts: u32,
    end: Tick,
    errno: i32,
    /// The request itself, while the old data of a parity write is read.
    write_after: Option<(u64, u32)>,
    /// The members that a mirrored request is on, as bits.
    on: u64,
}

/// Several members as one.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    layout: Layout,
    members: Vec<Node>,
    stripe: u64,
    /// Where the area begins within a stripe.
    start: u64,
    open: Vec<Open>,
    in_flight: Vec<u32>,
    /// Second phases of parity writes, by the moment they begin.
    second: BinaryHeap<Reverse<(Tick, u32)>>,
    scratch: Vec<End>,
    queue: Queue,
}

/// A layer's one queue, which every request passes.
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
        self.free =
            self.free.max(now) + self.request + cost(io.size, self.per_kib[usize::from(io.read)]);
        self.free
    }
}

impl Array {
    pub(crate) fn new(layout: Layout, members: Vec<Node>, stripe: u64, start: u64) -> Self {
        let in_flight = vec![0; members.len()];
        Self {
            layout,
            members,
            stripe,
            start,
            open: vec![Open::default(); 4096],
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

    /// Whether every end is known when a request is submitted.
    pub(crate) fn is_immediate(&self) -> bool {
        !matches!(self.layout, Layout::Parity) && self.members.iter().all(Node::is_immediate)
    }

    pub(crate) fn members(&self) -> &[Node] {
        &self.members
    }

    pub(crate) fn submit(&mut self, now: Tick, slot: u32, io: Io) -> Option<End> {
        let now = self.queue.pass(now, io);
        self.open[slot as usize] = Open { parts: 1, ..Open::default() };
        match self.layout {
            Layout::Striped => self.striped(now, slot, io),
            Layout::Mirrored => self.mirrored(now, slot, io),
            Layout::Parity => self.parity(now, slot, io),
        }
        self.closed(slot, End { slot, at: now, errno: 0 })
    }

    /// How many physical requests a request becomes beyond one.
    pub(crate) fn further(&self, io: Io) -> u32 {
        match self.layout {
            Layout::Mirrored if io.read => 0,
            Layout::Mirrored => self.members.len() as u32 - 1,
            Layout::Striped | Layout::Parity => {
                let start = self.start + io.offset;
                let stripes = (start + u64::from(io.size) - 1) / self.stripe - start / self.stripe;
                stripes.min(self.members.len() as u64 - 1) as u32
            }
        }
    }

    fn striped(&mut self, now: Tick, slot: u32, io: Io) {
        let count = self.members.len() as u64;
        let (start, end) = (self.start + io.offset, self.start + io.offset + u64::from(io.size));
        let (first, last) = (start / self.stripe, (end - 1) / self.stripe);
        for number in first..=last.min(first + count - 1) {
            let (row, member) = (number / count, (number % count) as usize);
            // Stripes of later rows on this member follow this one without a gap.
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
            // The member with fewer requests in flight; the first where they are even.
            let least = self.in_flight.iter().copied().min().unwrap_or(0);
            let member = self.in_flight.iter().position(|n| *n == least).unwrap_or(0);
            self.send(now, member, slot, io);
        } else {
            for member in 0..self.members.len() {
                self.send(now, member, slot, io);
            }
        }
    }

    /// A read goes to its data; a write reads the old data and parity first, then writes both.
    fn parity(&mut self, now: Tick, slot: u32, io: Io) {
        if !io.read {
            self.open[slot as usize].write_after = Some((io.offset, io.size));
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
                // One physical request per member and slot: further stripes ride along.
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
        let open = &mut self.open[slot as usize];
        open.on |= 1 << member;
        match self.members[member].submit(now, slot, io) {
            Some(end) => {
                open.end = open.end.max(end.at);
                open.errno = if open.errno == 0 { end.errno } else { open.errno };
            }
            None => open.parts += 1,
        }
    }

    /// One part less; the end of all, where that was the last.
    fn closed(&mut self, slot: u32, part: End) -> Option<End> {
        let open = &mut self.open[slot as usize];
        open.parts = open.parts.saturating_sub(1);
        open.end = open.end.max(part.at);
        open.errno = if open.errno == 0 { part.errno } else { open.errno };
        if open.parts > 0 {
            return None;
        }
        if open.write_after.is_some() && open.errno == 0 {
            self.second.push(Reverse((open.end, slot)));
            return None;
        }
        Some(End { slot, at: open.end, errno: open.errno })
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
            ends.extend(self.closed(part.slot, part));
        }
        self.scratch = found;
    }

    fn second_phase(&mut self, now: Tick, slot: u32, ends: &mut Vec<End>) {
        self.release(slot);
        let Some((offset, size)) = self.open[slot as usize].write_after.take() else { return };
        self.open[slot as usize] = Open { parts: 1, ..Open::default() };
        self.parity_parts(now, slot, Io { read: false, offset, size }, true);
        ends.extend(self.closed(slot, End { slot, at: now, errno: 0 }));
    }

    /// A slot's physical requests have ended on every member that it was on.
    fn release(&mut self, slot: u32) {
        let on = self.open[slot as usize].on;
        for (member, node) in self.members.iter_mut().enumerate() {
            if on >> member & 1 == 1 {
                self.in_flight[member] -= 1;
                node.completed(slot);
            }
        }
        self.open[slot as usize].on = 0;
    }

    pub(crate) fn completed(&mut self, slot: u32) {
        self.release(slot);
    }
}
