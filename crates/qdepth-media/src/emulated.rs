//! Target in virtual time: only waiting advances its clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use qdepth_engine::{Completion, Completions, Slot, Target, TargetFailure};
use qdepth_measure::{Instant, Nanos};
use qdepth_workload::{Direction, Request};

use crate::calendar::CalendarQueue;
use crate::host::Host;
use crate::io::{End, Io};
use crate::node::{Array, Node};
use crate::single::{Single, StreamRoute};
use crate::ssd::{Ssd, Wear};
use crate::tick::{NEVER, Tick, instant, ticks};

/// Minimum number of slots: the number of I/Os in flight that are served over NBD.
pub const SLOTS: usize = 4096;

/// Targets with a specialised fast path.
pub(crate) enum FastPath<'e> {
    Ssd(Single<'e, Ssd>),
    Array(Single<'e, Array>),
}

/// Owner of a slot.
#[derive(Clone, Copy, Debug)]
struct SlotOwner {
    stream: u16,
    node: u16,
}

/// Next stage of a request in the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// Arrives at the part of the kernel that all processes share.
    Shared,
    /// Arrives at the device.
    Medium,
}

/// Emulated devices in virtual time. They do no I/O and read no clock; the same requests give the
/// same results everywhere.
#[derive(Clone, Debug)]
pub struct Emulated {
    now: Instant,
    host: Host,
    nodes: Vec<Node>,
    /// Number of nodes of each target.
    nodes_per_target: Vec<usize>,
    routes: Vec<StreamRoute>,
    owners: Vec<SlotOwner>,
    requests: Vec<Io>,
    pending: CalendarQueue,
    /// Time of the last completion handed back, ns; ahead of `now` if answers have a lead.
    last_end: u64,
    host_events: BinaryHeap<Reverse<(Tick, Stage, u32)>>,
    ends: Vec<End>,
    /// Number of requests by which a stream may be ahead of the slowest; 0 for no limit.
    bound: u64,
    /// Requests begun, per stream.
    begun: Vec<u64>,
    /// Requests in flight, per stream.
    present: Vec<u32>,
    /// Slots that wait because their streams are too far ahead.
    waiting: Vec<u32>,
    /// True if anything is decided between submission and completion: there are internal events.
    staged: bool,
}

impl Emulated {
    /// Target of these nodes. A `bound` gives several streams equal work: it is the maximum number
    /// of requests by which a stream may be ahead of the slowest.
    pub(crate) fn new(
        host: Host,
        nodes: Vec<Node>,
        nodes_per_target: Vec<usize>,
        routes: Vec<StreamRoute>,
        queue_depth: &[u32],
        bound: u64,
    ) -> Self {
        let several = routes.len() > 1;
        let immediate = nodes.iter().all(Node::is_immediate);
        let last = routes.len().saturating_sub(1) as u16;
        let owner = |stream: u16| {
            let node = routes.get(usize::from(stream)).map_or(0, |route| route.node as u16);
            SlotOwner { stream, node }
        };
        let slots = queue_depth.iter().map(|slots| (*slots).max(1) as usize).sum::<usize>();
        let slots = slots.max(SLOTS);
        let owned = (0..)
            .zip(queue_depth)
            .flat_map(|(stream, slots)| std::iter::repeat_n(stream, (*slots).max(1) as usize));
        Self {
            now: Instant(0),
            staged: !immediate || (several && (bound > 0 || !host.is_none())),
            host,
            nodes_per_target,
            nodes,
            bound: if several { bound } else { 0 },
            begun: vec![0; routes.len()],
            present: vec![0; routes.len()],
            waiting: Vec::with_capacity(slots),
            owners: owned.chain(std::iter::repeat(last)).take(slots).map(owner).collect(),
            routes,
            requests: vec![Io { read: true, trim: false, offset: 0, size: 0 }; slots],
            pending: CalendarQueue::new(slots),
            last_end: 0,
            host_events: BinaryHeap::with_capacity(slots),
            ends: Vec::with_capacity(slots),
        }
    }

