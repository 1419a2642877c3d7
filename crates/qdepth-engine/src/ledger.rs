//! Records of completions: histograms per direction, counts, and the series. All memory is
//! allocated before the loop.

use qdepth_measure::{Instant, LatencyHistogram, Nanos};
use qdepth_workload::{Direction, Point};

use crate::minimum_rate::Counts;
use crate::outcome::{DirectionOutcome, Outcome};
use crate::series::{Interval, Series, is_kept};

/// Length of an interval of the series.
const INTERVAL: Nanos = Nanos::from_millis(100);
/// Maximum number of intervals of a series; longer points get longer intervals.
const INTERVALS_MAX: u64 = 36_000;
/// Bytes reserved for the encoded histograms of an interval, on average.
const INTERVAL_BYTES: u64 = 6 << 10;
/// Upper limit of the memory for the histograms of a series.
const ARENA_MAX: u64 = 128 << 20;
/// Lengths above which a gap without a completion is counted.
const GAPS: [Nanos; 3] = [Nanos::from_millis(100), Nanos::from_secs(1), Nanos::from_secs(10)];

/// Sum of the response times in the window so far, ns.
fn response_times(directions: &[DirectionOutcome]) -> u128 {
    directions
        .iter()
        .filter_map(|direction| direction.response_time.as_ref())
        .map(LatencyHistogram::sum)
        .sum()
}

/// Statistics of one point. `RESPONSE` is true if response times differ from latencies (open
/// loop).
///
/// The cost per I/O of this code limits the rate that can be measured. Work that is the same for
/// completions with one stamp is done once per stamp ([`advance`](Self::advance)). A latency is
/// recorded once, in the histogram of the current interval, and no sum that the histograms contain
/// is kept twice.
#[derive(Debug)]
pub(crate) struct Ledger<const RESPONSE: bool> {
    pub(crate) window_start: Instant,
    /// Moves to the true end when a point ends by bytes, by a final sync, or by interruption.
    pub(crate) window_end: Instant,
    pub(crate) out: Outcome,
    /// Bytes of completed reads, writes, trims and syncs since the window's start.
    bytes: [u64; 4],
    /// Histograms of reads, writes, trims and syncs in the current interval.
    current_histograms: [LatencyHistogram; 4],
    /// Start of the current interval. Its counts and bytes are those before the interval.
    current: Interval,
    completed_before: [u64; 3],
    bytes_before: [u64; 3],
    /// Sum of the response times before the current interval, ns.
    response_before: u128,
    interval_length: Nanos,
    /// End of the current interval.
    interval_end: Instant,
    /// Last stamp that [`advance`](Self::advance) has processed; `NEVER` if it is outside the
    /// window.
    stamp: Instant,
    /// Stamps before this time are known to be in the window: its end, once a stamp in it was seen,
    /// else 0.
    within: Instant,
    /// A gap up to this length changes neither the longest gap nor a count.
    gap_known: Nanos,
    last_completion: Instant,
    /// In an open loop: true if the last request that ended failed.
    failed_last: bool,
    in_flight: u64,
    in_flight_since: Instant,
    /// Time integral of the requests in flight, I/O·ns.
    in_flight_integral: u128,
    /// Parts before the window of latencies that ended in the window, ns.
    clipped: u128,
    /// Parts in the window of latencies that are in no histogram of the window, ns.
    beyond: u128,
}

