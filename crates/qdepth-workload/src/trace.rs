//! Recorded requests to replay, each with its time, position and size.

use std::fmt::Write;
use std::str::FromStr;
use std::sync::Arc;

use qdepth_measure::Instant;
use serde::{Deserialize, Serialize};

use crate::request::{Direction, Request};
use crate::size::SizeMix;

/// Maximum number of requests of a trace: it is part of the plan's text, which is stored with every
/// run.
const REQUESTS_MAX: usize = 200_000;
/// Latest time of a request: one week.
const TIME_MAX_NS: u64 = 7 * 86_400 * 1_000_000_000;
/// Maximum number of sizes in the mix of a trace, apart from the largest.
const SIZES_MAX: usize = 64;

/// Letters of a trace's text.
const LETTERS: [(&str, Direction); 4] = [
    ("r", Direction::Read),
    ("w", Direction::Write),
    ("t", Direction::Trim),
    ("s", Direction::Sync),
];

/// A recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Time from the start of the recording, nanoseconds.
    pub at_ns: u64,
    /// Request; a flush has neither position nor size.
    pub request: Request,
}

/// Recorded requests in the order of their times. Its text has a line for each: the time in
/// nanoseconds, `r`, `w`, `t` (trim) or `s` (force out), the first byte, the number of bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Trace(Arc<[Recorded]>);

impl Trace {
    /// Trace of these requests, sorted by time.
    ///
    /// # Errors
    /// If no request moves or discards data, there are too many, or one is invalid.
    pub fn new(mut list: Vec<Recorded>) -> Result<Self, String> {
        if !list.iter().any(|recorded| recorded.request.size > 0) {
            return Err("the trace has no I/O that transfers or discards data".to_owned());
        }
        if list.len() > REQUESTS_MAX {
            let count = list.len();
            return Err(format!("the trace has {count} I/Os; at most {REQUESTS_MAX} are allowed"));
        }
        list.sort_by_key(|recorded| recorded.at_ns);
        let wrong = |recorded: &&Recorded| {
            let Request { direction, offset, size } = recorded.request;
            let is_sync = direction == Direction::Sync;
            recorded.at_ns > TIME_MAX_NS
                || (size == 0) != is_sync
                || (is_sync && offset > 0)
                || (direction != Direction::Trim && i32::try_from(size).is_err())
        };
        match list.iter().find(wrong) {
            Some(recorded) => Err(format!("no request can be `{}`", line(recorded))),
            None => Ok(Self(list.into())),
        }
    }

    /// The requests.
    pub fn requests(&self) -> &[Recorded] {
        &self.0
    }

