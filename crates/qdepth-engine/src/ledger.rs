//! What is kept of each completion: histograms per direction, counts, and the series. All room is
//! made before the loop; nothing here allocates while it runs.

use qdepth_measure::{EncodedHistogram, Instant, LatencyHistogram, Nanos};
use qdepth_workload::{Direction, Point};

use crate::outcome::{DirectionOutcome, Outcome};

/// Length of an interval of the series.
const INTERVAL: Nanos = Nanos::from_millis(100);
/// Most intervals of a series; longer points get longer intervals.
const INTERVALS_MAX: u64 = 36_000;
/// Room for the encoded histograms of one interval on average.
const INTERVAL_BYTES: u64 = 6 << 10;
/// Most room for the histograms of a series.
const ARENA_MAX: u64 = 128 << 20;
/// Limits of what counts as a gap without a completion.
const GAPS: [Nanos; 3] = [Nanos::from_millis(100), Nanos::from_secs(1), Nanos::from_secs(10)];

/// One slice of the series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// From the start of the window.
    pub start: Nanos,
    /// Its length.
    pub length: Nanos,
    /// Completed reads and writes.
    pub completed: [u64; 2],
    /// Their bytes.
    pub bytes: [u64; 2],
    /// Sum of their service times, ns.
    pub service_time_sum: u64,
    /// Where the encoded histograms of reads and writes end in the arena.
    ends: [usize; 2],
}

/// The series of a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    intervals: Vec<Interval>,
    arena: Vec<u8>,
    /// Intervals whose histograms found no room.
    pub lost: u64,
}

impl Series {
    /// The slices in order of time.
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// Histograms of the service times of reads and writes of a slice; empty where they were lost.
    pub fn histograms(&self, index: usize) -> [EncodedHistogram; 2] {
        let start = index.checked_sub(1).map_or(0, |former| self.intervals[former].ends[1]);
        let ends = self.intervals[index].ends;
        [start..ends[0], ends[0]..ends[1]].map(|range| EncodedHistogram(self.arena[range].to_vec()))
    }
}

/// Keeps the figures of one point. `RESPONSE` says whether response times differ from service
/// times (open loop).
#[derive(Debug)]
pub(crate) struct Ledger<const RESPONSE: bool> {
    pub(crate) window_start: Instant,
    /// Moves to the true end when a point ends by bytes, by a final sync, or by interruption.
    pub(crate) window_end: Instant,
    pub(crate) out: Outcome,
    current: Interval,
    current_histograms: [LatencyHistogram; 2],
    interval_length: Nanos,
    last_completion: Instant,
    in_flight: u64,
    in_flight_since: Instant,
}

/// One request's stamps at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamps {
    pub(crate) intended: Instant,
    pub(crate) issued: Instant,
    pub(crate) completed: Instant,
}

impl<const RESPONSE: bool> Ledger<RESPONSE> {
    pub(crate) fn new(point: &Point, start: Instant) -> Self {
        let window_start = start + Nanos(point.warm_up_ns);
        let duration = Nanos(point.stop.duration_ns);
        let count = (duration.0 / INTERVAL.0).clamp(1, INTERVALS_MAX);
        let interval_length = Nanos(duration.0.div_ceil(count));
        let room = count + 16;
        let response_time = RESPONSE.then(LatencyHistogram::new);
        let direction = DirectionOutcome { response_time, ..DirectionOutcome::default() };
        let series = Series {
            intervals: Vec::with_capacity(room as usize),
            arena: Vec::with_capacity((room * INTERVAL_BYTES).min(ARENA_MAX) as usize),
            lost: 0,
        };
        let directions = [direction.clone(), direction.clone(), direction];
        Self {
            window_start,
            window_end: window_start + duration,
            out: Outcome { directions, series, ..Outcome::default() },
            current: Interval { length: interval_length, ..Interval::default() },
            current_histograms: Default::default(),
            interval_length,
            last_completion: window_start,
            in_flight: 0,
            in_flight_since: start,
        }
    }

    /// When the running interval ends.
    #[inline]
    pub(crate) fn interval_end(&self) -> Instant {
        self.window_start + self.current.start + self.interval_length
    }

    /// Counts the requests in flight up to `now` into the integral, cut to the window.
    #[inline]
    pub(crate) fn pass(&mut self, now: Instant) {
        let from = self.in_flight_since.max(self.window_start);
        let to = now.min(self.window_end);
        self.out.in_flight_integral += self.in_flight as f64 * to.since(from).0 as f64;
        self.in_flight_since = self.in_flight_since.max(now);
    }