/// The three stamps of a completed request.
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
        let latency = LatencyHistogram::new();
        let direction = DirectionOutcome { latency, response_time, ..DirectionOutcome::default() };
        let series = Series {
            intervals: Vec::with_capacity(room as usize),
            arena: Vec::with_capacity((room * INTERVAL_BYTES).min(ARENA_MAX) as usize),
            lost: 0,
        };
        let directions = std::array::from_fn(|_| direction.clone());
        Self {
            window_start,
            window_end: window_start + duration,
            out: Outcome { directions, series, ..Outcome::default() },
            bytes: [0; 4],
            current_histograms: std::array::from_fn(|_| LatencyHistogram::new()),
            current: Interval { length: interval_length, ..Interval::default() },
            completed_before: [0; 3],
            bytes_before: [0; 3],
            response_before: 0,
            interval_length,
            interval_end: window_start + interval_length,
            stamp: Instant::NEVER,
            within: Instant(0),
            gap_known: Nanos::ZERO,
            last_completion: window_start,
            failed_last: false,
            in_flight: 0,
            in_flight_since: start,
            in_flight_integral: 0,
            clipped: 0,
            beyond: 0,
        }
    }

    /// Number of intervals that the series has room for.
    pub(crate) fn intervals_max(&self) -> usize {
        self.out.series.intervals.capacity()
    }

    /// Moves the end of the window.
    pub(crate) fn move_end(&mut self, end: Instant) {
        self.window_end = end;
        self.within = Instant(0);
    }

    /// End of the current interval.
    #[inline]
    pub(crate) fn interval_end(&self) -> Instant {
        self.interval_end
    }

    /// Requests completed in the window so far: reads, writes, trims, syncs.
    pub(crate) fn completed_in_window(&self) -> [u64; 4] {
        let mut counts = self.current_histograms.each_ref().map(LatencyHistogram::count);
        counts.iter_mut().zip(self.completed_before).for_each(|(now, before)| *now += before);
        counts
    }

    /// Bytes completed in the window so far.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.iter().sum()
    }

    /// Requests and bytes of reads, writes and trims completed in the window so far.
    pub(crate) fn counts(&self) -> Counts {
        let [completed @ .., _] = self.completed_in_window();
        let [bytes @ .., _] = self.bytes;
        [completed, bytes]
    }

    /// Adds the requests in flight up to `now` to the integral, limited to the window.
    #[inline]
    pub(crate) fn pass(&mut self, now: Instant) {
        if now <= self.in_flight_since {
            return;
        }
        let from = self.in_flight_since.max(self.window_start);
        let to = now.min(self.window_end);
        self.in_flight_integral += u128::from(self.in_flight) * u128::from(to.since(from).0);
        self.in_flight_since = now;
    }

    /// Counts requests issued at the time up to which [`pass`](Self::pass) was called.
    #[inline]
    pub(crate) fn issued(&mut self, count: u64) {
        // An open loop may have nothing in flight, which is not a pause of the storage.
        if RESPONSE && self.in_flight == 0 && !self.failed_last {
            self.last_completion = self.last_completion.max(self.in_flight_since);
        }
        self.out.issued += count;
        self.in_flight += count;
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// True if the stamp is in the window. Does the work shared by all completions with this stamp.
    #[inline(always)]
    fn advance(&mut self, at: Instant) -> bool {
        at == self.stamp || self.step(at)
    }

    #[inline(always)]
    fn step(&mut self, at: Instant) -> bool {
        if at >= self.within {
            return self.first_step(at);
        }
        // Everything since the last stamp is in the window: this is `pass` and `gap` without their
        // checks.
        let passed = at.since(self.in_flight_since);
        self.in_flight_integral += u128::from(self.in_flight) * u128::from(passed.0);
        self.in_flight_since = self.in_flight_since.max(at);
        self.stamp = at;
        let gap = at.since(self.last_completion);
        self.last_completion = at;
        if gap > self.gap_known {
            self.long_gap(gap);
        }
        true
    }

    /// Handles a stamp if the window may have started or ended since the last one.
    #[cold]
    #[inline(never)]
    fn first_step(&mut self, at: Instant) -> bool {
        self.pass(at);
        let inside = at >= self.window_start && at < self.window_end;
        self.stamp = if inside { at } else { Instant::NEVER };
        self.within = if inside { self.window_end } else { Instant(0) };
        if inside {
            self.gap(at);
        } else if RESPONSE && at >= self.window_end && self.last_completion < self.window_end {
            // Its request was in flight up to the end of the window.
            self.gap(self.window_end);
        }
        inside
    }

    /// Records a completed request.
    #[inline(always)]
    pub(crate) fn completed(&mut self, direction: Direction, bytes: u64, stamps: Stamps) {
        let inside = self.advance(stamps.completed);
        if RESPONSE {
            self.failed_last = false;
        }
        self.in_flight -= 1;
        if !inside {
            return self.outside(bytes, stamps);
        }
        let service = stamps.completed.since(stamps.issued);
        let kind = direction as usize;
        self.bytes[kind] += bytes;
        self.current_histograms[kind].record(service);
        if RESPONSE && let Some(response_time) = &mut self.out.directions[kind].response_time {
            response_time.record(stamps.completed.since(stamps.intended));
        }
        if stamps.issued < self.window_start {
            self.clip(stamps.issued);
        }
    }

    /// Notes the part before the window of a latency that ended in it.
    #[cold]
    fn clip(&mut self, issued: Instant) {
        self.clipped += u128::from(self.window_start.since(issued).0);
    }

    #[cold]
    fn outside(&mut self, bytes: u64, stamps: Stamps) {
        self.out.completed_outside += 1;
        self.out.bytes_outside += bytes;
        self.beyond(stamps.issued, stamps.completed);
    }

    /// Adds the part in the window of a latency that is in no histogram.
    fn beyond(&mut self, issued: Instant, completed: Instant) {
        let from = issued.max(self.window_start);
        self.beyond += u128::from(completed.min(self.window_end).since(from).0);
    }

    /// Records a failed request.
    #[cold]
    pub(crate) fn failed(&mut self, direction: Direction, errno: i32, stamps: Stamps) {
        // A failure is not a completion, so it ends no gap.
        self.failed_last = true;
        self.pass(stamps.completed);
        self.in_flight -= 1;
        self.beyond(stamps.issued, stamps.completed);
        if stamps.completed < self.window_start || stamps.completed >= self.window_end {
            self.out.failed_outside += 1;
        } else {
            self.out.directions[direction as usize].errors.count(errno);
        }
    }

    pub(crate) fn short(&mut self, direction: Direction) {
        self.out.directions[direction as usize].short += 1;
    }

    /// Records a request that never completed: its latency extends to the end of the window.
    pub(crate) fn abandoned(&mut self, issued: Instant) {
        self.pass(self.window_end);
        self.in_flight -= 1;
        self.beyond(issued, self.window_end);
        self.out.abandoned += 1;
    }

    fn gap(&mut self, at: Instant) {
        let gap = at.since(self.last_completion);
        self.last_completion = at;
        self.long_gap(gap);
    }

    #[cold]
    #[inline(never)]
    fn long_gap(&mut self, gap: Nanos) {
        self.out.longest_gap = self.out.longest_gap.max(gap);
        self.gap_known = self.out.longest_gap.min(GAPS[0]);
        for (count, limit) in self.out.gaps.iter_mut().zip(GAPS) {
            *count += u64::from(gap > limit);
        }
    }

    /// Closes every interval that has ended by `now`, and passes each to `seen`.
    pub(crate) fn roll(&mut self, now: Instant, seen: &mut impl FnMut(&Interval)) {
        while now >= self.interval_end() && self.interval_end() <= self.window_end {
            self.close(self.interval_length, seen);
        }
    }

    /// Ends the window at `end` and closes the interval that this cuts off.
    pub(crate) fn finish(&mut self, end: Instant, seen: &mut impl FnMut(&Interval)) {
        self.move_end(end);
        self.roll(end, seen);
        let rest = end.since(self.window_start).saturating_sub(self.current.start);
        let counted = self.current_histograms[..3].iter().any(|h| h.count() > 0);
        if counted || (rest > Nanos::ZERO && end > self.window_start) {
            self.close(rest, seen);
        }
        if !RESPONSE || self.in_flight > 0 || self.failed_last {
            self.gap(end.max(self.last_completion));
        }
        self.out.duration = end.since(self.window_start);
        // The window may now end before the last processed stamp.
        self.stamp = Instant::NEVER;
    }

    /// Returns the results. Nothing may be in flight any more.
    pub(crate) fn into_outcome(mut self) -> Outcome {
        // Syncs are in no interval.
        self.out.directions[3].latency.merge(&self.current_histograms[3]);
        let completed = self.completed_in_window();
        for (kind, direction) in self.out.directions.iter_mut().enumerate() {
            direction.completed = completed[kind];
            direction.bytes = self.bytes[kind];
        }
        let recorded: u128 = self.out.directions.iter().map(|d| d.latency.sum()).sum();
        self.out.latency_in_window = (recorded + self.beyond - self.clipped) as f64;
        self.out.in_flight_integral = self.in_flight_integral as f64;
        self.out
    }

    fn close(&mut self, length: Nanos, seen: &mut impl FnMut(&Interval)) {
        let current = &mut self.current;
        current.length = length;
        let sums = self.current_histograms.each_ref().map(LatencyHistogram::sum);
        current.latency_sum = (sums[0] + sums[1] + sums[2]) as u64;
        current.response_time_sum = current.latency_sum;
        if RESPONSE {
            let all = response_times(&self.out.directions[..3]);
            current.response_time_sum = (all - self.response_before) as u64;
            self.response_before = all;
        }
        for kind in 0..3 {
            current.completed[kind] = self.current_histograms[kind].count();
            current.bytes[kind] = self.bytes[kind] - self.bytes_before[kind];
            self.completed_before[kind] += current.completed[kind];
            self.bytes_before[kind] = self.bytes[kind];
        }
        let series = &mut self.out.series;
        let histograms = &mut self.current_histograms[..3];
        let kept = histograms.iter().enumerate().filter(|(kind, each)| is_kept(*kind, each));
        let needed: usize = kept.map(|(_, histogram)| histogram.encoded_len()).sum();
        let fits = series.arena.capacity() - series.arena.len() >= needed;
        for (kind, histogram) in histograms.iter_mut().enumerate() {
            current.ends[kind] = series.arena.len();
            if !is_kept(kind, histogram) {
                continue;
            }
            if fits {
                histogram.encode(&mut series.arena);
                current.ends[kind] = series.arena.len();
            }
            self.out.directions[kind].latency.merge(histogram);
            histogram.clear();
        }
        series.lost += u64::from(!fits);
        if series.intervals.len() < series.intervals.capacity() {
            series.intervals.push(*current);
        } else {
            series.lost += 1;
        }
        seen(current);
        let start = current.start + length;
        self.current = Interval { start, length: self.interval_length, ..Interval::default() };
        self.interval_end = self.window_start + start + self.interval_length;
    }
}