    /// Bytes that one pass moves or discards.
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|recorded| u64::from(recorded.request.size)).sum()
    }

    /// Size of the largest request that transfers data; 0 if there is none.
    pub fn largest_transfer(&self) -> u32 {
        let transfers = self.0.iter().filter(|r| r.request.direction != Direction::Trim);
        transfers.map(|r| r.request.size).max().unwrap_or(0)
    }

    /// End of the last byte.
    pub fn end_bytes(&self) -> u64 {
        let end = |r: &Recorded| r.request.offset.saturating_add(u64::from(r.request.size));
        self.0.iter().map(end).max().unwrap_or(0)
    }

    /// Shares of reads and of trims among the requests that move or discard data, 0..=1.
    pub fn shares(&self) -> (f64, f64) {
        let count = |direction: Direction| {
            self.0.iter().filter(|r| r.request.direction == direction).count()
        };
        let [reads, writes, trims] = [Direction::Read, Direction::Write, Direction::Trim]
            .map(|direction| count(direction) as f64);
        let all = (reads + writes + trims).max(1.0);
        (reads / all, trims / all)
    }

    /// Share of its requests that do not begin at the end of the previous one, 0..=1.
    pub fn random_share(&self) -> f64 {
        let moves = || self.0.iter().map(|r| r.request).filter(|request| request.size > 0);
        let follows = |(a, b): &(Request, Request)| a.offset + u64::from(a.size) == b.offset;
        let pairs = moves().count().saturating_sub(1);
        let following = moves().zip(moves().skip(1)).filter(follows).count();
        if pairs == 0 { 0.0 } else { 1.0 - following as f64 / pairs as f64 }
    }

    /// Its sizes with their counts; if there are too many, the most frequent ones and the largest.
    pub fn sizes(&self) -> SizeMix {
        let mut counts = std::collections::BTreeMap::<u32, u32>::new();
        for recorded in self.0.iter().filter(|recorded| recorded.request.size > 0) {
            *counts.entry(recorded.request.size).or_default() += 1;
        }
        let largest = counts.last_key_value().map(|(size, count)| (*size, *count));
        let mut sizes: Vec<(u32, u32)> = counts.into_iter().collect();
        sizes.sort_by_key(|(size, count)| (std::cmp::Reverse(*count), *size));
        sizes.truncate(SIZES_MAX);
        sizes.extend(largest.filter(|largest| !sizes.contains(largest)));
        sizes.sort_unstable();
        SizeMix { sizes }
    }

    /// Checks that a load may issue them: all within the area, none larger than its largest size,
    /// and none of a kind that the load does not declare.
    pub(crate) fn check(
        &self,
        area_bytes: u64,
        largest: u32,
        read_share: f64,
        trim_share: f64,
    ) -> Result<(), String> {
        let may = |recorded: &&Recorded| {
            let Request { direction, offset, size } = recorded.request;
            let ends = offset.checked_add(u64::from(size));
            let allowed = match direction {
                Direction::Read => read_share > 0.0,
                Direction::Write => read_share + trim_share < 1.0,
                Direction::Trim => trim_share > 0.0,
                Direction::Sync => true,
            };
            allowed && size <= largest && ends.is_some_and(|end| end <= area_bytes)
        };
        match self.0.iter().find(|recorded| !may(recorded)) {
            None => Ok(()),
            Some(recorded) => Err(format!(
                "trace: `{}` is outside the area of {area_bytes} B, larger than {largest} B, or \
                 not an operation of the profile (read, write, trim)",
                line(recorded)
            )),
        }
    }
}

fn line(recorded: &Recorded) -> String {
    let Request { direction, offset, size } = recorded.request;
    let letter = LETTERS.iter().find(|(_, known)| *known == direction).map_or("", |(word, _)| word);
    format!("{} {letter} {offset} {size}", recorded.at_ns)
}

impl From<Trace> for String {
    fn from(trace: Trace) -> Self {
        let mut text = Self::new();
        for recorded in trace.requests() {
            // Writing to a String never fails.
            let _ = writeln!(text, "{}", line(recorded));
        }
        text
    }
}

impl TryFrom<String> for Trace {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Trace {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let read = |line: &str| -> Option<Recorded> {
            let mut words = line.split_whitespace();
            let at_ns = words.next()?.parse().ok()?;
            let letter = words.next()?;
            let (_, direction) = *LETTERS.iter().find(|(known, _)| *known == letter)?;
            let offset = words.next()?.parse().ok()?;
            let size = words.next()?.parse().ok()?;
            let request = Request { direction, offset, size };
            words.next().is_none().then_some(Recorded { at_ns, request })
        };
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let request = |line: &str| {
            let wrong =
                || format!("trace: `{line}` is not an I/O: use for example `120000 r 4096 8192`");
            read(line).ok_or_else(wrong)
        };
        // One more than the maximum, so that an endless text does not take endless memory.
        Self::new(lines.take(REQUESTS_MAX + 1).map(request).collect::<Result<_, _>>()?)
    }
}

/// Endless repetition of the requests of a trace.
#[derive(Debug)]
pub(crate) struct Replay {
    trace: Trace,
    next: usize,
}

impl Replay {
    pub(crate) fn new(trace: Trace) -> Self {
        Self { trace, next: 0 }
    }

    pub(crate) fn draw(&mut self) -> Request {
        let requests = self.trace.requests();
        let request = requests[self.next].request;
        self.next = if self.next + 1 < requests.len() { self.next + 1 } else { 0 };
        request
    }
}

