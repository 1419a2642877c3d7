//! Devices with a known analytical solution: servers with a given service time, and a cloud volume
//! with provisioned rates.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::io::Io;
use crate::parameter::Values;
use crate::tick::{Tick, cost, micros, per_kib_at};

/// Time of a parameter for writes and for reads.
fn both(values: &Values, name: &str) -> [Tick; 2] {
    let read = values.get(name);
    [micros(read * values.get("write_factor")), micros(read)]
}

/// Servers with one queue in order of arrival: M/D/c and M/M/c under Poisson arrivals.
#[derive(Clone, Debug)]
pub(crate) struct Servers {
    /// Service time: write, read.
    service: [Tick; 2],
    per_kib: [Tick; 2],
    delay: Tick,
    exponential: bool,
    /// Time at which each server becomes free; empty if there is no queueing.
    free: BinaryHeap<Reverse<Tick>>,
    random: Xoshiro256PlusPlus,
}

impl Servers {
    pub(crate) fn new(values: &Values, seed: u64) -> Self {
        let servers = values.get("servers") as usize;
        let free = if servers >= 4096 { 0 } else { servers };
        Self {
            service: both(values, "service_us"),
            per_kib: both(values, "service_us_per_kib"),
            delay: micros(values.get("delay_us")),
            exponential: values.get("exponential") >= 0.5,
            free: (0..free).map(|_| Reverse(0)).collect(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    pub(crate) fn submit(&mut self, now: Tick, io: Io) -> Tick {
        let free = self.free.pop().map(|Reverse(free)| free);
        let end = now.max(free.unwrap_or(now)) + self.length(io);
        if free.is_some() {
            self.free.push(Reverse(end));
        }
        end + self.delay
    }

    fn length(&mut self, io: Io) -> Tick {
        let side = usize::from(io.read);
        let mean = self.service[side] + cost(io.moved(), self.per_kib[side]);
        if !self.exponential {
            return mean;
        }
        let uniform = ((self.random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        (-libm::log(uniform) * mean as f64).round() as Tick
    }
}

/// Cloud volume with two token buckets: for I/Os (with burst credits) and for bytes.
#[derive(Clone, Debug)]
pub(crate) struct Volume {
    /// Latency: write, read.
    latency: [Tick; 2],
    latency_per_kib: [Tick; 2],
    gap: Tick,
    burst_gap: Tick,
    credits_max: Tick,
    per_kib: Tick,
    /// Limits for writes and reads; only the first one is used if directions share a limit.
    limits: [Limit; 2],
    separate_limits: bool,
}

/// Remaining credits of a volume's limits.
#[derive(Clone, Copy, Debug)]
struct Limit {
    /// Credits, in ticks of the provisioned gap between I/Os.
    credits: Tick,
    counted: Tick,
    free: Tick,
    bytes_free: Tick,
}

impl Volume {
    pub(crate) fn new(values: &Values) -> Self {
        let get = |name| values.get(name);
        let gap = micros(1e6 / get("io_per_s"));
        // The bucket holds at least one I/O, so that the first one starts at once.
        let credits = ((get("credits") * gap as f64) as Tick).max(gap);
        Self {
            latency: both(values, "latency_us"),
            latency_per_kib: both(values, "latency_us_per_kib"),
            gap,
            burst_gap: micros(1e6 / get("burst_io_per_s")).min(gap),
            credits_max: credits,
            per_kib: per_kib_at(get("mb_s")),
            limits: [Limit { credits, counted: 0, free: 0, bytes_free: 0 }; 2],
            separate_limits: get("limits_apart") >= 0.5,
        }
    }

    pub(crate) fn submit(&mut self, now: Tick, io: Io) -> Tick {
        let side = usize::from(io.read);
        let limit = &mut self.limits[if self.separate_limits { side } else { 0 }];
        let begin = now.max(limit.free);
        limit.credits = (limit.credits + (begin - limit.counted)).min(self.credits_max);
        // Every I/O costs one gap of credits. It waits for missing ones.
        let lacks = self.gap.saturating_sub(limit.credits);
        let begin = begin + lacks;
        limit.credits = limit.credits + lacks - self.gap;
        limit.counted = begin;
        limit.free = begin + self.burst_gap;
        limit.bytes_free = limit.bytes_free.max(now) + cost(io.moved(), self.per_kib);
        let latency = self.latency[side] + cost(io.moved(), self.latency_per_kib[side]);
        (begin + latency).max(limit.bytes_free)
    }
}