    /// Fast path for a single device or array under one stream; `None` for other targets.
    pub(crate) fn fast_path(&mut self) -> Option<FastPath<'_>> {
        let [route] = self.routes[..] else { return None };
        // Completions handed back ahead of time delay those that follow.
        if self.staged || self.last_end > self.now.0 {
            return None;
        }
        let Self { now, host, nodes, pending, .. } = self;
        match &mut nodes[..] {
            [Node::Ssd(medium)] => {
                Some(FastPath::Ssd(Single { now, host, route, medium, pending }))
            }
            [Node::Array(medium)] => {
                Some(FastPath::Array(Single { now, host, route, medium, pending }))
            }
            _ => None,
        }
    }

    /// Number of thermal throttling events of each device's drives since it was opened.
    pub fn throttles(&self) -> Vec<u32> {
        self.drives(|drives| drives.flatten().map(Ssd::throttles).sum())
    }

    /// Current wear of each drive, for the next point's target.
    pub fn wear(&self) -> Vec<Vec<Wear>> {
        let wear = |drive: Option<&Ssd>| drive.map_or(Wear::STEADY, Ssd::wear);
        self.drives(|drives| drives.map(wear).collect())
    }

    /// A figure of each target, from its drives.
    fn drives<T>(&self, figure: impl Fn(&mut dyn Iterator<Item = Option<&Ssd>>) -> T) -> Vec<T> {
        let mut nodes = self.nodes.iter();
        let of_target =
            |count: &usize| figure(&mut nodes.by_ref().take(*count).flat_map(Node::drives));
        self.nodes_per_target.iter().map(of_target).collect()
    }

    /// Passes waiting requests to the host if their streams are not too far ahead of the slowest
    /// active one.
    fn release(&mut self) {
        while !self.waiting.is_empty() {
            let working = self.begun.iter().zip(&self.present).filter(|(_, n)| **n > 0);
            let slowest = working.map(|(begun, _)| *begun).min().unwrap_or(0);
            let may =
                |slot: &u32| self.begun[self.owner(*slot).stream as usize] < slowest + self.bound;
            let Some(index) = self.waiting.iter().position(may) else { return };
            let slot = self.waiting.remove(index);
            let stream = self.owner(slot).stream;
            self.begun[stream as usize] += 1;
            self.hand_to_host(slot);
        }
    }

    #[inline]
    fn owner(&self, slot: u32) -> SlotOwner {
        self.owners[slot as usize]
    }

    fn hand_to_host(&mut self, slot: u32) {
        let SlotOwner { stream, node, .. } = self.owner(slot);
        let io = self.requests[slot as usize];
        let further = self.nodes[node as usize].further(io);
        let issued = self.host.process(ticks(self.now), stream as usize, io, further);
        self.host_events.push(Reverse((issued, Stage::Shared, slot)));
    }

    /// Schedules the completion of a request of `size` bytes.
    #[inline]
    fn end(&mut self, end: End, size: u32) {
        let result = if end.errno == 0 { size.cast_signed() } else { -end.errno };
        let at = instant(end.at).0.max(self.now.0).max(self.last_end);
        self.pending.push(at, end.slot, result);
    }

    #[inline]
    fn hand_to_medium(&mut self, at: Tick, slot: u32) {
        let io = self.requests[slot as usize];
        let node = self.owner(slot).node;
        if let Some(end) = self.nodes[node as usize].submit(at, slot, io) {
            self.end(end, io.size);
        }
    }

    /// Returns the time of the next internal event.
    fn next_event(&self) -> Tick {
        let host = self.host_events.peek().map_or(NEVER, |Reverse((at, ..))| *at);
        self.nodes.iter().map(Node::next).min().map_or(host, |node| node.min(host))
    }

    fn step(&mut self, at: Tick) {
        if let Some(Reverse((due, stage, slot))) = self.host_events.peek().copied()
            && due <= at
        {
            self.host_events.pop();
            match stage {
                Stage::Shared => {
                    let node = self.owner(slot).node;
                    let further = self.nodes[node as usize].further(self.requests[slot as usize]);
                    let passed = self.host.share(due, further);
                    self.host_events.push(Reverse((passed, Stage::Medium, slot)));
                }
                Stage::Medium => self.hand_to_medium(due, slot),
            }
            return;
        }
        let mut ends = std::mem::take(&mut self.ends);
        if let Some(node) = self.nodes.iter_mut().find(|node| node.next() <= at) {
            node.step(&mut ends);
        }
        for end in ends.drain(..) {
            self.end(end, self.requests[end.slot as usize].size);
        }
        self.ends = ends;
    }

    /// Processes internal events up to the next completion, at most up to `until`.
    fn settle(&mut self, until: Instant) {
        loop {
            let event = self.next_event();
            let ended = self.pending.peek().map_or(until.0, |(at, _)| at);
            if event == NEVER || event > ticks(Instant(ended.min(until.0))) {
                return;
            }
            self.step(event);
        }
    }

    /// Hands back completions up to `limit`, as far as there is room.
    #[inline]
    fn deliver_completions(&mut self, limit: Instant, done: &mut Completions) {
        while let Some((at, slot)) = self.pending.peek() {
            if at > limit.0 || !done.has_room() {
                return;
            }
            let result = self.pending.take();
            self.last_end = at;
            let SlotOwner { stream, node } = self.owner(slot);
            if result != 0 {
                // Result 0 is a sync, which no device received.
                self.nodes[node as usize].completed(slot);
                if self.bound > 0 {
                    self.present[stream as usize] -= 1;
                }
            }
            done.push(Completion { slot: Slot(slot), result, at: Instant(at) });
        }
    }

    /// Advances virtual time to `clock`, for a device that is served in real time, and hands back
    /// completions up to `lead` after it: answers leave early by the time that they take to the
    /// client. Internal events are processed only when they are due, because earlier requests may
    /// still arrive.
    pub fn keep_up(&mut self, clock: Instant, lead: Nanos, done: &mut Completions) {
        loop {
            if self.staged {
                self.release();
                self.settle(clock);
            }
            self.deliver_completions(Instant(clock.0.saturating_add(lead.0)), done);
            let decided = !self.staged || self.next_event() > ticks(clock);
            if decided || !done.has_room() {
                break;
            }
        }
        self.now = self.now.max(clock);
    }

    /// Returns the time of the next completion or internal event, as far as it is known;
    /// [`keep_up`](Self::keep_up) does not have to be called earlier.
    pub fn next_due(&self) -> Option<Instant> {
        let end = self.pending.peek().map(|(at, _)| Instant(at));
        let event = Some(self.next_event()).filter(|at| *at != NEVER).map(instant);
        end.into_iter().chain(event).min()
    }
}