    #[inline]
    pub(crate) fn issued(&mut self) {
        self.out.issued += 1;
        self.in_flight += 1;
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Takes a completed request into the books.
    #[inline]
    pub(crate) fn completed(&mut self, direction: Direction, bytes: u64, stamps: Stamps) {
        self.left(stamps.issued, stamps.completed);
        let at = stamps.completed;
        if at < self.window_start || at >= self.window_end {
            self.out.completed_outside += 1;
            self.out.bytes_outside += bytes;
            return;
        }
        let service = at.since(stamps.issued);
        let kept = &mut self.out.directions[direction as usize];
        kept.completed += 1;
        kept.bytes += bytes;
        kept.service_time.record(service);
        if RESPONSE && let Some(response_time) = &mut kept.response_time {
            response_time.record(at.since(stamps.intended));
        }
        self.gap(at);
        if direction != Direction::Sync {
            self.current.completed[direction as usize] += 1;
            self.current.bytes[direction as usize] += bytes;
            self.current.service_time_sum += service.0;
            self.current_histograms[direction as usize].record(service);
        }
    }

    /// Takes a failed request into the books.
    pub(crate) fn failed(&mut self, direction: Direction, errno: i32, stamps: Stamps) {
        self.left(stamps.issued, stamps.completed);
        if stamps.completed < self.window_start || stamps.completed >= self.window_end {
            self.out.failed_outside += 1;
        } else {
            self.out.directions[direction as usize].errors.count(errno);
        }
    }

    pub(crate) fn short(&mut self, direction: Direction) {
        self.out.directions[direction as usize].short += 1;
    }

    /// A request that never came back: its latency reaches to the end of the window.
    pub(crate) fn abandoned(&mut self, issued: Instant) {
        self.left(issued, self.window_end);
        self.out.abandoned += 1;
    }

    #[inline]
    fn left(&mut self, issued: Instant, completed: Instant) {
        self.pass(completed);
        self.in_flight -= 1;
        let from = issued.max(self.window_start);
        self.out.latency_in_window += completed.min(self.window_end).since(from).0 as f64;
    }

    #[inline]
    fn gap(&mut self, at: Instant) {
        let gap = at.since(self.last_completion);
        self.last_completion = at;
        if gap > self.out.longest_gap {
            self.out.longest_gap = gap;
        }
        if gap > GAPS[0] {
            for (count, limit) in self.out.gaps.iter_mut().zip(GAPS) {
                *count += u64::from(gap > limit);
            }
        }
    }

    /// Closes every interval that has ended by `now`, handing each to `seen`.
    pub(crate) fn roll(&mut self, now: Instant, seen: &mut impl FnMut(&Interval)) {
        while now >= self.interval_end() && self.interval_end() <= self.window_end {
            self.close(self.interval_length, seen);
        }
    }

    /// Ends the window at `end` and closes the interval that was cut by it.
    pub(crate) fn finish(&mut self, end: Instant, seen: &mut impl FnMut(&Interval)) {
        self.window_end = end;
        self.roll(end, seen);
        let rest = end.since(self.window_start).saturating_sub(self.current.start);
        if rest > Nanos::ZERO && end > self.window_start {
            self.close(rest, seen);
        }
        self.gap(end.max(self.last_completion));
        self.out.duration = end.since(self.window_start);
    }

    fn close(&mut self, length: Nanos, seen: &mut impl FnMut(&Interval)) {
        let series = &mut self.out.series;
        let needed: usize = self.current_histograms.iter().map(LatencyHistogram::encoded_len).sum();
        let fits = series.arena.capacity() - series.arena.len() >= needed;
        for (histogram, end) in self.current_histograms.iter_mut().zip(&mut self.current.ends) {
            if fits {
                histogram.encode(&mut series.arena);
            }
            *end = series.arena.len();
            histogram.clear();
        }
        series.lost += u64::from(!fits);
        self.current.length = length;
        if series.intervals.len() < series.intervals.capacity() {
            series.intervals.push(self.current);
        } else {
            series.lost += 1;
        }
        seen(&self.current);
        let start = self.current.start + length;
        self.current = Interval { start, length: self.interval_length, ..Interval::default() };
    }
}