/// Endless repetition of the times of a trace, `speed` times as fast.
#[derive(Debug)]
pub(crate) struct Times {
    trace: Trace,
    start: f64,
    speed: f64,
    next: usize,
}

impl Times {
    pub(crate) fn new(trace: Trace, start: Instant, speed: f64) -> Self {
        Self { trace, start: start.0 as f64, speed, next: 0 }
    }

    fn at(&self, index: usize) -> f64 {
        self.start + self.trace.requests()[index].at_ns as f64 / self.speed
    }

    /// Returns the intended time of the next request, nanoseconds.
    pub(crate) fn now(&self) -> f64 {
        self.at(self.next)
    }

    /// Moves to the next request; each further pass begins at the time of the last request.
    pub(crate) fn advance(&mut self) {
        self.next += 1;
        if self.next == self.trace.requests().len() {
            self.start = self.at(self.next - 1);
            self.next = 0;
        }
    }

    /// Requests of this pass that are due and not taken.
    pub(crate) fn due(&self, now: Instant) -> u64 {
        let is_due =
            |recorded: &Recorded| self.start + recorded.at_ns as f64 / self.speed <= now.0 as f64;
        self.trace.requests()[self.next..].partition_point(is_due) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "0 r 0 4096\n1000 w 4096 8192\n1000 s 0 0\n3000 t 65536 512\n";

    #[test]
    fn trace_round_trips_and_reports_its_totals() {
        let trace: Trace = TEXT.parse().unwrap();
        assert_eq!(String::from(trace.clone()), TEXT);
        assert_eq!((trace.bytes(), trace.end_bytes()), (12_800, 66_048));
        let (reads, trims) = trace.shares();
        assert!((reads - 1.0 / 3.0).abs() < 1e-12 && (trims - 1.0 / 3.0).abs() < 1e-12);
        assert!((trace.random_share() - 0.5).abs() < 1e-12);
        assert_eq!(trace.sizes().sizes, [(512, 1), (4096, 1), (8192, 1)]);
        let stored = serde_json::to_string(&trace).unwrap();
        assert_eq!(serde_json::from_str::<Trace>(&stored).unwrap(), trace);
    }

    #[test]
    fn invalid_trace_lines_are_refused() {
        for text in ["", "0 s 0 0", "0 r 0 0", "0 s 4096 0", "0 x 0 1", "0 r 0 4096 7", "r 0 1"] {
            assert!(text.parse::<Trace>().is_err(), "{text}");
        }
        assert!("0 w 0 2147483648".parse::<Trace>().is_err());
        let trims: Trace = "0 t 0 2147483648\n0 w 0 8192\n".parse().unwrap();
        assert_eq!(trims.largest_transfer(), 8192, "trims need no buffer");
        let many = "0 r 0 1\n".repeat(REQUESTS_MAX + 1);
        assert!(many.parse::<Trace>().unwrap_err().contains("are allowed"));
    }

    #[test]
    fn trace_outside_the_declared_load_is_refused() {
        let trace: Trace = TEXT.parse().unwrap();
        let check = |length, largest, read, trim| trace.check(length, largest, read, trim);
        assert_eq!(check(66_048, 8192, 0.3, 0.3), Ok(()));
        assert!(check(66_047, 8192, 0.3, 0.3).is_err(), "beyond the area");
        assert!(check(66_048, 4096, 0.3, 0.3).is_err(), "larger than the buffers");
        assert!(check(66_048, 8192, 0.7, 0.3).is_err(), "it writes");
        assert!(check(66_048, 8192, 0.3, 0.0).is_err(), "it trims");
    }

    #[test]
    fn trace_times_repeat_at_the_requested_speed() {
        let trace: Trace = "0 r 0 1\n1000 r 0 1\n4000 r 0 1\n".parse().unwrap();
        let mut times = Times::new(trace, Instant(100), 2.0);
        let mut all = Vec::new();
        for _ in 0..5 {
            all.push(times.now() as u64);
            times.advance();
        }
        assert_eq!(all, [100, 600, 2100, 2100, 2600]);
        assert_eq!(times.due(Instant(4099)), 0);
        assert_eq!(times.due(Instant(4100)), 1);
    }
}