impl Target for Emulated {
    #[inline]
    fn now(&mut self) -> Instant {
        self.now
    }

    #[inline]
    fn submit(&mut self, slot: Slot, request: Request) {
        let now = ticks(self.now);
        let index = slot.0 as usize;
        if request.direction == Direction::Sync {
            // A sync completes at once: acknowledged data counts as safe. Flash drives have
            // capacitors; write caches of disks are not modelled.
            self.pending.push(self.now.0.max(self.last_end), slot.0, 0);
            return;
        }
        let owner = self.owners[index];
        let (stream, node) = (owner.stream as usize, owner.node as usize);
        let io = self.routes[stream].io(request);
        if self.staged {
            self.requests[index] = io;
            if self.bound > 0 {
                self.present[stream] += 1;
                self.waiting.push(slot.0);
            } else {
                self.hand_to_host(slot.0);
            }
            return;
        }
        let node = &mut self.nodes[node];
        let further = node.further(io);
        let issued = self.host.process(now, stream, io, further);
        let at = self.host.share(issued, further);
        if let Some(end) = node.submit(at, slot.0, io) {
            self.end(end, io.size);
        }
    }

    #[inline]
    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        if self.staged {
            // By now, every stream that continues has submitted.
            self.release();
            self.settle(until);
        }
        let Some((first, _)) = self.pending.peek() else {
            self.now = self.now.max(until);
            return Ok(());
        };
        self.now = self.now.max(Instant(first).min(until));
        self.deliver_completions(self.now, done);
        Ok(())
    }
}
