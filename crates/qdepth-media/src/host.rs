//! Host computer in front of the devices: processes that spend CPU time on each request, and a part
//! of the kernel that all of them share.

use crate::io::Io;
use crate::parameter::Values;
use crate::tick::{Tick, cost, micros};

/// BIOS and operating system settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Settings {
    /// Full clock rate and no deep sleep states, like in the papers.
    #[default]
    Performance,
    /// Factory settings.
    Default,
}

/// State of the host. Pairs are indexed by `usize::from(io.read)`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Host {
    /// CPU time per request: write, read.
    request: [Tick; 2],
    /// CPU time per KiB: write, read.
    per_kib: [Tick; 2],
    thread_per_kib: Tick,
    shared: Tick,
    processes: Vec<Tick>,
    shared_free: Tick,
}

impl Host {
    /// Host with one process per stream, scaled to `ghz`.
    pub(crate) fn new(
        values: &Values,
        ghz: Option<f64>,
        settings: Settings,
        streams: usize,
    ) -> Self {
        let slower = ghz.map_or(1.0, |ghz| values.get("ghz") / ghz);
        let scaled = |name| micros(values.get(name) * slower);
        let sleepy = if settings == Settings::Default { scaled("default_write_us") } else { 0 };
        Self {
            request: [scaled("write_us") + sleepy, scaled("read_us")],
            per_kib: [scaled("us_per_kib") + scaled("write_us_per_kib"), scaled("us_per_kib")],
            thread_per_kib: scaled("thread_us_per_kib"),
            shared: scaled("shared_us"),
            ..Self::none(streams)
        }
    }

    /// No host: requests reach the device immediately.
    pub(crate) fn none(streams: usize) -> Self {
        Self { processes: vec![0; streams], ..Self::default() }
    }

    /// True if requests reach the device immediately.
    pub(crate) fn is_none(&self) -> bool {
        self.request == [0, 0]
            && self.per_kib == [0, 0]
            && self.shared == 0
            && self.thread_per_kib == 0
    }

    /// Returns the time at which the process has issued the request. Each of the `further` physical
    /// requests costs the shared part of the kernel once more.
    #[inline]
    pub(crate) fn process(&mut self, now: Tick, stream: usize, io: Io, further: u32) -> Tick {
        let mut busy = self.request[usize::from(io.read)]
            + cost(io.moved(), self.per_kib[usize::from(io.read)]);
        busy += self.shared * u64::from(further);
        let free = &mut self.processes[stream];
        *free = now.max(*free) + busy;
        *free + cost(io.moved(), self.thread_per_kib)
    }

    /// Returns the time at which the shared part of the kernel has passed on the request and its
    /// further physical ones; called in order of arrival.
    #[inline]
    pub(crate) fn share(&mut self, arrived: Tick, further: u32) -> Tick {
        if self.shared == 0 {
            return arrived;
        }
        self.shared_free = self.shared_free.max(arrived) + self.shared * u64::from(1 + further);
        self.shared_free
    }
}
